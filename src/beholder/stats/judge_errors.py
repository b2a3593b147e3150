"""Do judges make the same errors? Correlation of their errors against gold."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.stats.agreement import Agreement
from beholder.stats.checks import matrix, vector
from beholder.stats.correlation import coefficient
from beholder.stats.reliability import mean_pairwise_correlation

ErrorKind: TypeAlias = Literal["signed", "wrong"]


@dataclass(frozen=True, slots=True)
class ErrorCorrelation:
    """Correlation of judges' errors.

    Attributes:
        mean: Mean over pairs of judges, with interval over items.
        pairs: Pearson correlation per pair of judges (columns i < j); None where a judge's errors
            do not vary over the items both judged.
        error: Mean error per judge: signed bias, or share wrong; None for a judge without answers.
        kind: ``signed`` or ``wrong``.
    """

    mean: Agreement
    pairs: dict[tuple[int, int], float | None]
    error: tuple[float | None, ...]
    kind: str


def error_correlation(
    answers: ArrayLike,
    gold: ArrayLike,
    kind: ErrorKind = "signed",
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 12345,
) -> ErrorCorrelation:
    """Pearson correlation between judges of their errors.

    Judges that agree because both are right share no errors; a panel gains only from judges whose
    errors are not correlated. 0: independent errors, 1: a second judge adds nothing.

    Args:
        answers: (n_items, n_judges) answers; NaN or None is missing.
        gold: (n_items,) the truth.
        kind: ``signed``: answer minus gold; ``wrong``: 1 where they differ (for verdicts, coded
            as numbers), which gives the phi coefficient.
        n_resamples: Bootstrap resamples of items.
        level: Confidence level.
        seed: Seed of the resampling.

    Raises:
        ConfigError: Shapes that do not pair, or values that are not finite.
    """
    if kind not in ("signed", "wrong"):
        raise ConfigError(f"kind: expected signed or wrong, got {kind!r}")
    table, truth = matrix(answers, "answers", missing=True), vector(gold, "gold")
    if len(table) != len(truth):
        raise ConfigError(f"answers: {len(table)} items, gold: {len(truth)}")
    errors = table - truth[:, None]
    if kind == "wrong":
        errors = np.where(np.isnan(errors), np.nan, (errors != 0).astype(np.float64))
    mean = mean_pairwise_correlation(errors, n_resamples=n_resamples, level=level, seed=seed)
    pearson = coefficient("pearson")
    rated = ~np.isnan(errors)
    pairs = {}
    for i, j in combinations(range(errors.shape[1]), 2):
        both = rated[:, i] & rated[:, j]
        pairs[i, j] = pearson(errors[both, i], errors[both, j])
    columns = (errors[rated[:, j], j] for j in range(errors.shape[1]))
    error = tuple(float(c.mean()) if len(c) else None for c in columns)
    return ErrorCorrelation(mean, pairs, error, kind)
