"""Columns that several tables of storylines have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beholder.tables import Column, interval_cells

SOURCE = Column("source", "source", "text")
METHOD = Column("method", "method", "text")
MEAN = Column("mean", "mean", "hundredths")
SD = Column("sd", "SD", "hundredths")
PAIR = (
    Column("a", "source", "text"),
    Column("b", "minus", "text"),
    Column("n_a", "n, first", "count"),
    Column("n_b", "n, second", "count"),
)
FEW = Column("few", "few", "mark")
EFFECT = Column("g", "Hedges' g", "hundredths", interval=True)


def effects(rows: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Comparisons of two sources as rows of a table with ``EFFECT``."""
    return tuple({**row, **interval_cells("g", row["g_interval"])} for row in rows)
