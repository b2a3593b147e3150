"""Regularizers: how much of a narrative score two texts of unequal length get for nothing.

The shorter one text is against the other, the larger the mapping windows and the less an order can
be wrong. The regularizer r is taken off: ``NAS = (NAS_F1 - r) / (1 - r)``, not below 0.
"""

from __future__ import annotations

import math

from beholder.metrics.vcs.windows import mapping_windows


def regularize(nas_f1: float, regularizer: float) -> float:
    """NAS: the narrative score with the regularizer taken off."""
    return (nas_f1 - regularizer) / (1 - regularizer) if nas_f1 > regularizer else 0.0


def _coverage(n_reference: int, n_candidate: int) -> tuple[float, float]:
    """Share of the timeline that the direct windows cover, and the least share possible."""
    precision, recall = mapping_windows(n_reference, n_candidate, exact=False)
    direct = precision if n_reference >= n_candidate else recall
    area = int((direct.ends - direct.starts).sum())
    return area / (n_reference * n_candidate), 1 / max(n_reference, n_candidate)


def window_regularizer(n_reference: int, n_candidate: int, undefined: float) -> float:
    """Paper and package 1.0.0: how far window coverage rises from its least towards one half.

    Args:
        n_reference: Chunks of the reference.
        n_candidate: Chunks of the candidate.
        undefined: The value where the longer side has two chunks and the formula is 0/0. (Where it
            is x/0 the limit, 1, is taken.)
    """
    coverage, least = _coverage(n_reference, n_candidate)
    if least == 1:
        return 0.0
    if least == 0.5:
        return undefined if coverage == least else 1.0
    return min(1.0, max(0.0, (coverage - least) / (0.5 - least)))


def length_regularizer(n_reference: int, n_candidate: int, blend: float, cutoff: float) -> float:
    """Repository head: a blend of window coverage and length imbalance.

    Args:
        n_reference: Chunks of the reference.
        n_candidate: Chunks of the candidate.
        blend: 0 joins both; 1 leaves window coverage alone, -1 length imbalance alone.
        cutoff: Window coverage at which its penalty is 1.
    """
    coverage, least = _coverage(n_reference, n_candidate)
    if cutoff - least > 1e-9:
        window = min(1.0, max(0.0, (coverage - least) / (cutoff - least)))
    elif least >= cutoff:
        window = 0.0 if coverage <= least + 1e-9 else 1.0
    else:
        window = 0.0
    imbalance = length_imbalance(n_reference, n_candidate)
    high, low = max(window, imbalance), min(window, imbalance)
    joined = high * high + low * (1 - high)
    if joined >= 1 - 1e-12:
        return 1.0
    weight = _weight_of_imbalance(joined, window, imbalance)
    weight = (1 - blend) * weight if blend >= 0 else weight + (1 - weight) * -blend
    value: float = 1 - (1 - imbalance) ** weight * (1 - window) ** (1 - weight)
    return min(1.0, max(0.0, value))


def _weight_of_imbalance(joined: float, window: float, imbalance: float) -> float:
    """The weight at which the weighted geometric mean of both gives the joined penalty."""
    log_imbalance = math.log(max(1 - imbalance, 1e-12))
    log_window = math.log(max(1 - window, 1e-12))
    if abs(log_imbalance - log_window) < 1e-12:
        return 0.5
    weight = (math.log(max(1 - joined, 1e-12)) - log_window) / (log_imbalance - log_window)
    return min(1.0, max(0.0, weight))


def length_imbalance(n_reference: int, n_candidate: int) -> float:
    """1 - shorter/longer: 0 for equal lengths, towards 1 for very unequal ones."""
    return 1 - min(n_reference, n_candidate) / max(n_reference, n_candidate)


def squared_imbalance(n_reference: int, n_candidate: int) -> float:
    """Mended rules: the square of the length imbalance.

    It is what the length regularizer gives where windows are narrow, without the term in window
    coverage, which jumps when one chunk is added and is 1 for every text of one or two chunks.
    """
    return length_imbalance(n_reference, n_candidate) ** 2
