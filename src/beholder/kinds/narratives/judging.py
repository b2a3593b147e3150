"""Questions to judges about pictures and storylines: captions, ratings, ratings of single steps.

Each judge's vote is kept apart, failures with their reasons. An outcome names its answers, so
that the cost of a stage can be computed from the store.
"""

from __future__ import annotations

import asyncio
import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean
from typing import ClassVar, Literal, TypeAlias, TypeVar

import msgspec

from beholder.asking.asker import Asker, Outcome, ValueInfo, failure_of
from beholder.asking.params import REQUIRED, param
from beholder.asking.tools import Tools
from beholder.backends import Image
from beholder.data import storyline_row
from beholder.errors import ConfigError, ItemError, TransientError
from beholder.judges import Draw
from beholder.judges.answers import noted_keys
from beholder.judges.operations import (
    BreakKind,
    Caption,
    JudgedFrame,
    Operation,
    RatedExample,
    RateSequence,
    RateTransition,
    Rating,
)
from beholder.kinds.narratives.config import LEAST_SIDE, Voting
from beholder.kinds.narratives.measuring import digest
from beholder.records import Frame, ItemFailure, ItemScore, Storyline

S = TypeVar("S")

Captions: TypeAlias = Mapping[str, str | ItemFailure]
"""Caption by frame id, or the reason for a missing one."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One judge's vote on a storyline or a step.

    Attributes:
        judge: Index of the judge, from 0.
        value: 1 to 10, higher is better; None if the vote failed.
        reason: The judge's own words.
        failure: Why there is no value.
        breaks: Breaks in the step, of ``BREAK_KINDS``; None if they were not reported.
    """

    judge: int
    value: int | None = None
    reason: str = ""
    failure: ItemFailure | None = None
    breaks: tuple[BreakKind, ...] | None = None


@dataclass(frozen=True)
class JudgeAsker(Asker[S]):
    """Base of askers that call a judge; ``detail["answers"]`` holds the keys of its answers."""

    judge: str = param(REQUIRED, "model that is asked", tool="judge")
    context: str = param("", "what the collection is, in the user's own words")
    max_side: int = param(
        512,
        "pixels of the longer side of a picture that is shown",
        whole=(LEAST_SIDE, math.inf),
    )

    @abstractmethod
    async def ask(self, subject: S, tools: Tools) -> ItemScore:
        """Ask the judge; see ``Asker.evaluate``."""

    async def evaluate(self, subject: S, tools: Tools) -> ItemScore:
        """Ask, and note which answers were used."""
        signature = self.signature(self.identities(tools))
        with noted_keys() as keys:
            try:
                score = await self.ask(subject, tools)
            except ItemError as error:
                error.detail = {**error.detail, "answers": sorted(keys)}
                raise
        # The cost of a stage is computed from the answers that its outcomes name.
        detail = {**score.detail, "answers": sorted(keys)}
        return replace(score, signature=signature, detail=detail)


