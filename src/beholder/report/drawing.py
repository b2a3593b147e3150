"""The page and the figures of a run, whatever its kind; sections that kinds add to other pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.base.optional import load_object, require
from beholder.errors import ConfigError, RunError
from beholder.run.kind import features, kind_of

if TYPE_CHECKING:
    from beholder.run.store import Store


def draw(run_folder: Path, output: Path | None = None, **options: Any) -> Path:
    """Draw the page of a run.

    Args:
        run_folder: A run directory of any kind.
        output: The file to write; ``report.html`` in the run directory if None.
        options: Further arguments of the page of that kind, such as ``media_root``.

    Returns:
        The file.

    Raises:
        RunError: The folder contains no run, or one of an unknown kind or of a kind without a page,
            or the file cannot be written.
    """
    kind = kind_of(run_folder)
    # Pages are loaded by name: this package knows no kind of work.
    if not kind.page:
        raise RunError(
            f"{run_folder}: runs of the kind {kind.name!r} have no page"
        )
    written: Path = load_object(kind.page)(run_folder, output, **options)
    return written


def draw_figures(run_folder: Path, figures_dir: Path) -> list[Path]:
    """Write the figures of a run as SVG, those of matplotlib as PNG, too.

    Returns:
        The files.

    Raises:
        ConfigError: Runs of this kind have no figures.
        MissingExtraError: matplotlib is not installed.
        RunError: The folder contains no run, or one of an unknown kind.
    """
    kind = kind_of(run_folder)
    if not kind.figures:
        raise ConfigError(
            f"a run of the kind {kind.name!r} has no figures of its own; leave out figures"
        )
    require("matplotlib", extra="plots", purpose="a figure")
    written: list[Path] = load_object(kind.figures)(run_folder, figures_dir)
    return written


@dataclass(frozen=True)
class PageSection:
    """A section that a feature adds to the page of a run that scored items.

    Attributes:
        id: Its anchor.
        title: As the navigation shows it.
        template: Its template; receives ``section`` (this value) and all values of the page.
        values: Values of the template.
        positions: Places of items that it links to; the page embeds these first.
    """

    id: str
    title: str
    template: str
    values: Mapping[str, Any]
    positions: Sequence[int] = ()


def extra_sections(store: Store) -> list[PageSection]:
    """Return the sections that features add to the page of a run, in their order."""
    sections = (
        load_object(feature.section)(store)
        for feature in features()
        if feature.section
    )
    return [section for section in sections if section is not None]
