"""A choice from the pictures to the decision: what is asked, what is said, what is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import beholder
from beholder.kinds.annotation.study import AnnotationStudy
from servers.faults import serving
from servers.seeing import TEXTS, Seeing
from toy.command import Cli, runner

Rows = Sequence[Mapping[str, Any]]


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


def write_photos(n: int = 12, copies: int = 0) -> None:
    """Write n different pictures, and copies of the first."""
    Path("photos").mkdir()
    for place in range(n + copies):
        shade = place if place < n else 0
        picture = Image.new("RGB", (8, 8), (shade * 5, 90, 200 - shade * 7))
        picture.save(f"photos/p{place:03d}.png")


def models(server: Seeing, *further: str) -> tuple[str, ...]:
    """Arguments of a choice of three models of a server."""
    return (
        "choose", "photos", "-o", "choice", "--base-url", server.url,
        "--captioner", "a=openai:a", "--captioner", "b=openai:b",
        "--captioner", "c=openai:c", "--judge", "openai:judge",
        "--n", "12", "--repeat", "6", "--price", "a=2/8", "--price", "b=1/4",
        "--price", "c=0.1/0.4", *further,
    )  # fmt: skip


def test_captioners_from_the_pictures_to_the_decision(cli: Cli) -> None:
    write_photos()
    with serving(Seeing()) as server:
        done = cli(*models(server))
        assert done.code == 0, done.err
        asked = Counter(server.asked)
        # Nothing is asked twice, and a folder is read without any question.
        again = cli(*models(server))
        read = cli("choose", "choice")
        assert server.asked == asked
    assert done.out == again.out == read.out
    assert done.out.startswith("b. ")
    assert (asked["a"], asked["b"], asked["c"]) == (18, 18, 18)
    assert asked["criteria"] == 12
    # Three pairs of each picture in both orders.
    assert asked["compare"] == 72
