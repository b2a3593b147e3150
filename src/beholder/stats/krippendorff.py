"""Krippendorff's alpha: chance-corrected agreement with any raters, levels and gaps."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, TypeAlias, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import ConfigError
from beholder.stats.agreement import Agreement, bootstrap_agreement
from beholder.stats.checks import (
    Floats,
    Resampling,
    cluster_codes,
    matrix,
    one_of,
)
from beholder.stats.ranks import round_values

Measurement: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
_CHUNK_CELLS = 1 << 20


def krippendorff_alpha(
    ratings: ArrayLike | Sequence[Sequence[Any]],
    measurement: Measurement = "interval",
    *,
    clusters: Sequence[Hashable] | None = None,
    **options: Unpack[Resampling],
) -> Agreement:
    """Krippendorff's alpha, ``1 - observed / expected disagreement``.

    Disagreement of two values: ``nominal`` 0 or 1; ``ordinal`` squared distance of mid-ranks among
    all pairable values; ``interval`` squared difference; ``ratio`` squared ``(a - b) / (a + b)``,
    with 0 for two zeros. Source: Krippendorff 2011, *Computing Krippendorff's
    Alpha-Reliability*. The interval resamples items (not Krippendorff's resampling of pairs).

    Args:
        ratings: (n_items, n_raters): rows are items, columns raters. NaN or None is missing.
            Nominal ratings may be any labels, such as texts.
        measurement: Level of measurement.
        clusters: Cluster of each item (its picture); whole clusters are resampled.
        options: See ``Resampling``.

    Returns:
        Alpha: 1 is full agreement, 0 what chance gives, negative is systematic disagreement.
        ``n_items`` counts the items with at least two ratings. None without such items, and when
        all their ratings are equal (nothing could disagree).

    Raises:
        ConfigError: Not a table, infinite ratings, an unknown measurement, or negative values on
            the ratio scale.
    """
    one_of(measurement, _DISAGREEMENTS, "measurement")
    labels = _codes(ratings) if measurement == "nominal" else ratings
    table = round_values(matrix(labels, "ratings", missing=True))
    if measurement == "ratio" and bool((table < 0).any()):
        raise ConfigError(
            f"ratings: the ratio scale has no negative values, got {np.nanmin(table)}"
        )
    paired = (~np.isnan(table)).sum(axis=1) >= 2
    codes = cluster_codes(clusters, len(table))[paired]
    table = table[paired]
    all_equal = "all ratings are equal: nothing could disagree"
    return bootstrap_agreement(
        f"krippendorff-alpha {measurement}",
        lambda rows: _alpha(table[rows], _DISAGREEMENTS[measurement]),
        n_items=len(table),
        n_raters=table.shape[1],
        undefined=all_equal if len(table) else "no item has two ratings",
        **options,
        clusters=codes.tolist(),
    )


Disagreement: TypeAlias = Callable[[Floats, Floats], tuple[Floats, float]]
"""Takes items by raters with NaN, and all pairable values; gives the sum of disagreements over
ordered pairs within each item, and over all ordered pairs of pairable values."""


def _alpha(table: Floats, disagreement: Disagreement) -> float | None:
    rated = ~np.isnan(table)
    pairable = table[rated]
    per_item, total = disagreement(table, pairable)
    if total <= 0.0:
        return None
    n = len(pairable)
    observed = float((per_item / (rated.sum(axis=1) - 1)).sum())
    return 1.0 - (n - 1) * observed / total


def _nominal(table: Floats, pairable: Floats) -> tuple[Floats, float]:
    values, counts = np.unique(pairable, return_counts=True)
    per_item = (~np.isnan(table)).sum(axis=1).astype(np.float64) ** 2
    for value in values:
        per_item -= (table == value).sum(axis=1) ** 2
    return per_item, float(
        len(pairable) ** 2 - (counts.astype(np.float64) ** 2).sum()
    )


def _interval(table: Floats, pairable: Floats) -> tuple[Floats, float]:
    if pairable.min() == pairable.max():
        return np.zeros(len(table)), 0.0
    # Sums of squares of far-off values would lose digits.
    centred = table - pairable.mean()
    sizes = (~np.isnan(table)).sum(axis=1)
    item_mean = np.nansum(centred, axis=1) / sizes
    per_item = (
        2 * sizes * np.nansum((centred - item_mean[:, None]) ** 2, axis=1)
    )
    total = (
        2 * len(pairable) * float(((pairable - pairable.mean()) ** 2).sum())
    )
    return per_item, total


def _ordinal(table: Floats, pairable: Floats) -> tuple[Floats, float]:
    # The ordinal difference, "ranks between the two values", is the distance of mid-ranks.
    _, inverse, counts = np.unique(
        pairable, return_inverse=True, return_counts=True
    )
    middle = np.cumsum(counts) - counts / 2.0
    ranks = np.full(table.shape, np.nan)
    ranks[~np.isnan(table)] = middle[inverse]
    return _interval(ranks, middle[inverse])


def _ratio(table: Floats, pairable: Floats) -> tuple[Floats, float]:
    per_item = np.nansum(
        _ratio_distance(table[:, :, None], table[:, None, :]), axis=(1, 2)
    )
    values, counts = np.unique(pairable, return_counts=True)
    total = 0.0
    step = max(1, _CHUNK_CELLS // len(values))
    for start in range(0, len(values), step):
        part = slice(start, start + step)
        distance = _ratio_distance(values[part, None], values[None, :])
        total += float((counts[part, None] * distance * counts[None, :]).sum())
    return per_item, total


def _ratio_distance(a: Floats, b: Floats) -> Floats:
    total = a + b
    return np.asarray(((a - b) / np.where(total == 0, 1.0, total)) ** 2)


_DISAGREEMENTS: dict[str, Disagreement] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
    "ratio": _ratio,
}


def _codes(
    ratings: ArrayLike | Sequence[Sequence[Any]],
) -> NDArray[np.float64]:
    """Labels of any type as numbers, missing ones as NaN."""
    if isinstance(ratings, np.ndarray) and ratings.dtype.kind in "fiu":
        return np.asarray(ratings, dtype=np.float64)
    try:
        rows = [list(row) for row in cast("Sequence[Sequence[Any]]", ratings)]
    except TypeError as error:
        raise ConfigError(
            f"ratings: expected a table of labels: {error}"
        ) from error
    if len({len(row) for row in rows}) > 1:
        raise ConfigError(
            "ratings: every item needs one entry per rater; use None for missing"
        )
    codes: dict[Any, int] = {}

    def code(label: Any) -> float:
        # NaN is the one value unlike itself.
        missing = label is None or label != label
        return (
            np.nan if missing else float(codes.setdefault(label, len(codes)))
        )

    width = len(rows[0]) if rows else 0
    return np.array(
        [[code(x) for x in row] for row in rows], dtype=np.float64
    ).reshape(-1, width)
