"""Which word matches which: METEOR's one-to-one alignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

BEAM = 40


class Match(NamedTuple):
    """A word of the candidate and its word of the reference.

    Attributes:
        candidate: Place in the candidate.
        reference: Place in the reference.
        weight: Of the kind of match.
    """

    candidate: int
    reference: int
    weight: float


@dataclass(frozen=True, slots=True)
class _State:
    """An alignment of the first words of the candidate."""

    used: int  # bits of the reference's places
    last: int  # place matched by the word before, or -2
    covered: int
    chunks: int
    distance: int
    matches: tuple[Match, ...]

    @property
    def rank(self) -> tuple[int, int, int]:
        return (-self.covered, self.chunks, self.distance)


def align(options: Sequence[Sequence[tuple[int, float]]], n_reference: int) -> list[Match]:
    """The alignment that covers most words, then has the fewest chunks, then the least distance.

    A beam of 40 alignments is followed through the candidate, which is exact for all but very
    repetitive texts.

    Args:
        options: Per word of the candidate, the places of the reference it may match, with weights.
        n_reference: Words of the reference.

    Returns:
        Matches in the candidate's order, no place used twice.
    """
    places = [place for choices in options for place, _ in choices]
    if len(places) == len(set(places)) and all(len(choices) <= 1 for choices in options):
        return [Match(i, *choices[0]) for i, choices in enumerate(options) if choices]
    beam = [_State(0, -2, 0, 0, 0, ())]
    for position, choices in enumerate(options):
        best: dict[tuple[int, int], _State] = {}
        for state in beam:
            for following in _steps(state, position, choices):
                key = (following.used, following.last)
                known = best.get(key)
                if known is None or following.rank < known.rank:
                    best[key] = following
        beam = sorted(best.values(), key=lambda state: state.rank)[:BEAM]
    return list(beam[0].matches)


def _steps(state: _State, position: int, choices: Sequence[tuple[int, float]]) -> list[_State]:
    found = [_State(state.used, -2, state.covered, state.chunks, state.distance, state.matches)]
    for place, weight in choices:
        if state.used >> place & 1:
            continue
        found.append(
            _State(
                used=state.used | 1 << place,
                last=place,
                covered=state.covered + 1,
                chunks=state.chunks + (place != state.last + 1),
                distance=state.distance + abs(position - place),
                matches=(*state.matches, Match(position, place, weight)),
            )
        )
    return found
