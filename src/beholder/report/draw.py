"""The page and the figures of a run, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from beholder.errors import ConfigError, RunError
from beholder.report.figures import write_figures
from beholder.kinds.scores.page import write_report
from beholder.kinds.generation.page import write_made
from beholder.kinds.narratives.report import write_study, write_study_figures
from beholder.report.rank import write_ranking, write_ranking_figures
from beholder.run import manifest
from beholder.kinds.narratives.engine import KIND as NARRATIVES
from beholder.kinds.ranking.engine import KIND as RANKING
from beholder.kinds.generation.reviews import KIND as REVIEWS
from beholder.run.rows.rows import KIND as ROWS

Page: TypeAlias = Callable[[Path, Path | None], Path]
Figures: TypeAlias = Callable[[Path, Path], list[Path]]


@dataclass(frozen=True)
class Drawing:
    """How a kind of run is drawn.

    Attributes:
        page: Writes the page of a run folder into a file (``report.html`` in the run if None).
        figures: Writes its figures into a folder; None for a kind without figures.
    """

    page: Page
    figures: Figures | None = None


DRAWINGS: Mapping[str, Drawing] = {
    manifest.SCORES: Drawing(write_report, write_figures),
    RANKING: Drawing(write_ranking, write_ranking_figures),
    NARRATIVES: Drawing(write_study, write_study_figures),
    ROWS: Drawing(write_made),
    REVIEWS: Drawing(write_made),
}


def draw(run_folder: Path, output: Path | None = None) -> Path:
    """Draw the page of a run and give its file.

    Args:
        run_folder: A run directory of any kind.
        output: The file to write; ``report.html`` in the run directory if None.

    Raises:
        RunError: The folder holds no run, or one of an unknown kind, or the file cannot be written.
    """
    return _drawing(run_folder).page(run_folder, output)


def draw_figures(run_folder: Path, figures_dir: Path) -> list[Path]:
    """Write the figures of a run as PNG and SVG and give the files.

    Raises:
        ConfigError: Runs of this kind have no figures of their own.
        RunError: The folder holds no run, or one of an unknown kind.
    """
    figures = _drawing(run_folder).figures
    if figures is None:
        kind = manifest.kind_of(run_folder)
        raise ConfigError(
            f"a run of the kind {kind!r} has no figures of its own; leave out figures"
        )
    return figures(run_folder, figures_dir)


def _drawing(run_folder: Path) -> Drawing:
    kind = manifest.kind_of(run_folder)
    if kind not in DRAWINGS:
        raise RunError(
            f"{run_folder} holds a run of the kind {kind!r}; this beholder draws:"
            f" {', '.join(DRAWINGS)}"
        )
    return DRAWINGS[kind]
