"""Words of no language, each with an axis of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beholder.metrics.wording import Reading

NAMES = ("qa", "qb", "qc", "qd")


def reading(words: str, weights: Sequence[float] | None = None) -> Reading:
    """A text of these words; each weighs 1 where no weights are told."""
    tokens = tuple(words.split())
    rows = np.eye(len(NAMES), dtype=np.float32)[
        [NAMES.index(word) for word in tokens]
    ]
    whole = rows.sum(axis=0) if tokens else np.zeros(len(NAMES))
    length = float(np.linalg.norm(whole)) or 1.0
    weights = [1.0] * len(tokens) if weights is None else weights
    return Reading(
        tokens, np.array(weights), rows.reshape(-1, len(NAMES)), whole / length
    )
