"""Results of a run over narratives: ``study.json`` as typed records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Required, TypeAlias, TypedDict

import msgspec
import numpy as np
from msgspec import UNSET, Struct, UnsetType

from beholder import files
from beholder.errors import RunError
from beholder.judges.operations import BreakKind
from beholder.kinds.narratives.cost import Stage
from beholder.kinds.narratives.hybrid import HybridCheck
from beholder.kinds.narratives.settings import Rule

STUDY = "study.json"
MATRIX = "theta.npz"
FORMAT = 1

Ends: TypeAlias = tuple[float, float]
"""Lower and upper end of a 95 % interval."""


def mean_vote(votes: Sequence[float | None]) -> float | None:
    """Mean over the judges that answered; None if none did."""
    known = [vote for vote in votes if vote is not None]
    return float(np.mean(known)) if known else None


class ShownFrame(TypedDict, total=False):
    """A picture: what its row in the data says, with its caption or why it has none."""

    id: Required[str]
    image: str
    caption: str
    date: str
    place: str
    labels: dict[str, str]
    failure: str


class StudyVote(Struct, frozen=True):
    """One judge's vote on a narrative or a step; see ``judging.Vote``."""

    judge: int
    value: int | None
    reason: str
    failure: str | None
    breaks: tuple[BreakKind, ...] | None = None


class NarrativeCoherence(Struct, frozen=True):
    """Coherence of a narrative; see ``storylines.Coherence``."""

    steps: tuple[float, ...]
    minimum: float
    mean: float
    geometric_mean: float
    weakest: int


class NearestNarrative(Struct, frozen=True):
    """The nearest human narrative, by its place in the run, and the alignment with it."""

    narrative: int
    cost: float
    normalised: float
    path: tuple[tuple[int, int], ...]


class Narrative(Struct, frozen=True):
    """A narrative as the page draws it.

    Attributes:
        id: Its id.
        source: What made it.
        group: What else is known of it.
        frames: Its pictures, as places in ``NarrativeStudy.frames``.
        coherence: Its coherence, if measured.
        coherence_failure: Why coherence could not be measured.
        nearest: The nearest human narrative.
        votes: Votes on the whole narrative, by method.
        hybrid: Its hybrid ratings.
        steps: Votes on each step.
    """

    id: str
    source: str
    group: dict[str, str]
    frames: tuple[int, ...]
    coherence: NarrativeCoherence | None
    coherence_failure: str | None
    nearest: NearestNarrative | None
    votes: dict[str, tuple[StudyVote, ...]]
    hybrid: tuple[float | None, ...] | None
    steps: tuple[tuple[StudyVote, ...], ...]

    @property
    def ratings(self) -> dict[str, tuple[float | None, ...]]:
        """Values of the judges by method, hybrid ratings included; None where a vote failed."""
        found: dict[str, tuple[float | None, ...]] = {
            method: tuple(vote.value for vote in votes) for method, votes in self.votes.items()
        }
        return found if self.hybrid is None else {**found, "hybrid": self.hybrid}

    @property
    def step_means(self) -> list[float | None]:
        """Mean vote on each step; empty if steps were not rated."""
        return [mean_vote([vote.value for vote in votes]) for votes in self.steps]

    @property
    def vote_failures(self) -> list[tuple[str, str]]:
        """Votes without a value: the method or the step, and the reason."""
        cast = [(method, vote) for method, votes in self.votes.items() for vote in votes]
        cast += [(f"step {n}", vote) for n, votes in enumerate(self.steps, 1) for vote in votes]
        return [(where, vote.failure) for where, vote in cast if vote.failure]


class MeanAndSD(Struct, frozen=True):
    """Number, mean and SD (n - 1) of some values."""

    n: int
    mean: float | None
    sd: float | None


class JudgeSpread(Struct, frozen=True):
    """SD with n - 1 and with n, and range, of the judges of a narrative; means over narratives."""

    within_sd: float | None = None
    within_sd_population: float | None = None
    within_range: float | None = None


