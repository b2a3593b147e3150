"""Systems by metric: means with intervals, and the range of ranks that the data allow."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from beholder import metrics
from beholder.asking.asker import Asker
from beholder.data.notes import describe_languages
from beholder.errors import ConfigError, RunError
from beholder.records import Interval
from beholder.run import manifest
from beholder.run.kind import kind_of
from beholder.run.reading import describe_incomplete
from beholder.run.store import Store
from beholder.run.summary import N_RESAMPLES, SEED
from beholder.run.whole_set import (
    read_counts,
    resample_whole,
    whole_difference,
    whole_value,
)
from beholder.stats.bootstrap import (
    describe_few_sources,
    paired_difference,
    percentile_interval,
    sum_replicates,
)
from beholder.stats.checks import Floats
from beholder.stats.ranks import round_values
from beholder.stats.significance import holm


@dataclass(frozen=True)
class Standing:
    """A system under a metric.

    Attributes:
        system: Its name.
        mean: Mean of its texts about the common sources, as ``_compute_means`` weighs them; None
            for a system without a score.
        interval: Bootstrap interval over sources; None with too few.
        rank: 1 is best; ties share the better rank. None without a mean, and for a value that has
            no better end.
        best_rank: Best rank within 95 % of the resamples; None with too few sources.
        worst_rank: Worst rank within them.
        p: P-value of the paired difference from the best system, corrected (Holm) over the
            systems; None for the best one, and if there is none.
        n: Texts that the mean is of.
        n_failed: Texts without a score, about any source.
        n_without: Texts with a score without this value, about any source.
        reason: Why its mean has no interval; None if it has one.
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
    n_without: int = 0
    reason: str | None = None


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
        signature: Signature of the values.
        cautions: Runs that are not complete, a sentence each.
        of_whole_set: Whether the value is one of all texts together, such as corpus BLEU, and not
            a mean over sources.
    """

    metric: str
    value: str
    higher_is_better: bool | None
    standings: tuple[Standing, ...]
    n_sources: int
    n_all_sources: int
    signature: str = ""
    cautions: tuple[str, ...] = ()
    of_whole_set: bool = False


@dataclass
class _Tally:
    """Scores of one system under one metric, or counts of the whole set, by source."""

    scores: dict[bytes, list[Any]] = field(
        default_factory=lambda: defaultdict(list)
    )
    n_failed: int = 0
    n_without: int = 0


def leaderboard(
    stores: Sequence[Store], values: Sequence[str] = ()
) -> list[Board]:
    """Rank systems by every metric that all runs share.

    A system is the ``system`` of an item's group; items without one belong to the system named as
    their run directory. Systems are compared on the sources (pictures, videos) that all of them
    have a score for, so that none gains by failing on a hard one; texts count alike, as in
    ``compare``. A system without any score restricts no other. Sources are resampled for all
    systems together.

    Args:
        stores: The runs, all of one kind whose subjects are items.
        values: Names of values, as ``bleu.corpus_bleu`` or ``corpus_bleu``; by default the first
            value of each metric and its first value of the whole set.

    Raises:
        ConfigError: The runs share no metric, or have no such value, or made one in different
            ways; a run is given twice; the systems have no source in common.
        RunError: A folder contains no run, or one of another kind.
    """
    # Check that the runs fit together, choose the values, then per value: collect scores by system
    # and source, restrict them to the common sources, and rank.
    kind = kind_of(stores[0].folder)
    if not kind.has_systems:
        raise RunError(
            f"{stores[0].folder} holds a run of the kind {kind.name!r}, whose subjects have no"
            " systems to rank; give runs of `beholder score`"
        )
    for store in stores:
        manifest.check_kind(store.folder, kind.name)
    logs = [manifest.read_log(store.folder) for store in stores]
    # Only metrics that every run has can rank all systems.
    shared = [
        name
        for name in logs[0].askers
        if all(name in log.askers for log in logs)
    ]
    if not shared:
        raise ConfigError("the runs share no metric")
    askers = {name: logs[0].askers[name] for name in shared}
    chosen = {
        name: [
            *_headline_values(name, log.values, logs),
            *log.corpus_values[:1],
        ]
        for name, log in askers.items()
    }
    if values:
        chosen = manifest.choose_values(askers, values)
    shared = [name for name in shared if chosen[name]]
    systems = systems_of(stores)
    sources = [store.sources(store.n_subjects()) for store in stores]
    languages = describe_languages(
        item.language for store in stores for _, item in store.items()
    )
    cautions = tuple(
        filter(None, [*map(describe_incomplete, stores), languages])
    )
    boards = []
    for name in shared:
        # Signatures are compared before values: equal names may be of different models or
        # versions.
        signatures = {
            signature
            for store in stores
            for signature in store.signatures(name)
        }
        if len(signatures) > 1:
            raise ConfigError(
                f"{name} was made in different ways: {' ; '.join(sorted(signatures))}; score the"
                " runs alike, or together as one data set with group.system"
            )
        n_all = len(
            {source for run_sources in sources for source in run_sources}
        )
        signature = next(iter(signatures), "")
        for value in chosen[name]:
            # A value of the whole set is not a mean of items: it is ranked from summed counts.
            is_whole = value in logs[0].askers[name].corpus_values
            tallies: dict[str, _Tally] = {
                system: _Tally()
                for run_systems in systems
                for system in run_systems
            }
            for store, run_systems, run_sources in zip(
                stores, systems, sources, strict=True
            ):
                _tally_scores(
                    store,
                    name,
                    "" if is_whole else value.name,
                    run_systems,
                    run_sources,
                    tallies,
                )
            # Counts of other subsets are in other columns and must not be added.
            if is_whole and len(_count_widths(tallies)) > 1:
                cautions += (
                    f"{name}.{value.name} is left out: the runs have other subsets",
                )
                continue
            common_sources = _find_common_sources(name, tallies)
            higher_is_better = value.higher_is_better
            compute_means = (
                _make_whole_means(metrics.metric(name), value.name)
                if is_whole
                else _compute_means
            )
            standings = _rank_systems(
                tallies, common_sources, higher_is_better, compute_means
            )
            # A corpus value can be undefined, such as 0 / 0, and then no order exists.
            if is_whole and not all(
                standing.mean is None or math.isfinite(standing.mean)
                for standing in standings
            ):
                cautions += (
                    f"{name}.{value.name} is not defined for a system and left out",
                )
                continue
            board = Board(
                name,
                value.name,
                higher_is_better,
                standings,
                len(common_sources),
                n_all,
                signature,
            )
            boards.append(replace(board, of_whole_set=is_whole))
    return [replace(board, cautions=cautions) for board in boards]


def _headline_values(
    name: str,
    values: Sequence[manifest.ValueLog],
    logs: Sequence[manifest.RunLog],
) -> Sequence[manifest.ValueLog]:
    """Return the first value of a metric that all runs have, else its first, if it has values."""
    shared_names = set.intersection(
        *({value.name for value in log.askers[name].values} for log in logs)
    )
    shared = [value for value in values if value.name in shared_names]
    return (shared or values)[:1]


def systems_of(stores: Sequence[Store]) -> list[list[str]]:
    """Return per run the system of each item; the name of the run for items without one."""
    systems = [
        [item.group.get("system") for _, item in store.items()]
        for store in stores
    ]
    named_systems = {
        system
        for run_systems in systems
        for system in run_systems
        if system is not None
    }
    # A run without systems is a system itself, under the shortest name that no other system has.
    names = _shorten_paths([store.folder for store in stores], named_systems)
    return [
        [name if system is None else system for system in run_systems]
        for name, run_systems in zip(names, systems, strict=True)
    ]


def _shorten_paths(
    folders: Sequence[Path], reserved_names: set[str]
) -> list[str]:
    """Return the shortest path endings that differ from each other and from ``reserved_names``."""
    paths = [folder.resolve() for folder in folders]
    for path in paths:
        if paths.count(path) > 1:
            raise ConfigError(f"{path} is given twice; give each run once")
    # Lengthen all names together until each is unique.
    for length in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-length:]) for path in paths]
        if len(set(names) | reserved_names) == len(names) + len(
            reserved_names
        ):
            return names
    return [str(path) for path in paths]


def _tally_scores(
    store: Store,
    metric: str,
    value: str,
    systems: Sequence[str],
    sources: Sequence[bytes],
    tallies: Mapping[str, _Tally],
) -> None:
    rows: Iterable[tuple[int, Mapping[str, Any]]] = store.values(metric)
    # An empty name stands for the counts of the whole set, one array per item.
    if not value:
        rows = (
            (place, {"": counts})
            for place, counts in read_counts(store, metric).items()
        )
    for place, values in rows:
        tally = tallies[systems[place]]
        if value in values:
            tally.scores[sources[place]].append(values[value])
        else:  # the value is not defined for this item
            tally.n_without += 1
    for place, _ in store.failures(metric):
        tallies[systems[place]].n_failed += 1


def _count_widths(tallies: Mapping[str, _Tally]) -> set[int]:
    """Return the lengths of the count vectors; runs over other subsets have other lengths."""
    by_source = (
        counts
        for tally in tallies.values()
        for counts in tally.scores.values()
    )
    return {len(counts) for of_source in by_source for counts in of_source}


def _find_common_sources(
    metric: str, tallies: Mapping[str, _Tally]
) -> list[bytes]:
    """Return the sources for which every system with any score has a score, sorted."""
    scored = {
        system: tally.scores.keys()
        for system, tally in tallies.items()
        if tally.scores
    }
    if not scored:
        return []
    # Systems without any score do not restrict the others.
    common_sources = set.intersection(*map(set, scored.values()))
    if not common_sources:
        counts = ", ".join(
            f"{system} {len(sources):,}" for system, sources in scored.items()
        )
        raise ConfigError(
            f"{metric}: there is no picture (video, or reference text) that all systems have a"
            f" score for, so they cannot be ranked; scored sources: {counts}. Score the systems on"
            " the same data, or give only runs that describe the same pictures"
        )
    return sorted(common_sources)


@dataclass(frozen=True)
class _Means:
    """Means of systems, (systems,), resampled means, (resamples, systems), and p of two rows."""

    means: Floats
    resampled: Floats
    p_value: Callable[[int, int], float]


_ByKey: TypeAlias = Sequence[Mapping[bytes, list[Any]]]


def _compute_means(scored: _ByKey, common_sources: Sequence[bytes]) -> _Means:
    """Average over texts; a source weighs as many texts as systems have about it in the mean.

    Where all systems have as many texts about a source, this is the mean of the texts, as a
    summary and ``compare`` have it. Where they have not, a system with many texts about an easy
    source would gain: all systems get the same weights.
    """
    weights = np.array(
        [
            sum(len(scores[source]) for scores in scored) / len(scored)
            for source in common_sources
        ]
    )
    table = weights * np.array(
        [
            [
                math.fsum(scores[source]) / len(scores[source])
                for source in common_sources
            ]
            for scores in scored
        ]
    ).reshape(len(scored), len(common_sources))
    # Exact sums: equal scores in another order must stay tied.
    total = math.fsum(weights.tolist())
    means = np.array([math.fsum(row) / total for row in table.tolist()])

    def p_value(a: int, b: int) -> float:
        return paired_difference(table[a], table[b], seed=SEED).p_value

    return _Means(means, _resample_means(table, weights), p_value)


def _make_whole_means(
    metric: Asker[Any], name: str
) -> Callable[[_ByKey, Sequence[bytes]], _Means]:
    """Return a function like ``_compute_means`` for a value of the whole set, from counts."""
    value = whole_value(metric, name)

    def compute_means(
        scored: _ByKey, common_sources: Sequence[bytes]
    ) -> _Means:
        sums = [
            np.array([np.sum(counts[s], axis=0) for s in common_sources])
            for counts in scored
        ]
        means = np.array(
            [value(system_sums.sum(axis=0)) for system_sums in sums]
        )
        return _Means(
            means,
            np.array(
                [resample_whole(value, system_sums) for system_sums in sums]
            ).T,
            lambda a, b: (
                whole_difference(
                    value, sums[a], sums[b], len(common_sources)
                ).p_value
            ),
        )

    return compute_means


def _rank_systems(
    tallies: Mapping[str, _Tally],
    common_sources: Sequence[bytes],
    higher_is_better: bool | None,
    compute_means: Callable[[_ByKey, Sequence[bytes]], _Means],
) -> tuple[Standing, ...]:
    scored = {
        system: tally for system, tally in tallies.items() if tally.scores
    }
    if not scored:
        estimates = _Means(np.zeros(0), np.zeros((0, 0)), lambda a, b: 1.0)
    else:
        estimates = compute_means(
            [tally.scores for tally in scored.values()], common_sources
        )
    means, resampled = estimates.means, estimates.resampled
    ranks = _ranks(means[None, :], higher_is_better is not False)[0]
    all_ranks = _ranks(resampled, higher_is_better is not False)
    p_values = {}
    if scored and higher_is_better is not None:
        p_values = _test_against_best(
            estimates.p_value,
            len(means),
            int(np.argmin(ranks)),
            len(common_sources),
        )
    standings = []
    for row, (system, tally) in enumerate(scored.items()):
        # The interval of the rank over resamples of the sources.
        best = worst = None
        if len(resampled) and higher_is_better is not None:
            best, worst = np.quantile(
                all_ranks[:, row], [0.025, 0.975], method="nearest"
            )
        standings.append(
            Standing(
                system=system,
                mean=float(means[row]),
                interval=_interval(resampled[:, row]),
                rank=None if higher_is_better is None else int(ranks[row]),
                best_rank=None if best is None else int(best),
                worst_rank=None if worst is None else int(worst),
                p=p_values.get(row),
                n=sum(len(tally.scores[source]) for source in common_sources),
                n_failed=tally.n_failed,
                n_without=tally.n_without,
                reason=describe_few_sources(len(common_sources)),
            )
        )
    # Values without a direction have no rank, so the name orders them.
    standings.sort(key=lambda standing: (standing.rank or 0, standing.system))
    failed = [
        Standing(
            system,
            None,
            None,
            None,
            None,
            None,
            None,
            0,
            tally.n_failed,
            tally.n_without,
        )
        for system, tally in sorted(tallies.items())
        if not tally.scores
    ]
    return (*standings, *failed)


def _interval(replicates: Floats) -> Interval | None:
    """Return the percentile interval; None if a replicate is not defined."""
    if not np.isfinite(replicates).all():
        return None
    return percentile_interval(replicates, 0.95)


def _test_against_best(
    p_value: Callable[[int, int], float],
    n_rows: int,
    best: int,
    n_sources: int,
) -> dict[int, float | None]:
    """Return by row the corrected p (Holm) of its difference from the best row."""
    other_rows = [
        row for row in range(n_rows) if row != best and n_sources > 1
    ]
    p_values = [p_value(row, best) for row in other_rows]
    return dict(zip(other_rows, holm(p_values), strict=True))


def _resample_means(table: Floats, weights: Floats) -> Floats:
    """Return means over resampled sources, (resamples, systems); no rows with too few sources.

    Args:
        table: Weighted mean of each system, by source.
        weights: Weight of each source.
    """
    sums = sum_replicates(
        np.column_stack([table.T, weights]), n_resamples=N_RESAMPLES, seed=SEED
    )
    return np.asarray(sums[:, :-1] / sums[:, -1:])


def _ranks(means: Floats, higher_is_better: bool) -> np.ndarray:
    """Return the rank of each system per row, 1 the best; ties share the better rank."""
    # Rounding makes values tie that differ only by the order of their sums.
    signed = round_values(means if higher_is_better else -means)
    return np.asarray(
        1 + (signed[:, :, None] < signed[:, None, :]).sum(axis=2)
    )
