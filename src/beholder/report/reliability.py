"""Agreement between raters as a table."""

from __future__ import annotations

from beholder.files import safe_name
from beholder.run.reliability import Reliability
from beholder.tables import Column, Table, interval_cells

FEW_ITEMS = 20
"""A convention: bootstrap intervals of fewer items are too narrow."""


def reliability_table(reliability: Reliability) -> Table:
    """Coefficients of agreement between raters."""
    n, n_left_out = reliability.n_items, reliability.n_left_out
    left_out = f", {n_left_out:,} left out for a missing score" * bool(n_left_out)
    return Table(
        name=f"reliability-{safe_name(reliability.what)}",
        title=f"{reliability.what}: {len(reliability.raters)} raters, {n:,} items{left_out}",
        columns=(
            Column("coefficient", "coefficient", "text"),
            Column("found", "value", interval=True),
            Column("reason", "note", "text"),
        ),
        rows=tuple(
            {
                "coefficient": found.name,
                "found": found.value,
                **interval_cells("found", found.interval),
                "reason": found.reason or "",
            }
            for found in reliability.coefficients
        ),
        notes=(
            f"Raters: {', '.join(reliability.raters)}.",
            *[f"Intervals of fewer than {FEW_ITEMS} items are too narrow."] * (n < FEW_ITEMS),
        ),
    )
