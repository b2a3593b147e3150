"""Operations that write texts about pictures: a description, or reviews to rank."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.operations.base import ModelOperation, Respondent
from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import Shape, array, only
from beholder.judges.templates import Parts

_USUAL_WORDS, _FREE_WORDS = 150, 600
"""Words of a caption of any length: as estimates expect it, and as its answer has room for."""


@dataclass(frozen=True)
class Caption(ModelOperation[str], name="caption"):
    """A description of pictures.

    Attributes:
        images: One picture, or several that belong together.
        language: Language to write in.
        words: Fewest and most words; None for any length.
        context: Description of the collection by the user.
        note: Data of this picture (date, place); untrusted.
        connections: Whether to include what may connect it to other pictures of a story.

    Raises:
        ItemError: There is no picture.
    """

    images: Sequence[Image]
    language: str = "English"
    words: tuple[int, int] | None = None
    context: str = ""
    note: str = ""
    connections: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.images:
            raise ItemError("caption needs a picture; there is none")

    async def ask_model(self, model: Respondent) -> str:
        """Ask for a description of the pictures."""
        low, high = self.words or (0, _FREE_WORDS)
        settings = {
            "language": self.language,
            "min_words": str(low),
            "max_words": str(high),
            "context": self.context,
        }
        return await model.text(
            model.render(
                self._texts(),
                settings,
                parts=self._parts(),
                images=self.images,
            ),
            str,
            max_tokens=256 + 8 * high,
            typical="word "
            * ((low + high) // 2 if self.words else _USUAL_WORDS),
            costly="word " * (high + 1),
        )

    def _parts(self) -> Parts:
        return {
            "task": "bounded" if self.words else "free",
            "context_note": "context" if self.context else None,
            "known_note": "known" if self.note else None,
            "connections_note": "connections" if self.connections else None,
        }

    def _texts(self) -> dict[str, str]:
        return {"note": self.note}


@dataclass(frozen=True)
class CaptionAgain(Caption, name="caption_again"):
    """A description written once more, because an earlier one was too long or too short.

    Attributes:
        earlier: The earlier description.
    """

    earlier: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.words:
            raise ItemError(
                "caption_again needs the number of words that the earlier text lacks"
            )

    def _parts(self) -> Parts:
        return {
            name: part
            for name, part in super()._parts().items()
            if name != "task"
        }

    def _texts(self) -> dict[str, str]:
        return {**super()._texts(), "text": self.earlier}


MOST_UNEQUAL = 1.5
"""The longest review has at most so many times the characters of the shortest."""

_LIST_LINE = re.compile(r"^\s*(?:[-*•・]\s|\d+[.)．]\s|#)", re.MULTILINE)
_ANYTHING: Shape[Any] = Shape({"type": "string"}, lambda value, name: value)


@dataclass(frozen=True)
class Review(ModelOperation[list[str]], name="review"):
    """Reviews of pictures, one per kind, different and of nearly the same length.

    Attributes:
        images: One picture, or several that belong together.
        kinds: Description of the wanted kind of each review.
        language: Language to write in.
        n_words: About how many words each.

    Raises:
        ItemError: There is no picture.
    """

    images: Sequence[Image]
    kinds: Sequence[str]
    language: str = "English"
    n_words: int = 80

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.images:
            raise ItemError("review needs a picture; there is none")

    async def ask_model(self, model: Respondent) -> list[str]:
        """Ask for one review of each kind."""
        n = len(self.kinds)
        settings = {
            "n": str(n),
            "language": self.language,
            "words": str(self.n_words),
            "characters": str(2 * self.n_words),
            "kinds": "\n".join(
                f"{place}. {kind}" for place, kind in enumerate(self.kinds, 1)
            ),
        }
        return await model.json(
            model.render({}, settings, images=self.images),
            only(
                "reviews",
                array(_ANYTHING, self._checked, at_least=n, at_most=n),
            ),
            max_tokens=256 + 8 * self.n_words * n,
            typical={
                "reviews": [
                    f"{place} " + "word " * self.n_words for place in range(n)
                ]
            },
        )

    def _checked(self, values: Iterator[Any]) -> list[str]:
        texts, n = list(values), len(self.kinds)
        if len(texts) != n or not all(
            isinstance(text, str) and text.strip() for text in texts
        ):
            raise BadAnswer(
                f"'reviews' must hold {n} texts, none of them empty"
            )
        reviews = [text.strip() for text in texts]
        if len(set(reviews)) < n:
            raise BadAnswer("two reviews are the same")
        # Form and length must not give away which kind of review it is.
        for place, text in enumerate(reviews, start=1):
            if _LIST_LINE.search(text):
                raise BadAnswer(
                    f"review {place} has a list or heading; write running text"
                )
        lengths = [len(text) for text in reviews]
        if max(lengths) > MOST_UNEQUAL * min(lengths):
            raise BadAnswer(
                f"the reviews have {min(lengths)} to {max(lengths)} characters; the longest may"
                f" have at most {MOST_UNEQUAL:g} times the shortest"
            )
        return reviews
