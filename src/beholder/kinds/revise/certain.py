"""Edits that are certain without a model; everything else is refused with a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from beholder.base.grouping import group_by_key
from beholder.judges.builtin.classes import exclude, values
from beholder.judges.operations import TextMark
from beholder.kinds.revise.edits import (
    Edit,
    Replacement,
    UncertainEdit,
    apply,
    edit_by_rule,
)
from beholder.language import Document, Word, parse
from beholder.language.numerals import number
from beholder.lint import notation as notation  # these register their checks
from beholder.lint import texts as texts
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import CHECKS, LintSetting
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


class LeftMark(NamedTuple):
    """A mark that was not corrected, by index, and the reason."""

    mark: int
    why: str


def find_certain_edits(
    text: str, marks: Sequence[TextMark], language: str | None = None
) -> tuple[list[Edit], list[LeftMark]]:
    """Return the edits that need no model, in order, and the marks that are left.

    Certain edits replace a word of a class of values (colour, number, side, material, age) by
    another of its class; delete an attributive adjective, a member of a list that keeps two, a
    closing phrase of place, or a sentence with all its words marked; or correct findings of
    ``beholder lint`` (opening, address, emoji, markup).

    Args:
        text: The text.
        marks: Its mistakes and omissions.
        language: Its language, a name or a code; None if unknown.
    """
    language_name = language_named(language or "")
    is_english = (
        language_name in (None, ENGLISH)
        and other_language(text, ENGLISH) is None
    )
    # Marks by people and metrics need the grammar of an English text; marks of
    # lint rules need none.
    spans = {
        place: mark.span
        for place, mark in enumerate(marks)
        if mark.span and not mark.kind.startswith("ALT")
    }
    document = parse(text) if is_english and spans else None
    # Whole sentences and lists come first, because they take several marks at
    # once. Every other mark is edited alone or refused.
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
            edits.append(
                Edit(*_edit(text, mark, document, is_english), (index,))
            )
        except UncertainEdit as reason:
            refused.append(LeftMark(index, str(reason)))
    certain_edits: list[Edit] = []
    # The longest edits win; one that overlaps or touches them is refused.
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
    # A finding that lint would report again is not corrected: its edits are withdrawn.
    for rule in _reported_again(text, certain_edits, marks):
        certain_edits, withdrawn = _without_rule(certain_edits, rule, marks)
        refused += [
            LeftMark(mark, f"lint would still report {rule}")
            for mark in withdrawn
        ]
    # All edits together must leave a text: most of its words, at least two,
    # and sentences that still have subject and verb.
    proposal = apply(text, certain_edits)
    n_before = len(words(text))
    n_after = len(words(proposal))
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


def _reported_again(
    text: str, edits: Sequence[Edit], marks: Sequence[TextMark]
) -> list[str]:
    """Return the rules of lint whose finding stays after all edits."""
    edited_rules = {marks[mark].kind for edit in edits for mark in edit.marks}
    proposal = Occurrence(file="", raw=apply(text, edits), language="en")
    return sorted(
        rule
        for rule in edited_rules & set(CHECKS)
        if CHECKS[rule](proposal, LintSetting())
    )


def _without_rule(
    edits: Sequence[Edit], rule: str, marks: Sequence[TextMark]
) -> tuple[list[Edit], list[int]]:
    """Return the edits of other rules, and the marks of those of this rule."""
    is_of_rule = [
        any(marks[mark].kind == rule for mark in edit.marks) for edit in edits
    ]
    remaining_edits = [
        e for e, of_rule in zip(edits, is_of_rule, strict=True) if not of_rule
    ]
    withdrawn = [
        mark
        for edit, of_rule in zip(edits, is_of_rule, strict=True)
        if of_rule
        for mark in edit.marks
    ]
    return remaining_edits, withdrawn


def _edit(
    text: str, mark: TextMark, document: Document | None, is_english: bool
) -> Replacement:
    if mark.span is None:
        what = (
            "an omission"
            if mark.kind == "omission"
            else "a mistake without a place"
        )
        raise UncertainEdit(f"{what} needs wording; name a judge")
    start, end = mark.span
    if not is_english:
        raise UncertainEdit("only English texts are edited without a judge")
    # Lint marks what has to go; no grammar is needed.
    if mark.kind.startswith("ALT"):
        return edit_by_rule(text, mark.kind, start, end)
    if document is None:
        raise UncertainEdit("the text has no sentence")
    # Words in quotation marks are someone else's, such as the writing on a
    # sign.
    if _is_quoted(text, start, end):
        raise UncertainEdit("the words are quoted")
    inside = [
        word for word in document if start <= word.start and word.end <= end
    ]
    # "No red car" may be right although the car is not red.
    if inside and _is_denied(document, inside[0]):
        raise UncertainEdit("the sentence has no, not or only")
    closing = _closing(document, inside)
    if closing is not None:
        return closing
    if len(inside) != 1:
        raise UncertainEdit("more than one word is marked")
    return _edit_word(document, inside[0], mark.instead.lower())


def _edit_word(document: Document, word: Word, instead: str) -> Replacement:
    if word.pos == "PROPN":
        raise UncertainEdit("the word is part of a name")
    if word.pos not in ("ADJ", "NUM"):
        raise UncertainEdit(
            "only adjectives, numbers, list members and closing phrases need no judge"
        )
    # Two values of one class: the sentence stays the same but for the word.
    if len(instead.split()) == 1 and exclude(
        values(word.lower), values(instead)
    ):
        return _replaced(document, word, instead)
    if word.children() or document.words[word.index - 1].text == ",":
        raise UncertainEdit("the adjective is part of a longer phrase")
    if (
        word.dep != "amod"
        or not document.words[word.head].is_noun
        or word.head < word.index
    ):
        raise UncertainEdit("the word is not before its noun")
    following = document.words[word.index + 1]
    return _with_article(document, word, following.start, "", following.text)


def _is_quoted(text: str, start: int, end: int) -> bool:
    return any(
        match.start() < end and start < match.end()
        for match in _QUOTED.finditer(text)
    )


def _is_denied(document: Document, word: Word) -> bool:
    return any(
        w.lower in _DENYING for w in document if w.sentence == word.sentence
    )


def _phrase(document: Document, at: int) -> list[Word]:
    """Return the plain noun phrase that begins at a word: determiner, adjectives, common nouns."""
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
    """Return whether a pronoun or the same noun after a noun may refer to it."""
    return any(
        w.pos == "PRON" or w.lemma == noun.lemma
        for w in document.words[noun.index + 1 :]
    )


def _closing(document: Document, inside: Sequence[Word]) -> Replacement | None:
    """Return the deletion of a marked phrase of place at the end of a sentence; None if unsafe."""
    nouns = [word for word in inside if word.pos == "NOUN"]
    case = nouns[-1].child("case") if nouns else None
    if (
        not nouns
        or case is None
        or case.index < 1
        or not _PLACES.fullmatch(case.lower)
    ):
        return None
    # The phrase must be plain, all its words may go, nothing but punctuation
    # may follow, and nothing later may refer to its noun.
    noun = nouns[-1]
    phrase = _phrase(document, case.index + 1)
    head = document.words[noun.head]
    before = document.words[case.index - 1]
    allowed = {case, *phrase}
    later_words = [
        w
        for w in document.words[noun.index + 1 :]
        if w.sentence == noun.sentence
    ]
    if (
        phrase[-1:] != [noun]
        or not allowed.issuperset(inside)
        or not allowed.issuperset(noun.subtree())
        or any(word.pos != "PUNCT" for word in later_words)
        or before.pos not in ("NOUN", "PROPN", "VERB")
        or _is_resumed(document, noun)
    ):
        return None
    # "A dog sleeps on a bed" is whole without its place; "a man puts a cup on
    # a table" and a passive may not be.
    if head.pos == "VERB":
        if not head.child("nsubj") or head.child("obj", "aux:pass"):
            return None
    elif head != before:
        return None
    return before.end, noun.end, ""


def _lists(
    document: Document, text: str, spans: Mapping[int, Span]
) -> Iterator[Edit]:
    """Yield edits that delete marked members of lists, where at least two stay."""
    for first in document:
        members = _members(document, first)
        if len(members) < 3:
            continue
        last_word = members[-1][-1]
        start = first.start
        end = last_word.end
        if _is_quoted(text, start, end) or _is_denied(document, first):
            continue
        # A member goes if a mark ends where it ends and begins at or before
        # its last word.
        deleted: dict[int, int] = {}
        remaining: list[list[Word]] = []
        for index, member in enumerate(members):
            head = member[-1]
            for mark, (a, b) in spans.items():
                is_marked = member[0].start <= a <= head.start
                if is_marked and b == head.end:
                    deleted[index] = mark
            if index in deleted and _is_resumed(document, head):
                del deleted[index]
            if index not in deleted:
                remaining.append(member)
        # Words behind the last member may belong to it alone.
        next_words = document.words[last_word.index + 1 :][:1]
        is_dangling = len(members) - 1 in deleted and any(
            word.pos not in _ENDS for word in next_words
        )
        if not deleted or len(remaining) < 2 or is_dangling:
            continue
        member_texts = [
            text[member[0].start : member[-1].end] for member in remaining
        ]
        *head_texts, last_text = member_texts
        if 0 in deleted and text[start].isupper():
            head_texts[0] = head_texts[0][0].upper() + head_texts[0][1:]
        # The words before the last member have the conjunction; with two
        # members left it needs no comma.
        joint = text[members[-2][-1].end : members[-1][0].start]
        if len(remaining) == 2:
            joint = joint.replace(",", "")
        new_text = ", ".join(head_texts) + joint + last_text
        yield Edit(start, end, new_text, tuple(sorted(deleted.values())))


def _members(document: Document, first: Word) -> list[list[Word]]:
    """Return the members of a list that begins with a word, each a plain noun phrase."""
    before = document.words[first.index - 1].dep if first.index else ""
    # The list begins in the middle of a noun phrase.
    if before in ("det", "amod", "nummod", "compound", "nmod:poss"):
        return []
    members = [_phrase(document, first.index)]
    while members[-1]:
        *earlier_members, member = members
        noun = member[-1]
        if earlier_members:
            # Each further member must be joined to one before it.
            heads = {earlier[-1].index for earlier in earlier_members}
            if noun.dep != "conj" or noun.head not in heads:
                break
            # The member behind "and" or "or" is the last.
            if document.words[member[0].index - 1].dep == "cc":
                return members
        between = list(
            takewhile(
                lambda word: word.text == "," or word.dep == "cc",
                document.words[noun.index + 1 :],
            )
        )
        if not between:
            break
        members.append(_phrase(document, between[-1].index + 1))
    return []


def _replaced(document: Document, word: Word, new_text: str) -> Replacement:
    # From one to several, or back, the noun would need another form.
    if word.pos == "NUM":
        counts = (number(word.lower), number(new_text))
        if any(count is None or count < 2 for count in counts):
            raise UncertainEdit(
                "the noun would change between one and several"
            )
    if word.text[0].isupper():
        new_text = new_text.capitalize()
    return _with_article(document, word, word.end, new_text, new_text)


def _with_article(
    document: Document, word: Word, end: int, new_text: str, following: str
) -> Replacement:
    """Return an edit that also adapts "a" or "an" before the word to the next word."""
    before = document.words[word.index - 1] if word.index else word
    if before.lower not in ("a", "an"):
        return word.start, end, new_text
    article = before.text[0]
    if _AN.match(following):
        article += "n"
    return before.start, end, f"{article} {new_text}"


def _sentences(
    document: Document, text: str, spans: Mapping[int, Span]
) -> Iterator[Edit]:
    """Yield deletions of sentences whose content words are all marked."""
    words_by_sentence = group_by_key(
        (word.sentence, word) for word in document
    )
    deleted = []
    for sentence, sentence_words in words_by_sentence.items():
        content = [word for word in sentence_words if word.pos in _CONTENT]
        if content and all(
            any(a <= w.start and w.end <= b for a, b in spans.values())
            for w in content
        ):
            deleted.append(sentence)
    # If all sentences are wrong, none goes: a text must remain.
    for sentence in deleted if len(deleted) < len(words_by_sentence) else ():
        sentence_words = words_by_sentence[sentence]
        following = words_by_sentence.get(sentence + 1)
        # The pronoun may refer to the sentence that would go.
        if following and following[0].pos == "PRON":
            continue
        start = sentence_words[0].start
        if following:
            end = following[0].start
        else:
            # The last sentence takes the blanks before it along.
            start = len(text[:start].rstrip())
            end = len(text)
        corrected_marks = (
            n for n, (a, b) in spans.items() if start <= a and b <= end
        )
        yield Edit(start, end, "", tuple(corrected_marks))


def _shape(
    document: Document, without: Sequence[Span] = ()
) -> list[tuple[bool, bool]]:
    """Return (has a subject, has a verb) of each sentence, some words left out."""
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
