"""Results of a run over narratives: ``study.json`` as typed records, and what judging costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from msgspec import Struct, structs

from beholder.asking.asker import Outcome
from beholder.base import files
from beholder.judges.answers import AnswerStore
from beholder.judges.operations import BreakKind
from beholder.kinds.narratives import compared
from beholder.kinds.narratives.compared import Number
from beholder.kinds.narratives.config import Rule, Voting
from beholder.kinds.narratives.hybrid import HybridCheck
from beholder.tables import heading


@dataclass(frozen=True, slots=True)
class Stage:
    """Calls, seconds and tokens of one stage of a study, over its distinct answers.

    Attributes:
        calls: Answers.
        seconds: From sending to the last byte, all calls added up, as measured when each was made.
        prompt_tokens: Tokens sent, pictures included.
        completion_tokens: Tokens that came back.
    """

    calls: int = 0
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.completion_tokens


def spent_on(outcomes: Iterable[Outcome], answers: AnswerStore) -> Stage:
    """The cost of a stage: each stored answer behind its outcomes counts once.

    This includes answers of earlier starts, answers from a shared cache, and unusable answers.

    Args:
        outcomes: The stage's outcomes; ``detail["answers"]`` holds the keys of the answers.
        answers: The stored answers.
    """
    keys = {
        key
        for outcome in outcomes
        for key in outcome.detail.get("answers", ())
    }
    # An answer can be shared by several outcomes and is paid once, hence the set of keys.
    stored = map(answers.get_answer, keys)
    used_answers = [answer for answer in stored if answer is not None]
    return pool_stages(
        Stage(1, a.seconds, a.usage.prompt, a.usage.completion)
        for a in used_answers
    )


class Rates(Struct, frozen=True):
    """Cost of one call of each kind, in one unit (seconds, or tokens).

    Attributes:
        caption: Writing one caption; paid once per picture.
        by_captions: One judge rating one narrative from its captions.
        by_sight: One judge rating one narrative from its pictures.
        basis: Origin of the numbers, for people.
    """

    caption: float
    by_captions: float
    by_sight: float
    basis: str

    def cost_for(
        self, n_pictures: int, n_narratives: int, judges: int
    ) -> UnitCost:
        """Return the cost of a study in this unit.

        Args:
            n_pictures: Pictures; each needs a caption once.
            n_narratives: Narratives.
            judges: Ratings that each narrative gets by each way.
        """
        captions, rating_cost = (
            n_pictures * self.caption,
            n_narratives * judges * self.by_captions,
        )
        # Each rating by captions saves this much; captions themselves are paid once.
        saved = judges * (self.by_sight - self.by_captions)
        return UnitCost(
            **structs.asdict(self),
            captions_total=captions + rating_cost,
            captions_again=rating_cost,
            sight_total=n_narratives * judges * self.by_sight,
            break_even=captions / saved if saved > 0 else None,
        )


PUBLISHED_SECONDS = Rates(
    2.5, 0.86, 9.30, "published for one hosted model (Keith et al. 2025)"
)
"""Used before anything was measured; another model or server can be far from it."""


def estimated_tokens(mean_length: float, words: int = 175) -> Rates:
    """Return tokens per call by rules of thumb: 1500 a picture, 4 for 3 words, 400 in prompts."""
    caption = 4 / 3 * words
    return Rates(
        caption=1500 + 200 + caption,
        by_captions=400 + mean_length * caption,
        by_sight=400 + mean_length * 1500,
        basis="estimated: 1500 tokens a picture, 4 tokens for 3 words",
    )


def pool_stages(stages: Iterable[Stage]) -> Stage:
    """Return the sum of several stages."""
    stage_list = list(stages)
    return Stage(
        calls=sum(stage.calls for stage in stage_list),
        # An exact sum does not depend on the order in which answers are read.
        seconds=math.fsum(stage.seconds for stage in stage_list),
        prompt_tokens=sum(stage.prompt_tokens for stage in stage_list),
        completion_tokens=sum(stage.completion_tokens for stage in stage_list),
    )


def measure_rates(stages: Mapping[str, Stage]) -> tuple[Rates, Rates] | None:
    """Return seconds and tokens per call as a run measured them.

    None before narratives were rated both ways. A run that wrote no captions was given them: they
    cost nothing.
    """
    caption, words, sight = (
        stages.get(n, Stage()) for n in ("caption", "captions", "sight")
    )
    if not (words.calls and sight.calls):
        return None
    # Captions of the data took no call: 0 seconds, divided by 1.
    n_captions = caption.calls or 1
    caption_note = "" if caption.calls else " (captions were given)"
    basis = (
        f"measured in this run over {caption.calls}, {words.calls}"
        f" and {sight.calls} answers{caption_note}"
    )
    seconds = (
        caption.seconds / n_captions,
        words.seconds / words.calls,
        sight.seconds / sight.calls,
    )
    tokens = (
        caption.tokens / n_captions,
        words.tokens / words.calls,
        sight.tokens / sight.calls,
    )
    return Rates(*seconds, basis), Rates(*tokens, basis)


STUDY = "study.json"
MATRIX = "theta.npz"
FORMAT = 1
HYBRID = "hybrid"
"""The method of hybrid ratings."""


def mean_vote(votes: Sequence[Number]) -> Number:
    """Return the mean over the judges that answered, or None without an answer."""
    values = [vote for vote in votes if vote is not None]
    return float(np.mean(values)) if values else None


class ShownFrame(Struct, frozen=True, omit_defaults=True):
    """A picture: what its row in the data says, with its caption or why it has none."""

    id: str
    image: str = ""
    date: str = ""
    place: str = ""
    labels: dict[str, str] = {}
    caption: str = ""
    failure: str = ""


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
        source: Maker of the narrative: ``human`` or a method of extraction.
        group: Group of the narrative.
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
    hybrid: tuple[Number, ...] | None
    steps: tuple[tuple[StudyVote, ...], ...]

    @property
    def ratings(self) -> dict[str, tuple[Number, ...]]:
        """Return values of the judges by method, hybrid ratings included; None for failed votes."""
        ratings: dict[str, tuple[Number, ...]] = {
            method: tuple(vote.value for vote in votes)
            for method, votes in self.votes.items()
        }
        return ratings | ({HYBRID: self.hybrid} if self.hybrid else {})

    @property
    def means(self) -> dict[str, float]:
        """Return the mean vote by method, hybrid ratings included, of methods with a vote."""
        means = {
            method: mean_vote(values)
            for method, values in self.ratings.items()
        }
        return {
            method: mean for method, mean in means.items() if mean is not None
        }

    @property
    def step_means(self) -> list[Number]:
        """Return the mean vote on each step; empty if steps were not rated."""
        return [
            mean_vote([vote.value for vote in votes]) for votes in self.steps
        ]

    @property
    def vote_failures(self) -> list[tuple[str, str]]:
        """Return the votes without a value: the method or the step, and the reason."""
        cast = [
            (method, vote)
            for method, votes in self.votes.items()
            for vote in votes
        ]
        cast += [
            (f"step {n}", vote)
            for n, votes in enumerate(self.steps, 1)
            for vote in votes
        ]
        return [(where, vote.failure) for where, vote in cast if vote.failure]

    @property
    def failures(self) -> list[str]:
        """Return the messages of all failures, each once."""
        votes = (f"{where}: {reason}" for where, reason in self.vote_failures)
        return [
            reason
            for reason in dict.fromkeys([self.coherence_failure, *votes])
            if reason
        ]

    @property
    def reasons(self) -> list[tuple[str, int, str]]:
        """Return the judges' words: method, number of the judge, reason."""
        cast = (
            (method, vote)
            for method, votes in self.votes.items()
            for vote in votes
        )
        return [
            (method, vote.judge + 1, vote.reason)
            for method, vote in cast
            if vote.reason
        ]


