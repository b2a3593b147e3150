"""Metric over the criteria of a row: checklist."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from math import comb
from statistics import fmean
from typing import Literal

from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.judges import Judge
from beholder.judges.operations import (
    CheckCriteria,
    MatchNearest,
    NameSubjects,
    TextAnswer,
)
from beholder.judges.operations.answer import CONTRADICTED, MET, NOT_MENTIONED
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.metrics.asked import rows
from beholder.metrics.base import f1
from beholder.records import Item, ItemScore
from beholder.text import RuleSplitter
from beholder.text.languages import language_named

_TASKS = (
    *(
        "object_category",
        "object_number",
        "object_color",
        "spatial_relation",
        "scene",
    ),
    *(
        "camera_angle",
        "OCR",
        "style",
        "character_identification",
        "dynamic_object_number",
    ),
    *("action", "camera_movement", "event"),
)
"""CAPability averages over these."""
_NAMES_ANY = {
    "action": "The text names an action.",
    "object_category": "The text names an object.",
}
"""CAPability's tasks in which silence is wrong once anything of the sort is named."""
_STATES = (MET, CONTRADICTED, NOT_MENTIONED)
_TYPES = ("camera", "scene", "action", "attribute")
"""TUNA's types of elements."""
_BY_TYPE = tuple(
    ValueInfo(f"{kind}_{name}", f"{name} of elements of this type")
    for kind in _TYPES
    for name in ("f1", "precision", "accuracy")
)
_CONSISTENCY = ValueInfo(
    "reference_consistency",
    "pairs of criteria about a subject that the text gives to one being",
)
_MACRO = tuple(
    ValueInfo(f"macro_{name}", f"mean over tasks of the pooled {name}")
    for name in ("precision", "accuracy", "coverage", "f1")
)
_CAPEVAL = (
    ValueInfo(
        "coverage_pooled",
        "criteria that are met or contradicted, of all of the set",
    ),
    ValueInfo(
        "precision_pooled",
        "criteria that are met, of met and contradicted ones of the set",
    ),
)
_ZERO_IF_UNDEFINED = ("capability", "tuna", "capeval")
"""Rules whose published code gives 0 for the precision of a text that mentions nothing."""
_SILENT_IF_UNREAD = ("capricorn", "capeval")
"""Rules whose published code counts an answer that is missing as not mentioned."""


@dataclass(frozen=True, slots=True, eq=False)
class ChecklistEvidence:
    """Answers of a judge to an item's criteria.

    Attributes:
        checked_rows: The criteria with their answers, in order.
        names: Name that the text gives a subject, by subject and criterion that it covers;
            None if this was not asked.
    """

    checked_rows: Sequence[rows.AnsweredRow[rows.Criterion]]
    names: Mapping[tuple[str, str], TextAnswer] | None


