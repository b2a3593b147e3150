"""Figures of an agreement report: metric against label, and agreement per category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from beholder.base.files import make_folder, safe_name
from beholder.kinds.agreement.agree import Report
from beholder.report.figures import save
from beholder.stats.checks import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE = "#0072b2", "#d55e00"
MAX_POINTS = 5000
_FORMATS = ("png", "svg")

MOST_DRAWN = 12
"""Measures that get figures, the first ones; data with many labels would be drawn for minutes."""


def write_agreement_figures(report: Report, folder: Path) -> list[Path]:
    """Write a scatter per label, and a plot per category where a measure has categories.

    Measures of the same labels share a scatter. Only the first ``MOST_DRAWN`` measures are drawn.

    Args:
        report: The agreement.
        folder: Folder for the files, created if missing.

    Returns:
        The files.
    """
    make_folder(folder)
    written: list[Path] = []
    drawn: set[tuple[str, bytes]] = set()
    for number, section in enumerate(report.sections[:MOST_DRAWN], start=1):
        stem = f"{number}-{safe_name(section.data.name)}"
        panels = [
            (row.label, scores, section.data.gold)
            for row, scores in zip(section.rows, section.scores, strict=True)
        ]
        label = section.data.name.partition(", ")[2] or section.data.name
        if (key := (label, section.data.gold.tobytes())) not in drawn:
            drawn.add(key)
            written += save(
                scatter_figure(panels, label),
                folder / f"{stem}-scatter",
                _FORMATS,
            )
        categories = {
            row.label: {
                name: value for name, (value, _) in row.categories.items()
            }
            for row in section.rows
            if row.categories
        }
        if categories:
            figure = category_figure(categories, section.data.name)
            written += save(figure, folder / f"{stem}-categories", _FORMATS)
    return written


def scatter_figure(
    panels: Sequence[tuple[str, Floats, Floats]], label: str
) -> Figure:
    """Scores against labels, one panel a metric, with the mean score per label.

    Args:
        panels: Per metric its name, (n,) scores with NaN if missing, (n,) labels.
        label: What the labels are.
    """
    from matplotlib.figure import Figure  # loads slowly

    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.4 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    rng = np.random.default_rng(0)
    for axis, (name, scores, gold) in zip(axes.flat, panels, strict=False):
        kept = np.flatnonzero(np.isfinite(scores))
        shown = (
            kept
            if len(kept) <= MAX_POINTS
            else rng.choice(kept, MAX_POINTS, replace=False)
        )
        distinct = np.unique(gold[kept])
        width = (
            0.25 * float(np.min(np.diff(distinct)))
            if 1 < len(distinct) <= 60
            else 0.0
        )
        jitter = rng.uniform(-width, width, size=len(shown))
        axis.scatter(
            gold[shown] + jitter,
            scores[shown],
            s=4,
            alpha=0.25,
            color=BLUE,
            linewidths=0,
        )
        if 1 < len(distinct) <= 60:
            means = [
                scores[kept][gold[kept] == value].mean() for value in distinct
            ]
            axis.plot(
                distinct,
                means,
                color=ORANGE,
                marker="o",
                markersize=3,
                linewidth=1.2,
            )
        if len(distinct) <= 10:
            axis.set_xticks(distinct)
        axis.set_ylabel(name, fontsize=8, parse_math=False)
        axis.set_xlabel(f"human rating: {label}", fontsize=8, parse_math=False)
        axis.tick_params(labelsize=7)
    for axis in list(axes.flat)[len(panels) :]:
        axis.set_visible(False)
    return figure


def category_figure(
    agreement: Mapping[str, Mapping[str, float]], title: str
) -> Figure:
    """Agreement of each metric per category, as dots on one line a category.

    Args:
        agreement: Per metric the value per category.
        title: What the agreement is.
    """
    from matplotlib.figure import Figure

    categories = list(
        dict.fromkeys(name for found in agreement.values() for name in found)
    )
    figure = Figure(
        figsize=(6.4, 1.2 + 0.45 * len(categories)), layout="constrained"
    )
    axis = figure.subplots()
    markers = "osD^vPX*<>"
    for place, (metric, found) in enumerate(agreement.items()):
        at = [categories.index(name) for name in found]
        offset = 0.5 * (place / max(1, len(agreement) - 1) - 0.5)
        axis.plot(
            list(found.values()),
            [y + offset for y in at],
            marker=markers[place % len(markers)],
            linestyle="",
            markersize=5,
            label=metric,
        )
    axis.set_yticks(range(len(categories)), categories, fontsize=8)
    axis.invert_yaxis()
    axis.grid(axis="y", alpha=0.3)
    axis.set_xlabel(f"agreement ({title})", fontsize=9, parse_math=False)
    axis.tick_params(axis="x", labelsize=8)
    axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
