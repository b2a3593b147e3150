"""Systems by metric: means with intervals, and the range of ranks that the data allow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from beholder.errors import ConfigError, RunError
from beholder.records import Interval
from beholder.run import manifest
from beholder.run.kind import kind_of
from beholder.run.reading import describe_incomplete
from beholder.run.store import Store
from beholder.run.summary import N_RESAMPLES, SEED
from beholder.stats.bootstrap import paired_difference, percentile_interval, sum_replicates
from beholder.stats.checks import Floats
from beholder.stats.ranks import round_values
from beholder.stats.significance import holm


@dataclass(frozen=True)
class Standing:
    """A system under a metric.

    Attributes:
        system: Its name.
        mean: Mean over the common sources of the mean of its texts about each; None for a system
            without a score.
        interval: Bootstrap interval over sources; None with fewer than two.
        rank: 1 is best; ties share the better rank. None without a mean, and for a value that has
            no better end.
        best_rank: Best rank within 95 % of the resamples; None with fewer than two sources.
        worst_rank: Worst rank within them.
        p: That the paired difference from the best system is chance, corrected (Holm) over the
            systems; None for the best one, and if there is none.
        n: Texts that the mean is of.
        n_failed: Texts without a score, about any source.
    """

    system: str
    mean: float | None
    interval: Interval | None
    rank: int | None
    best_rank: int | None
    worst_rank: int | None
    p: float | None
    n: int
    n_failed: int


@dataclass(frozen=True)
class Board:
    """All systems under one metric, best first; those without a score last.

    Attributes:
        metric: Canonical name.
        value: The value that ranks.
        higher_is_better: Its direction; None for a value that has none, which is not ranked.
        standings: Per system.
        n_sources: Sources (pictures, videos) that all systems with a score have a score for.
        n_all_sources: Sources that any system describes.
        signature: How the values were made.
        cautions: Runs that are not complete, a sentence each.
    """

    metric: str
    value: str
    higher_is_better: bool | None
    standings: tuple[Standing, ...]
    n_sources: int
    n_all_sources: int
    signature: str = ""
    cautions: tuple[str, ...] = ()


@dataclass
class _Tally:
    """Scores of one system under one metric, by source."""

    scores: dict[bytes, list[float]] = field(default_factory=lambda: defaultdict(list))
    n_failed: int = 0


def leaderboard(stores: Sequence[Store]) -> list[Board]:
    """Rank systems by every metric that all runs share.

    A system is the ``system`` of an item's group; items without one belong to the system named as
    their run directory. Systems are compared on the sources (pictures, videos) that all of them
    have a score for, so that none gains by failing on a hard one; each source counts alike. A
    system without any score restricts no other. Sources are resampled for all systems together.

    Args:
        stores: The runs, all of one kind whose subjects are items.

    Raises:
        ConfigError: The runs share no metric, or made one in different ways; a run is given twice;
            the systems have no source in common.
        RunError: A folder holds no run, or one of another kind.
    """
    kind = kind_of(stores[0].folder)
    if not kind.has_systems:
        raise RunError(
            f"{stores[0].folder} holds a run of the kind {kind.name!r}, whose subjects have no"
            " systems to rank; give runs of `beholder score`"
        )
    for store in stores:
        manifest.check_kind(store.folder, kind.name)
    logs = [manifest.read(store.folder) for store in stores]
    shared = [name for name in logs[0].askers if all(name in log.askers for log in logs)]
    if not shared:
        raise ConfigError("the runs share no metric")
    systems = systems_of(stores)
    sources = [store.sources(store.n_subjects()) for store in stores]
    cautions = tuple(filter(None, map(describe_incomplete, stores)))
    boards = []
    for name in shared:
        made = {signature for store in stores for signature in store.signatures(name)}
        if len(made) > 1:
            raise ConfigError(
                f"{name} was made in different ways: {' ; '.join(sorted(made))}; score the runs"
                " alike, or together as one data set with group.system"
            )
        value = logs[0].askers[name].values[0]
        tallies: dict[str, _Tally] = {system: _Tally() for of in systems for system in of}
        for store, of, described_by in zip(stores, systems, sources, strict=True):
            _count(store, name, value.name, of, described_by, tallies)
        common = _common(name, tallies)
        better = value.higher_is_better
        standings = _standings(tallies, common, better)
        n_all = len({source for of in sources for source in of})
        signature = next(iter(made), "")
        boards.append(
            Board(name, value.name, better, standings, len(common), n_all, signature, cautions)
        )
    return boards


def systems_of(stores: Sequence[Store]) -> list[list[str]]:
    """Per run, the system of each item; the name of the run for items without one."""
    given = [[item.group.get("system") for _, item in store.items()] for store in stores]
    named = {system for of in given for system in of if system is not None}
    names = _names([store.folder for store in stores], named)
    return [
        [name if system is None else system for system in of]
        for name, of in zip(names, given, strict=True)
    ]


def _names(folders: Sequence[Path], taken: set[str]) -> list[str]:
    """The shortest ends of paths that differ from each other and from names that are taken."""
    whole = [folder.resolve() for folder in folders]
    for path in whole:
        if whole.count(path) > 1:
            raise ConfigError(f"{path} is given twice; give each run once")
    for length in range(1, max(len(path.parts) for path in whole) + 1):
        names = ["/".join(path.parts[-length:]) for path in whole]
        if len(set(names) | taken) == len(names) + len(taken):
            return names
    return [str(path) for path in whole]


def _count(
    store: Store,
    metric: str,
    value: str,
    systems: Sequence[str],
    sources: Sequence[bytes],
    tallies: Mapping[str, _Tally],
) -> None:
    for place, values in store.values(metric):
        tally = tallies[systems[place]]
        if value in values:
            tally.scores[sources[place]].append(values[value])
        else:  # not defined for this item
            tally.n_failed += 1
    for place, _ in store.failures(metric):
        tallies[systems[place]].n_failed += 1


def _common(metric: str, tallies: Mapping[str, _Tally]) -> list[bytes]:
    """Sources that all systems with a score have a score for."""
    scored = {system: tally.scores.keys() for system, tally in tallies.items() if tally.scores}
    if not scored:
        return []
    common = set.intersection(*map(set, scored.values()))
    if not common:
        counts = ", ".join(f"{system} {len(found):,}" for system, found in scored.items())
        raise ConfigError(
            f"{metric}: there is no picture (video, or reference text) that all systems have a"
            f" score for, so they cannot be ranked; scored sources: {counts}. Score the systems on"
            " the same data, or give only runs that describe the same pictures"
        )
    return sorted(common)


def _standings(
    tallies: Mapping[str, _Tally], common: Sequence[bytes], higher_is_better: bool | None
) -> tuple[Standing, ...]:
    scored = {system: tally for system, tally in tallies.items() if tally.scores}
    table = np.array(
        [[np.mean(tally.scores[source]) for source in common] for tally in scored.values()]
    ).reshape(len(scored), len(common))
    resampled = _resampled(table)
    means = table.mean(axis=1) if scored else np.zeros(0)
    ranks = _ranks(means[None, :], higher_is_better is not False)[0]
    all_ranks = _ranks(resampled, higher_is_better is not False)
    below = {}
    if scored and higher_is_better is not None:
        below = _chances(table, int(np.argmin(ranks)))
    standings = []
    for row, (system, tally) in enumerate(scored.items()):
        best = worst = None
        if len(resampled) and higher_is_better is not None:
            best, worst = np.quantile(all_ranks[:, row], [0.025, 0.975], method="nearest")
        standings.append(
            Standing(
                system=system,
                mean=float(means[row]),
                interval=percentile_interval(resampled[:, row], 0.95) if len(resampled) else None,
                rank=None if higher_is_better is None else int(ranks[row]),
                best_rank=None if best is None else int(best),
                worst_rank=None if worst is None else int(worst),
                p=below.get(row),
                n=sum(len(tally.scores[source]) for source in common),
                n_failed=tally.n_failed,
            )
        )
    standings.sort(key=lambda standing: (standing.rank or 0, standing.system))
    failed = [
        Standing(system, None, None, None, None, None, None, 0, tally.n_failed)
        for system, tally in sorted(tallies.items())
        if not tally.scores
    ]
    return (*standings, *failed)


def _chances(table: Floats, best: int) -> dict[int, float | None]:
    """By row, the corrected p of its difference from the best row."""
    others = [row for row in range(len(table)) if row != best and table.shape[1] > 1]
    found = [paired_difference(table[row], table[best], seed=SEED).p_value for row in others]
    return dict(zip(others, holm(found), strict=True))


def _resampled(table: Floats) -> Floats:
    """(resamples, systems) means over drawn sources; no resample with fewer than two sources."""
    n = table.shape[1]
    if n < 2:
        return np.zeros((0, len(table)))
    sums = sum_replicates(np.ascontiguousarray(table.T), n_resamples=N_RESAMPLES, seed=SEED)
    return np.asarray(sums / n)


def _ranks(means: Floats, higher_is_better: bool) -> np.ndarray:
    """Rank of each system per row, 1 the best; ties share the better rank."""
    signed = round_values(means if higher_is_better else -means)
    return np.asarray(1 + (signed[:, :, None] < signed[:, None, :]).sum(axis=2))
