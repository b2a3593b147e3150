"""Which items of a large run go into the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest


def choose(n_items: int, lists: Sequence[Iterable[int]], limit: int) -> list[int]:
    """Positions to show, the most telling first.

    The lists (worst, best, failed, ...) take turns, together with an even sample over all items,
    so each has about the same share; a short list leaves its share to the others.

    Args:
        n_items: Items of the run.
        lists: Positions of interest, each list in order of interest.
        limit: How many to choose.
    """
    turns = chain.from_iterable(zip_longest(*lists, spread(n_items, limit)))
    chosen: dict[int, None] = {}
    for position in turns:
        if len(chosen) == limit:
            break
        if position is not None:
            chosen[int(position)] = None
    return list(chosen)


def spread(n_items: int, count: int) -> list[int]:
    """Up to ``count`` positions at even distance over ``0..n_items-1``."""
    count = min(count, n_items)
    return [i * n_items // count for i in range(count)]
