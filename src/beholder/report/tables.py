"""The summary of a run as a table, and differences, intervals and p-values as text."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from beholder.records import Interval
from beholder.report.numbers import show_number
from beholder.run import manifest
from beholder.tables import Column, Table, interval_cells
from beholder.visible import visible


def summary_table(log: manifest.RunLog) -> Table:
    """Means with intervals per metric and value.

    Args:
        log: The run log.
    """
    results = manifest.results(log)
    rows: list[dict[str, Any]] = []
    heads, notes = {}, []
    for entry in log.metrics:
        name = entry.name
        result = results.get(name)
        if result is None:
            heads[name] = f"no result: run {log.status}"
            rows.append({"metric": name, "value": "", "mean": None})
            continue
        heads[name] = f"{result.n_scored:,} scored, {result.n_failed:,} failed"
        found = [
            {
                "metric": name,
                "value": value.name,
                "mean": result.values[value.name].mean,
                **interval_cells("mean", result.values[value.name].interval),
            }
            for value in entry.values + entry.corpus_values
            if value.name in result.values
        ]
        rows += found or [{"metric": name, "value": "", "mean": None}]
        notes += [f"{name}: {n:,} failed: {reason}" for reason, n in result.failures.items()]
        notes += [f"{name}: caution: {caution}" for caution in result.cautions]
    notes += [result.signature for result in results.values()]
    if log.judging:
        notes.append(f"judges: {log.judging}")
    columns = (
        Column("metric", "metric", "text"),
        Column("value", "value", "text"),
        Column("mean", "mean", interval=True),
    )
    return Table("summary", "", columns, tuple(rows), tuple(notes), by="metric", heads=heads)


def show_interval(interval: Interval | None) -> str:
    """An interval as text, or a dash."""
    if interval is None:
        return "\N{EN DASH}"
    return f"{show_number(interval.low)} to {show_number(interval.high)}"


def show_signed(value: float) -> str:
    """A difference with its sign."""
    text = show_number(value)
    return f"+{text}" if value > 0 else text


def show_p(value: float) -> str:
    """A p-value with three decimals, never as 0."""
    return "< 0.001" if value < 0.001 else show_number(value)


def cell(text: str, style: str = "") -> Text:
    """Text as it is: never read as markup, control characters visible."""
    return Text(visible(text), style=style, overflow="fold")
