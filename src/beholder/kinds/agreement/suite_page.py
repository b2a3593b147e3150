"""The tables and the page of a suite: many sets of human judgments, many metrics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from beholder.base import files
from beholder.base.grouping import by_key
from beholder.kinds.agreement.coarse import coarse_table
from beholder.kinds.agreement.load import SETS
from beholder.kinds.agreement.page_tables import (
    CLUSTERS,
    agreement_cells,
    agreement_columns,
)
from beholder.kinds.agreement.results import SuiteMeasureResult, SuiteResult
from beholder.report.pages import content_hash, environment, styles
from beholder.report.study_tables import html
from beholder.tables import METRIC, Column, Table


def suite_table(report: SuiteResult) -> Table:
    """The table of a paper: metrics down, sets across, each under its headline measure."""
    headlines = report.headlines
    rows = []
    for place, metric in enumerate(report.metrics):
        row: dict[str, object] = {"metric": metric}
        for one in headlines:
            found = one.metrics[place]
            row |= {
                one.name: found.agreement,
                f"{one.name}_best": found.cluster == 1,
            }
            row |= {
                f"{one.name}_low": found.low,
                f"{one.name}_high": found.high,
            }
        row["n_best"] = sum(
            one.metrics[place].cluster == 1 for one in headlines
        )
        rows.append(row)
    tested = report.n_resamples > 0
    columns = [METRIC]
    columns += [
        Column(one.name, one.name, interval=True, best=tested)
        for one in headlines
    ]
    notes = [
        f"{one.name}: {one.measure}; {one.n_items:,} judged."
        for one in headlines
    ]
    if tested:
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
    place = (
        Column("set", "set", "text"),
        Column("measure", "measure", "text"),
    )
    return Table(
        "suite-measures",
        "All measures",
        (*place, *agreement_columns()),
        tuple(row for measure in report.measures for row in _rows(measure)),
        (CLUSTERS,) if report.n_resamples else (),
        by="set",
    )


def _rows(measure: SuiteMeasureResult) -> list[dict[str, object]]:
    return [
        {
            "set": measure.name,
            "measure": measure.measure,
            **agreement_cells(row),
        }
        for row in measure.metrics
    ]


@dataclass(frozen=True)
class SetOnPage:
    """A set with all its measures, for the page.

    Attributes:
        name: The set.
        about: What people judged, where it is published and its licence; empty of own data.
        tables: A table per measure.
    """

    name: str
    about: tuple[str, ...]
    tables: tuple[tuple[str, Markup], ...]


def write_suite(report: SuiteResult, output: Path) -> Path:
    """Draw a suite as one HTML file that needs nothing else; gives the file.

    Raises:
        RunError: The file cannot be written.
    """
    style = styles("page.css")
    whole = suite_table(report)
    page = environment().get_template("agreement_suite.html.j2")
    text = page.render(
        style=style,
        style_hash=content_hash(style),
        title=whole.title,
        table=Markup().join(map(html, suite_tables(report))),
        sets=[_on_page(report, one.name) for one in report.headlines],
        signatures=_signatures(report),
    )
    files.write_text(output, text)
    return output


def _on_page(report: SuiteResult, name: str) -> SetOnPage:
    known = SETS.get(name)
    about = (known.what, known.where, known.licence) if known else ()
    tables = [
        (
            one.measure,
            html(Table("", "", agreement_columns(), tuple(_rows(one)))),
        )
        for one in report.measures
        if one.name == name
    ]
    return SetOnPage(name, about, tuple(tables))


def _signatures(
    report: SuiteResult,
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Per metric its signatures, each with the sets it was found on."""
    found = []
    for metric, of_sets in report.signatures.items():
        where = by_key(
            (signature, name)
            for name, signature in of_sets.items()
            if signature
        )
        several = len(where) > 1
        told = [
            (made, ", ".join(names) if several else "")
            for made, names in where.items()
        ]
        found.append((metric, told))
    return found
