"""How well pictures hold together as a story, from 1 to 10: a whole sequence, or one step of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.operations.base import PanelOperation, Respondent
from beholder.judges.shapes import integer, obj, remark


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


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating from 1 to 10 with the judge's reason."""

    value: int
    reason: str


_RATING = obj(lambda reason, score: Rating(score, reason), reason=remark(), score=integer(1, 10))


class _Rate(PanelOperation[Rating]):
    """What a rating of a whole sequence and of one step have in common."""

    @property
    @abstractmethod
    def shown(self) -> Sequence[JudgedFrame]:
        """The pictures in order."""

    def __post_init__(self) -> None:
        n, n_images = len(self.shown), sum(frame.image is not None for frame in self.shown)
        if 0 < n_images < n:
            raise ItemError(f"{self.name}: {n - n_images} of {n} pictures missing")
        if not n_images and not all(frame.caption for frame in self.shown):
            raise ItemError(f"{self.name}: a sequence needs a picture or a caption for each frame")

    async def _put(self, model: Respondent, context: str, anchors: bool) -> Rating:
        images = [frame.image for frame in self.shown if frame.image is not None]
        lines = [" ".join(filter(None, (frame.note, frame.caption))) for frame in self.shown]
        parts = {
            "shots_note": "pictures" if images else "captions",
            "context_note": "context" if context else None,
            "anchors_note": "anchors" if anchors else None,
        }
        return await model.json(
            model.render(
                {"shot": [line or "(no words)" for line in lines]},
                {"context": context},
                parts=parts,
                images=images,
            ),
            _RATING,
            max_tokens=512,
            typical={"reason": "word " * 40, "score": 5},
        )

    def merge(self, answers: Sequence[Rating]) -> Rating:
        """Mean rating, rounded; the reasons of all."""
        reasons = " | ".join(rating.reason for rating in answers)
        return Rating(round(fmean(rating.value for rating in answers)), reasons)

    def ratings(self, answers: Sequence[Rating]) -> Iterable[tuple[object, Sequence[float]]]:
        """The ratings of the judges."""
        yield self.shown, [float(rating.value) for rating in answers]


@dataclass(frozen=True)
class RateSequence(_Rate, name="rate_sequence"):
    """How well a sequence of pictures holds together as a story, 1 to 10.

    Attributes:
        frames: The pictures in order; all with image, or all with caption.
        context: What the collection is, in the user's own words.
        anchors: Whether to show worked examples of low and high ratings.

    Raises:
        ItemError: Some pictures are missing, or some captions where there is no picture.
    """

    frames: Sequence[JudgedFrame]
    context: str = ""
    anchors: bool = False

    @property
    def shown(self) -> Sequence[JudgedFrame]:
        """The pictures in order."""
        return self.frames

    async def put(self, model: Respondent) -> Rating:
        """See ``ModelOperation.put``."""
        return await self._put(model, self.context, self.anchors)


@dataclass(frozen=True)
class RateTransition(_Rate, name="rate_transition"):
    """How well one picture follows on another, 1 to 10.

    Attributes:
        first: The picture before.
        second: The picture after; both with image, or both with caption.
        context: What the collection is, in the user's own words.

    Raises:
        ItemError: A picture is missing, or a caption where there is no picture.
    """

    first: JudgedFrame
    second: JudgedFrame
    context: str = ""

    @property
    def shown(self) -> Sequence[JudgedFrame]:
        """Both pictures."""
        return (self.first, self.second)

    async def put(self, model: Respondent) -> Rating:
        """See ``ModelOperation.put``."""
        return await self._put(model, self.context, anchors=False)
