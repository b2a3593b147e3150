"""Two strips one above the other, with lines between the pictures that warping puts together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SIDE, GAP, BETWEEN, LEFT = 62, 8, 74, 4


@dataclass(frozen=True, slots=True)
class StripTile:
    """A picture of an aligned strip: its corner, index and id."""

    x: float
    y: float
    frame: int
    id: str


@dataclass(frozen=True, slots=True)
class AlignedStrips:
    """Geometry of an alignment, in units of its view box.

    Attributes:
        above: Id of the narrative above.
        source: What made it.
        below: Id of the human narrative below.
        normalised: Cost per step of the warping path.
        tiles: Pictures of both.
        lines: x above and x below of each aligned pair.
        width: Of the view box.
        height: Of the view box.
    """

    above: str
    source: str
    below: str
    normalised: float
    tiles: tuple[StripTile, ...]
    lines: tuple[tuple[float, float], ...]
    width: float
    height: float
    top: float = SIDE
    bottom: float = SIDE + BETWEEN


def alignments(study: Mapping[str, Any]) -> list[AlignedStrips]:
    """Per source that is not human, the narrative in the middle of its distances."""
    by_source: dict[str, list[Mapping[str, Any]]] = {}
    for narrative in study["narratives"]:
        if narrative["nearest"] is not None:
            by_source.setdefault(narrative["source"], []).append(narrative)
    middles = []
    for found in by_source.values():
        ordered = sorted(found, key=lambda n: (n["nearest"]["normalised"], n["id"]))
        middles.append(ordered[(len(ordered) - 1) // 2])
    return [_aligned(study, narrative) for narrative in middles]


def _aligned(study: Mapping[str, Any], narrative: Mapping[str, Any]) -> AlignedStrips:
    other = study["narratives"][narrative["nearest"]["narrative"]]
    above, below = narrative["frames"], other["frames"]
    tiles = [_tile(study, frame, i, 0) for i, frame in enumerate(above)]
    tiles += [_tile(study, frame, j, SIDE + BETWEEN) for j, frame in enumerate(below)]
    return AlignedStrips(
        above=narrative["id"],
        source=narrative["source"],
        below=other["id"],
        normalised=narrative["nearest"]["normalised"],
        tiles=tuple(tiles),
        lines=tuple((_x(i) + SIDE / 2, _x(j) + SIDE / 2) for i, j in narrative["nearest"]["path"]),
        width=2 * LEFT + max(len(above), len(below)) * (SIDE + GAP) - GAP,
        height=2 * SIDE + BETWEEN,
    )


def _x(place: int) -> float:
    return LEFT + place * (SIDE + GAP)


def _tile(study: Mapping[str, Any], frame: int, place: int, y: float) -> StripTile:
    return StripTile(_x(place), y, frame, study["frames"][frame]["id"])
