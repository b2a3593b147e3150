"""Scene graphs of both texts, with the verdict of each part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beholder.records import ItemScore
from beholder.visible import visible

MAX_NODES = 200
"""Maximum of entities drawn per graph; the page states how many are left out."""


def scene_graph(score: ItemScore) -> Mapping[str, object]:
    """The page's data of PoSh's graphs.

    ``graphs`` are the candidate's, then one per reference; each has ``nodes`` with ``name``,
    ``unit`` (place in the item's units or null) and ``attributes`` (places), ``edges`` (subject,
    object, words, place or null), and ``cut``, how many entities are left out.
    """
    return {"graphs": [_graph(graph) for graph in score.detail["graphs"]]}


def _graph(graph: Mapping[str, Any]) -> Mapping[str, object]:
    nodes = graph["nodes"][:MAX_NODES]
    n = len(nodes)
    return {
        "nodes": [{**node, "name": visible(node["name"])} for node in nodes],
        "edges": [
            [subject, target, visible(text), unit]
            for subject, target, text, unit in graph["edges"]
            if subject < n and target < n
        ],
        "cut": len(graph["nodes"]) - n,
    }
