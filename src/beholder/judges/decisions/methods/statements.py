"""Claims: are they supported, and which reference statement says them?"""

from __future__ import annotations

from collections.abc import Mapping

from beholder.backends.decisions import ChoiceQuestion, PredicateQuestion
from beholder.errors import ConfigError
from beholder.judges.decisions.decider import Decider
from beholder.judges.decisions.methods.base import (
    Method,
    language_state,
    word_question,
)
from beholder.judges.operations import MatchNearest, MatchStatements, Verify

NO_MATCH = "none"


async def ask_support(decider: Decider, operation: Verify) -> list[bool]:
    """Return for each claim whether the evidence supports it: p > 0.5, as a tie is no support."""
    section = "both"
    if not operation.images:
        section = "reference"
    elif operation.reference is None:
        section = "picture"
    questions = [
        PredicateQuestion(word_question(decider, section, {"claim": claim}))
        for claim in operation.claims
    ]
    state = language_state(operation.language)
    if operation.reference is not None:
        state["reference"] = operation.reference
    answers = await decider.decide_all(
        state, questions, images=operation.images
    )
    return [supported > 0.5 for (supported,) in answers]


async def ask_match(
    decider: Decider, operation: MatchStatements
) -> list[int | None]:
    """Return for each claim the likeliest reference, or None if no reference is likelier.

    More references than a choice takes are asked in rounds, whose winners meet.
    """
    if not operation.references:
        return [None] * len(operation.claims)
    room = decider.limits.max_options - 1
    if room < 2 and len(operation.references) > room:
        raise ConfigError(
            f"{decider.asker.backend.name}: with max_options="
            f"{room + 1} no statement can be compared with another; expected"
            " at least 3"
        )
    candidates = [list(range(len(operation.references)))] * len(
        operation.claims
    )
    while True:
        # Each round asks all claims about as many references as fit; it ends
        # when one choice holds all that are left of a claim.
        blocks = [
            (claim, ids[start : start + room])
            for claim, ids in enumerate(candidates)
            for start in range(0, len(ids), room)
        ]
        winners = await _ask_blocks(decider, operation, blocks)
        is_last = all(len(ids) <= room for ids in candidates)
        candidates = [[] for _ in operation.claims]
        for (claim, _), winner in zip(blocks, winners, strict=True):
            if winner is not None:
                candidates[claim].append(winner)
        if is_last:
            return [ids[0] if ids else None for ids in candidates]


async def _ask_blocks(
    decider: Decider,
    operation: MatchStatements,
    blocks: list[tuple[int, list[int]]],
) -> list[int | None]:
    """Return the winning reference of each block of references, or None."""
    questions = [
        ChoiceQuestion(
            word_question(
                decider, "claim", {"claim": operation.claims[claim]}
            ),
            (
                *((f"r{i}", operation.references[i]) for i in ids),
                # Models treat the last option in a special way.
                (NO_MATCH, word_question(decider, "none")),
            ),
        )
        for claim, ids in blocks
    ]
    answers = await decider.decide_all(
        language_state(operation.language), questions
    )
    winners: list[int | None] = []
    for (_, ids), probabilities in zip(blocks, answers, strict=True):
        *matches, no_match = probabilities
        best = max(range(len(ids)), key=matches.__getitem__, default=None)
        is_match = best is not None and matches[best] > no_match
        winners.append(ids[best] if is_match and best is not None else None)
    return winners


METHODS: Mapping[type, Method] = {
    Verify: ask_support,
    MatchStatements: ask_match,
    MatchNearest: ask_match,
}
