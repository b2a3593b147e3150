"""Files are written whole or not at all, and what a spreadsheet would run is inert."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from beholder import files
from beholder.errors import RunError


def test_an_error_while_writing_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    files.write_jsonl(path, [{"a": 1}])

    def rows() -> Iterator[dict[str, Any]]:
        yield {"a": 2}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write_jsonl(path, rows())
    assert path.read_text() == '{"a": 1}\n'


def test_a_text_is_written_with_its_folder_and_the_same_line_ends_everywhere(
    tmp_path: Path,
) -> None:
    files.write_text(tmp_path / "new" / "page.html", "a\nb\n")
    assert (tmp_path / "new" / "page.html").read_bytes() == b"a\nb\n"
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["page.html"]


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@x", "\tx", " =1", "＝1", "\u00a0=1"])
def test_csv_makes_formulas_of_texts_inert_and_leaves_numbers(tmp_path: Path, formula: str) -> None:
    path = tmp_path / "t.csv"
    files.write_csv(path, [["name", "value"], [formula, -1.5], [None, True]])
    lines = path.read_bytes().decode().split("\n")
    assert lines[0] == "name,value"
    assert lines[1].lstrip('"').startswith("'")
    assert lines[1].endswith(",-1.5")
    assert lines[2] == ",1"


@pytest.mark.parametrize("end", ["\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_no_end_of_a_line_in_a_text_begins_a_row(tmp_path: Path, end: str) -> None:
    path = tmp_path / "t.csv"
    files.write_csv(path, [["name", "value"], [f"{end}=1{end}x", 2]])
    # read as a spreadsheet does: only a quoted end of a line stays inside its cell
    with path.open(newline="", encoding="utf-8") as lines:
        assert list(csv.reader(lines)) == [["name", "value"], ["'\n=1\nx", "2"]]
    assert path.read_bytes() == b'name,value\n"\'\n=1\nx",2\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "it is not there"),
        ("{", "cannot be read"),
        ('{"format": 2}', "no run log of format 1"),
        ("[]", "no run log of format 1"),
    ],
)
def test_json_that_cannot_be_used_says_why(
    tmp_path: Path, content: str | None, message: str
) -> None:
    path = tmp_path / "run.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(RunError, match=message):
        files.read_json(path, form=1, kind="run log", missing="it is not there")
