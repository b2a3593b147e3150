"""What a picture does on its page: four questions in the order of the W3C's decision tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from beholder.backends import Image
from beholder.judges.operations.answer import locate
from beholder.judges.operations.assess import Assess, Assessment
from beholder.judges.operations.base import PanelOperation, Ratings, Respondent, majority, put_rows
from beholder.judges.shapes import one_of, words
from beholder.judges.templates import Untrusted
from beholder.records import Span

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

_ANSWERS = (NO, UNCLEAR, *dict.fromkeys(one for kinds in QUESTIONS.values() for one in kinds))


@dataclass(frozen=True, slots=True)
class PlacedAnswer:
    """The answer to one of the questions.

    Attributes:
        answer: ``no``, ``unclear``, or an answer that decides.
        evidence: Part of the context with the quote, ``picture``, or empty for no evidence.
        quote: Words of that part, as the judge copied them.
        spans: Where they are in the part; empty for words of the picture.
    """

    answer: str
    evidence: str = ""
    quote: str = ""
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class PlaceText(PanelOperation[list[PlacedAnswer | None]], name="place_text"):
    """Whether a picture has text, a function or a meaning on its page, or decorates it.

    One answer per question of ``QUESTIONS``; None where the judge gave no usable one. A quote that
    is not in the context is no evidence.

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

    async def put(self, model: Respondent) -> list[PlacedAnswer | None]:
        """See ``ModelOperation.put``."""
        evidence = one_of((*self.context, *([PICTURE] if self.images else []), "none"))
        found = await put_rows(
            model,
            ("item", list(QUESTIONS)),
            {
                "answer": (one_of(_ANSWERS), NO),
                "evidence": (evidence, "none"),
                "quote": (words(400, None), None),
            },
            texts={"text": self.text, "context": shown(self.context)},
            language=self.language,
            parts={"picture_note": "seen" if self.images else "unseen"},
            images=self.images,
            tokens=160,
        )
        return [
            self._answer(row) if row.get("answer") in (NO, UNCLEAR, *kinds) else None
            for row, kinds in zip(found, QUESTIONS.values(), strict=True)
        ]

    def _answer(self, row: Mapping[str, Any]) -> PlacedAnswer:
        quote = row["quote"].strip() if isinstance(row["quote"], str) else ""
        if row["evidence"] == PICTURE:
            return PlacedAnswer(row["answer"], PICTURE, quote)
        for name in dict.fromkeys((row["evidence"], *self.context)):
            if quote and (spans := locate(quote, self.context.get(name, ""))):
                return PlacedAnswer(row["answer"], name, quote, spans)
        return PlacedAnswer(row["answer"])

    def merge(self, answers: Sequence[list[PlacedAnswer | None]]) -> list[PlacedAnswer | None]:
        """What more than half of those say who answered; else ``unclear``."""
        merged: list[PlacedAnswer | None] = []
        for votes in zip(*answers, strict=True):
            given = [vote for vote in votes if vote is not None]
            said = majority([vote.answer for vote in given], UNCLEAR) if given else None
            known = [vote for vote in given if vote.answer == said]
            evident = next((vote for vote in known if vote.evidence), None)
            merged.append(evident or (PlacedAnswer(said) if said else None))
        return merged

    def ratings(self, answers: Sequence[list[PlacedAnswer | None]]) -> Ratings:
        """The answers to each question, by their places among all."""
        for question, votes in zip(QUESTIONS, zip(*answers, strict=True), strict=True):
            if said := [_ANSWERS.index(vote.answer) for vote in votes if vote is not None]:
                asked = (question, self.text, shown(self.context), list(self.images))
                yield asked, list(map(float, said))


@dataclass(frozen=True)
class AssessInContext(Assess, name="assess_in_context"):
    """``Assess`` for the page that shows the picture.

    Attributes:
        context: Parts of the context by name.
    """

    context: Mapping[str, str] | None = None

    def _shown(self) -> dict[str, Untrusted]:
        return {**super()._shown(), "context": shown(self.context or {})}

    def ratings(self, answers: Sequence[Assessment]) -> Ratings:
        """The numbers of each aspect."""
        for question, numbers in super().ratings(answers):
            yield (question, shown(self.context or {})), numbers


def shown(context: Mapping[str, str]) -> str:
    """A context as judges see it: each part under its name."""
    return "\n\n".join(f"{name}:\n{text}" for name, text in context.items()) or "nothing is known"
