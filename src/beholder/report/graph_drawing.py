"""A scene graph as SVG: a box per entity with attributes, an arrow per pair with relations."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from beholder.base.grouping import by_key
from beholder.language.graph import Attribute, Entity, Relation, SceneGraph

_LETTER = 6.6
"""Width of a letter in pixels at the font size used."""
_LINE = 15
_WRAP = 22
_GAP = 64.0
_LABEL_GAP = 10.0
_LENGTH = 48.0
_ROUNDS = 260

Places: TypeAlias = npt.NDArray[np.float64]
"""Points or sizes, (n, 2) or (2,), in pixels."""

_STYLE = (
    (Path(__file__).parent / "templates" / "graph.css")
    .read_text("utf-8")
    .replace("\n", "")
)


@dataclass(frozen=True, slots=True)
class _Box:
    """An entity with its lines of text and its size in pixels."""

    entity: Entity
    attributes: tuple[tuple[str, bool], ...]
    width: float
    height: float


def graph_svg(graph: SceneGraph) -> str:
    """A scene graph as a stand-alone SVG document, readable up to about 60 entities.

    Boxes are placed by a force layout that is the same at every call. Denied facts are struck
    through; entities of the picture itself have a dashed frame.
    """
    boxes = [_box(graph, entity) for entity in graph.entities]
    labels = _labels(graph)
    # The words of arrows take room as boxes do.
    words = [
        (max(map(len, texts)) * 0.9 * _LETTER, 13.0 * len(texts))
        for texts in labels.values()
    ]
    sizes = np.array(
        [*((box.width, box.height) for box in boxes), *words]
    ).reshape(-1, 2)
    places = _layout(sizes, len(boxes), list(labels))
    if len(boxes):
        low, high = (
            (places - sizes / 2).min(axis=0) - 24,
            (places + sizes / 2).max(axis=0) + 24,
        )
        places = places - low
        width, height = high - low
    else:
        width = height = 40.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}"><style>{_STYLE}</style>',
        '<defs><marker id="t" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#9aa9b5"/></marker></defs>',
    ]
    of_boxes, of_labels = places[: len(boxes)], places[len(boxes) :]
    arrows = [
        _arrow(boxes, of_boxes, pair, words, texts)
        for (pair, texts), words in zip(labels.items(), of_labels, strict=True)
    ]
    parts += [line for line, _ in arrows]
    parts += [
        _drawn_box(box, place)
        for box, place in zip(boxes, of_boxes, strict=True)
    ]
    parts += [text for _, text in arrows]
    return "".join([*parts, "</svg>"])


def _labels(graph: SceneGraph) -> dict[tuple[int, int], list[str]]:
    return by_key(
        ((one.subject, one.object), _stated(one)) for one in graph.relations
    )


def _box(graph: SceneGraph, entity: Entity) -> _Box:
    rows: list[tuple[str, bool]] = []
    for attribute in graph.attributes_of(entity.index):
        rows += [
            (part, attribute.polarity) for part in _wrapped(attribute.text)
        ]
    widest = max(len(_title(entity)), *(len(text) for text, _ in rows), 3)
    return _Box(
        entity,
        tuple(rows),
        widest * _LETTER + 18,
        _LINE * (1 + len(rows)) + 12.0,
    )


def _title(entity: Entity) -> str:
    named = (
        entity.mentions[0].text.lower()
        if entity.member_of is None
        else entity.name
    )
    return f"{entity.quantity} {named}" if entity.quantity else named


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WRAP, break_long_words=False, break_on_hyphens=False
    )


def _layout(sizes: Places, n: int, pairs: list[tuple[int, int]]) -> Places:
    """Centres of n boxes and of the words of their arrows, which stand halfway along them.

    Each connected part is placed by itself, and the parts are packed in rows.
    """
    places = np.zeros_like(sizes)
    halves = ((a, n + k, b) for k, (a, b) in enumerate(pairs))
    edges = [
        half for a, words, b in halves for half in ((a, words), (words, b))
    ]
    gaps = np.where(np.arange(len(sizes)) < n, _GAP, _LABEL_GAP)
    blocks = []
    for part in _parts(len(sizes), edges):
        inner = [
            (part.index(a), part.index(b))
            for a, b in edges
            if a in part and b in part
        ]
        centres = _apart(_force(len(part), inner), sizes[part], gaps[part])
        low = (centres - sizes[part] / 2).min(axis=0)
        high = (centres + sizes[part] / 2).max(axis=0)
        blocks.append((part, centres - low, high - low))
    area = sum(
        float((size[0] + _GAP) * (size[1] + _GAP)) for _, _, size in blocks
    )
    row_width = max(
        [1.5 * area**0.5, *(float(size[0]) for _, _, size in blocks)]
    )
    left = top = row_height = 0.0
    for part, centres, size in sorted(
        blocks, key=lambda block: (-block[2][1], block[0])
    ):
        if left and left + size[0] > row_width:
            left, top, row_height = 0.0, top + row_height + _GAP, 0.0
        places[part] = centres + np.array([left, top])
        left += float(size[0]) + _GAP
        row_height = max(row_height, float(size[1]))
    return places


def _parts(n: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    """The connected parts of a graph, each in order, in the order of their first points."""
    graph = coo_array(
        (np.ones(len(edges)), np.reshape(edges, (-1, 2)).T), shape=(n, n)
    )
    labels = (
        connected_components(graph, directed=False)[1] if n else np.empty(0)
    )
    return [
        np.flatnonzero(labels == label).tolist()
        for label in dict.fromkeys(labels.tolist())
    ]


def _force(n: int, edges: list[tuple[int, int]]) -> Places:
    """Centres by forces: joined points attract, all repel; starts evenly spread, without chance."""
    angle = (
        np.arange(n) * 2.399963
    )  # the golden angle spreads points evenly on a disc
    places: Places = (np.sqrt(np.arange(n) + 0.5) * 90)[:, None] * np.stack(
        [np.cos(angle), 0.7 * np.sin(angle)], axis=1
    )
    joined = np.zeros((n, n))
    for one, other in edges:
        joined[one, other] = joined[other, one] = 1
    for step in range(_ROUNDS if n > 1 else 0):
        offset = places[:, None] - places[None]
        distance = np.sqrt((offset**2).sum(axis=2)) + np.eye(n)
        strength = (
            (_LENGTH / distance) ** 2 - joined * distance / _LENGTH - 0.05
        )
        force = (offset * (strength / distance)[:, :, None]).sum(axis=1) * 20
        longest = np.abs(force).max(axis=1, keepdims=True) + 1e-9
        step_size: Places = np.minimum(1, 30 / longest) * (1 - step / _ROUNDS)
        places += force * step_size
    return places


def _apart(
    places: Places, sizes: Places, gaps: npt.NDArray[np.float64]
) -> Places:
    """Push what overlaps apart, along the axis on which it overlaps least."""
    gap = np.minimum(gaps[:, None], gaps[None])
    room = (sizes[:, None] + sizes[None]) / 2 + np.stack(
        [gap, gap / 2], axis=2
    )
    order = np.arange(len(places))
    earlier = np.where(
        order[:, None] < order[None], -1.0, 1.0
    )  # decides where centres are equal
    for _ in range(_ROUNDS):
        offset = places[:, None] - places[None]
        overlap = room - np.abs(offset)
        hit = (overlap > 0).all(axis=2) & (order[:, None] != order[None])
        if not hit.any():
            break
        axis = np.argmin(overlap / room, axis=2)
        for a in (0, 1):
            sign = np.where(
                offset[:, :, a] == 0, earlier, np.sign(offset[:, :, a])
            )
            shift = np.where(
                hit & (axis == a), sign * overlap[:, :, a] * 0.26, 0.0
            )
            places[:, a] += shift.sum(axis=1)
    return places


def _arrow(
    boxes: list[_Box],
    places: Places,
    pair: tuple[int, int],
    words: Places,
    texts: list[str],
) -> tuple[str, str]:
    """A curve from box to box that runs through the middle of its words, and these."""
    one, other = (_edge(boxes[end], places[end], words) for end in pair)
    middle = 2 * words - (one + other) / 2
    line = (
        f'<path class="e" marker-end="url(#t)" d="M{one[0]:.0f} {one[1]:.0f}'
        f'Q{middle[0]:.0f} {middle[1]:.0f} {other[0]:.0f} {other[1]:.0f}"/>'
    )
    rows = "".join(
        f'<text class="r" text-anchor="middle" x="{words[0]:.0f}" '
        f'y="{words[1] + 4 + 12 * i - 6 * (len(texts) - 1):.0f}">{escape(text)}</text>'
        for i, text in enumerate(texts)
    )
    return line, rows


def _edge(box: _Box, centre: Places, toward: Places) -> Places:
    """Where the line from the centre of a box leaves it."""
    direction = toward - centre
    scale = np.array([box.width / 2, box.height / 2]) / (
        np.abs(direction) + 1e-9
    )
    edge: Places = centre + direction * min(float(scale.min()), 1.0)
    return edge


def _drawn_box(box: _Box, place: Places) -> str:
    left, top = place[0] - box.width / 2, place[1] - box.height / 2
    kind = ' class="p"' if box.entity.kind == "picture" else ""
    name = "n" if box.entity.polarity else "n no"
    rows = [
        f"<g{kind}><rect x='{left:.0f}' y='{top:.0f}' width='{box.width:.0f}' "
        f"height='{box.height:.0f}'/><text class='{name}' text-anchor='middle' "
        f"x='{place[0]:.0f}' y='{top + 18:.0f}'>{escape(_title(box.entity))}</text>"
    ]
    for number, (text, polarity) in enumerate(box.attributes, start=1):
        rows.append(
            f"<text class='a{'' if polarity else ' no'}' text-anchor='middle' x='{place[0]:.0f}' "
            f"y='{top + 18 + _LINE * number:.0f}'>{escape(text)}</text>"
        )
    return "".join([*rows, "</g>"])


def graph_text(graph: SceneGraph) -> str:
    """A line per entity with its attributes, and one below it per relation that begins there."""
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
