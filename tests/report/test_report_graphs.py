from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import combinations

import pytest

from beholder.language import Attribute, Entity, Mention, Relation, SceneGraph, parse, scene_graph
from beholder.report import graph_svg, graph_text

TEXT = "A tall man holds a red cup. There are no dogs. A <b>cat</b> sits & waits."


def big(n: int) -> SceneGraph:
    entities = tuple(
        Entity(i, f"thing number {i}", "thing", (Mention(f"thing number {i}", (0, 1), 0),))
        for i in range(n)
    )
    relations = tuple(
        Relation(i, (i * 7 + 1) % n, "stands next to", "stand next to", ((0, 1),), 0, "verb")
        for i in range(0, n, 2)
    )
    attributes = tuple(Attribute(i, "very dark red", "red", ((0, 1),), 0) for i in range(n))
    return SceneGraph("x", entities, attributes, relations)


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    root = ElementTree.fromstring(svg)
    rectangles = root.iter("{http://www.w3.org/2000/svg}rect")
    sides = ("x", "y", "width", "height")
    return [tuple(float(r.get(side, 0)) for side in sides) for r in rectangles]  # type: ignore[misc]


@pytest.mark.parametrize("n", [1, 2, 30, 60])
def test_boxes_do_not_overlap(n: int) -> None:
    drawn = boxes(graph_svg(big(n)))
    assert len(drawn) == n
    for (x, y, w, h), (x2, y2, w2, h2) in combinations(drawn, 2):
        assert x + w <= x2 + 1 or x2 + w2 <= x + 1 or y + h <= y2 + 1 or y2 + h2 <= y + 1


def test_drawing_is_well_formed_escaped_and_repeatable() -> None:
    graph = scene_graph(parse(TEXT))
    svg = graph_svg(graph)
    assert svg == graph_svg(graph)
    words = " ".join(ElementTree.fromstring(svg).itertext())
    for word in ("tall", "man", "holds", "red", "cup", "dogs"):
        assert word in words


def test_empty_graph_is_drawn() -> None:
    assert boxes(graph_svg(SceneGraph("", (), (), ()))) == []


def test_text_shows_entities_attributes_and_relations() -> None:
    assert graph_text(scene_graph(parse("A tall man holds no cup."))).splitlines() == [
        "man [0]: tall",
        "    not holds -> cup [1]",
        "cup [1] (not there)",
    ]
