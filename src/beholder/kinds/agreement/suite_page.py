"""The tables and the page of a suite: many sets of human judgments, many metrics."""

from __future__ import annotations

from pathlib import Path

from beholder.base import files
from beholder.base.grouping import by_key
from beholder.kinds.agreement.coarse import coarse_table
from beholder.kinds.agreement.load import SETS
from beholder.kinds.agreement.page_tables import (
    CLUSTERS,
    agreement_cells,
    agreement_columns,
)
from beholder.kinds.agreement.results import SuiteResult
from beholder.report.pages import render_page
from beholder.report.study_tables import html
from beholder.tables import METRIC, Cells, Column, Table


def suite_table(report: SuiteResult) -> Table:
    """The table of a paper: metrics down, sets across, each under its headline measure."""
    headlines = report.headlines
    rows: list[Cells] = []
    for place, metric in enumerate(report.metrics):
        cells: Cells = {"metric": metric}
        for one in headlines:
            row = one.metrics[place]
            cells |= {
                one.name: row.agreement,
                f"{one.name}_low": row.low,
                f"{one.name}_high": row.high,
                f"{one.name}_best": row.cluster == 1,
            }
        bests = [cells[f"{one.name}_best"] for one in headlines]
        rows.append(cells | {"n_best": bests.count(True)})
    is_tested = report.n_resamples > 0
    columns = [METRIC]
    columns += [
        Column(one.name, one.name, interval=True, best=is_tested)
        for one in headlines
    ]
    notes = [
        f"{one.name}: {one.measure}; {one.n_items:,} judged."
        for one in headlines
    ]
    if is_tested:
        columns.append(Column("n_best", "★", "count"))
        notes += [
            f"95 % intervals over sources, {report.n_resamples:,} resamples.",
            "★: the best of its column, and what is not significantly different by the paired"
            " bootstrap over sources (p of 0.05, Holm-corrected); the last column counts them.",
        ]
    notes.append(
        "Agreement under one measure cannot be compared with that under another."
    )
    title = f"Agreement of {len(report.metrics)} metrics with people on {len(headlines)} sets"
    return Table("suite", title, tuple(columns), tuple(rows), tuple(notes))


def suite_tables(report: SuiteResult) -> list[Table]:
    """The table of all sets, and one of the sets of coarse judgments with all their measures."""
    coarse = coarse_table(
        report.measures, report.metrics, (), report.n_resamples
    )
    return [suite_table(report), *([coarse] if coarse else [])]


def measures_table(report: SuiteResult) -> Table:
    """Return every metric under every measure of every set, a row each."""
    rows = [
        {"set": measure.name, "measure": measure.measure}
        | agreement_cells(row)
        for measure in report.measures
        for row in measure.metrics
    ]
    about = {
        name: f"{known.what}. Published: {known.where}. Licence: {known.licence}."
        for name, known in SETS.items()
    }
    return Table(
        "suite-measures",
        "All measures",
        (
            Column("set", "set", "text"),
            Column("measure", "measure", "text"),
            *agreement_columns(),
        ),
        tuple(rows),
        (CLUSTERS,) if report.n_resamples else (),
        by="set",
        heads=about,
    )


def _signature_table(report: SuiteResult) -> Table:
    """Per metric its signatures, each with the sets whose scores it made."""
    rows = [
        {"metric": metric, "signature": signature, "sets": ", ".join(names)}
        for metric, by_set in report.signatures.items()
        for signature, names in by_key(
            (signature or "no score", name)
            for name, signature in by_set.items()
        ).items()
    ]
    columns = (
        METRIC,
        Column("signature", "signature", "text"),
        Column("sets", "sets", "text"),
    )
    return Table("signatures", "Signatures", columns, tuple(rows), by="metric")


def write_suite(report: SuiteResult, output: Path) -> Path:
    """Draw a suite as one HTML file that needs nothing else; gives the file.

    Raises:
        RunError: The file cannot be written.
    """
    tables = [
        *suite_tables(report),
        measures_table(report),
        _signature_table(report),
    ]
    page = render_page(
        "agreement_suite.html.j2",
        ["page.css"],
        tables=[(table.title, html(table)) for table in tables],
    )
    files.write_text(output, page)
    return output
