"""``beholder report --figures``: a run's drawings as image files, from its store alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from beholder.base.files import make_folder, replacing, safe_name
from beholder.base.rounding import fixed
from beholder.records import ItemScore, Side
from beholder.report.load import load
from beholder.report.payload import choose
from beholder.report.views import chunk_units
from beholder.run import manifest
from beholder.run.store import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MAX_ITEMS = 12
"""Items per metric whose alignments are drawn: a drawing takes about half a second."""


def write_figures(
    run_folder: Path,
    figures_dir: Path,
    formats: Sequence[str] = ("png", "svg"),
    *,
    max_items: int = MAX_ITEMS,
) -> list[Path]:
    """Write the distribution of each metric, and the alignments of its worst and best items.

    Args:
        run_folder: A run directory.
        figures_dir: Folder for the files, made if need be.
        formats: Endings that matplotlib knows.
        max_items: Items per metric to draw; the worst and best ones, and an even sample.

    Returns:
        The files, in the order they were written. Equal runs give equal files.

    Raises:
        RunError: The folder holds no run.
    """
    from beholder.metrics.vcs.plots import (
        alignment_figure,
    )  # matplotlib loads slowly

    manifest.check_kind(run_folder, manifest.SCORES)
    make_folder(figures_dir)
    written: list[Path] = []
    with Store.read(run_folder) as store:
        run = load(store)
        for number, metric in enumerate(run.metrics):
            stem = f"{number + 1}-{safe_name(metric.name)}"
            value = metric.headline
            scores = metric.finite(value.name)
            if not len(scores):
                continue
            figure = distribution_figure(
                scores, name=value.name, low=value.low, high=value.high
            )
            written += save(
                figure, figures_dir / f"{stem}-distribution", formats
            )
            ranking = metric.ranking().tolist()
            for position in sorted(
                choose(run.n_items, [ranking, ranking[::-1]], max_items)
            ):
                score = store.score(metric.name, position)
                if (
                    not isinstance(score, ItemScore)
                    or score.detail.get("view") != "alignment"
                ):
                    continue
                [(_, item)] = store.items([position])
                title = f"{value.name} {fixed(score.values[value.name], 3)}"
                figure = alignment_figure(
                    score.detail, chunk_verdicts(score), title
                )
                name = f"{stem}-{position:06d}-{safe_name(item.id)}"
                written += save(figure, figures_dir / name, formats)
    return written


def chunk_verdicts(score: ItemScore) -> dict[Side, list[str]]:
    """Verdict per chunk of each side of an alignment."""
    return {
        side: [score.units[key].verdict or "match" for key in keys]
        for side, keys in chunk_units(score).items()
    }


def save(figure: Figure, stem: Path, formats: Sequence[str]) -> list[Path]:
    """Write a figure under a name without ending, once per format; equal figures, equal files."""
    from matplotlib import rc_context

    paths = []
    for ending in formats:
        path = stem.with_name(f"{stem.name}.{ending}")
        metadata = {"Date": None} if ending == "svg" else {"Software": None}
        # Without the salt, ids in the file are random.
        with (
            rc_context({"svg.hashsalt": "beholder"}),
            replacing(path) as unfinished,
        ):
            figure.savefig(
                unfinished, format=ending, dpi=160, metadata=metadata
            )
        paths.append(path)
    return paths


def distribution_figure(
    scores: ArrayLike,
    *,
    name: str,
    low: float | None = None,
    high: float | None = None,
) -> Figure:
    """Histogram of scores with their mean and median.

    Args:
        scores: (n,) finite scores, at least one.
        name: Name of the score, the label of its axis.
        low: Lowest possible score, or None to begin at the lowest one.
        high: Highest possible score, or None.
    """
    from matplotlib.figure import Figure  # an extra, and loads slowly
    from matplotlib.ticker import MaxNLocator

    values = np.asarray(scores, dtype=np.float64)
    start = values.min() if low is None else min(values.min(), low)
    end = values.max() if high is None else max(values.max(), high)
    if start == end:
        start, end = start - 0.5, end + 0.5
    figure = Figure(figsize=(6.0, 2.6), layout="constrained")
    axes = figure.add_subplot()
    axes.hist(
        values, bins=25, range=(float(start), float(end)), color="#7fb2d9"
    )
    for name_, middle, line in (
        ("mean", values.mean(), "-"),
        ("median", np.median(values), ":"),
    ):
        label = f"{name_} {fixed(float(middle), 3)}"
        axes.axvline(
            float(middle),
            color="#1b1f23",
            linewidth=1.3,
            linestyle=line,
            label=label,
        )
    axes.set_xlabel(name, parse_math=False)
    axes.set_ylabel("items")
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        frameon=False,
        fontsize=8,
        ncols=2,
        loc="lower left",
        bbox_to_anchor=(0, 1),
    )
    axes.set_title(
        f"n = {len(values):,}", loc="right", fontsize=8, color="0.35"
    )
    return figure
