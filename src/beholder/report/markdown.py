"""Summaries in GitHub's Markdown; no text can break out of its cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from beholder.base.visible import cut_text, for_markdown
from beholder.report.load import MetricColumns, load
from beholder.report.study_tables import show_cell, show_range
from beholder.report.tables import summary_table
from beholder.run.store import Store
from beholder.tables import Column, Table

N_WORST = 5
"""Items of each metric that a summary names."""

_SNIPPET = 160


def markdown(table: Table) -> str:
    """Return a table with its title and notes as Markdown; an interval follows its value."""
    columns = table.shown_columns()
    lines = [f"### {for_markdown(table.title)}", ""] if table.title else []
    if table.rows:
        lines.append(
            _line(
                for_markdown(column.heading or column.key)
                for column in columns
            )
        )
        lines.append(
            _line(
                "---" if c.kind in ("text", "mark") else "---:"
                for c in columns
            )
        )
    # The column that groups rows is only shown where its value changes.
    before: Any = None
    for row in table.rows:
        follows = bool(table.by) and row[table.by] == before
        before = row[table.by] if table.by else None
        lines.append(
            _line(
                "" if follows and c.key == table.by else _cell(table, row, c)
                for c in columns
            )
        )
    if notes := table.shown_notes():
        lines += ["", *(f"- {for_markdown(note)}" for note in notes)]
    return "\n".join([*lines, ""])


def together(
    title: str, tables: Iterable[Table], problems: Sequence[str] = ()
) -> str:
    """Return a summary: passed or not, the problems, then tables.

    Args:
        title: Title of the summary.
        tables: The tables.
        problems: Reasons of a failure; empty if all gates are passed.
    """
    verdict = "❌ not passed" if problems else "✅ passed"
    lines = [
        f"## {for_markdown(title)}: {verdict}",
        "",
        *(f"- {for_markdown(problem)}" for problem in problems),
    ]
    parts = [
        "\n".join(lines).rstrip() + "\n",
        *(markdown(table) for table in tables),
    ]
    return "\n".join(parts)


def summed_up(title: str, tables: Iterable[Table]) -> str:
    """Return a summary without a verdict, for results without gates."""
    return "\n".join([f"## {for_markdown(title)}\n", *map(markdown, tables)])


def run_tables(folder: Path) -> list[Table]:
    """Return the means of a run over items, and the worst items of each metric by its headline.

    Of a headline without a direction only the failed items are listed.

    Raises:
        RunError: The folder contains no run.
    """
    with Store.read(folder) as store:
        run = load(store)
        worst = [_worst(store, metric) for metric in run.metrics]
    return [summary_table(run.log), *(table for table in worst if table.rows)]


def _worst(store: Store, metric: MetricColumns) -> Table:
    # Failed items are worse than any score, so they come first.
    rows: list[dict[str, Any]] = [
        {
            "id": item.id,
            "score": None,
            "text": cut_text(f"failed: {metric.failures[place]}", _SNIPPET),
        }
        for place, item in store.items(sorted(metric.failures)[:N_WORST])
    ]
    column = dict(
        zip(
            metric.positions, metric.columns[metric.headline.name], strict=True
        )
    )
    # Without a direction there is no worst score.
    directed = metric.headline.higher_is_better is not None
    lowest = [int(p) for p in metric.ranking()[:N_WORST]] if directed else []
    rows += [
        {
            "id": item.id,
            "score": float(column[place]),
            "text": cut_text(item.candidate, _SNIPPET),
        }
        for place, item in store.items(lowest)
    ]
    columns = (
        Column("id", "item", "text"),
        Column("score", metric.headline.name),
        Column("text", "text", "text"),
    )
    return Table(
        "worst", f"Worst items by {metric.name}", columns, tuple(rows)
    )


def _cell(table: Table, row: Mapping[str, Any], column: Column) -> str:
    note = (
        table.heads.get(str(row.get(column.key)), "")
        if column.key == table.by
        else ""
    )
    interval = show_range(row, column)
    text = for_markdown(show_cell(row, column))
    # Numbers in brackets are ours, and entities cannot be read in a terminal.
    text += f" [{interval}]" if interval else ""
    return f"{text} ({for_markdown(note)})" if note else text


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
