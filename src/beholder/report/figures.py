"""``beholder report --figures``: a run's drawings as image files, from its store alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.base.files import (
    make_folder,
    safe_name,
    write_atomically,
    write_text,
)
from beholder.base.rounding import fixed
from beholder.records import ItemScore, Side
from beholder.report.charts import histogram
from beholder.report.load import load
from beholder.report.pages import histogram_svg
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
    """Write the distribution of each metric as SVG, and the alignments of its worst and best items.

    Args:
        run_folder: A run directory.
        figures_dir: Folder for the files, made if need be.
        formats: Endings of the alignments' files, of those that matplotlib knows.
        max_items: Items per metric to draw; the worst and best ones, and an even sample.

    Returns:
        The files, in the order they were written. Equal runs give equal files.

    Raises:
        RunError: The folder contains no run.
    """
    from beholder.metrics.vcs.plots import (
        alignment_figure,
    )  # matplotlib loads slowly

    manifest.check_kind(run_folder, manifest.SCORES)
    make_folder(figures_dir)
    written: list[Path] = []
    with Store.read(run_folder) as store:
        run = load(store)
        # Numbered names keep the order of metrics in a folder, and are unique
        # if two names read alike as files.
        for number, metric in enumerate(run.metrics):
            stem = f"{number + 1}-{safe_name(metric.name)}"
            value = metric.headline
            scores = metric.finite(value.name)
            if not len(scores):
                continue
            chart = figures_dir / f"{stem}-distribution.svg"
            write_text(
                chart, histogram_svg(histogram(value, scores), value.name)
            )
            written.append(chart)
            # The worst items, the best and an even sample; drawing all would
            # take too long.
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
    """Return the verdict of each chunk, by side of an alignment."""
    return {
        side: [score.units[key].verdict or "match" for key in keys]
        for side, keys in chunk_units(score).items()
    }


def save(figure: Figure, stem: Path, formats: Sequence[str]) -> list[Path]:
    """Write a figure in each format; equal figures give equal files.

    Args:
        figure: The figure.
        stem: Path without ending.
        formats: Endings.
    """
    from matplotlib import rc_context

    paths = []
    for ending in formats:
        path = stem.with_name(f"{stem.name}.{ending}")
        metadata = {"Date": None} if ending == "svg" else {"Software": None}
        # Without the salt, ids in the file are random.
        with (
            rc_context({"svg.hashsalt": "beholder"}),
            write_atomically(path) as unfinished,
        ):
            figure.savefig(
                unfinished, format=ending, dpi=160, metadata=metadata
            )
        paths.append(path)
    return paths
