"""The stages of a run over narratives: what each asks, of models or of people, and its outcomes.

Ratings of people are rows ``{"id", "ratings": {ANNOTATOR: 1..10}}``, or for steps ``{"id",
"steps": {ANNOTATOR: [{"rating", "breaks"}, ...]}}``: what ``beholder annotate export`` writes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta, Struct

from beholder.asking.asker import Asker, Outcome, ValueInfo
from beholder.asking.params import REQUIRED, param
from beholder.asking.tools import Tools
from beholder.data.frames import frame_row
from beholder.data.sources import read_rows
from beholder.errors import ConfigError, DataError, ItemError
from beholder.judges.operations.rating import BreakKind
from beholder.kinds.narratives import judging, measuring
from beholder.kinds.narratives.config import PEOPLE, Method, NarrateConfig
from beholder.kinds.narratives.hybrid import choose
from beholder.kinds.narratives.inputs import Inputs
from beholder.kinds.narratives.judging import Vote, values
from beholder.kinds.narratives.measuring import digest
from beholder.kinds.narratives.results import Stage
from beholder.records import ItemFailure, ItemScore, Storyline

What: TypeAlias = Literal["ratings", "steps"]
"""What people rated: storylines as wholes, or their steps."""


class PartRating(Struct, frozen=True):
    """An annotator's rating of a part; no breaks are known of whole storylines."""

    rating: Annotated[int, Meta(ge=1, le=10)]
    breaks: tuple[BreakKind, ...] | None = None


class RatedRow(Struct, frozen=True):
    """A row of a file of ratings: a storyline's ratings by annotator, or those of its steps."""

    id: str
    ratings: dict[str, Annotated[int, Meta(ge=1, le=10)]] = {}
    steps: dict[str, tuple[PartRating, ...]] = {}

    def by_annotator(self, what: What) -> dict[str, tuple[PartRating, ...]]:
        """Return the ratings of each part of the storyline, itself or its steps."""
        if what == "steps":
            return self.steps
        return {who: (PartRating(n),) for who, n in self.ratings.items()}


Parts: TypeAlias = tuple[tuple[Vote, ...], ...]
"""Votes per part of a storyline (itself, or each step), of all annotators in one order."""


@dataclass(frozen=True)
class PeopleVotes(Asker[Storyline]):
    """What people said of storylines, as votes like those of judges; ``detail["votes"]``.

    Attributes:
        votes: Per storyline; an annotator who did not rate it has a vote without a value.
    """

    registered_name: ClassVar[str] = "people"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo(
            "rating",
            "mean rating of people, 1 to 10; of steps the mean over them",
            1,
            10,
        ),
    )

    what: str = param(REQUIRED, "ratings (of storylines) or steps")
    data: str = param(REQUIRED, "digest of all ratings")
    votes: Mapping[str, Parts] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def read(
        cls, path: str, what: What, storylines: Sequence[Storyline]
    ) -> Self:
        """Read a file of ratings.

        Args:
            path: A ``.jsonl``, ``.json`` or ``.parquet`` file.
            what: What of it is taken.
            storylines: Those that are judged; rows of other storylines are ignored.

        Raises:
            ConfigError: No storyline was rated.
            DataError: A row is of another form; names it.
        """
        n_parts = {
            storyline.id: 1 if what == "ratings" else len(storyline.frames) - 1
            for storyline in storylines
        }
        by_id: dict[str, dict[str, tuple[PartRating, ...]]] = {}
        seen: set[str] = set()
        for line, content in read_rows(path, path):
            if isinstance(content, DataError):
                raise content
            try:
                row = msgspec.convert(content, RatedRow)
            except msgspec.ValidationError as error:
                raise DataError(path, str(error), line=line) from error
            ratings = row.by_annotator(what)
            if row.id in seen:
                raise DataError(
                    path, f"{row.id!r} occurs twice", line=line, field="id"
                )
            seen.add(row.id)
            if not ratings:
                raise DataError(
                    path, f"expected {what!r} by annotator", line=line
                )
            n = n_parts.get(row.id)
            if n is None:
                continue
            if any(len(parts) != n for parts in ratings.values()):
                raise DataError(
                    path,
                    f"{row.id!r}: expected a list of {n} steps",
                    line=line,
                )
            by_id[row.id] = ratings
        annotators = sorted({who for parts in by_id.values() for who in parts})
        if not annotators:
            raise ConfigError(
                f"{PEOPLE}{path}: holds no {what} of these sequences; 'beholder annotate export'"
                " writes them, by the ids of the sequences"
            )
        votes = {
            name: tuple(
                tuple(
                    _vote(seat, ratings.get(who), part)
                    for seat, who in enumerate(annotators)
                )
                for part in range(n_parts[name])
            )
            for name, ratings in by_id.items()
        }
        known = msgspec.to_builtins(sorted(by_id.items()))
        return cls(what, digest(known), votes)

    async def evaluate(self, subject: Storyline, tools: Tools) -> ItemScore:
        """What people said of it.

        Raises:
            ItemError: No one rated it.
        """
        parts = self.votes.get(subject.id)
        if parts is None:
            raise ItemError("no one rated it")
        means = [fmean(known) for votes in parts if (known := values(votes))]
        detail = {
            "votes": [[asdict(vote) for vote in votes] for votes in parts]
        }
        return ItemScore(
            {"rating": fmean(means)}, signature=self.signature(), detail=detail
        )


