"""Operations on statements: decompose a text, match statements, verify them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.operations.base import (
    ModelOperation,
    PanelOperation,
    Ratings,
    Respondent,
    language_note,
    majority,
    number_of,
    votes_by_item,
)
from beholder.judges.reading import NOTHING
from beholder.judges.shapes import (
    Shape,
    array,
    boolean,
    integer,
    nullable,
    obj,
    only,
    string,
)
from beholder.records import Span


@dataclass(frozen=True, slots=True)
class AtomicStatement:
    """A self-contained piece of information in a text.

    Attributes:
        text: The statement, in the language of the text.
        subject: Identifier of the object it is about (``cat_0``), or None.
        relevant: True for what can be seen, False for inference and mood.
        spans: Places where the text states it, from judges that know; else empty.
    """

    text: str
    subject: str | None = None
    relevant: bool = True
    spans: tuple[Span, ...] = ()


_STATEMENT = obj(
    AtomicStatement,
    text=string(),
    subject=nullable(
        "string",
        lambda value, name: str(value) if value else None,
        absent=None,
    ),
    # A row that says nothing about relevance states something: count it.
    relevant=boolean(absent=True),
)


@dataclass(frozen=True)
class Decompose(ModelOperation[list[AtomicStatement]], name="decompose"):
    """The smallest self-contained statements of a text, in its own language.

    Attributes:
        text: The text.
        language: Its language, stated in the prompt; None if unknown.
    """

    text: str
    language: str | None = None

    async def ask_model(self, model: Respondent) -> list[AtomicStatement]:
        """Ask for the atomic statements of the text."""
        return await model.json(
            model.render(
                {"text": self.text},
                {"language": self.language or ""},
                parts=language_note(self.language),
            ),
            only(
                "statements",
                array(_STATEMENT, list, at_most=self._max_statements()),
                bare=True,
            ),
            # Each statement repeats words of the text and carries some JSON around them.
            max_tokens=512 + 2 * len(self.text.encode("utf-8")),
            typical=self._typical(),
            fewest={"statements": []},
        )

    def _max_statements(self) -> int:
        """More statements than any text holds: one a word; texts without blanks, one a letter."""
        return max(
            4, len(self.text.split()), len(self.text.encode("utf-8")) // 6
        )

    def _typical(self) -> object:
        """One statement per five words, each a little longer than these."""
        words = self.text.split()
        rows = [
            {
                "text": " ".join(["The", *words[i : i + 5]]),
                "subject": "thing_0",
                "relevant": True,
            }
            for i in range(0, len(words), 5)
        ]
        return {"statements": rows}


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

    async def ask_model(self, model: Respondent) -> list[int | None]:
        """Ask for the matching reference of each claim; no request is sent if a side is empty."""
        if not self.references:
            return [None] * len(self.claims)
        rows = await model.rows(
            ("statement", self.claims),
            {"reference": (self._one_of_them(), self._likely(), None)},
            texts={"reference": self.references},
            language=self.language,
            field="matches",
        )
        return [row.get("reference") for row in rows]

    def _likely(self) -> list[int] | None:
        return None

    def _one_of_them(self) -> Shape[int | None]:
        ids = number_of(range(len(self.references))).schema.get("enum")
        free = nullable("integer", self._reference)
        return (
            free
            if ids is None
            else replace(free, schema={**free.schema, "enum": [*ids, None]})
        )

    def _reference(self, value: Any, name: str) -> int | None:
        if isinstance(value, list):  # several fit: the first one named
            value = value[0] if value else None
        if value is None or str(value).strip().lower() in NOTHING:
            return None
        index = _ANY.read(value, name)
        return index if 0 <= index < len(self.references) else None

    def merge(self, answers: Sequence[list[int | None]]) -> list[int | None]:
        """The match most judges name; a tie is no match."""
        return [majority(votes, None) for votes in zip(*answers, strict=True)]


@dataclass(frozen=True)
class MatchNearest(MatchStatements, name="match_nearest"):
    """For each claim the index of the reference statement about the same that comes nearest.

    It need not say the claim: one that is more general or differs in a detail will do. None if no
    reference statement is about that.
    """

    def _likely(self) -> list[int] | None:
        return [
            min(i, len(self.references) - 1) for i in range(len(self.claims))
        ]


@dataclass(frozen=True)
class Verify(PanelOperation[list[bool]], name="verify"):
    """Is each claim supported by the pictures or by the reference text?

    Attributes:
        claims: The statements.
        images: The pictures.
        reference: The text, or None.
        language: Language of the texts, stated in the prompt; None if unknown.

    Raises:
        ItemError: There is no evidence.
    """

    claims: Sequence[str]
    images: Sequence[Image] = ()
    reference: str | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.images and self.reference is None:
            raise ItemError(
                "verify needs pictures or a reference text as evidence; there is neither"
            )

    async def ask_model(self, model: Respondent) -> list[bool]:
        """Ask for each claim whether the evidence supports it.

        Raises:
            ItemError: The model left out a statement twice.
        """
        # The section of the prompt must name what is shown: there may be no
        # reference text at all, or no picture.
        if not self.images:
            evidence_note = "reference"
        elif self.reference is None:
            evidence_note = "picture"
        else:
            evidence_note = "both"
        rows = await model.rows(
            ("statement", self.claims),
            {"supported": (boolean(), True)},
            texts={"reference": self.reference or ""},
            language=self.language,
            parts={"evidence_note": evidence_note},
            images=self.images,
            whole=True,
        )
        return [row["supported"] for row in rows]

    def merge(self, answers: Sequence[list[bool]]) -> list[bool]:
        """Merge by majority; a tie is not supported."""
        return [majority(votes, False) for votes in zip(*answers, strict=True)]

    def ratings(self, answers: Sequence[list[bool]]) -> Ratings:
        """The verdicts on each claim."""
        for claim, votes in votes_by_item(self.claims, answers):
            yield (
                (claim, self.reference, list(self.images)),
                [float(vote) for vote in votes],
            )
