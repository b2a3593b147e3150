"""Facts as units with places and verdicts, for tables, report and terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, TypeAlias

from beholder.judges.operations import AtomicStatement
from beholder.records import Item, Side, Span, Unit
from beholder.text import RuleSplitter, weight, words

Direction: TypeAlias = Literal["har", "mar"]
_DIRECTIONS: tuple[Direction, Direction] = ("har", "mar")


@dataclass(frozen=True, slots=True)
class Pairing:
    """The verdicts on one text's facts against another's.

    Attributes:
        direction: ``har``: the candidate's facts are predicted; ``mar``: the reference's.
        reference: Index of the reference; None if facts are verified by pictures alone.
        matches: Match samples: per predicted fact the index of a target fact, or None; empty
            without a reference.
        verified: Verification samples: per predicted fact whether it is right.
        flags: Unusual things about the judge's answers, in words.
    """

    direction: Direction
    reference: int | None
    matches: tuple[tuple[int | None, ...], ...]
    verified: tuple[tuple[bool, ...], ...]
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DCScoreEvidence:
    """All that scoring needs: the facts, the verdicts, the evidence they were checked against."""

    candidate: tuple[AtomicStatement, ...]
    references: tuple[tuple[AtomicStatement, ...], ...]
    pairings: tuple[Pairing, ...]
    verified_by: str

    def sides(
        self, pairing: Pairing
    ) -> tuple[tuple[AtomicStatement, ...], tuple[AtomicStatement, ...]]:
        """Return the predicted and the target facts of a pairing."""
        if pairing.reference is None:
            return self.candidate, ()
        candidate_first = (self.candidate, self.references[pairing.reference])
        return (
            candidate_first
            if pairing.direction == "har"
            else candidate_first[::-1]
        )


Chosen: TypeAlias = Mapping[Direction, Pairing]


def fact_units(
    item: Item, evidence: DCScoreEvidence, chosen: Chosen
) -> tuple[Unit, ...]:
    """Return one unit for each fact of the candidate and of each reference.

    Predicted facts are ``supported`` or a ``mistake``, target facts ``covered`` or an ``omission``.
    Scored in both directions, a fact is both: the candidate's verdict is then its truth, the
    reference's its coverage, and ``detail`` has the rest.

    ``detail`` holds ``index`` (of the fact in its text), ``subject``, ``relevant``, ``direction``;
    of a predicted fact ``verified`` and, if there are references, ``matched`` (per match sample
    the index of the target fact, or None) and ``against`` (index of the reference); of a target
    fact ``covered``. With several references a fact of the candidate has ``elsewhere``: its matches
    in the others.
    """
    units = _side_units(item, evidence, chosen, None)
    for reference in range(len(evidence.references)):
        units += _side_units(item, evidence, chosen, reference)
    return tuple(units)


def _side_units(
    item: Item,
    evidence: DCScoreEvidence,
    chosen: Chosen,
    reference: int | None,
) -> list[Unit]:
    side: Side = "candidate" if reference is None else "reference"
    own_direction, other_direction = (
        _DIRECTIONS if reference is None else _DIRECTIONS[::-1]
    )
    facts, text = evidence.candidate, item.candidate
    if reference is not None:
        facts, text = (
            evidence.references[reference],
            item.references[reference],
        )
    places = Places(text)
    predicted, target = None, None
    for pairing in evidence.pairings:
        # Of a reference its own pairings count; of the candidate those with
        # the chosen references.
        is_scored = pairing.reference == reference
        if reference is None:
            is_scored = pairing is chosen.get(pairing.direction)
        if is_scored and pairing.direction == own_direction:
            predicted = pairing
        elif is_scored:
            target = pairing
    units = []
    for index, fact in enumerate(facts):
        detail: dict[str, Any] = {
            "direction": own_direction if predicted else other_direction,
            "index": index,
            "subject": fact.subject,
            "relevant": fact.relevant,
        }
        score, verdict = 0.0, ""
        if target is not None:
            # Means over samples; a fact is covered from half of them, verified
            # by more than half.
            score = fmean(index in sample for sample in target.matches)
            detail["covered"] = score >= 0.5
            verdict = "covered" if score >= 0.5 else "omission"
        if predicted is not None:
            truth = fmean(sample[index] for sample in predicted.verified)
            detail["verified"] = truth > 0.5
            if predicted.reference is not None:
                detail["matched"] = [
                    sample[index] for sample in predicted.matches
                ]
                detail["against"] = predicted.reference
            elsewhere = (
                _elsewhere(evidence, predicted, index)
                if side == "candidate"
                else {}
            )
            if elsewhere:
                detail["elsewhere"] = elsewhere
            # In both directions the candidate's verdict is its truth, a
            # reference's its coverage.
            if target is None or side == "candidate":
                score = truth
                verdict = "supported" if truth > 0.5 else "mistake"
        at = places.find_spans(fact)
        units.append(
            Unit(
                "statement",
                fact.text,
                side,
                at,
                score,
                verdict,
                reference,
                detail,
            )
        )
    return units


def _elsewhere(
    evidence: DCScoreEvidence, chosen: Pairing, index: int
) -> dict[str, list[int | None]]:
    """Return the matches of a candidate's fact in the references that were not chosen."""
    return {
        str(pairing.reference): [sample[index] for sample in pairing.matches]
        for pairing in evidence.pairings
        if pairing.direction == chosen.direction and pairing is not chosen
    }


