"""The main tables of a bidirectional study for a terminal."""

from __future__ import annotations

from dataclasses import replace

from beholder.kinds.bidirectional.study import Study
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


def terminal_tables(study: Study) -> list[Table]:
    """F1, rates and selectivity."""
    return [
        _short(table, keys)
        for name, keys in _SHOWN.items()
        if (table := study.table(name)) is not None
    ]


def _short(table: Table, keys: tuple[str, ...]) -> Table:
    columns = [column for column in table.columns if column.key in keys]
    return replace(
        table,
        columns=tuple(replace(c, heading=_SHORT.get(c.key, c.heading)) for c in columns),
        rows=tuple(row for row in table.rows if row.get("value", "f1") == "f1"),
    )
