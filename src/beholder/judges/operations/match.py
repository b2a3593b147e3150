"""Which statements of one text say what statements of the other say?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from beholder.judges.operations.base import PanelOperation, Respondent
from beholder.judges.operations.numbered import majority, number_of, put_rows
from beholder.judges.shapes import Shape, integer, nullable

_NOTHING = ("", "none", "null")
_ANY = integer(-(10**9), 10**9, listed=False)


@dataclass(frozen=True)
class MatchStatements(PanelOperation[list[int | None]], name="match"):
    """For each claim the index of the reference statement that says or contains it, or None.

    A model's row that names a statement which does not exist, or that is missing, is None.

    Attributes:
        claims: The statements that are looked for.
        references: The statements among which they are looked for.
        language: Language of the texts, stated in the prompt; None if unknown.
    """

    claims: Sequence[str]
    references: Sequence[str]
    language: str | None = None

    async def put(self, model: Respondent) -> list[int | None]:
        """See ``ModelOperation.put``; no request is sent if a side is empty."""
        if not self.references:
            return [None] * len(self.claims)
        found = await put_rows(
            model,
            ("statement", self.claims),
            {"reference": (self._one_of_them(), None)},
            texts={"reference": self.references},
            language=self.language,
            field="matches",
        )
        return [found[i]["reference"] if i in found else None for i in range(len(self.claims))]

    def _one_of_them(self) -> Shape[int | None]:
        ids = number_of(range(len(self.references))).schema.get("enum")
        free = nullable("integer", self._reference)
        return free if ids is None else replace(free, schema={**free.schema, "enum": [*ids, None]})

    def _reference(self, value: Any, name: str) -> int | None:
        if isinstance(value, list):  # several fit: the first one named
            value = value[0] if value else None
        if value is None or str(value).strip().lower() in _NOTHING:
            return None
        index = _ANY.read(value, name)
        return index if 0 <= index < len(self.references) else None

    def merge(self, answers: Sequence[list[int | None]]) -> list[int | None]:
        """The match most judges name; a tie is no match."""
        return [majority(votes, None) for votes in zip(*answers, strict=True)]


@dataclass(frozen=True)
class MatchNearest(MatchStatements, name="match_nearest"):
    """For each claim the index of the reference statement about the same that comes nearest.

    It need not say the claim: one that is more general or differs in a detail will do. None where
    no reference statement is about that.
    """
