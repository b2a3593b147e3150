"""The box plots of a bidirectional study, from its pairs and tables.

What is a single value with an interval is drawn on its scale in its table (``Column.scale``).
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    PairGroup,
    Scores,
    directions,
    repeat_for,
    sets,
    split,
    split_by,
    systems,
)
from beholder.kinds.bidirectional.ratings import rated_texts
from beholder.kinds.bidirectional.selectivity import (
    consensus_by_image,
    contents,
)
from beholder.kinds.bidirectional.study import Study

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
_GREY, _GRID = "#5b646d", "#dfe2e0"
_PLACE = ("direction", "value", "dataset", "language", "category", "system")


@dataclass(frozen=True, slots=True)
class Box:
    """One box of a plot.

    Attributes:
        label: Name below it.
        values: Its values; without any, no box is drawn.
        mark: Sign behind its name: ★ if all others differ from it, ≠ if it differs from what it
            is tested against (p < 0.05).
    """

    label: str
    values: Sequence[float]
    mark: str = ""


MIN_DISTINCT = 5
"""Fewer different values are drawn one by one: quartiles of two values are these values."""

PlotPanel: TypeAlias = tuple[str, Sequence[Box]]
"""The title of a panel and its boxes."""


def figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """Yield the figures that the study has data for, with their names."""
    pairs = PairGroup(study.pairs)

    def categories(group: PairGroup) -> list[PairGroup]:
        parts = [p for p in split_by("category")(group) if p.place["category"]]
        # The random sample, which the others are compared with, comes last.
        random = study.settings.random
        return sorted(parts, key=lambda part: part.place["category"] == random)

    for value in ("f1", "precision", "recall"):
        groups = split(
            PairGroup(study.main),
            (sets, repeat_for("value", (value,)), directions),
        )
        panels = [
            _panel(study, group, "scores", "tests", systems(group))
            for group in groups
        ]
        if any(box.values for _, boxes in panels for box in boxes):
            label = "F1" if value == "f1" else value.capitalize()
            yield value, boxes_figure(panels, label)
    for direction in DIRECTIONS if study.table("categories") else ():
        groups = split(
            pairs, (repeat_for("direction", (direction,)), sets, systems)
        )
        panels = [
            _panel(study, group, "", "categories", categories(group))
            for group in groups
        ]
        yield (
            f"categories-{direction}",
            boxes_figure(panels, "F1", columns=4),
        )
    groups = list(sets(pairs))
    if study.table("consensus"):
        panels = [
            (f"Consensus{_place(group.place)}", list(_consensus_boxes(group)))
            for group in groups
        ]
        yield (
            "consensus",
            boxes_figure(panels, "speakers per content", unit=False),
        )
    panels = []
    for group in groups:
        ratings = rated_texts(group)
        boxes = [Box(who, _numbers(texts)) for who, texts in ratings.items()]
        if boxes:
            panels.append((f"Ratings{_place(group.place)}", boxes))
    if panels:
        yield "ratings", boxes_figure(panels, "rating", unit=False)


def _numbers(scores: Scores) -> list[float]:
    return [value for _, value in scores]


def _place(place: Mapping[str, object]) -> str:
    """Return system, data set and language as the end of a title."""
    keys = ("system", "dataset", "language")
    return "".join(f", {place[key]}" for key in keys if place.get(key))


def _panel(
    study: Study,
    group: PairGroup,
    best_table: str,
    test_table: str,
    parts: Iterable[PairGroup],
) -> PlotPanel:
    """Return a box per part, marked as its row in the tables of the best systems and of tests."""
    best = _marked_rows(study, best_table, "best")
    different = _marked_rows(study, test_table, "significant")
    boxes = []
    for part in parts:
        key = _key(part.place)
        name = part.place.get("category", part.place["system"])
        mark = " ≠" if key in different else ""
        boxes.append(
            Box(
                str(name),
                _numbers(part.scores(group.value)),
                " ★" if key in best else mark,
            )
        )
    return f"{group.direction.upper()}{_place(group.place)}", boxes


def _marked_rows(study: Study, name: str, mark: str) -> set[tuple[Any, ...]]:
    table = study.table(name)
    rows = () if table is None else table.rows
    return {_key(row) for row in rows if row.get(mark)}


def _key(place: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(place.get(name, "") for name in _PLACE)


def _consensus_boxes(group: PairGroup) -> Iterator[Box]:
    all_contents = contents(group.pairs)
    counts = consensus_by_image(all_contents)
    categories = {content.image: content.category for content in all_contents}
    for name in ("all", *dict.fromkeys(filter(None, categories.values()))):
        means = [
            fmean(numbers)
            for image, numbers in counts.items()
            if name in ("all", categories[image])
        ]
        yield Box(name, means)


def boxes_figure(
    panels: Sequence[PlotPanel],
    axis: str,
    *,
    columns: int = 2,
    unit: bool = True,
) -> Figure:
    """Draw box plots in a grid of panels; n is below each box, the mean is a diamond.

    Fewer than ``MIN_DISTINCT`` different values are dots, with their number if it is above 1.

    Args:
        panels: The panels, row by row.
        axis: Label of the vertical axis.
        columns: Panels in a row.
        unit: Whether the axis is 0..1.
    """
    # Panels share one vertical axis, so that boxes of different panels can be compared.
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    widest = max(len(boxes) for _, boxes in panels)
    width = min(15.0, columns * max(3.4, 0.86 * widest + 1.0))
    figure = Figure(figsize=(width, 3.3 * rows), layout="constrained")
    for place, (title, boxes) in enumerate(panels):
        shared = figure.axes[0] if place else None
        axes = figure.add_subplot(rows, columns, place + 1, sharey=shared)
        _draw_boxes(axes, boxes)
        axes.set_title(
            _short(title, 36), fontsize=10, loc="left", parse_math=False
        )
        axes.set_ylabel(axis if place % columns == 0 else "", parse_math=False)
    if unit:
        figure.axes[0].set_ylim(-0.02, 1.02)
    return figure


def _draw_boxes(axes: Axes, boxes: Sequence[Box]) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=_GRID, linewidth=0.8)
    axes.tick_params(labelsize=8)
    labels = [
        f"{_short(box.label, 13)}{box.mark}\nn = {len(box.values)}"
        for box in boxes
    ]
    axes.set_xticks(range(len(labels)), labels, fontsize=7.5, parse_math=False)
    axes.set_xlim(-0.6, len(labels) - 0.4)
    # A place without values keeps its label, so that panels can be compared.
    for place, box in enumerate(boxes):
        if not box.values:
            axes.text(
                place,
                0.5,
                "no data",
                ha="center",
                color=_GREY,
                fontsize=8,
                transform=axes.get_xaxis_transform(),
            )
            continue
        colour = _COLOURS[place % len(_COLOURS)]
        counts = Counter(box.values)
        if len(counts) < MIN_DISTINCT:
            _draw_dots(axes, place, counts, colour)
            continue
        lines = {"color": colour}
        axes.boxplot(
            [list(box.values)],
            positions=[place],
            widths=0.56,
            showmeans=True,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": f"{colour}3a", "edgecolor": colour},
            medianprops={"color": colour, "linewidth": 2.0},
            whiskerprops=lines,
            capprops=lines,
            flierprops={"marker": ".", "markeredgecolor": colour},
            meanprops=_mean_marker(colour),
        )


def _mean_marker(colour: str) -> dict[str, Any]:
    return {
        "marker": "D",
        "markersize": 4.5,
        "markerfacecolor": "white",
        "markeredgecolor": colour,
    }


def _draw_dots(
    axes: Axes, place: int, counts: Counter[float], colour: str
) -> None:
    """Draw each value as a dot with how often it occurs, and the mean beside them."""
    for value, count in counts.items():
        axes.plot(place, value, "o", color=colour, markersize=6, alpha=0.6)
        if count > 1:
            axes.annotate(
                f"{count}×",
                (place, value),
                (-7, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=7,
                color=_GREY,
            )
    mean = fmean(counts.elements())
    axes.plot(place + 0.18, mean, linestyle="", **_mean_marker(colour))


def _short(name: str, width: int) -> str:
    """Return a name on at most two lines."""
    lines = textwrap.wrap(
        " ".join(name.split()), width, max_lines=2, placeholder="…"
    )
    return "\n".join(lines) or "–"
