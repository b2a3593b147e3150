"""Means and rates of a run, corrected by human labels of some texts; what else grades follow."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias, cast

from beholder.base.grouping import group_by_key
from beholder.base.spec import Spec, canonical_spec, parse_spec
from beholder.data.marks import SIDES, Label
from beholder.errors import ConfigError
from beholder.records import Span, Unit
from beholder.run.calibration import (
    LabelledProbability,
    calibration_cells,
    calibration_table,
    decisions_by_place,
    has_probabilities,
    item_probabilities,
    unit_probability,
)
from beholder.run.labels import GradedText, Target, read_grades
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
from beholder.tables import (
    NOTE,
    VALUE,
    Cells,
    Column,
    N,
    Table,
    interval_cells,
)
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
"""Grade of the judge, label (None without one) and picture."""
_Judged: TypeAlias = dict[Hashable, _Labelled]
"""Labelled grades by text or picture."""


def labelled_tables(
    run: Path, label_targets: Sequence[Target]
) -> tuple[list[Table], list[str]]:
    """Return tables of corrected means and of biases of a run, and the problems met."""
    if not label_targets:
        return [], []
    with Store.read(run) as store:
        tables, problems = corrected_tables(
            [store], [[""] * store.n_subjects()], label_targets
        )
        biases = bias_table(store, label_targets)
        rows = list(calibration_rows(store, label_targets))
        calibration = [calibration_table(rows)] if rows else []
        return [*tables, biases, *calibration], problems


def corrected_tables(
    runs: Sequence[Store],
    systems: Sequence[Sequence[str]],
    label_targets: Sequence[Target],
) -> tuple[list[Table], list[str]]:
    """Return tables of means (judge, labels, corrected) and of rates of verdicts, and problems.

    Of several systems also the difference of each two, over the pictures that both describe.

    Args:
        runs: The runs.
        systems: Of each run, the system of each item; empty texts if there is one only.
        label_targets: Values with their labels.
    """
    # Per target: collect grades and labels of all runs, average them by picture, correct each
    # system and each difference of two, then adjust the p values of all differences at once.
    rows: list[dict[str, Any]] = []
    rates: list[dict[str, Any]] = []
    problems: list[str] = []
    notes: dict[str, None] = {}
    for target in label_targets:
        judged: dict[str, _Judged] = {}
        verdicts: dict[str, list[_Labelled]] = {}
        used_keys: set[tuple[str, str]] = set()
        for number, (run, run_systems) in enumerate(
            zip(runs, systems, strict=True)
        ):
            texts = list(read_grades(run, target))
            marks_by_place: dict[int, list[float]] = {}
            for place, verdict in _iterate_verdicts(run, target, texts):
                verdicts.setdefault(run_systems[place], []).append(verdict)
                if verdict[1] is not None:
                    marks_by_place.setdefault(place, []).append(verdict[1])
            for place, grade, text_label, source, item in texts:
                # A rate of units is corrected by the share of the same units that people marked.
                label = (
                    fmean(marks_by_place[place])
                    if place in marks_by_place
                    else text_label
                )
                judged.setdefault(run_systems[place], {})[number, place] = (
                    grade,
                    label,
                    source,
                )
                # Labels may state the words of a text or its id alone.
                used_keys |= {(item.id, item.candidate), (item.id, "")}
        if n_unused := len(target.labels.numbers.keys() - used_keys):
            notes[
                f"{n_unused} labels belong to no scored text: another id or other words"
            ] = None
        pictures = {
            system: _average_pictures(texts)
            for system, texts in judged.items()
        }
        pairs = {
            f"{b} - {a}": _subtract_pictures(pictures[a], pictures[b])
            for a, b in combinations(judged, 2)
        }
        corrected_means: dict[str, CorrectedMean] = {}
        for name, units in (judged | pairs).items():
            try:
                corrected_means[name] = _correct_mean(units, notes)
            except ConfigError as error:
                value_name = (
                    f"{target.metric}.{target.value}{name and f' of {name}'}"
                )
                problems.append(
                    f"--labels: {value_name} is not corrected: {error}"
                )
        # Only differences are tested.
        p_values = holm(
            [
                mean.p_value
                for name, mean in corrected_means.items()
                if name in pairs
            ]
        )
        corrected_p = dict(
            zip(
                (name for name in corrected_means if name in pairs),
                p_values,
                strict=True,
            )
        )
        rows += [
            {
                "value": f"{target.metric}.{target.value}",
                "of": name,
                **asdict(mean),
                **interval_cells("labels", mean.labels_interval),
                **interval_cells("corrected", mean.corrected_interval),
                "p": corrected_p.get(name),
                "effective": mean.n_effective
                if math.isfinite(mean.n_effective)
                else None,
            }
            for name, mean in corrected_means.items()
        ]
        rates += [
            {
                "value": f"{target.metric}.{target.value}",
                "of": name,
                **_rate_cells(system_verdicts),
            }
            for name, system_verdicts in verdicts.items()
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


def _iterate_verdicts(
    run: Store, target: Target, texts: Sequence[GradedText]
) -> Iterator[tuple[int, _Labelled]]:
    """Yield (position, verdict) of each unit or text if the value is a rate.

    Verdicts are on units, which most annotators marked or did not, if the labels are marks; else on
    texts, if grades and labels are all 1 or 0.
    """
    if target.labels.marks and target.value.endswith("_rate"):
        fault = target.value.removesuffix("_rate")
        faults = (fault,) if fault in FAULTS else FAULTS
        sources = {place: source for place, _, _, source, _ in texts}
        for place, unit, truth in _iterate_units(run, target):
            if place in sources:
                verdict = float(unit.verdict in faults)
                yield place, (verdict, truth, sources[place])
    elif {0, 1}.issuperset(
        number
        for _, *numbers, _, _ in texts
        for number in numbers
        if number is not None
    ):
        yield from (
            (place, (grade, label, source))
            for place, grade, label, source, _ in texts
        )


def _iterate_units(
    run: Store, target: Target
) -> Iterator[tuple[int, Unit, float | None]]:
    """Yield (position, unit, 1 if most annotators marked it or else 0) of each unit with a place.

    The third is None without labels of the text.
    """
    # Marks name the side of the text that they are on.
    side = dict(SIDES)[cast("Label", target.labels.name)]
    items = dict(run.items())
    for place, units in run.units(target.metric):
        item = items[place]
        annotations = target.labels.marks.get((item.id, item.candidate), ())
        for unit in units:
            # Units of further references have no marks.
            is_first = (unit.reference_index or 0) == 0
            if unit.side != side or not unit.spans or not is_first:
                continue
            overlaps = [_overlap(unit.spans, spans) for spans in annotations]
            # The truth of a unit is the majority of the annotators; a tie counts as
            # marked.
            truth = float(fmean(overlaps) >= 0.5) if overlaps else None
            yield place, unit, truth


def calibration_rows(
    run: Store, label_targets: Sequence[Target]
) -> Iterator[Cells]:
    """Yield a row for each value whose judge gave probabilities, beside labels of yes and no."""
    for target in label_targets:
        if not has_probabilities(run, target.metric):
            continue
        numbers = {*target.labels.numbers.values()}
        if target.labels.marks and target.labels.name in dict(SIDES):
            kind = "units"
            probabilities = _label_units(run, target)
        elif numbers <= {0.0, 1.0}:
            kind = "texts"
            by_place = item_probabilities(run, target.metric)
            probabilities = [
                LabelledProbability(by_place[place], label, source)
                for place, _, label, source, _ in read_grades(run, target)
                if label is not None and place in by_place
            ]
        else:
            continue
        yield {
            "value": f"{target.metric}.{target.value}",
            "of": kind,
            **calibration_cells(probabilities),
        }


def _label_units(run: Store, target: Target) -> list[LabelledProbability]:
    """Return the probability of each unit that it is right, with 1 where people did not mark it."""
    decisions = dict(decisions_by_place(run, target.metric))
    sources = run.sources(run.n_subjects())
    probabilities = []
    for place, unit, truth in _iterate_units(run, target):
        probability = unit_probability(unit, decisions.get(place, ()))
        if truth is not None and probability is not None:
            probabilities.append(
                LabelledProbability(probability, 1.0 - truth, sources[place])
            )
    return probabilities


def _rate_cells(verdicts: Sequence[_Labelled]) -> dict[str, Any]:
    """Return the cells of a corrected rate, with a reason if there is none."""
    judged, labels, pictures = zip(*verdicts, strict=True)
    n_labels = sum(label is not None for label in labels)
    cells = {"said": fmean(judged), "n": len(verdicts), "n_labels": n_labels}
    try:
        share = corrected_share(labels, judged, pictures)
    except ConfigError as error:
        return cells | {"reason": f"not corrected: {error}"}
    reason = "clipped to 0 to 1" if share.clipped else ""
    return (
        cells
        | asdict(share)
        | interval_cells("rate", share.interval)
        | {"reason": reason}
    )


def _average_pictures(texts: _Judged) -> _Judged:
    """Average the texts of each picture: those with a label, if any has one."""
    pairs_by_picture = group_by_key(
        (picture, (grade, label)) for grade, label, picture in texts.values()
    )
    means: _Judged = {}
    for picture, pairs in pairs_by_picture.items():
        labelled_pairs = [
            (grade, label) for grade, label in pairs if label is not None
        ]
        label = (
            fmean(label for _, label in labelled_pairs)
            if labelled_pairs
            else None
        )
        means[picture] = (
            fmean(grade for grade, _ in labelled_pairs or pairs),
            label,
            picture,
        )
    return means


def _subtract_pictures(a: _Judged, b: _Judged) -> _Judged:
    """Return ``b - a`` of each picture for which both have a label or neither has one."""
    differences: _Judged = {}
    for picture in a.keys() & b.keys():
        (grade_a, label_a, _), (grade_b, label_b, _) = a[picture], b[picture]
        if (label_a is None) == (label_b is None):
            label = (
                None
                if label_a is None or label_b is None
                else label_b - label_a
            )
            differences[picture] = (grade_b - grade_a, label, picture)
    return differences


def _correct_mean(units: _Judged, notes: dict[str, None]) -> CorrectedMean:
    """Return the corrected mean and add to ``notes``.

    Raises:
        ConfigError: The data allow no correction.
    """
    judged, labels, pictures = (
        zip(*units.values(), strict=True) if units else ((), (), ())
    )
    mean = corrected_mean(labels, judged, pictures)
    if dropped := len(units) - mean.n:
        notes[
            f"{dropped} texts of labelled pictures have no label and are left out"
        ] = None
    if mean.n_pictures < FEW_PICTURES:
        notes[
            f"{mean.n_pictures} labelled pictures: intervals of fewer than {FEW_PICTURES} may be"
            " too narrow"
        ] = None
    # Two values mean verdicts: an interval needs several of each class.
    label_counts = Counter(label for label in labels if label is not None)
    if (
        len(label_counts) < 3
        and min(label_counts.values() if len(label_counts) > 1 else [0])
        < FEW_OF_CLASS
    ):
        notes[
            f"of labels that have two values, fewer than {FEW_OF_CLASS} have one of them: their"
            " intervals may be too narrow"
        ] = None
    return mean


def bias_table(run: Store, label_targets: Sequence[Target]) -> Table:
    """Return the table of biases of metrics (length, place, own texts), with reasons for gaps.

    A text is a judge's own if the row's ``system`` is the name of the judge's model.

    Args:
        run: The run.
        label_targets: Values with their labels.
    """
    rows = []
    for target in label_targets:
        labelled_texts = [
            row for row in read_grades(run, target) if row[2] is not None
        ]
        judged = [grade for _, grade, *_ in labelled_texts]
        human = [label or 0.0 for _, _, label, *_ in labelled_texts]
        pictures = [picture for *_, picture, _ in labelled_texts]
        words = [len(item.candidate.split()) for *_, item in labelled_texts]
        entries = [
            length_bias(words, judged, human, pictures),
            *(
                _measure_places(run, target, labelled_texts)
                if target.labels.name == "mistakes"
                else ()
            ),
            _measure_own_texts(labelled_texts, _judge_model(target.metric)),
        ]
        scored = {"scored": f"{target.metric}.{target.value}"}
        rows += [
            scored | asdict(bias) | interval_cells("value", bias.interval)
            for bias in entries
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


def _measure_own_texts(
    labelled_texts: Sequence[GradedText], model: str | None
) -> Bias:
    """Return the excess by which a judge overrates texts of its own model."""
    if not model:
        return Bias(
            "own texts", 0, OWN_UNIT, reason="the metric asks no model"
        )
    gaps: dict[bytes, dict[bool, list[float]]] = {}
    # A gap is grade minus label: how much the judge overrates a text.
    for _, grade, label, picture, item in labelled_texts:
        is_own = item.group.get("system", "").casefold() == model.casefold()
        gaps.setdefault(picture, {}).setdefault(is_own, []).append(
            grade - (label or 0.0)
        )
    # A picture separates own texts from others only if it has both.
    complete_gaps = [gap for gap in gaps.values() if len(gap) == 2]
    own_gaps, other_gaps = (
        [fmean(gap[is_own]) for gap in complete_gaps]
        for is_own in (True, False)
    )
    return own_text_bias(own_gaps, other_gaps)


def _overlap(spans: Sequence[Span], other_spans: Sequence[Span]) -> bool:
    """Return whether a span of one list overlaps one of the other."""
    return any(
        a < end and start < b for a, b in spans for start, end in other_spans
    )


def _measure_places(
    run: Store, target: Target, labelled_texts: Sequence[GradedText]
) -> Iterator[Bias]:
    """Yield the bias by position for wrong and for right sentences.

    A sentence is wrong if a human mark touches it; it counts if a unit with a fault touches it.
    """
    # Rules without a model: the report of a run must not load one.
    splitter = RuleSplitter()
    texts_by_place = {
        place: (source, item) for place, _, _, source, item in labelled_texts
    }
    rows: dict[bool, list[tuple[float, bool, bytes]]] = {True: [], False: []}
    for place, units in run.units(target.metric):
        if place not in texts_by_place:
            continue
        source, item = texts_by_place[place]
        marks = target.labels.marks.get((item.id, item.candidate))
        sentences = splitter.split(item.candidate)
        # The first and the last sentence need different positions.
        if marks is None or len(sentences) < 2:
            continue
        marked_spans = [span for spans in marks for span in spans]
        faulty_units = (
            unit
            for unit in units
            if unit.side == "candidate" and unit.verdict in FAULTS
        )
        faulty_spans = [span for unit in faulty_units for span in unit.spans]
        for number, sentence in enumerate(sentences):
            is_wrong, is_faulty = (
                _overlap([(sentence.start, sentence.end)], spans)
                for spans in (marked_spans, faulty_spans)
            )
            rows[is_wrong].append(
                (number / (len(sentences) - 1), is_faulty, source)
            )
    for is_wrong, sentence_rows in rows.items():
        places, hits, sources = (
            zip(*sentence_rows, strict=True) if sentence_rows else ((), (), ())
        )
        yield place_bias(places, hits, sources, wrong=is_wrong)


def _judge_model(metric: str) -> str | None:
    """Return the model of a metric's judge; None if it has none."""
    judge = parse_spec(metric).options.get("judge", "builtin")
    return (
        canonical_spec(judge).argument
        if isinstance(judge, str | Spec)
        else None
    )
