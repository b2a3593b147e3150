"""Rows of the tables that compare sources, judges and steps, as ``study.json`` keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from beholder.tables import heading

Ends: TypeAlias = tuple[float, float]
"""Lower and upper end of a 95 % interval."""
Number: TypeAlias = float | None
"""A number, or None where it is not defined."""
Source: TypeAlias = Annotated[str, heading("source", "text")]
OtherSource: TypeAlias = Annotated[str, heading("minus", "text")]
Count: TypeAlias = Annotated[int, heading("n", "count")]
CountOfFirst: TypeAlias = Annotated[int, heading("n, first", "count")]
CountOfSecond: TypeAlias = Annotated[int, heading("n, second", "count")]
SD: TypeAlias = Annotated[Number, heading("SD", "hundredths")]
Pearson: TypeAlias = Annotated[Number, heading("Pearson r", interval=True)]
Spearman: TypeAlias = Annotated[Number, heading("Spearman")]


def colour_range(thetas: Iterable[float]) -> Ends:
    """Return theta of the weakest and strongest colour, at least 0.1 apart so that they differ."""
    values = [*thetas] or [0.0, 1.0]
    middle, half = (
        (min(values) + max(values)) / 2,
        max(max(values) - min(values), 0.1) / 2,
    )
    return middle - half, middle + half


class MeanAndSD(Struct, frozen=True):
    """Number, mean and SD (n - 1) of some values."""

    n: int
    mean: Number
    sd: Number


class JudgeSpread(Struct, frozen=True, kw_only=True):
    """SD with n - 1 and with n, and range, of the judges of a narrative; means over narratives."""

    within_sd: Number = None
    within_sd_population: Number = None
    within_range: Number = None


class SourceScore(Struct, frozen=True, kw_only=True):
    """Ratings of the narratives of a source by one method.

    Attributes:
        method: The method.
        source: The source.
        n: Narratives with a rating.
        mean: Mean over narratives of their mean vote.
        interval: Its interval.
        reason: Why it has none; None if it has one.
        sd: Its SD with n - 1.
        sd_population: Its SD with n.
        within_sd: See ``JudgeSpread``, as the next two.
        within_sd_population: With n.
        within_range: The range.
        n_failed: Narratives without a rating.
        n_votes: Votes with a value.
        n_votes_failed: Votes without one.
    """

    method: Annotated[str, heading("method", "text")]
    source: Source
    n: Count
    mean: Annotated[
        Number, heading("mean (1 to 10)", "hundredths", interval=True)
    ]
    interval: Ends | None
    reason: str | None = None
    sd: SD
    sd_population: Number
    within_sd: Annotated[
        Number, heading("SD of judges (n − 1)", "hundredths")
    ] = None
    within_sd_population: Annotated[
        Number, heading("SD of judges (n)", "hundredths")
    ] = None
    within_range: Annotated[
        Number, heading("range of judges", "hundredths")
    ] = None
    n_failed: Annotated[int, heading("failed", "failed")]
    n_votes: int
    n_votes_failed: Annotated[int, heading("failed votes", "failed")]


class SourceCoherence(Struct, frozen=True):
    """Coherence and distance to the nearest human narrative, over the narratives of a source."""

    source: str
    minimum: MeanAndSD
    mean: MeanAndSD
    dtw: MeanAndSD


class RatingCorrelation(Struct, frozen=True, kw_only=True):
    """Pearson's r with its interval and p, and Spearman's rho, over ``n`` narratives with both."""

    n: Count
    r: Pearson = None
    interval: Ends | None = None
    p: Annotated[Number, heading("p", "p")] = None
    rho: Spearman = None
    reason: str | None = None


class MeasureCorrelation(RatingCorrelation, frozen=True):
    """Ratings by a method against a measure: ``minimum``, ``mean`` or ``dtw``."""

    method: str
    measure: str


class MethodCorrelation(RatingCorrelation, frozen=True):
    """Ratings by a method against those by another."""

    a: str
    b: str


class AgreementValue(Struct, frozen=True):
    """A coefficient with its interval, or why it has none."""

    value: Number
    interval: Ends | None
    reason: str | None = None


class WordedValue(AgreementValue, frozen=True):
    """A coefficient with the words of Koo and Li 2016 for the value and for both ends."""

    verdict: str | None = None
    verdicts: tuple[str, ...] | None = None


class MethodReliability(Struct, frozen=True, omit_defaults=True):
    """Agreement of the judges of a method; either ``reason`` or all that follows it is set.

    Attributes:
        method: The method.
        n: Narratives with the votes of all judges.
        n_left_out: Narratives without.
        reason: Why nothing can be said.
        n_judges: Judges.
        icc_single: ICC(2,1).
        icc_average: ICC(2,k).
        alpha: Cronbach's alpha.
        pairwise_r: Pearson's r of each pair of judges, such as ``1 and 2``.
        mean_pairwise_r: Their mean.
        within: Spread of judges, of ``all`` narratives and by source.
    """

    method: str
    n: int
    n_left_out: int
    reason: str = ""
    n_judges: int = 0
    icc_single: WordedValue | None = None
    icc_average: WordedValue | None = None
    alpha: AgreementValue | None = None
    pairwise_r: dict[str, Number] = {}
    mean_pairwise_r: float | UnsetType | None = UNSET
    within: dict[str, JudgeSpread] = {}


class SourceComparison(Struct, frozen=True, kw_only=True):
    """Two sources, ``a`` minus ``b``: tests and effect sizes.

    Attributes:
        method: Way in which narratives were rated; unset where their steps were.
        a: A source.
        b: Another one.
        n_a: Narratives of the first.
        n_b: Narratives of the second.
        few: Whether a source has few narratives.
        difference: Difference of the means.
        t_student: Student's t.
        p_student: Its p.
        t_welch: Welch's t.
        p_welch: Its p.
        p_mann_whitney: p of the Mann-Whitney test.
        superiority: Chance that a narrative of the first is rated higher.
        d_unweighted: Cohen's d as published: the mean of both variances.
        d_pooled: Cohen's d with the pooled variance.
        g: Hedges' g.
        g_interval: Its interval.
        p_welch_holm: ``p_welch`` adjusted for the number of tests (Holm 1979).
    """

    method: str | UnsetType = UNSET
    a: Source
    b: OtherSource
    n_a: CountOfFirst
    n_b: CountOfSecond
    few: Annotated[bool, heading("few", "mark")]
    difference: Annotated[float, heading("difference", "hundredths")]
    t_student: Number
    p_student: Number
    t_welch: Number
    p_welch: Number
    p_mann_whitney: Number
    superiority: Number
    d_unweighted: Number
    d_pooled: Number
    g: Number
    g_interval: Ends | None
    p_welch_holm: Number = None


class ComparisonTables(Struct, frozen=True):
    """All tables that compare sources.

    Attributes:
        sources: Sources; people first, chance last.
        methods: Methods of rating.
        scores: A row per method and source.
        coherence: A row per source.
        correlations: A row per method and measure.
        reliability: A row per method.
        comparisons: A row per method and pair of sources.
        between_methods: A row per pair of methods.
        cautions: Sentences that a reader must know.
    """

    sources: tuple[str, ...]
    methods: tuple[str, ...]
    scores: tuple[SourceScore, ...]
    coherence: tuple[SourceCoherence, ...]
    correlations: tuple[MeasureCorrelation, ...]
    reliability: tuple[MethodReliability, ...]
    comparisons: tuple[SourceComparison, ...]
    between_methods: tuple[MethodCorrelation, ...]
    cautions: tuple[str, ...]


class RatingSpread(Struct, frozen=True):
    """Mean and SD of ratings, without and with examples."""

    n: int
    mean: Number
    sd: Number
    sd_population: Number
    within_sd: Number


class AgreementChange(Struct, frozen=True):
    """ICC(2,1) without and with examples."""

    without: WordedValue | None
    shown: WordedValue | None = msgspec.field(name="with")


class ExampleEffect(Struct, frozen=True):
    """Change of the ratings of a source by examples.

    Attributes:
        way: Name of the way of rating without examples.
        source: The source.
        without: Ratings without examples.
        shown: Ratings with them.
        sd_difference: Difference of ``sd``; above 0, examples spread ratings.
        icc_single: Agreement of judges over all sources.
    """

    way: str
    source: str
    without: RatingSpread
    shown: RatingSpread = msgspec.field(name="with")
    sd_difference: Number
    icc_single: AgreementChange


class RatedNarrative(Struct, frozen=True):
    """A narrative that judges saw as an example."""

    id: str
    source: str
    rating: int
    n_pictures: int


class Examples(Struct, frozen=True):
    """The examples, and the changes of ratings by them."""

    shown: tuple[RatedNarrative, ...]
    rows: tuple[ExampleEffect, ...]


class ModelPair(Struct, frozen=True):
    """Two judges, ``b`` minus ``a``, paired by narrative."""

    a: Annotated[str, heading("judge", "text")]
    b: Annotated[str, heading("and", "text")]
    r: Pearson
    interval: Ends | None
    p: Annotated[Number, heading("p of r", "p")]
    rho: Spearman
    difference: Annotated[
        float, heading("second − first", "hundredths", interval=True)
    ]
    difference_interval: Ends | None
    difference_p: Annotated[Number, heading("p of the difference", "p")]


class ModelSource(Struct, frozen=True):
    """Ratings of a source by a judge; ``rank`` 1 is the source with the highest mean."""

    model: Annotated[str, heading("judge", "text")]
    source: Source
    n: Count
    mean: Annotated[float, heading("mean", "hundredths")]
    sd: SD
    rank: Annotated[float, heading("rank of the source", "tenths")]


class ModelAgreement(Struct, frozen=True, omit_defaults=True):
    """Agreement of several judges; either ``reason`` or all that follows it is set.

    Attributes:
        by: Way of rating.
        models: The judges.
        n: Narratives that all rated.
        n_left_out: Narratives that only some rated.
        reason: Why nothing can be said.
        icc_single: ICC(2,1) over judges: a judge that is milder disagrees.
        icc_average: ICC(2,k).
        kendall_w: Kendall's W of their orders of the narratives.
        pairs: A row per pair of judges.
        sources: A row per judge and source.
    """

    by: str
    models: tuple[str, ...]
    n: int
    n_left_out: int
    reason: str = ""
    icc_single: WordedValue | None = None
    icc_average: WordedValue | None = None
    kendall_w: AgreementValue | None = None
    pairs: tuple[ModelPair, ...] = ()
    sources: tuple[ModelSource, ...] = ()


class StepSource(Struct, frozen=True):
    """Step ratings of a source; a narrative counts once, with the mean of its steps."""

    source: Source
    n: Count
    mean: Annotated[Number, heading("mean step rating", "hundredths")]
    sd: SD
    n_steps: Annotated[int, heading("steps rated", "count")]
    n_failed: Annotated[int, heading("failed steps", "failed")]


class StepCorrelation(Struct, frozen=True):
    """Step ratings against theta over ``n`` steps, narratives resampled as wholes."""

    n: int
    rho: Number
    interval: Ends | None


class BreakTally(Struct, frozen=True):
    """Counts of the kinds of break in the steps of a source; a step can break in several ways.

    Attributes:
        source: The source.
        n: Steps with a report.
        n_not_told: Steps without.
        counts: Steps that break, by kind.
        shares: Their share of ``n``.
    """

    source: Source
    n: Annotated[int, heading("steps stated", "count")]
    n_not_told: int
    counts: dict[str, int]
    shares: dict[str, Number]


class BreakComparison(Struct, frozen=True):
    """Two sources: difference of the mean share over narratives, with Mann-Whitney's p."""

    kind: Annotated[str, heading("what breaks", "text")]
    a: Source
    b: OtherSource
    n_a: CountOfFirst
    n_b: CountOfSecond
    difference: Annotated[
        float, heading("difference of mean shares", "hundredths")
    ]
    p: Annotated[Number, heading("p (Mann-Whitney)", "p")]
    p_holm: Annotated[Number, heading("p (Holm)", "p")] = None


class BreakTables(Struct, frozen=True):
    """Kinds of break in steps, by source and between sources."""

    sources: tuple[BreakTally, ...]
    comparisons: tuple[BreakComparison, ...]


class StepTables(Struct, frozen=True):
    """Ratings of steps.

    Attributes:
        sources: A row per source.
        comparisons: A row per pair of sources.
        correlation: Of step ratings and theta.
        n_compared: Narratives whose steps all have a rating and a theta.
        same_weakest: Share of these whose lowest rated steps include the one of lowest theta.
        by_chance: The same if the lowest theta fell on any step alike.
        breaks: Counts of breaks.
    """

    sources: tuple[StepSource, ...]
    comparisons: tuple[SourceComparison, ...]
    correlation: StepCorrelation
    n_compared: int
    same_weakest: Number
    by_chance: Number
    breaks: BreakTables
