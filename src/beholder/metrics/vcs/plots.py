"""Drawings of an alignment: the matrix of similarities with windows and matches, and its steps.

The steps are windows, candidates, distances, lines and the regularizer. Long texts are cut into
pages of ``PER_PAGE`` source chunks; each page shows the part of the other text that it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from beholder.base.optional import require

require("matplotlib", extra="plots", purpose="a figure")

from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from beholder.base.rounding import fixed
from beholder.metrics.vcs.findings import DirectionSteps, RegularizerStep
from beholder.records import Side

_COLOURS = {"precision": "#d1495b", "recall": "#0b6e99"}
_GREYS = LinearSegmentedColormap.from_list(
    "similarity", ["#ffffff", "#646464"]
)
_ROOM = 10
"""Chunks for which a drawing has room at least: fewer are drawn no larger."""
_VERDICT_COLOURS = {
    "match": "#e9ecef",
    "out_of_order": "#f4a261",
    "unmatched": "#6c757d",
}


def alignment_figure(
    detail: Mapping[str, Any],
    verdicts: Mapping[Side, Sequence[str]],
    title: str = "",
) -> Figure:
    """Draw one alignment.

    Candidate chunks run to the right and reference chunks downward, so a text in order runs
    along the falling diagonal. Strips at the left and below show which chunks are out of place.

    Args:
        detail: With the keys ``similarity``, an array (R, G) of reference chunks by candidate
            chunks, and ``windows`` and ``matches``, the last two with ``precision`` per candidate
            chunk and ``recall`` per reference chunk.
        verdicts: Per side one word a chunk: ``match``, ``out_of_order`` or ``unmatched``.
        title: Stands above the drawing, as it is.

    Returns:
        A figure that belongs to no window; ``savefig`` writes it.
    """
    n_reference, n_candidate = np.shape(detail["similarity"])
    # Inches, as a page holds.
    width = float(np.clip(2.6 + 0.22 * n_candidate, 6.0, 13.0))
    least_height = min(4.8, 2.2 + 0.3 * n_reference)
    height = float(np.clip(2.0 + 0.22 * n_reference, least_height, 12.0))
    figure = Figure(figsize=(width, height), layout="constrained", dpi=120)
    axes = figure.add_subplot()
    image = axes.imshow(
        detail["similarity"], cmap=_GREYS, vmin=0.0, vmax=1.0, aspect="auto"
    )
    for direction in ("precision", "recall"):
        _draw_windows(axes, detail["windows"][direction], direction)
    across = max(n_candidate, _ROOM)
    # Points of a cell, about.
    cell = 72 * min(0.75 * width / across, 0.8 * height / n_reference)
    _draw_matches(axes, detail, verdicts["candidate"], "precision", cell)
    _draw_matches(axes, detail, verdicts["reference"], "recall", cell)
    _draw_strips(axes, verdicts)
    axes.set_title(title, fontsize=9, loc="left", parse_math=False)
    figure.colorbar(image, ax=axes, label="similarity", shrink=0.6, pad=0.02)
    marks = {
        "o  candidate's matches and windows": _COLOURS["precision"],
        "x  reference's matches and windows": _COLOURS["recall"],
    }
    handles = [
        Patch(facecolor=to_rgba(colour, 0.3), edgecolor=colour, label=label)
        for label, colour in marks.items()
    ]
    handles += [
        Patch(facecolor=colour, label=verdict.replace("_", " "))
        for verdict, colour in _VERDICT_COLOURS.items()
    ]
    _add_legend(figure, handles, 3)
    return figure


def _add_legend(
    figure: Figure, handles: Sequence[Any], n_columns: int
) -> None:
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=n_columns,
        frameon=False,
        fontsize=9,
    )


def _draw_windows(axes: Axes, windows: Any, direction: str) -> None:
    boxes = []
    for index, (start, end) in enumerate(np.asarray(windows).tolist()):
        corner, size = (index - 0.5, start - 0.5), (1, end - start)
        if direction == "recall":
            corner, size = corner[::-1], size[::-1]
        boxes.append(Rectangle(corner, *size))
    face, edge = (to_rgba(_COLOURS[direction], a) for a in (0.16, 0.55))
    axes.add_collection(PatchCollection(boxes, facecolor=face, edgecolor=edge))


def _draw_matches(
    axes: Axes,
    detail: Mapping[str, Any],
    verdicts: Sequence[str],
    direction: str,
    cell: float,
) -> None:
    """Draw the line of matches: circles for the candidate's, crosses for the reference's."""
    matches, colour = detail["matches"][direction], _COLOURS[direction]
    places = (np.arange(len(verdicts)), np.asarray(matches))
    x, y = places if direction == "precision" else places[::-1]
    axes.plot(x, y, color=colour, linewidth=0.8, alpha=0.25)
    # The match of a chunk without counterpart means little: grey.
    grey = _VERDICT_COLOURS["unmatched"]
    colours = [
        grey if verdict == "unmatched" else colour for verdict in verdicts
    ]
    if direction == "precision":
        size = float(np.clip(0.75 * cell, 4.5, 15))
        style: dict[str, Any] = {"facecolors": "none", "edgecolors": colours}
    else:
        size = float(np.clip(0.4 * cell, 3, 7))
        style = {"marker": "x", "c": colours}
    axes.scatter(x, y, s=size**2, linewidths=1.5, **style)


def _draw_strips(axes: Axes, verdicts: Mapping[Side, Sequence[str]]) -> None:
    """Draw one cell per chunk beside the matrix, coloured by verdict, and the scales."""
    n_candidate, n_reference = map(len, verdicts.values())
    below, left_width = (
        0.03 * (max(n, _ROOM) + 1) for n in (n_reference, n_candidate)
    )
    faces = {
        side: [_VERDICT_COLOURS[verdict] for verdict in words]
        for side, words in verdicts.items()
    }
    style: dict[str, Any] = {"edgecolor": "white", "linewidth": 0.5}
    bottom = n_reference - 0.5
    axes.bar(
        range(n_candidate),
        below,
        width=1,
        bottom=bottom,
        color=faces["candidate"],
        **style,
    )
    axes.barh(
        range(n_reference),
        -left_width,
        height=1,
        left=-0.5,
        color=faces["reference"],
        **style,
    )
    axes.set_xlim(-0.5 - left_width, max(n_candidate, _ROOM) - 0.5)
    axes.set_ylim(bottom + below, -0.5)
    for axis, count in ((axes.xaxis, n_candidate), (axes.yaxis, n_reference)):
        axis.set_major_locator(_whole(16))
        axis.set_major_formatter(_numbers(count))
    axes.set_xlabel("candidate chunk")
    axes.set_ylabel("reference chunk")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=8)


PER_PAGE = 40
"""Source chunks on a page."""

_SIZE = (11.7, 8.3)  # inches: A4 lying
_WINDOW, _LET_OFF, _INK, _IDEAL = "#d9e2ec", "#c9cfd4", "#1b1f23", "#5f7a2a"


def step_figures(
    directions: Sequence[DirectionSteps], regularizer: RegularizerStep
) -> dict[str, Figure]:
    """Draw all pages in the order of the steps; return them by name.

    Args:
        directions: Precision and recall.
        regularizer: The last step.

    Returns:
        Figures named ``windows-1``, ``candidates-1``, ``distance-1``, ``line-1``, ... with the
        number of the page, and ``regularizer``. They belong to no window.
    """
    panels: dict[str, tuple[str, _Panel]] = {
        "windows": (
            "Mapping windows: where each chunk's match is expected",
            _draw_expected,
        ),
        "candidates": (
            "Best match: candidates, and the one nearest to the window",
            _draw_candidates,
        ),
        "distance": (
            "NAS-D: distance of each match from its window",
            _draw_distances,
        ),
        "line": ("NAS-L: the line from match to match", _draw_line),
    }
    n_pages = max(-(-len(steps.matches) // PER_PAGE) for steps in directions)
    pages: dict[str, Figure] = {}
    for name, (title, panel) in panels.items():
        for page in range(n_pages):
            part = f" (page {page + 1} of {n_pages})" if n_pages > 1 else ""
            pages[f"{name}-{page + 1}"] = _draw_page(
                f"{title}{part}", directions, panel, page
            )
    pages["regularizer"] = _draw_regularizer(regularizer)
    return pages


_Panel: TypeAlias = Callable[[Axes, DirectionSteps, slice], str]
"""Draws some source chunks, with a label for each mark; returns the text of the title."""


def _draw_page(
    title: str, directions: Sequence[DirectionSteps], panel: _Panel, page: int
) -> Figure:
    first = page * PER_PAGE
    page_directions = [
        steps for steps in directions if first < len(steps.matches)
    ]
    room = min(
        _ROOM, max(steps.similarity.shape[1] for steps in page_directions)
    )
    figure = _new_figure(title, 0.5 + 0.5 * room / _ROOM)
    for place, steps in enumerate(page_directions, start=1):
        axes = figure.add_subplot(len(page_directions), 1, place)
        stop = min(first + PER_PAGE, len(steps.matches))
        facts = panel(axes, steps, slice(first, stop))
        if axes.yaxis_inverted():  # chunks of the target
            bottom, top = axes.get_ylim()
            axes.set_ylim(max(bottom, room - 0.5), top)
        axes.set_title(f"{steps.name}: {facts}", fontsize=10, loc="left")
        axes.set_xlim(first - 0.7, max(stop, first + _ROOM) - 0.3)
        axes.xaxis.set_major_locator(_whole(20))
        axes.xaxis.set_major_formatter(_numbers(len(steps.matches)))
        axes.set_xlabel(f"{steps.source} chunk", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(
            *axes.get_legend_handles_labels(), strict=True
        ):
            handles.setdefault(label, handle)
    _add_legend(figure, list(handles.values()), 5)
    return figure


def _new_figure(title: str, height: float = 1.0) -> Figure:
    size = (_SIZE[0], height * _SIZE[1])
    figure = Figure(figsize=size, layout="constrained", dpi=120)
    figure.suptitle(title, fontsize=12, x=0.01, ha="left")
    return figure


def _whole(n_bins: int | Literal["auto"] = "auto") -> MaxNLocator:
    return MaxNLocator(integer=True, nbins=n_bins, min_n_ticks=1)


def _numbers(n_chunks: int) -> FuncFormatter:
    """Chunks from 1 on; the room beyond the last has no number."""
    return FuncFormatter(
        lambda at, _: f"{at + 1:.0f}" if 0 <= at < n_chunks else ""
    )


def _draw_expected(axes: Axes, steps: DirectionSteps, part: slice) -> str:
    """Windows as bars, chunks of the target from the top down."""
    starts, ends = steps.windows.starts, steps.windows.ends
    heights = ends - starts
    axes.bar(
        range(part.start, part.stop),
        heights[part],
        bottom=starts[part] - 0.5,
        width=0.9,
        color=_WINDOW,
        zorder=0,
        label="mapping window",
    )
    # Rings at the first and last chunk stay whole.
    axes.use_sticky_edges = False
    axes.margins(y=0.07)
    axes.invert_yaxis()
    axes.yaxis.set_major_locator(_whole(12))
    n_targets = steps.similarity.shape[1]
    axes.yaxis.set_major_formatter(_numbers(n_targets))
    axes.set_ylabel(f"{steps.target} chunk", fontsize=9)
    return (
        f"{len(steps.matches)} {steps.source} chunks look into {n_targets} {steps.target}"
        f" chunks; windows of {heights.min()} to {heights.max()} chunks"
    )


def _draw_candidates(axes: Axes, steps: DirectionSteps, part: slice) -> str:
    _draw_expected(axes, steps, part)
    rows, columns = steps.candidates[part].nonzero()
    axes.scatter(
        rows + part.start,
        columns,
        s=14,
        c=_INK,
        alpha=0.6,
        linewidths=0,
        zorder=2,
        label="candidate",
    )
    axes.scatter(
        range(part.start, part.stop),
        steps.matches[part],
        s=80,
        facecolors="none",
        edgecolors=_COLOURS[steps.name],
        linewidths=1.6,
        zorder=3,
        label=f"match, {steps.name}",
    )
    n = len(steps.matches)
    n_choices = int((steps.candidates.sum(axis=1) > 1).sum())
    mean = float(steps.similarity[np.arange(n), steps.matches].mean())
    return (
        f"{n_choices} of {n} chunks had a choice; mean similarity of the matches"
        f" {fixed(mean, 3)}"
    )


def _draw_distances(axes: Axes, steps: DirectionSteps, part: slice) -> str:
    bars = {
        "within the tolerance": (steps.distances, _LET_OFF),
        f"penalty, {steps.name}": (steps.penalties, _COLOURS[steps.name]),
    }
    for label, (heights, colour) in bars.items():
        places = range(part.start, part.stop)
        axes.bar(places, heights[part], width=0.8, color=colour, label=label)
    axes.set_ylim(0, max(1.0, 1.08 * float(steps.distances[part].max())))
    axes.yaxis.set_major_locator(_whole())
    axes.set_ylabel(f"{steps.target} chunks off", fontsize=9)
    return (
        f"penalties {steps.penalties.sum():g} of at most {steps.windows.max_penalty:g}:"
        f" NAS-D {fixed(steps.nas_d, 3)}"
    )


def _draw_line(axes: Axes, steps: DirectionSteps, part: slice) -> str:
    _draw_expected(axes, steps, part)
    places, colour = np.arange(part.start, part.stop), _COLOURS[steps.name]
    for style, (name, path) in zip("-:", steps.ideals.items(), strict=False):
        axes.plot(
            places, path[part], style, color=_IDEAL, linewidth=1.2, label=name
        )
    line = steps.line[part]
    axes.plot(
        places,
        line,
        "-o",
        color=colour,
        linewidth=1.4,
        markersize=4,
        label=f"line, {steps.name}",
    )
    moved = line != steps.matches[part]
    if moved.any():
        axes.scatter(
            places[moved],
            steps.matches[part][moved],
            s=26,
            marker="x",
            c=_INK,
            zorder=3,
            label="match before the tolerance",
        )
    below = axes.twinx()
    credits = steps.credits[part]
    below.bar(
        part.start + 0.5 + np.arange(len(credits)),
        credits,
        width=0.25,
        color=colour,
        alpha=0.35,
        label=f"{steps.credit}, {steps.name}",
    )
    below.set_ylim(0, 4 * max(1.0, float(steps.credits.max(initial=0.0))))
    below.set_ylabel(steps.credit, fontsize=8)
    below.yaxis.set_major_locator(MaxNLocator(nbins=4))
    below.spines["top"].set_visible(False)
    below.tick_params(labelsize=7)
    return f"{steps.line_note}: NAS-L {fixed(steps.nas_l, 3)}"


def _draw_regularizer(step: RegularizerStep) -> Figure:
    figure = _new_figure("Regularizer, and how the parts are joined")
    curve, bars = figure.subplots(2, 1)
    curve.plot(step.lengths, step.curve, "-", color=_INK, linewidth=1.2)
    curve.plot(
        step.shorter,
        step.value,
        "o",
        color=_COLOURS["precision"],
        markersize=9,
    )
    curve.set_xlabel(
        f"chunks of the shorter text; the longer one has {step.longer}",
        fontsize=9,
    )
    curve.set_ylabel("regularizer", fontsize=9)
    curve.set_ylim(-0.03, 1.03)
    curve.xaxis.set_major_locator(_whole())
    nas_f1, nas = (fixed(step.values[name], 3) for name in ("nas_f1", "nas"))
    curve.set_title(
        f"{step.shorter} and {step.longer} chunks: {fixed(step.value, 3)};"
        f" NAS-F1 {nas_f1} becomes NAS {nas}",
        fontsize=10,
        loc="left",
    )
    numbers = list(step.values.values())
    bar_container = bars.bar(
        [_label_of(name) for name in step.values],
        numbers,
        width=0.65,
        color=[_bar_colour(name) for name in step.values],
    )
    labels = [fixed(number, 2) for number in numbers]
    bars.bar_label(bar_container, labels, fontsize=8)
    bars.set_ylim(min(0.0, *numbers), max(1.12, *numbers))
    bars.set_title("all values", fontsize=10, loc="left")
    for axes in (curve, bars):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    return figure


def _label_of(name: str) -> str:
    """Return the label of a value: nas_d_precision as NAS-D and, below it, precision."""
    value, _, side = name.rpartition("_")
    if side in _COLOURS:
        return f"{value.upper().replace('_', '-')}\n{side}"
    return name if name == "regularizer" else name.upper().replace("_", "-")


def _bar_colour(name: str) -> str:
    if name in ("vcs", "sas", "nas"):
        return _INK
    return _COLOURS.get(name.rpartition("_")[2], "#9aa5b1")