@dataclass(frozen=True)
class CaptionFrame(JudgeAsker[Frame]):
    """A vision model writes the caption of a picture, unless the data contain one.

    The caption is ``detail["caption"]``.

    Attributes:
        all_given: Whether all pictures have a caption, so that the judge needs no vision.

    Raises:
        ConfigError: A parameter is out of its range.
    """

    registered_name: ClassVar[str] = "caption_frame"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo(
            "words", "words of the caption", high=1e9, higher_is_better=None
        ),
    )
    operations: ClassVar[tuple[str, ...]] = ("caption",)

    min_words: int = param(150, "words at least")
    max_words: int = param(200, "words at most")
    language: str = param("English", "language to write in")
    connections: bool = param(
        False,
        "whether captions also say what may connect a picture to others of a story",
    )
    all_given: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.min_words <= self.max_words:
            raise ConfigError(
                f"captions of {self.min_words} to {self.max_words} words: expected at least 1, and"
                " no more at least than at most"
            )

    @property
    def looks(self) -> bool:
        """Return whether the judge must see: some picture has no caption."""
        return not self.all_given

    def identities(self, tools: Tools) -> dict[str, str]:
        """Return the identity of the judge; one that cannot caption is rejected before any work."""
        if not self.all_given:
            tools.judge(self.judge).check_can(Caption, images=True)
        return super().identities(tools)

    @property
    def typical(self) -> str:
        """Return a caption of typical length, for estimates."""
        return "word " * ((self.min_words + self.max_words) // 2)

    async def ask(self, subject: Frame, tools: Tools) -> ItemScore:
        """Return the caption of the data, or else the judge's.

        Raises:
            ItemError: The picture has no caption and none can be made; names the frame.
        """
        text = subject.caption
        # Captions of the data are taken as they are; another judge cannot change them.
        if not text:
            question = Caption(
                [await picture(subject, tools, self.max_side)],
                language=self.language,
                words=(self.min_words, self.max_words),
                context=self.context,
                note=known_data(subject),
                connections=self.connections,
            )
            try:
                text = await tools.judge(self.judge).ask(question)
            except ItemError as error:
                raise type(error)(f"frame {subject.id!r}: {error}") from error
        return ItemScore(
            {"words": float(len(text.split()))}, detail={"caption": text}
        )


@dataclass(frozen=True)
class Rater(JudgeAsker[Storyline]):
    """Base of judges that rate from 1 to 10; their votes are ``detail["votes"]``, part by part.

    A part is what is rated at once: the storyline, or one of its steps. A part that cannot be shown
    fails for all judges, an unusable answer costs its vote alone. A storyline without any vote is a
    failure that keeps its votes as well.

    Attributes:
        captioner: Captioner of the captions that are shown instead of pictures.
        captions: These captions; they come from an earlier stage of the run.

    Raises:
        ConfigError: A parameter is out of its range, or there are no captions to rate by.
    """

    by: Literal["captions", "sight"] = param(
        "sight", "what judges see: sight (the pictures) or captions of them"
    )
    judges: int = param(
        3, "independent judges: repeats of the model, each with its own seed"
    )
    temperature: float = param(
        0.7, "sampling temperature; at 0 all judges would say the same"
    )
    captioner: CaptionFrame | None = None
    captions: Captions = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        # Checks the numbers: a rater may be built without a run.
        Voting(self.judges, self.temperature)
        if self.by == "captions" and self.captioner is None:
            raise ConfigError(
                "by='captions' needs a captioner, which says how captions are made"
            )

    @property
    def looks(self) -> bool:
        """Return whether judges see the pictures."""
        return self.by == "sight"

    def identities(self, tools: Tools) -> dict[str, str]:
        """Return the identity of the judge, and of the captioner whose captions it reads.

        A judge that does not support the operation is rejected here, before any work.
        """
        identities = super().identities(tools)
        if self.by == "captions" and self.captioner is not None:
            identities["captions"] = self.captioner.signature(
                self.captioner.identities(tools)
            )
        return identities

    def signature(self, identities: Mapping[str, str] | None = None) -> str:
        """Return the signature of the judge with that of the captions it reads."""
        text = super().signature(identities)
        captions = (identities or {}).get("captions")
        return text if captions is None else f"{text}|captions:[{captions}]"

    @abstractmethod
    def parts(self, storyline: Storyline) -> list[tuple[Frame, ...]]:
        """Return the pictures of each part, in order."""

    @abstractmethod
    async def question(
        self, frames: Sequence[Frame], tools: Tools
    ) -> Operation[Rating]:
        """Return the question to judges about a part.

        Raises:
            ItemError: Names the frame that cannot be shown, and why.
        """

    def numbers(self, means: Sequence[float]) -> dict[str, float]:
        """Return the values, from the mean vote of each part that has one."""
        return {"rating": fmean(means)}

    async def ask(self, subject: Storyline, tools: Tools) -> ItemScore:
        """Let all judges vote on all parts.

        Raises:
            ItemError: No vote has a value; the reason is the first vote's.
        """
        ballots = (
            self._votes(frames, tools) for frames in self.parts(subject)
        )
        parts = list(await asyncio.gather(*ballots))
        outcomes = [vote.failure for votes in parts for vote in votes]
        failures = [failure for failure in outcomes if failure is not None]
        means = part_means(parts)
        is_transient = any(failure.transient for failure in failures)
        detail = {
            "votes": [[asdict(vote) for vote in votes] for votes in parts]
        }
        # Votes are kept with the failure: tables count failed votes, and show their reasons.
        if not means:
            reason = (
                failures[0].message
                if failures
                else "a storyline of one picture has no step"
            )
            raise (TransientError if is_transient else ItemError)(
                reason, detail=detail
            )
        return ItemScore(
            self.numbers(means), detail=detail, unfinished=is_transient
        )

    async def show_frames(
        self, frames: Sequence[Frame], tools: Tools
    ) -> list[JudgedFrame]:
        """Return pictures or captions as the judges get them, in order.

        Raises:
            ItemError: Names the frame that cannot be shown, and why.
        """
        if self.by == "captions":
            return [by_caption(frame, self.captions) for frame in frames]
        return [
            await by_sight(frame, tools, self.max_side) for frame in frames
        ]

    async def _votes(
        self, frames: Sequence[Frame], tools: Tools
    ) -> list[Vote]:
        """Return the votes of all judges on one part, in order of judges."""
        try:
            question = await self.question(frames, tools)
        except ItemError as error:
            return [
                Vote(seat, failure=failure_of(error))
                for seat in range(self.judges)
            ]
        judge = tools.judge(self.judge)

        # The seat is the seed: judges of one model differ by it, and a second start finds their
        # answers in the store.
        async def vote(seat: int) -> Vote:
            try:
                rating = await judge.ask(
                    question, Draw(seat, self.temperature)
                )
            except ItemError as error:
                return Vote(seat, failure=failure_of(error))
            return Vote(
                seat, rating.value, rating.reason, breaks=rating.breaks
            )

        return list(await asyncio.gather(*map(vote, range(self.judges))))


@dataclass(frozen=True)
class RateStoryline(Rater):
    """Judges rate the coherence of a whole storyline, 1 to 10; each votes independently.

    Attributes:
        examples: Storylines with their ratings that judges see first; ``rated`` names them.
    """

    registered_name: ClassVar[str] = "rate_storyline"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("rating", "mean vote of the judges, 1 to 10", 1.0, 10.0),
    )
    needs = (RateSequence,)

    anchors: bool = param(
        False, "whether judges see worked examples of low and high ratings"
    )
    rated: str = param(
        "", "ids and ratings of storylines that judges see as examples"
    )
    examples: tuple[tuple[Storyline, int], ...] = field(
        default=(), compare=False, repr=False
    )

    def signature(self, identities: Mapping[str, str] | None = None) -> str:
        """Return the signature of the judge with a digest of the examples it sees."""
        text = super().signature(identities)
        if not self.examples:
            return text
        # ``rated`` has their ids and ratings; the digest adds the pictures behind the ids.
        rows = [storyline_row(storyline) for storyline, _ in self.examples]
        return f"{text}|examples:{digest(rows)}"

    def parts(self, storyline: Storyline) -> list[tuple[Frame, ...]]:
        """Return the whole storyline as one part."""
        return [storyline.frames]

    async def question(
        self, frames: Sequence[Frame], tools: Tools
    ) -> Operation[Rating]:
        """Return the question how well the storyline holds together."""
        examples = [
            RatedExample(
                await self.show_frames(storyline.frames, tools), value
            )
            for storyline, value in self.examples
        ]
        return RateSequence(
            await self.show_frames(frames, tools),
            self.context,
            self.anchors,
            examples,
        )