class SourceScore(Struct, frozen=True):
    """Ratings of the narratives of a source by one method.

    Attributes:
        method: The method.
        source: The source.
        n: Narratives with a rating.
        n_failed: Narratives without one.
        n_votes: Votes with a value.
        n_votes_failed: Votes without one.
        mean: Mean over narratives of their mean vote.
        sd: Its SD with n - 1.
        sd_population: Its SD with n.
        interval: Interval of the mean.
        within_sd: See ``JudgeSpread``.
        within_sd_population: See ``JudgeSpread``.
        within_range: See ``JudgeSpread``.
    """

    method: str
    source: str
    n: int
    n_failed: int
    n_votes: int
    n_votes_failed: int
    mean: float | None
    sd: float | None
    sd_population: float | None
    interval: Ends | None
    within_sd: float | None
    within_sd_population: float | None
    within_range: float | None


class SourceCoherence(Struct, frozen=True):
    """Coherence and distance to the nearest human narrative, over the narratives of a source."""

    source: str
    minimum: MeanAndSD
    mean: MeanAndSD
    dtw: MeanAndSD


class MeasureCorrelation(Struct, frozen=True):
    """Ratings by a method against a measure: ``minimum``, ``mean`` or ``dtw``."""

    method: str
    measure: str
    n: int
    r: float | None
    interval: Ends | None
    p: float | None
    rho: float | None
    reason: str | None


class MethodCorrelation(Struct, frozen=True):
    """Ratings by a method against those by another."""

    a: str
    b: str
    n: int
    r: float | None
    interval: Ends | None
    p: float | None
    rho: float | None
    reason: str | None


class AgreementValue(Struct, frozen=True):
    """A coefficient with its interval."""

    value: float | None
    interval: Ends | None


class WordedValue(AgreementValue, frozen=True):
    """The same with the words of Koo and Li 2016 for the value and for both ends."""

    verdict: str | None
    verdicts: tuple[str, ...] | None


class MethodReliability(Struct, frozen=True, omit_defaults=True):
    """How the judges of a method agree; either ``reason`` or all that follows it is set.

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
    pairwise_r: dict[str, float | None] = {}
    mean_pairwise_r: float | UnsetType | None = UNSET
    within: dict[str, JudgeSpread] = {}


class SourceComparison(Struct, frozen=True, kw_only=True):
    """Two sources, ``a`` minus ``b``: tests and effect sizes.

    Attributes:
        method: How narratives were rated; unset where their steps were.
        a: A source.
        b: Another one.
        n_a: Narratives of the first.
        n_b: Narratives of the second.
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
        few: Whether a source has few narratives.
        p_welch_holm: ``p_welch`` adjusted for the number of tests (Holm 1979).
    """

    method: str | UnsetType = UNSET
    a: str
    b: str
    n_a: int
    n_b: int
    difference: float
    t_student: float | None
    p_student: float | None
    t_welch: float | None
    p_welch: float | None
    p_mann_whitney: float | None
    superiority: float | None
    d_unweighted: float | None
    d_pooled: float | None
    g: float | None
    g_interval: Ends | None
    few: bool
    p_welch_holm: float | None = None


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
        cautions: What a reader must know.
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
    """The columns of ``SourceScore`` that examples may change."""

    n: int
    mean: float | None
    sd: float | None
    sd_population: float | None
    within_sd: float | None


class AgreementChange(Struct, frozen=True):
    """ICC(2,1) without and with examples."""

    without: WordedValue | None
    shown: WordedValue | None = msgspec.field(name="with")


class ExampleEffect(Struct, frozen=True):
    """What examples change in the ratings of a source.

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
    sd_difference: float | None
    icc_single: AgreementChange


class RatedNarrative(Struct, frozen=True):
    """A narrative that judges saw as an example."""

    id: str
    source: str
    rating: int
    n_pictures: int


