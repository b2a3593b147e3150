"""Repairs of parses that contradict themselves."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.language.document import Word

_OF_NOUNS = frozenset({"cop", "det", "case", "amod", "nmod:poss", "nummod"})


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
