"""Views of a score's detail, by the name that the metric gives in ``detail["view"]``.

A view is two halves of one name: a function here that turns a score into JSON for the page, and a
drawing function that ``scripts/view_NAME.js`` adds to the page's ``VIEWS``. ``alignment`` draws two
texts chunk by chunk (similarity matrix, mapping windows, matches), ``scene_graph`` the graphs of
both texts with the verdict of each part.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from beholder.base.visible import make_visible
from beholder.records import ItemScore, Side
from beholder.report.marking import stands_in

MAX_SIDE = 120
"""Cells a side of the drawn matrix; a longer side is drawn in blocks by their highest cell."""


def alignment(score: ItemScore) -> Mapping[str, object]:
    """Return the page's data of an alignment.

    ``rows`` are the reference's chunks, ``columns`` the candidate's. ``cells`` are bytes in
    base64, 0 at ``low`` and 255 at ``high``, in ``shape``. ``units`` gives per side the place of
    each chunk's unit in the item's list of units.
    """
    detail = score.detail
    matrix = np.asarray(detail["similarity"], dtype=np.float32)
    pooled = _pool(matrix)
    # Scaled to a byte each: the page draws colours, and 256 are enough. Equal
    # cells would divide by zero.
    low, high = float(pooled.min()), float(pooled.max())
    cells = np.rint((pooled - low) / ((high - low) or 1.0) * 255).astype(
        np.uint8
    )
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
    """Return the indices in ``score.units`` of the aligned chunks of each side, in order."""
    reference = int(score.detail["reference_index"])
    return {
        side: [
            key
            for key, unit in enumerate(score.units)
            if stands_in(unit, side, reference)
        ]
        for side in get_args(Side)
    }


def _pool(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    # The highest cell of each block, because a match must stay visible.
    for axis in (0, 1):
        n = matrix.shape[axis]
        if n > MAX_SIDE:
            starts = np.arange(MAX_SIDE) * n // MAX_SIDE
            matrix = np.maximum.reduceat(matrix, starts, axis=axis)
    return matrix


MAX_NODES = 200
"""Maximum of entities drawn per graph; the page states how many are left out."""


def scene_graph(score: ItemScore) -> Mapping[str, object]:
    """Return the page's data of PoSh's graphs.

    ``graphs`` are the candidate's, then one per reference; each has ``nodes`` with ``name``,
    ``unit`` (place in the item's units or null) and ``attributes`` (places), ``edges`` (subject,
    object, words, place or null), and ``cut``, how many entities are left out.
    """
    return {"graphs": [_graph(graph) for graph in score.detail["graphs"]]}


def _graph(graph: Mapping[str, Any]) -> Mapping[str, object]:
    # Edges of entities that are left out have no ends to draw.
    nodes = graph["nodes"][:MAX_NODES]
    n = len(nodes)
    return {
        "nodes": [
            {**node, "name": make_visible(node["name"])} for node in nodes
        ],
        "edges": [
            [subject, target, make_visible(text), unit]
            for subject, target, text, unit in graph["edges"]
            if subject < n and target < n
        ],
        "cut": len(graph["nodes"]) - n,
    }


VIEWS: Mapping[str, Callable[[ItemScore], Mapping[str, object]]] = {
    "alignment": alignment,
    "scene_graph": scene_graph,
}


def view_of(score: ItemScore) -> Mapping[str, object] | None:
    """Return the page's data of a score's detail; None if no view draws it."""
    name = score.detail.get("view")
    if not isinstance(name, str) or name not in VIEWS:
        return None
    return {"name": name, **VIEWS[name](score)}


_SCRIPTS = Path(__file__).parent / "scripts"
_ITEM = (
    "base.js",
    "texts.js",
    *(f"view_{name}.js" for name in VIEWS),
    "units.js",
    "item.js",
)


def item_script(last_script: str) -> str:
    """Return the script of an item, followed by ``last_script``; nothing in it is global.

    Args:
        last_script: Runs after the parts of an item; calls ``itemView``.
    """
    parts = [(_SCRIPTS / name).read_text(encoding="utf-8") for name in _ITEM]
    return (
        '(() => {\n"use strict";\n'
        + "\n".join([*parts, last_script])
        + "})();\n"
    )
