"""Two runs over the same items: a table of differences, a page with the items that moved most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from beholder import files
from beholder.records import Item
from beholder.report.numbers import show_number, show_signed
from beholder.report.pages import content_hash, environment, styles
from beholder.report.payload import picture_uri
from beholder.report.study_tables import html
from beholder.run import manifest
from beholder.run.compare import Comparison, SubjectCounts
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.tables import Column, Table, interval_cells
from beholder.visible import visible


def differences(comparison: Comparison, label_a: str, label_b: str) -> Table:
    """Paired differences per value, second run minus first.

    Args:
        comparison: The two runs side by side.
        label_a: Name of the first run.
        label_b: Name of the second.
    """
    counts = "; ".join(_counted(one, label_a, label_b) for one in comparison.counts)
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


def _counted(counts: SubjectCounts, label_a: str, label_b: str) -> str:
    text = f"{counts.n_common:,} {counts.subjects} in both runs"
    for label, n_only in ((label_a, counts.n_only_a), (label_b, counts.n_only_b)):
        if n_only:
            text += f", {n_only:,} only in {visible(label)}"
    return text


_N_MOVED = 12
_N_FALLEN = 5
_ROOM = 6_000_000


@dataclass(frozen=True)
class Moved:
    """An item whose score differs between two runs.

    Attributes:
        id: Its id.
        score_a: Score in the first run.
        score_b: Score in the second.
        text_a: Its text in the first run.
        text_b: Its text in the second.
        picture: Address of its picture, or empty.
    """

    id: str
    score_a: float
    score_b: float
    text_a: str
    text_b: str
    picture: str

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.score_b - self.score_a


def write_comparison(
    a: Store, b: Store, comparison: Comparison, output: Path, media_root: Path | None = None
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
    style = styles("page.css")
    names = [store.folder.name for store in (a, b)]
    root = media_root or manifest.data_folder(a.folder)
    templates = environment(number=show_number, signed=show_signed)
    page = templates.get_template("comparison.html.j2").render(
        style=style,
        style_hash=content_hash(style),
        names=names,
        comparison=comparison,
        table=html(differences(comparison, *names)),
        moved=[
            (metric, value, _moved(a, b, metric, value, root))
            for metric, value in _headlines(comparison).items()
            if a.kind_of(metric) is ITEM
        ],
    )
    files.write_text(output, page)


def moved_tables(a: Store, b: Store, comparison: Comparison) -> list[Table]:
    """Per metric the items whose headline fell most from the first run to the second.

    Metrics whose headline has no direction are left out.

    Args:
        a: The first run.
        b: The second run.
        comparison: The two side by side.
    """
    tables = []
    for metric, value in _headlines(comparison).items():
        if a.kind_of(metric) is not ITEM:
            continue
        higher_is_better = _higher_is_better(a, metric, value)
        if higher_is_better is None:
            continue
        sign = 1.0 if higher_is_better else -1.0
        scores_a, scores_b = (_scores(store, metric, value) for store in (a, b))
        change = {
            name: scores_b[name][1] - scores_a[name][1]
            for name in scores_a.keys() & scores_b.keys()
        }
        fallen = sorted((sign * moved, name) for name, moved in change.items() if sign * moved < 0)
        rows = [
            {
                "id": name,
                "a": scores_a[name][1],
                "b": scores_b[name][1],
                "difference": change[name],
            }
            for _, name in fallen[:_N_FALLEN]
        ]
        columns = (
            Column("id", "item", "text"),
            Column("a", f"{value} before"),
            Column("b", f"{value} after"),
            Column("difference", "difference", "signed"),
        )
        if rows:
            title = f"Items that fell most by {metric}"
            tables.append(Table("fallen", title, columns, tuple(rows)))
    return tables


def _headlines(comparison: Comparison) -> dict[str, str]:
    """The first compared value of each metric."""
    found: dict[str, str] = {}
    for row in comparison.differences:
        found.setdefault(row.metric, row.value)
    return found


def _higher_is_better(store: Store, metric: str, value: str) -> bool | None:
    values = manifest.read(store.folder).askers[metric].values
    return next(one for one in values if one.name == value).higher_is_better


def _moved(a: Store, b: Store, metric: str, value: str, root: Path | None) -> Sequence[Moved]:
    scores_a, scores_b = (_scores(store, metric, value) for store in (a, b))
    common = sorted(
        scores_a.keys() & scores_b.keys(),
        key=lambda name: (-abs(scores_b[name][1] - scores_a[name][1]), name),
    )
    found = []
    room = _ROOM
    for name in common[:_N_MOVED]:
        (at_a, score_a), (at_b, score_b) = scores_a[name], scores_b[name]
        first, second = _item(a, at_a), _item(b, at_b)
        picture = "" if root is None else picture_uri(first, root, room)
        room -= len(picture)
        found.append(Moved(name, score_a, score_b, first.candidate, second.candidate, picture))
    return found


def _item(store: Store, position: int) -> Item:
    return next(iter(store.items([position])))[1]


def _scores(store: Store, metric: str, value: str) -> Mapping[str, tuple[int, float]]:
    """Place and score per id."""
    ids = {place: item.id for place, item in store.items()}
    return {
        ids[place]: (place, values[value])
        for place, values in store.values(metric)
        if value in values
    }
