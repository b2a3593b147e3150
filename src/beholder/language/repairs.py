"""Repairs of parses that contradict themselves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from beholder.language.document import Word

_OF_NOUNS = frozenset({"cop", "det", "case", "amod", "nmod:poss", "nummod"})
_ENDS = frozenset({"nsubj", "obj", "obl"})


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
