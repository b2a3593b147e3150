"""``report.html``: a run as one page that opens offline and asks the network for nothing.

The page is the same, byte for byte, for the same run. Texts, ids and names of the data are never
trusted: templates escape them, the script only sets text, and a content security policy allows only
the script and the style sheet of the page, by their hashes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from beholder import stats
from beholder.base import files
from beholder.base.grouping import group_by_key
from beholder.base.visible import cut_text
from beholder.records import Estimate, ItemScore, Unit
from beholder.report import charts
from beholder.report.drawing import extra_sections
from beholder.report.load import MetricColumns, RunData, load
from beholder.report.pages import content_hash, render_page
from beholder.report.payload import (
    MAX_BYTES,
    MAX_ITEMS,
    encode_item,
    item_data,
    page_json,
)
from beholder.report.study_tables import html
from beholder.report.views import item_script
from beholder.run import manifest
from beholder.run.manifest import ValueLog
from beholder.run.store import Store

LONGEST = 12
"""Rows of a list."""
_GROUPS = 6
"""Groups of a column that are shown, the largest first."""


@dataclass(frozen=True, slots=True)
class Frequent:
    """One list of findings.

    Attributes:
        title: Title of the list.
        column: The group column of the counts, or empty.
        groups: The groups whose counts are shown.
        rows: Text, number of items with the finding, and the number per group.
        n_more: Findings of several items beyond the list.
        n_single: Findings of one item each, which are in no list.
    """

    title: str
    column: str
    groups: Sequence[str]
    rows: Sequence[tuple[str, int, Sequence[int]]]
    n_more: int
    n_single: int


_LISTS = (
    ("Most frequent wrong attributes", "attribute", "contradicted"),
    ("Most frequent missing entities", "entity", "omission"),
)


def frequent(
    item_units: Iterable[tuple[int, Sequence[Unit]]],
    groups: Mapping[str, Sequence[str | None]],
) -> list[Frequent]:
    """Return the most frequent findings; each counts once per item.

    Args:
        item_units: Positions with the units of one metric whose view is ``scene_graph``.
        groups: Per group column, the value of each item; the first column breaks the counts down.
    """
    # Counts are kept for all items and for the item's group; the lists are ranked by all items.
    column = next(iter(groups), "")
    values = groups.get(column, ())
    sizes = Counter(value for value in values if value is not None)
    largest_groups = [value for value, _ in sizes.most_common(_GROUPS)]
    counts: dict[str, Counter[tuple[str, str | None]]] = {
        title: Counter() for title, _, _ in _LISTS
    }
    for position, units in item_units:
        group = values[position] if column else None
        for title, kind, verdict in _LISTS:
            texts = {
                _words(
                    unit.text,
                    unit.detail.get("of"),
                    unit.detail.get("contradiction"),
                )
                for unit in units
                if unit.kind == kind and unit.verdict == verdict
            }
            for among in {None, group}:  # all items, and those of its group
                counts[title].update((text, among) for text in texts)
    lists = []
    for title, counter in counts.items():
        totals = [
            (text, n) for (text, group), n in counter.items() if group is None
        ]
        totals.sort(key=lambda row: (-row[1], row[0]))
        # A finding of a single item is not frequent; the page of the item has it.
        repeated = [(text, n) for text, n in totals if n > 1]
        rows = [
            (text, n, [counter[text, group] for group in largest_groups])
            for text, n in repeated[:LONGEST]
        ]
        n_more = len(repeated) - len(rows)
        n_single = len(totals) - len(repeated)
        if totals:
            lists.append(
                Frequent(title, column, largest_groups, rows, n_more, n_single)
            )
    return lists


def _words(text: str, of: object, contradiction: object) -> str:
    words = f"{text.lower()} {of}" if of else text.lower()
    return (
        f"{words} (there: {str(contradiction).lower()})"
        if contradiction
        else words
    )


if TYPE_CHECKING:
    from beholder.web.subject_pages import Drawing, SeenSubject

_SCRIPTS = Path(__file__).parent / "scripts"
_N_EXTREME = 8
_SNIPPET = 180


MAX_ROWS = 30
"""Groups of a column that are shown; the largest ones."""


@dataclass(frozen=True)
class Breakdown:
    """A metric's headline by one group column.

    Attributes:
        column: Name of the group column.
        rows: Group and mean with interval, the best first.
        n_left_out: Groups beyond ``MAX_ROWS``.
    """

    column: str
    rows: list[tuple[str, Estimate]]
    n_left_out: int


@dataclass(frozen=True)
class ValueRow:
    """A value's line in a metric's table."""

    value: ValueLog
    estimate: Estimate | None
    bar: charts.RangeBar | None
    spark: list[float]
    n: int


@dataclass(frozen=True)
class Extreme:
    """An item in a list of the worst or the best."""

    position: int
    id: str
    score: float
    text: str


def write_report(
    run_folder: Path,
    output: Path | None = None,
    media_root: Path | None = None,
) -> Path:
    """Draw a run as one HTML file.

    Args:
        run_folder: A run directory.
        output: The file to write; ``report.html`` in the run directory if None.
        media_root: Folder that paths of pictures are relative to; None for that of the data file,
            where it is still where it was.

    Returns:
        The file.

    Raises:
        RunError: The folder does not contain a run.
    """
    manifest.check_kind(run_folder, manifest.SCORES)
    target = output or run_folder / "report.html"
    with Store.read(run_folder) as store:
        page = render(
            store, media_root=media_root or manifest.data_folder(run_folder)
        )
    files.write_text(target, page)
    return target


def render(
    store: Store,
    *,
    max_items: int = MAX_ITEMS,
    max_bytes: int = MAX_BYTES,
    media_root: Path | None = None,
) -> str:
    """Return the page of a run.

    Args:
        store: The run's store.
        max_items: Items to embed at most.
        max_bytes: Size of the embedded items at most; one is always embedded.
        media_root: Folder that paths of pictures are relative to; None shows none.
    """
    # Sections of other kinds may point at items, which are then embedded first.
    run = load(store)
    sections = extra_sections(store)
    sources = store.sources(run.n_items)
    source = run.log.data.source
    items = item_data(
        store,
        run,
        max_items=max_items,
        max_bytes=max_bytes,
        media_root=media_root,
        first=[
            position for section in sections for position in section.positions
        ],
    )
    script = item_script((_SCRIPTS / "items.js").read_text(encoding="utf-8"))
    return render_page(
        "page.html.j2",
        ("page.css",),
        run=run,
        added=sections,
        study_table=html,
        source=source,
        title=re.split(r"[\\/]", source)[-1] or source,
        sections=[
            _section(store, run, metric, sources, entry.corpus_values)
            for metric, entry in zip(run.metrics, run.log.metrics, strict=True)
        ],
        items=items,
        script=script,
        script_hash=content_hash(script),
    )


def _section(
    store: Store,
    run: RunData,
    metric: MetricColumns,
    sources: list[bytes],
    corpus_values: Sequence[ValueLog],
) -> dict[str, object]:
    """Return the template's context of one metric."""
    scores = metric.finite(metric.headline.name)
    low, high = (
        charts.scale(metric.headline, scores) if len(scores) else (0.0, 1.0)
    )
    ranking = metric.ranking().tolist()
    # Too few items for two full lists are shared out, so that no item is both worst and best.
    n_each = min(_N_EXTREME, (len(ranking) + 1) // 2)
    means = metric.result.values if metric.result else {}
    rows = [_value_row(metric, value) for value in metric.values]
    # Values of the whole corpus have no values of items, so neither a chart nor a spark line.
    for value in corpus_values:
        estimate = means.get(value.name)
        if estimate is not None:
            rows.append(ValueRow(value, estimate, None, [], estimate.n))
    return {
        "metric": metric,
        "rows": rows,
        "histogram": charts.histogram(metric.headline, scores)
        if len(scores)
        else None,
        "breakdowns": [
            (
                breakdown,
                [
                    charts.range_bar(e.mean, e.interval, low, high)
                    for _, e in breakdown.rows
                ],
            )
            for breakdown in breakdowns(run, metric, sources)
        ],
        "low": low,
        "high": high,
        "worst": _extremes(store, metric, ranking[:n_each]),
        "best": _extremes(store, metric, ranking[n_each:][::-1][:n_each]),
        "frequent": _frequent(store, run, metric),
    }


def _frequent(
    store: Store, run: RunData, metric: MetricColumns
) -> list[Frequent]:
    """Return lists of findings, for a metric with units of scene graphs."""
    first = next(
        (store.score(metric.name, int(p)) for p in metric.positions[:1]), None
    )
    if (
        not isinstance(first, ItemScore)
        or first.detail.get("view") != "scene_graph"
    ):
        return []
    return frequent(store.units(metric.name, run.n_items), run.groups)


def _value_row(metric: MetricColumns, value: ValueLog) -> ValueRow:
    # A value that no item has is still listed, without a chart.
    scores = metric.finite(value.name)
    estimate = metric.result.values.get(value.name) if metric.result else None
    if not len(scores):
        return ValueRow(value, estimate, None, [], 0)
    ends = charts.scale(value, scores)
    bar = (
        charts.range_bar(estimate.mean, estimate.interval, *ends)
        if estimate
        else None
    )
    return ValueRow(
        value, estimate, bar, charts.sparkline(value, scores), len(scores)
    )


def _extremes(
    store: Store, metric: MetricColumns, positions: list[int]
) -> list[Extreme]:
    column = metric.columns[metric.headline.name]
    places = np.searchsorted(metric.positions, positions)
    return [
        Extreme(
            position, item.id, float(column[place]), _snippet(item.candidate)
        )
        for place, (position, item) in zip(
            places, store.items(positions), strict=True
        )
    ]


def _snippet(text: str) -> str:
    words = " ".join(text[: 2 * _SNIPPET].split())
    return cut_text(words, _SNIPPET)


def breakdowns(
    run: RunData, metric: MetricColumns, sources: Sequence[bytes]
) -> list[Breakdown]:
    """Return one breakdown per group column.

    Args:
        run: The run.
        metric: One of its metrics.
        sources: Source that each item describes; intervals resample these, as in the run's summary.
    """
    # Items without the headline value are in no mean. Groups are drawn best first; of many groups,
    # only the largest are.
    column_of_scores = metric.columns[metric.headline.name]
    is_finite = np.isfinite(column_of_scores)
    positions, scores = (
        metric.positions[is_finite].tolist(),
        column_of_scores[is_finite],
    )
    group_breakdowns = []
    for column, labels in run.groups.items():
        labelled_places = (
            (labels[position], place)
            for place, position in enumerate(positions)
        )
        members = group_by_key(
            (label, place)
            for label, place in labelled_places
            if label is not None
        )
        if not members:
            continue
        largest = sorted(
            members, key=lambda label: (-len(members[label]), label)
        )[:MAX_ROWS]
        rows = []
        for label in largest:
            group_sources = [
                sources[positions[place]] for place in members[label]
            ]
            rows.append(
                (
                    label,
                    stats.mean_interval(
                        scores[members[label]], clusters=group_sources
                    ),
                )
            )
        rows.sort(
            key=lambda row: row[1].mean,
            reverse=metric.headline.higher_is_better is not False,
        )
        group_breakdowns.append(
            Breakdown(column, rows, len(members) - len(largest))
        )
    return group_breakdowns


def draw_item(subject_view: SeenSubject) -> Drawing:
    """Return the template and the context of an item, as in the static report."""
    metrics = subject_view.view.snapshot.of_kind(subject_view.kind)
    encoded = encode_item(
        subject_view.store,
        [metric.name for metric in metrics],
        subject_view.position,
        subject_view.pictures,
    )
    data = page_json(
        [(metric.name, metric.values) for metric in metrics], [encoded]
    )
    return "item.html.j2", {
        "data": Markup(data),  # noqa: S704  # escaped for a script element by `page_json`
        "judgments": subject_view.subject.judgments,
    }
