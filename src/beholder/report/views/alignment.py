"""The alignment of two texts chunk by chunk: similarity matrix, mapping windows, matches."""

from __future__ import annotations

import base64
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from beholder.records import ItemScore, Side
from beholder.report.marking import stands_in

MAX_SIDE = 120
"""Cells a side of the drawn matrix; a longer side is drawn in blocks by their highest cell."""


def alignment(score: ItemScore) -> Mapping[str, object]:
    """The page's data of an alignment.

    ``rows`` are the reference's chunks, ``columns`` the candidate's. ``cells`` are bytes in
    base64, 0 at ``low`` and 255 at ``high``, in ``shape``. ``units`` gives per side the place of
    each chunk's unit in the item's list of units.
    """
    detail = score.detail
    matrix = np.asarray(detail["similarity"], dtype=np.float32)
    pooled = _pool(matrix)
    low, high = float(pooled.min()), float(pooled.max())
    cells = np.rint((pooled - low) / ((high - low) or 1.0) * 255).astype(np.uint8)
    return {
        "rows": matrix.shape[0],
        "columns": matrix.shape[1],
        "reference": int(detail["reference_index"]),
        "shape": list(cells.shape),
        "cells": base64.b64encode(cells.tobytes()).decode("ascii"),
        "low": low,
        "high": high,
        "windows": detail["windows"],
        "matches": detail["matches"],
        "units": chunk_units(score),
    }


def chunk_units(score: ItemScore) -> dict[Side, list[int]]:
    """Places in ``score.units`` of the aligned chunks of each side, in order."""
    reference_index = int(score.detail["reference_index"])

    def on(side: Side) -> list[int]:
        return [
            key for key, unit in enumerate(score.units) if stands_in(unit, side, reference_index)
        ]

    return {"candidate": on("candidate"), "reference": on("reference")}


def _pool(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    for axis in (0, 1):
        n = matrix.shape[axis]
        if n > MAX_SIDE:
            starts = np.arange(MAX_SIDE) * n // MAX_SIDE
            matrix = np.maximum.reduceat(matrix, starts, axis=axis)
    return matrix
