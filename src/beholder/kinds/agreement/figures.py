"""Figures of an agreement report as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from beholder.files import make_folder
from beholder.kinds.agreement.agree import Report
from beholder.report.figures import safe_name, save

MOST_DRAWN = 12
"""Measures that get figures, the first ones; data with many labels would be drawn for minutes."""


def write_agreement_figures(
    report: Report, folder: Path, formats: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Write a scatter per measure, and a plot per category where a measure has categories.

    Only the first ``MOST_DRAWN`` measures are drawn.

    Args:
        report: The agreement.
        folder: Folder for the files, made if need be.
        formats: Endings that matplotlib knows.

    Returns:
        The files.
    """
    from beholder.kinds.agreement.plots import category_figure, scatter_figure  # loads slowly

    make_folder(folder)
    written: list[Path] = []
    for number, section in enumerate(report.sections[:MOST_DRAWN], start=1):
        stem = f"{number}-{safe_name(section.data.name)}"
        panels = [
            (row.label, scores, section.data.gold)
            for row, scores in zip(section.rows, section.scores, strict=True)
        ]
        figure = scatter_figure(panels, section.data.name)
        written += save(figure, folder / f"{stem}-scatter", formats)
        categories = {
            row.label: {name: value for name, (value, _) in row.categories.items()}
            for row in section.rows
            if row.categories
        }
        if categories:
            figure = category_figure(categories, section.data.name)
            written += save(figure, folder / f"{stem}-categories", formats)
    return written
