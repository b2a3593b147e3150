"""The page of a run over narratives: one file, opens offline, runs no script."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from beholder import files
from beholder.dates import PartialDate
from beholder.kinds.narratives import results
from beholder.kinds.narratives.results import Narrative, NarrativeStudy, ShownFrame
from beholder.kinds.narratives.strips import SIDE, alignments, strips, thumbnails
from beholder.kinds.narratives.tables import study_tables
from beholder.report.figures import save
from beholder.report.pages import data_uri, no_figures
from beholder.report.plain_page import render_page
from beholder.report.study_tables import html, write_tables
from beholder.run import manifest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_N_DRAWN = 4
"""Sources drawn into the theta matrix, and three times as many narratives in the timeline."""


def write_study(run_folder: Path, output: Path | None = None) -> Path:
    """Draw a run over narratives as one HTML file, from what the run has stored.

    Args:
        run_folder: The run directory.
        output: The file to write. If None, ``report.html`` in the run directory, and tables in
            ``tables``, as CSV, JSON and LaTeX.

    Returns:
        The file.

    Raises:
        RunError: The folder holds no finished run over narratives.
    """
    target = output or run_folder / "report.html"
    study, log = results.read(run_folder), manifest.read(run_folder)
    files.write_text(target, _render(run_folder, study, log))
    if output is None:
        write_tables(study_tables(study), run_folder / "tables")
    return target


def write_study_figures(run_folder: Path, figures_dir: Path) -> list[Path]:
    """Write the figures of a run over narratives as PNG and SVG; gives the files.

    Raises:
        RunError: The folder holds no finished run over narratives.
    """
    files.make_folder(figures_dir)
    written: list[Path] = []
    for name, figure in figures(run_folder, results.read(run_folder)).items():
        written += save(figure, figures_dir / f"narratives-{name}", ("png", "svg"))
    return written


def figures(run_folder: Path, study: NarrativeStudy) -> dict[str, Figure]:
    """The figures of a study by name; those that it has data for."""
    from beholder.kinds.narratives.plots import eight_panels, theta_figure, timeline_figure

    found: dict[str, Figure] = {}
    if study.tables.methods:
        means = [(one.source, one.means) for one in study.narratives]
        found["panels"] = eight_panels(study.tables, means)
    chosen = _examples(study)
    if study.theta is not None:
        with np.load(run_folder / results.MATRIX) as archive:
            places = {str(frame_id): place for place, frame_id in enumerate(archive["ids"])}
            matrix = archive["theta"]
        ids = [frame.id for frame in study.frames]
        paths = {
            one.id: [places[ids[f]] for f in one.frames if ids[f] in places]
            for one in chosen[: min(_N_DRAWN, len(study.tables.sources))]
        }
        title = f"{study.theta.embedder}\n{study.theta.signature}"
        found["theta"] = theta_figure(matrix, paths, title, study.theta.order)
    rows = [(one.id, one.source, [_span(study.frames[f]) for f in one.frames]) for one in chosen]
    dated = [row for row in rows if any(row[2])]
    if dated:
        found["timeline"] = timeline_figure(dated)
    return found


def _render(folder: Path, study: NarrativeStudy, log: manifest.RunLog) -> str:
    thumbs = thumbnails(folder, len(study.frames))
    pictures = "".join(
        f'.f{n} {{ background-image: url("{uri}"); }}\n' for n, uri in thumbs.items()
    )
    drawn = strips(study, thumbs)
    tables = {table.name: table for table in study_tables(study)}
    lacking = no_figures()
    drawn_figures = {} if lacking else figures(folder, study)
    return render_page(
        "narrate.html.j2",
        ("page.css", "narrate.css"),
        pictures,
        log=log,
        name=log.data.source,
        study=study,
        facts=study.tables,
        tables={name: (table.title, html(table)) for name, table in tables.items()},
        judges=[name for name in tables if name.startswith("judge")],
        figures={name: data_uri(figure) for name, figure in drawn_figures.items()},
        no_figures=lacking,
        strips=[
            (source, [strip for strip in drawn if strip.narrative.source == source])
            for source in study.tables.sources
        ],
        n_failed=sum(bool(strip.failures) for strip in drawn),
        alignments=alignments(study),
        thumbs=thumbs,
        side=SIDE,
    )


def _examples(study: NarrativeStudy) -> list[Narrative]:
    """The first narrative of each source, then the second of each, and so on, up to a limit."""
    by_source = [[n for n in study.narratives if n.source == s] for s in study.tables.sources]
    turns = zip_longest(*by_source)
    return [one for turn in turns for one in turn if one is not None][: 3 * _N_DRAWN]


def _span(frame: ShownFrame) -> tuple[float, float] | None:
    if not frame.date:
        return None
    date = PartialDate.parse(frame.date)
    first, last = (
        day.year + (day.timetuple().tm_yday - 1) / 366 for day in (date.first, date.last)
    )
    return first, last
