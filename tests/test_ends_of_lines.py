"""Texts are cut into lines at line feeds alone: they may contain U+2028, form feeds and others."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import beholder
from beholder.data.lines import read_records
from beholder.errors import DataError

SOURCES = Path(beholder.__file__).parent

TABLES_OF_THE_PACKAGE = {
    "__main__.py": "commands.txt",
    "judges/probes.py": "probes.txt",
    "metrics/vcs/short.py": "its list of English words",
    "text/frequency.py": "word_frequencies.txt",
    "text/kinds.py": "its packed table",
}
"""Modules that may call ``splitlines``, with the file of ours that they read."""


def test_splitlines_is_called_on_tables_of_the_package_alone() -> None:
    modules = set()
    for path in SOURCES.rglob("*.py"):
        text = path.read_text("utf-8")
        if "splitlines" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and node.attr == "splitlines":
                modules.add(path.relative_to(SOURCES).as_posix())
    assert modules == set(TABLES_OF_THE_PACKAGE)


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\u0085"])
def test_rows_end_at_line_feeds_alone(tmp_path: Path, end: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        f'["a{end}b"]\n\n["c"]\r\n["d"]', encoding="utf-8", newline=""
    )
    assert list(read_records(path, list[str])) == [[f"a{end}b"], ["c"], ["d"]]
    with pytest.raises(
        DataError, match=r"rows.jsonl:1: Expected `int`, got `str`"
    ):
        list(read_records(path, list[int]))
