"""Tables of agreement with people, of the reliability of judges, and of systems."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from beholder.base.files import safe_name
from beholder.kinds.agreement import results
from beholder.kinds.agreement.coarse import coarse_table, measures_of_set
from beholder.kinds.agreement.granular import (
    GranularFinding,
    GranularReport,
    Share,
)
from beholder.report.numbers import show_p, show_signed
from beholder.stats.alerts import AlertF1
from beholder.stats.spans import SpanF1
from beholder.tables import (
    METRIC,
    Cells,
    Column,
    Table,
    heading,
    record_cells,
    record_columns,
)

DASH = "\N{EN DASH}"
CLUSTERS = (
    "Cluster 1: the best and what is not significantly different from it by the paired"
    " bootstrap over sources (p of 0.05, Holm-corrected); cluster 2: the same of the rest."
    " Metrics of one cluster are not shown to be equal. The intervals of two metrics can overlap"
    " although the metrics differ, because the test compares them on the same texts."
)
ONE_CLUSTER = (
    "None of these {n} metrics differs significantly from the best, {best}, by the paired"
    " bootstrap over sources (p of 0.05, Holm-corrected), so these data put them in no order;"
    " that is no evidence that they are equal."
)


def agreement_columns() -> tuple[Column, ...]:
    """Return the columns of the table ``agreement``; the cluster is the last field of its file."""
    *columns, cluster = record_columns(results.MetricAgreement)
    return (*columns[:3], cluster, *columns[3:])


def agreement_cells(row: results.MetricAgreement) -> Cells:
    """Return the cells of a metric in the table ``agreement``."""
    return record_cells(row) | {
        "agreement_low": row.low,
        "agreement_high": row.high,
        "n_undefined": row.n_undefined or None,
        "reason": row.reason or "",
    }


def agreement_of(
    result: results.AgreementResult, measure: results.MeasureResult
) -> Table:
    """Return the agreement of each metric with people under one measure; the length last.

    Args:
        result: The agreement on a set.
        measure: One of its measures.
    """
    notes = [_describe_judged(result.n_items, result.n_resamples)]
    rows = [agreement_cells(row) for row in measure.metrics]
    clustered = [row for row in measure.metrics if row.cluster]
    if any(row.cluster != 1 for row in clustered):
        notes.append(CLUSTERS)
    else:
        # A column of ones would read as praise of the worst of them.
        rows = [cells | {"cluster": None} for cells in rows]
        if len(clustered) > 1:
            best = max(clustered, key=lambda row: row.agreement or 0.0)
            notes.append(ONE_CLUSTER.format(n=len(clustered), best=best.label))
    notes += _signatures(result.signatures)
    return Table(
        f"agreement-{safe_name(measure.name)}",
        f"{result.name}: {measure.name}",
        agreement_columns(),
        tuple(rows),
        tuple(notes),
    )


def _describe_judged(n_items: int, n_resamples: int) -> str:
    return f"{n_items:,} judged; 95 % intervals over sources, {n_resamples:,} resamples."


def _signatures(by_metric: Mapping[str, str]) -> list[str]:
    """Return the signatures of the metrics that have one."""
    return [signature for signature in by_metric.values() if signature]


def matrix_of(measure: results.MeasureResult) -> Table | None:
    """Return the differences of agreement, row minus column, with p; None without differences."""
    if not measure.differences:
        return None
    labels = [row.label for row in measure.metrics]
    differences = {
        (difference.a, difference.b): _show_difference(difference)
        for difference in measure.differences
    }
    rows: list[Cells] = []
    # The upper triangle: the other half has the same figures with the other
    # sign.
    for place, label in enumerate(labels[:-1], start=1):
        cells: Cells = {
            f"c{at}": differences.get((label, column_label), DASH)
            for at, column_label in enumerate(labels[place:], start=place)
        }
        rows.append({"metric": label, **cells})
    columns = [
        Column(f"c{place}", label, "cell")
        for place, label in enumerate(labels[1:], start=1)
    ]
    return Table(
        f"differences-{safe_name(measure.name)}",
        "differences of agreement",
        (Column("metric", "row minus column", "text"), *columns),
        tuple(rows),
        ("p: paired bootstrap over sources, Holm-corrected over the pairs.",),
    )


def _show_difference(difference: results.MetricDifference) -> str:
    if difference.difference is None:
        return DASH
    p = DASH if difference.p is None else show_p(difference.p)
    return f"{show_signed(difference.difference)}, p {p}"


def confusion_of(measure: results.MeasureResult) -> Table | None:
    """Count the verdicts of people and each metric; None if the labels are not verdicts."""
    if not measure.data.said:
        return None
    # All four cells have a column, even one that no metric has a text in.
    cells = [
        results.cell(label, verdict)
        for label in (True, False)
        for verdict in (True, False)
    ]
    rows = []
    for row, verdicts in zip(measure.metrics, measure.data.said, strict=True):
        counts = Counter(
            results.cell(gold == 1, verdict == 1)
            for gold, verdict in zip(measure.data.gold, verdicts, strict=True)
            if verdict is not None
        )
        rows.append(
            {"metric": row.label, **{name: counts[name] for name in cells}}
        )
    return Table(
        f"confusion-{safe_name(measure.name)}",
        f"What people said, and the metric: {measure.name.partition(', ')[2]}",
        (METRIC, *(Column(name, f"people {name}", "count") for name in cells)),
        tuple(rows),
        ("`beholder view` lists the texts of each cell.",),
    )


_PUBLISHED = Table(
    "published-figures",
    "published figures",
    (
        METRIC,
        Column("agreement", "agreement", interval=True),
        Column("said", "", "text"),
        Column("references", "reads references", "text"),
        Column("split", "split", "text"),
        Column("ties", "ties", "text"),
        Column("source", "source", "text"),
        Column("year", "year", "cell"),
        Column("measure", "measure", "text"),
    ),
    by="measure",
)


def read_figures() -> list[dict[str, Any]]:
    """Return the rows of ``published_figures.csv``, each reviewed by hand against its source.

    ``measure`` is the name of our measure of the same set, labels and statistic, if there is one;
    ``differs`` says why a figure cannot be compared; ``references``, whether the metric reads
    them; ``split``, which part of the set; ``n``, its labels, where known; ``checked``, what
    confirms a figure whose paper we read in part only, or where it is quoted if not at all.
    """
    path = Path(__file__).with_name("published_figures.csv")
    # An empty cell is left out: a figure without a condition has none to
    # compare.
    types = {"value": float, "n": int, "year": int}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {
                key: types.get(key, str)(text)
                for key, text in row.items()
                if text
            }
            for row in csv.DictReader(file)
        ]


def published_of(
    result: results.AgreementResult, is_whole: bool
) -> list[Table]:
    """Build the table of a set's figures beside published ones of the same protocol.

    Args:
        result: The agreement on a set.
        is_whole: Whether all of the set was judged by its own protocol.
    """
    figures = [row for row in read_figures() if row["set"] == result.name]
    rows: list[Cells] = []
    for measure in result.measures if figures else ():
        for row in measure.metrics:
            cells = {"metric": row.label, "measure": measure.name}
            cells |= {"said": "yours", "split": f"{row.n:,} labels"}
            rows.append(agreement_cells(row) | cells)
        n_labels = max(row.n + row.n_missing for row in measure.metrics)
        for figure in figures:
            if figure.get("measure", measure.name) != measure.name:
                continue
            # The same number of labels is the best sign that both judged the
            # same rows.
            is_same = is_whole and figure.get("n", n_labels) == n_labels
            differs = figure.get("differs")
            if not differs and not is_same:
                differs = "yours is not the whole set"
            verdict = (
                f"not comparable: {differs}" if differs else "same protocol"
            )
            rows.append(
                {
                    **figure,
                    "agreement": figure["value"],
                    "measure": measure.name,
                    "said": verdict,
                }
            )
    note = (
        "A figure is comparable by set, labels, statistic and ties; look at references, too."
        if rows
        else "Not comparable: we know no published figure of this set."
    )
    title = f"{result.name}: {_PUBLISHED.title}"
    return [replace(_PUBLISHED, title=title).with_rows(rows, [note])]


def _row_names(result: results.AgreementResult) -> list[str]:
    """Return the metric of each row, with its value if that is the same under all measures."""
    rows = zip(*(measure.metrics for measure in result.measures), strict=True)
    return [
        row[0].label
        if len({cell.value for cell in row}) == 1
        else row[0].metric
        for row in rows
    ]


@dataclass(frozen=True)
class FigureRow:
    """A figure of a metric that has no interval."""

    metric: Annotated[str, heading("metric", "text")]
    figure: Annotated[str, heading("figure", "text")]
    value: Annotated[float | None, heading("value")]


def agreement_tables(result: results.AgreementResult) -> list[Table]:
    """Build the tables of a result.

    Of a set of coarse judgments one table of all measures; of others per measure its table and the
    matrix of differences. Then figures without intervals.
    """
    # None unless the set is one of the coarse judgments, whose paper has one
    # wide table.
    coarse = coarse_table(
        measures_of_set(result),
        _row_names(result),
        _signatures(result.signatures),
        result.n_resamples,
    )
    if coarse is not None:
        tables = [coarse]
    else:
        tables = [
            table
            for measure in result.measures
            for table in (
                agreement_of(result, measure),
                matrix_of(measure),
                confusion_of(measure),
            )
            if table
        ]
    rows = [
        FigureRow(metric, name, value)
        for metric, figures in result.extra.items()
        for name, value in figures.items()
        # The coarse table has the rankings of models already.
        if not (coarse and name.startswith("model_"))
    ]
    if rows:
        title = "Figures without intervals"
        tables.append(
            Table.from_records(
                "agreement-figures", title, FigureRow, rows, by="metric"
            )
        )
    return tables


@dataclass(frozen=True)
class GranularRow:
    """A figure of a metric over the parts that people marked on one side, or did not mark."""

    marked: Annotated[str, heading("marked", "text")]
    metric: Annotated[str, heading("metric", "text")]
    figure: Annotated[str, heading("figure", "text")]
    found: Annotated[Share, heading("value", interval=True)]
    n: Annotated[int, heading("n", "count")]
    n_missing: Annotated[int, heading("no score", "count")]


def granular_table(report: GranularReport) -> Table:
    """Return how well each metric finds the spans that people marked, per side."""
    part = report.part
    notes = [
        _describe_judged(report.n_items, report.n_resamples),
        f"AUC: chance that of two {part} the marked one has the lower score, whatever the"
        " threshold; 0.5 knows nothing.",
        f"macro F1: {part} marked and not, at the best threshold of these data, an upper bound;"
        " held out: each half by the other's threshold.",
        f"precision, recall, F1, IoU: of the marked {part}, at the best threshold.",
    ]
    rows: list[GranularRow] = []
    if any(finding.spans is not None for finding in report.findings):
        notes.append(
            "span F1: runs of words that alert, matched from half of their words on; span IoU: mean"
            " over marked spans of the best overlap with a run."
        )
    for finding in report.findings:
        # A metric that was refused keeps one empty row, and its reason as a
        # note.
        for name, share in _granular_figures(finding) or [("", _f1(None))]:
            rows.append(
                GranularRow(
                    finding.label,
                    finding.metric,
                    name,
                    share,
                    finding.n_items,
                    finding.n_missing,
                )
            )
        if finding.reason:
            notes.append(
                f"{finding.label}, {finding.metric}: {finding.reason}"
            )
    notes += _signatures(report.signatures)
    return Table.from_records(
        "granular", report.name, GranularRow, rows, notes, by="marked"
    )


def _granular_figures(finding: GranularFinding) -> list[tuple[str, Share]]:
    if finding.alerts is None:
        return []
    figures = [
        ("macro F1", _f1(finding.alerts)),
        ("held out", _f1(finding.held_out)),
        ("AUC", finding.auc),
        *zip(
            _SHARES,
            (finding.precision, finding.recall, finding.f1, finding.iou),
            strict=True,
        ),
    ]
    if finding.spans is not None:
        figures += [
            ("span F1", _f1(finding.spans)),
            ("span IoU", finding.span_iou),
        ]
    means = (f"{name}, mean of texts" for name in _SHARES)
    return [*figures, *zip(means, finding.per_text, strict=False)]


def _f1(score: AlertF1 | SpanF1 | None) -> Share:
    return (
        Share(None, None) if score is None else Share(score.f1, score.interval)
    )


_SHARES = ("precision", "recall", "F1", "IoU")