@dataclass(frozen=True)
class Checklist(Metric[ChecklistEvidence]):
    """Criteria of a row against the candidate: met, contradicted or not mentioned.

    The row's field ``criteria`` holds statements (key points, events) with optional weights, and
    rules, which are demands on the text itself. A judge reads the candidate alone and quotes its
    evidence. With weights and with M, C and N the sums of what is met, contradicted and not
    mentioned among the facts, accuracy is M / (M + C + N), coverage (M + C) / (M + C + N) and
    precision M / (M + C). Rules enter ``weighted`` alone. Range 0..1, higher is better, save for
    ``wrong`` and ``unread``.

    ``rules="capricorn"``: equal texts count once, weights are ignored, and a criterion without a
    usable answer counts as not mentioned; of criteria with ``subjects``, a model says who takes
    each part, and ``reference_consistency`` is the share of pairs of criteria about a subject that
    the text covers and gives to one being. ``rules="capability"``: weights are ignored, an
    undefined precision or f1 is 0, and an ``action`` or ``object_category`` that is not mentioned
    is contradicted if the text names any; ``macro_*`` are means over CAPability's tasks of what is
    pooled within each. ``rules="tuna"``: each sentence of the candidate is matched to at most one
    ``event`` of the criteria, in order, and criteria are checked against the sentences of their
    event alone; an undefined precision or f1 is 0; f1 comes first, and precision, accuracy (the
    published recall) and f1 are also given for each of TUNA's types of elements.
    ``rules="capeval"``: weights are ignored, a criterion without a usable answer counts as not
    mentioned, and an undefined precision or f1 is 0; ``coverage_pooled`` and ``precision_pooled``
    are CAPEval's C and P, as shares, over all criteria of the set. Prompts are our own under all
    rules, and so are judges.

    Source: CapRiCorn-1K (Acc, Cov, Ref), CAPability (precision, recall, hit rate, F1), TUNA-CAP
    (P, R, F1), CAPEval (C, P).

    Raises:
        ConfigError: A parameter is out of its range, or the judge cannot do it.
    """

    judge: str = param(
        "builtin", "who checks: builtin (English), or a model", tool="judge"
    )
    rules: Literal["own", "capricorn", "capability", "tuna", "capeval"] = (
        param("own", "whose counting")
    )
    at_once: int = param(
        10, "criteria per question to the judge", whole=(1, 100)
    )

    registered_name = "checklist"
    values = (
        ValueInfo("accuracy", "weight of the criteria that are met, of all"),
        ValueInfo(
            "coverage",
            "weight of the criteria that are met or contradicted, of all",
        ),
        ValueInfo(
            "precision",
            "weight of the criteria that are met, of met and contradicted",
        ),
        ValueInfo("f1", "harmonic mean of accuracy and precision"),
        ValueInfo(
            "hit", "number of criteria that are met or contradicted, of all"
        ),
        ValueInfo(
            "wrong",
            "weight of contradicted criteria, of all",
            higher_is_better=False,
        ),
        ValueInfo(
            "weighted",
            "weight of what is met, rules too, of all positive weights",
        ),
        ValueInfo(
            "unread",
            "share of criteria without a usable answer",
            higher_is_better=False,
        ),
        rows.CHANGED,
    )
    required_fields = frozenset()
    operations = ("check_criteria", "name_subjects", "match_nearest")
    needs = (CheckCriteria,)
    foresees_calls = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rules == "capricorn":
            object.__setattr__(self, "values", (*self.values, _CONSISTENCY))
        elif self.rules == "capability":
            object.__setattr__(self, "corpus_values", _MACRO)
        elif self.rules == "capeval":
            object.__setattr__(self, "corpus_values", _CAPEVAL)
        elif self.rules == "tuna":
            first = sorted(self.values, key=lambda value: value.name != "f1")
            object.__setattr__(self, "values", (*first, *_BY_TYPE))

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """Subjects are named under CapRiCorn's rules alone, events matched under TUNA's."""
        more = {"capricorn": self.operations[1:2], "tuna": self.operations[2:]}
        return self.operations[:1] + more.get(self.rules, ())

    def check_row(self, item: Item) -> None:
        """Refuse a row with malformed criteria."""
        rows.check_asked(item, "criteria")

    def check_item(self, item: Item) -> None:
        """Refuse an item without criteria; an empty candidate mentions none of them."""
        if self.rules == "tuna" and not all(
            criterion.event for criterion in rows.criteria_of(item)
        ):
            raise ItemError("rules='tuna' needs the 'event' of each criterion")
        rows.criteria_of(item)

    async def gather(self, item: Item, tools: Tools) -> ChecklistEvidence:
        """Ask the judge, a part of the criteria at a time; nothing about an empty candidate."""
        criteria = rows.criteria_of(item)
        if self.rules == "capricorn":
            # Of equal texts the first one counts, in the place of the last.
            criteria = list(
                {
                    criterion.text: criterion
                    for criterion in reversed(criteria)
                }.values()
            )[::-1]
        judge, language = (
            tools.judge(self.judge),
            language_named(item.language),
        )
        # Asked beside the criteria: is anything of the sort named at all?
        any_of = {
            criterion.group
            for criterion in criteria
            if self.rules == "capability"
        } & _NAMES_ANY.keys()
        extra = [
            rows.Criterion(text=_NAMES_ANY[name], kind="rule")
            for name in sorted(any_of)
        ]

        ask = partial(rows.check_criteria, judge, self.at_once, language)
        if self.rules == "tuna" and item.candidate.strip():
            answers = await _by_event(judge, item, criteria, ask)
        else:
            answers = await ask([*criteria, *extra], item.candidate)
        group_answers = zip(
            sorted(any_of), answers[len(criteria) :], strict=True
        )
        named_groups = {
            name for name, answer in group_answers if answer.state == MET
        }
        checked_rows = [
            rows.AnsweredRow(
                criterion, answer, self._state(criterion, answer, named_groups)
            )
            for criterion, answer in zip(criteria, answers, strict=False)
        ]
        names = None
        if self.rules == "capricorn" and judge.can(NameSubjects):
            names = await _name_subjects(
                judge, item.candidate, criteria, language
            )
        return ChecklistEvidence(checked_rows, names)

    def _state(
        self,
        criterion: rows.Criterion,
        answer: TextAnswer,
        named_groups: Set[str],
    ) -> str:
        if answer.state is None:
            is_silent = self.rules in _SILENT_IF_UNREAD
            return NOT_MENTIONED if is_silent else rows.UNREAD
        # Silence is wrong once the text names something of the sort
        # (CAPability).
        if answer.state == NOT_MENTIONED and criterion.group in named_groups:
            return CONTRADICTED
        return answer.state

    def score_item(self, item: Item, evidence: ChecklistEvidence) -> ItemScore:
        """Turn states into shares.

        Raises:
            ItemError: The judge gave no usable answer to any criterion.
        """
        checked_rows = evidence.checked_rows
        answer_values = rows.answer_quality(checked_rows, "criteria")
        # A rule is a demand on the text and never wrong about the picture.
        facts = [
            checked_row
            for checked_row in checked_rows
            if checked_row.row.kind == "fact"
            and checked_row.state != rows.UNREAD
        ]
        values = self._shares(self._sums(facts))
        if facts:
            values["hit"] = sum(
                checked_row.state != NOT_MENTIONED
                for checked_row in facts
                # Rules may have negative weights, so that the best text has the
                # sum of the positive ones.
            ) / len(facts)
        readable_rows = [
            checked_row
            for checked_row in checked_rows
            if checked_row.state != rows.UNREAD
        ]
        possible = sum(
            max(checked_row.row.weight, 0.0) for checked_row in readable_rows
        )
        if possible:
            gained = sum(
                checked_row.row.weight
                for checked_row in readable_rows
                if checked_row.state == MET
            )
            values["weighted"] = min(1.0, max(0.0, gained / possible))
        if evidence.names is not None:
            values |= _consistency(checked_rows, evidence.names)
        # Shares within each dimension; CAPability and TUNA need their sums for
        # the corpus.
        groups = {
            name: self._sums(group_facts)
            for name, group_facts in rows.by_group(facts).items()
        }
        detail = rows.answer_detail(checked_rows, _STATES) | {
            "by_dimension": {
                name: self._shares(sums) for name, sums in groups.items()
            }
        }
        if self.rules == "capability":
            nothing = [0.0] * len(_STATES)
            detail["statistics"] = [
                n for task in _TASKS for n in groups.get(task, nothing)
            ]
        elif self.rules == "capeval":
            detail["statistics"] = self._sums(facts)
        elif self.rules == "tuna":
            typed = {
                f"{kind}_{name}": value
                for kind, sums in groups.items()
                for name, value in self._shares(sums).items()
            }
            names = [info.name for info in _BY_TYPE if info.name in typed]
            values |= {name: typed[name] for name in names}
        units = tuple(
            rows.unit_of(
                "statement", checked_row, weight=checked_row.row.weight
            )
            for checked_row in checked_rows
        )
        return ItemScore(values | answer_values, units, detail=detail)

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """Return means over CAPability's tasks, or CAPEval's shares of all criteria of the set."""
        if self.rules == "capeval":
            pooled = self._shares(statistics.tolist())
            return {
                info.name: pooled[info.name.removesuffix("_pooled")]
                for info in _CAPEVAL
                if pooled
            }
        tasks = [
            self._shares(sums)
            for sums in statistics.reshape(-1, len(_STATES)).tolist()
        ]
        defined_tasks = [values for values in tasks if values]
        return {
            info.name: fmean(
                values[info.name.removeprefix("macro_")]
                for values in defined_tasks
            )
            for info in _MACRO
            if defined_tasks
        }

    def _sums(
        self, facts: Sequence[rows.AnsweredRow[rows.Criterion]]
    ) -> list[float]:
        return rows.sums_of(
            facts, _STATES, plain=self.rules not in ("own", "tuna")
        )

    def _shares(self, sums: Sequence[float]) -> dict[str, float]:
        """Return the values of sums by state; those that are not defined are left out."""
        values = rows.shares(sums, "coverage")
        if "precision" in values:
            values["f1"] = f1(values["precision"], values["accuracy"])
        elif values and self.rules in _ZERO_IF_UNDEFINED:
            values |= {"precision": 0.0, "f1": 0.0}
        return values


