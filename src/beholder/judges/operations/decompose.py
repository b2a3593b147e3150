"""The statements of a text."""

from __future__ import annotations

from dataclasses import dataclass

from beholder.judges.operations.base import ModelOperation, Respondent
from beholder.judges.operations.numbered import language_note
from beholder.judges.shapes import array, boolean, nullable, obj, only, string
from beholder.records import Span


@dataclass(frozen=True, slots=True)
class AtomicStatement:
    """A self-contained piece of information in a text.

    Attributes:
        text: The statement, in the language of the text.
        subject: Identifier of the object it is about (``cat_0``), or None.
        relevant: True for what can be seen, False for inference and mood.
        spans: Where the text says it, from judges that know; else empty.
    """

    text: str
    subject: str | None = None
    relevant: bool = True
    spans: tuple[Span, ...] = ()


_STATEMENT = obj(
    AtomicStatement,
    text=string(),
    subject=nullable("string", lambda value, name: str(value) if value else None, absent=None),
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

    async def put(self, model: Respondent) -> list[AtomicStatement]:
        """See ``ModelOperation.put``."""
        return await model.json(
            model.render(
                {"text": self.text},
                {"language": self.language or ""},
                parts=language_note(self.language),
            ),
            only("statements", array(_STATEMENT, list, at_most=self._most()), bare=True),
            # Each statement repeats words of the text and carries some JSON around them.
            max_tokens=512 + 2 * len(self.text.encode("utf-8")),
            typical=self._typical(),
        )

    def _most(self) -> int:
        """More statements than any text holds: one a word; texts without blanks, one a letter."""
        return max(4, len(self.text.split()), len(self.text.encode("utf-8")) // 6)

    def _typical(self) -> object:
        """One statement per five words, each a little longer than these."""
        words = self.text.split()
        rows = [
            {"text": " ".join(["The", *words[i : i + 5]]), "subject": "thing_0", "relevant": True}
            for i in range(0, len(words), 5)
        ]
        return {"statements": rows}
