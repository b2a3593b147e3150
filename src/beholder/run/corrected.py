"""Means of runs, corrected by human labels of some of the texts; and what else grades follow."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from beholder.errors import ConfigError
from beholder.run.labels import Target
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.spec import Spec, parse, tool
from beholder.stats.corrected import FEW_PICTURES, CorrectedMean, corrected_mean
from beholder.stats.judge_bias import Bias, length_bias, own_text_bias, place_bias
from beholder.stats.significance import holm
from beholder.tables import Column, Table, interval_cells
from beholder.text.rules import RuleSplitter

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
