"""The alignment of two texts: similarities, the band where matches are expected, the matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.ticker import FuncFormatter, MaxNLocator

from beholder.records import Side

# Apart for colour-blind readers (after Okabe and Ito, 2008), and apart from the blues below them.
_COLOURS = {"match": "#1b1f23", "out_of_order": "#cc5fa3", "unmatched": "#d55e00"}
_BAND = "#e69f00"


def alignment_figure(detail: Mapping[str, Any], verdicts: Mapping[Side, Sequence[str]]) -> Figure:
    """Draw an alignment.

    Rows are the reference's chunks, columns the candidate's, both counted from 1. A disc is the
    match of a candidate chunk, a diamond that of a reference chunk; the outline is the band of
    mapping windows, the same seen from both sides.

    Args:
        detail: With the keys ``similarity`` (R, G), ``windows`` and ``matches``, the last two
            with ``precision`` per candidate chunk and ``recall`` per reference chunk.
        verdicts: One word per chunk of each side: ``match``, ``out_of_order`` or ``unmatched``.

    Returns:
        A figure that belongs to no window; ``savefig`` writes it.
    """
    similarity = np.asarray(detail["similarity"], dtype=np.float64)
    n_reference, n_candidate = similarity.shape
    longest = max(n_reference, n_candidate)
    cell = min(0.32, 6.0 / longest)
    figure = Figure(
        figsize=(max(3.0, n_candidate * cell) + 1.7, max(2.0, n_reference * cell) + 1.8),
        layout="constrained",
    )
    axes = figure.add_subplot()
    image = axes.imshow(similarity, cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest")
    figure.colorbar(image, ax=axes, label="similarity", shrink=0.8, pad=0.02)
    axes.add_patch(_band(np.asarray(detail["windows"]["precision"])))

    by_candidate = np.asarray(detail["matches"]["precision"])
    by_reference = np.asarray(detail["matches"]["recall"])
    axes.plot(np.arange(n_candidate), by_candidate, color="0.35", linewidth=0.8, zorder=2)
    size = float(np.clip(cell * 72 * 0.42, 1.5, 8.0))
    for word, colour in _COLOURS.items():
        columns = [i for i, verdict in enumerate(verdicts["candidate"]) if verdict == word]
        rows = [i for i, verdict in enumerate(verdicts["reference"]) if verdict == word]
        axes.plot(
            by_reference[rows], rows, "D", markersize=size * 1.3, color=colour,
            markerfacecolor="none", zorder=3,
        )  # fmt: skip
        axes.plot(
            columns, by_candidate[columns], "o", markersize=size, color=colour,
            markeredgecolor="white", markeredgewidth=0.7, zorder=4,
        )  # fmt: skip
    _label(axes)
    return figure


def _band(windows: np.ndarray[Any, Any]) -> Polygon:
    """Outline of the windows, each one column wide."""
    columns = np.arange(len(windows))
    x = np.stack([columns, columns + 1], axis=1).ravel() - 0.5
    top, bottom = (np.repeat(windows[:, side], 2) - 0.5 for side in (0, 1))
    outline = np.concatenate([np.c_[x, top], np.c_[x, bottom][::-1]])
    return Polygon(outline, closed=True, fill=False, edgecolor=_BAND, linewidth=1.4, zorder=2)


def _label(axes: Axes) -> None:
    axes.set_xlabel("candidate chunk")
    axes.set_ylabel("reference chunk")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=12, integer=True, min_n_ticks=1))
        axis.set_major_formatter(FuncFormatter(lambda index, _: f"{index + 1:.0f}"))
    for spine in axes.spines.values():
        spine.set_color("0.75")
    signs = [
        Line2D([], [], marker="o", linestyle="none", color="0.2", label="candidate chunk's match"),
        Line2D(
            [], [], marker="D", linestyle="none", color="0.2", markerfacecolor="none",
            label="reference chunk's match",
        ),
        Line2D([], [], color=_BAND, label="where matches are expected"),
        Line2D([], [], color="0.35", linewidth=0.8, label="order of the candidate"),
        Line2D([], [], marker="s", linestyle="none", color=_COLOURS["out_of_order"],
               label="out of order"),
        Line2D([], [], marker="s", linestyle="none", color=_COLOURS["unmatched"],
               label="unmatched"),
    ]  # fmt: skip
    axes.figure.legend(
        handles=signs, loc="outside lower center", ncols=2, fontsize=7.5, frameon=False
    )
