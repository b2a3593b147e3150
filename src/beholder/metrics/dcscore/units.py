"""Facts as units: where they stand, what was found, for tables, report and terminal."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from beholder.metrics.dcscore.evidence import DCScoreEvidence, Direction, Pairing
from beholder.metrics.dcscore.places import Places
from beholder.records import Item, Side, Unit


def fact_units(
    item: Item, evidence: DCScoreEvidence, chosen: Mapping[Direction, Pairing]
) -> tuple[Unit, ...]:
    """One unit for each fact of the candidate and of each reference.

    Predicted facts are ``supported`` or a ``mistake``, target facts ``covered`` or an ``omission``.
    Scored in both directions, a fact is both: the candidate's verdict is then its truth, the
    reference's its coverage, and ``detail`` has the rest.

    ``detail`` holds ``index`` (of the fact in its text), ``subject``, ``relevant``, ``direction``;
    of a predicted fact ``verified``, ``matched`` (per match sample the index of the target fact, or
    None) and ``against`` (index of the reference); of a target fact ``covered``. With several
    references a fact of the candidate has ``elsewhere``: what it was matched to in the others.
    """
    units = _side_units(item, evidence, chosen, "candidate", 0)
    for reference in range(len(evidence.references)):
        units += _side_units(item, evidence, chosen, "reference", reference)
    return tuple(units)


def _side_units(
    item: Item,
    evidence: DCScoreEvidence,
    chosen: Mapping[Direction, Pairing],
    side: Side,
    reference: int,
) -> list[Unit]:
    facts = evidence.candidate if side == "candidate" else evidence.references[reference]
    places = Places(item.candidate if side == "candidate" else item.references[reference])
    own: Direction = "har" if side == "candidate" else "mar"
    predicted, target = None, None
    for pairing in evidence.pairings:
        here = (
            pairing is chosen.get(pairing.direction)
            if side == "candidate"
            else (pairing.reference == reference)
        )
        if here and pairing.direction == own:
            predicted = pairing
        elif here:
            target = pairing
    units = []
    for index, fact in enumerate(facts):
        detail: dict[str, Any] = {
            "direction": own if predicted else _other(own),
            "index": index,
            "subject": fact.subject,
            "relevant": fact.relevant,
        }
        score, verdict = 0.0, ""
        if target is not None:
            score = fmean(index in sample for sample in target.matches)
            detail["covered"] = score >= 0.5
            verdict = "covered" if score >= 0.5 else "omission"
        if predicted is not None:
            truth = fmean(sample[index] for sample in predicted.verified)
            detail["verified"] = truth > 0.5
            detail["matched"] = [sample[index] for sample in predicted.matches]
            detail["against"] = predicted.reference
            elsewhere = _elsewhere(evidence, predicted, index) if side == "candidate" else {}
            if elsewhere:
                detail["elsewhere"] = elsewhere
            if target is None or side == "candidate":
                score = truth
                verdict = "supported" if truth > 0.5 else "mistake"
        units.append(
            Unit(
                "statement",
                fact.text,
                side,
                places.of(fact),
                score,
                verdict,
                reference if side == "reference" else None,
                detail,
            )
        )
    return units


def _elsewhere(
    evidence: DCScoreEvidence, chosen: Pairing, index: int
) -> dict[str, list[int | None]]:
    """What a fact of the candidate was matched to in the references that were not chosen."""
    return {
        str(pairing.reference): [sample[index] for sample in pairing.matches]
        for pairing in evidence.pairings
        if pairing.direction == chosen.direction and pairing is not chosen
    }


def _other(direction: Direction) -> Direction:
    return "mar" if direction == "har" else "har"