@dataclass(frozen=True)
class RateSteps(Rater):
    """Judges rate each step from a picture to the next, 1 to 10.

    A picture that cannot be shown costs the two steps it takes part in.
    """

    registered_name: ClassVar[str] = "rate_steps"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo(
            "rating",
            "mean over the rated steps of their mean vote, 1 to 10",
            1.0,
            10.0,
        ),
        ValueInfo(
            "lowest", "mean vote of the lowest rated step, 1 to 10", 1.0, 10.0
        ),
    )
    needs = (RateTransition,)

    def parts(self, storyline: Storyline) -> list[tuple[Frame, ...]]:
        """Return each step from a picture to the next."""
        return list(zip(storyline.frames, storyline.frames[1:], strict=False))

    async def question(
        self, frames: Sequence[Frame], tools: Tools
    ) -> Operation[Rating]:
        """Return the question how well the second picture follows on the first."""
        before, after = await self.show_frames(frames, tools)
        return RateTransition(before, after, self.context)

    def numbers(self, means: Sequence[float]) -> dict[str, float]:
        """Return mean and lowest of the steps."""
        return {**super().numbers(means), "lowest": min(means)}


def votes_of(outcome: Outcome, n_parts: int, judges: int) -> list[list[Vote]]:
    """Return the votes of a rater's outcome on each part.

    Args:
        outcome: Outcome of a storyline.
        n_parts: Parts that were to be rated.
        judges: Judges that were to vote.
    """
    rows = outcome.detail.get("votes")
    # An internal error, before any judge was asked, is the failure of every vote.
    if rows is None and isinstance(outcome, ItemFailure):
        return [
            [Vote(seat, failure=outcome) for seat in range(judges)]
            for _ in range(n_parts)
        ]
    return msgspec.convert(rows or [], list[list[Vote]])


