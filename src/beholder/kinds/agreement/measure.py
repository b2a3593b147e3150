"""One figure of agreement from scores: its data, its statistic, its bootstrap over sources."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import NDArray

from beholder.base.grouping import by_key
from beholder.errors import ConfigError
from beholder.kinds.agreement.protocols import (
    CORRELATIONS,
    VERDICTS,
    Measure,
    n_words,
)
from beholder.kinds.agreement.results import MetricDifference
from beholder.records import ROW_FIELDS, Interval, Item, ends_of
from beholder.stats.alerts import area_of_levels, best_threshold
from beholder.stats.annotators import alternative_annotator
from beholder.stats.bootstrap import (
    cluster_replicates,
    describe_few_sources,
    percentile_interval,
    replicate_interval,
)
from beholder.stats.checks import Floats, Ints, cluster_codes, n_clusters
from beholder.stats.correlation import (
    coefficient,
    on_resamples,
    partial_coefficient,
)
from beholder.stats.kappa import kappa_of
from beholder.stats.significance import holm, significance_clusters
from beholder.stats.ties import decide, tie_threshold

LEVEL = 0.95
HALVES_SEED = 12345
"""Deals sources to the halves whose thresholds are chosen on each other."""
FEWEST_OF_A_VERDICT = 10
"""With fewer labels of one verdict, figures have no interval."""


def first_id(item: Item) -> str:
    """Id of an item's candidate among the scored texts."""
    return f"{item.id}#a" if item.meta.get("candidate_b") else item.id


def second_id(item: Item) -> str:
    """Id of an item's second text among the scored texts."""
    return f"{item.id}#b"


def scored_items(
    items: Sequence[Item], measures: Sequence[Measure]
) -> list[Item]:
    """The texts to score: each candidate, and the second of each pair where a measure compares.

    Labels are left out: they could lead a metric. Fields that metrics read are kept.
    """
    paired = any(measure.paired for measure in measures)
    found = []
    for item in items:
        meta = {
            name: item.meta[name] for name in ROW_FIELDS if name in item.meta
        }
        plain = replace(item, judgments={}, meta=meta)
        found.append(replace(plain, id=first_id(item)))
        if paired and (other := item.meta.get("candidate_b")):
            found.append(
                replace(plain, id=second_id(item), candidate=str(other))
            )
    return found


@dataclass(frozen=True, eq=False)
class Data:
    """The data of one measure, a datum per label.

    Attributes:
        measure: What is measured.
        first: Id of the scored text.
        second: Id of the text it is compared with, or "".
        gold: (n,) labels.
        sources: What each datum describes; whole sources are resampled.
        raters: Which label of the item it is.
        categories: Its category.
        control: (n,) covariate, or None.
    """

    measure: Measure
    first: tuple[str, ...]
    second: tuple[str, ...]
    gold: Floats
    sources: tuple[tuple[str, ...], ...]
    raters: tuple[int, ...]
    categories: NDArray[np.str_]
    control: Floats | None

    def scores(self, column: Mapping[str, float]) -> Floats:
        """(n,) scores, of pairs the difference; NaN where a text has none."""
        nan = float("nan")
        first = np.array([column.get(text, nan) for text in self.first])
        if not self.measure.paired:
            return first
        second = np.array([column.get(text, nan) for text in self.second])
        return np.asarray(first - second)


