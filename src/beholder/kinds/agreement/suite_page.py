"""The tables and the page of a suite: many sets of human judgments, many metrics."""

from __future__ import annotations

from pathlib import Path

from beholder.base import files
from beholder.base.grouping import group_by_key
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
    """Build the table of a paper: a row per metric, a column per set under its headline measure."""
    headlines = report.headlines
    rows: list[Cells] = []
    for place, metric in enumerate(report.metrics):
        cells: Cells = {"metric": metric}
        for measure in headlines:
            row = measure.metrics[place]
            cells |= {
                measure.name: row.agreement,
                f"{measure.name}_low": row.low,
                f"{measure.name}_high": row.high,
                f"{measure.name}_best": row.cluster == 1,
            }
        # How often a metric is among the best is what a reader counts first.
        bests = [cells[f"{measure.name}_best"] for measure in headlines]
        rows.append(cells | {"n_best": bests.count(True)})
    is_tested = report.n_resamples > 0
    columns = [METRIC]
    columns += [
        Column(measure.name, measure.name, interval=True, best=is_tested)
        for measure in headlines
    ]
    notes = [
        f"{measure.name}: {measure.measure}; {measure.n_items:,} judged."
        for measure in headlines
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
    """Build the table of all sets, and one of all measures of the coarse sets."""
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
    # The heading of each set says what people judged, and under which licence.
    about = {
        name: f"{human_set.what}. Published: {human_set.where}. Licence: {human_set.licence}."
        for name, human_set in SETS.items()
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
    """Build the table of each metric's signatures, with the sets that each belongs to."""
    rows = [
        {"metric": metric, "signature": signature, "sets": ", ".join(names)}
        for metric, by_set in report.signatures.items()
        # One row where a metric had the same signature on several sets.
        for signature, names in group_by_key(
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
    """Write a suite as one HTML file that needs no other; return its path.

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
