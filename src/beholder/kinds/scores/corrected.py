"""``score --labels``: means of a run, corrected by human labels of some of its texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from beholder.data.read import good_rows, read_items
from beholder.errors import ConfigError
from beholder.metrics import Metric
from beholder.options import DataOptions
from beholder.records import Interval, Item
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.spec import parse
from beholder.stats.corrected import FEW_PICTURES, LEAST_PICTURES, corrected_mean
from beholder.stats.judge_bias import length_bias, own_text_bias
from beholder.tables import Column, Table, interval_cells

_COLUMNS = (
    Column("value", "", "text"),
    Column("source", "mean from", "text"),
    Column("mean", "mean", interval=True),
    Column("n", "texts", "count"),
    Column("effective", "worth labels"),
)
_BIAS_COLUMNS = (
    Column("scored", "value", "text"),
    Column("name", "follows", "text"),
    Column("value", "by", interval=True),
    Column("unit", "counted as", "text"),
    Column("n", "n", "count"),
    Column("reason", "not enough data", "text"),
)


def read_labels(path: Path, label: str | None, scored: Sequence[Metric[Any]]) -> dict[str, float]:
    """The labels of a file by row id, before anything is scored.

    Args:
        path: A data file with ``judgments``, such as ``annotate export`` writes; rows without the
            label are ignored. A list of ratings counts as its mean.
        label: Which of the judgments; None takes the only one.
        scored: Metrics whose first value must have the scale of the labels.

    Raises:
        ConfigError: There is no such label, or hardly any, or it has another scale than a metric.
        DataError: A row is wrong.
    """
    items: list[Item] = list(
        good_rows(read_items(path, textless=True), DataOptions(), [], name=str(path))
    )
    names = sorted({name for item in items for name in item.judgments})
    if label is None and len(names) == 1:
        label = names[0]
    if label is None or label not in names:
        raise ConfigError(
            f"--labels {path}: name one of its judgments with --label:"
            f" {', '.join(names) or 'there are none'}"
        )
    found = {}
    for item in items:
        given = item.judgments.get(label)
        values = given if isinstance(given, (list, tuple)) else [given]
        numbers = [float(v) for v in values if isinstance(v, (int, float))]
        if numbers:
            found[item.id] = sum(numbers) / len(numbers)
    if len(found) < LEAST_PICTURES:
        raise ConfigError(
            f"--labels {path}: {len(found)} rows have a number for {label!r}; at least"
            f" {LEAST_PICTURES} are needed"
        )
    for metric in scored:
        info = metric.value_named(None)
        off = next((v for v in found.values() if not info.low <= v <= info.high), None)
        if off is not None:
            raise ConfigError(
                f"--labels {path}: {label!r} has the value {off:g}, and {metric.name}.{info.name}"
                f" is from {info.low:g} to {info.high:g}; bring the labels to this scale"
            )
    return found


def corrected_table(
    run: Path, labels: Mapping[str, float], scored: Sequence[Metric[Any]]
) -> tuple[Table, list[str]]:
    """Means by judge alone, by labels alone and corrected; and reasons why some are missing.

    Args:
        run: The run directory.
        labels: Labels by item id.
        scored: The metrics; each is compared by its first value.
    """
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    notes: dict[str, None] = {}
    with Store.read(run) as store:
        ids = [item.id for _, item in store.subjects(ITEM)]
        sources = store.sources(len(ids))
        known = {sources[place] for place, name in enumerate(ids) if name in labels}
        for metric in scored:
            value = metric.value_named(None).name
            scores = {
                place: numbers[value]
                for place, numbers in store.values(metric.name)
                if value in numbers
            }
            marked = [place for place in scores if ids[place] in labels]
            others = [place for place in scores if sources[place] not in known]
            dropped = len(scores) - len(marked) - len(others)
            try:
                found = corrected_mean(
                    [labels[ids[place]] for place in marked],
                    [scores[place] for place in marked],
                    [scores[place] for place in others],
                    [sources[place] for place in marked],
                    [sources[place] for place in others],
                )
            except ConfigError as error:
                problems.append(f"--labels: {metric.name} is not corrected: {error}")
                continue
            if dropped:
                notes[f"{dropped} texts of labelled pictures have no label and are left out"] = None
            if found.n_pictures < FEW_PICTURES:
                notes[
                    f"{found.n_pictures} labelled pictures: intervals of fewer than {FEW_PICTURES}"
                    " are too narrow"
                ] = None
            name = f"{metric.name}.{value}"
            n_all = len(marked) + len(others)
            rows += [
                _row(name, "judge alone", found.judge, None, n_all),
                _row(name, "labels alone", found.labels, found.labels_interval, found.n_labels),
                _row(name, "corrected", found.corrected, found.corrected_interval, n_all)
                | {"effective": found.n_effective},
            ]
    notes["labelled pictures must be a random sample of all, and labels the truth"] = None
    return Table("corrected", "Corrected by labels", _COLUMNS, tuple(rows), tuple(notes)), problems


def bias_table(run: Path, labels: Mapping[str, float], scored: Sequence[Metric[Any]]) -> Table:
    """What else than quality the metrics follow: length, and whose text it is.

    A text is a judge's own if the row's ``system`` is the name of the judge's model.

    Args:
        run: The run directory.
        labels: Labels by item id, on the metrics' scale.
        scored: The metrics; each is looked at by its first value.
    """
    rows = []
    with Store.read(run) as store:
        items = [item for _, item in store.subjects(ITEM)]
        sources = store.sources(len(items))
        for metric in scored:
            value = metric.value_named(None).name
            known = [
                (place, numbers[value], labels[items[place].id])
                for place, numbers in store.values(metric.name)
                if value in numbers and items[place].id in labels
            ]
            words = [len(items[place].candidate.split()) for place, _, _ in known]
            pictures = [sources[place] for place, _, _ in known]
            judged, human = ([row[i] for row in known] for i in (1, 2))
            entries = [length_bias(words, judged, human, pictures)]
            model = parse(getattr(metric, "judge", "builtin")).argument
            if model:
                gaps: dict[bytes, dict[bool, list[float]]] = {}
                for (place, grade, label), picture in zip(known, pictures, strict=True):
                    own = items[place].group.get("system", "").casefold() == model.casefold()
                    gaps.setdefault(picture, {}).setdefault(own, []).append(grade - label)
                both = [gap for gap in gaps.values() if len(gap) == 2]
                own_gaps, others = ([fmean(gap[own]) for gap in both] for own in (True, False))
                entries.append(own_text_bias(own_gaps, others))
            rows += [
                {
                    "scored": f"{metric.name}.{value}",
                    **asdict(one),
                    **interval_cells("value", one.interval),
                }
                for one in entries
            ]
    notes = ("0 is no bias; errors of the labels draw length towards its value without labels",)
    return Table("bias", "What else the grades follow", _BIAS_COLUMNS, tuple(rows), notes)


def _row(value: str, source: str, mean: float, interval: Interval | None, n: int) -> dict[str, Any]:
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return {
        "value": value,
        "source": source,
        "mean": mean,
        "mean_low": low,
        "mean_high": high,
        "n": n,
    }
