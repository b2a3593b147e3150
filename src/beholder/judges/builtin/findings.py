"""How far each unit of one text is in another: evidence, decided."""

from __future__ import annotations

from dataclasses import dataclass

from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.decide import contradicted, roles_exchanged, sure, value
from beholder.judges.builtin.gather import gather
from beholder.judges.builtin.numbers import numbers
from beholder.records import Span


@dataclass(frozen=True, slots=True)
class Finding:
    """What the target says of one unit.

    Attributes:
        value: 0 (nothing like it) .. 1 (says so).
        grade: The same as a grade from 1 to 5.
        sure: Whether it is beyond doubt that the unit is there, or that it is not.
        contradiction: What the target says in its place, or empty where it is silent.
        where: Characters of the counterpart in the target.
        exchanged: Whether the target says it with who and whom exchanged.
    """

    value: float
    grade: float
    sure: bool
    contradiction: str = ""
    where: tuple[Span, ...] = ()
    exchanged: bool = False


def find(source: AnalysedText, target: AnalysedText) -> tuple[Finding, ...]:
    """Look for every unit of the source in the target.

    Returns:
        One finding per unit of the source, in order.
    """
    n = numbers()
    found = []
    for evidence in gather(source, target, n):
        made = value(evidence, n)
        told = evidence.told if contradicted(evidence, n) else ""
        found.append(
            Finding(
                made,
                n.grade(made),
                sure(evidence, n),
                told,
                evidence.where,
                roles_exchanged(evidence, n),
            )
        )
    return tuple(found)
