"""What a run found of its data it does not find again: rows, document frequencies, token weights."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from beholder.data import read_items
from beholder.errors import RunError
from beholder.kinds.scores import engine
from beholder.kinds.scores.door import score
from beholder.metrics import metric
from beholder.metrics.classical.bertscore import BERTScore
from beholder.metrics.classical.cider import Frequencies
from beholder.records import Item
from beholder.run.store import Store

TEXTS = [
    "a red boat on the sea",
    "a child runs over a bridge",
    "two dogs in the snow",
    "a red car",
]
ROWS: list[dict[str, Any]] = [
    {
        "id": str(n),
        "candidate": text,
        "references": [TEXTS[n - 1], TEXTS[n - 2]],
    }
    for n, text in enumerate(TEXTS)
]
METRICS = ("cider", "bleu")


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Count reads of rows and counts of document frequencies."""
    counts = {"read": 0, "counted": 0}
    read_rows, count_words = read_items, Frequencies.from_references

    def reading(*arguments: Any, **options: Any) -> Iterator[Any]:
        for row in read_rows(*arguments, **options):
            counts["read"] += 1
            yield row

    def counting(*arguments: Any) -> Frequencies:
        counts["counted"] += 1
        return count_words(*arguments)

    monkeypatch.setattr(engine, "read_items", reading)
    monkeypatch.setattr(Frequencies, "from_references", counting)
    return counts


def test_a_second_start_reads_no_row_and_counts_no_word(
    tmp_path: Path, counted: dict[str, int]
) -> None:
    data = _write(tmp_path / "d.jsonl", ROWS)
    first = score(data, METRICS, out=tmp_path / "run")
    assert counted == {"read": 4, "counted": 1}
    second = score(data, METRICS, out=tmp_path / "run")
    assert counted == {"read": 4, "counted": 1}
    assert second.summary == first.summary


def test_a_resumed_run_scores_by_what_it_found_before(
    tmp_path: Path, counted: dict[str, int]
) -> None:
    data = _write(tmp_path / "d.jsonl", ROWS)
    whole = score(data, METRICS, out=tmp_path / "whole")
    score(data, METRICS, out=tmp_path / "run")
    with Store.open(tmp_path / "run") as store:
        store.keep_only("cider", [0, 3])
    resumed = score(data, METRICS, out=tmp_path / "run")
    assert counted["counted"] == 2  # once in each folder
    assert resumed.summary == whole.summary
    tables = ("run.json", "scores.parquet", "units.parquet")
    assert [(whole.path / name).read_bytes() for name in tables] == [
        (resumed.path / name).read_bytes() for name in tables
    ]


def test_another_text_of_the_same_length_and_date_is_seen(
    tmp_path: Path,
) -> None:
    data = _write(tmp_path / "d.jsonl", ROWS)
    score(data, ["bleu"], out=tmp_path / "run")
    before = data.stat()
    data.write_text(data.read_text().replace("snow", "sand"))
    os.utime(data, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert data.stat().st_size == before.st_size
    with pytest.raises(RunError, match="holds a run over other data"):
        score(data, ["bleu"], out=tmp_path / "run")


def test_a_limit_is_another_input(
    tmp_path: Path, counted: dict[str, int]
) -> None:
    data = _write(tmp_path / "d.jsonl", ROWS)
    few = score(data, METRICS, out=tmp_path / "run", limit=3)
    assert few.summary["bleu"].n_scored == 3
    with pytest.raises(
        RunError, match="scores of cider made in another way"
    ):  # of the frequencies of three
        score(data, METRICS, out=tmp_path / "run")
    assert (
        score(data, ["bleu"], out=tmp_path / "run").summary["bleu"].n_scored
        == 4
    )
    assert (
        score(data, METRICS, out=tmp_path / "run", limit=3).summary
        == few.summary
    )
    assert counted["counted"] == 2  # of three rows, and of four


def test_wrong_rows_are_told_at_every_start(tmp_path: Path) -> None:
    data = _write(tmp_path / "d.jsonl", [*ROWS, {"id": "bad"}])
    for _ in range(2):
        finished_run = score(
            data, ["bleu"], out=tmp_path / "run", skip_bad_rows=True
        )
        assert [error.line for error in finished_run.bad_rows] == [5]


@pytest.mark.parametrize(
    "spec", ["cider", "cider_d(tokenizer='space')", "dcscore"]
)
def test_an_asker_is_made_again_of_its_knowledge(spec: str) -> None:
    items = [
        Item(row["id"], row["candidate"], tuple(row["references"]))
        for row in ROWS
    ]
    prepared = metric(spec).prepare(items)
    state = prepared.state()
    assert state is not None
    again = metric(spec).with_state(json.loads(json.dumps(state)))
    for name in prepared.__dataclass_fields__:
        value, expected = getattr(again, name), getattr(prepared, name)
        assert getattr(value, "__dict__", value) == getattr(
            expected, "__dict__", expected
        )


def test_token_weights_are_knowledge() -> None:
    items = [
        Item(row["id"], row["candidate"], tuple(row["references"]))
        for row in ROWS
    ]
    unprepared = BERTScore(model="minilm", idf=True)
    prepared = unprepared.prepare(items)
    state = prepared.state()
    assert state is not None
    assert state["n_references"] == 4
    again = unprepared.with_state(json.loads(json.dumps(state)))
    assert prepared.rarity is not None
    assert again.rarity is not None
    assert again.rarity.counts == prepared.rarity.counts
    assert again.rarity.identity == prepared.rarity.identity


def test_what_costs_nothing_is_not_kept() -> None:
    assert metric("bleu").prepare([]).state() is None
