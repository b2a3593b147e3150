"""Soft alignment of words: what graphs miss, such as a parse gone wrong, words still tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beholder.judges.builtin.judge import view
from beholder.text import frequency


@dataclass(frozen=True, slots=True)
class Wording:
    """How near the words of a candidate and its references come.

    Attributes:
        precision: Mean over the candidate's words of the best similarity to a word of any
            reference, words weighted by how much they say; 0..1.
        recalls: The same for each reference's words in the candidate.
    """

    precision: float
    recalls: tuple[float, ...]


def wording(candidate: str, references: Sequence[str]) -> Wording:
    """Align all words of a candidate with those of each reference, regardless of order."""
    own = view(candidate)
    weights = np.array([frequency.weight(word) for word in own.words])
    best = np.zeros(len(weights))
    recalls = []
    for text in references:
        other = view(text)
        if not other.words or not own.words:
            recalls.append(0.0)
            continue
        similarity = np.clip(own.word_vectors @ other.word_vectors.T, 0.0, 1.0)
        best = np.maximum(best, similarity.max(axis=1))
        theirs = np.array([frequency.weight(word) for word in other.words])
        recalls.append(float(similarity.max(axis=0) @ theirs / theirs.sum()))
    total = weights.sum()
    return Wording(float(best @ weights / total) if total else 0.0, tuple(recalls))
