"""The page of a bidirectional study, and its files; it opens offline and runs no script."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path

from markupsafe import Markup

from beholder.base import files
from beholder.kinds.bidirectional.study import Study
from beholder.report.figures import save
from beholder.report.pages import no_figures, render_page, svg_uri
from beholder.report.study_tables import html, write_tables
from beholder.run import manifest
from beholder.tables import Table

MAX_ROWS = 10
"""Rows of a ranked table on the page, per data set and language; its file has all."""

MAX_OPEN_ROWS = 20
"""A longer part of a table is folded at first."""

_IN_FILE_ONLY = ("n_b", "df", "significant")


@dataclass(frozen=True)
class PagePart:
    """The rows of a table that have some values in a column.

    Attributes:
        title: Its heading on the page.
        key: The column; empty for all rows.
        values: The values.
        folded: Whether it is folded at first.
    """

    title: str
    key: str = ""
    values: tuple[str, ...] = ()
    folded: bool = False


_FURTHER = ("precision", "recall", "dcscore")
_PARTS = {
    "scores": (
        PagePart("Scores by system and direction: F1", "value", ("f1",)),
        PagePart(
            "Scores by system and direction: precision, recall, DCScore",
            "value",
            _FURTHER,
            folded=True,
        ),
    ),
    "tests": (
        PagePart("Each system against the best one: F1", "value", ("f1",)),
        PagePart(
            "Each system against the best one: precision, recall, DCScore",
            "value",
            _FURTHER,
            folded=True,
        ),
    ),
    "datasets": (
        PagePart("F1 of the same pictures", "value", ("f1",)),
        PagePart("Hallucination likewise", "value", ("hallucination_rate",)),
        PagePart("Omission likewise", "value", ("omission_rate",)),
    ),
    "difficulty": (
        PagePart("Difficulty: by F1", "by", ("f1",)),
        PagePart("Difficulty: by recall", "by", ("recall",), folded=True),
    ),
    "selectivity_contents": (
        PagePart("Only people say it", "side", ("people",)),
        PagePart("Only models say it", "side", ("models",)),
    ),
}
"""The parts in which a page shows a table, in order."""


def write_bidirectional(study: Study, run: Path, out: Path) -> Path:
    """Write the tables, the figures and the page of a study.

    Args:
        study: The study.
        run: The run directory that it is about.
        out: Folder for ``report.html``, ``tables/`` and ``figures/``.

    Returns:
        The page.

    Raises:
        RunError: The folder is not a run.
    """
    write_tables(study.tables, out / "tables")
    # The tables as files come first: the page names them.
    log = manifest.read_log(run)
    page = render_page(
        "bidirectional.html.j2",
        ("page.css", "bidirectional.css"),
        log=log,
        name=Path(log.data.source).name,
        counts={
            "pictures": len({pair.image for pair in study.pairs}),
            "systems": len({pair.system for pair in study.pairs}),
            "texts": len(study.pairs),
            "failed": sum(pair.failure is not None for pair in study.pairs),
        },
        study=study,
        views={table.name: list(_views(table)) for table in study.tables},
        no_figures=no_figures(),
        figures={} if no_figures() else _write_figures(study, out / "figures"),
    )
    files.write_text(out / "report.html", page)
    return out / "report.html"


def _write_figures(study: Study, folder: Path) -> dict[str, str]:
    """Write the figures as SVG and PNG files; return the SVG of each for the page, by name."""
    from matplotlib import rc_context  # loads slowly, and may be missing

    from beholder.kinds.bidirectional.plots import figures

    files.make_folder(folder)
    uris = {}
    # Letters are left to the reader's fonts, which cover scripts that matplotlib's font does not.
    with rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        for name, figure in figures(study):
            svg, _ = save(figure, folder / name, ("svg", "png"))
            uris[name] = svg_uri(svg.read_bytes())
    return uris


def _views(table: Table) -> Iterator[tuple[PagePart, Markup]]:
    """Yield the parts of a table that have rows, as HTML, without columns of one value."""
    whole_table = PagePart(table.title, folded=table.name == "category_rates")
    for part in _PARTS.get(table.name, (whole_table,)):
        rows = [
            row
            for row in table.rows
            if not part.key or row[part.key] in part.values
        ]
        # A part without rows would be a heading over nothing.
        if rows:
            # A part is about one value of its key, which its title names already.
            hidden_keys = (() if part.folded else (part.key,)) + (
                _IN_FILE_ONLY if part.key else ()
            )
            part_table = replace(
                table,
                columns=tuple(
                    column
                    for column in table.columns
                    if column.key not in hidden_keys
                ),
                rows=tuple(rows),
                notes=() if part.folded else table.notes,
            )
            shown_table = _shorten(part_table)
            n_rows = len(shown_table.rows)
            if n_rows > MAX_OPEN_ROWS and not part.folded:
                part = replace(
                    part, title=f"{part.title}, {n_rows} rows", folded=True
                )
            yield part, html(shown_table)


def _shorten(table: Table) -> Table:
    """Return a ranked table with the first rows of each data set and language."""
    if not table.name.startswith("selectivity_"):
        return table
    places = groupby(table.rows, key=itemgetter("dataset", "language"))
    first_rows = [row for _, rows in places for row in islice(rows, MAX_ROWS)]
    n_more = len(table.rows) - len(first_rows)
    notes = table.notes
    if n_more:
        note = f"{n_more:,} more rows are in tables/{table.name}.csv."
        notes = (*notes, note)
    return replace(table, rows=tuple(first_rows), notes=notes)
