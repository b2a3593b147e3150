"""What a report draws of PoSh: the graphs, with the unit of each of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beholder.language.graph import SceneGraph
from beholder.metrics.posh.plan import Plan
from beholder.records import Span, Unit


def graphs_detail(plan: Plan, units: Sequence[Unit]) -> dict[str, Any]:
    """``ItemScore.detail`` of PoSh.

    Returns:
        A dict with the keys

        - ``view``: ``"scene_graph"``.
        - ``presence_threshold``: grade from which a unit is present.
        - ``peers``: what the references recall of one another, 1 where that does not count.
        - ``graphs``: the candidate's graph, then one per reference. Each has ``nodes``, with
          ``name``, ``unit`` (place in the item's units, or None) and ``attributes`` (places), and
          ``edges``: rows of subject, object, words, and place in the units or None.
    """
    graphs = [_graph(plan.candidate, [u if u.side == "candidate" else None for u in units])]
    for index, graph in enumerate(plan.references):
        own = [u if u.side == "reference" and u.reference_index == index else None for u in units]
        graphs.append(_graph(graph, own))
    return {
        "view": "scene_graph",
        "presence_threshold": plan.threshold,
        "peers": plan.peers,
        "graphs": graphs,
    }


def _graph(graph: SceneGraph, units: Sequence[Unit | None]) -> dict[str, Any]:
    # A denied unit has a span more than its part of the graph, its last: the first ones tell.
    places: dict[tuple[str, str, tuple[Span, ...]], int] = {}
    for place, unit in enumerate(units):
        if unit is not None:
            places.setdefault((unit.kind, unit.text, unit.spans[:1]), place)

    def place_of(kind: str, text: str, spans: tuple[Span, ...]) -> int | None:
        return places.get((kind, text, spans[:1]))

    nodes: list[dict[str, Any]] = [
        {
            "name": entity.name,
            "unit": place_of("entity", entity.name, tuple(m.span for m in entity.mentions)),
            "attributes": [],
        }
        for entity in graph.entities
    ]
    for attribute in graph.attributes:
        found = place_of("attribute", attribute.text, attribute.spans)
        if found is not None:
            nodes[attribute.entity]["attributes"].append(found)
    edges = [
        [r.subject, r.object, r.text, place_of("relation", r.text, r.spans)]
        for r in graph.relations
    ]
    return {"nodes": nodes, "edges": edges}
