"""The role of a picture on its page: four questions in the order of the W3C's decision tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from beholder.backends import Image
from beholder.judges.operations.answer import (
    FromText,
    TextAnswer,
    TextItem,
)
from beholder.judges.operations.assess import Assess, Assessment
from beholder.judges.operations.base import Ratings
from beholder.judges.operations.quotes import locate, quoted
from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import Shape, one_of
from beholder.judges.templates import Parts, Texts

NO: Final = "no"
UNCLEAR: Final = "unclear"
PICTURE: Final = "picture"
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "text": ("elsewhere", "effect", "function", "only here"),
    "function": ("yes",),
    "meaning": ("simple", "complex", "redundant"),
    "decoration": ("yes",),
}
"""The questions, in order, with the answers that decide."""

_ANSWERS_BY_NAME = {
    name: (NO, UNCLEAR, *deciding) for name, deciding in QUESTIONS.items()
}


@dataclass(frozen=True)
class PlaceText(FromText, name="place_text"):
    """Does a picture have text, a function or a meaning on its page, or does it decorate the page?

    One answer per question of ``QUESTIONS``: ``no``, ``unclear``, or one that decides. Evidence is
    a part of the context with a quote from it, or ``picture`` with words of the picture.

    Attributes:
        text: The alternative text.
        context: Parts of the context by name, such as ``page`` and ``caption``.
        images: The picture; empty if the judge goes by the context alone.
        language: Language of the page, stated in the prompt; None if unknown.
    """

    text: str
    context: Mapping[str, str]
    images: Sequence[Image] = ()
    language: str | None = None

    _column = (
        "answer",
        one_of(list(dict.fromkeys(chain(*_ANSWERS_BY_NAME.values())))),
    )

    @property
    def items(self) -> list[TextItem]:
        """The questions, which the prompt words, each with its answers."""
        return [
            TextItem(name, [{"answer": one_of(answers).schema}], NO, NO)
            for name, answers in _ANSWERS_BY_NAME.items()
        ]

    def _texts(self) -> Texts:
        return {"text": self.text, "context": format_context(self.context)}

    def _notes(self) -> Parts:
        return {"picture_note": "seen" if self.images else "unseen"}

    def _further(self) -> dict[str, tuple[Shape[Any], object]]:
        evidence_shape = one_of(
            (*self.context, *([PICTURE] if self.images else []), "none")
        )
        return {"evidence": (evidence_shape, "none")}

    def _parse_state(self, index: int, value: Any) -> str:
        if value not in list(_ANSWERS_BY_NAME.values())[index]:
            raise BadAnswer(f"{value!r} does not answer this question")
        return str(value)

    def _with_evidence(
        self, index: int, state: str | None, row: Mapping[str, Any]
    ) -> TextAnswer:
        quote, evidence_name = quoted(row), row["evidence"]
        if evidence_name == PICTURE:
            return TextAnswer(state, evidence=PICTURE, quote=quote)
        # The named part of the context first, then the others: right words
        # under a wrong name are evidence all the same.
        for name in dict.fromkeys((evidence_name, *self.context)):
            if spans := locate(quote, self.context.get(name, "")):
                return TextAnswer(state, spans, evidence=name, quote=quote)
        if quote and state not in (NO, UNCLEAR):
            raise BadAnswer(f"the context does not have the words {quote!r}")
        return TextAnswer(state)

    def _doubtful(self, index: int, states: Sequence[str | None]) -> str:
        return UNCLEAR


@dataclass(frozen=True)
class AssessInContext(Assess, name="assess_in_context"):
    """``Assess`` for the page that shows the picture.

    Attributes:
        context: Parts of the context by name.
    """

    context: Mapping[str, str] | None = None

    def _texts(self) -> Texts:
        return {
            **super()._texts(),
            "context": format_context(self.context or {}),
        }

    def ratings(self, answers: Sequence[Assessment]) -> Ratings:
        """The numbers of each aspect."""
        for question, numbers in super().ratings(answers):
            yield (question, format_context(self.context or {})), numbers


def format_context(context: Mapping[str, str]) -> str:
    """A context as judges see it: each part under its name."""
    return (
        "\n\n".join(f"{name}:\n{text}" for name, text in context.items())
        or "nothing is known"
    )
