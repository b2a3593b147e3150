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

from beholder.base.grouping import group_by_key
from beholder.errors import ConfigError
from beholder.kinds.agreement.protocols import (
    CORRELATIONS,
    VERDICTS,
    Measure,
    n_words,
)
from beholder.kinds.agreement.results import MetricDifference
from beholder.records import ROW_FIELDS, Interval, Item, interval_ends
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
"""Seed of the halves of the sources; each half takes the other half's threshold."""
FEWEST_OF_A_VERDICT = 10
"""With fewer labels of one verdict, figures have no interval."""


def first_id(item: Item) -> str:
    """Return the id of an item's candidate among the scored texts."""
    return f"{item.id}#a" if item.meta.get("candidate_b") else item.id


def second_id(item: Item) -> str:
    """Return the id of an item's second text among the scored texts."""
    return f"{item.id}#b"


def scored_items(
    items: Sequence[Item], measures: Sequence[Measure]
) -> list[Item]:
    """Return the texts to score: each candidate, and second texts if a measure compares pairs.

    Labels are left out: they could lead a metric. Fields that metrics read are kept.
    """
    paired = any(measure.paired for measure in measures)
    texts = []
    for item in items:
        meta = {
            name: item.meta[name] for name in ROW_FIELDS if name in item.meta
        }
        plain = replace(item, judgments={}, meta=meta)
        texts.append(replace(plain, id=first_id(item)))
        if paired and (second_text := item.meta.get("candidate_b")):
            texts.append(
                replace(plain, id=second_id(item), candidate=str(second_text))
            )
    return texts


@dataclass(frozen=True, eq=False)
class Data:
    """The data of one measure, a datum per label.

    Attributes:
        measure: The measure.
        first: Id of the scored text.
        second: Id of the text it is compared with, or "".
        gold: (n,) labels.
        sources: Picture or video of each datum; whole sources are resampled.
        raters: Number of the label among those of its item.
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
        """Return (n,) scores, of pairs the difference; NaN where a text has none."""
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
        measure: Measure to compute.
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
            # A pair is a difference, and so is its covariate.
            covariate -= control(
                replace(item, candidate=str(item.meta["candidate_b"]))
            )
        for rater, label in enumerate(measure.labels(item)):
            # NaN: that rater gave no answer.
            if not math.isnan(label):
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
class AgreementFigure:
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


def usable_scores(data: Data, scores: Floats) -> Floats:
    """Return the number with which each datum enters a measure.

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
        return _decide_by_halves(data, scores)
    if data.measure.kind != "ranking":
        return scores
    # A ranking is compared within one source and one rater; its data all count
    # with the same correlation, so that a mean over data is a mean over texts.
    spearman = coefficient("spearman")
    scored_places = np.flatnonzero(np.isfinite(scores)).tolist()
    groups = group_by_key(
        ((data.sources[place], data.raters[place]), place)
        for place in scored_places
    )
    values = np.full(len(scores), np.nan)
    for places in groups.values():
        if len(places) < 2:
            continue
        correlation = spearman(scores[places], data.gold[places])
        if correlation is not None:
            values[places] = correlation
    return values


def _decide_by_halves(data: Data, scores: Floats) -> Floats:
    """Return (n,) verdicts, 1 or 0, by the best threshold of the other half of the sources."""
    scored_places = np.flatnonzero(np.isfinite(scores))
    verdicts = np.full(len(scores), np.nan)
    codes = cluster_codes(
        [data.sources[row] for row in scored_places], len(scored_places)
    )
    # Whole sources go to a half: texts about one picture are alike.
    rng = np.random.default_rng(HALVES_SEED)
    half = rng.permutation(codes.max(initial=0) + 1)[codes] % 2
    for number in (0, 1):
        own_half, other_half = (
            scored_places[half == number],
            scored_places[half != number],
        )
        if len(other_half):
            # Alerts mark the wrong class; here that is a verdict of no.
            wrong = 1 - data.gold[other_half].astype(np.int64)
            verdicts[own_half] = scores[own_half] >= best_threshold(
                [scores[other_half]], [wrong], "classes"
            )
    return verdicts