async def _by_event(
    judge: Judge,
    item: Item,
    criteria: Sequence[rows.Criterion],
    ask: Callable[
        [Sequence[rows.Criterion], str], Awaitable[list[TextAnswer]]
    ],
) -> list[TextAnswer]:
    """Return answers to criteria from the sentences about their events; spans of the candidate."""
    # Sentences are matched to events, then the criteria of an event are
    # checked in its sentences.
    text, events = (
        item.candidate,
        list(dict.fromkeys(criterion.event for criterion in criteria)),
    )
    sentences = [(part.start, part.end) for part in RuleSplitter().split(text)]
    claims, language = (
        [text[a:b] for a, b in sentences],
        language_named(item.language),
    )
    matches = _keep_in_order(
        await judge.ask(MatchNearest(claims, events, language))
    )

    answers_by_id: dict[int, TextAnswer] = {}

    async def ask_about(event: int) -> None:
        spans = [
            span
            for span, match in zip(sentences, matches, strict=True)
            if match == event
        ]
        # Sentences are joined by blanks: a place more for each.
        at = [i for start, end in spans for i in range(start, end + 1)]
        event_criteria = [
            criterion
            for criterion in criteria
            if criterion.event == events[event]
        ]
        answers = await ask(
            event_criteria, " ".join(text[a:b] for a, b in spans)
        )
        for criterion, answer in zip(event_criteria, answers, strict=True):
            # Spans of the joined sentences become spans of the candidate.
            places = ((at[a], at[b - 1] + 1) for a, b in answer.spans)
            answers_by_id[id(criterion)] = replace(answer, spans=tuple(places))

    await asyncio.gather(*map(ask_about, range(len(events))))
    return [answers_by_id[id(criterion)] for criterion in criteria]


