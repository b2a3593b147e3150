from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from importlib.util import find_spec
from itertools import combinations

import pytest

from beholder.errors import MissingExtraError
from beholder.language import Attribute, Entity, Mention, Relation, SceneGraph, parse, scene_graph

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
    drawn = boxes(big(n).to_svg())
    assert len(drawn) == n
    for (x, y, w, h), (x2, y2, w2, h2) in combinations(drawn, 2):
        assert x + w <= x2 + 1 or x2 + w2 <= x + 1 or y + h <= y2 + 1 or y2 + h2 <= y + 1


def test_drawing_is_well_formed_escaped_and_repeatable() -> None:
    graph = scene_graph(parse(TEXT))
    svg = graph.to_svg()
    assert svg == graph.to_svg()
    words = " ".join(ElementTree.fromstring(svg).itertext())
    for word in ("tall", "man", "holds", "red", "cup", "dogs"):
        assert word in words


def test_empty_graph_is_drawn() -> None:
    assert boxes(SceneGraph("", (), (), ()).to_svg()) == []


def test_dict_is_json() -> None:
    made = scene_graph(parse(TEXT)).to_dict()
    assert json.loads(json.dumps(made))["entities"][0]["name"] == "man"


def test_text_shows_entities_attributes_and_relations() -> None:
    assert scene_graph(parse("A tall man holds no cup.")).to_text().splitlines() == [
        "man [0]: tall",
        "    not holds -> cup [1]",
        "cup [1] (not there)",
    ]


@pytest.mark.skipif(find_spec("networkx") is not None, reason="networkx is installed")
def test_networkx_is_asked_for_when_absent() -> None:
    with pytest.raises(MissingExtraError, match="networkx"):
        scene_graph(parse("A dog.")).to_networkx()


@pytest.mark.skipif(find_spec("networkx") is None, reason="networkx is not installed")
def test_networkx_graph_has_the_same_parts() -> None:
    made = scene_graph(parse("A tall man holds a cup.")).to_networkx()
    assert [made.nodes[i]["name"] for i in made.nodes] == ["man", "cup"]
    assert [d["predicate"] for _, _, d in made.edges(data=True)] == ["hold"]