class Examples(Struct, frozen=True):
    """The examples, and what they change."""

    shown: tuple[RatedNarrative, ...]
    rows: tuple[ExampleEffect, ...]


class ModelPair(Struct, frozen=True):
    """Two judges, ``b`` minus ``a``, paired by narrative."""

    a: str
    b: str
    r: float | None
    interval: Ends | None
    p: float | None
    rho: float | None
    difference: float
    difference_interval: Ends | None
    difference_p: float | None


class ModelSource(Struct, frozen=True):
    """Ratings of a source by a judge; ``rank`` 1 is the source with the highest mean."""

    model: str
    source: str
    n: int
    mean: float
    sd: float | None
    rank: float


class ModelAgreement(Struct, frozen=True, omit_defaults=True):
    """How judges agree; either ``reason`` or all that follows it is set.

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

    source: str
    n: int
    mean: float | None
    sd: float | None
    n_steps: int
    n_failed: int


class StepCorrelation(Struct, frozen=True):
    """Step ratings against theta over ``n`` steps, narratives resampled as wholes."""

    n: int
    rho: float | None
    interval: Ends | None


class BreakTally(Struct, frozen=True):
    """What breaks in the steps of a source; a step can break in several ways.

    Attributes:
        source: The source.
        n: Steps with a report.
        n_not_told: Steps without.
        counts: Steps that break, by kind.
        shares: Their share of ``n``.
    """

    source: str
    n: int
    n_not_told: int
    counts: dict[str, int]
    shares: dict[str, float | None]


class BreakComparison(Struct, frozen=True):
    """Two sources: difference of the mean share over narratives, with Mann-Whitney's p."""

    kind: str
    a: str
    b: str
    n_a: int
    n_b: int
    difference: float
    p: float | None
    p_holm: float | None = None


class BreakTables(Struct, frozen=True):
    """What breaks in steps, by source and between sources."""

    sources: tuple[BreakTally, ...]
    comparisons: tuple[BreakComparison, ...]


class StepTables(Struct, frozen=True):
    """How steps were rated.

    Attributes:
        sources: A row per source.
        comparisons: A row per pair of sources.
        correlation: Of step ratings and theta.
        n_compared: Narratives whose steps all have a rating and a theta.
        same_weakest: Share of these whose lowest rated steps include the one of lowest theta.
        by_chance: The same if the lowest theta fell on any step alike.
        breaks: What breaks.
    """

    sources: tuple[StepSource, ...]
    comparisons: tuple[SourceComparison, ...]
    correlation: StepCorrelation
    n_compared: int
    same_weakest: float | None
    by_chance: float | None
    breaks: BreakTables


class UnitCost(Struct, frozen=True):
    """Costs in one unit, seconds or tokens.

    Attributes:
        caption: Of one caption.
        by_captions: Of one rating from captions.
        by_sight: Of one rating from pictures.
        basis: Where these numbers come from.
        captions_total: Of all captions and all ratings from them.
        captions_again: Of all ratings from captions that exist.
        sight_total: Of all ratings from pictures.
        break_even: Narratives from which captions cost less than sight; None if they never do.
    """

    caption: float
    by_captions: float
    by_sight: float
    basis: str
    captions_total: float
    captions_again: float
    sight_total: float
    break_even: float | None


class Cost(Struct, frozen=True):
    """What judging costs.

    Attributes:
        n_pictures: Pictures of narratives and examples.
        n_narratives: Narratives.
        judges: Ratings that each narrative gets by each way, of all judges together.
        stages: What each stage took.
        seconds: Costs in seconds.
        tokens: Costs in tokens.
    """

    n_pictures: int
    n_narratives: int
    judges: int
    stages: dict[str, Stage]
    seconds: UnitCost
    tokens: UnitCost


