"""Which word matches which: METEOR's one-to-one alignment."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

BEAM = 40
NEAR = 8
"""Places tried on each side of the expected one: more matter only in very repetitive texts."""


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
    exact: int  # of these, matches that count for their own sake
    chunks: int
    distance: int
    match: Match | None = None  # the newest one; the others are its parents'
    parent: _State | None = None


def _cover(state: _State) -> tuple[int, ...]:
    return (-state.covered, state.chunks, state.distance)


def _published(state: _State) -> tuple[int, ...]:
    return (-state.exact, state.chunks, -state.covered, state.distance)


def align(options: Sequence[Sequence[tuple[int, float]]], *, cover: bool) -> list[Match]:
    """The best one-to-one alignment.

    A word with one possible match that no other word wants is matched. Among the rest, with
    ``cover``, most words are covered, then chunks are fewest, then the distance is least. Without,
    as the published program does: matches of weight 1 are most, then chunks fewest, then matches of
    any weight most, so that a doubtful stem or synonym is matched only where it costs no chunk.

    A beam of 40 alignments is followed through the candidate, which is exact for all but very
    repetitive texts.

    Args:
        options: Per word of the candidate, its possible matches: place of the reference and weight;
            a place can stand twice, with different weights.
        cover: Which alignment is best.

    Returns:
        Matches in the candidate's order, no place used twice.
    """
    # Equal words share one list of choices, which is counted once: texts can repeat a word a lot.
    wanted: Counter[int] = Counter()
    repeats = Counter(map(id, options))
    for choices in {id(choices): choices for choices in options}.values():
        for place, _ in choices:
            wanted[place] += repeats[id(choices)]
    sure = [len(choices) == 1 and wanted[choices[0][0]] == 1 for choices in options]
    rank = _cover if cover else _published
    beam = [_State(0, -2, 0, 0, 0, 0)]
    for position, choices in enumerate(options):
        best: dict[tuple[int, int], _State] = {}
        for state in beam:
            for following in _steps(state, position, choices, sure[position]):
                key = (following.used, following.last)
                known = best.get(key)
                if known is None or rank(following) < rank(known):
                    best[key] = following
        beam = sorted(best.values(), key=rank)[:BEAM] if len(best) > 1 else list(best.values())
    found = []
    newest: _State | None = beam[0]
    while newest is not None:
        if newest.match is not None:
            found.append(newest.match)
        newest = newest.parent
    return found[::-1]


def _steps(
    state: _State, position: int, choices: Sequence[tuple[int, float]], sure: bool
) -> Iterator[_State]:
    if not sure:
        yield replace(state, last=-2, match=None, parent=state)
    for place, weight in _tried(choices, position, state.last + 1):
        if not state.used >> place & 1:
            yield _State(
                used=state.used | 1 << place,
                last=place,
                covered=state.covered + 1,
                exact=state.exact + (sure or weight >= 1),
                chunks=state.chunks + (place != state.last + 1),
                distance=state.distance + abs(position - place),
                match=Match(position, place, weight),
                parent=state,
            )


def _tried(
    choices: Sequence[tuple[int, float]], position: int, following: int
) -> Sequence[tuple[int, float]]:
    """All places, or of many those near the same position and near the one that continues."""
    if len(choices) <= 4 * NEAR:
        return choices
    tried: set[tuple[int, float]] = set()
    for expected in (position, following):
        middle = bisect_left(choices, (expected, 0.0))
        tried.update(choices[max(0, middle - NEAR) : middle + NEAR])
    return sorted(tried)
