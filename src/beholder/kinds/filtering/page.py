"""The page of a filter: counts, rows by reason, scores with their thresholds."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from beholder.base import files
from beholder.kinds.filtering.config import FilterOptions
from beholder.kinds.filtering.deciding import DecidedRow, RowEvidence
from beholder.kinds.filtering.result import FilterResult
from beholder.lint.rules import rules
from beholder.report.pages import render_page

PAGE = "report.html"
N_SHOWN = 20
_BINS = 24
_MOST_CHARACTERS = 300


def write_page(
    job: Path,
    result: FilterResult,
    rows: Iterator[DecidedRow],
    evidence: RowEvidence,
    options: FilterOptions,
) -> None:
    """Write the page of a job, which is the same for the same rows and settings."""
    chance = random.Random(0)  # noqa: S311
    rows_by_reason: dict[str, list[DecidedRow]] = defaultdict(list)
    n_seen: dict[str, int] = defaultdict(int)
    for row in rows:
        if not row.reason:
            continue
        # Reservoir sampling: memory does not grow with the rows.
        n_seen[row.reason] += 1
        if len(rows_by_reason[row.reason]) < N_SHOWN:
            rows_by_reason[row.reason].append(row)
        elif (place := chance.randrange(n_seen[row.reason])) < N_SHOWN:
            rows_by_reason[row.reason][place] = row
    decisions = options.decisions
    reasons = [
        {
            "name": describe_reason(reason),
            "decision": decisions[reason],
            "n": n,
            "share": 100 * n / result.n_rows,
            "rows": [
                {
                    "id": row.id,
                    "text": (row.text or "")[:_MOST_CHARACTERS],
                    "others": ", ".join(
                        name for name in row.reasons if name != reason
                    ),
                }
                for row in sorted(
                    rows_by_reason[reason], key=lambda row: row.row
                )
            ],
        }
        for reason, n in result.reasons.items()
    ]
    noted = [
        {"name": describe_reason(reason), "n": n}
        for reason, n in result.noted.items()
        if decisions[reason] == "keep"
    ]
    charts = [
        chart
        for column in evidence.scores
        if (chart := _draw_scores(column, evidence, options)) is not None
    ]
    page = render_page(
        "filter.html.j2",
        ("page.css",),
        result=result,
        sentence=result.describe(),
        reasons=reasons,
        noted=noted,
        charts=charts,
    )
    files.write_text(job / PAGE, page)


def describe_reason(reason: str) -> str:
    """Return a reason with the name of its rule."""
    rule = rules().get(reason)
    return f"{reason} {rule.name}" if rule else reason


def _draw_scores(
    column: str, evidence: RowEvidence, options: FilterOptions
) -> Mapping[str, Any] | None:
    """Return a histogram in a view box of 100 times 40, and its thresholds."""
    scores = evidence.scores[column]
    known_scores = scores[~np.isnan(scores)]
    if not len(known_scores):
        return None
    counts, edges = np.histogram(known_scores, bins=_BINS)
    low, width = float(edges[0]), float(edges[-1] - edges[0]) or 1.0
    limits = [t for t in options.thresholds if t.column == column]
    return {
        "column": column,
        "n": len(known_scores),
        "low": low,
        "high": float(edges[-1]),
        "bars": [
            {
                "x": 100 * at / _BINS,
                "height": 40 * int(count) / int(counts.max()),
            }
            for at, count in enumerate(counts)
        ],
        "bar_width": 100 / _BINS,
        "limits": [
            {
                "name": str(limit),
                "x": min(100.0, max(0.0, 100 * (limit.limit - low) / width)),
            }
            for limit in limits
        ],
    }
