"""The figures of a bidirectional study, from its pairs and tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from beholder.base.rounding import fixed
from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    Direction,
    PairGroup,
    Scores,
    directions,
    each,
    ordered,
    sets,
    split,
    systems,
)
from beholder.kinds.bidirectional.ratings import rated_texts
from beholder.kinds.bidirectional.scores import LEVELS
from beholder.kinds.bidirectional.selectivity import (
    ALL,
    consensus_by_image,
    contents,
)
from beholder.kinds.bidirectional.study import Study

Row: TypeAlias = Mapping[str, Any]

# After Okabe and Ito, "Color Universal Design" (2008): apart for colour-blind readers.
_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#aa5090",
    "#c88a00",
    "#3aa0d8",
    "#5b646d",
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LEVEL_COLOURS = dict(
    zip(LEVELS, ("#3aa0d8", "#d9dcd9", "#d55e00"), strict=True)
)
_GREY, _GRID = "#5b646d", "#dfe2e0"
_LABEL = 13
_OTHER = 6
"""The grey of the colours: the random sample."""


@dataclass(frozen=True, slots=True)
class Box:
    """One box of a plot.

    Attributes:
        label: Name below it.
        values: Its values; without any, no box is drawn.
        best: Whether it is the reference of the tests.
        different: Whether it differs from the reference (p < 0.05).
        colour: Index of its colour; None takes its place in the panel.
    """

    label: str
    values: Sequence[float]
    best: bool = False
    different: bool = False
    colour: int | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A value with its interval, in a row of a dot plot.

    Attributes:
        row: Name of the row.
        series: Name of the series; each has its colour and marker.
        value: The value.
        interval: Its interval, or None.
    """

    row: str
    series: str
    value: float
    interval: tuple[float, float] | None


PlotPanel: TypeAlias = tuple[str, Sequence[Box]]
"""The title of a panel and its boxes."""

Bar: TypeAlias = tuple[str, Sequence[float], int]
"""Name of a bar, the share of each level, and n."""


def figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """The figures that the study has data for, by name."""
    for value in ("f1", "precision", "recall"):
        panels = _score_panels(study, value)
        if any(box.values for _, boxes in panels for box in boxes):
            yield (
                value,
                boxes_figure(
                    panels, "F1" if value == "f1" else value.capitalize()
                ),
            )
    yield from _rates(study)
    if bars := _difficulty(study):
        yield "difficulty", shares_figure(list(bars.items()))
    if study.table("categories"):
        for direction in DIRECTIONS:
            panels = _category_panels(study, direction)
            yield (
                f"categories-{direction}",
                boxes_figure(panels, "F1", columns=4),
            )
    if study.table("consensus"):
        panels = _consensus_panels(study)
        yield (
            "consensus",
            boxes_figure(panels, "speakers per content", unit=False),
        )
    panels = [
        (f"Ratings{_place(group.place)}", boxes)
        for group in sets(PairGroup(study.pairs))
        if (
            boxes := [
                Box(who, _numbers(own))
                for who, own in rated_texts(group).items()
            ]
        )
    ]
    if panels:
        yield "ratings", boxes_figure(panels, "rating", unit=False)
    if gaps := _points(
        _rows(study, "rating_gaps"), "median", "category", "system"
    ):
        panel = ("Median rating, model minus people", gaps)
        yield "rating-gaps", dots_figure([panel], "points of the rating scale")


def _numbers(scores: Scores) -> list[float]:
    return [value for _, value in scores]


def _rows(study: Study, name: str, **wanted: str) -> list[Row]:
    table = study.table(name)
    rows = () if table is None else table.rows
    return [
        row
        for row in rows
        if all(row[key] == value for key, value in wanted.items())
    ]


def _place(row: Row) -> str:
    """Data set and language, as the end of a title."""
    return "".join(
        f", {row[key]}" for key in ("dataset", "language") if row[key]
    )


def _key(row: Row) -> tuple[str, ...]:
    names = ("direction", "value", "dataset", "language", "category", "system")
    return tuple(row.get(name, "") for name in names)


def _score_panels(study: Study, value: str) -> list[PlotPanel]:
    best = {_key(row) for row in _rows(study, "scores") if row["best"]}
    different = {
        _key(row) for row in _rows(study, "tests") if row["significant"]
    }
    return [
        (
            f"{group.direction.upper()}{_place(group.place)}",
            [
                Box(
                    str(part.place["system"]),
                    _numbers(part.scores(value)),
                    best=_key(part.place) in best,
                    different=_key(part.place) in different,
                )
                for part in systems(group)
            ],
        )
        for group in split(
            PairGroup(study.main), (sets, each("value", (value,)), directions)
        )
    ]


def _points(
    rows: Sequence[Row], key: str, name: str, series: str
) -> list[Point]:
    """The values of a column: a row for each ``name``, a colour for each ``series``."""
    return [
        Point(
            row[name] + _place(row),
            row[series].upper() if series == "direction" else row[series],
            row[key],
            None
            if row[f"{key}_low"] is None
            else (row[f"{key}_low"], row[f"{key}_high"]),
        )
        for row in rows
        if row[key] is not None
    ]


