"""Statistics beside the plain loop, and Kendall's tau on many pairs, one thread.

    python benchmarks/stats.py [--rounds N] [--battles N] [--trials N]

Elo: bootstrap of 6,000 battles between 12 systems, 1,000 trials. The baseline is the protocol as
public scripts write it, one battle after another in Python; both must give the same integers, and
both include their random draws. The two take turns; the ratio is of medians, with the lowest and
highest ratio of single rounds. Tau: ``beholder.stats.kendall`` on 100,000 tied pairs, with p and
bootstrap interval, and without the interval. Times are CPU seconds of the process, so that other
work on the machine counts little.
"""

from __future__ import annotations

import argparse
import functools
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

for _variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
):
    os.environ[_variable] = "1"

import numpy as np  # noqa: E402

from beholder.stats import elo, kendall  # noqa: E402

T = TypeVar("T")
Battle = tuple[str, str, str]
"""Two systems and the winner: model1, model2 or equal."""


def battles(n: int, n_systems: int) -> list[Battle]:
    """Seeded battles between systems of rising strength, a quarter of them ties."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, n_systems, n)
    second = (first + rng.integers(1, n_systems, n)) % n_systems
    wins = rng.random(n) < 1 / (1 + np.exp((second - first) / 4))
    winner = np.where(
        rng.random(n) < 0.25, "equal", np.where(wins, "model1", "model2")
    )
    return [
        (f"system-{i}", f"system-{j}", str(w))
        for i, j, w in zip(first, second, winner, strict=True)
    ]


def one_pass(order: Iterable[Battle]) -> dict[str, float]:
    ratings: dict[str, float] = defaultdict(lambda: 1000.0)
    for first, second, winner in order:
        first_rating, second_rating = ratings[first], ratings[second]
        expected = 1 / (1 + 10 ** ((second_rating - first_rating) / 400))
        opposite = 1 / (1 + 10 ** ((first_rating - second_rating) / 400))
        if winner == "model1":
            score = 1.0
        elif winner == "model2":
            score = 0.0
        else:
            score = 0.5
        ratings[first] += 4 * (score - expected)
        ratings[second] += 4 * (1 - score - opposite)
    return ratings


def loop(table: list[Battle], trials: int) -> dict[str, int]:
    """Return the bootstrap as a plain Python loop over trials and battles."""
    n = len(table)
    generator = np.random.RandomState(42)
    ratings_by_name: dict[str, list[float]] = defaultdict(list)
    for _ in range(trials):
        sample = generator.choice(n, size=n, replace=True)
        for name, rating in one_pass(table[i] for i in sample).items():
            ratings_by_name[name].append(rating)
    return {
        name: int(np.median(values) + 0.5)
        for name, values in ratings_by_name.items()
    }


def vectorised(table: list[Battle], trials: int) -> dict[str, int]:
    points = {"model1": 1.0, "model2": 0.0, "equal": 0.5}
    first, second, winner = zip(*table, strict=True)
    rated = elo(first, second, [points[w] for w in winner], n_resamples=trials)
    return {rating.system: rating.rating for rating in rated}


def timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def elo_table(n: int, trials: int, rounds: int) -> None:
    table = battles(n, 12)
    own_seconds, peer_seconds = [], []
    for _ in range(rounds):
        seconds, rated = timed(lambda: vectorised(table, trials))
        own_seconds.append(seconds)
        seconds, expected = timed(lambda: loop(table, trials))
        peer_seconds.append(seconds)
        assert rated == expected, "the integers differ"
    ratio = statistics.median(peer_seconds) / statistics.median(own_seconds)
    single = [b / a for a, b in zip(own_seconds, peer_seconds, strict=True)]
    print(
        f"Elo bootstrap, {n} battles x {trials} trials, the same integers, {rounds} rounds"
    )
    print(f"  plain loop   {statistics.median(peer_seconds):8.2f} s")
    print(f"  beholder     {statistics.median(own_seconds):8.2f} s")
    print(
        f"  ratio        {ratio:8.1f}   ({min(single):.1f} to {max(single):.1f}; wanted: 15)"
    )


def tau_table(n: int, rounds: int) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=n)
    y = np.round(x + rng.normal(size=n))
    for label, resamples in (("value and p", 0), ("with interval", 1000)):
        work = functools.partial(kendall, x, y, n_resamples=resamples)
        runs = [timed(work)[0] for _ in range(rounds)]
        spread = f"({min(runs):.2f} to {max(runs):.2f}; wanted: below 1)"
        print(
            f"tau-b, {n} pairs, {label:14} {statistics.median(runs):6.2f} s  {spread}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--battles", type=int, default=6000)
    parser.add_argument("--trials", type=int, default=1000)
    options = parser.parse_args()
    elo_table(options.battles, options.trials, options.rounds)
    tau_table(100_000, options.rounds)


if __name__ == "__main__":
    main()
