"""Agreement of two rankings of systems."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.errors import ConfigError
from beholder.stats.correlation import Correlation, CorrelationKind, correlate


def ranking_correlation(
    gold: Mapping[str, float],
    predicted: Mapping[str, float],
    kind: CorrelationKind = "spearman",
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 12345,
) -> Correlation:
    """Correlation over systems of their gold and predicted scores.

    Args:
        gold: Gold score per system, such as its Elo rating from human battles.
        predicted: Score per system by a metric; the same systems.
        kind: Which coefficient.
        n_resamples: Bootstrap resamples of systems; 0 for no interval.
        level: Confidence level.
        seed: Seed of the resampling.

    Returns:
        As :func:`beholder.stats.correlate`.

    Raises:
        ConfigError: The two do not hold the same systems.
    """
    if gold.keys() != predicted.keys():
        odd = sorted(gold.keys() ^ predicted.keys())
        raise ConfigError(f"systems: gold and predicted differ in {', '.join(odd)}")
    names = list(gold)
    return correlate(
        [gold[s] for s in names],
        [predicted[s] for s in names],
        kind,
        n_resamples=n_resamples,
        level=level,
        seed=seed,
    )
