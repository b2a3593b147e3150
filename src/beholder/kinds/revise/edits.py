"""Edits of a text, and those of findings of lint, which need no grammar."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from beholder.records import Span
from beholder.text import words

_OPENING_WORDS = (
    "this here is a an the image images picture pictures photo photos photograph photographs pic"
    " pics graphic illustration icon of showing shows that which depicting containing with depicts"
)
_PLAIN_OPENING = frozenset(_OPENING_WORDS.split())
"""Words of an opening that says no more than that there is a picture."""
_WHOLE_BEGINNING = re.compile(
    r"""
    (?!(?:c|ca|circa)\b|(?:that|how|what|where|why|when|who|which|whether|and|or|but|of|it|me|him|us
    |them|being|in|from|at|by|during|before|after|about|around)\b)[^\W\d_]
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Beginning of a description: a letter, and no "c. 1890", "how", "him" or "in"."""
_LEADING_WORDS = (
    "see at from via on in of to visit by source more and or link here credit check find follow"
    " website site url read the our my under"
)
_LEADING_TO_ADDRESS = frozenset(_LEADING_WORDS.split())
"""Words that need the address behind them."""
_NEEDING_WORDS = (
    "a an the this that these those my your his her its our their of in on at by for from to with"
    " without and or but is are was were i we you says reads like as no"
)
_NEEDING_MORE = frozenset(_NEEDING_WORDS.split())
"""Words that need the words behind them."""
_BREAK = re.compile(r"</?(?:br|p|div|li|td|tr|h\d|ul|ol|hr)\b", re.I)
_ODD_BLANKS = re.compile(r"\s\s| [,;:!?)\]]|[(\[] |\(\)|\[\]")


class Edit(NamedTuple):
    """A replacement of a range of a text.

    Attributes:
        start: First character that is replaced.
        end: One past the last.
        new: The replacement.
        marks: Indices of the marks that it corrects.
    """

    start: int
    end: int
    new: str
    marks: tuple[int, ...]


Replacement: TypeAlias = tuple[int, int, str]
"""Start, end and new text of an edit."""


class UncertainEdit(Exception):
    """An edit is not certain; the message is the reason."""


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits, which must not overlap, to a text."""
    for edit in sorted(edits, reverse=True):
        before = text[: edit.start]
        after = text[edit.end :]
        text = before + edit.new + after
    return text


def edit_by_rule(text: str, rule: str, start: int, end: int) -> Replacement:
    """Return the edit for a finding of lint; raise UncertainEdit if the rest is not a text."""
    if rule == "ALT104":
        edit = _without_opening(text, start, end)
    elif rule == "ALT112" and not text[start:end].startswith("<"):
        edit = start, end, html.unescape(text[start:end])
    else:
        if rule == "ALT109":
            start, end = _address_range(text, start, end)
        elif rule != "ALT112" and _splits_word(text, start, end):
            raise UncertainEdit("a word would be cut")
        edit = deletion(text, start, end)
        # A line break between two words is a blank.
        around = text[start - 1 : start] + text[end : end + 1]
        is_break = _BREAK.match(text[start:end]) and around.isalnum()
        if is_break and len(around) == 2:
            edit = start, end, " "
    _check_stands(text, Edit(*edit, ()))
    return edit


def _without_opening(text: str, start: int, end: int) -> Replacement:
    opening = re.findall(r"\w+", text[start:end].lower())
    if not _PLAIN_OPENING.issuperset(opening):
        raise UncertainEdit(
            "the opening says more than that this is a picture"
        )
    if _splits_word(text, start, end):
        raise UncertainEdit("a word would be cut")
    # The text begins with the next word, in upper case.
    later_text = text[end:].lstrip(" \t\n:")
    if not _WHOLE_BEGINNING.match(later_text):
        raise UncertainEdit("no text begins like the rest")
    end = len(text) - len(later_text[1:])
    return start, end, later_text[:1].upper()


def _address_range(text: str, start: int, end: int) -> Span:
    """Return the range of an address with its brackets; raise UncertainEdit within a sentence."""
    address = text[start:end].rstrip(".,;:!?'\"")
    # A bracket that opens before the address is closed by its last character.
    if address.endswith((")", "]")) and address.count("(") < address.count(
        ")"
    ):
        address = address[:-1]
    end = start + len(address)
    if text[:start].endswith(("(", "[", "<")) and text[end:].startswith(
        (")", "]", ">")
    ):
        return start - 1, end + 1
    before = words(text[:start])
    later_text = text[end:].strip(" .,;:!?")
    if later_text and text[:start].strip():
        raise UncertainEdit("the address is part of a sentence")
    last_word = text[slice(*before[-1])].lower() if before else ""
    if last_word in _LEADING_TO_ADDRESS:
        raise UncertainEdit("the words before the address lead to it")
    return start, end


def _splits_word(text: str, start: int, end: int) -> bool:
    """Return whether a range begins or ends within a word."""
    return any(
        0 < place < len(text)
        and text[place - 1].isalnum()
        and text[place].isalnum()
        for place in (start, end)
    )


def deletion(text: str, start: int, end: int) -> Replacement:
    """Return the deletion of a range with the blanks and separators that it leaves at an edge."""
    before, after = text[:start].rstrip(), text[end:]
    if not before:
        later_text = after.lstrip(" \t\n,;:.-\u2013\u2014|")
        if not later_text:
            raise UncertainEdit("no text would be left")
        end = len(text) - len(later_text[1:])
        return 0, end, later_text[0].upper()
    if not after.strip(" .,;:|"):
        # The stop of the sentence stays.
        stop = "." if after.strip() == "." and before[-1].isalnum() else ""
        return len(before.rstrip(" ,;:|-\u2013\u2014/")), len(text), stop
    is_glued = not after[0].isspace() and after[0].isalnum()
    has_blank = len(before) < start
    return len(before), end, " " if is_glued and has_blank else ""


_PAIRS = ("()", "[]", "{}", "\u00ab\u00bb", "\u201c\u201d")


def _check_stands(text: str, edit: Edit) -> None:
    """Raise UncertainEdit if half a pair, odd blanks or words that need others would be left."""
    proposal = apply(text, [edit])
    for pair in _PAIRS:
        opening, closing = pair[0], pair[1]
        before = text.count(opening) - text.count(closing)
        if proposal.count(opening) - proposal.count(closing) != before:
            raise UncertainEdit(
                "half of a pair of brackets or quotes would be left"
            )
    if proposal.count('"') % 2 > text.count('"') % 2:
        raise UncertainEdit(
            "half of a pair of brackets or quotes would be left"
        )
    is_odd = proposal != proposal.strip() or _ODD_BLANKS.search(proposal)
    if is_odd and not _ODD_BLANKS.search(text):
        raise UncertainEdit("blanks or empty brackets would be left")
    # "A dog with", "my": what stood here was part of the sentence.
    places = words(proposal[: edit.start + len(edit.new)])
    last_word = proposal[slice(*places[-1])].lower() if places else ""
    if not edit.new and edit.start and last_word in _NEEDING_MORE:
        raise UncertainEdit("the word before needs what would go")
