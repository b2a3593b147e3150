"""A drawing of an alignment: the similarity matrix with windows and the matches of both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from numpy.typing import ArrayLike

from beholder.records import Side

_PRECISION, _RECALL = "#d1495b", "#0b6e99"
_GREYS = LinearSegmentedColormap.from_list("similarity", ["#ffffff", "#646464"])
_VERDICT_COLOURS = {"match": "#e9ecef", "out_of_order": "#f4a261", "unmatched": "#6c757d"}


def alignment_figure(
    detail: Mapping[str, Any], verdicts: Mapping[Side, Sequence[str]], title: str = ""
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
    width = float(np.clip(2.6 + 0.22 * n_candidate, 6.0, 13.0))  # inches, as a page holds
    height = float(np.clip(2.0 + 0.22 * n_reference, 4.8, 12.0))
    figure = Figure(figsize=(width, height), layout="constrained", dpi=120)
    axes = figure.add_subplot()
    image = axes.imshow(similarity, cmap=_GREYS, vmin=0.0, vmax=1.0, aspect="auto")
    _draw_windows(axes, detail["windows"]["precision"], _PRECISION, upright=True)
    _draw_windows(axes, detail["windows"]["recall"], _RECALL, upright=False)
    cell = 72 * min(0.75 * width / n_candidate, 0.8 * height / n_reference)  # points, about
    precision = np.asarray(detail["matches"]["precision"])
    recall = np.asarray(detail["matches"]["recall"])
    circle, cross = float(np.clip(0.75 * cell, 4.5, 15)), float(np.clip(0.4 * cell, 3, 7))
    columns, rows = np.arange(n_candidate), np.arange(n_reference)
    _draw_matches(axes, columns, precision, verdicts["candidate"], _PRECISION, circle)
    _draw_matches(axes, recall, rows, verdicts["reference"], _RECALL, cross)
    _draw_strip(axes, verdicts["candidate"], along_bottom=True, length=n_reference)
    _draw_strip(axes, verdicts["reference"], along_bottom=False, length=n_candidate)
    _label(axes, n_reference, n_candidate)
    axes.set_title(title, fontsize=9, loc="left", parse_math=False)
    figure.colorbar(image, ax=axes, label="similarity", shrink=0.6, pad=0.02)
    figure.legend(handles=_legend(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _draw_matches(
    axes: Axes, x: ArrayLike, y: ArrayLike, verdicts: Sequence[str], colour: str, size: float
) -> None:
    """The line of matches, circles for the candidate's and crosses for the reference's."""
    axes.plot(x, y, color=colour, linewidth=0.8, alpha=0.25)
    # The match of a chunk without counterpart means little: grey.
    grey = _VERDICT_COLOURS["unmatched"]
    colours = [grey if verdict == "unmatched" else colour for verdict in verdicts]
    if colour == _PRECISION:
        axes.scatter(x, y, s=size**2, facecolors="none", edgecolors=colours, linewidths=1.5)
    else:
        axes.scatter(x, y, s=size**2, marker="x", c=colours, linewidths=1.5)


def _draw_windows(axes: Axes, windows: ArrayLike, colour: str, *, upright: bool) -> None:
    boxes = []
    for index, (start, end) in enumerate(np.asarray(windows).tolist()):
        left, top = (index, start) if upright else (start, index)
        width, height = (1, end - start) if upright else (end - start, 1)
        boxes.append(Rectangle((left - 0.5, top - 0.5), width, height))
    face, edge = to_rgba(colour, 0.16), to_rgba(colour, 0.55)
    axes.add_collection(PatchCollection(boxes, facecolor=face, edgecolor=edge))


def _draw_strip(axes: Axes, verdicts: Sequence[str], *, along_bottom: bool, length: int) -> None:
    """One cell per chunk beside the matrix, coloured by verdict."""
    thickness = 0.03 * (length + 1)
    for index, verdict in enumerate(verdicts):
        corner = (index - 0.5, length - 0.5) if along_bottom else (-0.5 - thickness, index - 0.5)
        width, height = (1.0, thickness) if along_bottom else (thickness, 1.0)
        colour = _VERDICT_COLOURS[verdict]
        cell = Rectangle(corner, width, height, facecolor=colour, edgecolor="white", linewidth=0.5)
        axes.add_patch(cell)


def _label(axes: Axes, n_reference: int, n_candidate: int) -> None:
    axes.set_xlim(-0.5 - 0.03 * (n_candidate + 1), n_candidate - 0.5)
    axes.set_ylim(n_reference - 0.5 + 0.03 * (n_reference + 1), -0.5)
    for axis, count in ((axes.xaxis, n_candidate), (axes.yaxis, n_reference)):
        step = next(step for step in (1, 2, 5, 10, 20, 50, 100, count) if count / step <= 16)
        numbers = sorted({1, *range(step, count + 1, step)})
        axis.set_ticks([n - 1 for n in numbers], labels=[str(n) for n in numbers], fontsize=8)
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
