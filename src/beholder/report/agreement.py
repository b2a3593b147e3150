"""Tables of agreement with people, of the reliability of judges, and of systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from beholder.benchmarks.agree import MeasureSection, Report
from beholder.benchmarks.granular import GranularFinding, GranularReport, Share
from beholder.benchmarks.leaderboard import Board
from beholder.benchmarks.reliability import Reliability
from beholder.report.numbers import show_number
from beholder.report.tables import cell, plain_table, show_interval, show_p, show_signed

DASH = "\N{EN DASH}"


def agreement_table(report: Report) -> Table:
    """Agreement of each metric with people, per measure; the length baseline last."""
    table = plain_table("measure", "metric", "value")
    for name in ("agreement", "95 % interval", "n", "no score"):
        table.add_column(name, justify="right", no_wrap=True)
    for section in report.sections:
        for place, row in enumerate(section.rows):
            found = row.found
            table.add_row(
                cell(section.data.name, "bold") if place == 0 else "",
                cell(row.metric),
                cell(row.value),
                Text(DASH if found.value is None else show_number(found.value), style="bold"),
                show_interval(found.interval),
                f"{found.n:,}",
                f"{found.n_missing:,}",
            )
            if found.reason:
                table.add_row("", cell(found.reason, "yellow"), "", "", "", "", "")
        table.add_section()
    lines = [
        f"{report.name}: {report.n_items:,} judged; intervals over sources,"
        f" {report.n_resamples:,} resamples"
    ]
    lines += [signature for signature in report.signatures.values() if signature]
    for name, figures in report.extra.items():
        shown = (
            f"{key} {DASH if value is None else show_number(value)}"
            for key, value in figures.items()
        )
        lines.append(f"{name}: {', '.join(shown)}")
    return _captioned(table, lines)


def agreement_tables(report: Report) -> list[Table]:
    """The table of agreement, and a matrix of differences per measure that has them."""
    differing = (section for section in report.sections if section.differences)
    return [agreement_table(report), *map(significance_table, differing)]


def significance_table(section: MeasureSection) -> Table:
    """A matrix of differences: agreement of the row's metric minus the column's, with p."""
    labels = [row.label for row in section.rows]
    table = plain_table("row minus column")
    for label in labels[1:]:
        table.add_column(cell(label), justify="right", overflow="fold")
    found = {(d.a, d.b): d for d in section.differences}
    for place, label in enumerate(labels[:-1]):
        cells: list[Any] = ["" for _ in labels[1 : place + 1]]
        for other in labels[place + 1 :]:
            difference = found.get((label, other))
            if difference is None or difference.difference is None:
                cells.append(DASH)
                continue
            p = difference.p_value
            clear = p is not None and p < 0.05
            text = f"{show_signed(difference.difference)}\np {DASH if p is None else show_p(p)}"
            cells.append(Text(text, style="bold" if clear else ""))
        table.add_row(cell(label), *cells)
    note = "p: paired bootstrap over sources, Holm-corrected over the pairs; bold under 0.05"
    return _captioned(table, [f"{section.data.name}; {note}"])


def granular_table(report: GranularReport) -> Table:
    """What each metric finds of the spans that people marked, per side."""
    table = plain_table("marked", "metric")
    for name in ("figure", "value", "95 % interval", "n", "no score"):
        table.add_column(name, justify="left" if name == "figure" else "right", no_wrap=True)
    shown = ""
    for found in report.findings:
        label = "" if found.label == shown else found.label
        if shown:
            table.add_section()
        shown = found.label
        counts = (f"{found.n_items:,}", f"{found.n_missing:,}")
        if found.alerts is None:
            table.add_row(cell(label, "bold"), cell(found.metric), "", DASH, DASH, *counts)
        for place, (name, share) in enumerate(_granular_figures(found)):
            table.add_row(
                cell(label, "bold") if place == 0 else "",
                cell(found.metric) if place == 0 else "",
                name,
                Text(DASH if share.value is None else show_number(share.value), style="bold"),
                show_interval(share.interval),
                *(counts if place == 0 else ("", "")),
            )
        if found.reason:
            table.add_row("", cell(found.reason, "yellow"), "", "", "", "", "")
    lines = [
        f"{report.name}: {report.n_items:,} judged; intervals over sources,"
        f" {report.n_resamples:,} resamples",
        "macro F1: words marked and not, at the best threshold of these data, an upper bound; held"
        " out: each half by the other's threshold",
        "precision, recall, F1: of the marked words, at the best threshold; span F1: runs of words,"
        " from half of their words on",
        *(signature for signature in report.signatures.values() if signature),
    ]
    return _captioned(table, lines)


def _granular_figures(found: GranularFinding) -> list[tuple[str, Share]]:
    if found.alerts is None or found.spans is None:
        return []
    held_out = Share(None, None)
    if found.held_out is not None:
        held_out = Share(found.held_out.f1, found.held_out.interval)
    return [
        ("macro F1", Share(found.alerts.f1, found.alerts.interval)),
        ("held out", held_out),
        ("precision", found.precision),
        ("recall", found.recall),
        ("F1", found.f1),
        ("span F1", Share(found.spans.f1, found.spans.interval)),
    ]


def reliability_table(reliability: Reliability) -> Table:
    """Coefficients of agreement between raters."""
    table = plain_table("coefficient")
    for name in ("value", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("note", overflow="fold")
    for found in reliability.coefficients:
        table.add_row(
            cell(found.name),
            DASH if found.value is None else show_number(found.value),
            show_interval(found.interval),
            cell(found.reason or ""),
        )
    counts = f"{reliability.what}: {len(reliability.raters)} raters, {reliability.n_items:,} items"
    if reliability.n_left_out:
        counts += f", {reliability.n_left_out:,} left out for a missing score"
    return _captioned(table, [counts, *reliability.raters])


def leaderboard_tables(boards: Sequence[Board]) -> list[Table]:
    """A table of systems per metric."""
    tables = []
    for board in boards:
        table = plain_table("system")
        for name in ("mean", "95 % interval", "rank", "rank range", "scored", "failed"):
            table.add_column(name, justify="right", no_wrap=True)
        for standing in board.standings:
            ranks = (standing.best_rank, standing.worst_rank)
            table.add_row(
                cell(standing.system, "bold"),
                show_number(standing.mean),
                show_interval(standing.interval),
                str(standing.rank),
                str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]} to {ranks[1]}",
                f"{standing.n:,}",
                f"{standing.n_failed:,}",
            )
        better = "higher" if board.higher_is_better else "lower"
        tables.append(_captioned(table, [f"{board.metric}.{board.value}, {better} is better"]))
    return tables


def _captioned(table: Table, lines: Sequence[str]) -> Table:
    table.caption = Text("\n".join(lines), style="dim", overflow="fold")
    table.caption_justify = "left"
    return table
