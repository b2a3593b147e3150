"""Attention of whole numbers: the same to the bit with any library, on any processor.

Queries, keys, values and shares are whole numbers of steps, few enough that a float32 counts every
sum of products without rounding; the exponential comes from a table.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.whole import EXACT, largest, products_of_stacks, sums

_POINTS, _VALUES, _SHARES = 2**5.5, 2**7, 2**13
"""Steps from 0 to 1 of queries and keys, of values, and of shares."""
SHARED = 1 / (_VALUES * _SHARES)
"""The step of what ``attend`` returns."""
_MOST = 2000
"""The largest value in steps: ``_SHARES`` times it, and what rounding adds to shares, is exact."""
STEPS = 512
"""Steps of the table from 0 to 1."""
_DEEP = 11
"""Shares below exp(-11) count as 0."""
_GRID = 2**16
"""Steps of the exponential from 0 to 1, so that the sum of 256 is exact."""


def scales(width: int) -> FloatArray:
    """(3 ``width``,): by this, queries, keys and values are multiplied to be in steps."""
    return np.repeat(np.array([_POINTS, _POINTS, _VALUES], dtype=np.float32), width)


def round_steps(qkv: FloatArray, n_heads: int) -> FloatArray:
    """Queries, keys and values in steps as (3, n, heads, D) from (n, 3 heads D), in place."""
    n, wide = qkv.shape
    width = wide // 3
    np.rint(qkv, out=qkv)
    most = math.isqrt((EXACT - 1) * n_heads // width)
    points, values = qkv[:, : 2 * width], qkv[:, 2 * width :]
    np.clip(points, -most, most, out=points)
    np.clip(values, -_MOST, _MOST, out=values)
    return qkv.reshape(n, 3, n_heads, -1).swapaxes(0, 1)


def attend(
    queries: FloatArray,
    keys: FloatArray,
    values: FloatArray,
    added: FloatArray | None = None,
    scale: float = 1,
) -> FloatArray:
    """What each query gets of the values, by how near the keys are: softmax(scale K Q + added) V.

    Args:
        queries: (n, heads, D, q), in steps.
        keys: (n, heads, D, k), in steps.
        values: (n, heads, D, k), in steps.
        added: Added to the scores of keys and queries, in steps of ``STEPS``; minus infinity for
            none. A shape that numpy stretches to (n, heads, k, q).
        scale: What products of keys and queries are multiplied by.

    Returns:
        (n, heads, D, q), in steps of ``SHARED``.
    """
    scores = products_of_stacks(keys.swapaxes(2, 3), queries)
    scores *= np.float32(scale * STEPS / _POINTS**2)
    if added is not None:
        scores += added
    np.subtract(largest(scores), scores, out=scores)
    np.clip(scores, 0, _DEEP * STEPS, out=scores)
    shares = _exponentials().take(scores.astype(np.int32))
    shares *= np.float32(_SHARES) / sums(shares)
    np.rint(shares, out=shares)
    return products_of_stacks(values, shares)


@cache
def _exponentials() -> FloatArray:
    """exp(-x) from 0 to ``_DEEP``, each in the middle of its step, and 0 at the end."""
    found = [round(math.exp(-(x + 0.5) / STEPS) * _GRID) for x in range(_DEEP * STEPS)]
    return np.array([*found, 0], dtype=np.float32)
