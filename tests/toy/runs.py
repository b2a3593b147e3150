"""Small runs for the tests of what people see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from beholder import stats
from beholder.records import Item, ItemFailure, ItemScore, Side, Unit
from beholder.run import manifest
from beholder.run.store import Store
from beholder.run.subjects import ITEM

Outcome = ItemScore | ItemFailure


def write_run(
    folder: Path,
    items: Sequence[Item],
    outcomes: Mapping[str, Iterable[Outcome | None]],
    *,
    status: str = "complete",
    source: str = "data.jsonl",
    value_help: str = "how good",
) -> Path:
    """A run directory with the given outcomes per metric; None is an item that is not finished."""
    metrics, summary = [], []
    with Store.open(folder) as store:
        n_items, digest = store.sync(ITEM, items)
        for name, outcomes_of_asker in outcomes.items():
            outcome_list = list(outcomes_of_asker)
            store.add_asker(name, ITEM, {}, f"{name}|v:1")
            for position, outcome in enumerate(outcome_list):
                if outcome is not None:
                    store.put_outcome(name, position, outcome)
            scores = [
                outcome
                for outcome in outcome_list
                if isinstance(outcome, ItemScore)
            ]
            failures = [
                outcome
                for outcome in outcome_list
                if isinstance(outcome, ItemFailure)
            ]
            names = list(
                dict.fromkeys(key for score in scores for key in score.values)
            )
            metrics.append(
                {
                    "name": name,
                    "config": {},
                    "signature": f"{name}|v:1",
                    "values": [
                        {"name": key, "help": value_help, "low": 0.0, "high": 1.0,
                         "higher_is_better": True}
                        for key in names or ["score"]
                    ],
                }
            )  # fmt: skip
            summary.append(
                {
                    "metric": name,
                    "signature": f"{name}|v:1|bs:1000|seed:12345",
                    "n_scored": len(scores),
                    "n_failed": len(failures),
                    "failures": {failure.message: 1 for failure in failures},
                    "cautions": [],
                    "values": {
                        key: _estimate(
                            [
                                score.values[key]
                                for score in scores
                                if key in score.values
                            ]
                        )
                        for key in names
                    },
                }
            )
    log = {
        "format": 1,
        "status": status,
        "versions": {"beholder": "1"},
        "data": {
            "source": source,
            "sha256": digest,
            "n_items": n_items,
            "n_bad_rows": 0,
        },
        "settings": {"limit": None},
        "metrics": metrics,
        "summary": summary if status == "complete" else [],
    }
    manifest.write(folder, msgspec.convert(log, manifest.RunLog))
    return folder


def _estimate(values: list[float]) -> dict[str, Any]:
    estimate = stats.mean_interval(values)
    interval = estimate.interval
    return {
        "mean": estimate.mean,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": interval.level if interval else None,
        "n": estimate.n,
    }


def sentence_score(
    item: Item, value: float, *, reference_index: int = 0
) -> ItemScore:
    """An alignment of the thirds of two texts, told in reverse order."""
    verdicts = ("out_of_order", "match", "unmatched")
    texts: dict[Side, str] = {
        "candidate": item.candidate,
        "reference": item.references[reference_index],
    }
    units = [
        Unit(
            "chunk", text[start:end], side, ((start, end),), 0.9 - 0.3 * index, verdicts[index],
            reference_index if side == "reference" else None,
            {"match": 2 - index, "window": [index, index + 1], "distance": abs(2 - 2 * index)},
        )
        for side, text in texts.items()
        for index, (start, end) in enumerate(thirds(text))
    ]  # fmt: skip
    windows = np.array([[0, 1], [1, 2], [2, 3]])
    return ItemScore(
        {"vcs": value, "las": (1 + value) / 2},
        tuple(units),
        "vcs|v:1",
        {
            "view": "alignment",
            "reference_index": reference_index,
            "similarity": np.array(
                [[0.1, 0.2, 0.9], [0.3, 0.6, 0.1], [0.3, 0.2, 0.0]]
            ),
            "windows": {"precision": windows, "recall": windows},
            "matches": {
                "precision": np.array([2, 1, 0]),
                "recall": np.array([2, 1, 0]),
            },
        },
    )


def thirds(text: str) -> list[tuple[int, int]]:
    """Three ranges that cover a text."""
    cuts = [len(text) * i // 3 for i in range(4)]
    return [(cuts[i], cuts[i + 1]) for i in range(3)]


def lemons(n_items: int = 6) -> list[Item]:
    """Items about a table with lemons, by two systems."""
    return [
        Item(
            id=f"table-{position}",
            candidate=f"Lemons lie in a bowl. A cat sleeps. It is day number {position}.",
            references=(
                "A cat sleeps beside a bowl. The bowl holds lemons. The sun shines.",
            ),
            images=(f"{position}.jpg",),
            group={"system": "ab"[position % 2]},
        )
        for position in range(n_items)
    ]


def lemon_run(folder: Path, n_items: int = 6) -> Path:
    """A complete run of one metric with alignments; scores rise with the position."""
    items = lemons(n_items)
    scores = [
        sentence_score(item, (i + 1) / (n_items + 1))
        for i, item in enumerate(items)
    ]
    return write_run(folder, items, {"vcs": scores})
