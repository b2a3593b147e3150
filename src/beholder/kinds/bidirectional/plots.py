"""Drawings of a bidirectional study: boxes per system, rates, difficulty, categories, ratings."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from beholder.rounding import fixed

# After Okabe and Ito, "Color Universal Design" (2008): apart for colour-blind readers.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa5090", "#c88a00", "#3aa0d8", "#5b646d")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LEVEL_COLOURS = ("#3aa0d8", "#d9dcd9", "#d55e00")
_GREY, _GRID = "#5b646d", "#dfe2e0"
_LABEL = 13


@dataclass(frozen=True, slots=True)
class Box:
    """One box of a plot.

    Attributes:
        label: Name below it.
        values: What it is drawn of; nothing is drawn without.
        best: Whether it is the reference of the tests.
        different: Whether it differs from the reference (p < 0.05).
        colour: Number of its colour; None colours by place.
    """

    label: str
    values: Sequence[float]
    best: bool = False
    different: bool = False
    colour: int | None = None


@dataclass(frozen=True, slots=True)
class PlotPanel:
    """One panel: a title and its boxes."""

    title: str
    boxes: Sequence[Box]


@dataclass(frozen=True, slots=True)
class Point:
    """A value with its interval, in a row of a dot plot.

    Attributes:
        row: Name of the row.
        series: Name of the series, which has a colour and a mark.
        value: The value.
        interval: Its interval, or None.
    """

    row: str
    series: str
    value: float
    interval: tuple[float, float] | None


def boxes_figure(
    panels: Sequence[PlotPanel], axis: str, *, columns: int = 2, unit: bool = True
) -> Figure:
    """Box plots in a grid of panels; n stands below each box, the mean is a diamond.

    Args:
        panels: The panels, row by row.
        axis: What the vertical axis shows.
        columns: Panels in a row.
        unit: Whether the axis is 0..1.
    """
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    widest = max(len(panel.boxes) for panel in panels)
    width = min(15.0, columns * max(3.4, 0.86 * widest + 1.0))
    figure = Figure(figsize=(width, 3.3 * rows), layout="constrained")
    shared: Axes | None = None
    for place, panel in enumerate(panels):
        axes = figure.add_subplot(rows, columns, place + 1, sharey=shared)
        shared = shared or axes
        _boxes(axes, panel)
        axes.set_ylabel(axis if place % columns == 0 else "", parse_math=False)
    if unit and shared is not None:
        shared.set_ylim(-0.02, 1.02)
    return figure


def _boxes(axes: Axes, panel: PlotPanel) -> None:
    for place, box in enumerate(panel.boxes):
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
            boxprops={"facecolor": f"{colour}3a", "edgecolor": colour, "linewidth": 1.2},
            medianprops={"color": colour, "linewidth": 2.0},
            whiskerprops={"color": colour},
            capprops={"color": colour},
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": colour},
            meanprops={
                "marker": "D",
                "markersize": 4.5,
                "markerfacecolor": "white",
                "markeredgecolor": colour,
            },
        )
    _style(axes, panel.title)
    labels = [_box_label(box) for box in panel.boxes]
    axes.set_xticks(range(len(labels)), labels, fontsize=7.5)
    axes.set_xlim(-0.6, len(labels) - 0.4)
    for label, box in zip(axes.get_xticklabels(), panel.boxes, strict=True):
        label.set_parse_math(False)
        if box.best:
            label.set_fontweight("bold")
    axes.grid(axis="y", color=_GRID, linewidth=0.8)


def _box_label(box: Box) -> str:
    mark = " ★" if box.best else " *" if box.different else ""
    return f"{_short(box.label)}{mark}\nn = {len(box.values)}"


def dots_figure(panels: Sequence[tuple[str, Sequence[Point]]], axis: str) -> Figure:
    """Values with intervals, a row each; series of a row stand above one another.

    Args:
        panels: Title and points of each panel, side by side; rows in the order of the points.
        axis: What the horizontal axes show.
    """
    n_rows = max(len({point.row for point in points}) for _, points in panels)
    series = list(dict.fromkeys(point.series for _, points in panels for point in points))
    height = 1.5 + n_rows * (0.26 + 0.13 * len(series))
    figure = Figure(figsize=(5.4 * len(panels), height), layout="constrained")
    for place, (title, points) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), place + 1)
        rows = list(dict.fromkeys(point.row for point in points))
        for point in points:
            number = series.index(point.series)
            y = rows.index(point.row) + (number - (len(series) - 1) / 2) * 0.62 / len(series)
            colour = _colour(number)
            marker = _MARKERS[number % len(_MARKERS)]
            if point.interval is not None:
                axes.plot(point.interval, [y, y], color=colour, linewidth=1.5)
            axes.plot(point.value, y, marker, color=colour, markersize=5)
        _style(axes, title)
        axes.set_yticks(range(len(rows)), [_short(row, 26) for row in rows], fontsize=8)
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(axis="x", color=_GRID, linewidth=0.8)
        axes.set_xlabel(axis, fontsize=9, parse_math=False)
        low, high = axes.get_xlim()
        if low < 0 < high:
            axes.axvline(0, color=_GREY, linewidth=0.8)
    if len(series) > 1:
        _legend(figure, series)
    return figure


def shares_figure(
    panels: Sequence[tuple[str, Sequence[tuple[str, Sequence[float], int]]]], levels: Sequence[str]
) -> Figure:
    """Stacked shares: a bar per group, parted into levels.

    Args:
        panels: Title, and per bar its name, the share of each level, and n; two in a row.
        levels: Names of the levels.
    """
    rows = -(-len(panels) // 2)
    most = max(len(bars) for _, bars in panels)
    figure = Figure(figsize=(12.0, rows * (1.1 + 0.34 * most)), layout="constrained")
    for place, (title, bars) in enumerate(panels):
        axes = figure.add_subplot(rows, 2, place + 1)
        left = np.zeros(len(bars))
        for number, level in enumerate(levels):
            widths = np.array([shares[number] for _, shares, _ in bars])
            axes.barh(range(len(bars)), widths, left=left, height=0.72, label=level,
                      color=_LEVEL_COLOURS[number], edgecolor="white")  # fmt: skip
            for y, (start, width) in enumerate(zip(left, widths, strict=True)):
                if width >= 0.08:
                    axes.text(start + width / 2, y, fixed(100 * width, 0), ha="center", va="center",
                              fontsize=7.5)  # fmt: skip
            left += widths
        _style(axes, title)
        names = [f"{_short(name, 24)} (n = {n})" for name, _, n in bars]
        axes.set_yticks(range(len(bars)), names, fontsize=8)
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xticks([])
        axes.spines[["bottom", "left"]].set_visible(False)
    handles = [
        figure.axes[0].plot([], [], "s", color=colour, label=level)[0]
        for colour, level in zip(_LEVEL_COLOURS, levels, strict=True)
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=len(levels),
        frameon=False,
        fontsize=9,
    )
    return figure


def _legend(figure: Figure, series: Sequence[str]) -> None:
    handles = [
        figure.axes[0].plot([], [], _MARKERS[i % len(_MARKERS)], color=_colour(i))[0]
        for i in range(len(series))
    ]
    legend = figure.legend(
        handles,
        [_short(name, 26) for name in series],
        loc="outside lower center",
        ncols=min(4, len(series)),
        frameon=False,
        fontsize=9,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _style(axes: Axes, title: str) -> None:
    axes.set_title(_short(title, 36), fontsize=10, loc="left", parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.set_axisbelow(True)


def _short(name: str, width: int = _LABEL) -> str:
    """A name on at most two lines."""
    lines = textwrap.wrap(" ".join(name.split()), width, max_lines=2, placeholder="…")
    return "\n".join(lines) or "–"


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]
