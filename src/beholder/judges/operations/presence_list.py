"""Are the units of one text in the other text? All of them in one question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from beholder.judges.grades import Grade
from beholder.judges.operations.answer import locate
from beholder.judges.operations.base import Respondent
from beholder.judges.operations.contradict import stated
from beholder.judges.operations.numbered import put_rows
from beholder.judges.operations.presence import HIGHEST, LOWEST, Presence
from beholder.judges.shapes import integer, nullable

_LONGEST = 200
"""Characters that a judge which is held to a schema may quote."""
_TOKENS = 64
"""That a row may take."""

_NOTHING: Final = ("", "none", "null")


@dataclass(frozen=True)
class PresenceList(Presence, name="presence_list"):
    """``Presence`` with all units in one question, each answered by a grade and a quote.

    The quote of a unit that is mentioned shows where; that of one that is not shows what the text
    says instead, if it does. A grade above the lowest without words of the text is the lowest.
    Grades are whole numbers: no probabilities are read.
    """

    async def put(self, model: Respondent) -> list[Grade]:
        """See ``ModelOperation.put``; no request is sent if there are no units.

        Raises:
            ItemError: The judge left out a unit, also when it was asked again.
        """
        quote = nullable("string", lambda value, _: value, None, longest=_LONGEST)
        found = await put_rows(
            model,
            ("unit", [stated(question) for question in self.questions]),
            {"grade": (integer(LOWEST, HIGHEST), 1), "quote": (quote, None)},
            texts={"target": self.target},
            tokens=_TOKENS,
            whole=True,
        )
        return [self._grade(**found[i]) for i in range(len(self.questions))]

    def _grade(self, grade: int, quote: Any) -> Grade:
        said = isinstance(quote, str) and quote.strip().lower() not in _NOTHING
        where = locate(quote, self.target) if said else ()
        value = grade if where else LOWEST
        words = " ... ".join(" ".join(self.target[slice(*span)].split()) for span in where)
        return Grade(
            value=float(value),
            probabilities=tuple(float(value == g) for g in range(LOWEST, HIGHEST + 1)),
            mass=1.0,
            read="samples",
            contradiction=words if value == LOWEST else "",
            where=where,
        )
