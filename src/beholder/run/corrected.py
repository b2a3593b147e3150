"""Means and rates of a run, corrected by human labels of some texts; what else grades follow."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from beholder.base.grouping import by_key
from beholder.base.spec import Spec, parse, tool
from beholder.data.marks import SIDES
from beholder.errors import ConfigError
from beholder.records import Span
from beholder.run.labels import Graded, Target, graded
from beholder.run.store import Store
from beholder.stats.corrected import (
    FEW_OF_CLASS,
    FEW_PICTURES,
    CorrectedMean,
    corrected_mean,
    corrected_share,
)
from beholder.stats.judge_bias import (
    OWN_UNIT,
    Bias,
    length_bias,
    own_text_bias,
    place_bias,
)
from beholder.stats.significance import holm
from beholder.tables import NOTE, VALUE, Column, N, Table, interval_cells
from beholder.text.rules import RuleSplitter

FAULTS = ("contradicted", "unstated", "mistake", "unmatched", "omission")
"""Verdicts by which a metric finds fault with a part of a text."""

_BIAS_COLUMNS = (
    Column("scored", "value", "text"),
    Column("name", "follows", "text"),
    Column("value", "by", interval=True),
    Column("unit", "counted as", "text"),
    N,
    Column("reason", "not enough data", "text"),
)

_COLUMNS = (
    VALUE,
    Column("of", "of", "text"),
    Column("judge", "judge alone"),
    Column("labels", "labels alone", interval=True),
    Column("corrected", "corrected", interval=True),
    Column("p", "p (Holm)", "p"),
    Column("n", "texts", "count"),
    Column("n_labels", "labelled", "count"),
    Column("effective", "worth labels"),
)
_RATE_COLUMNS = (
    Column("value", "verdicts of", "text"),
    Column("of", "of", "text"),
    Column("said", "judge alone"),
    Column("rate", "corrected", interval=True),
    Column("sensitivity", "sensitivity"),
    Column("specificity", "specificity"),
    Column("n", "verdicts", "count"),
    Column("n_labels", "labelled", "count"),
    NOTE,
)

_Labelled: TypeAlias = tuple[float, float | None, Hashable]
"""What the judge says, the label, and the picture."""
_Judged: TypeAlias = dict[Hashable, _Labelled]
"""These by text or picture."""


def labelled_tables(
    run: Path, wanted: Sequence[Target]
) -> tuple[list[Table], list[str]]:
    """The corrected means of a run and the bias card of its judges; and what is missing."""
    if not wanted:
        return [], []
    with Store.read(run) as store:
        tables, problems = corrected_tables(
            [store], [[""] * store.n_subjects()], wanted
        )
        return [*tables, bias_table(store, wanted)], problems


def corrected_tables(
    runs: Sequence[Store],
    systems: Sequence[Sequence[str]],
    wanted: Sequence[Target],
) -> tuple[list[Table], list[str]]:
    """Means by judge alone, by labels alone and corrected, and rates of verdicts; what is missing.

    Of several systems also the difference of each two, over the pictures that both describe.

    Args:
        runs: The runs.
        systems: Of each run, the system of each item; empty texts if there is one only.
        wanted: Values with their labels.
    """
    rows: list[dict[str, Any]] = []
    rates: list[dict[str, Any]] = []
    problems: list[str] = []
    notes: dict[str, None] = {}
    for target in wanted:
        judged: dict[str, _Judged] = {}
        verdicts: dict[str, list[_Labelled]] = {}
        used: set[tuple[str, str]] = set()
        for number, (run, of) in enumerate(zip(runs, systems, strict=True)):
            texts = list(graded(run, target))
            marked: dict[int, list[float]] = {}
            for place, verdict in _verdicts(run, target, texts):
                verdicts.setdefault(of[place], []).append(verdict)
                if verdict[1] is not None:
                    marked.setdefault(place, []).append(verdict[1])
            for place, grade, given, source, item in texts:
                # A rate of units is corrected by the share of the same units that people marked.
                label = fmean(marked[place]) if place in marked else given
                judged.setdefault(of[place], {})[number, place] = (
                    grade,
                    label,
                    source,
                )
                used |= {(item.id, item.candidate), (item.id, "")}
        if lost := len(target.labels.numbers.keys() - used):
            notes[
                f"{lost} labels belong to no scored text: another id or other words"
            ] = None
        pictures = {
            system: _by_picture(texts) for system, texts in judged.items()
        }
        pairs = {
            f"{b} - {a}": _paired(pictures[a], pictures[b])
            for a, b in combinations(judged, 2)
        }
        found: dict[str, CorrectedMean] = {}
        for name, units in (judged | pairs).items():
            try:
                found[name] = _corrected(units, notes)
            except ConfigError as error:
                of_what = (
                    f"{target.metric}.{target.value}{name and f' of {name}'}"
                )
                problems.append(
                    f"--labels: {of_what} is not corrected: {error}"
                )
        chances = holm(
            [one.p_value for name, one in found.items() if name in pairs]
        )
        adjusted = dict(
            zip(
                (name for name in found if name in pairs), chances, strict=True
            )
        )
        rows += [
            {
                "value": f"{target.metric}.{target.value}",
                "of": name,
                **asdict(one),
                **interval_cells("labels", one.labels_interval),
                **interval_cells("corrected", one.corrected_interval),
                "p": adjusted.get(name),
                "effective": one.n_effective
                if math.isfinite(one.n_effective)
                else None,
            }
            for name, one in found.items()
        ]
        rates += [
            {
                "value": f"{target.metric}.{target.value}",
                "of": name,
                **_rate(given),
            }
            for name, given in verdicts.items()
        ]
    if any(
        row["effective"] is not None and row["effective"] < row["n_labels"]
        for row in rows
    ):
        notes[
            "worth fewer labels than there are: the judge adds nothing, use the labels alone"
        ] = None
    notes[
        "labelled pictures must be a random sample of all, and labels the truth"
    ] = None
    means = Table(
        "corrected", "Corrected by labels", _COLUMNS, tuple(rows), tuple(notes)
    )
    title = "Rates, corrected by sensitivity and specificity"
    of_verdicts = Table("corrected-rates", title, _RATE_COLUMNS, tuple(rates))
    return [table for table in (means, of_verdicts) if table.rows], problems


def _verdicts(
    run: Store, target: Target, texts: Sequence[Graded]
) -> Iterator[tuple[int, _Labelled]]:
    """The place of each verdict, and it, if the value is a rate.

    Verdicts are on units, which most annotators marked or did not, if the labels are marks; else on
    texts, if grades and labels are all 1 or 0.
    """
    if target.labels.marks and target.value.endswith("_rate"):
        named = target.value.removesuffix("_rate")
        side = next(
            side for label, side in SIDES if label == target.labels.name
        )
        faults = (named,) if named in FAULTS else FAULTS
        of = {place: (source, item) for place, _, _, source, item in texts}
        for place, units in run.units(target.metric):
            source, item = of.get(place, (b"", None))
            people = (
                target.labels.marks.get((item.id, item.candidate), ())
                if item
                else ()
            )
            for unit in units if item else ():
                if (
                    unit.side == side
                    and unit.spans
                    and (unit.reference_index or 0) == 0
                ):
                    touched = [_overlap(unit.spans, spans) for spans in people]
                    truth = float(fmean(touched) >= 0.5) if touched else None
                    yield place, (float(unit.verdict in faults), truth, source)
    elif {0, 1}.issuperset(
        x for _, *both, _, _ in texts for x in both if x is not None
    ):
        yield from (
            (place, (grade, label, source))
            for place, grade, label, source, _ in texts
        )


def _rate(given: Sequence[_Labelled]) -> dict[str, Any]:
    """The cells of a corrected rate."""
    said, labels, pictures = zip(*given, strict=True)
    n_labels = sum(label is not None for label in labels)
    cells = {"said": fmean(said), "n": len(given), "n_labels": n_labels}
    try:
        found = corrected_share(labels, said, pictures)
    except ConfigError as error:
        return cells | {"reason": f"not corrected: {error}"}
    reason = "clipped to 0 to 1" if found.clipped else ""
    return (
        cells
        | asdict(found)
        | interval_cells("rate", found.interval)
        | {"reason": reason}
    )


def _by_picture(texts: _Judged) -> _Judged:
    """Means of the texts of each picture: of those with a label if there are any."""
    by = by_key(
        (picture, (grade, label)) for grade, label, picture in texts.values()
    )
    found: _Judged = {}
    for picture, pairs in by.items():
        known = [(grade, label) for grade, label in pairs if label is not None]
        label = fmean(label for _, label in known) if known else None
        found[picture] = (
            fmean(grade for grade, _ in known or pairs),
            label,
            picture,
        )
    return found


def _paired(a: _Judged, b: _Judged) -> _Judged:
    """The second minus the first, of pictures for which both have a label or neither has one."""
    found: _Judged = {}
    for picture in a.keys() & b.keys():
        (grade_a, label_a, _), (grade_b, label_b, _) = a[picture], b[picture]
        if (label_a is None) == (label_b is None):
            label = (
                None
                if label_a is None or label_b is None
                else label_b - label_a
            )
            found[picture] = (grade_b - grade_a, label, picture)
    return found


def _corrected(units: _Judged, notes: dict[str, None]) -> CorrectedMean:
    """The corrected mean; ConfigError says why there is none."""
    judged, labels, pictures = (
        zip(*units.values(), strict=True) if units else ((), (), ())
    )
    found = corrected_mean(labels, judged, pictures)
    if dropped := len(units) - found.n:
        notes[
            f"{dropped} texts of labelled pictures have no label and are left out"
        ] = None
    if found.n_pictures < FEW_PICTURES:
        notes[
            f"{found.n_pictures} labelled pictures: intervals of fewer than {FEW_PICTURES} may be"
            " too narrow"
        ] = None
    said = Counter(label for label in labels if label is not None)
    if (
        len(said) < 3
        and min(said.values() if len(said) > 1 else [0]) < FEW_OF_CLASS
    ):
        notes[
            f"of labels that have two values, fewer than {FEW_OF_CLASS} have one of them: their"
            " intervals may be too narrow"
        ] = None
    return found


def bias_table(run: Store, wanted: Sequence[Target]) -> Table:
    """What else than quality the metrics follow: length, place, authors; and why some is unknown.

    A text is a judge's own if the row's ``system`` is the name of the judge's model.

    Args:
        run: The run.
        wanted: Values with their labels.
    """
    rows = []
    for target in wanted:
        known = [row for row in graded(run, target) if row[2] is not None]
        judged = [grade for _, grade, *_ in known]
        human = [label or 0.0 for _, _, label, *_ in known]
        pictures = [picture for *_, picture, _ in known]
        words = [len(item.candidate.split()) for *_, item in known]
        entries = [
            length_bias(words, judged, human, pictures),
            *(
                _places(run, target, known)
                if target.labels.name == "mistakes"
                else ()
            ),
            _own_texts(known, _model(target.metric)),
        ]
        scored = {"scored": f"{target.metric}.{target.value}"}
        rows += [
            scored | asdict(one) | interval_cells("value", one.interval)
            for one in entries
        ]
    notes = (
        "0 is no bias; errors of the labels draw length towards its value without labels",
        "seat, flips, wording and repeats: a run does not ask twice, beholder judge-check does",
    )
    return Table(
        "bias",
        "What else the grades follow",
        _BIAS_COLUMNS,
        tuple(rows),
        notes,
    )


def _own_texts(known: Sequence[Graded], model: str | None) -> Bias:
    """How much more a judge overrates texts of its own model."""
    if not model:
        return Bias(
            "own texts", None, None, 0, OWN_UNIT, "the metric asks no model"
        )
    gaps: dict[bytes, dict[bool, list[float]]] = {}
    for _, grade, label, picture, item in known:
        own = item.group.get("system", "").casefold() == model.casefold()
        gaps.setdefault(picture, {}).setdefault(own, []).append(
            grade - (label or 0.0)
        )
    both = [gap for gap in gaps.values() if len(gap) == 2]
    own_gaps, others = (
        [fmean(gap[own]) for gap in both] for own in (True, False)
    )
    return own_text_bias(own_gaps, others)


def _overlap(some: Sequence[Span], others: Sequence[Span]) -> bool:
    """Whether a span of one list touches one of the other."""
    return any(a < end and start < b for a, b in some for start, end in others)


def _places(
    run: Store, target: Target, known: Sequence[Graded]
) -> Iterator[Bias]:
    """Whether a metric finds fault with wrong sentences, and with right ones, by their place."""
    splitter = RuleSplitter()
    of_place = {place: (source, item) for place, _, _, source, item in known}
    rows: dict[bool, list[tuple[float, bool, bytes]]] = {True: [], False: []}
    for place, units in run.units(target.metric):
        if place not in of_place:
            continue
        source, item = of_place[place]
        marks = target.labels.marks.get((item.id, item.candidate))
        sentences = splitter.split(item.candidate)
        if marks is None or len(sentences) < 2:
            continue
        marked = [span for spans in marks for span in spans]
        faulty = (
            one
            for one in units
            if one.side == "candidate" and one.verdict in FAULTS
        )
        bad = [span for unit in faulty for span in unit.spans]
        for number, one in enumerate(sentences):
            wrong, found = (
                _overlap([(one.start, one.end)], spans)
                for spans in (marked, bad)
            )
            rows[wrong].append((number / (len(sentences) - 1), found, source))
    for wrong, some in rows.items():
        at, hits, of = zip(*some, strict=True) if some else ((), (), ())
        yield place_bias(at, hits, of, wrong=wrong)


def _model(metric: str) -> str | None:
    """The model of a metric's judge; None if it has none."""
    judge = parse(metric).options.get("judge", "builtin")
    return tool(judge).argument if isinstance(judge, str | Spec) else None
