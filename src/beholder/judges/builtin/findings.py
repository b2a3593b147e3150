"""Decisions, from the evidence, how far each unit of one text is in another."""

from __future__ import annotations

from dataclasses import dataclass

from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.decide import (
    contradicted,
    roles_exchanged,
    says_otherwise,
    sure,
    value,
)
from beholder.judges.builtin.entailed import (
    REPEATED,
    VERBATIM,
    Chances,
    ask,
    likely,
    undecided,
)
from beholder.judges.builtin.evidence import Evidence
from beholder.judges.builtin.gather import gather
from beholder.judges.builtin.numbers import PRESENT, Numbers, number, numbers
from beholder.judges.builtin.rewritten import rewritten
from beholder.language.certainty import MISREAD
from beholder.records import Span

_EVEN = 0.5
"""Probability from which a unit counts as said."""
_SURELY = number("entail.surely")
_RETOLD = number("entail.retold")
_SURELY_NOT = number("entail.surely_not")


@dataclass(slots=True)
class Finding:
    """The finding about one unit of the source in the target.

    Attributes:
        value: 0 (nothing like it) .. 1 (says so).
        grade: The same as a grade from 1 to 5.
        sure: Whether it is beyond doubt that the unit is there, or that it is not.
        contradiction: The target's statement in its place, or empty where it is silent.
        where: Characters of the counterpart in the target.
        exchanged: Whether the target says it with who and whom exchanged.
        excused: Whether it is left out: it relates a thing that is not in the target, or is said
            of one in words that the target has, which is no further mistake; or it is probably
            misread. Nearly the same words are read the same way in both texts, so there nothing is
            left out as misread.
        further: Characters of wrong words of the source that are in no unit, but nearest to this.
    """

    value: float
    grade: float
    sure: bool
    contradiction: str = ""
    where: tuple[Span, ...] = ()
    exchanged: bool = False
    excused: bool = False
    further: tuple[Span, ...] = ()


def find(
    source: AnalysedText, target: AnalysedText, *, entail: bool = False
) -> tuple[Finding, ...]:
    """Look for every unit of the source in the target.

    Args:
        source: The text whose units are looked for.
        target: The text in which they are looked for.
        entail: Whether the entailment model decides, with the rules, on what words alone do not.

    Returns:
        One finding per unit of the source, in order.
    """
    n = numbers()
    evidence = gather(source, target, n)
    open_ = undecided(source, evidence, n) if entail else {}
    answers = (
        dict(zip(open_, ask(list(open_.values()), target), strict=True))
        if open_
        else {}
    )
    # Plan: rules decide first; units that rules leave open get the probability
    # of rules and model together; sentences that the model finds rewritten
    # overrule what is not repeated elsewhere; last, faults that only follow
    # from another fault are excused.
    values = [value(unit_evidence, n) for unit_evidence in evidence]
    findings = [
        _both(unit_evidence, answers[place], n)
        if place in answers
        else _by_rules(unit_evidence, score, grade, n)
        for place, (unit_evidence, score, grade) in enumerate(
            zip(evidence, values, n.grades(values), strict=True)
        )
    ]
    for change in rewritten(source, target) if entail else ():
        for place in change.units(source):
            is_repeated = (
                findings[place].value >= _SURELY
                and evidence[place].repeated < _RETOLD
            )
            if not (is_repeated or findings[place].contradiction):
                where = (change.instead,) if change.instead else ()
                words = " ".join(
                    target.graph.text[slice(*span)] for span in where
                )
                inside = any(
                    a < change.span[1] and b > change.span[0]
                    for a, b in source.units[place].spans
                )
                findings[place] = Finding(
                    0.0,
                    n.grade(0.0),
                    True,
                    words,
                    where,
                    further=() if inside else (change.span,),
                )
    # If a thing is missing, its attributes and relations are missing, too; one
    # mistake should be reported once.
    absent = {
        unit.subject
        for unit, finding in zip(source.units, findings, strict=True)
        if unit.kind == "entity" and finding.grade < PRESENT
    }
    for place, (unit, unit_evidence) in enumerate(
        zip(source.units, evidence, strict=True)
    ):
        is_worded = (
            unit.kind == "relation" or unit_evidence.coverage >= VERBATIM
        )
        owned = unit.kind != "entity" and not absent.isdisjoint(
            (unit.subject, unit.object)
        )
        misread = unit.doubt >= MISREAD and unit_evidence.repeated < REPEATED
        if misread or (
            owned and is_worded and not contradicted(unit_evidence, n)
        ):
            findings[place].excused = True
    return tuple(findings)


def _by_rules(
    evidence: Evidence, score: float, grade: float, n: Numbers
) -> Finding:
    if not contradicted(evidence, n):
        return Finding(
            score, grade, sure(evidence, score, n), where=evidence.where
        )
    is_contradicted = says_otherwise(evidence, n)
    exchanged = roles_exchanged(evidence, n)
    return Finding(
        score,
        grade,
        is_contradicted,
        evidence.instead if is_contradicted else "",
        evidence.where,
        exchanged,
    )


def _both(evidence: Evidence, chances: Chances, n: Numbers) -> Finding:
    chance = likely(evidence, chances, n)
    contradiction = (
        evidence.instead
        if chance < _EVEN and says_otherwise(evidence, n)
        else ""
    )
    # Absence is sure only for plain things and attributes; places and numbers
    # can be stated in too many ways.
    is_thing = evidence.kind in ("entity", "attribute")
    plain = is_thing and evidence.affirmed and not evidence.vague
    clear = (
        chance >= _SURELY
        if chance >= _EVEN
        else plain and chance <= _SURELY_NOT
    )
    return Finding(
        chance,
        1.0 + 4.0 * chance,
        bool(contradiction) or clear,
        contradiction,
        evidence.where,
    )
