"""A rough phrase as a noun phrase."""

from __future__ import annotations

from dataclasses import dataclass

from beholder.judges.operations.base import ModelOperation, Respondent
from beholder.judges.reading import BadAnswer


@dataclass(frozen=True)
class Rewrite(ModelOperation[str], name="rewrite"):
    """A rough phrase ("man holds cup") as a noun phrase ("the man holding a cup").

    Attributes:
        phrase: The phrase.
    """

    phrase: str

    async def put(self, model: Respondent) -> str:
        """See ``ModelOperation.put``."""
        return await model.text(
            model.render({"phrase": self.phrase}),
            _noun_phrase,
            max_tokens=48,
            typical="the thing that is meant",
        )


def _noun_phrase(answer: str) -> str:
    text = answer.strip(" \t\"'.“”‘’")
    if "\n" in text or len(text.split()) > 20 or not any(c.isalnum() for c in text):
        raise BadAnswer("the answer must be one noun phrase of at most 15 words on one line")
    return text
