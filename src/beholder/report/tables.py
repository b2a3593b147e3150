"""Tables for a terminal; without colours and lines where the output is not one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from beholder.records import Interval
from beholder.report.numbers import show_number
from beholder.run import manifest
from beholder.visible import visible


def summary_table(log: Mapping[str, Any]) -> Table:
    """Means with intervals per metric and value.

    Args:
        log: The content of a run's ``run.json``.
    """
    table = plain_table("metric", "value")
    for name in ("mean", "95 % interval", "scored", "failed"):
        table.add_column(name, justify="right", no_wrap=True)
    results = manifest.results(log)
    # Names of values stay whole in 80 columns; those of metrics give way and are folded.
    longest = max((len(v["name"]) for e in log["metrics"] for v in e["values"]), default=0)
    table.columns[0].max_width = max(10, 32 - longest)
    table.columns[1].min_width = longest
    for entry in log["metrics"]:
        result = results.get(entry["name"])
        if result is None:
            table.add_row(cell(entry["name"]), cell(f"no result: run {log['status']}"))
            continue
        counts = (f"{result.n_scored:,}", f"{result.n_failed:,}")
        if not result.values:
            table.add_row(cell(result.metric, "bold"), "", "none", "", *counts)
        for row, value in enumerate(entry["values"] + entry.get("corpus_values", [])):
            estimate = result.values.get(value["name"])
            if estimate is None:
                continue
            first = row == 0
            table.add_row(
                cell(result.metric, "bold") if first else "",
                cell(value["name"], "bold" if first else ""),
                Text(show_number(estimate.mean), style="bold" if first else ""),
                show_interval(estimate.interval),
                *(counts if first else ("", "")),
            )
        for reason, count in result.failures.items():
            table.add_row("", cell(reason, "yellow"), "", "", "", f"{count:,}")
        for caution in result.cautions:
            table.add_row("", cell(f"caution: {caution}", "yellow"), "", "", "", "")
        table.add_section()
    lines = [result.signature for result in results.values()]
    if log.get("judging"):
        lines.append(f"judges: {log['judging']}")
    table.caption = Text("\n".join(lines), style="dim", overflow="fold")
    table.caption_justify = "left"
    return table


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
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def plain_table(*columns: str) -> Table:
    """A table without side lines, with these first columns."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def cell(text: str, style: str = "") -> Text:
    """Text as it is: never read as markup, control characters visible."""
    return Text(visible(text), style=style, overflow="fold")
