"""A metric fed in batches has the values of a run, whatever the order of batches and workers."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder import ItemFailure, StreamingMetric
from beholder.errors import BeholderError, ConfigError, DataError
from toy.metric import WordCount

COLOURS = ["red", "brown", "old", "big", "small", "brown", "black"]
ROWS: list[dict[str, Any]] = [
    {
        "id": f"text {number}",
        "candidate": f"a {colour} dog runs on the sand",
        "references": [f"a brown dog runs on beach {number}", "a dog"],
        "images": [f"{number // 2}.png" if number < 4 else f"{number}.png"],
    }
    for number, colour in enumerate(COLOURS)
] + [
    {"id": "silent", "candidate": "", "references": ["a dog"], "images": "x"},
    {"id": "signs", "candidate": "!!", "references": ["a cat"], "images": "y"},
]  # fmt: skip


def feed(stream: StreamingMetric, rows: list[dict[str, Any]]) -> None:
    stream.update(
        [row["candidate"] for row in rows],
        [row["references"] for row in rows],
        ids=[row["id"] for row in rows],
        images=[row["images"] for row in rows],
    )


# Means of items, values of the whole set from sums, and scores that depend on all texts.
@pytest.mark.parametrize("spec", ["rouge", "bleu", "cider"])
def test_values_are_those_of_a_run_in_any_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    monkeypatch.setattr("beholder.run.summary.N_RESAMPLES", 50)
    run = beholder.score(ROWS, [spec], out=tmp_path)
    (expected,) = run.summary.values()
    assert expected.n_failed == 2
    assert any(value.interval for value in expected.values.values())
    for seed in range(2):
        rows = random.Random(seed).sample(ROWS, len(ROWS))
        workers = [StreamingMetric(spec) for _ in range(3)]
        for worker, share in zip(
            workers, (rows[:2], rows[2:5], rows[5:]), strict=True
        ):
            # Repeated rows fill the last batch of a worker.
            feed(worker, share[:2])
            feed(worker, [*share[2:], rows[0]])
        first, *others = pickle.loads(pickle.dumps(workers))
        first.compute()
        first.merge(*others)
        assert len(first) == len(ROWS)
        assert first.compute() == expected


def test_texts_without_ids_are_counted_each() -> None:
    first, second = StreamingMetric(WordCount()), StreamingMetric(WordCount())
    first.update(["one two", "one two"])
    second.update(["one two three four five"])
    first.merge(second)
    first.update([""])
    result = first.compute()
    # (2 + 2 + 5) / 3; of three sources there is no interval.
    assert result.values["words"].mean == 3
    assert result.values["words"].interval is None
    assert (result.n_scored, result.n_failed) == (3, 1)
    failure = [outcome for _, outcome in first.outcomes()][-1]
    assert isinstance(failure, ItemFailure)
    first.reset()
    assert len(first) == 0
    assert first.compute().values == {}


def test_what_cannot_be_added_leaves_the_state_as_it_was() -> None:
    stream = StreamingMetric("rouge")
    stream.update(["a dog"], ["a dog"], ids=["a"])
    other = StreamingMetric("rouge")
    other.update(["a cat"], ["a dog"], ids=["a"])
    calls: list[tuple[Any, type[BeholderError], str]] = [
        (lambda: stream.update("a dog"), ConfigError, "expected a list"),
        (
            lambda: stream.update(["a", "b"], ["c"]),
            ConfigError,
            "references: expected 2 as there are candidates, got 1",
        ),
        (
            lambda: stream.update(["b", "c"], ["d", "d"], ids=["b", "b"]),
            DataError,
            "'b'",
        ),
        (
            lambda: stream.update(["a fox"], ["a dog"], ids=["a"]),
            DataError,
            "'a' came before with other texts",
        ),
        (
            lambda: stream.update([3]),  # type: ignore[list-item]
            DataError,
            "candidate",
        ),
        (lambda: stream.merge(other), DataError, "'a' came before"),
        (
            lambda: stream.merge(StreamingMetric("chrf")),
            ConfigError,
            "expected a state of rouge, got one of chrf",
        ),
    ]
    for call, error, message in calls:
        with pytest.raises(error, match=message):
            call()
        assert stream.compute().values["rouge_l"].mean == 1
        assert len(stream) == 1
