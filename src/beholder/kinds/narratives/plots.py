"""Drawings of a study of narratives: eight panels of scores, the theta matrix, the timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import TypeAlias

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.dates import date2num
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from beholder.base.rounding import fixed
from beholder.base.visible import cut_text
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
_GREY, _GRID = "#5b646d", "#dfe2e0"
_RATINGS = {"ylim": (0, 10.4), "ylabel": "rating (1 to 10)"}

Means: TypeAlias = Sequence[tuple[str, Mapping[str, float]]]
"""Per narrative its source and its mean vote by method."""

plain_words = rc_context({"text.parse_math": False})
"""Names of methods and sources are drawn as they are, and not as formulas between dollars."""


@plain_words
def eight_panels(tables: ComparisonTables, means: Means) -> Figure:
    """Draw scores, disagreement, spread, gaps, agreement of methods, reliability and effects.

    Args:
        tables: The tables of a study.
        means: The narratives.
    """
    # One function per panel; each draws into its axes from the same tables.
    figure = Figure(figsize=(14.5, 7.4), layout="constrained")
    panels: dict[str, Callable[[Axes, ComparisonTables], None]] = {
        "a  Mean score, bars: mean SD of judges": _scores,
        "b  SD of judges within a narrative": partial(_bars, name="within_sd"),
        "c  Distribution over narratives": partial(_violins, means=means),
        "d  Gap to the human mean": _gaps,
        "e  One method against the other": partial(_scatter, means=means),
        "f  Agreement of judges (ICC)": _icc,
        "g  Effects: o Hedges' g, x Cohen's d (unweighted)": _effects,
        "h  Range of judges within a narrative": partial(
            _bars, name="within_range"
        ),
    }
    for place, (title, draw) in enumerate(panels.items()):
        axes = figure.add_subplot(2, 4, place + 1)
        axes.set_title(title, fontsize=9.5, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
        draw(axes, tables)
    handles = [
        axes.plot([], [], "s", color=colour, label=method)[0]
        for method, colour in zip(tables.methods, _colours(), strict=False)
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize=9,
    )
    return figure


@plain_words
def theta_figure(
    theta: ArrayLike,
    paths: Mapping[str, Sequence[int]],
    title: str,
    order: str,
) -> Figure:
    """Draw a matrix of theta with paths in it.

    A step from i to j is a corner at (j, i), above the diagonal when it goes forward.

    Args:
        theta: (n, n) in 0..1, pictures in order.
        paths: Positions in the matrix, by name.
        title: Stands above, as it is.
        order: Description of the order of the pictures.
    """
    # The diagonal is 1 by definition and would take the dark end of the colours.
    matrix = np.asarray(theta, dtype=np.float64)
    low, high = colour_range(matrix[~np.eye(len(matrix), dtype=bool)].tolist())
    figure = Figure(figsize=(9.0, 7.6), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(
        matrix, cmap="Greys", vmin=low, vmax=high, interpolation="nearest"
    )
    for number, (name, path) in enumerate(paths.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        marker = _MARKERS[number % len(_MARKERS)]
        # Each step goes along a row from the diagonal, and the next begins below it.
        corners, rows = np.repeat(path, 2)[1:-1], np.repeat(path[:-1], 2)
        axes.plot(corners, rows, color=colour, linewidth=1.0, alpha=0.8)
        axes.plot(
            path[1:],
            path[:-1],
            marker,
            color=colour,
            markersize=4.5,
            markeredgecolor="white",
            markeredgewidth=0.5,
            label=name,
        )
    axes.set(xlabel=f"picture, {order}", ylabel="previous picture")
    axes.set_title(title, fontsize=9, loc="left")
    figure.colorbar(image, ax=axes, label="coherence (theta)", shrink=0.7)
    figure.legend(
        loc="outside lower center", ncols=3, frameon=False, fontsize=8
    )
    return figure


@plain_words
def timeline_figure(
    rows: Sequence[tuple[str, str, Sequence[tuple[date, date] | None]]],
) -> Figure:
    """Draw dates of the pictures of narratives: a dot for a day, on a band if it is not known.

    Args:
        rows: Name of a narrative, its source, and per picture its first and last possible day, or
            None.
    """
    figure = Figure(
        figsize=(11.0, 1.2 + 0.3 * len(rows)), layout="constrained"
    )
    axes = figure.add_subplot()
    sources = list(dict.fromkeys(source for _, source, _ in rows))
    for row, (_, source, spans) in enumerate(rows):
        colour = _source_colour(sources.index(source))
        # The pictures of a narrative step down through its row.
        heights = row + np.linspace(-0.25, 0.25, len(spans))
        for y, span in zip(heights, spans, strict=True):
            if span is not None:
                first, last = date2num(span)  # type: ignore[no-untyped-call]
                axes.hlines(y, first, last, color=colour, lw=2.2, alpha=0.55)
                middle = (first + last) / 2
                axes.plot(middle, y, ".", color=colour, markersize=5)
    axes.xaxis_date()
    axes.set_yticks(
        range(len(rows)), [name for name, _, _ in rows], fontsize=8
    )
    axes.invert_yaxis()
    axes.set_xlabel("date of the picture")
    axes.tick_params(axis="x", labelsize=8)
    axes.grid(axis="x", color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _source_colour(index: int) -> str:
    return _SOURCE_COLOURS[index % len(_SOURCE_COLOURS)]


def _colours() -> Iterator[str]:
    """Yield the colours of methods, again and again."""
    while True:
        yield from _COLOURS


def _place_marks(
    n: int, width: float = 0.8
) -> Iterator[tuple[float, float, str]]:
    """Yield offset, width and colour of each of ``n`` methods in a group of marks."""
    step = width / max(1, n)
    for number, colour in zip(range(n), _colours(), strict=False):
        yield (number - (n - 1) / 2) * step, 0.92 * step, colour


def _grouped(
    axes: Axes,
    sources: Sequence[str],
    heights: Sequence[Sequence[float | None]],
    errors: Sequence[Sequence[float | None]] = (),
) -> None:
    """Draw bars by source, one per method: heights per method and source, None without a value."""
    for number, (offset, width, colour) in enumerate(
        _place_marks(len(heights))
    ):
        for place, height in enumerate(heights[number]):
            at = place + offset
            if height is None:
                axes.text(at, 0, "–", ha="center", fontsize=8, color=_GREY)
                continue
            error = errors[number][place] if errors else None
            axes.bar(
                at,
                height,
                width,
                yerr=error,
                color=colour,
                ecolor=_GREY,
                capsize=2,
            )
    _name_sources(axes, sources)


def _name_sources(axes: Axes, sources: Sequence[str]) -> None:
    short = [cut_text(source, 12) for source in sources]
    axes.set_xticks(range(len(sources)), short)
    axes.set_xlim(-0.5, max(1, len(sources)) - 0.5)


def _by_method(
    tables: ComparisonTables, name: str
) -> list[list[float | None]]:
    """Return a field of the scores per method and source."""
    values = {
        (row.method, row.source): getattr(row, name) for row in tables.scores
    }
    return [
        [values[method, source] for source in tables.sources]
        for method in tables.methods
    ]


def _bars(axes: Axes, tables: ComparisonTables, name: str) -> None:
    _grouped(axes, tables.sources, _by_method(tables, name))
    axes.set_ylabel("rating points")


def _scores(axes: Axes, tables: ComparisonTables) -> None:
    means, errors = (_by_method(tables, key) for key in ("mean", "within_sd"))
    _grouped(axes, tables.sources, means, errors)
    axes.set(**_RATINGS)


def _violins(axes: Axes, tables: ComparisonTables, means: Means) -> None:
    methods = zip(
        tables.methods, _place_marks(len(tables.methods)), strict=True
    )
    for method, (offset, width, colour) in methods:
        for place, source in enumerate(tables.sources):
            ratings = [
                votes[method]
                for narrative_source, votes in means
                if narrative_source == source and method in votes
            ]
            at = place + offset
            if len(ratings) > 2 and min(ratings) < max(ratings):
                parts = axes.violinplot(
                    ratings, [at], widths=width, showextrema=False
                )
                for body in parts["bodies"]:  # type: ignore[attr-defined]
                    body.set(facecolor=colour, alpha=0.35)
            # Points of equal ratings are moved apart within the width of the violin.
            spread = np.linspace(-0.25, 0.25, len(ratings)) * width
            axes.plot(at + spread, ratings, ".", color=colour, markersize=3)
    _name_sources(axes, tables.sources)
    axes.set(**_RATINGS)


def _gaps(axes: Axes, tables: ComparisonTables) -> None:
    """Draw other sources than people, who come first."""
    gaps = [
        [
            None if mean is None or human is None else mean - human
            for mean in other_means
        ]
        for human, *other_means in _by_method(tables, "mean")
    ]
    _grouped(axes, tables.sources[1:], gaps)
    axes.set_ylabel("rating points")
    axes.axhline(0, color=_GREY, linewidth=0.8)


def _scatter(axes: Axes, tables: ComparisonTables, means: Means) -> None:
    if len(tables.methods) < 2:
        axes.text(
            0.5, 0.5, "needs two methods", ha="center", color=_GREY, fontsize=9
        )
        axes.set_axis_off()
        return
    # The first two methods; the tables have all pairs.
    x_name, y_name = tables.methods[:2]
    for number, source in enumerate(tables.sources):
        points = [
            (votes[x_name], votes[y_name])
            for narrative_source, votes in means
            if narrative_source == source
            and x_name in votes
            and y_name in votes
        ]
        if points:
            axes.plot(
                *zip(*points, strict=True),
                _MARKERS[number % len(_MARKERS)],
                color=_source_colour(number),
                alpha=0.6,
                markersize=4,
                label=source,
            )
            axes.legend(frameon=False, fontsize=7, loc="upper left")
    axes.plot([1, 10], [1, 10], color=_GRID, linewidth=1, zorder=0)
    axes.set(
        xlim=(0, 10.4),
        ylim=(0, 10.4),
        xlabel=f"rating by {x_name}",
        ylabel=f"rating by {y_name}",
    )
    r = tables.between_methods[0].r
    if r is not None:
        axes.text(
            0.98,
            0.03,
            f"r = {fixed(r, 3)}",
            transform=axes.transAxes,
            ha="right",
            fontsize=8,
        )


def _icc(axes: Axes, tables: ComparisonTables) -> None:
    rows = tables.reliability
    for row, (offset, width, colour) in zip(
        rows, _place_marks(len(rows), min(0.8, 0.25 * len(rows))), strict=True
    ):
        for place, icc in enumerate((row.icc_single, row.icc_average)):
            if icc is None or icc.value is None:
                continue
            axes.bar(place + offset, icc.value, width, color=colour)
            if icc.interval:
                low, high = np.clip(icc.interval, -1, 1)
                axes.vlines(place + offset, low, high, color=_GREY, lw=1)
    judges = max((row.n_judges for row in rows), default=0)
    axes.set_xticks(
        [0, 1], ["one judge", f"mean of {judges}" if judges else "mean"]
    )
    axes.set_ylabel("ICC")
    axes.set_ylim(top=1.0)
    axes.axhline(0, color=_GREY, linewidth=0.8)


def _effects(axes: Axes, tables: ComparisonTables) -> None:
    rows, methods = tables.comparisons, tables.methods
    names = list(dict.fromkeys((row.a, row.b) for row in rows))
    places = list(_place_marks(len(methods), min(0.8, 0.25 * len(methods))))
    for row in rows:
        if row.g is None or row.d_unweighted is None:
            continue
        offset, _, colour = places[methods.index(str(row.method))]
        at = names.index((row.a, row.b)) + offset
        axes.plot(row.g, at, "o", color=colour, markersize=5)
        axes.plot(row.d_unweighted, at, "x", color=colour, markersize=5)
        if row.g_interval:
            axes.hlines(at, *row.g_interval, color=colour, lw=1.3)
    labels = [f"{a}\n− {b}" for a, b in names]
    axes.set_yticks(range(len(names)), labels, fontsize=7)
    axes.axvline(0, color=_GREY, linewidth=0.8)
    axes.set_xlabel("effect size (standard deviations)")
    axes.invert_yaxis()