def _keep_in_order(matches: Sequence[int | None]) -> list[int | None]:
    """Return the longest series of matches that never goes back; all others become None."""
    # Dynamic programming: the longest series that ends at each match.
    longest: list[list[int]] = [[]]
    for at, match in enumerate(matches):
        if match is not None:
            before = (
                series
                for series in longest
                if not series or (matches[series[-1]] or 0) <= match
            )
            longest.append([*max(before, key=len), at])
    best_series = max(longest, key=len)
    return [
        match if at in best_series else None
        for at, match in enumerate(matches)
    ]


async def _name_subjects(
    judge: Judge,
    text: str,
    criteria: Sequence[rows.Criterion],
    language: str | None,
) -> dict[tuple[str, str], TextAnswer]:
    """Return who takes the part of each subject of several criteria, by subject and criterion."""
    # A subject of one criterion has no pair to compare.
    texts_by_subject = {
        subject: [
            criterion.text
            for criterion in criteria
            if subject in criterion.subjects
        ]
        for criterion in criteria
        for subject in criterion.subjects
    }
    questions = [
        (name, criterion_text)
        for name, texts in texts_by_subject.items()
        if len(texts) > 1
        for criterion_text in texts
    ]
    if not questions or not text.strip():
        return {}
    answers = await judge.ask(NameSubjects(questions, text, language))
    return dict(zip(questions, answers, strict=True))


def _consistency(
    checked_rows: Sequence[rows.AnsweredRow[rows.Criterion]],
    names: Mapping[tuple[str, str], TextAnswer],
) -> dict[str, float]:
    """Return Ref, the mean over subjects of two criteria or more; empty without usable names."""
    counts = Counter(
        subject
        for checked_row in checked_rows
        for subject in set(checked_row.row.subjects)
    )
    refs = []
    for subject, n in counts.items():
        about = [
            checked_row.row.text
            for checked_row in checked_rows
            if subject in checked_row.row.subjects
            and checked_row.state != NOT_MENTIONED
        ]
        answers = [names.get((subject, text)) for text in about]
        # A subject is left out if a name that is needed for a pair could not be read.
        is_read = all(answer and not answer.unread for answer in answers)
        if n > 1 and (len(answers) < 2 or is_read):
            alike = Counter(
                answer.state for answer in answers if answer and answer.state
            )
            refs.append(
                sum(comb(size, 2) for size in alike.values()) / comb(n, 2)
            )
    return {_CONSISTENCY.name: fmean(refs)} if refs else {}
