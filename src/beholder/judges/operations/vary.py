"""A text that says the same in another way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from beholder.errors import ItemError
from beholder.judges.operations.base import ModelOperation, Respondent
from beholder.judges.reading import BadAnswer

Manner: TypeAlias = Literal["paraphrase", "style", "tense", "summary", "expansion"]
MANNERS: tuple[Manner, ...] = get_args(Manner)


@dataclass(frozen=True)
class Vary(ModelOperation[str], name="vary"):
    """A text rewritten so that it stays true to what it said.

    Attributes:
        text: The text.
        manner: ``paraphrase`` (other words), ``style`` (formal or plain), ``tense``, ``summary``
            (about half the words) or ``expansion`` (about half as many more).

    Raises:
        ItemError: There is no text.
    """

    text: str
    manner: Manner

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ItemError("there is no text to vary")

    async def put(self, model: Respondent) -> str:
        """See ``ModelOperation.put``."""
        return await model.text(
            model.render({"text": self.text}, parts={"task": self.manner}),
            self._another,
            max_tokens=512 + 2 * len(self.text.encode("utf-8")),
            typical=f"{self.text} So it is.",
        )

    def _another(self, answer: str) -> str:
        text = answer.strip()
        if not any(character.isalnum() for character in text):
            raise BadAnswer("the answer holds no word; give the new text")
        if text == self.text.strip():
            raise BadAnswer("the answer is the text as it was; write it anew as was asked")
        return text
