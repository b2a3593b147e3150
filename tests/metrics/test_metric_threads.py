"""Scoring in Python has one BLAS thread, as runs have: sums may depend on their number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from beholder.metrics import Metric, Tools, ValueInfo
from beholder.records import Item, ItemScore


def n_threads() -> int:
    np.dot(np.ones(1), np.ones(1))  # the library is there
    return max(int(pool["num_threads"]) for pool in threadpool_info())


@dataclass(frozen=True)
class ThreadCount(Metric[int]):
    registered_name = "thread_count"
    values = (
        ValueInfo("threads", "threads while evidence is gathered", high=1e9),
    )
    required_fields = frozenset()

    async def gather(self, item: Item, tools: Tools) -> int:
        return n_threads()

    def score_item(self, item: Item, evidence: int) -> ItemScore:
        return ItemScore(
            {"threads": float(evidence)}, signature=self.signature()
        )


def test_scoring_has_one_thread_and_gives_back_the_others() -> None:
    with threadpool_limits(2):
        (first_outcome,) = ThreadCount().score([Item("1", "a dog")])
        two = ThreadCount().score_text("a dog", ())
        assert n_threads() == 2
    assert isinstance(first_outcome, ItemScore)
    assert (first_outcome.values["threads"], two.values["threads"]) == (
        1.0,
        1.0,
    )
