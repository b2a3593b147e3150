"""The suite of minimal pairs: the shipped file, what is refused, and a case counted by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from beholder.errors import DataError
from beholder.kinds.agreement.suites.command import PAIRS
from beholder.kinds.agreement.suites.files import read_pairs, versions
from toy.command import Cli

REFERENCE = "A red cup stands here."
ROWS = [
    # Four of five words in the altered text, none in the paraphrase.
    {"id": "a", "kind": "colour", "reference": REFERENCE, "altered": "A blue cup stands here.",
     "paraphrase": "There is some crimson mug."},
    # None in the altered text, four of five in the paraphrase.
    {"id": "b", "kind": "object", "reference": REFERENCE, "altered": "Nobody left any plates.",
     "paraphrase": "A red cup stands there."},
]  # fmt: skip


def write(folder: Path, lines: list[str]) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_shipped_pairs_are_complete() -> None:
    pairs = read_pairs(PAIRS)
    assert Counter(Counter(pair.kind for pair in pairs).values()) == {12: 20}
    assert len({pair.id for pair in pairs}) == 240
    for pair in pairs:
        assert pair.changed in pair.altered
        assert len({pair.reference, pair.altered, pair.paraphrase}) == 3


def test_both_versions_have_the_description_for_reference(
    tmp_path: Path,
) -> None:
    items = versions(
        read_pairs(write(tmp_path, [json.dumps(row) for row in ROWS]))
    )
    assert [(item.id, item.group["kind"], item.group["validity"]) for item in items] == [
        ("a/paraphrase", "paraphrase", "valid"), ("a/colour", "colour", "invalid"),
        ("b/paraphrase", "paraphrase", "valid"), ("b/object", "object", "invalid"),
    ]  # fmt: skip
    assert {item.references for item in items} == {(REFERENCE,)}


@pytest.mark.parametrize(
    "line", ["{", '{"id": "a"}', '{"id": 1, "kind": "colour"}']
)
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(DataError, match=r":2: .*expected id, kind, reference"):
        read_pairs(write(tmp_path, [json.dumps(ROWS[0]), line]))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.jsonl"):
        read_pairs(tmp_path / "none.jsonl")


def test_a_metric_that_counts_words_is_right_once(
    tmp_path: Path, cli: Cli
) -> None:
    path = write(tmp_path, [json.dumps(row) for row in ROWS])
    ran = cli(
        "suite", "minimal-pairs", str(path), "-m", "token_f1", "--output", str(tmp_path / "run"),
        "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    [result] = json.loads(ran.out)
    assert result["accuracy"]["mean"] == 0.5
    right = {row["kind"]: row["accuracy"]["mean"] for row in result["kinds"]}
    assert right == {"paraphrase": 0.5, "colour": 0.0, "object": 1.0}
