"""Operations that rewrite a text: a phrase, a variation, a correction, a translation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from beholder.errors import ItemError
from beholder.judges.operations.base import (
    ModelOperation,
    Respondent,
    language_note,
)
from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import array, obj, only, string
from beholder.judges.templates import sanitise
from beholder.records import Span
from beholder.text import RuleSplitter, words


@dataclass(frozen=True)
class Rewrite(ModelOperation[str], name="rewrite"):
    """A rough phrase ("man holds cup") as a noun phrase ("the man holding a cup").

    Attributes:
        phrase: The phrase.
    """

    phrase: str

    async def ask_model(self, model: Respondent) -> str:
        """Ask for the noun phrase."""
        return await model.text(
            model.render({"phrase": self.phrase}),
            _noun_phrase,
            max_tokens=48,
            typical="the thing that is meant",
        )


def _noun_phrase(answer: str) -> str:
    text = answer.strip(" \t\"'.“”‘’")
    if (
        "\n" in text
        or len(text.split()) > 20
        or not any(c.isalnum() for c in text)
    ):
        raise BadAnswer(
            "the answer must be one noun phrase of at most 15 words on one line"
        )
    return text


Manner: TypeAlias = Literal[
    "paraphrase", "style", "tense", "summary", "expansion"
]
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
        super().__post_init__()
        if not self.text.strip():
            raise ItemError("there is no text to vary")

    async def ask_model(self, model: Respondent) -> str:
        """Ask for the text in other words."""
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
            raise BadAnswer(
                "the answer is the text as it was; write it anew as was asked"
            )
        return text


_STEM = 4
"""Letters by which the forms of a word are one."""


@dataclass(frozen=True, slots=True)
class TextMark:
    """A mistake or an omission in a text.

    Attributes:
        kind: ``mistake``, ``omission``, or the id of a rule of ``beholder lint``.
        text: The words that are wrong or missing.
        span: Place of the mistake in the text; None if unknown, and for an omission.
        instead: Words of the trusted text that replace a mistake; its sentence for an omission.
    """

    kind: str
    text: str
    span: Span | None = None
    instead: str = ""


@dataclass(frozen=True)
class ReviseText(ModelOperation[str], name="revise_text"):
    """The text with its marks corrected.

    An answer is refused if a sentence without a mark changed (one per omission may), if a word is
    new that neither text, marks nor trusted words have, or if it is longer than allowed.

    Attributes:
        text: The text.
        marks: Mistakes and omissions to correct.
        most: Characters that the answer may have.
        language: Language of the text, stated in the prompt; None if unknown.

    Raises:
        ItemError: There is no mark.
    """

    text: str
    marks: Sequence[TextMark]
    most: int
    language: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.marks:
            raise ItemError("there is no mark to correct")

    async def ask_model(self, model: Respondent) -> str:
        """Ask for the text with its marked faults corrected."""
        return await model.text(
            model.render(
                {
                    "text": self.text,
                    "item": list(map(_describe_mark, self.marks)),
                },
                {
                    "language": self.language or "",
                    "most": str(self.most),
                },
                parts=language_note(self.language),
            ),
            self._checked,
            max_tokens=256 + 2 * len(self.text.encode("utf-8")),
            typical=self.text,
        )

    def _checked(self, answer: str) -> str:
        text = answer.strip()
        if not any(map(str.isalnum, text)) or len(text) > self.most:
            raise BadAnswer(
                f"give the whole text, in at most {self.most} characters"
            )
        spans = [mark.span for mark in self.marks if mark.span is not None]
        # Plan: a correction may change the marked sentences and add a sentence
        # for each omission, and nothing else. So sentences without a mark must
        # still be there, and each new word must come from a mark.
        unmarked = [
            part.text_in(self.text)
            for part in RuleSplitter().split(self.text)
            if not any(
                start < part.end and part.start < end for start, end in spans
            )
        ]
        # An omission has no place of its own; it may be added to any sentence,
        # which then counts as changed.
        changed = [sentence for sentence in unmarked if sentence not in text]
        if len(changed) > len(self.marks) - len(spans):
            raise BadAnswer(
                f"only marked sentences may change; keep {changed[0]!r} as it was"
            )
        # Stems, not words: a correction may need another form ("dog" for
        # "dogs").
        known_stems = {
            stem
            for part in (self.text, *map(_describe_mark, self.marks))
            for stem in _stems(part)
        }
        if new := [stem for stem in _stems(text) if stem not in known_stems]:
            raise BadAnswer(
                f"no correction contains the new word that begins with {new[0]!r}"
            )
        return text


def _describe_mark(mark: TextMark) -> str:
    if mark.kind == "omission":
        return f"missing: {mark.text}" + (
            f" (as in: {mark.instead})" if mark.instead else ""
        )
    return f"wrong: {mark.text}" + (
        f"; right: {mark.instead}" if mark.instead else ""
    )


def _stems(text: str) -> Iterator[str]:
    """Beginnings of the longer words; short ones are mostly function words."""
    for start, end in words(text):
        if end - start > _STEM or re.match(r"\d", text[start:end]):
            yield text[start:end].casefold()[:_STEM]


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

    async def ask_model(self, model: Respondent) -> list[TranslatedClause]:
        """Ask for the clauses of the text with their translations."""
        settings = {
            "source_language": self.source,
            "target_language": self.target,
        }
        clause_text = self.text or "-"
        return await model.json(
            model.render({"text": self.text}, settings),
            only(
                "clauses",
                array(
                    _CLAUSE,
                    self._whole,
                    at_least=1,
                    at_most=max(8, len(clause_text) // 4),
                ),
            ),
            max_tokens=512 + 3 * len(self.text.encode("utf-8")),
            typical={
                "clauses": [
                    {"source": clause_text, "translation": clause_text}
                ]
            },
        )

    def _whole(
        self, entries: Iterator[TranslatedClause]
    ) -> list[TranslatedClause]:
        clauses = list(entries)
        if not clauses:
            raise BadAnswer(
                "'clauses' is empty; the text has at least one clause"
            )
        # The source clauses should cover the text. A few words may be missing,
        # such as an "and" between two clauses.
        words = Counter(
            _WORD.findall(sanitise(self.text))
        )  # as the judge was shown it
        clause_text = " ".join(clause.source for clause in clauses)
        left_out = words - Counter(_WORD.findall(clause_text))
        if left_out.total() > _MAY_BE_LEFT_OUT * words.total():
            raise BadAnswer(
                f"the clauses leave out {left_out.total()} of {words.total()} words of the text,"
                f" the first is {next(iter(left_out))!r}; go through the whole text"
            )
        return clauses