def _vote(seat: int, parts: Sequence[PartRating] | None, at: int) -> Vote:
    if parts is None:
        return Vote(seat)
    return Vote(seat, parts[at].rating, breaks=parts[at].breaks)


def stages(config: NarrateConfig, inputs: Inputs) -> dict[str, Asker[Any]]:
    """What a run asks, by stage.

    ``coherence`` measures storylines, each of ``config.ways`` rates them, ``transitions`` rates
    their steps, ``caption`` describes pictures.

    Raises:
        ConfigError: A setting is out of its range.
    """
    steps = "transitions" in config.parts
    writes = config.models and (
        config.by_captions or (steps and config.steps_by == "captions")
    )
    caption = _captioner(config, inputs) if writes else None
    found: dict[str, Asker[Any]] = {}
    if "coherence" in config.parts:
        rows = [frame_row(frame) for frame in inputs.frames]
        found["coherence"] = measuring.MeasureCoherence(
            **asdict(config.coherence),
            human=config.human,
            collection=measuring.digest(rows),
        )
    for way in config.ways:
        if way.judge in config.people:
            found[way.name] = _people(way.judge, "ratings", inputs)
            continue
        examples = inputs.examples if way.examples else ()
        found[way.name] = judging.RateStoryline(
            **_rater(config, way.by, way.judge, caption),
            anchors=config.voting.anchors,
            rated=", ".join(f"{one.id}: {rating}" for one, rating in examples),
            examples=examples,
        )
    if steps and config.people:
        found["transitions"] = _people(config.people[0], "steps", inputs)
    elif steps:
        found["transitions"] = judging.RateSteps(
            **_rater(config, config.steps_by, config.judges[0], caption)
        )
    if caption is not None:
        found["caption"] = caption
    return found


def _people(judge: str, what: What, inputs: Inputs) -> PeopleVotes:
    return PeopleVotes.read(
        judge.removeprefix(PEOPLE), what, inputs.storylines
    )


def n_seen(config: NarrateConfig, n: int) -> int:
    """How many of n storylines are rated by sight."""
    if "sight" in config.parts:
        return n
    return len(
        choose(np.zeros((n, 1)), config.hybrid.share, config.hybrid.rule)
    )


def _captioner(config: NarrateConfig, inputs: Inputs) -> judging.CaptionFrame:
    options = asdict(config.captions)
    return judging.CaptionFrame(
        **options | {"judge": config.captions.judge or config.models[0]},
        context=config.voting.context,
        max_side=config.max_side,
        all_given=all(frame.caption for frame in inputs.shown),
    )


def _rater(
    config: NarrateConfig,
    by: Method,
    judge: str,
    caption: judging.CaptionFrame | None,
) -> dict[str, Any]:
    return {
        "judge": judge,
        "context": config.voting.context,
        "max_side": config.max_side,
        "by": by,
        "judges": config.voting.judges,
        "temperature": config.voting.temperature,
        "captioner": caption if by == "captions" else None,
    }


@dataclass
class StageFindings:
    """Outcomes of a run over narratives; filled stage by stage.

    Attributes:
        inputs: What it works on.
        config: The run.
        outcomes: Per stage, the outcome per position of a storyline, or of a picture.
        seen: Positions that hybrid judging looks at.
        spent: What each stage took.
        judges: Identity of the judge of each stage.
        pictures: The collection that was measured in; None if nothing was measured.
    """

    inputs: Inputs
    config: NarrateConfig
    outcomes: dict[str, Mapping[int, Outcome]] = field(default_factory=dict)
    seen: list[int] = field(default_factory=list)
    spent: dict[str, Stage] = field(default_factory=dict)
    judges: dict[str, str] = field(default_factory=dict)
    pictures: measuring.EmbeddedPictures | None = None

    def captions(self) -> dict[str, str | ItemFailure]:
        """Caption per frame id, or why it has none."""
        shown = self.inputs.shown
        return {
            shown[at].id: judging.caption_of(outcome)
            for at, outcome in self.outcomes_of("caption").items()
        }

    def votes(self) -> dict[str, dict[int, list[Vote]]]:
        """Per way of rating the votes per position of a storyline."""
        n = self.config.voting.judges
        return {
            way.name: {
                at: judging.votes_of(outcome, 1, n)[0]
                for at, outcome in self.outcomes[way.name].items()
            }
            for way in self.config.ways
            if way.name in self.outcomes
        }

    def table(self, method: str) -> list[list[float]]:
        """(n, K) votes of a method; NaN if there is none."""
        votes = self.votes()[method]
        no_votes = [Vote(seat) for seat in range(self.config.voting.judges)]
        return [
            [
                math.nan if vote.value is None else float(vote.value)
                for vote in votes.get(at, no_votes)
            ]
            for at in range(len(self.inputs.storylines))
        ]

    def steps(self) -> dict[int, list[list[Vote]]]:
        """Votes per step, per position of a storyline."""
        storylines, n = self.inputs.storylines, self.config.voting.judges
        return {
            at: judging.votes_of(outcome, len(storylines[at].frames) - 1, n)
            for at, outcome in self.outcomes_of("transitions").items()
        }

    def outcomes_of(self, stage: str) -> Mapping[int, Outcome]:
        """Outcomes of a stage; empty if it was not asked."""
        return self.outcomes.get(stage, {})
