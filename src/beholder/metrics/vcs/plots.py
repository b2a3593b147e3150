"""Drawings of an alignment: the matrix of similarities with windows and matches, and its steps.

The steps are windows, candidates, distances, lines and the regularizer. Long texts are cut into
pages of ``PER_PAGE`` source chunks; each page shows the part of the other text that it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from beholder.base.optional import require

require("matplotlib", extra="plots", purpose="a figure")

from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import ArrayLike, NDArray

from beholder.base.rounding import fixed
from beholder.records import Side

_PRECISION, _RECALL = "#d1495b", "#0b6e99"
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
    similarity = np.asarray(detail["similarity"])
    n_reference, n_candidate = similarity.shape
    width = float(
        np.clip(2.6 + 0.22 * n_candidate, 6.0, 13.0)
    )  # inches, as a page holds
    height = float(
        np.clip(
            2.0 + 0.22 * n_reference, min(4.8, 2.2 + 0.3 * n_reference), 12.0
        )
    )
    figure = Figure(figsize=(width, height), layout="constrained", dpi=120)
    axes = figure.add_subplot()
    image = axes.imshow(
        similarity, cmap=_GREYS, vmin=0.0, vmax=1.0, aspect="auto"
    )
    _draw_windows(
        axes, detail["windows"]["precision"], _PRECISION, upright=True
    )
    _draw_windows(axes, detail["windows"]["recall"], _RECALL, upright=False)
    across = max(n_candidate, _ROOM)
    cell = 72 * min(
        0.75 * width / across, 0.8 * height / n_reference
    )  # points, about
    precision = np.asarray(detail["matches"]["precision"])
    recall = np.asarray(detail["matches"]["recall"])
    circle, cross = (
        float(np.clip(0.75 * cell, 4.5, 15)),
        float(np.clip(0.4 * cell, 3, 7)),
    )
    columns, rows = np.arange(n_candidate), np.arange(n_reference)
    _draw_matches(
        axes, columns, precision, verdicts["candidate"], _PRECISION, circle
    )
    _draw_matches(axes, recall, rows, verdicts["reference"], _RECALL, cross)
    _draw_strip(
        axes, verdicts["candidate"], along_bottom=True, length=n_reference
    )
    _draw_strip(
        axes, verdicts["reference"], along_bottom=False, length=n_candidate
    )
    _label(axes, n_reference, n_candidate)
    axes.set_title(title, fontsize=9, loc="left", parse_math=False)
    figure.colorbar(image, ax=axes, label="similarity", shrink=0.6, pad=0.02)
    figure.legend(
        handles=_legend(),
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=9,
    )
    return figure


def _draw_matches(
    axes: Axes,
    x: ArrayLike,
    y: ArrayLike,
    verdicts: Sequence[str],
    colour: str,
    size: float,
) -> None:
    """The line of matches, circles for the candidate's and crosses for the reference's."""
    axes.plot(x, y, color=colour, linewidth=0.8, alpha=0.25)
    # The match of a chunk without counterpart means little: grey.
    grey = _VERDICT_COLOURS["unmatched"]
    colours = [
        grey if verdict == "unmatched" else colour for verdict in verdicts
    ]
    if colour == _PRECISION:
        axes.scatter(
            x,
            y,
            s=size**2,
            facecolors="none",
            edgecolors=colours,
            linewidths=1.5,
        )
    else:
        axes.scatter(x, y, s=size**2, marker="x", c=colours, linewidths=1.5)


def _draw_windows(
    axes: Axes, windows: ArrayLike, colour: str, *, upright: bool
) -> None:
    boxes = []
    for index, (start, end) in enumerate(np.asarray(windows).tolist()):
        left, top = (index, start) if upright else (start, index)
        width, height = (1, end - start) if upright else (end - start, 1)
        boxes.append(Rectangle((left - 0.5, top - 0.5), width, height))
    face, edge = to_rgba(colour, 0.16), to_rgba(colour, 0.55)
    axes.add_collection(PatchCollection(boxes, facecolor=face, edgecolor=edge))


def _draw_strip(
    axes: Axes, verdicts: Sequence[str], *, along_bottom: bool, length: int
) -> None:
    """One cell per chunk beside the matrix, coloured by verdict."""
    thickness = _thickness(length)
    for index, verdict in enumerate(verdicts):
        corner = (
            (index - 0.5, length - 0.5)
            if along_bottom
            else (-0.5 - thickness, index - 0.5)
        )
        width, height = (1.0, thickness) if along_bottom else (thickness, 1.0)
        colour = _VERDICT_COLOURS[verdict]
        cell = Rectangle(
            corner,
            width,
            height,
            facecolor=colour,
            edgecolor="white",
            linewidth=0.5,
        )
        axes.add_patch(cell)


def _thickness(length: int) -> float:
    return 0.03 * (max(length, _ROOM) + 1)


def _label(axes: Axes, n_reference: int, n_candidate: int) -> None:
    axes.set_xlim(
        -0.5 - _thickness(n_candidate), max(n_candidate, _ROOM) - 0.5
    )
    axes.set_ylim(n_reference - 0.5 + _thickness(n_reference), -0.5)
    for axis, count in ((axes.xaxis, n_candidate), (axes.yaxis, n_reference)):
        step = next(
            step
            for step in (1, 2, 5, 10, 20, 50, 100, count)
            if count / step <= 16
        )
        numbers = sorted({1, *range(step, count + 1, step)})
        axis.set_ticks(
            [n - 1 for n in numbers],
            labels=[str(n) for n in numbers],
            fontsize=8,
        )
    axes.set_xlabel("candidate chunk")
    axes.set_ylabel("reference chunk")
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)


def _legend() -> list[Patch]:
    marks = {
        "o  candidate's matches and windows": _PRECISION,
        "x  reference's matches and windows": _RECALL,
    }
    windows = [
        Patch(facecolor=to_rgba(colour, 0.3), edgecolor=colour, label=label)
        for label, colour in marks.items()
    ]
    return windows + [
        Patch(facecolor=colour, label=verdict.replace("_", " "))
        for verdict, colour in _VERDICT_COLOURS.items()
    ]


Floats = NDArray[np.floating]
Ints = NDArray[np.int64]

PER_PAGE = 40
"""Source chunks on a page."""

_SIZE = (11.7, 8.3)  # inches: A4 lying
_COLOURS = {"precision": _PRECISION, "recall": _RECALL}
_WINDOW, _LET_OFF, _INK, _IDEAL = "#d9e2ec", "#c9cfd4", "#1b1f23", "#5f7a2a"


@dataclass(frozen=True, eq=False)
class DirectionSteps:
    """One direction of an alignment: each source chunk looks into the target text.

    Attributes:
        name: ``precision`` or ``recall``.
        source: What is walked: ``candidate`` or ``reference``.
        target: What is looked into.
        starts: First target chunk of each window, (n,).
        ends: One past the last target chunk, (n,).
        similarity: (n, targets).
        candidates: Which target chunks come close enough to the best to be its match, (n, targets).
        matches: The match of each source chunk, (n,).
        distances: How far each match lies outside its window, (n,).
        penalties: What of it counts, (n,).
        max_penalty: The largest sum of penalties there can be.
        nas_d: The distance score.
        line: Target place of each source chunk on the line, (n,).
        credits: What each step of the line counts, (n - 1,).
        credit: What that number is.
        ideals: Shortest and longest ideal line by name, where the rules draw them.
        line_note: How the line score follows from its steps.
        nas_l: The line score.
    """

    name: str
    source: str
    target: str
    starts: Ints
    ends: Ints
    similarity: Floats
    candidates: NDArray[np.bool_]
    matches: Ints
    distances: Ints
    penalties: Floats
    max_penalty: float
    nas_d: float
    line: Floats
    credits: Floats
    credit: str
    ideals: Mapping[str, Ints]
    line_note: str
    nas_l: float


@dataclass(frozen=True, eq=False)
class RegularizerStep:
    """What unequal lengths take off.

    Attributes:
        lengths: Chunks of the shorter text, for a curve.
        curve: The regularizer at each of them, the longer text as it is.
        shorter: Chunks of the shorter text.
        longer: Chunks of the longer text.
        value: The regularizer.
        values: All values of the score by name.
    """

    lengths: Sequence[int]
    curve: Sequence[float]
    shorter: int
    longer: int
    value: float
    values: Mapping[str, float]


def step_figures(
    directions: Sequence[DirectionSteps], regularizer: RegularizerStep
) -> dict[str, Figure]:
    """All pages in the order of the steps, by name.

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
            _windows,
        ),
        "candidates": (
            "Best match: candidates, and the one nearest to the window",
            _candidates,
        ),
        "distance": (
            "NAS-D: distance of each match from its window",
            _distance,
        ),
        "line": ("NAS-L: the line from match to match", _line),
    }
    n_pages = max(-(-len(one.matches) // PER_PAGE) for one in directions)
    pages: dict[str, Figure] = {}
    for name, (title, panel) in panels.items():
        for page in range(n_pages):
            part = f" (page {page + 1} of {n_pages})" if n_pages > 1 else ""
            pages[f"{name}-{page + 1}"] = _page(
                f"{title}{part}", directions, panel, page
            )
    pages["regularizer"] = _regularizer(regularizer)
    return pages


_Handle = Patch | Line2D
_Panel = Callable[[Axes, DirectionSteps, range], tuple[str, list[_Handle]]]
"""Draws some source chunks; gives what stands above, and handles for the legend."""


def _page(
    title: str, directions: Sequence[DirectionSteps], panel: _Panel, page: int
) -> Figure:
    shown = [one for one in directions if page * PER_PAGE < len(one.matches)]
    room = min(_ROOM, max(one.similarity.shape[1] for one in shown))
    width, height = _SIZE
    height *= 0.5 + 0.5 * room / _ROOM
    figure = Figure(figsize=(width, height), layout="constrained", dpi=120)
    figure.suptitle(title, fontsize=12, x=0.01, ha="left")
    handles: dict[str, _Handle] = {}
    for place, one in enumerate(shown):
        axes = figure.add_subplot(len(shown), 1, place + 1)
        chunks = range(
            page * PER_PAGE, min((page + 1) * PER_PAGE, len(one.matches))
        )
        facts, drawn = panel(axes, one, chunks)
        if axes.yaxis_inverted():  # chunks of the target
            bottom, top = axes.get_ylim()
            axes.set_ylim(max(bottom, room - 0.5), top)
        axes.set_title(f"{one.name}: {facts}", fontsize=10, loc="left")
        for handle in drawn:
            handles.setdefault(str(handle.get_label()), handle)
        axes.set_xlim(
            chunks.start - 0.7, max(chunks.stop, chunks.start + _ROOM) - 0.3
        )
        axes.xaxis.set_major_locator(_whole(20))
        axes.xaxis.set_major_formatter(_numbers(len(one.matches)))
        axes.set_xlabel(f"{one.source} chunk", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    entries = list(handles.values())
    figure.legend(
        handles=entries,
        loc="outside lower center",
        ncols=5,
        frameon=False,
        fontsize=9,
    )
    return figure


def _whole(n_bins: int | Literal["auto"] = "auto") -> MaxNLocator:
    return MaxNLocator(integer=True, nbins=n_bins, min_n_ticks=1)


def _numbers(n_chunks: int) -> FuncFormatter:
    """Chunks from 1 on; the room beyond the last has no number."""
    return FuncFormatter(
        lambda at, _: f"{at + 1:.0f}" if 0 <= at < n_chunks else ""
    )


def _draw_bars(axes: Axes, one: DirectionSteps, chunks: range) -> Patch:
    """Windows as bars, chunks of the target from the top down."""
    part = slice(chunks.start, chunks.stop)
    heights = one.ends[part] - one.starts[part]
    axes.bar(
        chunks,
        heights,
        bottom=one.starts[part] - 0.5,
        width=0.9,
        color=_WINDOW,
        zorder=0,
    )
    axes.use_sticky_edges = (
        False  # rings at the first and last chunk stay whole
    )
    axes.margins(y=0.07)
    axes.invert_yaxis()
    axes.yaxis.set_major_locator(_whole(12))
    axes.yaxis.set_major_formatter(_numbers(one.similarity.shape[1]))
    axes.set_ylabel(f"{one.target} chunk", fontsize=9)
    return Patch(color=_WINDOW, label="mapping window")


def _windows(
    axes: Axes, one: DirectionSteps, chunks: range
) -> tuple[str, list[_Handle]]:
    height = one.ends - one.starts
    facts = (
        f"{len(one.matches)} {one.source} chunks look into {one.similarity.shape[1]} {one.target}"
        f" chunks; windows of {height.min()} to {height.max()} chunks"
    )
    return facts, [_draw_bars(axes, one, chunks)]


def _candidates(
    axes: Axes, one: DirectionSteps, chunks: range
) -> tuple[str, list[_Handle]]:
    window = _draw_bars(axes, one, chunks)
    part, colour = slice(chunks.start, chunks.stop), _COLOURS[one.name]
    rows, columns = one.candidates[part].nonzero()
    axes.scatter(
        rows + chunks.start,
        columns,
        s=14,
        c=[_INK],
        alpha=0.6,
        linewidths=0,
        zorder=2,
    )
    axes.scatter(chunks, one.matches[part], s=80, facecolors="none", edgecolors=colour,
                 linewidths=1.6, zorder=3)  # fmt: skip
    several = int((one.candidates.sum(axis=1) > 1).sum())
    mean = float(
        one.similarity[np.arange(len(one.matches)), one.matches].mean()
    )
    facts = (
        f"{several} of {len(one.matches)} chunks had a choice; mean similarity of the matches"
        f" {fixed(mean, 3)}"
    )
    dot = Line2D(
        [],
        [],
        marker="o",
        color=_INK,
        linestyle="",
        markersize=4,
        label="candidate",
    )
    match = Line2D([], [], marker="o", markerfacecolor="none", markeredgecolor=colour,
                   linestyle="", markersize=9, label=f"match, {one.name}")  # fmt: skip
    return facts, [window, dot, match]


def _distance(
    axes: Axes, one: DirectionSteps, chunks: range
) -> tuple[str, list[_Handle]]:
    part, colour = slice(chunks.start, chunks.stop), _COLOURS[one.name]
    axes.bar(chunks, one.distances[part], width=0.8, color=_LET_OFF)
    axes.bar(chunks, one.penalties[part], width=0.8, color=colour)
    axes.set_ylim(0, max(1.0, 1.08 * float(one.distances[part].max())))
    axes.yaxis.set_major_locator(_whole())
    axes.set_ylabel(f"{one.target} chunks off", fontsize=9)
    facts = (
        f"penalties {one.penalties.sum():g} of at most {one.max_penalty:g}:"
        f" NAS-D {fixed(one.nas_d, 3)}"
    )
    penalty = Patch(color=colour, label=f"penalty, {one.name}")
    return facts, [
        penalty,
        Patch(color=_LET_OFF, label="within the tolerance"),
    ]


def _line(
    axes: Axes, one: DirectionSteps, chunks: range
) -> tuple[str, list[_Handle]]:
    part, colour = slice(chunks.start, chunks.stop), _COLOURS[one.name]
    handles: list[_Handle] = [_draw_bars(axes, one, chunks)]
    for style, (name, path) in zip(
        ("-", ":"), one.ideals.items(), strict=False
    ):
        handles += axes.plot(
            chunks, path[part], style, color=_IDEAL, linewidth=1.2, label=name
        )
    handles += axes.plot(chunks, one.line[part], "-o", color=colour, linewidth=1.4, markersize=4,
                         label=f"line, {one.name}")  # fmt: skip
    moved = one.line[part] != one.matches[part]
    if moved.any():
        places = np.arange(chunks.start, chunks.stop)[moved]
        axes.scatter(
            places,
            one.matches[part][moved],
            s=26,
            marker="x",
            c=[_INK],
            zorder=3,
        )
        label = "match before the tolerance"
        handles.append(
            Line2D([], [], marker="x", color=_INK, linestyle="", label=label)
        )
    below = axes.twinx()
    credits = one.credits[part]
    places = chunks.start + 0.5 + np.arange(len(credits))
    below.bar(places, credits, width=0.25, color=colour, alpha=0.35)
    below.set_ylim(0, 4 * max(1.0, float(one.credits.max(initial=0.0))))
    below.set_ylabel(one.credit, fontsize=8)
    below.yaxis.set_major_locator(MaxNLocator(nbins=4))
    below.spines["top"].set_visible(False)
    below.tick_params(labelsize=7)
    handles.append(
        Patch(color=colour, alpha=0.35, label=f"{one.credit}, {one.name}")
    )
    return f"{one.line_note}: NAS-L {fixed(one.nas_l, 3)}", handles


def _regularizer(step: RegularizerStep) -> Figure:
    figure = Figure(figsize=_SIZE, layout="constrained", dpi=120)
    figure.suptitle(
        "Regularizer, and how the parts are joined",
        fontsize=12,
        x=0.01,
        ha="left",
    )
    curve, bars = figure.subplots(2, 1)
    curve.plot(step.lengths, step.curve, "-", color=_INK, linewidth=1.2)
    curve.plot(
        [step.shorter], [step.value], "o", color=_PRECISION, markersize=9
    )
    curve.set_xlabel(
        f"chunks of the shorter text; the longer one has {step.longer}",
        fontsize=9,
    )
    curve.set_ylabel("regularizer", fontsize=9)
    curve.set_ylim(-0.03, 1.03)
    curve.xaxis.set_major_locator(_whole())
    nas_f1, nas = fixed(step.values["nas_f1"], 3), fixed(step.values["nas"], 3)
    facts = f"{step.shorter} and {step.longer} chunks: {fixed(step.value, 3)}"
    curve.set_title(
        f"{facts}; NAS-F1 {nas_f1} becomes NAS {nas}", fontsize=10, loc="left"
    )
    names, numbers = list(step.values), list(step.values.values())
    bars.bar(
        range(len(names)),
        numbers,
        width=0.65,
        color=[_bar_colour(name) for name in names],
    )
    for place, number in enumerate(numbers):
        top = max(number, 0.0)
        bars.text(
            place, top, fixed(number, 2), ha="center", va="bottom", fontsize=8
        )
    bars.set_xticks(
        range(len(names)), [_shown(name) for name in names], fontsize=7
    )
    bars.set_ylim(min(0.0, *numbers), max(1.12, *numbers))
    bars.set_title("all values", fontsize=10, loc="left")
    for axes in (curve, bars):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(axis="y", labelsize=8)
    return figure


def _shown(name: str) -> str:
    """nas_d_precision as NAS-D and, below it, precision."""
    value, _, side = name.rpartition("_")
    if side in _COLOURS:
        return f"{value.upper().replace('_', '-')}\n{side}"
    return name if name == "regularizer" else name.upper().replace("_", "-")


def _bar_colour(name: str) -> str:
    if name in ("vcs", "sas", "nas"):
        return _INK
    side = name.rpartition("_")[2]
    return _COLOURS.get(side, "#9aa5b1")
