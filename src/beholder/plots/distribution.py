"""The distribution of a score over items."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from beholder.rounding import fixed


def distribution_figure(
    scores: ArrayLike, *, name: str, low: float | None = None, high: float | None = None
) -> Figure:
    """Histogram of scores with their mean and median.

    Args:
        scores: (n,) finite scores, at least one.
        name: Name of the score, the label of its axis.
        low: Lowest possible score, or None to begin at the lowest one.
        high: Highest possible score, or None.
    """
    values = np.asarray(scores, dtype=np.float64)
    start = min(values.min(), values.min() if low is None else low)
    end = max(values.max(), values.max() if high is None else high)
    if start == end:
        start, end = start - 0.5, end + 0.5
    figure = Figure(figsize=(6.0, 2.6), layout="constrained")
    axes = figure.add_subplot()
    axes.hist(values, bins=25, range=(float(start), float(end)), color="#7fb2d9")
    mean, median = float(values.mean()), float(np.median(values))
    axes.axvline(mean, color="#1b1f23", linewidth=1.3, label=f"mean {fixed(mean, 3)}")
    axes.axvline(
        median, color="#1b1f23", linewidth=1.3, linestyle=":", label=f"median {fixed(median, 3)}"
    )
    axes.set_xlabel(name, parse_math=False)
    axes.set_ylabel("items")
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    axes.set_title(f"n = {len(values):,}", loc="right", fontsize=8, color="0.35")
    return figure
