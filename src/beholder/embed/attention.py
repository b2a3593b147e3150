"""Attention of whole numbers: the same to the bit with any library, on any processor.

Queries, keys, values and shares are whole numbers of steps, few enough that a float32 counts every
sum of products without rounding; the exponential comes from a table.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from beholder.embed import onnx
from beholder.embed.base import FloatArray
from beholder.embed.whole import EXACT

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
_ROUND = np.float32(1.5 * 2**23)
"""A float32 of this size has no places behind the point."""
_GRID = 2**16
"""Steps of the exponential from 0 to 1, so that the sum of 256 is exact."""


def scales(width: int) -> FloatArray:
    """(3 ``width``,): by this, queries, keys and values are multiplied to be in steps."""
    return np.repeat(np.array([_POINTS, _POINTS, _VALUES], dtype=np.float32), width)


def attend(
    qkv: FloatArray,
    n_heads: int,
    asked: tuple[int, int],
    added: FloatArray | None = None,
    scale: float = 1,
) -> FloatArray:
    """What queries get of values, by how near the keys are: softmax(scale Q K + added) V.

    Args:
        qkv: (texts, k, 3 heads D), queries, keys and values in the steps of ``scales``; they are
            rounded here.
        n_heads: How many heads there are.
        asked: Of each text, the first place whose query counts, and that behind the last.
        added: Added to the scores of queries and keys, in steps of ``STEPS``; minus infinity for
            none. Four axes, which numpy stretches to (texts, heads, q, k).
        scale: What products of queries and keys are multiplied by.

    Returns:
        (texts, q, heads D), in steps of ``SHARED``.
    """
    width = qkv.shape[2] // 3
    asks = np.array(asked, dtype=np.int64)
    given = (qkv, asks[:1], asks[1:]) if added is None else (qkv, asks[:1], asks[1:], added)
    places = _places(width, n_heads, scale, added is not None)(*given)
    # Each is in the table; "wrap" is the mode in which numpy takes least time.
    shares = _exponentials().take(places, mode="wrap")
    found: FloatArray = _mixed(width, n_heads)(qkv, shares)
    return found


@cache
def _places(width: int, n_heads: int, scale: float, is_added: bool) -> onnx.Run:
    """From queries and keys to places in the table of exponentials."""
    inputs = {"qkv": ("float32", "n", "k", 3 * width), "first": ("int64", 1), "last": ("int64", 1)}
    if is_added:
        inputs["added"] = ("float32", "texts", "heads", "queries", "keys")
    graph = onnx.Graph(**inputs)
    most = math.isqrt((EXACT - 1) * n_heads // width)
    asked = graph("Slice", "qkv", "first", "last", [1])
    queries = _heads(graph, asked, (0, width), most, n_heads, (0, 2, 1, 3))
    keys = _heads(graph, "qkv", (width, 2 * width), most, n_heads, (0, 2, 3, 1))
    factor = np.float32(scale * STEPS / _POINTS**2)
    scores = graph("Mul", graph("MatMul", queries, keys), factor)
    if is_added:
        scores = graph("Add", scores, "added")
    below = graph("Sub", graph("ReduceMax", scores, [3], keepdims=1), scores)
    places = graph("Clip", below, np.float32(0), np.float32(_DEEP * STEPS))
    return graph.session(graph("Cast", places, to=onnx.INT32), "int32")


@cache
def _mixed(width: int, n_heads: int) -> onnx.Run:
    """From values and their shares, of any sum, to what queries get."""
    graph = onnx.Graph(
        qkv=("float32", "n", "k", 3 * width), shares=("float32", "n", n_heads, "q", "k")
    )
    values = _heads(graph, "qkv", (2 * width, 3 * width), _MOST, n_heads, (0, 2, 1, 3))
    total = graph("ReduceSum", "shares", [3], keepdims=1)
    shares = graph("Mul", "shares", graph("Div", np.float32(_SHARES), total))
    mixed = graph("MatMul", _rounded(graph, shares), values)
    mixed = graph("Transpose", mixed, perm=(0, 2, 1, 3))
    return graph.session(graph("Reshape", mixed, [0, 0, width]))


def _heads(
    graph: onnx.Graph,
    rows: str,
    columns: tuple[int, int],
    most: int,
    n_heads: int,
    order: tuple[int, ...],
) -> str:
    """Some columns of (n, k, 3 heads D), cut and rounded, with axes (n, k, heads, D) in order."""
    first, last = columns
    part = graph("Slice", rows, [first], [last], [2])
    part = _rounded(graph, graph("Clip", part, np.float32(-most), np.float32(most)))
    split = graph("Reshape", part, [0, 0, n_heads, (last - first) // n_heads])
    return graph("Transpose", split, perm=order)


def _rounded(graph: onnx.Graph, numbers: str) -> str:
    """Numbers below 2**22 rounded, to even ones from the middle."""
    return graph("Sub", graph("Add", numbers, _ROUND), _ROUND)


@cache
def _exponentials() -> FloatArray:
    """exp(-x) from 0 to ``_DEEP``, each in the middle of its step, and 0 at the end."""
    found = [round(math.exp(-(x + 0.5) / STEPS) * _GRID) for x in range(_DEEP * STEPS)]
    return np.array([*found, 0], dtype=np.float32)
