"""Figures of agreement: the scatters of the run's page as files."""

from __future__ import annotations

from pathlib import Path

from beholder.base import files
from beholder.kinds.agreement.people import scatter_plots
from beholder.kinds.agreement.results import AgreementResult
from beholder.report.pages import environment


def write_agreement_figures(
    result: AgreementResult, folder: Path
) -> list[Path]:
    """Write an SVG per metric and label; measures of the same labels share it.

    Args:
        result: The agreement.
        folder: Folder for the files, created if missing.

    Returns:
        The files.
    """
    files.make_folder(folder)
    template = environment().get_template("scatter.svg.j2")
    written: list[Path] = []
    labels = set()
    for number, measure in enumerate(result.measures, start=1):
        name = measure.name.partition(", ")[2] or measure.name
        if (name, measure.data.gold) in labels:
            continue
        labels.add((name, measure.data.gold))
        for plot in scatter_plots(measure):
            stem = files.safe_name(f"{number}-{measure.name}-{plot.label}")
            path = folder / f"{stem}.svg"
            text = template.render(plot=plot, measure=name, alone=True)
            files.write_text(path, text)
            written.append(path)
    return written
