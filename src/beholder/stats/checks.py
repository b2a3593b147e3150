"""Checks on what callers hand in: a statistic either gets usable numbers or an error says why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.base.ranges import check_number
from beholder.errors import ConfigError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Resampling(TypedDict, total=False):
    """Keyword options of every statistic whose interval is a bootstrap.

    Attributes:
        n_resamples: Bootstrap resamples; 1000 if none is given.
        level: Confidence level; 0.95 if none is given.
        seed: Seed of the resampling; the same seed gives the same interval.
    """

    n_resamples: int
    level: float
    seed: int


def floats(
    values: ArrayLike | Sequence[float | None], name: str, expected: str
) -> Floats:
    """A float64 array of any shape.

    Raises:
        ConfigError: The values are not numbers, or rows differ in length.
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{name}: expected {expected}: {error}") from error


def vector(
    values: ArrayLike | Sequence[float | None],
    name: str,
    *,
    missing: bool = False,
) -> Floats:
    """Finite float64 vector of shape (n,); NaN or None is allowed if values may be missing.

    Raises:
        ConfigError: Not one-dimensional, not numbers, or the first NaN or infinity by position.
    """
    array = floats(values, name, "numbers")
    if array.ndim != 1:
        raise ConfigError(
            f"{name}: expected one dimension, got shape {array.shape}"
        )
    bad = np.flatnonzero(np.isinf(array) if missing else ~np.isfinite(array))
    if bad.size:
        raise ConfigError(
            f"{name}: {bad.size} of {array.size} values are not finite, the first is "
            f"{array[bad[0]]} at position {bad[0]}; leave such items out and count them"
        )
    return array


def same_length(**vectors: Floats) -> int:
    """Common length of several vectors.

    Raises:
        ConfigError: They differ in length.
    """
    lengths = {name: len(v) for name, v in vectors.items()}
    if len(set(lengths.values())) != 1:
        raise ConfigError(f"expected vectors of one length, got {lengths}")
    return next(iter(lengths.values()))


def one_of(value: object, choices: Iterable[object], name: str) -> None:
    """Raise an error if a value is not among the choices.

    Raises:
        ConfigError: Names the choices.
    """
    if value not in choices:
        names = ", ".join(map(str, choices))
        raise ConfigError(f"{name}: expected one of {names}, got {value!r}")


def at_least(n: int, least: int, name: str) -> None:
    """Raise an error if there are fewer values than a statistic is defined for.

    Raises:
        ConfigError: Names what was counted.
    """
    if n < least:
        raise ConfigError(f"{name}: needs at least {least}, got {n}")


def cluster_codes(
    clusters: Sequence[Any] | NDArray[Any] | None, n: int
) -> Ints:
    """Cluster index 0..C-1 per value, in the order of the labels; each its own when None.

    The order of rows does not matter: what is resampled by index is resampled by label.

    Raises:
        ConfigError: Not one label per value.
    """
    if clusters is None:
        return np.arange(n, dtype=np.int64)
    labels = (
        clusters.tolist()
        if isinstance(clusters, np.ndarray)
        else list(clusters)
    )
    if len(labels) != n:
        raise ConfigError(
            f"clusters: expected one label per value ({n}), got {len(labels)}"
        )
    # Labels are sorted before they are numbered, so that a bootstrap does not depend on the row
    # order. Types come first: numbers and texts cannot be compared with each other.
    distinct = list(dict.fromkeys(labels))
    try:
        distinct.sort(key=lambda label: (type(label).__name__, label))
    except TypeError:
        # Such as pairs of a text and None.
        distinct.sort(key=repr)
    codes = {label: code for code, label in enumerate(distinct)}
    return np.fromiter((codes[label] for label in labels), np.int64, n)


def n_clusters(codes: Ints) -> int:
    """Return the number of clusters from their indices, 0 if there are none."""
    return int(codes.max(initial=-1)) + 1


def cluster_sums(codes: Ints, values: Floats) -> Floats:
    """Sum of ``values`` per cluster, shape (C,)."""
    return np.asarray(np.bincount(codes, weights=values), dtype=np.float64)


def cluster_rows(codes: Ints, rows: Floats) -> Floats:
    """Sums of rows, (n, k), per cluster: (C, k)."""
    return np.stack([cluster_sums(codes, column) for column in rows.T], axis=1)


def resampling(
    n_resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> None:
    """Raise an error if these settings cannot give an interval.

    Raises:
        ConfigError: Fewer than 1 resample, or a level outside 0..1.
    """
    check_number("n_resamples", n_resamples, 1, whole=True)
    check_number(
        "level", level, 0, 1, above=True, below=True, hint="0.95 is usual"
    )


def matrix(values: ArrayLike, name: str, *, missing: bool = False) -> Floats:
    """Float64 matrix of shape (n_items, n_raters).

    Args:
        values: Rows are items, columns raters. NaN or None is a missing rating.
        name: Name for messages.
        missing: Whether missing ratings are allowed.

    Raises:
        ConfigError: Not two-dimensional, not numbers, infinite, or missing where not allowed.
    """
    array = floats(values, name, "a table of numbers")
    if array.ndim != 2:
        raise ConfigError(
            f"{name}: expected shape (n_items, n_raters), got shape {array.shape}"
        )
    bad = np.argwhere(np.isinf(array) if missing else ~np.isfinite(array))
    if len(bad):
        row, column = bad[0]
        advice = (
            ""
            if missing
            else "; leave the item out, or use a statistic for missing ratings"
        )
        raise ConfigError(
            f"{name}: {len(bad)} ratings are missing or not finite, the first is "
            f"{array[row, column]} at item {row}, rater {column}{advice}"
        )
    return array
