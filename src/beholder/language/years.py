"""Years that things are of: "a vase from 1750", "was built in 1889"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from beholder.language import clauses
from beholder.language.document import Document, Word
from beholder.language.facts import AttributeFact
from beholder.language.lexicon import DATING
from beholder.language.phrases import Phrases

_YEAR = re.compile(r"1\d{3}|20\d{2}", re.ASCII)


def year_facts(document: Document, phrases: Phrases) -> Iterator[AttributeFact]:
    """Years behind a preposition, of the noun before them or of what their verb is said of."""
    for word in document:
        if not _YEAR.fullmatch(word.text) or word.index in phrases.by_word:
            continue
        cases = [c for c in document.children(word, "case") if c.lower in DATING]
        head = document.head(word)
        if not cases or head is None:
            continue
        polarity = not clauses.is_denied(document, head)
        for noun in _dated(document, head, phrases):
            yield AttributeFact(noun, (*cases, word), word.text, "quality", "year", polarity)


def _dated(document: Document, head: Word, phrases: Phrases) -> list[int]:
    if head.index in phrases.by_word:
        return [head.index]
    if head.dep.startswith("acl") and head.head in phrases.by_word:
        return [head.head]
    return [subject.index for subject in clauses.subjects(document, head)]
