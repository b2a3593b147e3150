"""What the built-in judge is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from beholder.records import Span

QuestionKind: TypeAlias = Literal["entity", "attribute", "relation"]


@dataclass(frozen=True, slots=True)
class Question:
    """Is this unit of one text in the other text, too?

    Attributes:
        kind: ``entity``, ``attribute`` or ``relation``.
        text: The entity's identifier, the attribute, or the relation's words.
        subject: Identifier of the entity that has the attribute, or of the relation's first end.
        object: Identifier of the relation's other end.
        place: Where the unit, its subject and its object begin in the source text, for judges that
            read the source; -1 where nothing is written, empty if not known.
    """

    kind: QuestionKind
    text: str
    subject: str = ""
    object: str = ""
    place: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Grade:
    """A graded answer.

    Attributes:
        value: Expected grade, from 1 (certainly not there) to 5 (certainly there).
        probabilities: Probability of each grade, from the lowest; they sum to 1.
        mass: Share of the probability that lay on grades; 1 for rules.
        read: Where it comes from.
        instead: What the target says in the unit's place, or empty.
        where: Characters of the unit's counterpart in the target.
    """

    value: float
    probabilities: tuple[float, ...]
    mass: float = 1.0
    read: Literal["logprobs", "samples", "rules"] = "rules"
    instead: str = ""
    where: tuple[Span, ...] = ()


def rule_grade(value: float, instead: str = "", where: tuple[Span, ...] = ()) -> Grade:
    """A grade by rule: its value lies between two whole grades, which share the probability."""
    low = min(4, int(value))
    probabilities = [0.0] * 5
    probabilities[low - 1] = low + 1 - value
    probabilities[low] = value - low
    return Grade(value, tuple(probabilities), instead=instead, where=where)