def collect(
    measure: Measure, items: Sequence[Item], *, control_length: bool = False
) -> Data:
    """Gather the data of a measure.

    Args:
        measure: What to measure.
        items: Judged items.
        control_length: Partial the number of words out of a correlation that has no control.

    Raises:
        ConfigError: No item has the labels.
    """
    control = measure.control
    if control_length and control is None and measure.kind in CORRELATIONS:
        control = n_words
        measure = replace(
            measure, name=f"{measure.name}, beyond length", control=control
        )
    rows = []
    for item in items:
        if measure.paired and not item.meta.get("candidate_b"):
            continue
        covariate = control(item) if control else 0.0
        if control and measure.paired:
            covariate -= control(
                replace(item, candidate=str(item.meta["candidate_b"]))
            )
        for rater, label in enumerate(measure.labels(item)):
            if not math.isnan(label):  # that rater gave no answer
                rows.append((item, rater, label, covariate))
    if not rows:
        raise ConfigError(f"no item has the labels of {measure.name!r}")
    return Data(
        measure=measure,
        first=tuple(first_id(item) for item, *_ in rows),
        second=tuple(
            second_id(item) if measure.paired else "" for item, *_ in rows
        ),
        gold=np.array([label for _, _, label, _ in rows]),
        sources=tuple(item.source for item, *_ in rows),
        raters=tuple(rater for _, rater, *_ in rows),
        categories=np.array([measure.category(item) for item, *_ in rows]),
        control=None
        if control is None
        else np.array([covariate for *_, covariate in rows]),
    )


@dataclass(frozen=True)
class AgreementFound:
    """One metric under one measure.

    Attributes:
        value: The agreement; None where it is not defined.
        interval: Bootstrap interval over sources.
        n: Data used.
        n_missing: Data without a score.
        n_undefined: Data left out because the correlation within their source is not defined: the
            scores or the labels there do not vary.
        n_sources: Sources resampled.
        replicates: The bootstrap replicates; aligned between metrics with the same data.
        reason: Why there is no value or interval.
    """

    value: float | None
    interval: Interval | None
    n: int
    n_missing: int
    n_sources: int
    replicates: tuple[float | None, ...] = ()
    reason: str | None = None
    n_undefined: int = 0


def used(data: Data, scores: Floats) -> Floats:
    """What each datum counts with.

    Of a ``ranking`` Spearman's correlation of scores and labels within its source, by its rater;
    of a verdict 1 or 0, by the threshold of the other half of the sources; else its score. NaN if
    undefined, as in the protocol of :mod:`beholder.kinds.ranking`: a correlation that is not
    defined is left out and counted, and is not 0.

    Args:
        data: The data of the measure.
        scores: (n,) scores; NaN if missing.
    """
    if (
        data.measure.kind in (*VERDICTS, "replaces")
        and data.measure.kind != "auc"
    ):
        return _at_thresholds(data, scores)
    if data.measure.kind != "ranking":
        return scores
    spearman = coefficient("spearman")
    known = np.flatnonzero(np.isfinite(scores)).tolist()
    groups = by_key(
        ((data.sources[place], data.raters[place]), place) for place in known
    )
    values = np.full(len(scores), np.nan)
    for places in groups.values():
        if (
            len(places) > 1
            and (found := spearman(scores[places], data.gold[places]))
            is not None
        ):
            values[places] = found
    return values


def _at_thresholds(data: Data, scores: Floats) -> Floats:
    """(n,) 1 from the threshold on that separates the labels of the other half best, 0 below."""
    kept = np.flatnonzero(np.isfinite(scores))
    said = np.full(len(scores), np.nan)
    codes = cluster_codes([data.sources[row] for row in kept], len(kept))
    half = (
        np.random.default_rng(HALVES_SEED).permutation(
            codes.max(initial=0) + 1
        )[codes]
        % 2
    )
    for number in (0, 1):
        here, rest = kept[half == number], kept[half != number]
        if len(rest):
            wrong = 1 - data.gold[rest].astype(np.int64)
            said[here] = scores[here] >= best_threshold(
                [scores[rest]], [wrong], "classes"
            )
    return said


