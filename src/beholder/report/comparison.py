"""Two runs over the same items as a table."""

from __future__ import annotations

from beholder.run.compare import Comparison
from beholder.tables import Column, Table, interval_cells
from beholder.visible import visible


def differences(comparison: Comparison, label_a: str, label_b: str) -> Table:
    """Paired differences per value, second run minus first.

    Args:
        comparison: The two runs side by side.
        label_a: Name of the first run.
        label_b: Name of the second.
    """
    counts = f"{comparison.n_common:,} items in both runs"
    for label, n_only in ((label_a, comparison.n_only_a), (label_b, comparison.n_only_b)):
        if n_only:
            counts += f", {n_only:,} only in {visible(label)}"
    return Table(
        name="differences",
        title="Differences of the means",
        columns=(
            Column("metric", "metric", "text"),
            Column("value", "value", "text"),
            Column("mean_a", label_a),
            Column("mean_b", label_b),
            Column("difference", "difference", "signed", interval=True),
            Column("p", "p", "p"),
            Column("p_holm", "p (Holm)", "p"),
            Column("n", "n", "count"),
        ),
        rows=tuple(
            {
                "metric": row.metric,
                "value": row.value,
                "mean_a": row.mean_a,
                "mean_b": row.mean_b,
                "difference": row.paired.mean,
                **interval_cells("difference", row.paired.interval),
                "p": row.paired.p_value,
                "p_holm": row.p_holm,
                "n": row.paired.n,
            }
            for row in comparison.differences
        ),
        notes=(
            f"{counts}; difference is the second minus the first.",
            "p: sign flips per source; Holm: corrected over all values that are compared.",
        ),
        by="metric",
    )
