"""Two runs over the same items: the paired difference of every value they share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from beholder import metrics, stats
from beholder.base.rounding import fixed
from beholder.data.notes import describe_languages
from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.run import manifest
from beholder.run.pairs import SubjectPairing, pair_subjects
from beholder.run.reading import describe_incomplete
from beholder.run.store import Store
from beholder.run.subjects import ITEM, SubjectKind
from beholder.run.summary import SEED
from beholder.run.whole_set import read_counts, whole_difference, whole_value
from beholder.stats import PairedDifference
from beholder.stats.acceptance import tango_interval
from beholder.stats.checks import cluster_codes, cluster_rows
from beholder.stats.ranks import round_values
from beholder.stats.significance import holm


@dataclass(frozen=True)
class Difference:
    """One value in two runs.

    Attributes:
        metric: Canonical name of the metric.
        value: Name of the value.
        mean_a: Mean in the first run, over the items that both scored.
        mean_b: Mean in the second.
        paired: Mean of second minus first with interval and test.
        p_holm: The test's p, corrected (Holm) over all values that are compared.
        other: Name of the metric in the second run, which may have other settings.
    """

    metric: str
    value: str
    mean_a: float
    mean_b: float
    paired: PairedDifference
    p_holm: float = 1.0
    other: str = ""


@dataclass(frozen=True)
class SubjectCounts:
    """Numbers of subjects of one kind in two runs.

    Attributes:
        subjects: Their name: items, pictures, storylines.
        n_common: Those that both runs have.
        n_only_a: Those of the first run alone.
        n_only_b: Those of the second run alone.
        paired_by: ``id``, or ``source`` where an id is of different pictures in the two runs.
        note: Caution about the pairing for a reader; empty if there is none.
    """

    subjects: str
    n_common: int
    n_only_a: int
    n_only_b: int
    paired_by: str = "id"
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side.

    Attributes:
        differences: Per metric and value, in the order of the first run.
        counts: Per kind of subject that is compared.
        cautions: Runs that are not complete, and values that no subject has in both, a sentence
            each.
    """

    differences: tuple[Difference, ...]
    counts: tuple[SubjectCounts, ...]
    cautions: tuple[str, ...] = ()


def compare(
    a: Store,
    b: Store,
    *,
    allow_different: bool = False,
    values: Sequence[str] = (),
) -> Comparison:
    """Compare two runs of one kind, subject by subject.

    Args:
        a: The first run.
        b: The second run.
        allow_different: Compare values although they were made in different ways, and subjects of
            one id although they are of different pictures.
        values: Names of values, as ``bleu.corpus_bleu`` or ``corpus_bleu``; by default all of each
            metric and its first of the whole set.

    Raises:
        RunError: The runs are of different kinds.
        ConfigError: The runs share no asker or no subject, have no such value, or an asker's
            signatures differ.
    """
    manifest.check_kind(b.folder, manifest.kind_of(a.folder))
    names_a, names_b = (
        [asker.name for asker in store.askers()] for store in (a, b)
    )
    shared = {name: name for name in shared_askers(a, b)}
    # Equal names are compared first; the same metric in other settings only on request.
    names_in_b = shared or _other_settings(names_a, names_b)
    if not names_in_b:
        raise ConfigError(
            f"the runs share no metric: {', '.join(names_a) or 'none'} against"
            f" {', '.join(names_b) or 'none'}"
        )
    if not (shared or allow_different):
        settings = "; ".join(
            f"{name} against {name_b}" for name, name_b in names_in_b.items()
        )
        raise ConfigError(
            f"the runs share a metric in other settings only: {settings}; compare anyway with"
            " --allow-different"
        )
    logs = manifest.read_log(a.folder).askers
    askers = {name: logs[name] for name in names_in_b if name in logs}
    chosen = {
        name: [*log.values, *log.corpus_values[:1]]
        for name, log in askers.items()
    }
    if values:
        chosen = manifest.choose_values(askers, values)
        names_in_b = {
            name: name_b
            for name, name_b in names_in_b.items()
            if chosen.get(name)
        }
    kinds = {kind.name: kind for kind in map(a.kind_of, names_in_b)}
    subjects = {
        name: _share_subjects(a, b, kind, allow_different=allow_different)
        for name, kind in kinds.items()
    }
    differences: list[Difference] = []
    cautions = list(filter(None, map(describe_incomplete, (a, b))))
    if ITEM.name in subjects:
        places = {place for place, _ in subjects[ITEM.name].common}
        languages = describe_languages(
            item.language for place, item in a.items() if place in places
        )
        cautions += [languages] if languages else []
    for name, name_b in names_in_b.items():
        # A run without a score has no signature, and nothing that could differ.
        signatures_a, signatures_b = a.signatures(name), b.signatures(name_b)
        if (
            signatures_a
            and signatures_b
            and signatures_a != signatures_b
            and not allow_different
        ):
            raise ConfigError(
                f"{name} was made in different ways: {' ; '.join(signatures_a)} in {a.folder},"
                f" {' ; '.join(signatures_b)} in {b.folder}; compare anyway with --allow-different"
            )
        shared_subjects = subjects[a.kind_of(name).name]
        names_of_values = {value.name for value in chosen.get(name, ())}
        paired_by_value = {
            difference.value: difference
            for difference in _differences(name, name_b, a, b, shared_subjects)
        }
        differences += [
            difference
            for value, difference in paired_by_value.items()
            if not values or value in names_of_values
        ]
        unpaired = [
            value
            for value in _value_names(name, name_b, a, b)
            if value not in paired_by_value
            and (not values or value in names_of_values)
        ]
        if unpaired:
            cautions.append(
                f"{name}: no subject has {', '.join(unpaired)} in both runs"
            )
        differences += _whole_differences(
            name, name_b, a, b, shared_subjects, names_of_values
        )
    corrected = holm(
        [difference.paired.p_value for difference in differences]
    )  # many are tested at once
    pairs = zip(differences, corrected, strict=True)
    return Comparison(
        differences=tuple(
            replace(difference, p_holm=p)
            for difference, p in pairs
            if p is not None
        ),
        counts=tuple(
            kind_subjects.counts for kind_subjects in subjects.values()
        ),
        cautions=tuple(cautions),
    )


