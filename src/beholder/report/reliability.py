"""Agreement between raters as a table."""

from __future__ import annotations

from beholder.files import safe_name
from beholder.run.reliability import Reliability
from beholder.tables import Column, Table, interval_cells

_LEAST = 20
_FEW = f"With fewer than {_LEAST} items, coefficients say little and intervals are too narrow."


def reliability_table(reliability: Reliability) -> Table:
    """Coefficients of agreement between raters."""
    counts = f"{len(reliability.raters)} raters, {reliability.n_items:,} items"
    if reliability.n_left_out:
        counts += f", {reliability.n_left_out:,} left out for a missing score"
    return Table(
        name=f"reliability-{safe_name(reliability.what)}",
        title=f"{reliability.what}: {counts}",
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
            f"raters: {', '.join(reliability.raters)}",
            *([_FEW] if reliability.n_items < _LEAST else []),
        ),
    )
