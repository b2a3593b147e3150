"""Word order counts: who does what, and which thing has which colour, in whole descriptions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from beholder import VCS
from beholder import samples as shipped
from beholder.kinds.agreement.suites.perturb import PERTURBATIONS
from beholder.records import Item, ItemScore


def texts() -> list[str]:
    lines = (
        (Path(shipped.__file__).parent / "descriptions.jsonl")
        .read_text("utf-8")
        .splitlines()
    )
    return list(
        dict.fromkeys(json.loads(line)["references"][0] for line in lines)
    )


@pytest.mark.parametrize(
    "change", ["exchange_things", "exchange_colours", "scramble"]
)
def test_every_exchange_lowers_the_score_and_equal_texts_have_one(
    change: str,
) -> None:
    pairs = []
    for place, text in enumerate(texts()):
        changed = PERTURBATIONS[change].apply(
            text, np.random.default_rng(place), ""
        )
        if changed != text:
            pairs.append((text, changed))
    assert len(pairs) >= 2

    def scores(metric: VCS, candidates: list[tuple[str, str]]) -> list[float]:
        items = [Item(str(n), b, (a,)) for n, (a, b) in enumerate(candidates)]
        outcomes = metric.score(items)
        assert all(isinstance(score, ItemScore) for score in outcomes)
        return [
            score.values["vcs"]
            for score in outcomes
            if isinstance(score, ItemScore)
        ]

    assert max(scores(VCS(), pairs)) < 1 - 1e-5
    assert scores(VCS(), [(a, a) for a, _ in pairs]) == pytest.approx(
        [1.0] * len(pairs), abs=1e-6
    )
    if change == "exchange_things":  # sums of words do not see it
        level = scores(VCS(embedder="static"), pairs)
        assert level == pytest.approx([1.0] * len(pairs), abs=1e-6)
