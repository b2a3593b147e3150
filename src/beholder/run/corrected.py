"""Human labels of some texts of a run: means corrected by them, and what else grades follow."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from beholder.data.marks import SIDES
from beholder.data.read import good_rows, read_items
from beholder.errors import ConfigError
from beholder.metrics import ValueInfo
from beholder.options import DataOptions
from beholder.records import Item, Span
from beholder.run.manifest import ValueLog
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.spec import Spec, parse, tool, with_value
from beholder.stats.corrected import FEW_PICTURES, LEAST_PICTURES, CorrectedMean, corrected_mean
from beholder.stats.judge_bias import Bias, length_bias, own_text_bias, place_bias
from beholder.stats.significance import holm
from beholder.tables import Column, Table, interval_cells
from beholder.text.rules import RuleSplitter
from beholder.text.tokenize import words

Value: TypeAlias = ValueInfo | ValueLog
"""A value of a metric, as the metric states it or as a run does."""


@dataclass(frozen=True)
class Labels:
    """What people say of texts.

    Attributes:
        name: The judgment they are from.
        numbers: A label by id and words of a text; the words are empty if the file has none.
        marks: The spans behind labels that are marks, one list per annotator.
    """

    name: str
    numbers: Mapping[tuple[str, str], float]
    marks: Mapping[tuple[str, str], Sequence[Sequence[Span]]]

    def of(self, item: Item) -> float | None:
        """The label of a text; None without one."""
        return self.numbers.get((item.id, item.candidate), self.numbers.get((item.id, "")))


def with_labels(items: Sequence[Item], paths: Sequence[Path]) -> list[Item]:
    """Items with the judgments of other files beside their own, found by id and words."""
    given = {(one.id, one.candidate): one.judgments for one in _rows(paths)}
    return [
        replace(item, judgments={**item.judgments, **more})
        if (more := given.get((item.id, item.candidate), given.get((item.id, ""))))
        else item
        for item in items
    ]


def _rows(paths: Sequence[Path]) -> Iterator[Item]:
    for path in paths:
        found = read_items(path, textless=True)
        yield from good_rows(found, DataOptions(), [], name=str(path))


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
) -> list[Target]:
    """The values that labels correct, before anything is scored.

    Args:
        paths: Data files with ``judgments``, such as ``annotate export`` writes; rows without the
            label are ignored. Without files there is nothing to correct. Several ratings of a text
            count as their mean, and marks as the share of the words that they touch.
        chosen: Judgments, as ``NAME`` or ``METRIC.VALUE=NAME``; with none the only one there is.
        scored: Values of each metric by its canonical name; the first is corrected if none is
            named.
        problems: Receives why a value of another scale is left out; None raises it.

    Raises:
        ConfigError: There is no such label, metric or value, there are hardly any labels, or they
            have another scale than a value.
        DataError: A row is wrong.
    """
    if not paths:
        return []
    items = list(_rows(paths))
    where = f"--labels {', '.join(map(str, paths))}"
    names = sorted({name for item in items for name in item.judgments})
    if not chosen and len(names) == 1:
        chosen = names
    made = []
    for text in chosen or [""]:
        named, _, label = text.rpartition("=")
        if label not in names:
            there = ", ".join(names) or "there are none"
            raise ConfigError(f"{where}: name one of its judgments with --label: {there}")
        labels = _read(items, label)
        if len(labels.numbers) < LEAST_PICTURES:
            raise ConfigError(
                f"{where}: {len(labels.numbers)} rows have a number for {label!r}; at least"
                f" {LEAST_PICTURES} are needed"
            )
        for metric, value in _values(named, scored):
            low = -math.inf if value.low is None else value.low
            high = math.inf if value.high is None else value.high
            off = next((v for v in labels.numbers.values() if not low <= v <= high), None)
            if off is None:
                made.append(Target(metric, value.name, labels))
                continue
            reason = (
                f"{where}: {label!r} has the value {off:g}, and {metric}.{value.name} is from"
                f" {low:g} to {high:g}; bring the labels to this scale"
            )
            if problems is None:
                raise ConfigError(reason)
            problems.append(reason)
    return made


def _values(named: str, scored: Mapping[str, Sequence[Value]]) -> list[tuple[str, Value]]:
    """The values that ``METRIC.VALUE`` names; the first of each metric if it is empty."""
    if not named:
        return [(metric, values[0]) for metric, values in scored.items() if values]
    spec, wanted = with_value(named)
    fitting = [name for name in scored if name == str(spec)]
    fitting = fitting or [name for name in scored if parse(name).name == str(spec)]
    found: list[tuple[str, Value]] = [
        (metric, value)
        for metric in fitting
        for value in scored[metric]
        if value.name == (wanted or scored[metric][0].name)
    ]
    if not found:
        there = ", ".join(f"{name}.{one.name}" for name, of in scored.items() for one in of)
        raise ConfigError(f"--label {named}=: there is no such value; there are: {there}")
    return found


def _read(items: Sequence[Item], label: str) -> Labels:
    """The labels of one name; each annotator's marks are a row of its own, as are exported."""
    numbers: dict[tuple[str, str], list[float]] = {}
    marks: dict[tuple[str, str], list[list[Span]]] = {}
    for item in items:
        given = item.judgments.get(label)
        key = (item.id.removesuffix(f"/{item.meta.get('annotator')}"), item.candidate)
        ratings = given if isinstance(given, (list, tuple)) else [given]
        if label in dict(SIDES) and isinstance(given, (list, tuple)):
            spans = [(int(start), int(end)) for start, end in given]
            text = item.candidate if dict(SIDES)[label] == "candidate" else item.references[0]
            touched = [any(s < end and start < e for s, e in spans) for start, end in words(text)]
            marks.setdefault(key, []).append(spans)
            ratings = [fmean(touched)] if touched else []
        found = [float(one) for one in ratings if isinstance(one, (int, float))]
        if found:
            numbers.setdefault(key, []).append(fmean(found))
    return Labels(label, {key: fmean(found) for key, found in numbers.items()}, marks)


