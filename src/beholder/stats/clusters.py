"""Groups of systems that a test cannot tell apart, best group first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from beholder.errors import ConfigError
from beholder.stats.significance import holm


def significance_clusters(
    values: Sequence[float | None],
    p_value: Callable[[int, int], float | None],
    *,
    alpha: float = 0.05,
) -> list[int | None]:
    """Clusters by significance: each holds what cannot be told from its best.

    The best leads cluster 1; all others are tested against it, p corrected by Holm over these
    tests, and those that are not significantly different join. The best of the rest leads the next
    one, and so on. After the greedy clusters of the WMT metrics tasks (Freitag et al. 2023), which
    do not correct.

    Args:
        values: What each system reached, higher is better; None for one without a value.
        p_value: Two-sided p of two systems by place, uncorrected; None where there is no test:
            such two are not told apart.
        alpha: Level from which two are different.

    Returns:
        Number of each system's cluster, from 1; None without a value.

    Raises:
        ConfigError: ``alpha`` is no share, or a p value is outside 0..1.
    """
    if not 0.0 < alpha < 1.0:
        raise ConfigError(f"alpha: expected a share between 0 and 1, got {alpha}")
    found: list[int | None] = [None] * len(values)
    known = [(value, place) for place, value in enumerate(values) if value is not None]
    rest = [place for _, place in sorted(known, key=lambda one: (-one[0], one[1]))]
    number = 0
    while rest:
        number += 1
        leader, *others = rest
        found[leader] = number
        corrected = holm([p_value(leader, place) for place in others])
        rest = []
        for place, p in zip(others, corrected, strict=True):
            if p is None or p >= alpha:
                found[place] = number
            else:
                rest.append(place)
    return found
