"""Repairs of parses that contradict themselves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from beholder.language.document import Word

_FINITE = frozenset({"VBZ", "VBP", "VBD"})
_DEPTH = 12
"""How many words up a joined noun is looked for."""
_OF_NOUNS = frozenset({"cop", "det", "case", "amod", "nmod:poss", "nummod"})
_ENDS = frozenset({"nsubj", "obj", "obl"})


def repaired(words: Sequence[Word]) -> list[Word]:
    """The words of one text with what the parser is known to read wrong."""
    return numbers_of_clauses(subjects_read_as_objects(verbs_read_as_nouns(words)))


def verbs_read_as_nouns(words: Sequence[Word]) -> list[Word]:
    """Give back verbs in -s that were tagged as plural nouns: "One of the men smiles".

    A noun that has a subject, but neither a copula nor a determiner, is a verb.
    """
    subjects = {w.head for w in words if w.dep == "nsubj" and w.head > w.index}
    excluded = {w.head for w in words if w.dep in _OF_NOUNS}
    return [
        w._replace(pos="VERB", tag="VBZ")
        if w.tag == "NNS" and w.index in subjects and w.index not in excluded
        else w
        for w in words
    ]


def subjects_read_as_objects(words: Sequence[Word]) -> list[Word]:
    """Give back the subject of a second clause that was joined to the object of the first.

    In "The left panel shows Eve and the right panel shows Adam" the right panel is not shown: a
    verb that follows it at once, with nothing that joins it to the first verb, is its own.
    """
    found = list(words)
    led = {w.head for w in words if w.dep.split(":")[0] in ("nsubj", "cc", "mark")}
    for verb in words:
        first = words[verb.head]
        if verb.dep != "conj" or verb.tag not in _FINITE or verb.index in led:
            continue
        noun = _joined_noun_before(words, verb)
        if noun is None:
            continue
        object_ = words[noun.head]
        if object_.dep == "obj" and object_.head == first.index:
            found[noun.index] = noun._replace(dep="nsubj", head=verb.index)
            for joint in words[object_.index : noun.index]:
                if joint.dep == "cc" and joint.head == noun.index:
                    found[joint.index] = joint._replace(head=verb.index)
    return found


def _joined_noun_before(words: Sequence[Word], verb: Word) -> Word | None:
    """The noun joined to another whose last word stands before a verb, or None."""
    word = words[max(verb.index - 1, 0)]
    for _ in range(_DEPTH):
        if word.dep == "conj" or word.pos == "PUNCT":
            break
        word = words[word.head]
    return word if word.dep == "conj" and word.is_noun and word.index < verb.index else None


def numbers_of_clauses(words: Sequence[Word]) -> list[Word]:
    """Give back numbers that hang on a clause to the noun after them: "2,000 people march".

    What has a subject or an object is not counted; what stands right after a number is.
    """
    found = list(words)
    for word, noun in pairwise(words):
        counts = word.dep == "nummod" and noun.is_noun and noun.head == word.head
        if counts and noun.dep.split(":")[0] in _ENDS:
            found[word.index] = word._replace(head=noun.index)
    return found
