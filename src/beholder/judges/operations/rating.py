"""Coherence of pictures as a story, 1 to 10: of a whole sequence, or of one step."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal, TypeAlias, get_args

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.operations.base import PanelOperation, Ratings, Respondent
from beholder.judges.reading import BadAnswer, short
from beholder.judges.shapes import array, integer, obj, one_of, remark
from beholder.judges.templates import Untrusted


@dataclass(frozen=True, slots=True)
class JudgedFrame:
    """One picture of a sequence as a judge gets it: the picture, words for it, or both.

    Attributes:
        image: The picture, or None to judge by words.
        caption: Words for the picture, or None.
        note: Date, place or other data, or None.
    """

    image: Image | None = None
    caption: str | None = None
    note: str | None = None


BreakKind: TypeAlias = Literal["place", "time", "theme", "people"]
BREAK_KINDS: tuple[BreakKind, ...] = get_args(BreakKind)
"""The kinds of break between a picture and the next."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating from 1 to 10 with the judge's reason.

    Attributes:
        value: The rating.
        reason: The judge's own words.
        breaks: Breaks in the rated step; None if the question was not asked, or not answered.
    """

    value: int
    reason: str
    breaks: tuple[BreakKind, ...] | None = None


@dataclass(frozen=True, slots=True)
class RatedExample:
    """A sequence with a rating that is known, for orientation.

    Attributes:
        frames: Its pictures in order.
        value: 1 to 10.
    """

    frames: Sequence[JudgedFrame]
    value: int


def _kinds(names: Iterator[str]) -> tuple[BreakKind, ...] | None:
    kinds = list(names)
    if wrong := [kind for kind in kinds if kind not in BREAK_KINDS]:
        raise BadAnswer(
            f"'breaks' may hold {', '.join(BREAK_KINDS)}, got {short(wrong[0])}"
        )
    return tuple(kind for kind in BREAK_KINDS if kind in kinds)


_RATING = obj(
    lambda reason, score: Rating(score, reason),
    reason=remark(),
    score=integer(1, 10),
)
_STEP_RATING = obj(
    lambda reason, score, breaks: Rating(score, reason, breaks),
    reason=remark(),
    score=integer(1, 10),
    # a judge that rates and lists nothing has rated: the tally counts the answers
    breaks=replace(array(one_of(BREAK_KINDS), _kinds, "break"), absent=None),
)


class _Rate(PanelOperation[Rating]):
    """Shared parts of the ratings of a whole sequence and of one step."""

    @property
    @abstractmethod
    def judged_frames(self) -> Sequence[JudgedFrame]:
        """The pictures in order."""

    @property
    def question(self) -> object:
        """Return a key of the question, for the agreement of judges."""
        return self.judged_frames

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(self.judged_frames)

    def _check(self, frames: Sequence[JudgedFrame]) -> None:
        n, n_images = (
            len(frames),
            sum(frame.image is not None for frame in frames),
        )
        if 0 < n_images < n:
            raise ItemError(
                f"{self.name}: {n - n_images} of {n} pictures missing"
            )
        if not n_images and not all(frame.caption for frame in frames):
            raise ItemError(
                f"{self.name}: a sequence needs a picture or a caption for each frame"
            )

    def merge(self, answers: Sequence[Rating]) -> Rating:
        """Mean rating, rounded; the reasons of all; the breaks that more than half of them name."""
        reasons = " | ".join(rating.reason for rating in answers)
        # A judge may leave breaks out (None), which differs from seeing none
        # (empty); only the former does not vote.
        breaks_by_judge = [
            rating.breaks for rating in answers if rating.breaks is not None
        ]
        counts = Counter(kind for breaks in breaks_by_judge for kind in breaks)
        breaks = tuple(
            kind
            for kind in BREAK_KINDS
            if 2 * counts[kind] > len(breaks_by_judge)
        )
        value = round(fmean(rating.value for rating in answers))
        return Rating(value, reasons, breaks if breaks_by_judge else None)

    def ratings(self, answers: Sequence[Rating]) -> Ratings:
        """The ratings of the judges."""
        yield self.question, [float(rating.value) for rating in answers]


def _lines(frames: Sequence[JudgedFrame]) -> list[str]:
    """Return the note and caption of each picture as a line."""
    lines = (
        " ".join(filter(None, (frame.note, frame.caption))) for frame in frames
    )
    return [line or "(no words)" for line in lines]


def images_of(frames: Sequence[JudgedFrame]) -> list[Image]:
    """Return the pictures of frames that have one, in order."""
    return [frame.image for frame in frames if frame.image is not None]


_TYPICAL = {"reason": "word " * 40, "score": 5}
_MAX_TOKENS = 512


@dataclass(frozen=True)
class RateSequence(_Rate, name="rate_sequence"):
    """Coherence of a sequence of pictures as a story, 1 to 10.

    Attributes:
        frames: The pictures in order; all with image, or all with caption.
        context: Description of the collection by the user.
        anchors: Whether to show worked examples of low and high ratings.
        examples: Sequences of the collection with their ratings; as pictures if ``frames`` are.

    Raises:
        ItemError: Some pictures are missing, or some captions if there is no picture.
    """

    frames: Sequence[JudgedFrame]
    context: str = ""
    anchors: bool = False
    examples: Sequence[RatedExample] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(
            [
                *self.frames,
                *(
                    frame
                    for example in self.examples
                    for frame in example.frames
                ),
            ]
        )

    @property
    def judged_frames(self) -> Sequence[JudgedFrame]:
        """The pictures in order."""
        return self.frames

    @property
    def question(self) -> object:
        """The pictures, and the examples that were shown with them."""
        return [self.frames, self.examples] if self.examples else self.frames

    async def ask_model(self, model: Respondent) -> Rating:
        """Ask for the rating of the sequence."""
        pictures = images_of(self.frames)
        parts = {
            "shots_note": "pictures" if pictures else "captions",
            "context_note": "context" if self.context else None,
            "anchors_note": "anchors" if self.anchors else None,
            "examples_note": "examples" if self.examples else None,
            "where_note": "where" if self.examples and pictures else None,
        }
        untrusted: dict[str, Untrusted] = {"shot": _lines(self.frames)}
        settings = {"context": self.context}
        # Pictures are attached without names, examples first. The prompt must
        # say which numbers are which sequence.
        if self.examples:
            numbered = list(enumerate(self.examples, start=1))
            entries = [
                (number, line)
                for number, example in numbered
                for line in _lines(example.frames)
            ]
            untrusted["example"] = entries
            settings["ratings"] = ", ".join(
                f"id {n}: {example.value}" for n, example in numbered
            )
            settings["where"] = self._where()
        images = [
            image
            for example in self.examples
            for image in images_of(example.frames)
        ] + pictures
        return await model.json(
            model.render(untrusted, settings, parts=parts, images=images),
            _RATING,
            max_tokens=_MAX_TOKENS,
            typical=_TYPICAL,
        )

    def _where(self) -> str:
        """Describe which of the attached pictures belong to which sequence."""
        spans, at = [], 1
        for number, example in enumerate(self.examples, start=1):
            spans.append(
                f"pictures {at} to {at + len(example.frames) - 1} are id {number}"
            )
            at += len(example.frames)
        ranges = ", ".join(spans)
        return f"Of all pictures shown, {ranges}; the sequence to rate begins at picture {at}."


@dataclass(frozen=True)
class RateTransition(_Rate, name="rate_transition"):
    """Coherence of one step between two pictures, 1 to 10, and the breaks between them.

    Attributes:
        first: The picture before.
        second: The picture after; both with image, or both with caption.
        context: Description of the collection by the user.

    Raises:
        ItemError: A picture is missing, or a caption if there is no picture.
    """

    first: JudgedFrame
    second: JudgedFrame
    context: str = ""

    @property
    def judged_frames(self) -> Sequence[JudgedFrame]:
        """Both pictures."""
        return (self.first, self.second)

    async def ask_model(self, model: Respondent) -> Rating:
        """Ask for the rating of the step between two pictures."""
        images = images_of(self.judged_frames)
        parts = {
            "shots_note": "pictures" if images else "captions",
            "context_note": "context" if self.context else None,
        }
        settings = {"context": self.context}
        return await model.json(
            model.render(
                {"shot": _lines(self.judged_frames)},
                settings,
                parts=parts,
                images=images,
            ),
            _STEP_RATING,
            max_tokens=_MAX_TOKENS,
            typical={**_TYPICAL, "breaks": ["place"]},
        )
