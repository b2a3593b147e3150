"""Your own annotations: accuracy of scene graphs, and of a judge's answers about presence.

``docs/posh.md`` describes the files and the figures.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, TypeVar, get_args

import msgspec
import numpy as np
from msgspec import Meta, Struct
from scipy.optimize import linear_sum_assignment

from beholder.aio import run_sync
from beholder.base.grouping import group_by_key
from beholder.data.sources import read_rows
from beholder.errors import DataError, ItemError
from beholder.judges import Judge
from beholder.judges.operations import Presence, Question, QuestionKind
from beholder.judges.probes import calibrate, probability_of_yes
from beholder.language.reading import GraphReader
from beholder.metrics.posh.published_graph import PublishedGraph
from beholder.records import Estimate, Side, Span
from beholder.stats.alerts import AlertF1
from beholder.stats.calibration import (
    brier_score,
    expected_calibration_error,
)


@dataclass(frozen=True)
class AnnotatedGraph:
    """A text with a scene graph by people.

    Attributes:
        text: The text.
        gold: Their graph.
    """

    text: str
    gold: PublishedGraph


@dataclass(frozen=True)
class ElementScores:
    """Accuracy of the elements of one kind; a share without a denominator is None.

    Attributes:
        precision: Share of the candidate's elements that people have, too.
        recall: Share of people's elements that the candidate has.
        f1: Harmonic mean of the two.
        shares: Of matched pairs, by name. Entities: ``coref``, mentions that stand with the same
            entity. Attributes: ``head``, on the same entity. Relations: ``head`` and ``tail``, from
            the same entity and to the same one.
    """

    precision: float | None
    recall: float | None
    f1: float | None
    shares: Mapping[str, float | None]


GraphScores = Mapping[QuestionKind, ElementScores]


@dataclass(frozen=True)
class AnnotatedAnswer:
    """A question about a unit that people answered.

    Attributes:
        question: The unit.
        target: The text in which it is searched.
        side: The text that it is from: absent units of the candidate are mistakes, those of the
            reference omissions.
        present: People's answer: whether the target states the unit.
        grade: A judge's grade, 1 to 5; None if no judge was asked yet.
    """

    question: Question
    target: str
    side: Side
    present: bool
    grade: float | None


@dataclass(frozen=True)
class Verification:
    """Accuracy of grades in separating present from absent units, by human answers.

    Attributes:
        n: Units.
        used: Macro F1 of present and absent units at the threshold of the judge's scale.
        best: The highest there is, with its threshold: an upper bound.
        calibration_error: Of the grades as probabilities from 0 to 1, against the answers.
        brier: Brier score of the same.
    """

    n: int
    used: AlertF1
    best: AlertF1
    calibration_error: Estimate
    brier: Estimate


class _GraphRow(Struct):
    """text, graph."""

    text: str
    graph: dict[str, Any]


class _AnswerRow(Struct):
    """kind, text, target, side (candidate or reference), present (true or false); grade 1 to 5."""

    kind: QuestionKind
    text: str
    target: str
    side: Side
    present: bool
    subject: str | None = None
    object: str | None = None
    grade: Annotated[float, Meta(ge=1, le=5)] | None = None


def read_graphs(path: str | Path) -> list[AnnotatedGraph]:
    """Read annotated graphs: rows with ``text`` and ``graph`` in the public form.

    Raises:
        DataError: A row is not of that form; names it.
    """
    annotated = []
    for number, row in _read_rows(path, _GraphRow):
        try:
            graph = PublishedGraph.of_public(row.graph)
        except ItemError as error:
            raise DataError(
                str(path), str(error), line=number, field="graph"
            ) from error
        annotated.append(AnnotatedGraph(row.text, graph))
    return annotated


def read_answers(path: str | Path) -> list[AnnotatedAnswer]:
    """Read answered questions.

    Rows have ``kind``, ``text``, ``target``, ``side`` and ``present``; ``subject`` and ``object``
    where the unit has them, and ``grade`` where a judge was asked already.

    Raises:
        DataError: A row is not of that form; names it.
    """
    return [
        AnnotatedAnswer(
            Question(row.kind, row.text, row.subject or "", row.object or ""),
            row.target,
            row.side,
            row.present,
            row.grade,
        )
        for _, row in _read_rows(path, _AnswerRow)
    ]


Row = TypeVar("Row")


def _read_rows(path: str | Path, form: type[Row]) -> Iterator[tuple[int, Row]]:
    # Counted here, because an empty file would give figures of no text.
    n = 0
    for number, row in read_rows(path, str(path)):
        if isinstance(row, DataError):
            raise row
        try:
            record = msgspec.convert(row, form)
        except msgspec.ValidationError as error:
            # The docstring of a row's form lists its fields for people.
            reason = f"{error}; expected {form.__doc__}"
            raise DataError(str(path), reason, line=number) from None
        n += 1
        yield number, record
    if not n:
        raise DataError(str(path), "contains no rows")


def verification(
    judge: Judge, answers: Sequence[AnnotatedAnswer]
) -> dict[str, Verification]:
    """Compare a judge with human answers.

    Returns:
        By name: ``mistakes``, ``omissions``, and ``overall``; a side without units is left out.
    """
    grades = run_sync(_collect_grades(judge, answers))
    sides: dict[str, tuple[Side, ...]] = {
        "mistakes": ("candidate",),
        "omissions": ("reference",),
        "overall": ("candidate", "reference"),
    }
    verifications = {}
    for name, chosen_sides in sides.items():
        places = [
            i
            for i, answer in enumerate(answers)
            if answer.side in chosen_sides
        ]
        # A file may have questions about one side only.
        if places:
            fit = calibrate(
                [grades[i] for i in places],
                [answers[i].present for i in places],
                judge.presence_threshold,
            )
            judged = (
                probability_of_yes(np.array([grades[i] for i in places])),
                [float(answers[i].present) for i in places],
            )
            # Answers about one text are not independent.
            texts = [answers[i].target for i in places]
            verifications[name] = Verification(
                n=len(places),
                used=fit.used,
                best=fit.best,
                calibration_error=expected_calibration_error(
                    *judged, clusters=texts
                ),
                brier=brier_score(*judged, clusters=texts),
            )
    return verifications


async def _collect_grades(
    judge: Judge, answers: Sequence[AnnotatedAnswer]
) -> dict[int, float]:
    """Return the recorded grades, and the judge's where one is missing; one call per text."""
    grades = {
        i: float(answer.grade)
        for i, answer in enumerate(answers)
        if answer.grade is not None
    }
    # Only questions without a recorded grade go to the judge, together for
    # each text.
    places_by_text = group_by_key(
        (answer.target, i)
        for i, answer in enumerate(answers)
        if i not in grades
    )
    all_replies = await asyncio.gather(
        *(
            judge.ask(Presence([answers[i].question for i in places], target))
            for target, places in places_by_text.items()
        )
    )
    for places, replies in zip(
        places_by_text.values(), all_replies, strict=True
    ):
        for i, grade in zip(places, replies, strict=True):
            grades[i] = grade.value
    return grades