def _rates(study: Study) -> Iterator[tuple[str, Figure]]:
    """Both rates per system, and per category in each direction."""
    drawn = [("rates", _rows(study, "rates"), "system", "direction", "")]
    for direction in DIRECTIONS:
        rows = _rows(study, "category_rates", direction=direction)
        end = f", {direction.upper()}"
        drawn.append(
            (f"category-rates-{direction}", rows, "category", "system", end)
        )
    for figure, rows, name, series, end in drawn:
        panels = [
            (f"{rate.capitalize()}{end}", points)
            for rate in ("hallucination", "omission")
            if (points := _points(rows, rate, name, series))
        ]
        if panels:
            yield figure, dots_figure(panels, "share of units")


def _difficulty(study: Study) -> dict[str, list[Bar]]:
    """Shares per category, or per system without categories, by title of the panel."""
    rows = _rows(study, "difficulty", kind="category") or _rows(
        study, "difficulty", kind="system"
    )
    panels: dict[str, list[Bar]] = {}
    for row in rows:
        by = "F1" if row["by"] == "f1" else "recall"
        title = f"{row['direction'].upper()}, by {by}{_place(row)}"
        shares = [row[level] for level in LEVELS]
        panels.setdefault(title, []).append((row["name"], shares, row["n"]))
    return panels


def _category_panels(study: Study, direction: Direction) -> list[PlotPanel]:
    random = study.settings.random
    names = ordered(pair.category for pair in study.pairs if pair.category)
    names.sort(key=lambda name: name == random)
    different = {
        _key(row)
        for row in _rows(study, "categories")
        if row.get("significant")
    }
    panels: list[PlotPanel] = []
    for group in sets(
        PairGroup(study.pairs).part(study.pairs, direction=direction)
    ):
        for number, part in enumerate(systems(group)):
            boxes = []
            for name in names:
                own = part.part(
                    [p for p in part.pairs if p.category == name],
                    category=name,
                )
                colour = _OTHER if name == random else number
                is_other = _key(own.place) in different
                boxes.append(
                    Box(
                        name,
                        _numbers(own.scores("f1")),
                        False,
                        is_other,
                        colour,
                    )
                )
            title = f"{direction.upper()}, {part.place['system']}{_place(part.place)}"
            panels.append((title, boxes))
    return panels


def _consensus_panels(study: Study) -> list[PlotPanel]:
    names = [
        ALL,
        *ordered(pair.category for pair in study.pairs if pair.category),
    ]
    panels: list[PlotPanel] = []
    for group in sets(PairGroup(study.pairs)):
        found = contents(group.pairs)
        boxes = []
        for name in names:
            counts = consensus_by_image(
                [c for c in found if name in (ALL, c.category)]
            )
            boxes.append(
                Box(
                    name,
                    [float(np.mean(own)) for own in counts.values()],
                    colour=0,
                )
            )
        panels.append((f"Consensus{_place(group.place)}", boxes))
    return panels


def boxes_figure(
    panels: Sequence[PlotPanel],
    axis: str,
    *,
    columns: int = 2,
    unit: bool = True,
) -> Figure:
    """Box plots in a grid of panels; n is below each box, the mean is a diamond.

    Args:
        panels: The panels, row by row.
        axis: What the vertical axis shows.
        columns: Panels in a row.
        unit: Whether the axis is 0..1.
    """
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    widest = max(len(boxes) for _, boxes in panels)
    width = min(15.0, columns * max(3.4, 0.86 * widest + 1.0))
    figure = Figure(figsize=(width, 3.3 * rows), layout="constrained")
    for place, (title, boxes) in enumerate(panels):
        shared = figure.axes[0] if place else None
        axes = figure.add_subplot(rows, columns, place + 1, sharey=shared)
        _boxes(axes, title, boxes)
        axes.set_ylabel(axis if place % columns == 0 else "", parse_math=False)
    if unit:
        figure.axes[0].set_ylim(-0.02, 1.02)
    return figure


def _boxes(axes: Axes, title: str, boxes: Sequence[Box]) -> None:
    for place, box in enumerate(boxes):
        if not len(box.values):
            axes.text(place, 0.5, "no data", ha="center", color=_GREY, fontsize=8,
                      transform=axes.get_xaxis_transform())  # fmt: skip
            continue
        colour = _colour(place if box.colour is None else box.colour)
        axes.boxplot(
            [list(box.values)],
            positions=[place],
            widths=0.56,
            showmeans=True,
            patch_artist=True,
            manage_ticks=False,
            boxprops={
                "facecolor": f"{colour}3a",
                "edgecolor": colour,
                "linewidth": 1.2,
            },
            medianprops={"color": colour, "linewidth": 2.0},
            whiskerprops={"color": colour},
            capprops={"color": colour},
            flierprops={
                "marker": ".",
                "markersize": 3,
                "markeredgecolor": colour,
            },
            meanprops={
                "marker": "D",
                "markersize": 4.5,
                "markerfacecolor": "white",
                "markeredgecolor": colour,
            },
        )
    _style(axes, title)
    labels = [_box_label(box) for box in boxes]
    axes.set_xticks(range(len(labels)), labels, fontsize=7.5, parse_math=False)
    axes.set_xlim(-0.6, len(labels) - 0.4)
    for label, box in zip(axes.get_xticklabels(), boxes, strict=True):
        if box.best:
            label.set_fontweight("bold")
    axes.grid(axis="y", color=_GRID, linewidth=0.8)