_ENOUGH = 0.5
"""One sentence must have more than this share of a fact's words, by their weight."""
_STEM = 4
_ENDING = 2
_SPLITTER = RuleSplitter()


class Places:
    """Finds facts in one text.

    Args:
        text: The text that was decomposed.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = text.casefold()
        self._words = [
            (span, _key(text[slice(*span)])) for span in words(text)
        ]
        self._sentences = [
            (part.start, part.end) for part in _SPLITTER.split(text)
        ]

    def find_spans(self, fact: AtomicStatement) -> tuple[Span, ...]:
        """Find the characters that state a fact; empty if fewer than half of its words are there.

        The judge's own spans come first, then the fact as it is written, then its words in the
        sentence that shares most with it, neighbours joined.
        """
        if fact.spans:
            return fact.spans
        bare = fact.text.strip().rstrip(".!?。．！？।").casefold()
        # Case folding may change the length, and then places in the folded
        # text are wrong.
        start = (
            self._folded.find(bare)
            if len(self._folded) == len(self._text)
            else -1
        )
        if bare and start >= 0:
            return ((start, start + len(bare)),)
        return self._by_words(fact.text)

    def _by_words(self, fact: str) -> tuple[Span, ...]:
        weights_by_word = {
            _key(fact[a:b]): weight(fact[a:b].lower()) for a, b in words(fact)
        }
        best: list[Span] = []
        best_weight = _ENOUGH * sum(weights_by_word.values())
        # The sentence whose words outweigh those of all others; the words
        # there are the spans.
        for start, end in self._sentences:
            shared_words = [
                (s, key)
                for s, key in self._words
                if start <= s[0] < end and key in weights_by_word
            ]
            shared = sum(
                weights_by_word[key]
                for key in {key for _, key in shared_words}
            )
            if shared_words and shared > best_weight:
                best_weight, best = shared, [span for span, _ in shared_words]
        return _join_spans(self._text, best)


def _key(word: str) -> str:
    """Return a word without case and possessive; a long one is cut, so that inflections meet."""
    folded = re.sub(r"['’]s?$", "", word.casefold())
    short = len(folded) <= _STEM or not folded.isalpha()
    return folded if short else folded[: max(_STEM, len(folded) - _ENDING)]


def _join_spans(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    # Neighbouring words become one span if only white space is between them.
    merged: list[Span] = []
    for start, end in spans:
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(merged)
