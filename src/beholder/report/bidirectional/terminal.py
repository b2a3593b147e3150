"""The main tables of a bidirectional study for a terminal."""

from __future__ import annotations

from rich.table import Table as RichTable
from rich.text import Text

from beholder.benchmarks.bidirectional.study import Study
from beholder.report.cells import show_cell, show_range
from beholder.report.tables import cell, plain_table
from beholder.tables import Table

_SHORT = {
    "direction": "",
    "n": "n",
    "hallucination": "made up",
    "omission": "left out",
    "people_alone": "people alone",
    "models_alone": "models alone",
}
_SHOWN = {
    "scores": ("direction", "dataset", "language", "system", "best", "n", "n_failed", "mean"),
    "rates": ("direction", "dataset", "language", "system", "n", "hallucination", "omission"),
    "selectivity": ("dataset", "language", "category", "n", "people_alone", "models_alone"),
}


def terminal_tables(study: Study) -> list[RichTable]:
    """F1, rates and selectivity."""
    return [
        _drawn(table, keys)
        for name, keys in _SHOWN.items()
        if (table := study.table(name)) is not None
    ]


def _drawn(table: Table, keys: tuple[str, ...]) -> RichTable:
    columns = [column for column in table.shown_columns() if column.key in keys]
    made = plain_table()
    made.padding = (0, 1, 0, 0)
    made.title, made.title_justify = table.title, "left"
    for column in columns:
        words = column.kind in ("text", "direction", "mark", "measure")
        heading = _SHORT.get(column.key, column.heading)
        if words:
            made.add_column(heading, overflow="fold")
        else:
            made.add_column(heading, justify="right", no_wrap=True)
        if column.interval:
            made.add_column("95 %", justify="right", no_wrap=True)
    for row in table.rows:
        if row.get("value", "f1") != "f1":
            continue
        cells: list[Text] = []
        for column in columns:
            cells.append(cell(show_cell(row, column)))
            if column.interval:
                cells.append(cell(show_range(row, column)))
        made.add_row(*cells)
    return made