def _box_label(box: Box) -> str:
    mark = " ★" if box.best else " *" if box.different else ""
    return f"{_short(box.label)}{mark}\nn = {len(box.values)}"


def dots_figure(
    panels: Sequence[tuple[str, Sequence[Point]]], axis: str
) -> Figure:
    """Values with intervals, a row each; the series of a row are above one another.

    Args:
        panels: Title and points of each panel, side by side; rows in the order of the points.
        axis: What the horizontal axes show.
    """
    n_rows = max(len({point.row for point in points}) for _, points in panels)
    series = list(
        dict.fromkeys(point.series for _, points in panels for point in points)
    )
    height = 1.5 + n_rows * (0.26 + 0.13 * len(series))
    figure = Figure(figsize=(5.4 * len(panels), height), layout="constrained")
    for place, (title, points) in enumerate(panels):
        shared = figure.axes[0] if place else None
        axes = figure.add_subplot(1, len(panels), place + 1, sharex=shared)
        rows = list(dict.fromkeys(point.row for point in points))
        for point in points:
            number = series.index(point.series)
            y = rows.index(point.row) + (
                number - (len(series) - 1) / 2
            ) * 0.62 / len(series)
            colour = _colour(number)
            if point.interval is not None:
                axes.plot(point.interval, [y, y], color=colour, linewidth=1.5)
            axes.plot(
                point.value, y, _marker(number), color=colour, markersize=5
            )
        _style(axes, title)
        names = [_short(row, 26) for row in rows]
        axes.set_yticks(range(len(rows)), names, fontsize=8, parse_math=False)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(axis="x", color=_GRID, linewidth=0.8)
        axes.set_xlabel(axis, fontsize=9, parse_math=False)
        axes.axvline(0, color=_GREY, linewidth=0.8)
    if len(series) > 1:
        _legend(
            figure,
            [(name, _marker(i), _colour(i)) for i, name in enumerate(series)],
        )
    return figure


def shares_figure(panels: Sequence[tuple[str, Sequence[Bar]]]) -> Figure:
    """Stacked shares: a bar per group, divided into ``LEVELS``.

    Args:
        panels: Title and bars of each panel, two in a row.
    """
    rows = -(-len(panels) // 2)
    most = max(len(bars) for _, bars in panels)
    figure = Figure(
        figsize=(12.0, rows * (1.1 + 0.34 * most)), layout="constrained"
    )
    for place, (title, bars) in enumerate(panels):
        axes = figure.add_subplot(rows, 2, place + 1)
        left = np.zeros(len(bars))
        for number, (level, colour) in enumerate(_LEVEL_COLOURS.items()):
            widths = np.array([shares[number] for _, shares, _ in bars])
            axes.barh(range(len(bars)), widths, left=left, height=0.72, label=level,
                      color=colour, edgecolor="white")  # fmt: skip
            for y, (start, width) in enumerate(zip(left, widths, strict=True)):
                if width >= 0.08:
                    axes.text(start + width / 2, y, fixed(100 * width, 0), ha="center", va="center",
                              fontsize=7.5)  # fmt: skip
            left += widths
        _style(axes, title)
        names = [f"{_short(name, 24)} (n = {n})" for name, _, n in bars]
        axes.set_yticks(range(len(bars)), names, fontsize=8, parse_math=False)
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xticks([])
        axes.set_xlabel("share of texts (%)", fontsize=9)
        axes.spines[["bottom", "left"]].set_visible(False)
    _legend(
        figure,
        [(level, "s", colour) for level, colour in _LEVEL_COLOURS.items()],
    )
    return figure


def _legend(figure: Figure, series: Sequence[tuple[str, str, str]]) -> None:
    """A legend below the panels, of the name, marker and colour of each series."""
    handles = [
        figure.axes[0].plot([], [], marker, color=colour)[0]
        for _, marker, colour in series
    ]
    legend = figure.legend(
        handles,
        [_short(name, 26) for name, _, _ in series],
        loc="outside lower center",
        ncols=min(4, len(series)),
        frameon=False,
        fontsize=9,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _style(axes: Axes, title: str) -> None:
    axes.set_title(
        _short(title, 36), fontsize=10, loc="left", parse_math=False
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.set_axisbelow(True)


def _short(name: str, width: int = _LABEL) -> str:
    """A name on at most two lines."""
    lines = textwrap.wrap(
        " ".join(name.split()), width, max_lines=2, placeholder="…"
    )
    return "\n".join(lines) or "–"


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _marker(number: int) -> str:
    return _MARKERS[number % len(_MARKERS)]
