"""Ctrl-C while a model works in this process: it ends, says how to go on, and goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from tools.engines import Engines

from beholder.records import ItemScore
from beholder.run.store import Store
from toy.interrupting import command

CANDIDATES = (
    "A man in a red coat holds an umbrella.",
    "Two children play with a yellow ball near the water.",
)
REFERENCE = "A tall man in a red coat and two children stand on a wooden bridge with a dog."


@pytest.mark.parametrize("inside", ["hf", "vllm"])
def test_an_interrupted_run_says_how_to_go_on_and_asks_nothing_twice(
    inside: str, engines: Engines, tmp_path: Path
) -> None:
    if inside not in engines.names:
        pytest.skip(f"without {inside}")
    rows = [
        {"id": str(i), "candidate": text, "references": [REFERENCE]}
        for i, text in enumerate(CANDIDATES)
    ]
    (tmp_path / "d.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    metric = f"posh(judge={engines.own_spec(inside)}, contradictions=False)"
    score = ("score", "d.jsonl", "-m", metric, "-o")

    whole = command(*score, "whole", folder=tmp_path)
    assert whole.code == 0, whole.err
    n_asked = len(whole.keys)
    assert n_asked > 20

    first = command(*score, "out", at=10, folder=tmp_path)
    assert first.code == 130, first.err
    assert "interrupted; run the same command again to resume" in first.err
    assert "Traceback" not in first.err
    assert 10 <= len(first.keys) < n_asked
    assert (
        json.loads((tmp_path / "out" / "run.json").read_text())["status"]
        == "interrupted"
    )

    second = command(*score, "out", folder=tmp_path)
    assert second.code == 0, second.err
    assert not set(first.keys) & set(second.keys)
    assert sorted(first.keys + second.keys) == sorted(whole.keys)
    for gone_on, calm in zip(
        scores(tmp_path / "out"), scores(tmp_path / "whole"), strict=True
    ):
        assert without_numbers(gone_on) == without_numbers(calm)
        assert numbers(gone_on) == pytest.approx(numbers(calm), abs=WITHIN)


WITHIN = 1e-4
"""Bound on the difference of two values from 0 to 1 that come from the same questions.

An engine computes a question together with those that wait beside it, and a batch of another shape
is summed in another order: vLLM on a CPU moves the probability of a grade by about 1e-6. The bound
is a hundred times that; everything that is no fraction must be equal.
"""


def scores(folder: Path) -> list[object]:
    """Return the outcome of each item as plain values."""
    with Store.read(folder) as store:
        (asker,) = store.askers()
        outcomes = [
            store.score(asker.name, position)
            for position in range(len(CANDIDATES))
        ]
    assert all(isinstance(outcome, ItemScore) for outcome in outcomes), (
        outcomes
    )
    return [
        asdict(outcome)
        for outcome in outcomes
        if isinstance(outcome, ItemScore)
    ]


def without_numbers(value: object) -> object:
    """The same with every fraction replaced: names, texts, spans, counts and verdicts stay."""
    return mapped(value, lambda number: 0.0)


def numbers(value: object) -> list[float]:
    """All fractions of it, in order."""
    fractions: list[float] = []

    def keep(number: float) -> float:
        fractions.append(number)
        return number

    mapped(value, keep)
    return fractions


def mapped(value: object, change: Callable[[float], float]) -> object:
    """A copy in which every fraction is changed."""
    if isinstance(value, float):
        return change(value)
    if isinstance(value, np.ndarray):
        return mapped(value.tolist(), change)
    if isinstance(value, Mapping):
        return {key: mapped(element, change) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [mapped(element, change) for element in value]
    return value