class UnitCost(Rates, frozen=True):
    """Costs in one unit, seconds or tokens.

    Attributes:
        captions_total: Of all captions and all ratings from them.
        captions_again: Of all ratings from captions that exist.
        sight_total: Of all ratings from pictures.
        break_even: Narratives from which captions cost less than sight; None if they never do.
    """

    captions_total: Annotated[float, heading("captions, first time", "count")]
    captions_again: Annotated[float, heading("captions, again", "count")]
    sight_total: Annotated[float, heading("sight", "count")]
    break_even: Annotated[
        Number, heading("captions pay from, narratives", "count")
    ]


class Cost(Struct, frozen=True):
    """Costs of judging, by captions and by sight.

    Attributes:
        n_pictures: Pictures of narratives and examples.
        n_narratives: Narratives.
        judges: Ratings that each narrative gets by each way, of all judges together.
        stages: Time and tokens of each stage.
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
    """Rule, scale and checks of hybrid ratings; see ``hybrid.Hybrid``.

    Attributes:
        rule: Rule that selected narratives to be judged by sight.
        share: Share of narratives judged by sight.
        n_seen: Number of narratives with ratings by sight.
        seen: Their places in the run.
        weight: Share of sight where both ways judged.
        learned: Whether the weight was learned.
        slope: Sight per caption rating.
        intercept: Sight at a caption rating of 0.
        trusted: Whether captions predict sight.
        checks: Comparison of the ratings with those by sight.
        calls_saved: Ratings by sight that were not needed.
        seconds_saved: Time that these would have taken.
        tokens_saved: Tokens that these would have taken.
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
    """The drawn matrix of theta: its pictures and how it was made (``theta.npz``).

    Attributes:
        signature: Signature of theta.
        embedder: Identity of the embedder.
        learned: Whether its vectors represent meaning.
        notes: Sentences on omitted parts.
        frames: Ids of the pictures, in order.
        order: Description of the order.
    """

    signature: str
    embedder: str
    learned: bool
    notes: tuple[str, ...]
    frames: tuple[str, ...]
    order: str


