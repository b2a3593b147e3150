"""The stages of a run over narratives: what each asks, of models or of people, and its outcomes.

Ratings of people are rows ``{"id", "ratings": {ANNOTATOR: 1..10}}``, or for steps ``{"id",
"steps": {ANNOTATOR: [{"rating", "breaks"}, ...]}}``: what ``beholder annotate export`` writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypedDict

import numpy as np

from beholder.asking.asker import Asker, Outcome, ValueInfo
from beholder.asking.params import REQUIRED, param
from beholder.asking.tools import Tools
from beholder.data.frames import frame_row
from beholder.data.row import shorten
from beholder.data.sources import read_rows
from beholder.errors import ConfigError, DataError, ItemError
from beholder.judges.operations.rating import BREAK_KINDS, BreakKind
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


class Said(TypedDict):
    """What an annotator said of a part; no breaks are known of whole storylines."""

    rating: int
    breaks: list[BreakKind] | None


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
        parts = {
            one.id: 1 if what == "ratings" else len(one.frames) - 1
            for one in storylines
        }
        told: dict[str, dict[str, list[Said]]] = {}
        for line, row in read_rows(path, path):
            if isinstance(row, DataError):
                raise row
            name = row.get("id") if isinstance(row, Mapping) else None
            said = row.get(what) if isinstance(row, Mapping) else None
            if not isinstance(name, str) or not isinstance(said, Mapping):
                reason = (
                    f"expected a text 'id' and an object {what!r} by annotator"
                )
                raise DataError(path, reason, line=line)
            if name in told:
                raise DataError(
                    path, f"{name!r} occurs twice", line=line, field="id"
                )
            if name in parts:
                wrapped = (
                    said
                    if what == "steps"
                    else {who: [one] for who, one in said.items()}
                )
                told[name] = {
                    str(who): _checked(one, parts[name], path, line)
                    for who, one in wrapped.items()
                }
        annotators = sorted({who for said in told.values() for who in said})
        if not annotators:
            raise ConfigError(
                f"{PEOPLE}{path}: holds no {what} of these sequences; 'beholder annotate export'"
                " writes them, by the ids of the sequences"
            )
        votes = {
            name: tuple(
                tuple(
                    _vote(seat, said.get(who), part)
                    for seat, who in enumerate(annotators)
                )
                for part in range(parts[name])
            )
            for name, said in told.items()
        }
        known = digest([[name, said] for name, said in sorted(told.items())])
        return cls(what, known, votes)

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


def _checked(said: Any, n_parts: int, path: str, line: int) -> list[Said]:
    """What one annotator said of each part."""
    if not isinstance(said, list) or len(said) != n_parts:
        raise DataError(
            path,
            f"expected a list of {n_parts} steps, got {shorten(said)}",
            line=line,
        )
    found = []
    for one in said:
        step = (
            one
            if isinstance(one, Mapping)
            else {"rating": one, "breaks": None}
        )
        rating, breaks = step.get("rating"), step.get("breaks")
        if type(rating) is not int or not 1 <= rating <= 10:
            reason = f"expected a rating from 1 to 10, got {shorten(rating)}"
            raise DataError(path, reason, line=line)
        if breaks is not None and (
            not isinstance(breaks, list)
            or any(kind not in BREAK_KINDS for kind in breaks)
        ):
            reason = f"breaks may hold {', '.join(BREAK_KINDS)}, got {shorten(breaks)}"
            raise DataError(path, reason, line=line)
        found.append(Said(rating=rating, breaks=breaks))
    return found


def _vote(seat: int, said: Sequence[Said] | None, part: int) -> Vote:
    if said is None:
        return Vote(seat)
    breaks = said[part]["breaks"]
    return Vote(
        seat,
        said[part]["rating"],
        breaks=None if breaks is None else tuple(breaks),
    )


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
            shown[at].id: judging.caption_of(one)
            for at, one in self.of("caption").items()
        }

    def votes(self) -> dict[str, dict[int, list[judging.Vote]]]:
        """Per way of rating the votes per position of a storyline."""
        n, ways = (
            self.config.voting.judges,
            [way.name for way in self.config.ways],
        )
        return {
            way: {
                at: judging.votes_of(one, 1, n)[0]
                for at, one in self.of(way).items()
            }
            for way in ways
            if way in self.outcomes
        }

    def table(self, method: str) -> list[list[float]]:
        """(n, K) votes of a method; NaN if there is none."""
        found = self.votes()[method]
        nobody = [float("nan")] * self.config.voting.judges
        return [
            [
                nobody[0] if vote.value is None else float(vote.value)
                for vote in found[at]
            ]
            if at in found
            else nobody
            for at in range(len(self.inputs.storylines))
        ]

    def steps(self) -> dict[int, list[list[judging.Vote]]]:
        """Votes per step, per position of a storyline."""
        storylines, n = self.inputs.storylines, self.config.voting.judges
        return {
            at: judging.votes_of(one, len(storylines[at].frames) - 1, n)
            for at, one in self.of("transitions").items()
        }

    def of(self, stage: str) -> Mapping[int, Outcome]:
        """Outcomes of a stage; empty if it was not asked."""
        return self.outcomes.get(stage, {})
