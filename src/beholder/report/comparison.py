"""Two runs over the same items: a table of differences, a page with the items that moved most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from beholder.base import files
from beholder.base.visible import make_visible
from beholder.report.pages import render_page
from beholder.report.payload import picture_uri
from beholder.report.study_tables import html
from beholder.run import manifest
from beholder.run.compare import (
    Comparison,
    Difference,
    SubjectCounts,
    paired_values,
)
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.stats.ranks import subtract
from beholder.tables import (
    METRIC,
    VALUE,
    Column,
    N,
    Table,
    interval_cells,
)


def differences(comparison: Comparison, label_a: str, label_b: str) -> Table:
    """Return a table of paired differences per value, second run minus first.

    Args:
        comparison: The two runs side by side.
        label_a: Name of the first run.
        label_b: Name of the second.
    """
    # Every row has its own n, because items may have a value in one run only;
    # a note says so where it happened.
    counts = "; ".join(
        _counted(subject_counts, label_a, label_b)
        for subject_counts in comparison.counts
    )
    return Table(
        name="differences",
        title="Differences of the means",
        columns=(
            METRIC,
            VALUE,
            Column("mean_a", label_a),
            Column("mean_b", label_b),
            Column("difference", "difference", "signed", interval=True),
            Column("p", "p", "p"),
            Column("p_holm", "p (Holm)", "p"),
            N,
        ),
        rows=tuple(
            {
                "metric": _name_metric(row),
                "value": row.value,
                "mean_a": row.mean_a,
                "mean_b": row.mean_b,
                "difference": row.paired.mean,
                **interval_cells(
                    "difference", row.paired.interval, row.paired.reason
                ),
                "p": row.paired.p_value,
                "p_holm": row.p_holm,
                "n": row.paired.n,
            }
            for row in comparison.differences
        ),
        notes=(
            f"{counts}; difference is {label_b} minus {label_a}.",
            "p: sign flips per source; Holm: corrected over all values that are compared.",
            *_fewer(comparison),
            *(
                f"caution: {subject_counts.note}."
                for subject_counts in comparison.counts
                if subject_counts.note
            ),
            *(f"caution: {caution}." for caution in comparison.cautions),
        ),
        by="metric",
    )


def differences_html(
    comparison: Comparison, label_a: str, label_b: str
) -> Markup:
    """Return the table of differences for a page; arguments as for ``differences``."""
    # The difference comes before the means, so that a telephone shows it without scrolling.
    table = differences(comparison, label_a, label_b)
    first = ("metric", "value", "difference")
    columns = sorted(table.columns, key=lambda column: column.key not in first)
    return html(replace(table, columns=tuple(columns)))


def _fewer(comparison: Comparison) -> list[str]:
    n_most = max(counts.n_common for counts in comparison.counts)
    if all(row.paired.n == n_most for row in comparison.differences):
        return []
    what = " and ".join(counts.subjects for counts in comparison.counts)
    return [
        f"n: {what} with a value in both runs; those that failed or are without it in one have"
        " none there."
    ]


def _counted(counts: SubjectCounts, label_a: str, label_b: str) -> str:
    text = f"{counts.n_common:,} {counts.subjects} in both runs"
    for label, n_only in (
        (label_a, counts.n_only_a),
        (label_b, counts.n_only_b),
    ):
        if n_only:
            text += f", {n_only:,} only in {make_visible(label)}"
    return text


_N_MOVED = 12
_N_FALLEN = 5
_ROOM = 6_000_000


def write_comparison(
    a: Store,
    b: Store,
    comparison: Comparison,
    output: Path,
    media_root: Path | None = None,
) -> None:
    """Draw two runs as one HTML file: differences, and per metric the items that moved most.

    Args:
        a: The first run.
        b: The second run.
        comparison: The two side by side.
        output: The file.
        media_root: Folder that paths of pictures are relative to; None for that of the data.

    Raises:
        RunError: The file cannot be written.
    """
    names = [store.folder.name for store in (a, b)]
    root = media_root or manifest.data_folder(a.folder)
    page = render_page(
        "comparison.html.j2",
        ("page.css",),
        names=names,
        comparison=comparison,
        table=differences_html(comparison, *names),
        moved=[
            (
                headline.metric,
                headline.value,
                _direction(a, headline),
                list(_moved(a, b, headline, root)),
            )
            for headline in _headlines(a, comparison)
        ],
    )
    files.write_text(output, page)


def _direction(a: Store, headline: Difference) -> str:
    """Return the better direction of a value as a sentence part."""
    (higher_is_better,) = (
        value.higher_is_better
        for value in manifest.read_log(a.folder).askers[headline.metric].values
        if value.name == headline.value
    )
    return {
        True: "higher is better",
        False: "lower is better",
        None: "neither direction is better",
    }[higher_is_better]


def _name_metric(row: Difference) -> str:
    return (
        row.metric
        if row.other in ("", row.metric)
        else f"{row.metric} against {row.other}"
    )


def moved_tables(a: Store, b: Store, comparison: Comparison) -> list[Table]:
    """Return, per metric, the items whose headline fell most from the first run to the second.

    Metrics whose headline has no direction are left out.

    Args:
        a: The first run.
        b: The second run.
        comparison: The two side by side.
    """
    tables = []
    askers = manifest.read_log(a.folder).askers
    for headline in _headlines(a, comparison):
        metric, value = headline.metric, headline.value
        info = next(
            value_info
            for value_info in askers[metric].values
            if value_info.name == value
        )
        # With the sign, a fall is negative whichever end is better; without a
        # direction nothing falls.
        sign = {True: 1.0, False: -1.0, None: 0.0}[info.higher_is_better]
        fallen = sorted(
            (sign * float(subtract(second, first)), name, first, second)
            for name, ((_, first), (_, second)) in paired_values(
                a, b, headline.value, headline.metric, headline.other
            ).items()
        )
        rows = tuple(
            {"id": name, "a": first, "b": second, "difference": second - first}
            for change, name, first, second in fallen[:_N_FALLEN]
            if change < 0
        )
        columns = (
            Column("id", "item", "text"),
            Column("a", f"{value} before"),
            Column("b", f"{value} after"),
            Column("difference", "difference", "signed"),
        )
        if rows:
            title = f"Items that fell most by {metric}"
            tables.append(Table("fallen", title, columns, rows))
    return tables


def _headlines(a: Store, comparison: Comparison) -> list[Difference]:
    """Return the first compared value of each metric of items."""
    headline_by_metric: dict[str, Difference] = {}
    for row in comparison.differences:
        if a.kind_of(row.metric) is ITEM:
            headline_by_metric.setdefault(row.metric, row)
    return list(headline_by_metric.values())


def _moved(
    a: Store, b: Store, headline: Difference, root: Path | None
) -> Iterator[Mapping[str, str | float]]:
    """Yield the items that differ most: scores, texts, and the picture as an address."""
    paired = paired_values(
        a, b, headline.value, headline.metric, headline.other
    )
    # Equal differences in the order of ids, so that a page does not change
    # between runs.
    common = sorted(
        paired,
        key=lambda name: (-abs(paired[name][1][1] - paired[name][0][1]), name),
    )
    room = _ROOM
    for name in common[:_N_MOVED]:
        (at_a, score_a), (at_b, score_b) = paired[name]
        [(_, first)], [(_, second)] = a.items([at_a]), b.items([at_b])
        picture = "" if root is None else picture_uri(first, root, room)
        # Pictures share a budget: the page must stay small enough to send.
        room -= len(picture)
        yield {
            "id": name,
            "score_a": score_a,
            "score_b": score_b,
            "difference": score_b - score_a,
            "text_a": first.candidate,
            "text_b": second.candidate,
            "reference": next(iter(first.references), ""),
            "picture": picture,
        }