class NarrativeStudy(Struct, frozen=True, kw_only=True):
    """Results of a run: the content of ``study.json``.

    Attributes:
        format: Version of the file's format.
        human: Name of the human source.
        frames: Every picture.
        narratives: Every narrative.
        tables: Tables that compare sources.
        examples: Effect of examples.
        models: Agreement of judges, by way of rating.
        steps: Ratings of steps.
        cost: Cost of judging.
        hybrid: Origin of hybrid ratings.
        hybrid_missing: Reason why hybrid ratings are missing.
        theta: Description of ``theta.npz``.
        judges: Identity of the judge of each stage.
        voting: Votes of judges.
        unreadable: Why pictures have no thumbnail.
    """

    format: int = FORMAT
    human: str
    frames: tuple[ShownFrame, ...]
    narratives: tuple[Narrative, ...]
    tables: compared.ComparisonTables
    examples: compared.Examples | None = None
    models: tuple[compared.ModelAgreement, ...] = ()
    steps: compared.StepTables | None
    cost: Cost
    hybrid: HybridRatings | None
    hybrid_missing: str | None = None
    theta: ThetaMatrix | None
    judges: dict[str, str] = {}
    voting: Voting
    unreadable: tuple[str, ...] = ()


class StageOfRun(Struct, frozen=True):
    """Calls, seconds and tokens of a stage of a run."""

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
        models: Agreement of judges, by way that both runs have; a narrative's steps count by
            their mean.
        cost: A row per run and stage.
    """

    runs: tuple[str, str]
    judges: dict[str, tuple[str, ...]]
    models: tuple[compared.ModelAgreement, ...]
    cost: tuple[StageOfRun, ...]


def read_study(folder: Path) -> NarrativeStudy:
    """Read the ``study.json`` of a run.

    Raises:
        RunError: The run is not finished, or the file is damaged; names the file and the field.
    """
    path = folder / STUDY
    missing = (
        f"{folder} is not a finished run over narratives: {STUDY} is missing; run the same command"
        " again to finish it"
    )
    content = files.read_json(
        path, form=FORMAT, kind="study", missing_message=missing
    )
    return files.as_record(content, NarrativeStudy, path)
