from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import pytest

from beholder.language import (
    Attribute,
    Entity,
    Mention,
    Relation,
    SceneGraph,
    parse,
    scene_graph,
)
from beholder.report import graph_svg, graph_text

TEXT = (
    "A tall man holds a red cup. There are no dogs. A <b>cat</b> sits & waits."
)


def make_graph(n: int) -> SceneGraph:
    entities = tuple(
        Entity(
            i,
            f"thing number {i}",
            "thing",
            (Mention(f"thing number {i}", (0, 1), 0),),
        )
        for i in range(n)
    )
    relations = tuple(
        Relation(
            i,
            (i * 7 + 1) % n,
            "stands next to",
            "stand next to",
            ((0, 1),),
            0,
            "verb",
        )
        for i in range(0, n, 2)
    )
    attributes = tuple(
        Attribute(i, "very dark red", "red", ((0, 1),), 0) for i in range(n)
    )
    return SceneGraph("x", entities, attributes, relations)


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    root = ElementTree.fromstring(svg)
    rectangles = root.iter("{http://www.w3.org/2000/svg}rect")
    sides = ("x", "y", "width", "height")
    return [tuple(float(r.get(side, 0)) for side in sides) for r in rectangles]  # type: ignore[misc]


@pytest.mark.parametrize("n", [1, 2, 30, 60])
def test_boxes_do_not_overlap(n: int) -> None:
    entity_boxes = boxes(graph_svg(make_graph(n)))
    assert len(entity_boxes) == n
    for (x, y, w, h), (x2, y2, w2, h2) in combinations(entity_boxes, 2):
        assert (
            x + w <= x2 + 1
            or x2 + w2 <= x + 1
            or y + h <= y2 + 1
            or y2 + h2 <= y + 1
        )


def test_words_of_arrows_overlap_no_box_and_no_other_words() -> None:
    entities = make_graph(8).entities
    relations = tuple(
        Relation(
            i,
            (i + step) % 8,
            "stands next to",
            "stand next to",
            ((0, 1),),
            0,
            "verb",
        )
        for i in range(8)
        for step in (1, 3)
    )
    svg = graph_svg(SceneGraph("x", entities, (), relations))
    texts = ElementTree.fromstring(svg).iter(
        "{http://www.w3.org/2000/svg}text"
    )
    wide, high = 14 * 5.5, 10.0  # of 14 letters at 11 pixels
    words = [
        (
            float(t.get("x", 0)) - wide / 2,
            float(t.get("y", 0)) - high,
            wide,
            high,
        )
        for t in texts
        if t.get("class") == "r"
    ]
    assert len(words) == 16
    entity_boxes = boxes(svg)
    for (x, y, w, h), (x2, y2, w2, h2) in combinations(
        entity_boxes + words, 2
    ):
        assert (
            x + w <= x2 + 1
            or x2 + w2 <= x + 1
            or y + h <= y2 + 1
            or y2 + h2 <= y + 1
        )


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
    assert graph_text(
        scene_graph(parse("A tall man holds no cup."))
    ).splitlines() == [
        "man [0]: tall",
        "    not holds -> cup [1]",
        "cup [1] (not there)",
    ]


def test_a_box_has_room_for_its_longest_line_and_all_its_rows() -> None:
    # Letters are 6.6 wide, 18 at the sides; rows 15 high, 12 above and below.
    mention = Mention("Umbrella", (0, 8), 0)
    entity = Entity(0, "umbrella", "umbrella", (mention,), quantity="two")
    attributes = (Attribute(0, "wet", "wet", ((0, 1),), 0),)
    ((_, _, width, height),) = boxes(
        graph_svg(SceneGraph("x", (entity,), attributes, ()))
    )
    assert width == round(len("two umbrella") * 6.6 + 18)
    assert height == 15 * 2 + 12
    ox = Entity(0, "ox", "ox", (Mention("ox", (0, 2), 0),))
    ((_, _, narrow, low),) = boxes(graph_svg(SceneGraph("x", (ox,), (), ())))
    assert (narrow, low) == (
        round(3 * 6.6 + 18),
        27,
    )  # never narrower than three letters


def test_a_single_box_is_in_the_middle_of_its_picture() -> None:
    ox = Entity(0, "ox", "ox", (Mention("ox", (0, 2), 0),))
    svg = graph_svg(SceneGraph("x", (ox,), (), ()))
    root = ElementTree.fromstring(svg)
    (x, y, width, height) = boxes(svg)[0]
    assert (x, y) == (24, 24)
    assert float(root.get("width", 0)) == pytest.approx(width + 48, abs=1)
    assert float(root.get("height", 0)) == pytest.approx(height + 48, abs=1)


