"""A text in another language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from beholder.judges.fences import sanitise
from beholder.judges.operations.base import ModelOperation, Respondent
from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import array, obj, only, string

_WORD = re.compile(r"[^\W_]+")
_MAY_BE_LEFT_OUT = 0.2
"""Share of words that clauses may leave out: judges repeat noise marks and slips loosely."""


@dataclass(frozen=True, slots=True)
class TranslatedClause:
    """A clause of a text with its translation."""

    source: str
    translation: str


_CLAUSE = obj(TranslatedClause, source=string(), translation=string())


@dataclass(frozen=True)
class Translate(ModelOperation[list[TranslatedClause]], name="translate"):
    """A text clause by clause in another language.

    Attributes:
        text: The text.
        source: Its language.
        target: The language to write in.
    """

    text: str
    source: str
    target: str

    async def put(self, model: Respondent) -> list[TranslatedClause]:
        """See ``ModelOperation.put``."""
        settings = {"source_language": self.source, "target_language": self.target}
        said = self.text or "-"
        return await model.json(
            model.render({"text": self.text}, settings),
            only("clauses", array(_CLAUSE, self._whole, at_most=max(8, len(said) // 4))),
            max_tokens=512 + 3 * len(self.text.encode("utf-8")),
            typical={"clauses": [{"source": said, "translation": said}]},
        )

    def _whole(self, given: Iterator[TranslatedClause]) -> list[TranslatedClause]:
        clauses = list(given)
        if not clauses:
            raise BadAnswer("'clauses' is empty; the text has at least one clause")
        words = Counter(_WORD.findall(sanitise(self.text)))  # as the judge was shown it
        said = " ".join(clause.source for clause in clauses)
        left_out = words - Counter(_WORD.findall(said))
        if left_out.total() > _MAY_BE_LEFT_OUT * words.total():
            raise BadAnswer(
                f"the clauses leave out {left_out.total()} of {words.total()} words of the text,"
                f" the first is {next(iter(left_out))!r}; go through the whole text"
            )
        return clauses