def caption_of(outcome: Outcome) -> str | ItemFailure:
    """Return the caption of a captioner's outcome, or its failure."""
    return (
        outcome
        if isinstance(outcome, ItemFailure)
        else str(outcome.detail["caption"])
    )


def values(votes: Sequence[Vote]) -> list[int]:
    """Return the values of votes that have one."""
    return [vote.value for vote in votes if vote.value is not None]


async def by_sight(frame: Frame, tools: Tools, max_side: int) -> JudgedFrame:
    """Return a picture as judges see it.

    Raises:
        ItemError: The image is missing or cannot be read; names frame and file.
    """
    return JudgedFrame(
        image=await picture(frame, tools, max_side),
        note=known_data(frame) or None,
    )


def by_caption(frame: Frame, captions: Captions) -> JudgedFrame:
    """Return a picture as judges read it: by its caption.

    Raises:
        ItemError: It has no caption; the reason is that of the caption.
    """
    caption = captions[frame.id]
    # The storyline fails as its picture did: for now, or for good.
    if isinstance(caption, ItemFailure):
        raise (TransientError if caption.transient else ItemError)(
            caption.message
        )
    return JudgedFrame(caption=caption, note=known_data(frame) or None)


async def picture(frame: Frame, tools: Tools, max_side: int) -> Image:
    """Read the picture of a frame as it is sent, its longer side of at most ``max_side`` pixels.

    Raises:
        ItemError: The image is missing or cannot be read; names frame and file.
    """
    # A frame with a caption alone can be judged by captions, not by sight.
    if frame.image is None:
        raise ItemError(f"frame {frame.id!r} has no image")
    try:
        (image,) = await tools.pictures.read([frame.image], max_side)
    except ItemError as error:
        raise ItemError(f"frame {frame.id!r}: {error}") from error
    return image


def known_data(frame: Frame) -> str:
    """Return date and place of a frame as one line; empty when neither is known."""
    date = None if frame.date is None else f"date: {frame.date}"
    place = None if frame.place is None else f"place: {frame.place}"
    return "; ".join(part for part in (date, place) if part)


def part_means(parts: Iterable[Sequence[Vote]]) -> list[float]:
    """Return the mean vote of each part that has a vote."""
    numbers = [values(votes) for votes in parts]
    return [fmean(part) for part in numbers if part]
