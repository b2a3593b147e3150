"""Tables of the suites of texts that are known to be good or bad."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from beholder.benchmarks.authors import AuthorsResult
from beholder.benchmarks.comparison import ComparisonResult
from beholder.records import Estimate
from beholder.report.numbers import show_number
from beholder.report.tables import cell, plain_table, show_interval

DASH = "\N{EN DASH}"


def comparison_tables(found: Sequence[ComparisonResult]) -> Iterator[Table]:
    """Accuracy of all metrics, then each metric's kinds of versions."""
    table = plain_table("valid above invalid")
    for name in ("accuracy", "95 % interval", "level", "separated", "texts"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found:
        table.add_row(
            cell(f"{one.metric}.{one.value}", "bold"),
            *_estimate(one.accuracy),
            _mean(one.ties),
            _mean(one.separated),
            _count(one.accuracy),
        )
    lines = [
        "accuracy: share of pairs of a valid and an invalid version of one text in which the valid"
        " one is better, ties half; level: share of ties; separated: share of texts whose worst"
        " valid version is better than their best invalid one",
        *(one.signature for one in found),
    ]
    yield _captioned(table, lines)
    for one in found:
        yield _kinds(one)


def _kinds(one: ComparisonResult) -> Table:
    table = plain_table(f"{one.metric}.{one.value}")
    table.columns[0].min_width = max(len(row.kind) for row in one.kinds) + 2
    for name in ("mean", "right", "95 % interval", "n", "failed"):
        table.add_column(name, justify="right", no_wrap=True)
    for place, row in enumerate(one.kinds):
        if place == 0 or row.validity != one.kinds[place - 1].validity:
            table.add_row(Text(row.validity, style="bold"))
        table.add_row(
            cell(f"  {row.kind}"),
            _mean(row.score),
            *_estimate(row.accuracy),
            _count(row.score),
            f"{row.n_failed:,}",
        )
    note = "right: share of the other sort's versions of the same text on the right side of it"
    return _captioned(table, [note])


def authors_tables(found: Sequence[AuthorsResult]) -> Iterator[Table]:
    """Accuracy of all metrics by author, then each metric's pairs of authors."""
    names = list(dict.fromkeys(name for one in found for name in one.by_reference))
    table = plain_table("same above other")
    for name in ("accuracy", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in names:
        table.add_column(cell(f"against {name}"), justify="right", overflow="fold")
    for one in found:
        table.add_row(
            cell(f"{one.metric}.{one.value}", "bold"),
            *_estimate(one.accuracy),
            *(_mean(one.by_reference.get(name)) for name in names),
        )
    lines = [
        "share of an author's texts about other videos that the text about the same video stands"
        " above, with the other author's text for reference; ties half",
        *(one.signature for one in found),
    ]
    yield _captioned(table, lines)
    for one in found:
        yield _pairs(one)


def _pairs(one: AuthorsResult) -> Table:
    table = plain_table(f"{one.metric}.{one.value}", "against")
    for name in ("accuracy", "95 % interval", "same", "other", "videos", "failed"):
        table.add_column(name, justify="right", no_wrap=True)
    for pair in one.pairs:
        table.add_row(
            cell(pair.candidate),
            cell(pair.reference),
            *_estimate(pair.accuracy),
            _mean(pair.same),
            _mean(pair.other),
            _count(pair.accuracy),
            f"{pair.n_failed:,}",
        )
    return table


def _estimate(found: Estimate | None) -> tuple[Text, str]:
    interval = None if found is None else found.interval
    return Text(_mean(found), style="bold"), show_interval(interval)


def _mean(found: Estimate | None) -> str:
    return DASH if found is None else show_number(found.mean)


def _count(found: Estimate | None) -> str:
    return "0" if found is None else f"{found.n:,}"


def _captioned(table: Table, lines: Sequence[str]) -> Table:
    table.caption = Text("\n".join(lines), style="dim", overflow="fold")
    table.caption_justify = "left"
    return table
