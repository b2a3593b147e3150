"""A text whose marked mistakes are removed and whose omissions are added, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from beholder.errors import ItemError
from beholder.judges.operations.base import ModelOperation, Respondent
from beholder.judges.operations.numbered import language_note
from beholder.judges.reading import BadAnswer
from beholder.records import Span
from beholder.text import RuleSplitter, words

_STEM = 4
"""Letters by which the forms of a word are one."""


@dataclass(frozen=True, slots=True)
class TextMark:
    """A mistake or an omission in a text.

    Attributes:
        kind: ``mistake``, ``omission``, or the id of a rule of ``beholder lint``.
        text: The words that are wrong or missing.
        span: Where the mistake is in the text; None for an omission.
        instead: What the trusted text says: words for a mistake, its sentence for an omission.
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
        marks: What is to be corrected.
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
        if not self.marks:
            raise ItemError("there is no mark to correct")

    async def put(self, model: Respondent) -> str:
        """See ``ModelOperation.put``."""
        return await model.text(
            model.render(
                {"text": self.text, "item": list(map(_shown, self.marks))},
                {"language": self.language or "", "most": str(self.most)},
                parts=language_note(self.language),
            ),
            self._checked,
            max_tokens=256 + 2 * len(self.text.encode("utf-8")),
            typical=self.text,
        )

    def _checked(self, answer: str) -> str:
        text = answer.strip()
        if not any(map(str.isalnum, text)) or len(text) > self.most:
            raise BadAnswer(f"give the whole text, in at most {self.most} characters")
        spans = [mark.span for mark in self.marks if mark.span is not None]
        kept = [
            part.of(self.text)
            for part in RuleSplitter().split(self.text)
            if not any(start < part.end and part.start < end for start, end in spans)
        ]
        changed = [sentence for sentence in kept if sentence not in text]
        if len(changed) > len(self.marks) - len(spans):
            raise BadAnswer(f"only marked sentences may change; keep {changed[0]!r} as it was")
        known = {stem for part in (self.text, *map(_shown, self.marks)) for stem in _stems(part)}
        if new := [stem for stem in _stems(text) if stem not in known]:
            raise BadAnswer(f"no correction contains the new word that begins with {new[0]!r}")
        return text


def _shown(mark: TextMark) -> str:
    if mark.span is None:
        return f"missing: {mark.text}" + (f" (as in: {mark.instead})" if mark.instead else "")
    return f"wrong: {mark.text}" + (f"; right: {mark.instead}" if mark.instead else "")


def _stems(text: str) -> Iterator[str]:
    """Beginnings of the longer words; short ones are mostly function words."""
    for start, end in words(text):
        if end - start > _STEM or re.match(r"\d", text[start:end]):
            yield text[start:end].casefold()[:_STEM]
