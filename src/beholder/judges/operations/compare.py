"""The better of two descriptions of a picture, or a tie."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, TypeAlias, cast

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.operations.base import (
    PanelOperation,
    Ratings,
    Respondent,
    language_note,
)
from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import obj, one_of, remark

Better: TypeAlias = Literal["first", "second", "tie"]
_WORTH = {"first": 1.0, "tie": 0.5, "second": 0.0}


@dataclass(frozen=True, slots=True)
class BetterText:
    """Which of two descriptions is better, with the judge's reason."""

    better: Better
    reason: str


@dataclass(frozen=True)
class Compare(PanelOperation[BetterText], name="compare"):
    """The better of two descriptions, by their pictures; judges lean to a seat, so ask both orders.

    Attributes:
        first: Description in the first seat.
        second: Description in the second seat.
        images: The pictures.
        language: Language of the texts, stated in the prompt; None if unknown.

    Raises:
        ItemError: There is no picture, or a description is empty.
    """

    first: str
    second: str
    images: Sequence[Image]
    language: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.images:
            raise ItemError("compare needs a picture; there is none")
        if not self.first.strip() or not self.second.strip():
            raise ItemError("compare needs two descriptions; one is empty")

    async def ask_model(self, model: Respondent) -> BetterText:
        """Ask for a reason and the better one; equal texts are a tie without a question."""
        if _plain(self.first) == _plain(self.second):
            return BetterText("tie", "the texts are equal")
        typical = {"reason": "word " * 40, "better": "first"}
        return await model.json(
            model.render(
                {"first": self.first, "second": self.second},
                {"language": self.language or ""},
                parts=language_note(self.language),
                images=self.images,
            ),
            obj(_comparison, reason=remark(), better=one_of(tuple(_WORTH))),
            max_tokens=512,
            typical=typical,
        )

    def merge(self, answers: Sequence[BetterText]) -> BetterText:
        """The better one by mean; a tie where the mean is nearer to half than one vote moves it."""
        mean = fmean(_WORTH[answer.better] for answer in answers)
        better: Better = "tie"
        if abs(mean - 0.5) >= 1 / (2 * len(answers)):
            better = "first" if mean > 0.5 else "second"
        return BetterText(better, " | ".join(a.reason for a in answers))

    def ratings(self, answers: Sequence[BetterText]) -> Ratings:
        """The votes as numbers: 1 for the first text, 0.5 for a tie."""
        question = (self.first, self.second, list(self.images))
        yield question, [_WORTH[answer.better] for answer in answers]


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _comparison(reason: str, better: str) -> BetterText:
    if better not in _WORTH:
        raise BadAnswer(
            f"'better' must be first, second or tie, got {better!r}"
        )
    return BetterText(cast(Better, better), reason)
