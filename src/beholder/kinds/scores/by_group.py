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

_MAX_GROUPS = 30
"""Groups of a table."""
_MAX_UNGROUPED = 100
"""Items without any group after which a metric has none."""


def group_tables(store: Store) -> list[Table]:
    """Return per metric its values by subset, and the shares of verdicts by group of units.

    Shares are pooled over all units of a group, each counted once whatever its weight; intervals
    resample what is described. Units without a verdict that the judge could read are left out.
    """
    log = manifest.read_log(store.folder)
    sources = store.sources(log.data.n_items)
    tables = [
        table
        for metric in log.metrics
        for table in (
            _subset_table(store, metric, sources),
            _category_table(store, metric.name, sources),
        )
    ]
    return [table for table in tables if table is not None]


def section(store: Store) -> PageSection | None:
    """Return the section of a run's page; None for a run without groups."""
    tables = group_tables(store)
    if not tables:
        return None
    return PageSection(
        "by-group", "By group", "by_group.html.j2", {"tables": tables}
    )


def _subset_table(
    store: Store, metric: manifest.AskerLog, sources: list[bytes]
) -> Table | None:
    """Return the values of a metric by subset; None if there are fewer than two subsets."""
    if "subset" not in next(store.details(metric.name), (0, {}))[1]:
        return None
    metric_columns = read_columns(
        store, metric.name, metric.n, statistics=True
    )
    names = sorted(set(metric_columns.subsets))[:_MAX_GROUPS]
    if metric_columns.statistics is None or len(names) < 2:
        return None
    metric_object = metrics.metric(metric.name)
    # A value that is missing for some items would be a mean over other items in each subset.
    complete = {
        key: x
        for key, x in metric_columns.values.items()
        if np.isfinite(x).all()
    }
    rows: list[Cells] = []
    for name in names:
        in_subset = np.array(metric_columns.subsets) == name
        subset_sources = [
            sources[position]
            for position in metric_columns.positions[in_subset]
        ]
        values = {
            key: stats.mean_interval(x[in_subset], clusters=subset_sources)
            for key, x in complete.items()
        } | corpus_estimates(
            metric_object, metric_columns.statistics[in_subset], subset_sources
        )
        rows.append({"group": name or "(none)", "n": len(subset_sources)})
        for key, estimate in values.items():
            rows[-1] |= estimate_cells(key, estimate)
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


def _category_table(
    store: Store, metric: str, sources: list[bytes]
) -> Table | None:
    members_by_group: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    for n_read, (position, units) in enumerate(store.units(metric)):
        # Reading all units of a large run takes long, and other metrics have no groups.
        if n_read == _MAX_UNGROUPED and not members_by_group:
            return None
        # A unit without a score had an answer that could not be read.
        for unit in units:
            if (
                unit.detail.get("group")
                and unit.verdict
                and unit.score is not None
            ):
                members_by_group[str(unit.detail["group"])].append(
                    (unit.verdict, sources[position])
                )
    if not members_by_group:
        return None
    verdicts = Counter(
        verdict
        for members in members_by_group.values()
        for verdict, _ in members
    )
    rows: list[Cells] = []
    # The largest first, and by name among equals, so that the page is the same each time.
    largest = sorted(
        members_by_group.items(), key=lambda entry: (-len(entry[1]), entry[0])
    )
    for group, members in largest[:_MAX_GROUPS]:
        group_sources = [source for _, source in members]
        n_sources = len(set(group_sources))
        cells: Cells = {
            "group": group,
            "n": len(members),
            "n_sources": n_sources,
        }
        for verdict in verdicts:
            matches = [float(label == verdict) for label, _ in members]
            share = stats.mean_interval(matches, clusters=group_sources)
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
    if len(largest) > _MAX_GROUPS:
        notes.append(
            f"The largest {_MAX_GROUPS} of {len(largest)} categories."
        )
    return Table(
        f"by-category-{files.safe_name(metric)}",
        f"{metric} by category",
        columns,
        tuple(rows),
        tuple(notes),
    )