def agreement(
    data: Data, scores: Floats, *, n_resamples: int, seed: int = 12345
) -> AgreementFound:
    """Agreement of one metric's scores with the labels.

    Args:
        data: The data of the measure.
        scores: (n,) higher is better; NaN if missing.
        n_resamples: Bootstrap resamples over sources; 0 for no interval.
        seed: Seed of the resampling.
    """
    n_missing = int((~np.isfinite(scores)).sum())
    scores = used(data, scores)
    kept = np.flatnonzero(np.isfinite(scores))
    n_undefined = len(scores) - n_missing - len(kept)
    codes = cluster_codes([data.sources[row] for row in kept], len(kept))
    n_sources = n_clusters(codes)
    found = partial(
        AgreementFound,
        n=len(kept),
        n_missing=n_missing,
        n_sources=n_sources,
        n_undefined=n_undefined,
    )
    if len(kept) < 2:
        none = "no correlation within a source is defined"
        few = none if n_undefined else "fewer than two scores"
        return found(None, None, reason=few)
    if data.measure.kind == "replaces":
        return _replaces(data, scores, found)
    statistic = _statistic(data, scores, kept)
    value = statistic(np.arange(len(kept)))
    if value is None:
        return found(None, None, reason="the scores or the labels do not vary")
    replicates: list[float | None] = []
    n_of_rarer = min(
        np.count_nonzero(data.gold[kept] == verdict) for verdict in (0, 1)
    )
    rare = data.measure.kind in VERDICTS and n_of_rarer < FEWEST_OF_A_VERDICT
    if n_resamples and not rare:
        replicates = cluster_replicates(
            statistic, codes, n_resamples=n_resamples, seed=seed
        )
    interval = replicate_interval(replicates, LEVEL)
    reason: str | None = None
    if n_resamples and not interval:
        few_sources = describe_few_sources(n_sources)
        reason = (
            few_sources
            or "too few resamples have a value, so there is no interval"
        )
    if rare:
        reason = f"only {n_of_rarer} labels of one verdict; an interval needs {FEWEST_OF_A_VERDICT}"
    return found(value, interval, replicates=tuple(replicates), reason=reason)


def _replaces(
    data: Data, scores: Floats, finding: Callable[..., AgreementFound]
) -> AgreementFound:
    """Share of the people whom verdicts may replace; a test of its own takes care of chance."""
    items = cluster_codes(data.first, len(data.first))
    people = np.full((items.max() + 1, max(data.raters) + 1), np.nan)
    people[items, data.raters] = data.gold
    judge = np.full(len(people), np.nan)
    judge[items] = scores
    sources = dict(zip(items.tolist(), data.sources, strict=True))
    epsilons, clusters = (
        (data.measure.epsilon,),
        [sources[item] for item in sorted(sources)],
    )
    try:
        found = alternative_annotator(
            people, judge, clusters=clusters, epsilons=epsilons
        )
    except ConfigError as error:
        return finding(None, None, reason=str(error))
    value = found.winning_rate[data.measure.epsilon]
    return finding(
        value, None, reason=f"of {found.n_people} people; 0.5 and more passes"
    )


def by_category(data: Data, scores: Floats) -> dict[str, tuple[float, int]]:
    """The measure within each category with its n; categories where it is undefined are left out.

    Args:
        data: The data of the measure.
        scores: (n,) scores.
    """
    found: dict[str, tuple[float, int]] = {}
    for category in dict.fromkeys(data.categories.tolist()):
        masked = np.where(data.categories == category, scores, np.nan)
        inside = agreement(data, masked, n_resamples=0)
        if category and inside.value is not None:
            found[category] = (inside.value, inside.n)
    return found


