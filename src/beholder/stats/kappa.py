"""Cohen's and Fleiss' kappa: chance-corrected agreement on categories."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, TypeAlias, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import ConfigError
from beholder.stats.agreement import Agreement, bootstrap_agreement
from beholder.stats.checks import Floats, Ints, Resampling, matrix, one_of

Weighting: TypeAlias = Literal["none", "linear", "quadratic"]


def cohen_kappa(
    a: Sequence[Any] | NDArray[Any],
    b: Sequence[Any] | NDArray[Any],
    *,
    weights: Weighting = "none",
    categories: Sequence[Any] | None = None,
    clusters: Sequence[Hashable] | None = None,
    **options: Unpack[Resampling],
) -> Agreement:
    """Cohen's kappa of two raters, plain or weighted.

    ``1 - observed / expected disagreement``, where disagreement is 0 or 1 (``none``), or the
    distance of the categories' places (``linear``) or its square (``quadratic``). Source: Cohen
    1960 and 1968.

    Args:
        a: (n,) labels of the first rater.
        b: (n,) labels of the second.
        weights: Scheme of the distances between categories.
        categories: All categories in their order; needed with weights when labels are not
            numbers. Default: the labels seen, sorted.
        clusters: Cluster of each item (its picture); whole clusters are resampled.
        options: See ``Resampling``.

    Returns:
        Kappa: 1 full agreement, 0 chance, negative worse. None without items and when both
        raters give one and the same category throughout.

    Raises:
        ConfigError: Different lengths, a missing label, an unknown weighting, or a label outside
            ``categories``.
    """
    one_of(weights, get_args(Weighting), "weights")
    first, second = (
        v.tolist() if isinstance(v, np.ndarray) else list(v) for v in (a, b)
    )
    if len(first) != len(second):
        raise ConfigError(
            f"expected two lists of one length, got {len(first)} and {len(second)}"
        )
    try:
        order = _order(first + second, categories, weights)
    except TypeError as error:
        raise ConfigError(
            f"labels: expected numbers or texts: {error}"
        ) from error
    rows, columns = (
        np.array([order[x] for x in v], dtype=np.int64)
        for v in (first, second)
    )
    # Distances of places in the order; with power 0 all are 1 but those of equal categories.
    places = np.arange(len(order), dtype=np.float64)
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    distance = np.abs(np.subtract.outer(places, places)) ** power
    np.fill_diagonal(distance, 0.0)
    return bootstrap_agreement(
        "cohen-kappa" if weights == "none" else f"cohen-kappa {weights}",
        lambda items: kappa_of(rows[items], columns[items], distance),
        n_items=len(first),
        n_raters=2,
        undefined=(
            "both raters give one and the same category"
            if first
            else "no items"
        ),
        **options,
        clusters=clusters,
    )


def kappa_of(x: Ints, y: Ints, distance: Floats) -> float | None:
    """Cohen's kappa; None if chance leaves no disagreement.

    Args:
        x: (n,) categories by the first rater, as numbers from 0.
        y: (n,) the same by the second.
        distance: (k, k) disagreement of two categories, from 0.
    """
    share_x, share_y = (
        np.bincount(v, minlength=len(distance)) / len(x) for v in (x, y)
    )
    expected = float((share_x[:, None] * distance * share_y[None, :]).sum())
    return (
        1.0 - float(distance[x, y].mean()) / expected if expected > 0 else None
    )


def _order(
    labels: list[Any], categories: Sequence[Any] | None, weights: str
) -> dict[Any, int]:
    if any(x is None or x != x for x in labels):
        raise ConfigError(
            "labels: missing ones are not allowed; leave such items out"
        )
    if categories is not None:
        order = {category: i for i, category in enumerate(categories)}
        unknown = [x for x in labels if x not in order]
        if unknown:
            raise ConfigError(
                f"labels: {unknown[0]!r} is not among the categories {list(order)}"
            )
        return order
    if weights != "none" and any(isinstance(x, str) for x in labels):
        raise ConfigError(
            "categories: weights need the order of the labels; list all categories in order"
        )
    try:
        return {category: i for i, category in enumerate(sorted(set(labels)))}
    except TypeError:
        # Labels of several types: without weights their order does not matter.
        return {
            category: i for i, category in enumerate(dict.fromkeys(labels))
        }


def fleiss_kappa(
    counts: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    **options: Unpack[Resampling],
) -> Agreement:
    """Fleiss' kappa: items rated by equally many raters, who need not be the same.

    Source: Fleiss 1971. For unequal numbers of ratings use nominal Krippendorff's alpha.

    Args:
        counts: (n_items, n_categories): how many raters chose each category.
        clusters: Cluster of each item (its picture); whole clusters are resampled.
        options: See ``Resampling``.

    Returns:
        Kappa: 1 full agreement, 0 chance, negative worse; ``n_raters`` is the ratings per item.
        None without items and when all ratings fall in one category.

    Raises:
        ConfigError: Counts that are not whole or negative, fewer than two ratings per item, or
            items with different numbers of ratings.
    """
    table = matrix(counts, "counts")
    if bool((table < 0).any()) or bool((table % 1 != 0).any()):
        raise ConfigError(
            "counts: expected how many raters chose each category, whole and >= 0"
        )
    per_item = table.sum(axis=1)
    if len(table) and (per_item.min() != per_item.max() or per_item[0] < 2):
        raise ConfigError(
            "counts: every item needs the same number of ratings, at least 2; they range from "
            f"{per_item.min():.0f} to {per_item.max():.0f}"
        )
    raters = int(per_item[0]) if len(table) else 0
    return bootstrap_agreement(
        "fleiss-kappa",
        lambda items: _fleiss(table[items], raters),
        n_items=len(table),
        n_raters=raters,
        undefined="all ratings fall in one category"
        if len(table)
        else "no items",
        **options,
        clusters=clusters,
    )


def _fleiss(table: Floats, raters: int) -> float | None:
    shares = table.sum(axis=0) / table.sum()
    expected = float((shares**2).sum())
    if shares.max() == 1.0:
        return None
    agreeing = ((table**2).sum(axis=1) - raters) / (raters * (raters - 1))
    return (float(agreeing.mean()) - expected) / (1.0 - expected)
