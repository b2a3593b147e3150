"""Dense rewards: what the units of a score say of each token of the text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from beholder.records import ItemScore

Offsets = Sequence[tuple[int, int]]


def shifted(offsets: Offsets, by: int) -> list[tuple[int, int]]:
    """Offsets in a text whose first characters are left out; tokens of those stand for no text."""
    return [(max(0, start - by), max(0, end - by)) for start, end in offsets]


def by_token(score: ItemScore, offsets: Offsets) -> list[float]:
    """A reward for each token, from -1 (all that stands there is wrong) to 1 (all is right).

    A unit of the candidate with granular score s (0 wrong, 1 right) gives 2 s - 1 to each token
    that its spans touch; a token of several units has their mean, one of none has 0.

    Args:
        score: What a metric with units found for the text.
        offsets: First character and the one after the last of each token, in order, as fast
            tokenizers give them; (0, 0) for tokens that stand for no text.
    """
    real = [place for place, (start, end) in enumerate(offsets) if end > start]
    ends = [offsets[place][1] for place in real]
    given: list[list[float]] = [[] for _ in offsets]
    for unit in score.units:
        if unit.side != "candidate" or unit.score is None:
            continue
        touched: set[int] = set()
        for start, end in unit.spans:
            k = bisect_right(ends, start)
            while k < len(real) and offsets[real[k]][0] < end:
                touched.add(real[k])
                k += 1
        for place in touched:
            given[place].append(2 * unit.score - 1)
    return [sum(values) / len(values) if values else 0.0 for values in given]
