"""Systems by score as one figure: a panel a metric, a point with its interval a system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.base.files import make_folder
from beholder.base.optional import require
from beholder.errors import ConfigError
from beholder.report.figures import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from beholder.run.leaderboard import Board

FORMATS = ("svg", "png", "pdf")


def write_standing_figure(boards: Sequence[Board], path: Path) -> None:
    """Draw the systems of all boards, in the format of the file's ending.

    Raises:
        ConfigError: The ending is not a format, or no system has a score.
        MissingExtraError: matplotlib is not installed.
    """
    ending = path.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise ConfigError(
            f"--figure {path}: expected a file that ends in {', '.join(FORMATS)}"
        )
    boards_with_means = [
        board
        for board in boards
        if any(s.mean is not None for s in board.standings)
    ]
    if not boards_with_means:
        raise ConfigError(f"--figure {path}: no system has a score to draw")
    require("matplotlib", extra="plots", purpose="drawing figures")
    make_folder(path.parent)
    save(standing_figure(boards_with_means), path.with_suffix(""), [ending])


def standing_figure(boards: Sequence[Board]) -> Figure:
    """Draw the means of systems with their intervals, the best on top.

    Args:
        boards: One or more, each with a system that has a mean.
    """
    from matplotlib.figure import Figure  # loads slowly

    # The height of a panel grows with its systems, so that points have equal
    # distances in all panels.
    heights = [0.9 + 0.28 * len(board.standings) for board in boards]
    figure = Figure(figsize=(6.4, sum(heights)), layout="constrained")
    panels = figure.subplots(
        len(boards), 1, squeeze=False, height_ratios=heights
    )[:, 0]
    for board, axes in zip(boards, panels, strict=True):
        standings = [
            standing
            for standing in board.standings
            if standing.mean is not None
        ]
        for place, standing in enumerate(standings):
            if standing.interval is not None:
                ends = [standing.interval.low, standing.interval.high]
                axes.plot(ends, [place, place], color="#7fb2d9", linewidth=2.5)
            axes.plot(
                standing.mean, place, marker="o", color="#0072b2", markersize=5
            )
        names = [standing.system for standing in standings]
        axes.set_yticks(range(len(names)), names)
        # A name may have a dollar sign, which begins a formula in matplotlib.
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.set_ylim(len(standings) - 0.5, -0.5)
        axes.set_xlabel(
            f"{board.metric}.{board.value} (mean, 95 % interval over {board.n_sources:,} sources)",
            parse_math=False,
            fontsize=8,
        )
        axes.grid(axis="x", alpha=0.3)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    return figure
