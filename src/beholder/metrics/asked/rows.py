"""Questions and criteria as rows of data hold them, and what metrics make of their states."""

from __future__ import annotations

import asyncio
import json
import math
import unicodedata
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import msgspec

from beholder.base.grouping import group_by_key
from beholder.errors import BadRowError, ItemError
from beholder.judges import Judge
from beholder.judges.operations import CheckCriteria, TextAnswer
from beholder.judges.operations.answer import CONTRADICTED, MET, NOT_MENTIONED
from beholder.judges.reading import short
from beholder.metrics import ValueInfo
from beholder.records import Item, Side, Unit

MOST_OPTIONS = 25

T = TypeVar("T", bound="RowEntry")
S = TypeVar("S")
R = TypeVar("R")


class RowEntry(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """Fields that questions and criteria share.

    Attributes:
        id: Distinct within the row; the position, from 1, if it is missing.
        weight: Weight in the mean.
        source: Author: ``human``, ``judge``, ``reference``.
    """

    id: str = ""
    weight: float = 1.0
    source: str = "human"


class Criterion(RowEntry, frozen=True, kw_only=True):
    """A statement, or a demand on the text.

    Attributes:
        text: The criterion.
        dimension: Subject, by which results are broken down.
        category: Another name of ``dimension``.
        kind: ``fact``, or ``rule`` for a demand on the text itself; only a rule may have a
            negative weight.
        subjects: Whom or what it is about, each named alike in all criteria of the row.
        event: The event of the reference that it is part of, alike in all its criteria.
    """

    text: str
    dimension: str = ""
    category: str = ""
    kind: Literal["fact", "rule"] = "fact"
    subjects: tuple[str, ...] = ()
    event: str = ""

    @property
    def label(self) -> str:
        """Text of the criterion."""
        return self.text

    @property
    def group(self) -> str:
        """Topic, to break results down by."""
        return self.dimension or self.category


class QuestionRow(RowEntry, frozen=True, kw_only=True):
    """A question with its answer.

    Attributes:
        question: The question.
        answer: The text of an option, its index from 0, a boolean, or the answer to an open
            question.
        options: Choices; absent for yes/no and open questions.
        category: Subject; of several the first one counts.
        third: Whether "not said" is offered; None leaves it to the rules.
    """

    question: str
    answer: bool | int | str
    options: tuple[str, ...] = ()
    category: str | tuple[str, ...] = ""
    third: bool | None = None

    @property
    def label(self) -> str:
        """The question."""
        return self.question

    @property
    def group(self) -> str:
        """Topic, to break results down by."""
        return (
            self.category
            if isinstance(self.category, str)
            else next(iter(self.category), "")
        )


async def in_parts(
    items: Sequence[S],
    at_once: int,
    ask: Callable[[Sequence[S]], Awaitable[Sequence[R]]],
) -> list[R]:
    """Send items a part at a time; return the answers in the order of the items."""
    parts = [items[i : i + at_once] for i in range(0, len(items), at_once)]
    return [
        answer
        for part in await asyncio.gather(*map(ask, parts))
        for answer in part
    ]


async def check_criteria(
    judge: Judge,
    at_once: int,
    language: str | None,
    criteria: Sequence[Criterion],
    text: str,
) -> list[TextAnswer]:
    """Return the answers of a judge to criteria; an empty text mentions none of them.

    Args:
        judge: The judge.
        at_once: Most criteria of a question.
        language: Language of the criteria and the text; None if it is not stated.
        criteria: The criteria.
        text: The text that is checked.
    """
    if not text.strip():
        return [TextAnswer(NOT_MENTIONED)] * len(criteria)

    def ask(
        part: Sequence[Criterion],
    ) -> Awaitable[Sequence[TextAnswer]]:
        # The places of rules within this part of the criteria.
        rules = frozenset(
            i for i, criterion in enumerate(part) if criterion.kind == "rule"
        )
        return judge.ask(
            CheckCriteria(
                [criterion.text for criterion in part], text, rules, language
            )
        )

    return await in_parts(criteria, at_once, ask)


def criteria_of(item: Item) -> list[Criterion]:
    """Return the criteria of a row.

    Raises:
        ItemError: The row has no criteria.
        BadRowError: A criterion is not valid; names it.
    """
    criteria = _read_rows(item, "criteria", Criterion, "text")
    for n, criterion in enumerate(criteria, start=1):
        if criterion.kind == "fact" and criterion.weight < 0:
            raise BadRowError(
                f"criteria[{n}]: only a rule may have a negative weight"
            )
    return criteria


def questions_of(item: Item) -> list[QuestionRow]:
    """Return the questions of a row; answers with options are texts of options.

    Raises:
        ItemError: The row has no questions.
        BadRowError: A question is not valid; names it.
    """
    return [
        _normalise_question(n, row)
        for n, row in enumerate(
            _read_rows(item, "questions", QuestionRow, "question"), start=1
        )
    ]


def check_asked(item: Item, field: Literal["criteria", "questions"]) -> None:
    """Refuse a row with questions or criteria that are not valid; a row without any passes.

    Raises:
        BadRowError: A question or criterion is not valid; names it.
    """
    if item.meta.get(field):
        _ = criteria_of(item) if field == "criteria" else questions_of(item)


def _normalise_question(n: int, row: QuestionRow) -> QuestionRow:
    options = tuple(_plain(option) for option in row.options)
    answer = row.answer
    # A boolean is a yes/no question; its options may be written in any case.
    if isinstance(answer, bool):
        options = options or ("yes", "no")
        expected = "yes" if answer else "no"
        answer = next((o for o in options if o.lower() == expected), expected)
    elif isinstance(answer, int):
        if not 0 <= answer < len(options):
            raise BadRowError(
                f"questions[{n}]: answer {answer} is not an index of its options, counted from 0"
            )
        answer = options[answer]
    answer = _plain(answer)
    if row.weight <= 0:
        raise BadRowError(
            f"questions[{n}]: weight must be above 0, got {row.weight:g}"
        )
    if not answer:
        raise BadRowError(f"questions[{n}]: the answer is empty")
    if options and (
        not 2 <= len(options) <= MOST_OPTIONS
        or len(set(options)) < len(options)
        or "" in options
    ):
        raise BadRowError(
            f"questions[{n}]: give 2 to {MOST_OPTIONS} distinct options, none empty"
        )
    if options and answer not in options:
        raise BadRowError(
            f"questions[{n}]: answer {answer!r} is not among its options {options}"
        )
    return msgspec.structs.replace(row, options=options, answer=answer)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def _columns(item: Item) -> str:
    from beholder.data.row import columns_of  # loads readers of pictures

    return columns_of(item.meta)


def _read_rows(item: Item, field: str, kind: type[T], text: str) -> list[T]:
    entries: Any = item.meta.get(field)
    if isinstance(entries, str):  # a cell of a table
        try:
            entries = json.loads(entries)
        except ValueError as error:
            raise BadRowError(
                f"the field {field!r} is not a JSON list: {error}"
            ) from None
    if entries and not isinstance(entries, (list, tuple)):
        raise BadRowError(
            f"the field {field!r} must be a list, got {short(entries)}"
        )
    if not entries:
        raise ItemError(
            f"no {field}: this metric needs a list of them in the field {field!r} of each row; name"
            f" its column with --map {field}=COLUMN, or their file with --references-from"
            + (f"; {_columns(item)}" if item.meta else "")
        )
    rows: list[T] = []
    for n, row in enumerate(entries, start=1):
        if isinstance(row, str) and kind is not Criterion:
            raise BadRowError(
                f"{field}[{n}]: a question needs its answer; expected an object with 'question' and"
                f" 'answer', got the text {row!r}"
            )
        # A criterion may be a bare text; an id may be a number.
        value = {text: row} if isinstance(row, str) else row
        if isinstance(value, dict) and isinstance(value.get("id"), int):
            value = {**value, "id": str(value["id"])}
        try:
            entry = msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            expected = ", ".join(kind.__struct_fields__)
            raise BadRowError(
                f"{field}[{n}]: {error}; its fields may be {expected}"
            ) from None
        if not getattr(entry, text).strip():
            raise BadRowError(f"{field}[{n}]: {text!r} is empty")
        if not math.isfinite(entry.weight) or entry.weight == 0:
            raise BadRowError(
                f"{field}[{n}]: weight must be a finite number other than 0"
            )
        rows.append(msgspec.structs.replace(entry, id=entry.id or str(n)))
    # Units are identified by these ids.
    ids = [entry.id for entry in rows]
    if len(set(ids)) < len(ids):
        double = next(i for i in ids if ids.count(i) > 1)
        raise BadRowError(f"{field}: the id {double!r} is there twice")
    return rows


UNREAD = "unread"
RIGHT, WRONG, NOT_SAID = "right", "wrong", "not said"
CHANGED = ValueInfo(
    "changed",
    "share whose answer differs between judges or repeats",
    higher_is_better=False,
)
"""Of a panel alone."""

_IS_RIGHT = {MET: True, RIGHT: True, CONTRADICTED: False, WRONG: False}
"""True for a right answer, by state; silence is missing, as it is neither."""

E = TypeVar("E")
Row = TypeVar("Row", Criterion, QuestionRow)


@dataclass(frozen=True, slots=True)
class AnsweredRow(Generic[Row]):
    """A question or criterion with a judge's answer.

    Attributes:
        row: The question or criterion.
        answer: Its answer, which may be unread.
        state: Its state under the rules of the metric.
        grade: Match of an open answer with the right one, 0..5; None for all others.
    """

    row: Row
    answer: TextAnswer
    state: str
    grade: float | None = None


def answer_quality(
    answered_rows: Sequence[AnsweredRow[Row]], what: str
) -> dict[str, float]:
    """Return the values ``unread`` and, of a panel, ``changed``.

    Raises:
        ItemError: No answer is usable.
    """
    reasons = [
        answered_row.answer.unread
        for answered_row in answered_rows
        if answered_row.answer.unread
    ]
    n_unread = len(reasons)
    if answered_rows and n_unread == len(answered_rows):
        raise ItemError(
            f"the judge gave no usable answer to any of {n_unread} {what}, also when asked again;"
            f" the first: {reasons[0]}"
        )
    values = {UNREAD: n_unread / len(answered_rows) if answered_rows else 0.0}
    # Only a panel, or repeats, can show that an answer changed.
    changed_flags = [
        answered_row.answer.changed for answered_row in answered_rows
    ]
    changes = [changed for changed in changed_flags if changed is not None]
    return values | (
        {CHANGED.name: sum(changes) / len(changes)} if changes else {}
    )


def sums_of(
    answered_rows: Iterable[AnsweredRow[Row]],
    states: Iterable[str],
    *,
    plain: bool = False,
) -> list[float]:
    """Return the weight in each state, or the number if ``plain``."""
    counts: dict[str, float] = defaultdict(float)
    for answered_row in answered_rows:
        counts[answered_row.state] += 1.0 if plain else answered_row.row.weight
    return [counts[state] for state in states]


def shares(sums: Sequence[float], spoken: str) -> dict[str, float]:
    """Return shares of right, wrong and missing answers; undefined ones are left out."""
    right, wrong, silent = sums
    stated, total = right + wrong, right + wrong + silent
    if not total:
        return {}
    values = {
        "accuracy": right / total,
        spoken: stated / total,
        "wrong": wrong / total,
    }
    return values | ({"precision": right / stated} if stated else {})


def answer_detail(
    answered_rows: Sequence[AnsweredRow[Row]], states: Iterable[str]
) -> dict[str, Any]:
    """Return the counts of states, why answers are unread, and the tied and changed ones by id."""
    answered = [
        (answered_row.row.id, answered_row.answer)
        for answered_row in answered_rows
    ]
    return {
        "states": {
            state: sum(
                answered_row.state == state for answered_row in answered_rows
            )
            for state in states
        },
        UNREAD: {
            row: answer.unread for row, answer in answered if answer.unread
        },
        "ties": [row for row, answer in answered if answer.tied],
        CHANGED.name: [row for row, answer in answered if answer.changed],
    }


def by_group(
    answered_rows: Iterable[AnsweredRow[Row]],
) -> Mapping[str, list[AnsweredRow[Row]]]:
    """Group by topic; the names are sorted, and rows without a topic are left out."""
    groups = group_by_key(
        (answered_row.row.group, answered_row)
        for answered_row in answered_rows
    )
    return {name: groups[name] for name in sorted(groups) if name}


def unit_of(
    kind: str,
    answered_row: AnsweredRow[Row],
    side: Side | None = None,
    **detail: object,
) -> Unit:
    """Return the unit of a question or criterion; what the text says of it can be verified.

    Args:
        kind: Kind of the unit.
        answered_row: The question or criterion.
        side: The text that it was taken from, if any; its spans are in the other text.
        detail: More of its detail.
    """
    answer, is_right = answered_row.answer, _IS_RIGHT.get(answered_row.state)
    flags = {
        "tied": answer.tied,
        CHANGED.name: answer.changed,
        "group": answered_row.row.group,
        "reason": answer.unread,
    }
    full_detail: dict[str, object] = {
        name: value for name, value in flags.items() if value
    }
    # Annotation proposes this flag to people.
    if is_right is not None:
        full_detail["verified"] = is_right
    # Spans are of the text that answers; a unit of another text has none
    # there.
    spans = answer.spans if side is None else ()
    score = None if answered_row.state == UNREAD else float(is_right or False)
    outcome = (
        score,
        answered_row.state.replace(" ", "_"),
        0 if side == "reference" else None,
    )
    full_detail = {"id": answered_row.row.id, **detail, **full_detail}
    return Unit(
        kind,
        answered_row.row.label,
        side or "candidate",
        spans,
        *outcome,
        full_detail,
    )
