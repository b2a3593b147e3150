"""A description of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.operations.base import ModelOperation, Respondent


@dataclass(frozen=True)
class Caption(ModelOperation[str], name="caption"):
    """A description of pictures.

    Attributes:
        images: One picture, or several that belong together.
        language: Language to write in.
        min_words: Words at least.
        max_words: Words at most.
        context: What the collection is, in the user's own words.
        note: Data of this picture (date, place); untrusted.
        connections: Whether to include what may connect it to other pictures of a story.

    Raises:
        ItemError: There is no picture.
    """

    images: Sequence[Image]
    language: str = "English"
    min_words: int = 20
    max_words: int = 200
    context: str = ""
    note: str = ""
    connections: bool = False

    def __post_init__(self) -> None:
        if not self.images:
            raise ItemError("caption needs a picture; there is none")

    async def put(self, model: Respondent) -> str:
        """See ``ModelOperation.put``."""
        settings = {
            "language": self.language,
            "min_words": str(self.min_words),
            "max_words": str(self.max_words),
            "context": self.context,
        }
        parts = {
            "context_note": "context" if self.context else None,
            "known_note": "known" if self.note else None,
            "connections_note": "connections" if self.connections else None,
        }
        return await model.text(
            model.render(self._shown(), settings, parts=parts, images=self.images),
            str,
            max_tokens=256 + 8 * self.max_words,
            typical="word " * ((self.min_words + self.max_words) // 2),
        )

    def _shown(self) -> dict[str, str]:
        return {"note": self.note}


@dataclass(frozen=True)
class CaptionAgain(Caption, name="caption_again"):
    """A description written once more, because an earlier one was too long or too short.

    Attributes:
        earlier: The earlier description.
    """

    earlier: str = ""

    def _shown(self) -> dict[str, str]:
        return {**super()._shown(), "text": self.earlier}