def score_annotated(
    annotated: Sequence[AnnotatedGraph], reader: GraphReader
) -> GraphScores:
    """Parse annotated texts and compare the graphs with the human ones; means over texts.

    Raises:
        ItemError: A text is not English.
    """
    graphs = reader([annotation.text for annotation in annotated])
    scores = [
        compare_graphs(annotation.gold, PublishedGraph.of_scene_graph(graph))
        for annotation, graph in zip(annotated, graphs, strict=True)
    ]
    return {
        kind: _average_scores([score[kind] for score in scores])
        for kind in get_args(QuestionKind)
    }


def compare_graphs(
    gold: PublishedGraph, candidate: PublishedGraph
) -> GraphScores:
    """Compare one graph of a text with the human one.

    Elements are matched one to one by the characters that they share in the text, as many as can
    be; elements without characters by equal words.
    """
    # Entities first: attributes and relations are right only if they belong to
    # matched entities.
    entities = _match_elements(
        *([(e.spans, e.head) for e in g.entities] for g in (gold, candidate))
    )
    entity_pairs = set(entities.items())
    attributes = _match_elements(
        *(
            [(a.spans, a.text) for _, a in _list_attributes(g)]
            for g in (gold, candidate)
        )
    )
    relations = _match_elements(
        *([(r.spans, r.text) for r in g.relations] for g in (gold, candidate))
    )
    gold_attributes, candidate_attributes = (
        _list_attributes(gold),
        _list_attributes(candidate),
    )
    pairs = [
        (gold.relations[i], candidate.relations[j])
        for i, j in relations.items()
    ]
    # Coreference: of the gold mentions that the candidate has anywhere, the
    # share that is in the matched entity.
    mentions = [
        any(
            _count_shared_characters((span,), (candidate_span,))
            for candidate_span in candidate.entities[j].spans
        )
        for i, j in entities.items()
        for span in gold.entities[i].spans
        if any(
            _count_shared_characters((span,), entity.spans)
            for entity in candidate.entities
        )
    ]
    heads = [
        (gold_attributes[i][0], candidate_attributes[j][0]) in entity_pairs
        for i, j in attributes.items()
    ]
    subjects = [(g.subject, f.subject) in entity_pairs for g, f in pairs]
    objects = [(g.object, f.object) in entity_pairs for g, f in pairs]
    return {
        "entity": _scores(
            entities, gold.entities, candidate.entities, coref=mentions
        ),
        "attribute": _scores(
            attributes, gold_attributes, candidate_attributes, head=heads
        ),
        "relation": _scores(
            relations,
            gold.relations,
            candidate.relations,
            head=subjects,
            tail=objects,
        ),
    }


