"""Verdicts by category or dimension of questions and criteria; values by subset of the data."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from beholder import metrics, stats
from beholder.base import files
from beholder.report.drawing import PageSection
from beholder.run import manifest
from beholder.run.store import Store
from beholder.run.summary import corpus_estimates, read_columns
from beholder.tables import Cells, Column, N, Table, estimate_cells

_SHOWN = 30
"""Groups of a table."""
_LOOKED_AT = 100
"""Items without any group after which a metric has none."""


def group_tables(store: Store) -> list[Table]:
    """Per metric its values by subset, and the share of each verdict by group of its units.

    Shares are pooled over all units of a group, each counted once whatever its weight; intervals
    resample what is described. Units without a verdict that the judge could read are left out.
    """
    log = manifest.read(store.folder)
    sources = store.sources(log.data.n_items)
    found = [
        table
        for metric in log.metrics
        for table in (
            _subsets(store, metric, sources),
            _table(store, metric.name, sources),
        )
    ]
    return [table for table in found if table is not None]


def section(store: Store) -> PageSection | None:
    """The section of the page of a run with such units; None for other runs."""
    tables = group_tables(store)
    if not tables:
        return None
    return PageSection(
        "by-group", "By group", "by_group.html.j2", {"tables": tables}
    )


def _subsets(
    store: Store, metric: manifest.AskerLog, sources: list[bytes]
) -> Table | None:
    """The values of a metric within each subset that its scores name; None of one subset."""
    if "subset" not in next(store.details(metric.name), (0, {}))[1]:
        return None
    found = read_columns(store, metric.name, metric.n, statistics=True)
    names = sorted(set(found.subsets))[:_SHOWN]
    if found.statistics is None or len(names) < 2:
        return None
    built = metrics.metric(metric.name)
    complete = {
        key: x for key, x in found.values.items() if np.isfinite(x).all()
    }
    rows: list[Cells] = []
    for name in names:
        there = np.array(found.subsets) == name
        of = [sources[position] for position in found.positions[there]]
        values = {
            key: stats.mean_interval(x[there], clusters=of)
            for key, x in complete.items()
        } | corpus_estimates(built, found.statistics[there], of)
        rows.append({"group": name or "(none)", "n": len(of)})
        for key, one in values.items():
            rows[-1] |= estimate_cells(key, one)
    columns = (
        Column(key, key, interval=True)
        for key in values
        if not key.startswith("subset_")
    )
    return Table(
        f"by-subset-{files.safe_name(metric.name)}",
        f"{metric.name} by subset",
        (Column("group", "subset", "text"), N, *columns),
        tuple(rows),
    )


def _table(store: Store, metric: str, sources: list[bytes]) -> Table | None:
    found: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    for n_read, (position, units) in enumerate(store.units(metric)):
        if (
            n_read == _LOOKED_AT and not found
        ):  # spares large runs of other metrics
            return None
        for unit in units:
            if (
                unit.detail.get("group")
                and unit.verdict
                and unit.score is not None
            ):
                found[str(unit.detail["group"])].append(
                    (unit.verdict, sources[position])
                )
    if not found:
        return None
    verdicts = Counter(
        verdict for members in found.values() for verdict, _ in members
    )
    rows: list[Cells] = []
    largest = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))
    for group, members in largest[:_SHOWN]:
        of = [source for _, source in members]
        n_sources = len(set(of))
        cells: Cells = {
            "group": group,
            "n": len(members),
            "n_sources": n_sources,
        }
        for verdict in verdicts:
            is_this = [float(said == verdict) for said, _ in members]
            share = stats.mean_interval(is_this, clusters=of)
            cells |= estimate_cells(verdict, share)
        rows.append(cells)
    columns = (
        Column("group", "category", "text"),
        N,
        Column("n_sources", "pictures", "count"),
        *(
            Column(verdict, verdict.replace("_", " "), "percent", True)
            for verdict in verdicts
        ),
    )
    notes = ["Questions and criteria count alike."]
    if len(largest) > _SHOWN:
        notes.append(f"The largest {_SHOWN} of {len(largest)} categories.")
    return Table(
        f"by-category-{files.safe_name(metric)}",
        f"{metric} by category",
        columns,
        tuple(rows),
        tuple(notes),
    )
