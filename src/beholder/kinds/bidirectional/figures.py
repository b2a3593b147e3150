"""The figures of a bidirectional study, from its pairs and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from beholder.kinds.bidirectional.contents import contents
from beholder.kinds.bidirectional.difficulty import LEVELS
from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    TextPair,
    by_system,
    having,
    ordered,
    strata,
)
from beholder.kinds.bidirectional.ratings import rated_texts
from beholder.kinds.bidirectional.selectivity import ALL, consensus_by_image
from beholder.kinds.bidirectional.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from beholder.kinds.bidirectional.plots import Box, PlotPanel, Point


def figures(study: Study) -> dict[str, Figure]:
    """The figures that the study has data for, by name."""
    from beholder.kinds.bidirectional.plots import boxes_figure  # matplotlib loads slowly

    found: dict[str, Figure] = {}
    for value in ("f1", "precision", "recall"):
        panels = _score_panels(study, value)
        if panels:
            found[value] = boxes_figure(panels, "F1" if value == "f1" else value.capitalize())
    found |= _rates(study) | _difficulty(study) | _categories(study) | _category_rates(study)
    found |= _consensus(study) | _ratings(study)
    return found


def _place(place: Mapping[str, str]) -> str:
    """Data set and language, as the end of a title."""
    return "".join(f", {name}" for name in place.values() if name)


def _score_panels(study: Study, value: str) -> list[PlotPanel]:
    from beholder.kinds.bidirectional.plots import Box, PlotPanel

    tests = study.table("tests")
    different = {_key(row): bool(row["significant"]) for row in (tests.rows if tests else ())}
    best = {_key(row): bool(row["best"]) for row in _rows(study, "scores")}
    panels = []
    for place, some in strata(study.main):
        for direction in DIRECTIONS:
            boxes = []
            for system, own in by_system(some).items():
                key = (direction, value, place["dataset"], place["language"], system)
                scores = [v for _, v in having(own, direction, value)]
                boxes.append(Box(system, scores, best.get(key, False), different.get(key, False)))
            panels.append(PlotPanel(f"{direction.upper()}{_place(place)}", boxes))
    return panels if any(box.values for panel in panels for box in panel.boxes) else []


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(row[k] for k in ("direction", "value", "dataset", "language", "system"))


def _rows(study: Study, name: str) -> Sequence[Mapping[str, Any]]:
    table = study.table(name)
    return () if table is None else table.rows


def _rates(study: Study) -> dict[str, Figure]:
    from beholder.kinds.bidirectional.plots import dots_figure

    panels = []
    for name in ("hallucination", "omission"):
        points = [
            _point(row, row["system"] + _place(_where(row)), row["direction"].upper(), name)
            for row in _rows(study, "rates")
            if row[name] is not None
        ]
        if points:
            panels.append((name.capitalize(), points))
    return {"rates": dots_figure(panels, "share of units")} if panels else {}


def _category_rates(study: Study) -> dict[str, Figure]:
    from beholder.kinds.bidirectional.plots import dots_figure

    found = {}
    for direction in DIRECTIONS:
        panels = []
        for name in ("hallucination", "omission"):
            points = [
                _point(row, row["category"] + _place(_where(row)), row["system"], name)
                for row in _rows(study, "category_rates")
                if row["direction"] == direction and row[name] is not None
            ]
            if points:
                panels.append((f"{name.capitalize()}, {direction.upper()}", points))
        if panels:
            found[f"category-rates-{direction}"] = dots_figure(panels, "share of units")
    return found


def _where(row: Mapping[str, Any]) -> dict[str, str]:
    return {"dataset": row["dataset"], "language": row["language"]}


def _point(row: Mapping[str, Any], name: str, series: str, key: str) -> Point:
    from beholder.kinds.bidirectional.plots import Point

    low, high = row[f"{key}_low"], row[f"{key}_high"]
    return Point(name, series, row[key], None if low is None else (low, high))


def _difficulty(study: Study) -> dict[str, Figure]:
    from beholder.kinds.bidirectional.plots import shares_figure

    rows = _rows(study, "difficulty")
    kind = "category" if any(row["kind"] == "category" for row in rows) else "system"
    panels: dict[str, list[tuple[str, list[float], int]]] = {}
    for row in rows:
        if row["kind"] == kind:
            by = "F1" if row["by"] == "f1" else "recall"
            title = f"{row['direction'].upper()}, by {by}{_place(_where(row))}"
            shares = [row[level] for level in LEVELS]
            panels.setdefault(title, []).append((row["name"], shares, row["n"]))
    return {"difficulty": shares_figure(list(panels.items()), LEVELS)} if panels else {}


def _categories(study: Study) -> dict[str, Figure]:
    from beholder.kinds.bidirectional.plots import Box, PlotPanel, boxes_figure

    names = ordered(pair.category for pair in study.pairs if pair.category)
    if study.table("categories") is None:
        return {}
    random = study.settings.random
    names.sort(key=lambda name: name == random)
    rows = {
        (r["direction"], r["dataset"], r["language"], r["category"], r["system"]): r
        for r in _rows(study, "categories")
    }
    found = {}
    for direction in DIRECTIONS:
        panels = []
        for place, some in strata(study.pairs):
            for number, (system, own) in enumerate(by_system(some).items()):
                scored = having(own, direction, "f1")
                boxes = []
                for name in names:
                    key = (direction, place["dataset"], place["language"], name, system)
                    row = rows.get(key, {})
                    boxes.append(
                        Box(
                            name,
                            [v for pair, v in scored if pair.category == name],
                            different=bool(row.get("significant")),
                            colour=_OTHER if name == random else number,
                        )
                    )
                panels.append(PlotPanel(f"{direction.upper()}, {system}{_place(place)}", boxes))
        found[f"categories-{direction}"] = boxes_figure(panels, "F1", columns=4)
    return found


_OTHER = 6
"""The grey of the colours: the random sample."""


def _consensus(study: Study) -> dict[str, Figure]:
    from beholder.kinds.bidirectional.plots import PlotPanel, boxes_figure

    if study.table("consensus") is None:
        return {}
    panels = []
    names = [ALL, *ordered(pair.category for pair in study.pairs if pair.category)]
    for place, some in strata(study.pairs):
        found = contents(some)
        boxes = [
            _consensus_box(name, [c for c in found if name in (ALL, c.category)]) for name in names
        ]
        panels.append(PlotPanel(f"Consensus{_place(place)}", boxes))
    return {"consensus": boxes_figure(panels, "speakers per content", unit=False)}


def _consensus_box(name: str, found: Sequence[Any]) -> Box:
    from beholder.kinds.bidirectional.plots import Box

    counts = consensus_by_image(found)
    return Box(name, [float(np.mean(image)) for image in counts.values()], colour=0)


def _ratings(study: Study) -> dict[str, Figure]:
    from beholder.kinds.bidirectional.plots import Box, PlotPanel, boxes_figure, dots_figure

    found: dict[str, Figure] = {}
    panels = []
    for place, some in strata(study.pairs):
        boxes = [Box(who, [r for _, r in rows]) for who, rows in rated_texts(some).items()]
        if boxes:
            panels.append(PlotPanel(f"Ratings{_place(place)}", boxes))
    if panels:
        found["ratings"] = boxes_figure(panels, "rating", unit=False)
    points = [
        _point(row, row["category"] + _place(_where(row)), row["system"], "median")
        for row in _rows(study, "rating_gaps")
    ]
    if points:
        title = "Median rating, model minus people"
        found["rating-gaps"] = dots_figure([(title, points)], "points of the rating scale")
    return found


def n_texts(pairs: Sequence[TextPair]) -> dict[str, int]:
    """Counts for the head of the page."""
    return {
        "pictures": len({pair.image for pair in pairs}),
        "systems": len({pair.system for pair in pairs}),
        "texts": len(pairs),
        "failed": sum(pair.failure is not None for pair in pairs),
    }
