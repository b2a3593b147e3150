"""Edits that are certain without a model; everything else is refused with a reason."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from beholder.judges.builtin.classes import exclude, values
from beholder.judges.operations import TextMark
from beholder.language import Document, Word, parse
from beholder.language.numerals import number
from beholder.records import Span
from beholder.text import words
from beholder.text.languages import ENGLISH, language_named, other_language

_DENYING = frozenset(("no", "not", "n't", "only", "never", "without", "neither", "nor", "none"))
_CONTENT = frozenset(("NOUN", "PROPN", "VERB", "ADJ", "NUM"))
_AN = re.compile(r"(?!uni|use|usu|eu|one\b|once)[aeiou]|hour|honest|heir", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]|(?<!\w)['‘][^'‘’]*['’](?!\w)")


class Edit(NamedTuple):
    """A place of a text, what it gets instead, and the marks that this corrects."""

    start: int
    end: int
    new: str
    marks: tuple[int, ...]


class LeftMark(NamedTuple):
    """A mark that was not corrected, and why."""

    mark: int
    why: str


class _No(Exception):
    """Why an edit is not certain."""


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits, which must not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text


def certain(
    text: str, marks: Sequence[TextMark], language: str | None = None
) -> tuple[list[Edit], list[LeftMark]]:
    """The edits that are certain, in order, and the marks that are left.

    Certain are: a word of a class of values (colour, number, side, material, age) for another of
    its class, an attributive adjective less, a sentence less of which all words are marked, and
    what rules of ``beholder lint`` found (opening, address, emoji, markup).

    Args:
        text: The text.
        marks: What is wrong or missing in it.
        language: Its language, a name or a code; None if unknown.
    """
    named = language_named(language or "")
    english = named in (None, ENGLISH) and other_language(text, ENGLISH) is None
    marked = any(mark.span and not mark.kind.startswith("ALT") for mark in marks)
    document = parse(text) if english and marked else None
    found: list[Edit] = list(_sentences(document, text, marks)) if document else []
    whole = {mark for edit in found for mark in edit.marks}
    refused: list[LeftMark] = []
    for place, mark in enumerate(marks):
        if place in whole:
            continue
        try:
            found.append(Edit(*_edit(text, mark, document), (place,)))
        except _No as reason:
            refused.append(LeftMark(place, str(reason)))
    kept: list[Edit] = []
    for edit in sorted(found, key=lambda one: (one.start - one.end, one)):
        if any(edit.start <= other.end and other.start <= edit.end for other in kept):
            refused += [LeftMark(mark, "overlaps another correction") for mark in edit.marks]
        else:
            kept.append(edit)
    made = apply(text, kept)
    n_before, n_after = len(words(text)), len(words(made))
    why = "over half of the words would go" if 2 * n_after < n_before else ""
    if not why and kept and n_after < 2:
        why = "fewer than two words would be left"
    if (
        not why
        and document
        and _shape(parse(made))
        != _shape(document, [(edit.start, edit.end) for edit in kept if not edit.new])
    ):
        why = "a sentence would lose its subject or its verb"
    if why:
        return [], sorted(refused + [LeftMark(mark, why) for edit in kept for mark in edit.marks])
    return sorted(kept), sorted(refused)


def _edit(text: str, mark: TextMark, document: Document | None) -> tuple[int, int, str]:
    if mark.span is None:
        raise _No("an omission needs wording; name a judge")
    start, end = mark.span
    if mark.kind.startswith("ALT"):
        return _of_rule(text, mark.kind, start, end)
    if document is None:
        raise _No("only English texts are edited without a judge")
    if any(a < end and start < b for a, b in (m.span() for m in _QUOTED.finditer(text))):
        raise _No("the words are quoted")
    inside = [word for word in document if start <= word.start and word.end <= end]
    if len(inside) != 1:
        raise _No("more than one word is marked")
    (word,) = inside
    if any(w.lower in _DENYING for w in document if w.sentence == word.sentence):
        raise _No("the sentence has no, not or only")
    if word.pos == "PROPN":
        raise _No("the word is part of a name")
    if word.pos not in ("ADJ", "NUM"):
        raise _No("only adjectives and numbers are edited without a judge")
    if len(mark.instead.split()) == 1 and exclude(values(word.lower), values(mark.instead.lower())):
        return _replaced(document, word, mark.instead.lower())
    if document.children(word) or document.words[word.index - 1].text == ",":
        raise _No("the adjective is part of a longer phrase")
    if word.dep != "amod" or not document.words[word.head].is_noun or word.head < word.index:
        raise _No("the word does not stand before its noun")
    following = document.words[word.index + 1]
    return _with_article(document, word, following.start, "", following.text)


def _replaced(document: Document, word: Word, new: str) -> tuple[int, int, str]:
    if word.pos == "NUM":
        counts = (number(word.lower), number(new))
        if any(count is None or count < 2 for count in counts):
            raise _No("the noun would change between one and several")
    new = new.capitalize() if word.text[0].isupper() else new
    return _with_article(document, word, word.end, new, new)


def _with_article(
    document: Document, word: Word, end: int, new: str, following: str
) -> tuple[int, int, str]:
    """The edit, with the article before the word as what follows it needs."""
    before = document.words[word.index - 1] if word.index else word
    if before.lower not in ("a", "an"):
        return word.start, end, new
    article = before.text[0] + ("n" if _AN.match(following) else "")
    return before.start, end, f"{article} {new}"


def _of_rule(text: str, rule: str, start: int, end: int) -> tuple[int, int, str]:
    if rule == "ALT112":
        found = text[start:end]
        return start, end, "" if found.startswith("<") else html.unescape(found)
    if rule == "ALT104":
        rest = re.compile(r"[\s:]*(\S?)").match(text, end)
        assert rest is not None
        return start, rest.end(), rest[1].upper()
    blanks = re.search(r"\s*$", text[:start])
    assert blanks is not None
    return blanks.start(), end, ""


def _sentences(document: Document, text: str, marks: Sequence[TextMark]) -> Iterator[Edit]:
    """Deletions of sentences of which every word that says something is marked."""
    places: dict[int, list[Word]] = {}
    for word in document:
        places.setdefault(word.sentence, []).append(word)
    spans = {n: m.span for n, m in enumerate(marks) if m.span and not m.kind.startswith("ALT")}
    gone = []
    for number_, own in places.items():
        content = [word for word in own if word.pos in _CONTENT]
        if content and all(
            any(a <= w.start and w.end <= b for a, b in spans.values()) for w in content
        ):
            gone.append(number_)
    for number_ in gone if len(gone) < len(places) else ():
        own, following = places[number_], places.get(number_ + 1)
        if following and following[0].pos == "PRON":
            continue
        start, end = own[0].start, following[0].start if following else len(text)
        start = start if following else len(text[:start].rstrip())
        own_marks = (n for n, (a, b) in spans.items() if start <= a and b <= end)
        yield Edit(start, end, "", tuple(own_marks))


def _shape(document: Document, without: Sequence[Span] = ()) -> list[tuple[bool, bool]]:
    """Whether each sentence has a subject and a verb."""
    found: dict[int, tuple[bool, bool]] = {}
    for word in document:
        if not any(start <= word.start and word.end <= end for start, end in without):
            subject, verb = found.get(word.sentence, (False, False))
            found[word.sentence] = (
                subject or word.dep.startswith("nsubj"),
                verb or word.pos in ("VERB", "AUX"),
            )
    return list(found.values())
