"""How the parts of VCS are joined: harmonic means, and scaling of one score by another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def harmonic(p: float, q: float) -> float:
    """Harmonic mean, 0 when the two sum to 0."""
    total = p + q
    return 2 * p * q / total if total else 0.0


def f_measure(precision: float, recall: float, beta: float) -> float:
    """F-beta: recall counts beta times as much as precision; 0 when both are 0."""
    weight = beta * beta
    total = weight * precision + recall
    return (1 + weight) * precision * recall / total if total else 0.0


def semantic(global_alignment: float, local_alignment: float) -> float:
    """SAS: global alignment scaled by local alignment, ``(GAS - (1 - LAS)) / LAS``.

    0 when LAS or the numerator is not positive.
    """
    numerator = global_alignment - (1 - local_alignment)
    return numerator / local_alignment if local_alignment > 0 and numerator > 0 else 0.0


def comprehension(semantic_alignment: float, narrative_alignment: float) -> float:
    """VCS: ``(SAS + NAS - 1) / max(SAS, NAS)``; 0 when the numerator is not positive.

    So it is above 0 only if SAS + NAS > 1.
    """
    s, n = semantic_alignment, narrative_alignment
    numerator, denominator = (s - (1 - n), n) if s < n else (n - (1 - s), s)
    return numerator / denominator if numerator > 0 and denominator != 0 else 0.0


def clip(value: float) -> float:
    """The value limited to 0..1."""
    return min(1.0, max(0.0, value))


def best_reference(values: Sequence[Mapping[str, float]], texts: Sequence[str]) -> int:
    """Index of the reference with the highest VCS, whatever the order of the references.

    Of several with the same VCS, the one with the highest SAS, then GAS, LAS and NAS, then the rest
    of the values in their order; if all values are the same, the first text in code points.

    Args:
        values: All values of the candidate against each reference.
        texts: The references.
    """

    def key(place: int) -> tuple[list[float], str]:
        found = values[place]
        first = [found[name] for name in ("vcs", "sas", "gas", "las", "nas")]
        return [-value for value in (*first, *found.values())], texts[place]

    return min(range(len(values)), key=key)


def mean_values(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Mean of each value over the references, exact to the last digit in any order."""
    return {name: math.fsum(each[name] for each in values) / len(values) for name in values[0]}
