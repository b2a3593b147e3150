"""Sequences of pictures and steps in them, rated from 1 to 10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beholder.backends import Image
from beholder.backends.decisions import (
    DecisionQuestion,
    PredicateQuestion,
    ScoreQuestion,
)
from beholder.judges.decisions.decider import Decider
from beholder.judges.decisions.methods.base import (
    Method,
    described_levels,
    mean_level,
    word_question,
)
from beholder.judges.operations import (
    BREAK_KINDS,
    JudgedFrame,
    RateSequence,
    RateTransition,
    Rating,
)
from beholder.judges.operations.rating import images_of

_LOWEST, _HIGHEST = 1, 10


async def ask_sequence_rating(
    decider: Decider, operation: RateSequence
) -> Rating:
    """Return the expected rating, rounded; there is no reason.

    Rated examples come before the sequence, as pictures or as texts, with their ratings.
    """
    state = {"context": operation.context} if operation.context else {}
    images: list[Image] = []
    for number, example in enumerate(operation.examples, 1):
        name = f"example {number}, rated {example.value} of {_HIGHEST}"
        state |= _frame_texts(name, example.frames)
        example_images = images_of(example.frames)
        if example_images:
            # Pictures have no names, so their places say which they are.
            first, last = len(images) + 1, len(images) + len(example_images)
            state[name] = f"pictures {first} to {last}"
        images += example_images
    state |= _frame_texts("sequence", operation.frames)
    n_example_images = len(images)
    images += images_of(operation.frames)
    place = word_question(decider, "from", {"n": str(n_example_images + 1)})
    question = word_question(decider, "sequence")
    if n_example_images:
        question = f"{question} {place}"
    levels = described_levels(decider, range(_LOWEST, _HIGHEST + 1))
    [probabilities] = await decider.decide_all(
        state, [ScoreQuestion(question, levels)], images=images
    )
    return Rating(round(_LOWEST + mean_level(probabilities)), reason="")


async def ask_transition_rating(
    decider: Decider, operation: RateTransition
) -> Rating:
    """Return the expected rating of a step, rounded, and each break with p > 0.5."""
    state = {"context": operation.context} if operation.context else {}
    frames = operation.judged_frames
    levels = described_levels(decider, range(_LOWEST, _HIGHEST + 1))
    questions: list[DecisionQuestion] = [
        ScoreQuestion(word_question(decider, "step"), levels),
        *(
            PredicateQuestion(word_question(decider, kind))
            for kind in BREAK_KINDS
        ),
    ]
    rating, *breaks = await decider.decide_all(
        state | _frame_texts("picture", frames),
        questions,
        images=images_of(frames),
    )
    return Rating(
        round(_LOWEST + mean_level(rating)),
        reason="",
        breaks=tuple(
            kind
            for kind, (probability,) in zip(BREAK_KINDS, breaks, strict=True)
            if probability > 0.5
        ),
    )


def _frame_texts(name: str, frames: Sequence[JudgedFrame]) -> dict[str, str]:
    """Return note and caption of each picture that has words, by its number."""
    texts = {}
    for number, frame in enumerate(frames, 1):
        words = " ".join(filter(None, (frame.note, frame.caption)))
        if words or frame.image is None:
            texts[f"{name}, {number}"] = words or "(no words)"
    return texts


METHODS: Mapping[type, Method] = {
    RateSequence: ask_sequence_rating,
    RateTransition: ask_transition_rating,
}
