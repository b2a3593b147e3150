"""What the metrics of this package make of the states of questions and criteria."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from beholder.errors import ItemError
from beholder.judges.operations import TextAnswer
from beholder.judges.operations.answer import CONTRADICTED, MET
from beholder.metrics import ValueInfo
from beholder.metrics.asked.rows import Criterion, QuestionRow
from beholder.records import Side, Unit

UNREAD = "unread"
RIGHT, WRONG, NOT_SAID = "right", "wrong", "not said"
CHANGED = ValueInfo(
    "changed", "share whose answer differs between judges or repeats", higher_is_better=False
)
"""Of a panel alone."""

_SAID = {MET: True, RIGHT: True, CONTRADICTED: False, WRONG: False}
"""Whether what the text says is right, by state; silence is neither."""

E = TypeVar("E")
R = TypeVar("R", Criterion, QuestionRow)


@dataclass(frozen=True, slots=True)
class Found(Generic[R]):
    """What a judge said of a question or criterion.

    Attributes:
        row: The question or criterion.
        answer: Its answer; None where the judge gave no usable row.
        state: Its state under the rules of the metric.
        grade: How well an open answer matches the right one, 0..5; None of all else.
    """

    row: R
    answer: TextAnswer | None
    state: str
    grade: float | None = None


def opened(found: Sequence[Found[R]], what: str) -> dict[str, float]:
    """The values ``unread``, and ``changed`` of a panel.

    Raises:
        ItemError: There is no usable answer at all.
    """
    n_unread = sum(one.answer is None for one in found)
    if found and n_unread == len(found):
        raise ItemError(
            f"the judge gave no usable answer to any of {n_unread} {what}, also when asked again"
        )
    values = {UNREAD: n_unread / len(found) if found else 0.0}
    several = [one.answer.changed for one in found if one.answer]
    told = [changed for changed in several if changed is not None]
    return values | ({CHANGED.name: sum(told) / len(told)} if told else {})


def sums_of(
    found: Iterable[Found[R]], states: Iterable[str], *, plain: bool = False
) -> list[float]:
    """The weight in each state, or the number if ``plain``."""
    counts: dict[str, float] = defaultdict(float)
    for one in found:
        counts[one.state] += 1.0 if plain else one.row.weight
    return [counts[state] for state in states]


def shares(sums: Sequence[float], spoken: str) -> dict[str, float]:
    """Shares of what a text says rightly, wrongly and not at all; undefined ones are left out."""
    right, wrong, silent = sums
    said, total = right + wrong, right + wrong + silent
    if not total:
        return {}
    values = {"accuracy": right / total, spoken: said / total, "wrong": wrong / total}
    return values | ({"precision": right / said} if said else {})


def f1(precision: float, recall: float) -> float:
    """The harmonic mean; 0 if both are 0."""
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def detailed(found: Sequence[Found[R]], states: Iterable[str]) -> dict[str, Any]:
    """How often each state occurs, and what was unread, tied or changed, by id."""
    answered = [(one.row.id, one.answer) for one in found if one.answer]
    return {
        "states": {state: sum(one.state == state for one in found) for state in states},
        UNREAD: [one.row.id for one in found if one.answer is None],
        "ties": [row for row, answer in answered if answer.tied],
        CHANGED.name: [row for row, answer in answered if answer.changed],
    }


def by_group(found: Iterable[Found[R]]) -> Mapping[str, list[Found[R]]]:
    """What is about the same, by name; the names are sorted."""
    groups: dict[str, list[Found[R]]] = defaultdict(list)
    for one in found:
        groups[one.row.group].append(one)
    return {name: groups[name] for name in sorted(groups) if name}


def unit_of(kind: str, one: Found[R], side: Side | None = None, **detail: object) -> Unit:
    """The unit of a question or criterion; what the text says of it can be verified.

    Args:
        kind: Kind of the unit.
        one: The question or criterion.
        side: Where it was taken from, if that is one of the texts; its words are in the other.
        detail: More of its detail.
    """
    answer, said = one.answer or TextAnswer(None), _SAID.get(one.state)
    flags = {"tied": answer.tied, CHANGED.name: answer.changed, "group": one.row.group}
    kept: dict[str, object] = {name: value for name, value in flags.items() if value}
    if said is not None:
        kept["verified"] = said  # what annotation proposes
    return Unit(
        kind,
        one.row.label,
        side or "candidate",
        answer.spans if side is None else (),
        None if one.state == UNREAD else float(said or False),
        one.state.replace(" ", "_"),
        0 if side == "reference" else None,
        {"id": one.row.id, **detail, **kept},
    )