def shared_askers(a: Store, b: Store) -> list[str]:
    """Return names of the askers that both runs have, in the order of the first."""
    names_b = {asker.name for asker in b.askers()}
    return [asker.name for asker in a.askers() if asker.name in names_b]


def _other_settings(
    names_a: Sequence[str], names_b: Sequence[str]
) -> dict[str, str]:
    """Metrics that each run has once, in different settings, by their names in the first."""
    metrics_a = [name.partition("(")[0] for name in names_a]
    metrics_b = [name.partition("(")[0] for name in names_b]
    counts_a, counts_b = Counter(metrics_a), Counter(metrics_b)
    names_by_metric = dict(zip(metrics_b, names_b, strict=True))
    # With two settings of a metric in a run, it is open which of them to compare.
    return {
        name: names_by_metric[metric]
        for name, metric in zip(names_a, metrics_a, strict=True)
        if counts_a[metric] == counts_b[metric] == 1
    }


@dataclass(frozen=True)
class _SharedSubjects:
    """The subjects of one kind that two runs share.

    Attributes:
        counts: Numbers of subjects in both runs, and in one alone.
        common: Position in the first and in the second run.
        sources: Source that each subject of the first run describes.
    """

    counts: SubjectCounts
    common: list[tuple[int, int]]
    sources: list[bytes]


def pair_runs(
    a: Store,
    b: Store,
    kind: SubjectKind[Any],
    *,
    allow_different: bool = False,
) -> SubjectPairing:
    """Pair the subjects of two runs; see ``pairs.pair_subjects``."""
    names = (a.folder, b.folder)
    subjects = (a.subjects(kind), b.subjects(kind))
    return pair_subjects(
        *subjects, kind, names, allow_different=allow_different
    )


def inferiority_reason(
    a: Store, b: Store, difference: Difference, margin: float
) -> str:
    """Return why a run is not shown to be at most ``margin`` worse than another; empty if it is.

    The end of the 95 % interval that is least in favour of the second run must be within the
    margin: few data show nothing. For values of 0 and 1 the interval is Tango's, else it resamples
    pictures.

    Args:
        a: The first run.
        b: The second run.
        difference: A value in both.
        margin: Difference that would be too much.
    """
    name = f"{difference.metric}.{difference.value}"
    log = manifest.read_log(a.folder).askers[difference.metric]
    is_lower_better = any(
        value.name == difference.value and value.higher_is_better is False
        for value in (*log.values, *log.corpus_values)
    )
    interval = _binary_interval(a, b, difference) or difference.paired.interval
    if interval is None:
        reason = difference.paired.reason or "nothing to resample"
        return f"{name}: not shown to be at most {margin:g} worse: {reason}"
    worst = interval.high if is_lower_better else -interval.low
    if round_values(worst) < round_values(margin):
        return ""
    return (
        f"{name}: not shown to be at most {margin:g} worse: difference"
        f" {fixed(difference.paired.mean, 4)} [{fixed(interval.low, 4)},"
        f" {fixed(interval.high, 4)}]; score more pictures, which narrows the interval"
    )


def _binary_interval(
    a: Store, b: Store, difference: Difference
) -> Interval | None:
    """Return Tango's interval of second minus first; None unless each picture has one 0 or 1."""
    if a.kind_of(difference.metric) is not ITEM:
        return None
    pairs = paired_values(
        a, b, difference.value, difference.metric, difference.other
    )
    sources = {item.source for _, item in a.items() if item.id in pairs}
    scores = [(first, second) for (_, first), (_, second) in pairs.values()]
    if not scores or len(sources) != len(scores):
        return None
    if not {value for pair in scores for value in pair} <= {0.0, 1.0}:
        return None
    n_first = sum(first > second for first, second in scores)
    n_second = sum(second > first for first, second in scores)
    return tango_interval(n_second, n_first, len(scores))