def _list_attributes(graph: PublishedGraph) -> list[tuple[int, Any]]:
    return [
        (i, a)
        for i, entity in enumerate(graph.entities)
        for a in entity.attributes
    ]


_Element = tuple[tuple[Span, ...], str]


def _match_elements(
    gold: Sequence[_Element], candidate: Sequence[_Element]
) -> dict[int, int]:
    fit = np.zeros((len(gold), len(candidate)))
    for i, (spans, text) in enumerate(gold):
        for j, (candidate_spans, words) in enumerate(candidate):
            lacks_spans = not spans or not candidate_spans
            fit[i, j] = (
                float(text == words)
                if lacks_spans
                else _count_shared_characters(spans, candidate_spans)
            )
    # One-to-one pairs with the greatest sum of shared characters; pairs that
    # share nothing are no match.
    rows, columns = linear_sum_assignment(-fit)
    return {
        int(i): int(j)
        for i, j in zip(rows, columns, strict=True)
        if fit[i, j] > 0
    }


def _count_shared_characters(
    spans: Sequence[Span], other_spans: Sequence[Span]
) -> int:
    """Count the characters that two lists of spans share."""
    characters = {place for start, end in spans for place in range(start, end)}
    return len(
        characters
        & {place for start, end in other_spans for place in range(start, end)}
    )


def _scores(
    matches: Sized,
    gold: Sized,
    candidate: Sized,
    **is_right_by_name: Sequence[bool],
) -> ElementScores:
    n, n_gold, n_candidate = len(matches), len(gold), len(candidate)
    return ElementScores(
        n / n_candidate if n_candidate else None,
        n / n_gold if n_gold else None,
        2 * n / (n_candidate + n_gold) if n_candidate + n_gold else None,
        {
            name: fmean(is_right) if is_right else None
            for name, is_right in is_right_by_name.items()
        },
    )


def _average_scores(scores: Sequence[ElementScores]) -> ElementScores:
    def mean(values: Iterable[float | None]) -> float | None:
        defined = [value for value in values if value is not None]
        return fmean(defined) if defined else None

    return ElementScores(
        mean(s.precision for s in scores),
        mean(s.recall for s in scores),
        mean(s.f1 for s in scores),
        {
            name: mean(s.shares[name] for s in scores)
            for name in scores[0].shares
        },
    )
