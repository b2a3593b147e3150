"""``score --until``: score pictures in random order until the interval of a mean is narrow."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beholder.records import Interval
from beholder.run.session import Session
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.stats.checks import Ints, cluster_codes
from beholder.stats.sequences import Betting

FIRST, GROWTH = 40, 1.25
"""Pictures that are scored before the first look, and how many more at each further one."""


@dataclass(frozen=True)
class Until:
    """When to stop.

    Attributes:
        metric: Canonical name of the metric.
        value: Name of its value.
        width: Half the interval that is narrow enough.
        low: Least possible value.
        high: Greatest possible value.
    """

    metric: str
    value: str
    width: float
    low: float
    high: float


@dataclass(frozen=True)
class Reached:
    """How far a run came.

    Attributes:
        interval: Of the mean over pictures; valid however often one looks.
        n_pictures: Pictures scored.
        n_all: Pictures of the data.
    """

    interval: Interval
    n_pictures: int
    n_all: int

    def is_narrow(self, width: float) -> bool:
        """Whether the interval reaches at most so far to each side."""
        return self.interval.high - self.interval.low <= 2 * width


def score_until(session: Session, goal: Until) -> None:
    """Ask all that was asked, of more and more pictures, until the goal is reached.

    The order of pictures follows from what they are, so a run that is interrupted and resumed
    stops where another would. Scores of other pictures that an earlier run has made are dropped.

    Raises:
        ConfigError: A tool does not support the operation.
        RunError: The run cannot continue, for instance because its budget is spent.
    """
    n = max(one.n for one in session.asked)
    codes, order = _pictures(session.store, n)
    size = FIRST
    while True:
        positions = np.flatnonzero(np.isin(codes, order[:size])).tolist()
        session.map(*session.asked, positions=positions)
        if size >= len(order) or reached(session.store, goal, n).is_narrow(goal.width):
            return
        size = math.ceil(size * GROWTH)


def reached(store: Store, goal: Until, n: int) -> Reached:
    """The interval of the pictures scored so far, taken in their order.

    Args:
        store: The scores.
        goal: Of which value.
        n: Items of the run.
    """
    codes, order = _pictures(store, n)
    of_picture: dict[int, list[float]] = {}
    for place, numbers in store.values(goal.metric, n):
        if goal.value in numbers:
            of_picture.setdefault(int(codes[place]), []).append(numbers[goal.value])
    sequence, found = Betting(goal.low, goal.high), 0
    for picture in order:
        if values := of_picture.get(picture):
            sequence.add(math.fsum(values) / len(values))
            found += 1
    return Reached(sequence.interval, found, len(order))


def _pictures(store: Store, n: int) -> tuple[Ints, Sequence[int]]:
    """Picture of each item, and the pictures in an order that has nothing to do with the data's."""
    keys = store.sources(n, ITEM)
    codes = cluster_codes(keys, n)
    of_key = dict(zip(keys, codes.tolist(), strict=True))
    return codes, [of_key[key] for key in sorted(of_key, key=lambda k: hashlib.sha256(k).digest())]
