"""Drawings of a study of narratives: eight panels of scores, the theta matrix, the timeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from beholder.base.rounding import fixed
from beholder.kinds.narratives.compared import ComparisonTables, colour_range

# After Okabe and Ito, "Color Universal Design" (2008): apart for colour-blind readers.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa5090")
_MARKERS = ("o", "s", "^", "D", "v", "P")
_SOURCE_COLOURS = (
    "#1b1f23",
    "#c88a00",
    "#3aa0d8",
    "#8b949e",
    "#7a4f9a",
    "#5f7a2a",
)
_GREY = "#5b646d"


Means: TypeAlias = Sequence[tuple[str, Mapping[str, float]]]
"""Per narrative its source and its mean vote by method."""


def eight_panels(tables: ComparisonTables, means: Means) -> Figure:
    """Scores, disagreement, spread, gaps, agreement of methods, reliability and effects.

    Args:
        tables: The tables of a study.
        means: The narratives.
    """
    figure = Figure(figsize=(14.5, 7.4), layout="constrained")
    panels: dict[str, Callable[[Axes], None]] = {
        "a  Mean score, bars: mean SD of judges": lambda ax: _scores(
            ax, tables
        ),
        "b  SD of judges within a narrative": lambda ax: _bars(
            ax, tables, "within_sd"
        ),
        "c  Distribution over narratives": lambda ax: _violins(
            ax, tables, means
        ),
        "d  Gap to the human mean": lambda ax: _gaps(ax, tables),
        "e  One method against the other": lambda ax: _scatter(
            ax, tables, means
        ),
        "f  Agreement of judges (ICC)": lambda ax: _icc(ax, tables),
        "g  Effects: o Hedges' g, x Cohen's d (unweighted)": lambda ax: (
            _effects(ax, tables)
        ),
        "h  Range of judges within a narrative": lambda ax: _bars(
            ax, tables, "within_range"
        ),
    }
    for place, (title, draw) in enumerate(panels.items()):
        axes = figure.add_subplot(2, 4, place + 1)
        axes.set_title(title, fontsize=9.5, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
        draw(axes)
    handles = [
        axes.plot([], [], "s", color=_colour(i), label=method)[0]
        for i, method in enumerate(tables.methods)
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize=9,
    )
    return figure


def theta_figure(
    theta: ArrayLike,
    paths: Mapping[str, Sequence[int]],
    title: str,
    order: str,
) -> Figure:
    """A matrix of theta with paths drawn into it.

    A step from i to j is a corner at (j, i), above the diagonal when it goes forward.

    Args:
        theta: (n, n) in 0..1, pictures in order.
        paths: Positions in the matrix, by name.
        title: Stands above, as it is.
        order: What the order of the pictures is.
    """
    matrix = np.asarray(theta, dtype=np.float64)
    low, high = colour_range(matrix[~np.eye(len(matrix), dtype=bool)].tolist())
    figure = Figure(figsize=(9.0, 7.6), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(
        matrix, cmap="Greys", vmin=low, vmax=high, interpolation="nearest"
    )
    for number, (name, path) in enumerate(paths.items()):
        colour, marker = _colour(number), _MARKERS[number % len(_MARKERS)]
        rows, columns = list(path[:-1]), list(path[1:])
        corners_x = [
            v for pair in zip(rows, columns, strict=True) for v in pair
        ]
        corners_y = [v for row in rows for v in (row, row)]
        axes.plot(corners_x, corners_y, color=colour, linewidth=1.0, alpha=0.8)
        axes.plot(columns, rows, marker, color=colour, markersize=4.5, markeredgecolor="white",
                  markeredgewidth=0.5, label=name, linestyle="none")  # fmt: skip
    axes.set_xlabel(f"picture, {order}")
    axes.set_ylabel("previous picture")
    axes.set_title(title, fontsize=9, loc="left", parse_math=False)
    figure.colorbar(image, ax=axes, label="coherence (theta)", shrink=0.7)
    legend = figure.legend(
        loc="outside lower center", ncols=3, frameon=False, fontsize=8
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return figure


def timeline_figure(
    rows: Sequence[tuple[str, str, Sequence[tuple[float, float] | None]]],
) -> Figure:
    """Dates of the pictures of narratives: a dot where a day is known, a band where it is not.

    Args:
        rows: Name of a narrative, its source, and per picture its first and last possible day as
            fractions of a year (1928.25), or None.
    """
    figure = Figure(
        figsize=(11.0, 1.2 + 0.3 * len(rows)), layout="constrained"
    )
    axes = figure.add_subplot()
    sources = list(dict.fromkeys(source for _, source, _ in rows))
    for y, (_, source, spans) in enumerate(rows):
        colour = _source_colour(sources.index(source))
        for order, span in enumerate(spans):
            if span is None:
                continue
            first, last = span
            lift = 0.5 * (order / max(1, len(spans) - 1) - 0.5)
            axes.plot(
                [first, last],
                [y + lift] * 2,
                color=colour,
                linewidth=2.2,
                alpha=0.55,
            )
            axes.plot(
                (first + last) / 2, y + lift, ".", color=colour, markersize=5
            )
    names = [name for name, _, _ in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=8, parse_math=False)
    axes.invert_yaxis()
    days = [
        day
        for _, _, spans in rows
        for span in spans
        if span is not None
        for day in span
    ]
    _name_months(axes, min(days), max(days))
    axes.set_xlabel("date of the picture")
    axes.grid(axis="x", color="#dfe2e0", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _name_months(axes: Axes, first: float, last: float) -> None:
    """Ticks at starts of months, or of years when there are many."""
    months = range(int(first * 12), int(np.ceil(last * 12)) + 1)
    step = next(
        s
        for s in (1, 2, 3, 6, 12, 60, 120, 600, len(months))
        if len(months) / s <= 14
    )
    starts = [month for month in months if month % step == 0]
    names = [
        f"{m // 12}-{m % 12 + 1:02d}" if step < 12 else f"{m // 12}"
        for m in starts
    ]
    axes.set_xticks([month / 12 for month in starts], names, fontsize=8)


def _source_colour(index: int) -> str:
    return _SOURCE_COLOURS[index % len(_SOURCE_COLOURS)]


def _colour(index: int) -> str:
    return _COLOURS[index % len(_COLOURS)]


def _grouped(
    axes: Axes,
    heights: Sequence[Sequence[float | None]],
    errors: Sequence[list[float]] = (),
) -> None:
    """Bars by source, one per method: heights per method and source, None without a value."""
    width = 0.8 / max(1, len(heights))
    for number, row in enumerate(heights):
        x = np.arange(len(row)) + (number - (len(heights) - 1) / 2) * width
        axes.bar(x, [h or 0.0 for h in row], width * 0.92, yerr=errors[number] if errors else None,
                 color=_colour(number), ecolor=_GREY, capsize=2)  # fmt: skip
        for at, height in zip(x, row, strict=True):
            if height is None:
                axes.text(
                    at,
                    0,
                    "–",
                    ha="center",
                    va="bottom",
                    fontsize=8,
                    color=_GREY,
                )


def _name_sources(axes: Axes, sources: Sequence[str]) -> None:
    short = [
        source if len(source) <= 12 else source[:11] + "…"
        for source in sources
    ]
    axes.set_xticks(range(len(sources)), short, parse_math=False)


def _by_method(
    tables: ComparisonTables, name: str
) -> list[list[float | None]]:
    """A field of the scores per method and source."""
    found = {
        (row.method, row.source): getattr(row, name) for row in tables.scores
    }
    return [
        [found[method, source] for source in tables.sources]
        for method in tables.methods
    ]


def _bars(axes: Axes, tables: ComparisonTables, name: str) -> None:
    _grouped(axes, _by_method(tables, name))
    axes.set_ylabel("rating points")
    _name_sources(axes, tables.sources)


def _scores(axes: Axes, tables: ComparisonTables) -> None:
    errors = [
        [sd or 0.0 for sd in row] for row in _by_method(tables, "within_sd")
    ]
    _grouped(axes, _by_method(tables, "mean"), errors)
    _name_sources(axes, tables.sources)
    axes.set(ylim=(0, 10.4), ylabel="rating (1 to 10)")


def _violins(axes: Axes, tables: ComparisonTables, means: Means) -> None:
    methods, sources = tables.methods, tables.sources
    width = 0.8 / max(1, len(methods))
    for number, method in enumerate(methods):
        for place, source in enumerate(sources):
            known = [
                found[method]
                for of, found in means
                if of == source and method in found
            ]
            values = np.array(known, dtype=np.float64)
            at = place + (number - (len(methods) - 1) / 2) * width
            if len(values) > 2 and values.min() < values.max():
                parts = axes.violinplot(
                    values, [at], widths=width * 0.92, showextrema=False
                )
                for body in parts["bodies"]:  # type: ignore[attr-defined]
                    body.set(facecolor=_colour(number), alpha=0.35)
            spread = np.linspace(-0.25, 0.25, len(values)) * width
            axes.plot(
                at + spread, values, ".", color=_colour(number), markersize=3
            )
    _name_sources(axes, sources)
    axes.set(ylim=(0, 10.4), ylabel="rating (1 to 10)")


def _gaps(axes: Axes, tables: ComparisonTables) -> None:
    """Other sources than people, who come first."""
    gaps = [
        [
            None if mean is None or human is None else mean - human
            for mean in others
        ]
        for human, *others in _by_method(tables, "mean")
    ]
    _grouped(axes, gaps)
    _name_sources(axes, tables.sources[1:])
    axes.set_ylabel("rating points")
    axes.axhline(0, color=_GREY, linewidth=0.8)


def _scatter(axes: Axes, tables: ComparisonTables, means: Means) -> None:
    if len(tables.methods) < 2:
        axes.text(
            0.5, 0.5, "needs two methods", ha="center", color=_GREY, fontsize=9
        )
        axes.set_axis_off()
        return
    x_name, y_name = tables.methods[:2]
    drawn = [
        (of, found)
        for of, found in means
        if x_name in found and y_name in found
    ]
    for number, source in enumerate(tables.sources):
        points = [found for of, found in drawn if of == source]
        if points:
            x, y = (
                [one[x_name] for one in points],
                [one[y_name] for one in points],
            )
            marker, colour = (
                _MARKERS[number % len(_MARKERS)],
                _source_colour(number),
            )
            axes.plot(
                x,
                y,
                marker,
                color=colour,
                alpha=0.6,
                markersize=4,
                label=source,
            )
    axes.set(
        xlim=(0, 10.4),
        ylim=(0, 10.4),
        xlabel=f"rating by {x_name}",
        ylabel=f"rating by {y_name}",
    )
    axes.plot([1, 10], [1, 10], color="#dfe2e0", linewidth=1, zorder=0)
    if drawn:
        for text in axes.legend(
            frameon=False, fontsize=7, loc="upper left"
        ).get_texts():
            text.set_parse_math(False)
    r = tables.between_methods[0].r
    if r is not None:
        axes.text(0.98, 0.03, f"r = {fixed(r, 3)}", transform=axes.transAxes, ha="right",
                  fontsize=8)  # fmt: skip


def _icc(axes: Axes, tables: ComparisonTables) -> None:
    width = min(0.25, 0.8 / len(tables.reliability))
    for number, row in enumerate(tables.reliability):
        for place, found in enumerate((row.icc_single, row.icc_average)):
            if found is None or found.value is None:
                continue
            at = place + (number - (len(tables.reliability) - 1) / 2) * width
            axes.bar(at, found.value, 0.92 * width, color=_colour(number))
            if found.interval:
                axes.plot(
                    [at, at],
                    np.clip(found.interval, -1, 1),
                    color=_GREY,
                    linewidth=1,
                )
    judges = next(
        (row.n_judges for row in tables.reliability if row.n_judges), None
    )
    axes.set_xticks(
        [0, 1], ["one judge", f"mean of {judges}" if judges else "mean"]
    )
    axes.set_ylabel("ICC")
    axes.set_ylim(top=1.0)
    axes.axhline(0, color=_GREY, linewidth=0.8)


def _effects(axes: Axes, tables: ComparisonTables) -> None:
    rows = tables.comparisons
    names = list(dict.fromkeys((row.a, row.b) for row in rows))
    methods = tables.methods
    step = min(0.25, 0.8 / len(methods))
    for row in rows:
        number = methods.index(row.method)
        at = (
            names.index((row.a, row.b))
            + (number - (len(methods) - 1) / 2) * step
        )
        if row.g is None or row.d_unweighted is None:
            continue
        axes.plot(row.g, at, "o", color=_colour(number), markersize=5)
        axes.plot(
            row.d_unweighted, at, "x", color=_colour(number), markersize=5
        )
        if row.g_interval:
            axes.plot(
                row.g_interval, [at, at], color=_colour(number), linewidth=1.3
            )
    labels = [f"{a}\n− {b}" for a, b in names]
    axes.set_yticks(range(len(names)), labels, fontsize=7, parse_math=False)
    axes.axvline(0, color=_GREY, linewidth=0.8)
    axes.set_xlabel("effect size (standard deviations)")
    axes.invert_yaxis()