UNLIKE = 0.001
"""Chance below which labelled pictures are no random sample, by the judge's own grades."""

FAULTS = ("contradicted", "unstated", "mistake", "unmatched")
"""Verdicts by which a metric finds fault with a part of a text."""

_COLUMNS = (
    Column("value", "value", "text"),
    Column("of", "of", "text"),
    Column("judge", "judge alone"),
    Column("labels", "labels alone", interval=True),
    Column("corrected", "corrected", interval=True),
    Column("p", "p (Holm)", "p"),
    Column("n", "texts", "count"),
    Column("n_labels", "labelled", "count"),
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

_Judged = dict[Hashable, tuple[float, float | None, Hashable]]
"""By text or picture: what the judge says, the label, and the picture."""


def labelled_tables(run: Path, wanted: Sequence[Target]) -> tuple[list[Table], list[str]]:
    """The corrected means of a run and the bias card of its judges; and what is missing."""
    if not wanted:
        return [], []
    with Store.read(run) as store:
        table, problems = corrected_table([store], [[""] * store.n_subjects()], wanted)
        return [*([table] if table.rows else []), bias_table(store, wanted)], problems


def corrected_table(
    runs: Sequence[Store], systems: Sequence[Sequence[str]], wanted: Sequence[Target]
) -> tuple[Table, list[str]]:
    """Means by judge alone, by labels alone and corrected; and reasons why some are missing.

    Of several systems also the difference of each two, over the pictures that both describe.

    Args:
        runs: The runs.
        systems: Of each run, the system of each item; empty texts if there is one only.
        wanted: Values with their labels.
    """
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    notes: dict[str, None] = {}
    for target in wanted:
        judged: dict[str, _Judged] = {}
        used = 0
        for number, (run, of) in enumerate(zip(runs, systems, strict=True)):
            for place, grade, label, source, _ in _graded(run, target):
                judged.setdefault(of[place], {})[number, place] = (grade, label, source)
                used += label is not None
        if lost := len(target.labels.numbers) - used:
            notes[f"{lost} labels belong to no scored text: another id or other words"] = None
        pictures = {system: _by_picture(texts) for system, texts in judged.items()}
        pairs = {
            f"{b} - {a}": _paired(pictures[a], pictures[b]) for a, b in combinations(judged, 2)
        }
        found: dict[str, CorrectedMean] = {}
        for name, units in (judged | pairs).items():
            try:
                found[name] = _corrected(units, notes)
            except ConfigError as error:
                of_what = f"{target.metric}.{target.value}{name and f' of {name}'}"
                problems.append(f"--labels: {of_what} is not corrected: {error}")
        chances = holm([one.p_value for name, one in found.items() if name in pairs])
        adjusted = dict(zip((name for name in found if name in pairs), chances, strict=True))
        rows += [
            {
                "value": f"{target.metric}.{target.value}",
                "of": name,
                "judge": one.judge,
                "labels": one.labels,
                **interval_cells("labels", one.labels_interval),
                "corrected": one.corrected,
                **interval_cells("corrected", one.corrected_interval),
                "p": adjusted.get(name),
                "n": one.n,
                "n_labels": one.n_labels,
                "effective": one.n_effective if math.isfinite(one.n_effective) else None,
            }
            for name, one in found.items()
        ]
    notes["labelled pictures must be a random sample of all, and labels the truth"] = None
    return Table("corrected", "Corrected by labels", _COLUMNS, tuple(rows), tuple(notes)), problems


def _graded(run: Store, target: Target) -> Iterator[tuple[int, float, float | None, bytes, Any]]:
    """Place, grade, label, picture and item of each text that has a grade."""
    items = [item for _, item in run.subjects(ITEM)]
    sources = run.sources(len(items))
    for place, values in run.values(target.metric):
        if target.value in values:
            item = items[place]
            yield place, values[target.value], target.labels.of(item), sources[place], item


def _by_picture(texts: _Judged) -> _Judged:
    """Means of the texts of each picture: of those with a label if there are any."""
    by: dict[Hashable, list[tuple[float, float | None]]] = {}
    for grade, label, picture in texts.values():
        by.setdefault(picture, []).append((grade, label))
    found: _Judged = {}
    for picture, pairs in by.items():
        known = [(grade, label) for grade, label in pairs if label is not None]
        label = fmean(label for _, label in known) if known else None
        found[picture] = (fmean(grade for grade, _ in known or pairs), label, picture)
    return found


def _paired(a: _Judged, b: _Judged) -> _Judged:
    """The second minus the first, of pictures for which both have a label or neither has one."""
    found: _Judged = {}
    for picture in a.keys() & b.keys():
        (grade_a, label_a, _), (grade_b, label_b, _) = a[picture], b[picture]
        if label_a is not None and label_b is not None:
            found[picture] = (grade_b - grade_a, label_b - label_a, picture)
        elif label_a is None and label_b is None:
            found[picture] = (grade_b - grade_a, None, picture)
    return found


def _corrected(units: _Judged, notes: dict[str, None]) -> CorrectedMean:
    """The corrected mean; ConfigError says why there is none."""
    known = {picture for _, label, picture in units.values() if label is not None}
    marked = [(label, grade, p) for grade, label, p in units.values() if label is not None]
    others = [(grade, p) for grade, _, p in units.values() if p not in known]
    found = corrected_mean(
        [label for label, _, _ in marked],
        [grade for _, grade, _ in marked],
        [grade for grade, _ in others],
        [picture for _, _, picture in marked],
        [picture for _, picture in others],
    )
    if found.p_alike < UNLIKE:
        raise ConfigError(
            f"the judge's mean is {fmean(grade for _, grade, _ in marked):.3g} with a label and"
            f" {fmean(grade for grade, _ in others):.3g} without one (p {found.p_alike:.1g}); label"
            " a random sample of the pictures"
        )
    if dropped := len(units) - len(marked) - len(others):
        notes[f"{dropped} texts of labelled pictures have no label and are left out"] = None
    if found.n_pictures < FEW_PICTURES:
        notes[
            f"{found.n_pictures} labelled pictures: intervals of fewer than {FEW_PICTURES} are too"
            " narrow"
        ] = None
    return found


def bias_table(run: Store, wanted: Sequence[Target]) -> Table:
    """What else than quality the metrics follow: length, and whose text it is.

    A text is a judge's own if the row's ``system`` is the name of the judge's model.

    Args:
        run: The run.
        wanted: Values with their labels.
    """
    rows = []
    for target in wanted:
        known = [row for row in _graded(run, target) if row[2] is not None]
        judged = [grade for _, grade, *_ in known]
        human = [label or 0.0 for _, _, label, *_ in known]
        pictures = [picture for *_, picture, _ in known]
        words = [len(item.candidate.split()) for *_, item in known]
        entries = [length_bias(words, judged, human, pictures)]
        if target.labels.name == "mistakes":
            entries.append(_place(run, target))
        model = _model(target.metric)
        if model:
            gaps: dict[bytes, dict[bool, list[float]]] = {}
            for _, grade, label, picture, item in known:
                own = item.group.get("system", "").casefold() == model.casefold()
                gaps.setdefault(picture, {}).setdefault(own, []).append(grade - (label or 0.0))
            both = [gap for gap in gaps.values() if len(gap) == 2]
            own_gaps, others = ([fmean(gap[own]) for gap in both] for own in (True, False))
            entries.append(own_text_bias(own_gaps, others))
        rows += [
            {
                "scored": f"{target.metric}.{target.value}",
                **asdict(one),
                **interval_cells("value", one.interval),
            }
            for one in entries
        ]
    notes = ("0 is no bias; errors of the labels draw length towards its value without labels",)
    return Table("bias", "What else the grades follow", _BIAS_COLUMNS, tuple(rows), notes)


def _place(run: Store, target: Target) -> Bias:
    """Whether a metric finds fault with sentences that people marked, by their place."""
    splitter, items = RuleSplitter(), [item for _, item in run.subjects(ITEM)]
    sources = run.sources(len(items))
    rows: list[tuple[float, bool, bytes]] = []
    for place, units in run.units(target.metric):
        item = items[place]
        sentences = splitter.split(item.candidate)
        marks = target.labels.marks.get((item.id, item.candidate), ())
        marked = [span for spans in marks for span in spans]
        bad = [
            span
            for unit in units
            if unit.side == "candidate" and unit.verdict in FAULTS
            for span in unit.spans
        ]
        for number, one in enumerate(sentences if len(sentences) > 1 else ()):
            wrong, found = (
                any(start < one.end and one.start < end for start, end in spans)
                for spans in (marked, bad)
            )
            if wrong:
                rows.append((number / (len(sentences) - 1), found, sources[place]))
    return place_bias([x for x, _, _ in rows], [y for _, y, _ in rows], [p for _, _, p in rows])


def _model(metric: str) -> str | None:
    """The model of a metric's judge; None if it has none."""
    judge = parse(metric).options.get("judge", "builtin")
    return tool(judge).argument if isinstance(judge, str | Spec) else None
