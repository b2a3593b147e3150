"""A scene graph as SVG: a box per entity with attributes, an arrow per pair with relations."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple

from beholder.base.grouping import group_by_key
from beholder.language.graph import Attribute, Entity, Relation, SceneGraph

_LETTER = 6.6
"""Width of a letter in pixels at the font size used."""
_LINE = 15
_WORDS_LINE = 12
_WRAP = 22
_MARGIN = 24.0
_GAP = 18.0

_STYLE = (
    (Path(__file__).parent / "templates" / "graph.css")
    .read_text("utf-8")
    .replace("\n", "")
)
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top:.0f} {width:.0f} {height:.0f}" '
    'width="{width:.0f}" height="{height:.0f}"><style>{style}</style>'
    '<defs><marker id="t" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0 0L8 4L0 8z" fill="#9aa9b5"/></marker></defs>'
)


@dataclass(frozen=True, slots=True)
class _Box:
    """An entity with its lines of text, its top and its size in pixels."""

    entity: Entity
    attributes: tuple[tuple[str, bool], ...]
    top: float
    width: float
    height: float


class _Arrow(NamedTuple):
    """Words between two boxes: where the line begins and ends, and the room that it needs."""

    start: tuple[float, float]
    end: tuple[float, float]
    texts: Sequence[str]

    @property
    def middle(self) -> float:
        """Vertical position of the words."""
        return (self.start[1] + self.end[1]) / 2

    @property
    def room(self) -> tuple[float, float]:
        """Top and bottom of the part of a lane that line and words take."""
        half = _WORDS_LINE * len(self.texts) / 2 + 2
        ends = (self.start[1], self.end[1])
        return min(*ends, self.middle - half), max(*ends, self.middle + half)


def graph_svg(graph: SceneGraph) -> str:
    """Return a scene graph as an SVG document, readable up to about 60 entities.

    Boxes stand below each other in the order of the text. Arrows run beside them, each in the
    nearest lane that is free there. Denied facts are struck through; entities of the picture itself
    have a dashed frame.
    """
    # Boxes are stacked at the left. Each lane of arrows takes the width of its
    # longest words, beside the lanes before it; the drawing grows with them to
    # the right, up and down.
    boxes = list(_boxes(graph))
    arrows = list(_arrows(graph, boxes))
    lane_start = max((box.width for box in boxes), default=0.0) + _MARGIN
    parts = [_drawn_box(box) for box in boxes]
    top = 0.0
    bottom = max((box.top + box.height for box in boxes), default=0.0)
    for lane in _lanes(arrows):
        letters = max(len(text) for arrow in lane for text in arrow.texts)
        width = letters * _LETTER * 0.9 + _GAP
        # Lines come first, so that no line is drawn over words.
        parts = [
            *(_line(arrow, lane_start + width / 2) for arrow in lane),
            *parts,
            *(_words(arrow, lane_start + width / 2) for arrow in lane),
        ]
        lane_start += width
        top = min(top, *(arrow.room[0] for arrow in lane))
        bottom = max(bottom, *(arrow.room[1] for arrow in lane))
    head = _HEAD.format(
        top=top,
        width=lane_start + _MARGIN,
        height=bottom + _MARGIN - top,
        style=_STYLE,
    )
    return "".join([head, *parts, "</svg>"])


def _boxes(graph: SceneGraph) -> Iterator[_Box]:
    top = _MARGIN
    for entity in graph.entities:
        rows = [
            (part, attribute.polarity)
            for attribute in graph.attributes_of(entity.index)
            for part in textwrap.wrap(
                attribute.text,
                _WRAP,
                break_long_words=False,
                break_on_hyphens=False,
            )
        ]
        # Letters have one estimated width, because the browser that draws them
        # is not known; three letters at least, so that a box is visible.
        widest = max(len(_title(entity)), *(len(text) for text, _ in rows), 3)
        height = _LINE * (1 + len(rows)) + 12.0
        yield _Box(entity, tuple(rows), top, widest * _LETTER + 18, height)
        top += height + _GAP


def _arrows(graph: SceneGraph, boxes: Sequence[_Box]) -> Iterator[_Arrow]:
    """Yield an arrow for each pair with relations; it leaves a box above those that end there."""
    texts_by_pair = group_by_key(
        ((relation.subject, relation.object), _stated(relation))
        for relation in graph.relations
    )
    for (subject, target), texts in texts_by_pair.items():
        # An arrow leaves at 0.3 of the height and ends at 0.7, so that both
        # are distinct at one box.
        start, end = (
            (_MARGIN + box.width, box.top + box.height * share)
            for box, share in ((boxes[subject], 0.3), (boxes[target], 0.7))
        )
        yield _Arrow(start, end, texts)


def _lanes(arrows: Sequence[_Arrow]) -> list[list[_Arrow]]:
    """Assign arrows to lanes in which no two overlap; short arrows are in inner lanes."""
    lanes: list[list[_Arrow]] = []
    # Short arrows first: each takes the first lane in which its room is free.
    for arrow in sorted(
        arrows, key=lambda arrow: arrow.room[1] - arrow.room[0]
    ):
        low, high = arrow.room
        for lane in lanes:
            rooms = (neighbour.room for neighbour in lane)
            if all(high < start or end < low for start, end in rooms):
                lane.append(arrow)
                break
        else:
            lanes.append([arrow])
    return lanes


def _title(entity: Entity) -> str:
    name = (
        entity.mentions[0].text.lower()
        if entity.member_of is None
        else entity.name
    )
    return f"{entity.quantity} {name}" if entity.quantity else name


def _line(arrow: _Arrow, lane: float) -> str:
    (x1, y1), (x2, y2) = arrow.start, arrow.end
    return (
        f'<path class="e" marker-end="url(#t)" '
        f'd="M{x1:.0f} {y1:.0f}H{lane:.0f}V{y2:.0f}H{x2:.0f}"/>'
    )


def _words(arrow: _Arrow, lane: float) -> str:
    first = arrow.middle + 4 - _WORDS_LINE * (len(arrow.texts) - 1) / 2
    return "".join(
        f'<text class="r" text-anchor="middle" x="{lane:.0f}" '
        f'y="{first + _WORDS_LINE * number:.0f}">{escape(text)}</text>'
        for number, text in enumerate(arrow.texts)
    )


def _drawn_box(box: _Box) -> str:
    middle = _MARGIN + box.width / 2
    kind = ' class="p"' if box.entity.kind == "picture" else ""
    lines = [
        ("n", _title(box.entity), box.entity.polarity),
        *(("a", text, polarity) for text, polarity in box.attributes),
    ]
    rows = "".join(
        f"<text class='{name}{'' if polarity else ' no'}' text-anchor='middle' "
        f"x='{middle:.0f}' y='{box.top + 18 + _LINE * number:.0f}'>{escape(text)}</text>"
        for number, (name, text, polarity) in enumerate(lines)
    )
    return (
        f"<g{kind}><rect x='{_MARGIN:.0f}' y='{box.top:.0f}' width='{box.width:.0f}' "
        f"height='{box.height:.0f}'/>{rows}</g>"
    )


def graph_text(graph: SceneGraph) -> str:
    """Return a line per entity with its attributes, then a line per relation from it."""
    lines = []
    for entity in graph.entities:
        attributes = ", ".join(map(_stated, graph.attributes_of(entity.index)))
        lines.append(
            _entity(entity) + (f": {attributes}" if attributes else "")
        )
        for relation in graph.relations:
            if relation.subject == entity.index:
                target = graph.entities[relation.object]
                lines.append(
                    f"    {_stated(relation)} -> {target.name} [{target.index}]"
                )
    return "\n".join(lines)


def _entity(entity: Entity) -> str:
    notes = [entity.quantity] if entity.quantity else []
    notes += ["not there"] if not entity.polarity else []
    notes += [entity.kind] if entity.kind != "thing" else []
    notes += (
        [f"one of [{entity.member_of}]"]
        if entity.member_of is not None
        else []
    )
    return f"{entity.name} [{entity.index}]" + (
        f" ({', '.join(notes)})" if notes else ""
    )


def _stated(fact: Attribute | Relation) -> str:
    return fact.text if fact.polarity else f"not {fact.text}"
