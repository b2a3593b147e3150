"""Systems by metric: means with intervals, and the range of ranks that the data allow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.run import manifest
from beholder.run.store import Store
from beholder.stats.bootstrap import percentile_interval

SEED = 12345
N_RESAMPLES = 1000


@dataclass(frozen=True)
class Standing:
    """A system under a metric.

    Attributes:
        system: Its name.
        mean: Mean over its scored texts.
        interval: Bootstrap interval over sources; None with fewer than two.
        rank: 1 is best; ties share the better rank.
        best_rank: Best rank within 95 % of the resamples.
        worst_rank: Worst rank within them.
        n: Scored texts.
        n_failed: Texts without a score.
    """

    system: str
    mean: float
    interval: Interval | None
    rank: int
    best_rank: int
    worst_rank: int
    n: int
    n_failed: int


@dataclass(frozen=True)
class Board:
    """All systems under one metric, best first.

    Attributes:
        metric: Canonical name.
        value: The value that ranks.
        higher_is_better: Its direction.
        standings: Per system.
    """

    metric: str
    value: str
    higher_is_better: bool
    standings: tuple[Standing, ...]


@dataclass
class _Tally:
    sums: dict[bytes, float]
    counts: dict[bytes, int]
    n_failed: int = 0


def leaderboard(stores: Sequence[Store], *, seed: int = SEED) -> list[Board]:
    """Rank systems by every metric that all runs share.

    A system is the ``system`` of an item's group; an item without one belongs to the system named
    as its run directory. Sources (pictures, videos) are resampled for all systems together, so
    that a rank range compares them on the same pictures.

    Args:
        stores: The runs.
        seed: Seed of the resampling.

    Raises:
        ConfigError: The runs share no metric, or made one in different ways.
        RunError: A folder holds no run.
    """
    logs = [manifest.read(store.folder) for store in stores]
    names = [entry["name"] for entry in logs[0]["metrics"]]
    shared = [
        name
        for name in names
        if all(name in [entry["name"] for entry in log["metrics"]] for log in logs)
    ]
    if not shared:
        raise ConfigError("the runs share no metric")
    described = {entry["name"]: entry for entry in logs[0]["metrics"]}
    boards = []
    for name in shared:
        made = {signature for store in stores for signature in store.signatures(name)}
        if len(made) > 1:
            raise ConfigError(
                f"{name} was made in different ways: {' ; '.join(sorted(made))}; score the runs"
                " alike, or together as one data set with group.system"
            )
        value = described[name]["values"][0]
        tallies = _tally(stores, name, value["name"])
        boards.append(
            Board(
                name,
                value["name"],
                value["higher_is_better"],
                _standings(tallies, value["higher_is_better"], seed),
            )
        )
    return boards


def _tally(stores: Sequence[Store], metric: str, value: str) -> dict[str, _Tally]:
    tallies: dict[str, _Tally] = defaultdict(lambda: _Tally(defaultdict(float), defaultdict(int)))
    for store in stores:
        systems = {
            place: item.group.get("system", store.folder.name) for place, item in store.items()
        }
        sources = store.sources(store.n_subjects())
        for place, values in store.values(metric):
            tally = tallies[systems[place]]
            if value not in values:  # not defined for this item
                tally.n_failed += 1
                continue
            tally.sums[sources[place]] += values[value]
            tally.counts[sources[place]] += 1
        for place, _ in store.failures(metric):
            tallies[systems[place]].n_failed += 1
    return {system: tally for system, tally in tallies.items() if tally.counts}


def _standings(
    tallies: dict[str, _Tally], higher_is_better: bool, seed: int
) -> tuple[Standing, ...]:
    systems = list(tallies)
    sources = sorted({source for tally in tallies.values() for source in tally.counts})
    index = {source: place for place, source in enumerate(sources)}
    sums, counts = np.zeros((2, len(systems), len(sources)))
    for row, tally in enumerate(tallies.values()):
        for source, count in tally.counts.items():
            sums[row, index[source]] = tally.sums[source]
            counts[row, index[source]] = count
    means = sums.sum(axis=1) / counts.sum(axis=1)
    ranks = _ranks(means[None, :], higher_is_better)[0]
    rng = np.random.default_rng(seed)
    chances = np.full(len(sources), 1 / len(sources))
    drawn = np.array([rng.multinomial(len(sources), chances) for _ in range(N_RESAMPLES)])
    sizes = drawn @ counts.T
    usable = (sizes > 0).all(axis=1)  # a resample without a text of some system says nothing
    resampled = (drawn @ sums.T)[usable] / sizes[usable]
    all_ranks = _ranks(resampled, higher_is_better)
    standings = []
    for row, system in enumerate(systems):
        known = len(sources) > 1 and len(resampled) > 0.9 * N_RESAMPLES
        low, high = np.quantile(all_ranks[:, row], [0.025, 0.975], method="nearest")
        standings.append(
            Standing(
                system=system,
                mean=float(means[row]),
                interval=percentile_interval(resampled[:, row], 0.95) if known else None,
                rank=int(ranks[row]),
                best_rank=int(low),
                worst_rank=int(high),
                n=int(counts[row].sum()),
                n_failed=tallies[system].n_failed,
            )
        )
    return tuple(sorted(standings, key=lambda standing: (standing.rank, standing.system)))


def _ranks(means: np.ndarray, higher_is_better: bool) -> np.ndarray:
    """Rank of each system per row, 1 the best; ties share the better rank."""
    better = means[:, :, None] < means[:, None, :]
    if not higher_is_better:
        better = means[:, :, None] > means[:, None, :]
    return np.asarray(1 + better.sum(axis=2))
