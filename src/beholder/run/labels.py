"""Human labels of some texts of a run, and the values that they are labels of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import TypeAlias

from beholder.base.spec import parse_spec, parse_with_value
from beholder.data.labels import (
    LabelColumn,
    has_decimal_commas,
    notes_on,
    read_labels,
    wrong_answers,
)
from beholder.data.marks import SIDES
from beholder.data.read import error_of_rows, good_rows, read_items
from beholder.errors import ConfigError
from beholder.metrics import ValueInfo
from beholder.options import DataOptions
from beholder.records import Item, Span
from beholder.run.manifest import ValueLog
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.stats.corrected import LEAST_PICTURES
from beholder.text.tokenize import words

Value: TypeAlias = ValueInfo | ValueLog
"""A value of a metric, as the metric states it or as a run does."""


@dataclass(frozen=True)
class Labels:
    """Human labels of texts under one name.

    Attributes:
        name: The judgment they are from.
        numbers: A label by id and words of a text; the words are empty if the file has none.
        marks: The spans behind labels that are marks, one list per annotator.
    """

    name: str
    numbers: Mapping[tuple[str, str], float]
    marks: Mapping[tuple[str, str], Sequence[Sequence[Span]]]

    def number_for(self, item: Item) -> float | None:
        """Return the label of a text, by id and words, else by id alone; None without one."""
        return self.numbers.get(
            (item.id, item.candidate), self.numbers.get((item.id, ""))
        )


def with_labels(
    items: Sequence[Item],
    paths: Sequence[Path],
    chosen: Sequence[str] = (),
    columns: Mapping[str, str] = MappingProxyType({}),
) -> list[Item]:
    """Return items with the judgments of other files beside their own, matched by id and words.

    Args:
        items: The items.
        paths: Data files with ``judgments``.
        chosen: Labels that are used; all with numbers or verdicts if empty.
        columns: Column by field, of those that the files have.

    Raises:
        DataError: A row or an answer is wrong.
    """
    # A file without texts gives labels by id alone, with empty words.
    judgments_by_text = {
        (item.id, item.candidate): item.judgments
        for item in _read_rows(paths, chosen, columns=columns)
    }
    joined = []
    for item in items:
        key = (item.id, item.candidate)
        judgments = judgments_by_text.get(
            key, judgments_by_text.get((item.id, ""))
        )
        if judgments:
            item = replace(item, judgments={**item.judgments, **judgments})
        joined.append(item)
    return joined


def _read_rows(
    paths: Sequence[Path],
    chosen: Sequence[str],
    notes: list[str] | None = None,
    columns: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Item]:
    for path in paths:
        line_numbers: dict[str, int] = {}
        rows = read_items(
            path,
            DataOptions(map=columns),
            textless=True,
            line_numbers=line_numbers,
            is_partial=True,
        )
        items, label_columns = read_labels(
            list(good_rows(rows, DataOptions(), [], name=str(path))),
            str(path),
            line_numbers=line_numbers,
            decimal_commas=has_decimal_commas(path),
        )
        check_answers(label_columns, chosen, len(items))
        if notes is not None:
            notes += notes_on(items, label_columns, chosen)
        yield from items


def check_answers(
    columns: Mapping[str, LabelColumn], chosen: Sequence[str], n_rows: int
) -> None:
    """Refuse answers of another kind than most answers of their label.

    Raises:
        DataError: Lists them with their places.
    """
    if wrong := wrong_answers(columns, chosen):
        raise error_of_rows(wrong, n_rows, is_whole=True)


@dataclass(frozen=True)
class Target:
    """A value of a metric with the labels that correct it."""

    metric: str
    value: str
    labels: Labels


def targets(
    paths: Sequence[Path],
    chosen: Sequence[str],
    scored: Mapping[str, Sequence[Value]],
    problems: list[str] | None = None,
    notes: list[str] | None = None,
    columns: Mapping[str, str] = MappingProxyType({}),
) -> list[Target]:
    """Match labels with the values that they correct, before anything is scored.

    Args:
        paths: Data files with ``judgments``, such as ``annotate export`` writes; rows without the
            label are ignored. Without files there is nothing to correct. Several ratings of a text
            count as their mean, and marks as the share of the words that they touch.
        chosen: Judgments, as ``NAME`` or ``METRIC.VALUE=NAME``; with none the only one there is.
            ``NAME@1..10`` are brought from this scale to that of the value.
        scored: Values of each metric by its canonical name; the first is corrected if none is
            named.
        problems: Receives why a value of another scale is left out; None raises it.
        notes: Receives range and counts of each label.
        columns: Column by field, of those that the files have.

    Raises:
        ConfigError: There is no such label, metric or value, there are hardly any labels, or they
            have another scale than a value.
        DataError: A row is wrong.
    """
    if not paths:
        return []
    items = list(
        _read_rows(
            paths, [_label_name(text) for text in chosen], notes, columns
        )
    )
    where = f"--labels {', '.join(map(str, paths))}"
    names = sorted({name for item in items for name in item.judgments})
    # A single label needs no name.
    if not chosen and len(names) == 1:
        chosen = names
    label_targets = []
    for text in chosen or [""]:
        value_text, _, label = text.rpartition("=")
        scale = ""
        # A label may have an ``@`` in its own name; only else it starts a scale.
        if label not in names:
            label, _, scale = label.partition("@")
        if label not in names:
            listing = ", ".join(names) or "there are none"
            raise ConfigError(
                f"{where}: name one of its judgments with --label: {listing}"
            )
        labels = collect_labels(items, label)
        if len(labels.numbers) < LEAST_PICTURES:
            raise ConfigError(
                f"{where}: {len(labels.numbers)} rows have a number for {label!r}; at least"
                f" {LEAST_PICTURES} are needed"
            )
        for metric, value in _match_values(value_text, scored):
            low = -math.inf if value.low is None else value.low
            high = math.inf if value.high is None else value.high
            value_labels = (
                _scale_labels(labels, scale, low, high) if scale else labels
            )
            # One label outside the bounds shows that the whole column has another scale.
            outlier = next(
                (
                    number
                    for number in value_labels.numbers.values()
                    if not low <= number <= high
                ),
                None,
            )
            if outlier is None:
                label_targets.append(Target(metric, value.name, value_labels))
                continue
            reason = (
                f"{where}: {label!r} has the value {outlier:g}, and {metric}.{value.name} is from"
                f" {low:g} to {high:g}; if the labels have a scale of their own, name its ends:"
                f" --label {label}@1..10"
            )
            if problems is None:
                raise ConfigError(reason)
            problems.append(reason)
    return label_targets


def _label_name(text: str) -> str:
    """Return the name in ``METRIC.VALUE=NAME@1..10``."""
    return text.rpartition("=")[2].partition("@")[0]


def check_fit(items: Iterable[Item], label_targets: Sequence[Target]) -> None:
    """Refuse labels that belong to hardly any text, before anything is scored.

    Raises:
        ConfigError: Fewer pictures have labels than a correction needs.
        DataError: The items cannot be read.
    """
    labelled: list[set[tuple[str, ...]]] = [set() for _ in label_targets]
    for item in items:
        for target, sources in zip(label_targets, labelled, strict=True):
            if target.labels.number_for(item) is not None:
                sources.add(item.source)
    for target, sources in zip(label_targets, labelled, strict=True):
        if len(sources) < LEAST_PICTURES:
            raise ConfigError(
                f"--labels: {target.labels.name!r} belongs to texts of {len(sources)} pictures of"
                f" the data, and at least {LEAST_PICTURES} are needed; labels are found by id, and"
                " by the words of the text if the file has them"
            )


def _scale_labels(
    labels: Labels, scale: str, low: float, high: float
) -> Labels:
    """Map labels of a scale such as ``1..10`` linearly to the scale of a value."""
    try:
        first, last = map(float, scale.split(".."))
        step = (high - low) / (last - first)
    except (ValueError, ZeroDivisionError):
        step = math.nan
    if not math.isfinite(step):
        raise ConfigError(
            f"--label {labels.name}@{scale}: expected the ends of a scale, such as"
            f" {labels.name}@1..10, and a value of a scale that ends"
        )
    numbers = {
        key: low + (number - first) * step
        for key, number in labels.numbers.items()
    }
    return replace(labels, numbers=numbers)


def _match_values(
    value_text: str, scored: Mapping[str, Sequence[Value]]
) -> list[tuple[str, Value]]:
    """Return the values that ``METRIC.VALUE`` names; the first of each metric if it is empty."""
    if not value_text:
        return [
            (metric, values[0]) for metric, values in scored.items() if values
        ]
    spec, value_name = parse_with_value(value_text)
    metric_names = [name for name in scored if name == str(spec)]
    # A name without parameters matches a metric with any.
    metric_names = metric_names or [
        name for name in scored if parse_spec(name).name == str(spec)
    ]
    matches: list[tuple[str, Value]] = [
        (metric, value)
        for metric in metric_names
        for value in scored[metric]
        if value.name == (value_name or scored[metric][0].name)
    ]
    if not matches:
        listing = ", ".join(
            f"{name}.{value.name}"
            for name, values in scored.items()
            for value in values
        )
        raise ConfigError(
            f"--label {value_text}=: there is no such value; there are: {listing}"
        )
    return matches


def collect_labels(items: Sequence[Item], label: str) -> Labels:
    """Collect the labels of one name; an export has a row for each annotator's marks."""
    numbers: dict[tuple[str, str], list[float]] = {}
    marks: dict[tuple[str, str], list[list[Span]]] = {}
    for item in items:
        judgment = item.judgments.get(label)
        key = (
            item.id.removesuffix(f"/{item.meta.get('annotator')}"),
            item.candidate,
        )
        ratings = (
            judgment if isinstance(judgment, (list, tuple)) else [judgment]
        )
        if label in dict(SIDES) and isinstance(judgment, (list, tuple)):
            spans = [(int(start), int(end)) for start, end in judgment]
            text = (
                item.candidate
                if dict(SIDES)[label] == "candidate"
                else item.references[0]
            )
            touched_words = [
                any(s < end and start < e for s, e in spans)
                for start, end in words(text)
            ]
            marks.setdefault(key, []).append(spans)
            ratings = [fmean(touched_words)] if touched_words else []
        row_numbers = [
            float(rating)
            for rating in ratings
            if isinstance(rating, (int, float))
        ]
        if row_numbers:
            numbers.setdefault(key, []).append(fmean(row_numbers))
    return Labels(
        label,
        {key: fmean(text_numbers) for key, text_numbers in numbers.items()},
        marks,
    )


GradedText: TypeAlias = tuple[int, float, float | None, bytes, Item]
"""Place, grade, label, picture and item of a text."""


def read_grades(run: Store, target: Target) -> Iterator[GradedText]:
    """Yield each text that has a grade, in order."""
    items = [item for _, item in run.subjects(ITEM)]
    sources = run.sources(len(items))
    for place, values in run.values(target.metric):
        if target.value in values:
            item = items[place]
            yield (
                place,
                values[target.value],
                target.labels.number_for(item),
                sources[place],
                item,
            )
