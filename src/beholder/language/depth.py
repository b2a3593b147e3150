"""No tree deeper than a sentence can be: what is not prose gives chains that rules cannot walk."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.language.document import Word, tree_depths

MAX_DEPTH = 60
"""Real sentences of the treebanks stay below 30."""


def bound_depth(words: Sequence[Word]) -> list[Word]:
    """Hang words that lie deeper than ``MAX_DEPTH`` on their ancestor there, as ``dep``.

    Args:
        words: All words of a text; ``head`` is the index of the head, its own for a root.
    """
    depths = tree_depths(words)
    if max(depths, default=0) <= MAX_DEPTH:
        return list(words)
    bounded = list(words)
    anchor: dict[int, int] = {}  # the ancestor just above the bound
    for index in sorted(range(len(words)), key=depths.__getitem__):
        if depths[index] == MAX_DEPTH - 1:
            anchor[index] = index
        elif depths[index] >= MAX_DEPTH:
            anchor[index] = anchor[words[index].head]
        if depths[index] > MAX_DEPTH:
            bounded[index] = words[index]._replace(head=anchor[index], dep="dep")
    return bounded