def agreement(
    data: Data, scores: Floats, *, n_resamples: int, seed: int = 12345
) -> AgreementFigure:
    """Compute the agreement of one metric's scores with the labels.

    Args:
        data: The data of the measure.
        scores: (n,) higher is better; NaN if missing.
        n_resamples: Bootstrap resamples over sources; 0 for no interval.
        seed: Seed of the resampling.
    """
    n_missing = int((~np.isfinite(scores)).sum())
    scores = usable_scores(data, scores)
    usable_places = np.flatnonzero(np.isfinite(scores))
    n_undefined = len(scores) - n_missing - len(usable_places)
    codes = cluster_codes(
        [data.sources[row] for row in usable_places], len(usable_places)
    )
    n_sources = n_clusters(codes)
    build_figure = partial(
        AgreementFigure,
        n=len(usable_places),
        n_missing=n_missing,
        n_sources=n_sources,
        n_undefined=n_undefined,
    )
    # The cases without a figure each say why, for the note of the row.
    if len(usable_places) < 2:
        no_correlation = "no correlation within a source is defined"
        reason_without_value = (
            no_correlation if n_undefined else "fewer than two scores"
        )
        return build_figure(None, None, reason=reason_without_value)
    if data.measure.kind == "replaces":
        return _test_replacement(data, scores, build_figure)
    statistic = _statistic(data, scores, usable_places)
    value = statistic(np.arange(len(usable_places)))
    if value is None:
        return build_figure(
            None, None, reason="the scores or the labels do not vary"
        )
    replicates: list[float | None] = []
    # With few labels of one verdict most resamples are alike, and an interval
    # would be too narrow.
    n_of_rarer = min(
        np.count_nonzero(data.gold[usable_places] == verdict)
        for verdict in (0, 1)
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
    return build_figure(
        value, interval, replicates=tuple(replicates), reason=reason
    )


def _test_replacement(
    data: Data, scores: Floats, build_figure: Callable[..., AgreementFigure]
) -> AgreementFigure:
    """Compute the share of people whom verdicts may replace; its own test covers chance."""
    # From one datum per label to a table of items by people, as the test takes
    # it.
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
        test = alternative_annotator(
            people, judge, clusters=clusters, epsilons=epsilons
        )
    except ConfigError as error:
        return build_figure(None, None, reason=str(error))
    value = test.winning_rate[data.measure.epsilon]
    return build_figure(
        value, None, reason=f"of {test.n_people} people; 0.5 and more passes"
    )


def by_category(data: Data, scores: Floats) -> dict[str, tuple[float, int]]:
    """Compute the measure within each category, with its n; undefined categories are left out.

    Args:
        data: The data of the measure.
        scores: (n,) scores.
    """
    figures: dict[str, tuple[float, int]] = {}
    for category in dict.fromkeys(data.categories.tolist()):
        # Data of other categories count as missing, which keeps the arrays
        # aligned.
        masked = np.where(data.categories == category, scores, np.nan)
        figure = agreement(data, masked, n_resamples=0)
        if category and figure.value is not None:
            figures[category] = (figure.value, figure.n)
    return figures


def _statistic(
    data: Data, scores: Floats, places: Ints
) -> Callable[[Ints], float | None]:
    """Return the statistic as a function of rows of the usable data."""
    kind = data.measure.kind
    x, gold = scores[places], data.gold[places]
    if kind in CORRELATIONS:
        correlate_rows = on_resamples(kind, x, gold)
        if data.control is None:
            return lambda rows: correlate_rows(x[rows], gold[rows])
        z = data.control[places]
        plain = coefficient(kind)
        return lambda rows: partial_coefficient(
            plain, x[rows], gold[rows], z[rows]
        )
    if kind in VERDICTS:
        return lambda rows: _score_verdicts(kind, x[rows], gold[rows] == 1)
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
    codes = cluster_codes(data.categories[places], len(places))
    n_categories = n_clusters(codes)

    def mean_of_means(rows: Ints) -> float | None:
        sizes = np.bincount(codes[rows], minlength=n_categories)
        # A resample without a category has no mean of its categories.
        if not sizes.all():
            return None
        sums = np.bincount(
            codes[rows], weights=right[rows], minlength=n_categories
        )
        return float((sums / sizes).mean())

    return mean_of_means


def _score_verdicts(
    kind: str, x: Floats, gold_yes: NDArray[np.bool_]
) -> float | None:
    """Compute a figure of scores (``auc``) or of verdicts against people's verdicts."""
    if kind == "auc":
        # Counts per level give the area without a sort in each resample.
        levels = np.unique(x, return_inverse=True)[1]
        no_counts, yes_counts = (
            np.bincount(levels[mask], minlength=len(x))
            for mask in (~gold_yes, gold_yes)
        )
        return area_of_levels(
            no_counts.astype(np.float64), yes_counts.astype(np.float64)
        )
    metric_yes = x == 1
    if kind == "precision of no":
        return (
            float((~gold_yes[~metric_yes]).mean())
            if not metric_yes.all()
            else None
        )
    if kind == "kappa":
        return kappa_of(
            metric_yes.astype(np.int64),
            gold_yes.astype(np.int64),
            1.0 - np.eye(2),
        )
    yeses = float(metric_yes[gold_yes].mean()) if gold_yes.any() else None
    noes = (
        float((~metric_yes[~gold_yes]).mean()) if not gold_yes.all() else None
    )
    if kind == "balanced accuracy":
        return None if yeses is None or noes is None else (yeses + noes) / 2
    return yeses if kind == "recall of yes" else noes


def compare(
    labels: Sequence[str], figures: Sequence[AgreementFigure], n_resamples: int
) -> tuple[list[MetricDifference], list[int | None]]:
    """Compare all pairs, and cluster the metrics that are not significantly different.

    Args:
        labels: Names of the metrics.
        figures: Agreement of each on the same data, with replicates of the same resamples.
        n_resamples: Number of resamples; 0 gives neither differences nor clusters.

    Returns:
        The pairs in order, and the number of each metric's cluster
        (``stats.significance_clusters``).
    """
    if not n_resamples:
        return [], [None] * len(labels)
    raw = {
        (i, j): _difference(
            (labels[i], labels[j]), (figures[i], figures[j]), n_resamples
        )
        for i, j in combinations(range(len(labels)), 2)
    }
    clusters = significance_clusters(
        [figure.value for figure in figures],
        lambda i, j: raw[min(i, j), max(i, j)].p,
    )
    # Holm over all pairs: a reader looks at every difference of the matrix.
    corrected = holm([difference.p for difference in raw.values()])
    pairs = zip(raw.values(), corrected, strict=True)
    return [
        msgspec.structs.replace(difference, p=p) for difference, p in pairs
    ], clusters


def _difference(
    names: tuple[str, str],
    figures: tuple[AgreementFigure, AgreementFigure],
    n_resamples: int,
) -> MetricDifference:
    """Compare one pair; its p is not corrected yet."""
    a, b = figures
    if a.value is None or b.value is None:
        return MetricDifference(*names, None, None, None, None)
    pairs = zip(a.replicates, b.replicates, strict=True)
    replicates = np.array(
        [x - y for x, y in pairs if x is not None and y is not None]
    )
    low = high = p = None
    # Where many resamples have no value, the others are no fair sample.
    if len(replicates) >= 0.9 * n_resamples:
        interval = percentile_interval(replicates, LEVEL)
        low, high = interval_ends(interval) or (None, None)
        # Two-sided p of the bootstrap, with 1 added so that it is never 0.
        tail = min((replicates <= 0).sum(), (replicates >= 0).sum())
        p = min(1.0, 2 * (int(tail) + 1) / (len(replicates) + 1))
    return MetricDifference(*names, a.value - b.value, low, high, p)
