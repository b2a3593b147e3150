"""Tables of agreement with people, of the reliability of judges, and of systems."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from beholder.files import safe_name
from beholder.kinds.agreement import results
from beholder.kinds.agreement.agree import Report
from beholder.kinds.agreement.coarse import coarse_table, measures_of_set
from beholder.kinds.agreement.granular import GranularFinding, GranularReport, Share
from beholder.report.numbers import show_p, show_signed
from beholder.stats.alerts import AlertF1
from beholder.stats.spans import SpanF1
from beholder.tables import Cells, Column, Table, declared, interval_cells

TABLES = declared(Path(__file__).with_name("tables.toml"))
DASH = "\N{EN DASH}"
CLUSTERS = (
    "Cluster 1: the best and what is not significantly different by the paired"
    " bootstrap over sources (p of 0.05, Holm-corrected); cluster 2: the same of the rest."
)


def _with(name: str, measure: results.MeasureResult, columns: Iterable[Column] = ()) -> Table:
    """A table of one measure, with further columns."""
    table = TABLES[name]
    named = f"{name}-{safe_name(measure.name)}"
    return replace(table, name=named, columns=(*table.columns, *columns))


def agreement_cells(row: results.MetricAgreement) -> Cells:
    """The cells of the table ``agreement`` of one metric."""
    return structs.asdict(row) | {
        "agreement_low": row.low,
        "agreement_high": row.high,
        "n_undefined": row.n_undefined or None,
        "reason": row.reason or "",
    }


def agreement_of(
    found: results.AgreementResult[results.M], measure: results.MeasureResult
) -> Table:
    """Agreement of each metric with people under one measure; the length baseline last.

    Args:
        found: The agreement on a set.
        measure: One of its measures.
    """
    table = replace(_with("agreement", measure), title=f"{found.name}: {measure.name}")
    clusters = [CLUSTERS] if any(row.cluster for row in measure.metrics) else []
    return table.of(
        map(agreement_cells, measure.metrics),
        [*clusters, *filter(None, found.signatures.values())],
        n_items=found.n_items,
        n_resamples=found.n_resamples,
    )


def matrix_of(measure: results.MeasureResult) -> Table | None:
    """Agreement of the row's metric minus the column's, with p; None without differences."""
    if not measure.differences:
        return None
    labels = [row.label for row in measure.metrics]
    found = {(one.a, one.b): one for one in measure.differences}
    rows: list[Cells] = []
    for place, label in enumerate(labels[:-1], start=1):
        later = enumerate(labels[place:], start=place)
        cells = {f"c{at}": _difference(found.get((label, other))) for at, other in later}
        rows.append({"metric": label, **cells})
    others = [Column(f"c{place}", label, "cell") for place, label in enumerate(labels) if place]
    return _with("differences", measure, others).of(rows)


def _difference(found: results.MetricDifference | None) -> str:
    if found is None or found.difference is None:
        return DASH
    p = DASH if found.p is None else show_p(found.p)
    return f"{show_signed(found.difference)}, p {p}"


def confusion_of(measure: results.StoredMeasure) -> Table | None:
    """How often people and each metric said yes and no; None of labels that are no verdicts."""
    if not measure.data.said:
        return None
    cells = [results.cell(label, said) for label in (True, False) for said in (True, False)]
    rows = []
    for row, verdicts in zip(measure.metrics, measure.data.said, strict=True):
        counts = Counter(
            results.cell(gold == 1, said == 1)
            for gold, said in zip(measure.data.gold, verdicts, strict=True)
            if said is not None
        )
        rows.append({"metric": row.label, **{name: counts[name] for name in cells}})
    table = _with("confusion", measure, (Column(one, f"people {one}", "count") for one in cells))
    return replace(table, title=f"{table.title}: {measure.name.partition(', ')[2]}").of(rows)


def published_of(found: results.AgreementResult[results.M], whole: bool) -> list[Table]:
    """Figures of a set beside published ones of the same protocol, as one table.

    Args:
        found: The agreement on a set.
        whole: Whether all of the set was judged by its own protocol.
    """
    file = Path(__file__).with_name("published_figures.toml")
    known = tomllib.loads(file.read_text(encoding="utf-8"))["figure"]
    of_set = [row for row in known if row["set"] == found.name]
    rows: list[Cells] = []
    for measure in found.measures if of_set else ():
        rows += [
            {
                "measure": measure.name,
                **agreement_cells(row),
                "metric": row.label,
                "said": "yours",
                "split": f"{row.n:,} labels",
            }
            for row in measure.metrics
        ]
        for row in of_set:
            if row.get("measure", measure.name) == measure.name:
                n = max(one.n + one.n_missing for one in measure.metrics)
                same = whole and row.get("n", n) == n
                differs = row.get("differs") or ("" if same else "yours is not the whole set")
                said = f"not comparable: {differs}" if differs else "same protocol"
                cells = {"measure": measure.name, "agreement": row["value"], "said": said}
                rows.append({**row, **cells, "references": "yes" if row["references"] else "no"})
    note = "A figure is comparable by set, labels, statistic and ties; look at references, too."
    note = note if rows else "Not comparable: we know no published figure of this set."
    table = replace(TABLES["published-figures"], title=f"{found.name}: published figures")
    return [table.of(rows, [note])]


def _row_names(result: results.AgreementResult[results.M]) -> list[str]:
    """The metric of each row, with its value if that is the same under all measures."""
    rows = zip(*(measure.metrics for measure in result.measures), strict=True)
    return [
        row[0].label if len({cell.value for cell in row}) == 1 else row[0].metric for row in rows
    ]


def agreement_tables(report: Report) -> list[Table]:
    """The tables of a report.

    Of a set of coarse judgments one table of all measures; of others per measure its table and the
    matrix of differences. Then figures without intervals.
    """
    found = report.stored
    tables: list[Table] = []
    coarse = coarse_table(
        measures_of_set(found),
        _row_names(found),
        filter(None, found.signatures.values()),
        found.n_resamples,
    )
    if coarse is not None:
        tables.append(coarse)
    for measure in () if coarse else found.measures:
        made = (agreement_of(found, measure), matrix_of(measure), confusion_of(measure))
        tables += [table for table in made if table]
    rows = [
        {"metric": metric, "figure": name, "value": value}
        for metric, figures in found.extra.items()
        for name, value in figures.items()
        if not (coarse and name.startswith("model_"))
    ]
    if rows:
        tables.append(TABLES["agreement-figures"].of(rows))
    return tables


def granular_table(report: GranularReport) -> Table:
    """What each metric finds of the spans that people marked, per side."""
    rows: list[Cells] = []
    notes: list[str] = []
    if any(found.spans is not None for found in report.findings):
        notes.append(
            "span F1: runs of words that alert, matched from half of their words on; span IoU: mean"
            " over marked spans of the best overlap with a run."
        )
    for found in report.findings:
        facts: Cells = {"marked": found.label, "metric": found.metric, "n": found.n_items}
        facts["n_missing"] = found.n_missing
        for name, share in _granular_figures(found) or [("", _f1(None))]:
            cells = {"found": share.value, **interval_cells("found", share.interval)}
            rows.append({**facts, "figure": name, **cells})
        if found.reason:
            notes.append(f"{found.label}, {found.metric}: {found.reason}")
    return replace(TABLES["granular"], title=report.name).of(
        rows,
        [*notes, *filter(None, report.signatures.values())],
        n_items=report.n_items,
        n_resamples=report.n_resamples,
        part=report.part,
    )


def _granular_figures(found: GranularFinding) -> list[tuple[str, Share]]:
    if found.alerts is None:
        return []
    figures = [
        ("macro F1", _f1(found.alerts)),
        ("held out", _f1(found.held_out)),
        ("AUC", found.auc),
        *zip(_SHARES, (found.precision, found.recall, found.f1, found.iou), strict=True),
    ]
    if found.spans is not None:
        figures += [("span F1", _f1(found.spans)), ("span IoU", found.span_iou)]
    means = (f"{name}, mean of texts" for name in _SHARES)
    return [*figures, *zip(means, found.per_text, strict=False)]


def _f1(found: AlertF1 | SpanF1 | None) -> Share:
    return Share(None, None) if found is None else Share(found.f1, found.interval)


_SHARES = ("precision", "recall", "F1", "IoU")
