"""Verdicts by what questions and criteria are about: their category or dimension."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

from beholder import files, stats
from beholder.report.drawing import PageSection
from beholder.run import manifest
from beholder.run.store import Store
from beholder.tables import Cells, Column, Table, estimate_cells

_LEAST_SOURCES = 5
"""Pictures below which a group has no intervals."""
_SHOWN = 30
"""Groups of a table."""
_LOOKED_AT = 100
"""Items without any group after which a metric has none."""


def group_tables(store: Store) -> list[Table]:
    """Per metric whose units have a group, the share of each verdict by group.

    Shares are pooled over all units of a group, each counted once whatever its weight; intervals
    resample what is described. Units without a verdict that the judge could read are left out.
    """
    log = manifest.read(store.folder)
    sources = store.sources(log.data.n_items)
    return [
        table
        for metric in log.metrics
        if (table := _table(store, metric.name, sources)) is not None
    ]


def section(store: Store) -> PageSection | None:
    """The section of the page of a run with such units; None for other runs."""
    tables = group_tables(store)
    if not tables:
        return None
    return PageSection("by-group", "By category", "by_group.html.j2", {"tables": tables})


def _table(store: Store, metric: str, sources: list[bytes]) -> Table | None:
    found: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    for n_read, (position, units) in enumerate(store.units(metric)):
        if n_read == _LOOKED_AT and not found:  # spares large runs of other metrics
            return None
        for unit in units:
            if unit.detail.get("group") and unit.verdict and unit.score is not None:
                found[str(unit.detail["group"])].append((unit.verdict, sources[position]))
    if not found:
        return None
    verdicts = Counter(verdict for members in found.values() for verdict, _ in members)
    rows: list[Cells] = []
    largest = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))
    for group, members in largest[:_SHOWN]:
        of = [source for _, source in members]
        n_sources = len(set(of))
        cells: Cells = {"group": group, "n": len(members), "n_sources": n_sources}
        for verdict in verdicts:
            is_this = [float(said == verdict) for said, _ in members]
            share = stats.mean_interval(is_this, clusters=of)
            few = n_sources < _LEAST_SOURCES
            cells |= estimate_cells(verdict, replace(share, interval=None) if few else share)
        rows.append(cells)
    columns = (
        Column("group", "category", "text"),
        Column("n", "n", "count"),
        Column("n_sources", "pictures", "count"),
        *(Column(verdict, verdict.replace("_", " "), "percent", True) for verdict in verdicts),
    )
    notes = [f"Questions and criteria count alike. Intervals need {_LEAST_SOURCES} pictures."]
    if len(largest) > _SHOWN:
        notes.append(f"The largest {_SHOWN} of {len(largest)} categories.")
    return Table(
        f"by-category-{files.safe_name(metric)}",
        f"{metric} by category",
        columns,
        tuple(rows),
        tuple(notes),
    )