def _statistic(
    data: Data, scores: Floats, kept: Ints
) -> Callable[[Ints], float | None]:
    """The statistic of rows of the kept data."""
    kind = data.measure.kind
    x, gold = scores[kept], data.gold[kept]
    if kind in CORRELATIONS:
        of_resample = on_resamples(kind, x, gold)
        if data.control is None:
            return lambda rows: of_resample(x[rows], gold[rows])
        z = data.control[kept]
        plain = coefficient(kind)
        return lambda rows: partial_coefficient(
            plain, x[rows], gold[rows], z[rows]
        )
    if kind in VERDICTS:
        return lambda rows: _of_verdicts(kind, x[rows], gold[rows] == 1)
    if kind == "three-way":
        threshold = tie_threshold(x, int((gold == 0).sum()))
        right = (decide(x, threshold) == np.sign(gold)).astype(np.float64)
    elif kind == "ranking":
        right = x  # of each datum the correlation within its source
    else:
        right = np.where(
            x == 0, 0.5, (np.sign(x) == np.sign(gold)).astype(np.float64)
        )
    if kind != "category accuracy":
        return lambda rows: float(right[rows].mean())
    codes = cluster_codes(data.categories[kept], len(kept))
    n_categories = n_clusters(codes)

    def mean_of_means(rows: Ints) -> float | None:
        sizes = np.bincount(codes[rows], minlength=n_categories)
        if not sizes.all():
            return None
        sums = np.bincount(
            codes[rows], weights=right[rows], minlength=n_categories
        )
        return float((sums / sizes).mean())

    return mean_of_means


def _of_verdicts(kind: str, x: Floats, yes: NDArray[np.bool_]) -> float | None:
    """A figure of scores (``auc``), or of said verdicts, against those of people."""
    if kind == "auc":
        levels = np.unique(x, return_inverse=True)[1]
        of_no, of_yes = (
            np.bincount(levels[which], minlength=len(x))
            for which in (~yes, yes)
        )
        return area_of_levels(
            of_no.astype(np.float64), of_yes.astype(np.float64)
        )
    said = x == 1
    if kind == "precision of no":
        return float((~yes[~said]).mean()) if not said.all() else None
    if kind == "kappa":
        return kappa_of(
            said.astype(np.int64), yes.astype(np.int64), 1.0 - np.eye(2)
        )
    yeses = float(said[yes].mean()) if yes.any() else None
    noes = float((~said[~yes]).mean()) if not yes.all() else None
    if kind == "balanced accuracy":
        return None if yeses is None or noes is None else (yeses + noes) / 2
    return yeses if kind == "recall of yes" else noes


def compare(
    labels: Sequence[str], found: Sequence[AgreementFound], n_resamples: int
) -> tuple[list[MetricDifference], list[int | None]]:
    """Differences of all pairs, and clusters of metrics that are not significantly different.

    Args:
        labels: Names of the metrics.
        found: What each reached on the same data, with replicates of the same resamples.
        n_resamples: How many those are; 0 gives neither.

    Returns:
        The pairs in order, and the number of each metric's cluster
        (``stats.significance_clusters``).
    """
    if not n_resamples:
        return [], [None] * len(labels)
    raw = {
        (i, j): _difference(
            (labels[i], labels[j]), (found[i], found[j]), n_resamples
        )
        for i, j in combinations(range(len(labels)), 2)
    }
    clusters = significance_clusters(
        [one.value for one in found],
        lambda i, j: raw[min(i, j), max(i, j)].p,
    )
    corrected = holm([one.p for one in raw.values()])
    pairs = zip(raw.values(), corrected, strict=True)
    return [msgspec.structs.replace(one, p=p) for one, p in pairs], clusters


def _difference(
    names: tuple[str, str],
    found: tuple[AgreementFound, AgreementFound],
    n_resamples: int,
) -> MetricDifference:
    """One pair; its p is not corrected yet."""
    a, b = found
    if a.value is None or b.value is None:
        return MetricDifference(*names, None, None, None, None)
    pairs = zip(a.replicates, b.replicates, strict=True)
    replicates = np.array(
        [x - y for x, y in pairs if x is not None and y is not None]
    )
    low = high = p = None
    if len(replicates) >= 0.9 * n_resamples:
        interval = percentile_interval(replicates, LEVEL)
        low, high = ends_of(interval) or (None, None)
        tail = min((replicates <= 0).sum(), (replicates >= 0).sum())
        p = min(1.0, 2 * (int(tail) + 1) / (len(replicates) + 1))
    return MetricDifference(*names, a.value - b.value, low, high, p)
