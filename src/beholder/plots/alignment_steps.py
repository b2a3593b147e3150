"""Drawings of an alignment step by step: windows, candidates, distances, lines, regularizer.

Long texts are cut into pages of ``PER_PAGE`` source chunks; each page shows the part of the other
text that it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from beholder.rounding import fixed

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.int64]

PER_PAGE = 40
"""Source chunks on a page."""

_SIZE = (11.7, 8.3)  # inches: A4 lying
_COLOURS = {"precision": "#d1495b", "recall": "#0b6e99"}
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
    candidates: npt.NDArray[np.bool_]
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
        "windows": ("Mapping windows: where each chunk's match is expected", _windows),
        "candidates": ("Best match: candidates, and the one nearest to the window", _candidates),
        "distance": ("NAS-D: distance of each match from its window", _distance),
        "line": ("NAS-L: the line from match to match", _line),
    }
    n_pages = max(-(-len(one.matches) // PER_PAGE) for one in directions)
    pages: dict[str, Figure] = {}
    for name, (title, panel) in panels.items():
        for page in range(n_pages):
            part = f" (page {page + 1} of {n_pages})" if n_pages > 1 else ""
            pages[f"{name}-{page + 1}"] = _page(f"{title}{part}", directions, panel, page)
    pages["regularizer"] = _regularizer(regularizer)
    return pages


_Handle = Patch | Line2D
_Panel = Callable[[Axes, DirectionSteps, range], tuple[str, list[_Handle]]]
"""Draws some source chunks; gives what stands above, and handles for the legend."""


def _page(title: str, directions: Sequence[DirectionSteps], panel: _Panel, page: int) -> Figure:
    figure = Figure(figsize=_SIZE, layout="constrained", dpi=120)
    figure.suptitle(title, fontsize=12, x=0.01, ha="left")
    shown = [one for one in directions if page * PER_PAGE < len(one.matches)]
    handles: dict[str, _Handle] = {}
    for place, one in enumerate(shown):
        axes = figure.add_subplot(len(shown), 1, place + 1)
        chunks = range(page * PER_PAGE, min((page + 1) * PER_PAGE, len(one.matches)))
        facts, drawn = panel(axes, one, chunks)
        axes.set_title(f"{one.name}: {facts}", fontsize=10, loc="left")
        for handle in drawn:
            handles.setdefault(str(handle.get_label()), handle)
        axes.set_xlim(chunks.start - 0.7, chunks.stop - 0.3)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=20))
        axes.xaxis.set_major_formatter(FuncFormatter(_from_one))
        axes.set_xlabel(f"{one.source} chunk", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    entries = list(handles.values())
    figure.legend(handles=entries, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    return figure


def _from_one(place: float, _: object = None) -> str:
    return f"{place + 1:.0f}"


def _draw_windows(axes: Axes, one: DirectionSteps, chunks: range) -> Patch:
    """Windows as bars, chunks of the target from the top down."""
    part = slice(chunks.start, chunks.stop)
    heights = one.ends[part] - one.starts[part]
    axes.bar(chunks, heights, bottom=one.starts[part] - 0.5, width=0.9, color=_WINDOW, zorder=0)
    axes.use_sticky_edges = False  # rings at the first and last chunk stay whole
    axes.margins(y=0.07)
    axes.invert_yaxis()
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    axes.yaxis.set_major_formatter(FuncFormatter(_from_one))
    axes.set_ylabel(f"{one.target} chunk", fontsize=9)
    return Patch(color=_WINDOW, label="mapping window")


def _windows(axes: Axes, one: DirectionSteps, chunks: range) -> tuple[str, list[_Handle]]:
    height = one.ends - one.starts
    facts = (
        f"{len(one.matches)} {one.source} chunks look into {one.similarity.shape[1]} {one.target}"
        f" chunks; windows of {height.min()} to {height.max()} chunks"
    )
    return facts, [_draw_windows(axes, one, chunks)]


def _candidates(axes: Axes, one: DirectionSteps, chunks: range) -> tuple[str, list[_Handle]]:
    window = _draw_windows(axes, one, chunks)
    part, colour = slice(chunks.start, chunks.stop), _COLOURS[one.name]
    rows, columns = one.candidates[part].nonzero()
    axes.scatter(rows + chunks.start, columns, s=14, c=[_INK], alpha=0.6, linewidths=0, zorder=2)
    axes.scatter(chunks, one.matches[part], s=80, facecolors="none", edgecolors=colour,
                 linewidths=1.6, zorder=3)  # fmt: skip
    several = int((one.candidates.sum(axis=1) > 1).sum())
    mean = float(one.similarity[np.arange(len(one.matches)), one.matches].mean())
    facts = (
        f"{several} of {len(one.matches)} chunks had a choice; mean similarity of the matches"
        f" {fixed(mean, 3)}"
    )
    dot = Line2D([], [], marker="o", color=_INK, linestyle="", markersize=4, label="candidate")
    match = Line2D([], [], marker="o", markerfacecolor="none", markeredgecolor=colour,
                   linestyle="", markersize=9, label=f"match, {one.name}")  # fmt: skip
    return facts, [window, dot, match]


def _distance(axes: Axes, one: DirectionSteps, chunks: range) -> tuple[str, list[_Handle]]:
    part, colour = slice(chunks.start, chunks.stop), _COLOURS[one.name]
    axes.bar(chunks, one.distances[part], width=0.8, color=_LET_OFF)
    axes.bar(chunks, one.penalties[part], width=0.8, color=colour)
    axes.set_ylim(0, max(1.0, 1.08 * float(one.distances[part].max())))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel(f"{one.target} chunks off", fontsize=9)
    facts = (
        f"penalties {one.penalties.sum():g} of at most {one.max_penalty:g}:"
        f" NAS-D {fixed(one.nas_d, 3)}"
    )
    penalty = Patch(color=colour, label=f"penalty, {one.name}")
    return facts, [penalty, Patch(color=_LET_OFF, label="within the tolerance")]


def _line(axes: Axes, one: DirectionSteps, chunks: range) -> tuple[str, list[_Handle]]:
    part, colour = slice(chunks.start, chunks.stop), _COLOURS[one.name]
    handles: list[_Handle] = [_draw_windows(axes, one, chunks)]
    for style, (name, path) in zip(("-", ":"), one.ideals.items(), strict=False):
        handles += axes.plot(chunks, path[part], style, color=_IDEAL, linewidth=1.2, label=name)
    handles += axes.plot(chunks, one.line[part], "-o", color=colour, linewidth=1.4, markersize=4,
                         label=f"line, {one.name}")  # fmt: skip
    moved = one.line[part] != one.matches[part]
    if moved.any():
        places = np.arange(chunks.start, chunks.stop)[moved]
        axes.scatter(places, one.matches[part][moved], s=26, marker="x", c=[_INK], zorder=3)
        label = "match before the tolerance"
        handles.append(Line2D([], [], marker="x", color=_INK, linestyle="", label=label))
    below = axes.twinx()
    credits = one.credits[part]
    places = chunks.start + 0.5 + np.arange(len(credits))
    below.bar(places, credits, width=0.25, color=colour, alpha=0.35)
    below.set_ylim(0, 4 * max(1.0, float(one.credits.max(initial=0.0))))
    below.set_ylabel(one.credit, fontsize=8)
    below.yaxis.set_major_locator(MaxNLocator(nbins=4))
    below.spines["top"].set_visible(False)
    below.tick_params(labelsize=7)
    handles.append(Patch(color=colour, alpha=0.35, label=f"{one.credit}, {one.name}"))
    return f"{one.line_note}: NAS-L {fixed(one.nas_l, 3)}", handles


def _regularizer(step: RegularizerStep) -> Figure:
    figure = Figure(figsize=_SIZE, layout="constrained", dpi=120)
    figure.suptitle("Regularizer, and how the parts are joined", fontsize=12, x=0.01, ha="left")
    curve, bars = figure.subplots(2, 1)
    curve.plot(step.lengths, step.curve, "-", color=_INK, linewidth=1.2)
    curve.plot([step.shorter], [step.value], "o", color=_COLOURS["precision"], markersize=9)
    curve.set_xlabel(f"chunks of the shorter text; the longer one has {step.longer}", fontsize=9)
    curve.set_ylabel("regularizer", fontsize=9)
    curve.set_ylim(-0.03, 1.03)
    curve.xaxis.set_major_locator(MaxNLocator(integer=True))
    nas_f1, nas = fixed(step.values["nas_f1"], 3), fixed(step.values["nas"], 3)
    facts = f"{step.shorter} and {step.longer} chunks: {fixed(step.value, 3)}"
    curve.set_title(f"{facts}; NAS-F1 {nas_f1} becomes NAS {nas}", fontsize=10, loc="left")
    names, numbers = list(step.values), list(step.values.values())
    bars.bar(range(len(names)), numbers, width=0.65, color=[_bar_colour(name) for name in names])
    for place, number in enumerate(numbers):
        top = max(number, 0.0)
        bars.text(place, top, fixed(number, 2), ha="center", va="bottom", fontsize=8)
    bars.set_xticks(range(len(names)), [_shown(name) for name in names], fontsize=7)
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