class HybridRatings(Struct, frozen=True):
    """How hybrid ratings were made; see ``hybrid.Hybrid``.

    Attributes:
        rule: Which narratives were looked at.
        share: What share of them.
        n_seen: How many have ratings by sight.
        seen: Their places in the run.
        weight: Share of sight where both ways judged.
        learned: Whether the weight was learned.
        slope: Sight per caption rating.
        intercept: Sight at a caption rating of 0.
        trusted: Whether captions predict sight.
        checks: How the ratings compare with sight.
        calls_saved: Ratings by sight that were not needed.
        seconds_saved: What these would have taken.
        tokens_saved: What these would have taken.
    """

    rule: Rule
    share: float
    n_seen: int
    seen: tuple[int, ...]
    weight: float
    learned: bool
    slope: float
    intercept: float
    trusted: bool
    checks: tuple[HybridCheck, ...]
    calls_saved: int
    seconds_saved: float
    tokens_saved: float


class ThetaMatrix(Struct, frozen=True):
    """What ``theta.npz`` holds.

    Attributes:
        signature: How theta is made.
        embedder: Identity of the embedder.
        learned: Whether its vectors represent meaning.
        notes: What was left out.
        frames: Ids of the pictures, in order.
        order: What the order is.
    """

    signature: str
    embedder: str
    learned: bool
    notes: tuple[str, ...]
    frames: tuple[str, ...]
    order: str


class VotingLog(Struct, frozen=True):
    """The ``settings.Voting`` of a run."""

    judges: int
    temperature: int | float
    context: str
    anchors: bool
    examples: dict[str, int]


class NarrativeStudy(Struct, frozen=True, kw_only=True):
    """Everything a run found: the content of ``study.json``.

    Attributes:
        format: Version of the file's format.
        human: Name of the human source.
        frames: Every picture.
        narratives: Every narrative.
        tables: Tables that compare sources.
        examples: What examples change.
        models: How judges agree, by way of rating.
        steps: How steps were rated.
        cost: What judging costs.
        hybrid: How hybrid ratings were made.
        hybrid_missing: Why there are none.
        theta: What ``theta.npz`` holds.
        judges: Identity of the judge of each stage.
        voting: How judges voted.
        unreadable: Why pictures have no thumbnail.
    """

    format: int = FORMAT
    human: str
    frames: tuple[ShownFrame, ...]
    narratives: tuple[Narrative, ...]
    tables: ComparisonTables
    examples: Examples | None = None
    models: tuple[ModelAgreement, ...] = ()
    steps: StepTables | None
    cost: Cost
    hybrid: HybridRatings | None
    hybrid_missing: str | None = None
    theta: ThetaMatrix | None
    judges: dict[str, str] = {}
    voting: VotingLog
    unreadable: tuple[str, ...] = ()


class StageOfRun(Struct, frozen=True):
    """What a stage of a run took; see ``cost.Stage``."""

    run: str
    stage: str
    calls: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int


class SideBySide(Struct, frozen=True):
    """Two runs over the same narratives.

    Attributes:
        runs: Their names.
        judges: The judge of each run, by way of rating.
        models: How the judges agree, by way that both runs have; a narrative's steps count by
            their mean.
        cost: A row per run and stage.
    """

    runs: tuple[str, str]
    judges: dict[str, tuple[str, ...]]
    models: tuple[ModelAgreement, ...]
    cost: tuple[StageOfRun, ...]


def read(folder: Path) -> NarrativeStudy:
    """The ``study.json`` of a run.

    Raises:
        RunError: The run is not finished, or the file is damaged; names the file and the field.
    """
    path = folder / STUDY
    missing = (
        f"{folder} is no finished run over narratives: it has no {STUDY}; run the same command"
        " again to finish it"
    )
    found = files.read_json(path, form=FORMAT, kind="study", missing=missing)
    try:
        return msgspec.convert(found, NarrativeStudy)
    except msgspec.ValidationError as error:
        raise RunError(
            f"{path} is damaged: {error}; delete it and run the same command again, which uses all"
            " that was kept beside it"
        ) from error
