"""A choice from the pictures to the decision: what is asked, what is said, what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from toy.command import Cli, runner

Rows = Sequence[Mapping[str, Any]]

# What each judge's question has in it, and the answer; the first rule that fits counts.
CAPTION = "describe"
FACTS = {
    "A cup and a dog.": (["a cup", "a dog"], [True, False]),
    "A red cup on a table.": (["a cup", "a table"], [True, True]),
}


@pytest.fixture
def cli(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BEHOLDER_CACHE", "off")
    return runner(monkeypatch, capsys)


def write_rows(name: str, rows: Rows) -> None:
    lines = [json.dumps(row) + "\n" for row in rows]
    Path(name).write_text("".join(lines), encoding="utf-8")


def texts(n: int = 12, **further: Any) -> list[dict[str, Any]]:
    """Texts of three captioners with references; c is wrong."""
    return [
        {
            "id": f"p{place}/{system}",
            "image": f"photos/{place}.jpg",
            "candidate": text,
            "references": [f"A red boat with number {place} lies at a pier."],
            "group": {"system": system},
            **further,
        }
        for place in range(n)
        for system, text in (
            ("a", f"A red boat with number {place} lies at a pier."),
            ("b", f"A red boat with number {place} lies at a pier."),
            ("c", "A black cat sleeps on a green sofa."),
        )
    ]


def result(folder: str = "choice") -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        Path(folder, "result.json").read_text("utf-8")
    )
    return content


def test_texts_that_exist(cli: Cli) -> None:
    costs = {"a": 0.004, "b": 0.0004, "c": 0.0001}
    rows = texts()
    for row in rows:
        row["dollars"] = costs[row["group"]["system"]]
    write_rows("systems.jsonl", rows)
    done = cli("choose", "systems.jsonl", "-o", "choice")
    assert done.code == 0, done.err
    assert done.out.startswith("b. ")
    assert "not separated in right by 12 pictures" in done.out
    assert "c is worse than " in done.out