def test_long_attributes_are_wrapped_before_22_letters() -> None:
    entity = Entity(0, "wall", "wall", (Mention("wall", (0, 4), 0),))
    for text, lines in (
        ("covered with small green leaves", ["covered with small", "green leaves"]),
        ("a" * 10 + " " + "b" * 11, ["a" * 10 + " " + "b" * 11]),
        ("a" * 10 + " " + "b" * 12, ["a" * 10, "b" * 12]),
        ("x" * 40, ["x" * 40]),
    ):  # fmt: skip
        attribute = Attribute(0, text, text, ((0, 1),), 0)
        svg = graph_svg(SceneGraph("x", (entity,), (attribute,), ()))
        root = ElementTree.fromstring(svg)
        drawn = [
            "".join(part.itertext())
            for part in root.iter("{http://www.w3.org/2000/svg}text")
        ]
        assert drawn == ["wall", *lines]


def test_denied_facts_are_struck_through_and_the_picture_has_a_frame_of_its_own() -> (
    None
):
    entities = (
        Entity(
            0, "image", "image", (Mention("image", (0, 5), 0),), kind="picture"
        ),
        Entity(
            1, "dog", "dog", (Mention("dogs", (6, 10), 0),), polarity=False
        ),
    )
    root = ElementTree.fromstring(graph_svg(SceneGraph("x", entities, (), ())))
    space = "{http://www.w3.org/2000/svg}"
    class_by_text = {t.text: t.get("class") for t in root.iter(f"{space}text")}
    assert class_by_text == {"image": "n", "dogs": "n no"}
    framed = [g for g in root.iter(f"{space}g") if g.get("class") == "p"]
    assert [t.text for g in framed for t in g.iter(f"{space}text")] == [
        "image"
    ]
    open_door = scene_graph(parse("The door is not open."))
    words = ElementTree.fromstring(graph_svg(open_door)).iter(f"{space}text")
    assert {t.text: t.get("class") for t in words} == {
        "door": "n",
        "open": "a no",
    }


def test_arrows_begin_and_end_at_the_border_of_their_boxes() -> None:
    svg = graph_svg(scene_graph(parse("A man holds a cup.")))
    path = next(
        p for p in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}path")
        if p.get("class") == "e"
    )  # fmt: skip
    numbers = [float(n) for n in re.findall(r"-?\d+", path.get("d", ""))]
    for (px, py), (x, y, w, h) in zip(
        (numbers[:2], numbers[:2:-1]), boxes(svg), strict=True
    ):
        assert x - 2 <= px <= x + w + 2
        assert y - 2 <= py <= y + h + 2
        gaps = (abs(px - x), abs(px - x - w), abs(py - y), abs(py - y - h))
        assert min(gaps) <= 2  # on the border, not inside


def test_arrows_that_share_a_stretch_of_boxes_have_lanes_of_their_own() -> (
    None
):
    things = tuple(
        Entity(i, "thing", "thing", (Mention("thing", (0, 1), 0),))
        for i in range(3)
    )
    # Short arrows are near the boxes; two that do not meet share a lane.
    relations = tuple(
        Relation(a, b, "on", "on", ((0, 1),), 0, "preposition")
        for a, b in ((0, 2), (0, 0), (2, 2))
    )
    svg = graph_svg(SceneGraph("x", things, (), relations))
    lanes = [int(lane) for lane in re.findall(r"H(\d+)V", svg)]
    assert len(lanes) == 3
    assert sorted(map(lanes.count, set(lanes))) == [1, 2]
    assert lanes.count(min(lanes)) == 2


def test_relations_of_one_pair_are_written_below_each_other_at_one_arrow() -> (
    None
):
    svg = graph_svg(
        scene_graph(parse("A man holds a cup. The man does not wash the cup."))
    )
    root = ElementTree.fromstring(svg)
    labels = [
        t
        for t in root.iter("{http://www.w3.org/2000/svg}text")
        if t.get("class") == "r"
    ]
    assert [t.text for t in labels] == ["holds", "not wash"]
    assert len({t.get("x") for t in labels}) == 1
    assert float(labels[1].get("y", 0)) - float(
        labels[0].get("y", 0)
    ) == pytest.approx(12, abs=1)
    arrows = [
        p
        for p in root.iter("{http://www.w3.org/2000/svg}path")
        if p.get("class") == "e"
    ]
    assert len(arrows) == 1