def paired_values(
    a: Store, b: Store, value: str, metric: str, metric_b: str = ""
) -> dict[str, tuple[tuple[int, float], tuple[int, float]]]:
    """Return by id in the first run (position, score) in each run, of items with both values.

    Args:
        a: The first run.
        b: The second run.
        value: Name of the value.
        metric: Name of the metric in the first run.
        metric_b: Its name in the second run; empty if it is the same.
    """
    first, second = (
        {
            place: values[value]
            for place, values in store.values(name)
            if value in values
        }
        for store, name in ((a, metric), (b, metric_b or metric))
    )
    ids = {place: item.id for place, item in a.items()}
    return {
        ids[at_a]: ((at_a, first[at_a]), (at_b, second[at_b]))
        for at_a, at_b in pair_runs(a, b, ITEM, allow_different=True).common
        if at_a in first and at_b in second
    }


def _share_subjects(
    a: Store, b: Store, kind: SubjectKind[Any], *, allow_different: bool
) -> _SharedSubjects:
    pairing = pair_runs(a, b, kind, allow_different=allow_different)
    n = len(pairing.common)
    counts = SubjectCounts(
        kind.plural,
        n,
        pairing.n_a - n,
        pairing.n_b - n,
        pairing.paired_by,
        pairing.note,
    )
    return _SharedSubjects(
        counts, pairing.common, a.sources(pairing.n_a, kind)
    )


def _differences(
    name: str,
    name_b: str,
    a: Store,
    b: Store,
    shared_subjects: _SharedSubjects,
) -> Iterator[Difference]:
    values_a, values_b = dict(a.values(name)), dict(b.values(name_b))
    pairs = [
        (i, j)
        for i, j in shared_subjects.common
        if i in values_a and j in values_b
    ]
    # Values may be missing for some items, so each value has its own pairs.
    for value in dict.fromkeys(
        value for place, _ in pairs for value in values_a[place]
    ):
        value_pairs = [
            (i, j)
            for i, j in pairs
            if value in values_a[i] and value in values_b[j]
        ]
        if not value_pairs:
            continue
        # Texts about one picture are not independent: whole pictures are resampled.
        clusters = [shared_subjects.sources[place] for place, _ in value_pairs]
        first = [values_a[place][value] for place, _ in value_pairs]
        second = [values_b[place][value] for _, place in value_pairs]
        paired = stats.paired_difference(
            second, first, clusters=clusters, seed=SEED
        )
        mean_a, mean_b = (
            math.fsum(numbers) / len(numbers) for numbers in (first, second)
        )
        yield Difference(name, value, mean_a, mean_b, paired, other=name_b)


def _value_names(name: str, name_b: str, a: Store, b: Store) -> list[str]:
    """Return the names of the values that any subject has, in either run."""
    outcomes = chain(a.values(name), b.values(name_b))
    return list(dict.fromkeys(value for _, row in outcomes for value in row))


def _whole_differences(
    name: str,
    name_b: str,
    a: Store,
    b: Store,
    shared_subjects: _SharedSubjects,
    value_names: Collection[str],
) -> Iterator[Difference]:
    """Yield differences of chosen values of the whole set, over subjects that both runs scored."""
    logs = (
        manifest.read_log(a.folder).askers.get(name),
        manifest.read_log(b.folder).askers.get(name_b),
    )
    values = []
    if logs[0] is not None and logs[1] is not None:
        values = [
            value
            for value in logs[0].corpus_values
            if value.name in value_names
        ]
    if not values:
        return
    counts_a, counts_b = read_counts(a, name), read_counts(b, name_b)
    pairs = [
        (i, j)
        for i, j in shared_subjects.common
        if i in counts_a and j in counts_b
    ]
    # The first row shows the number of counts, which is one for all rows of a run.
    if not pairs or len(counts_a[pairs[0][0]]) != len(counts_b[pairs[0][1]]):
        return  # the data of the runs have other subsets
    codes = cluster_codes(
        [shared_subjects.sources[i] for i, _ in pairs], len(pairs)
    )
    # Counts of all texts about one source are added: sources are resampled.
    first, second = (
        cluster_rows(codes, np.array(rows))
        for rows in (
            [counts_a[i] for i, _ in pairs],
            [counts_b[j] for _, j in pairs],
        )
    )
    metric = metrics.metric(name)
    for info in values:
        value = whole_value(metric, info.name)
        mean_a, mean_b = value(first.sum(axis=0)), value(second.sum(axis=0))
        if math.isfinite(mean_a) and math.isfinite(mean_b):
            paired = whole_difference(value, second, first, len(pairs))
            yield Difference(
                name, info.name, mean_a, mean_b, paired, other=name_b
            )
