"""Which things a text says are not there: "no hat", "without a hat", "is not wearing a hat".

However it is said, the graph is the same: the thing is denied, and so is what relates it.
"""

from __future__ import annotations

from beholder.language import clauses
from beholder.language.document import Document, Word
from beholder.language.lexicon import QUANTIFIERS

AFFIRMED = {"without": "with"}
"""Prepositions that deny the noun after them, and what they deny."""
_DENYING = ("no", "not")  # base forms; "neither dog" says that there are two
_INDEFINITE = ("a", "an", "any", "either")
_COUNTING = QUANTIFIERS - {"any", "other", "single"}


def is_absent(document: Document, noun: Word) -> bool:
    """Whether a text says that there is no such thing as a noun names.

    A denied verb denies only what is new in it: who "is not wearing the hat" may have it at hand,
    and if there are "not many people" there are some.
    """
    if _is_denied_itself(document, noun):
        return True
    first = document.words[noun.head] if noun.dep == "conj" else noun
    group = clauses.conjuncts(document, first)
    if noun not in group:
        return False
    joined_by = {c.lower for each in group for c in document.children(each, "cc")}
    if "nor" in joined_by:
        return True
    if noun is not first:
        if any(c.lower == "but" for c in document.children(noun, "cc")):
            return False
        if _is_denied_itself(document, first):
            return joined_by == {"or"} or _is_lacked_too(document, noun, first)
    return _is_new(document, noun) and _is_in_denied_clause(document, first)


def _is_denied_itself(document: Document, noun: Word) -> bool:
    """As in "no hat", "not a single hat", "is not a hat", "without a hat"."""
    if _is_lacked(document, noun):
        return True
    said = [
        word.lemma
        for word in document.children(noun, "det", "advmod", "cc")
        if word.lemma in _DENYING and not clauses.is_limited(document, word)
    ]
    if said == ["not"]:
        return _is_new(document, noun) and _is_no_place(document, noun)
    return bool(said)


def _is_lacked(document: Document, noun: Word) -> bool:
    return any(case.lower in AFFIRMED for case in document.children(noun, "case"))


def _is_lacked_too(document: Document, noun: Word, first: Word) -> bool:
    """As in "without doors and windows"; "a dog without a collar and a cat" has a cat."""
    return _is_lacked(document, first) and not document.child(noun, "case", "det")


def _is_new(document: Document, noun: Word) -> bool:
    """Whether a noun stands for any of its kind: neither a known one nor some number of them."""
    said = document.children(noun, "det", "amod", "nummod")
    return (
        noun.pos == "NOUN"
        and not document.child(noun, "nmod:poss", "nummod")
        and not any(word.lower in _COUNTING for word in said)
        and all(d.lower in _INDEFINITE for d in said if d.dep == "det")
    )


def _is_in_denied_clause(document: Document, noun: Word) -> bool:
    """Whether a noun is what a denied verb acts on, or what it says there is or is with."""
    verb = document.head(noun)
    if verb is None or not clauses.is_denied(document, verb):
        return False
    kind = noun.dep.split(":")[0]
    if kind == "nsubj":
        return document.child(verb, "expl") is not None
    return kind in ("obj", "obl") and _is_no_place(document, noun)


def _is_no_place(document: Document, noun: Word) -> bool:
    """A thing does not have what it is not with; the park in which it is not may well be there."""
    return all(case.lower == "with" for case in document.children(noun, "case"))
