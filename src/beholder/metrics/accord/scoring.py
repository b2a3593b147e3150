"""From texts that are read to how near they come: pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from beholder.embed.exact import products
from beholder.metrics.wording import Reading

_FEW_WORDS = 4
"""Texts of fewer words have no order to speak of."""
_ENGLISH, _NO_ENGLISH = 0.25, -0.05
"""``beholder.text.order`` of texts that pass, and of texts that are in no order at all."""
_OURS, _BORROWED = 0.45, 0.65
"""Share of words without their neighbours that passes, and that is taken for a reference's words
out of order."""
_LEFT = 0.2
"""What a text that is surely words out of order keeps of its value."""


def compare_wholes(candidate: Reading, references: Sequence[Reading]) -> float:
    """Cosine of whole texts: half the best reference's, half that of the references' mean vector.

    Below 0 counts as 0.
    """
    others = np.stack([reference.whole for reference in references]).astype(np.float64)
    centre = others.mean(axis=0)
    near = products(others, candidate.whole[None])
    # The mean of the cosines is the product with the mean vector.
    central = float(near.mean() / np.sqrt((centre * centre).sum()))
    return float(np.clip((near.max() + central) / 2, 0.0, 1.0))


def in_order(order: float, candidate: Reading, references: Sequence[Reading]) -> float:
    """What a text keeps of its value: all, unless it is a reference's words out of order.

    Two signs must meet. The words do not follow one another as English words do; and the text has
    the words of a reference without the neighbours that they have there.

    Args:
        order: ``beholder.text.order`` of the candidate.
        candidate: The text under evaluation.
        references: Trusted texts.

    Returns:
        0.2..1.
    """
    if len(candidate.words) < _FEW_WORDS:
        return 1.0
    unlike_english = (_ENGLISH - order) / (_ENGLISH - _NO_ENGLISH)
    loose = max(_loose(candidate.words, reference.words) for reference in references)
    out_of_place = (loose - _OURS) / (_BORROWED - _OURS)
    jumbled = np.clip(unlike_english, 0.0, 1.0) * np.clip(out_of_place, 0.0, 1.0)
    return float(1 - (1 - _LEFT) * jumbled)


def _loose(ours: Sequence[str], theirs: Sequence[str]) -> float:
    """Share of our words that they have, less the share of our neighbours that they have."""
    words = (Counter(ours) & Counter(theirs)).total() / len(ours)
    neighbours = (Counter(pairwise(ours)) & Counter(pairwise(theirs))).total() / (len(ours) - 1)
    return words - neighbours
