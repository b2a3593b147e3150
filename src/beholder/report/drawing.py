"""The page and the figures of a run, whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beholder.errors import ConfigError, RunError
from beholder.optional import load, require
from beholder.run.kind import kind_of


def draw(run_folder: Path, output: Path | None = None, **options: Any) -> Path:
    """Draw the page of a run.

    Args:
        run_folder: A run directory of any kind.
        output: The file to write; ``report.html`` in the run directory if None.
        options: Further arguments of the page of that kind, such as ``media_root``.

    Returns:
        The file.

    Raises:
        RunError: The folder holds no run, or one of an unknown kind or of a kind without a page,
            or the file cannot be written.
    """
    kind = kind_of(run_folder)
    if not kind.page:
        raise RunError(f"{run_folder}: runs of the kind {kind.name!r} have no page")
    written: Path = load(kind.page)(run_folder, output, **options)
    return written


def draw_figures(run_folder: Path, figures_dir: Path) -> list[Path]:
    """Write the figures of a run as PNG and SVG.

    Returns:
        The files.

    Raises:
        ConfigError: Runs of this kind have no figures.
        MissingExtraError: matplotlib is not installed.
        RunError: The folder holds no run, or one of an unknown kind.
    """
    kind = kind_of(run_folder)
    if not kind.figures:
        raise ConfigError(
            f"a run of the kind {kind.name!r} has no figures of its own; leave out figures"
        )
    require("matplotlib", extra="plots", purpose="a figure")
    written: list[Path] = load(kind.figures)(run_folder, figures_dir)
    return written
