"""Edits that are certain without a model; everything else is refused with a reason."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from beholder.base.grouping import by_key
from beholder.judges.builtin.classes import exclude, values
from beholder.judges.operations import TextMark
from beholder.language import Document, Word, parse
from beholder.language.numerals import number
from beholder.records import Span
from beholder.text import words
from beholder.text.expected_language import other_language
from beholder.text.languages import ENGLISH, language_named

_DENYING = frozenset(
    ("no", "not", "n't", "only", "never", "without", "neither", "nor", "none")
)
_ENDS = frozenset(("PUNCT", "VERB", "AUX"))
_CONTENT = frozenset(("NOUN", "PROPN", "VERB", "ADJ", "NUM"))
_PLACES = re.compile(
    "above|across|against|along|at|behind|below|beneath|beside|by|in|inside|near|on|outside|over"
    "|through|under|with"
)
_AN = re.compile(
    r"(?!uni|use|usu|eu|one\b|once)[aeiou]|hour|honest|heir", re.IGNORECASE
)
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


def find_certain_edits(
    text: str, marks: Sequence[TextMark], language: str | None = None
) -> tuple[list[Edit], list[LeftMark]]:
    """The edits that are certain, in order, and the marks that are left.

    Certain are: a word of a class of values (colour, number, side, material, age) for another of
    its class; less an attributive adjective, a member of a list that keeps two, a closing phrase
    of place, or a sentence of which all words are marked; and what rules of ``beholder lint`` found
    (opening, address, emoji, markup).

    Args:
        text: The text.
        marks: What is wrong or missing in it.
        language: Its language, a name or a code; None if unknown.
    """
    language_name = language_named(language or "")
    is_english = (
        language_name in (None, ENGLISH)
        and other_language(text, ENGLISH) is None
    )
    spans = {
        place: mark.span
        for place, mark in enumerate(marks)
        if mark.span and not mark.kind.startswith("ALT")
    }
    document = parse(text) if is_english and spans else None
    edits: list[Edit] = []
    if document:
        edits += [
            *_sentences(document, text, spans),
            *_lists(document, text, spans),
        ]
    corrected = {mark for edit in edits for mark in edit.marks}
    refused: list[LeftMark] = []
    for index, mark in enumerate(marks):
        if index in corrected:
            continue
        try:
            edits.append(Edit(*_edit(text, mark, document), (index,)))
        except _No as reason:
            refused.append(LeftMark(index, str(reason)))
    certain_edits: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start - edit.end, edit)):
        if any(
            edit.start <= earlier.end and earlier.start <= edit.end
            for earlier in certain_edits
        ):
            refused += [
                LeftMark(mark, "overlaps another correction")
                for mark in edit.marks
            ]
        else:
            certain_edits.append(edit)
    proposal = apply(text, certain_edits)
    n_before, n_after = len(words(text)), len(words(proposal))
    why = "over half of the words would go" if 2 * n_after < n_before else ""
    if not why and certain_edits and n_after < 2:
        why = "fewer than two words would be left"
    if (
        not why
        and document
        and _shape(parse(proposal))
        != _shape(
            document,
            [(edit.start, edit.end) for edit in certain_edits if not edit.new],
        )
    ):
        why = "a sentence would lose its subject or its verb"
    if why:
        return [], sorted(
            refused
            + [
                LeftMark(mark, why)
                for edit in certain_edits
                for mark in edit.marks
            ]
        )
    return sorted(certain_edits), sorted(refused)


def _edit(
    text: str, mark: TextMark, document: Document | None
) -> tuple[int, int, str]:
    if mark.span is None:
        what = (
            "an omission"
            if mark.kind == "omission"
            else "a mistake without a place"
        )
        raise _No(f"{what} needs wording; name a judge")
    start, end = mark.span
    if mark.kind.startswith("ALT"):
        return _edit_by_rule(text, mark.kind, start, end)
    if document is None:
        raise _No("only English texts are edited without a judge")
    if _is_quoted(text, start, end):
        raise _No("the words are quoted")
    inside = [
        word for word in document if start <= word.start and word.end <= end
    ]
    if inside and _is_denied(document, inside[0]):
        raise _No("the sentence has no, not or only")
    if (closing := _closing(document, inside)) is not None:
        return closing
    if len(inside) != 1:
        raise _No("more than one word is marked")
    return _edit_word(document, inside[0], mark.instead.lower())


def _edit_word(
    document: Document, word: Word, instead: str
) -> tuple[int, int, str]:
    if word.pos == "PROPN":
        raise _No("the word is part of a name")
    if word.pos not in ("ADJ", "NUM"):
        raise _No(
            "only adjectives, numbers, list members and closing phrases need no judge"
        )
    if len(instead.split()) == 1 and exclude(
        values(word.lower), values(instead)
    ):
        return _replaced(document, word, instead)
    if document.children(word) or document.words[word.index - 1].text == ",":
        raise _No("the adjective is part of a longer phrase")
    if (
        word.dep != "amod"
        or not document.words[word.head].is_noun
        or word.head < word.index
    ):
        raise _No("the word does not stand before its noun")
    following = document.words[word.index + 1]
    return _with_article(document, word, following.start, "", following.text)


def _is_quoted(text: str, start: int, end: int) -> bool:
    return any(
        m.start() < end and start < m.end() for m in _QUOTED.finditer(text)
    )


def _is_denied(document: Document, word: Word) -> bool:
    return any(
        w.lower in _DENYING for w in document if w.sentence == word.sentence
    )


def _phrase(document: Document, at: int) -> list[Word]:
    """The plain noun phrase that begins at a word: determiner, adjectives, common nouns."""
    phrase: list[Word] = []
    for word in document.words[at:]:
        is_modifier = word.pos in ("ADJ", "NUM") or word.dep in (
            "det",
            "nmod:poss",
        )
        if word.pos != "NOUN" and (
            not is_modifier or (phrase and phrase[-1].pos == "NOUN")
        ):
            break
        phrase.append(word)
    return phrase if phrase and phrase[-1].pos == "NOUN" else []


def _is_resumed(document: Document, noun: Word) -> bool:
    """Whether something after a noun may refer to it: a pronoun or the same noun."""
    return any(
        w.pos == "PRON" or w.lemma == noun.lemma
        for w in document.words[noun.index + 1 :]
    )


def _closing(
    document: Document, inside: Sequence[Word]
) -> tuple[int, int, str] | None:
    """A phrase of place less at the end of a sentence; None if its noun is not what is marked."""
    nouns = [word for word in inside if word.pos == "NOUN"]
    case = document.child(nouns[-1], "case") if nouns else None
    if (
        not nouns
        or case is None
        or case.index < 1
        or not _PLACES.fullmatch(case.lower)
    ):
        return None
    phrase, noun = _phrase(document, case.index + 1), nouns[-1]
    head, before = document.words[noun.head], document.words[case.index - 1]
    allowed = {case, *phrase}
    later_words = [
        w
        for w in document.words[noun.index + 1 :]
        if w.sentence == noun.sentence
    ]
    if (
        phrase[-1:] != [noun]
        or not allowed.issuperset(inside)
        or not allowed.issuperset(document.subtree(noun))
        or any(word.pos != "PUNCT" for word in later_words)
        or before.pos not in ("NOUN", "PROPN", "VERB")
        or _is_resumed(document, noun)
    ):
        return None
    if head.pos == "VERB":
        if not document.child(head, "nsubj") or document.child(
            head, "obj", "aux:pass"
        ):
            return None
    elif head != before:
        return None
    return before.end, noun.end, ""


def _lists(
    document: Document, text: str, spans: Mapping[int, Span]
) -> Iterator[Edit]:
    """Lists without marked members, of which at least two stay."""
    for first in document:
        members = _members(document, first)
        if len(members) < 3:
            continue
        start, end = members[0][0].start, members[-1][-1].end
        if _is_quoted(text, start, end) or _is_denied(document, first):
            continue
        deleted = {
            index: number
            for number, (a, b) in spans.items()
            for index, member in enumerate(members)
            if member[0].start <= a <= member[-1].start and b == member[-1].end
            if not _is_resumed(document, member[-1])
        }
        remaining = [
            member
            for place, member in enumerate(members)
            if place not in deleted
        ]
        after = document.words[members[-1][-1].index + 1 :][:1]
        is_dangling = len(members) - 1 in deleted and any(
            w.pos not in _ENDS for w in after
        )
        if not deleted or len(remaining) < 2 or is_dangling:
            continue
        member_texts = [
            text[member[0].start : member[-1].end] for member in remaining
        ]
        if 0 in deleted and text[start].isupper():
            member_texts[0] = member_texts[0][0].upper() + member_texts[0][1:]
        last = text[members[-2][-1].end : members[-1][0].start]
        last = last if len(remaining) > 2 else last.replace(",", "")
        yield Edit(
            start,
            end,
            ", ".join(member_texts[:-1]) + last + member_texts[-1],
            tuple(sorted(deleted.values())),
        )


def _members(document: Document, first: Word) -> list[list[Word]]:
    """The members of a list that begins with a word; each is a plain noun phrase."""
    before = document.words[first.index - 1].dep if first.index else ""
    if before in ("det", "amod", "nummod", "compound", "nmod:poss"):
        return []
    members = [_phrase(document, first.index)]
    while members[-1]:
        noun, later_words = (
            members[-1][-1],
            document.words[members[-1][-1].index + 1 :],
        )
        heads = {member[-1].index for member in members[:-1]}
        if heads and (noun.dep != "conj" or noun.head not in heads):
            break
        if heads and document.words[members[-1][0].index - 1].dep == "cc":
            return members
        between = list(
            takewhile(
                lambda word: word.text == "," or word.dep == "cc", later_words
            )
        )
        members.append(
            _phrase(document, between[-1].index + 1) if between else []
        )
    return []


def _replaced(
    document: Document, word: Word, new: str
) -> tuple[int, int, str]:
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


def _edit_by_rule(
    text: str, rule: str, start: int, end: int
) -> tuple[int, int, str]:
    if rule == "ALT112":
        marked_text = text[start:end]
        entity = (
            "" if marked_text.startswith("<") else html.unescape(marked_text)
        )
        return start, end, entity
    if rule == "ALT104":
        later_text = re.sub(r"^[\s:]+", "", text[end:])
        return start, len(text) - len(later_text[1:]), later_text[:1].upper()
    return len(text[:start].rstrip()), end, ""


def _sentences(
    document: Document, text: str, spans: Mapping[int, Span]
) -> Iterator[Edit]:
    """Deletions of sentences of which every word that says something is marked."""
    words_by_sentence = by_key((word.sentence, word) for word in document)
    deleted = []
    for sentence, sentence_words in words_by_sentence.items():
        content = [word for word in sentence_words if word.pos in _CONTENT]
        if content and all(
            any(a <= w.start and w.end <= b for a, b in spans.values())
            for w in content
        ):
            deleted.append(sentence)
    for sentence in deleted if len(deleted) < len(words_by_sentence) else ():
        sentence_words, following = (
            words_by_sentence[sentence],
            words_by_sentence.get(sentence + 1),
        )
        if following and following[0].pos == "PRON":
            continue
        start, end = sentence_words[0].start, len(text)
        if following:
            end = following[0].start
        else:
            start = len(text[:start].rstrip())
        corrected_marks = (
            n for n, (a, b) in spans.items() if start <= a and b <= end
        )
        yield Edit(start, end, "", tuple(corrected_marks))


def _shape(
    document: Document, without: Sequence[Span] = ()
) -> list[tuple[bool, bool]]:
    """Whether each sentence has a subject and a verb."""
    shape_by_sentence: dict[int, tuple[bool, bool]] = {}
    for word in document:
        if not any(
            start <= word.start and word.end <= end for start, end in without
        ):
            subject, verb = shape_by_sentence.get(
                word.sentence, (False, False)
            )
            shape_by_sentence[word.sentence] = (
                subject or word.dep.startswith("nsubj"),
                verb or word.pos in ("VERB", "AUX"),
            )
    return list(shape_by_sentence.values())
