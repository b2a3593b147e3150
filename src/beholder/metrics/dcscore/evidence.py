"""What DCScore gathers: the facts of all texts, and the verdicts on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from beholder.judges.operations import AtomicStatement

Direction: TypeAlias = Literal["har", "mar"]


@dataclass(frozen=True, slots=True)
class Pairing:
    """The verdicts on one text's facts against another's.

    Attributes:
        direction: ``har``: the candidate's facts are predicted; ``mar``: the reference's.
        reference: Index of the reference.
        matches: Match samples: per predicted fact the index of a target fact, or None.
        verified: Verification samples: per predicted fact whether it is right.
        flags: What was unusual about the judge's answers, in words.
    """

    direction: Direction
    reference: int
    matches: tuple[tuple[int | None, ...], ...]
    verified: tuple[tuple[bool, ...], ...]
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DCScoreEvidence:
    """All that scoring needs: the facts, the verdicts, what they were checked against, by whom."""

    candidate: tuple[AtomicStatement, ...]
    references: tuple[tuple[AtomicStatement, ...], ...]
    pairings: tuple[Pairing, ...]
    verified_by: str
    identities: dict[str, str]

    def sides(
        self, pairing: Pairing
    ) -> tuple[tuple[AtomicStatement, ...], tuple[AtomicStatement, ...]]:
        """The predicted and the target facts of a pairing."""
        both = (self.candidate, self.references[pairing.reference])
        return both if pairing.direction == "har" else both[::-1]
