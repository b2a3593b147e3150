"""Categories of a picture or a text, and what a picture does on its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from beholder.backends.decisions import ChoiceQuestion
from beholder.judges.decisions.decider import Decider
from beholder.judges.decisions.methods.base import (
    Method,
    choose_likeliest,
    language_state,
    word_question,
)
from beholder.judges.operations import (
    Category,
    Classify,
    PlaceText,
    TextAnswer,
)
from beholder.judges.operations.classify import Clarity
from beholder.judges.operations.place import (
    NO,
    QUESTIONS,
    UNCLEAR,
    format_context,
)

_NOT = "does not apply"
_AT_MOST = 2


async def ask_categories(
    decider: Decider, operation: Classify
) -> list[Category]:
    """Return the two likeliest categories that apply; a second High is Medium.

    That at most two are named, and one as High, is a rule of the operation and not the model's.
    """
    clarities = get_args(Clarity)
    options = tuple(
        (name, word_question(decider, name.lower().replace(" ", "_")))
        for name in (*clarities, _NOT)
    )
    questions = [
        ChoiceQuestion(
            word_question(
                decider, "category", {"name": name, "meaning": meaning}
            ),
            options,
        )
        for name, meaning in operation.categories.items()
    ]
    state = {} if operation.text is None else {"text": operation.text}
    answers = await decider.decide_all(
        state, questions, images=operation.images
    )
    rows = [
        (probabilities[-1], name, probabilities)
        for name, probabilities in zip(
            operation.categories, answers, strict=True
        )
    ]
    categories: list[Category] = []
    for _, name, probabilities in sorted(rows, key=lambda row: row[0]):
        rating = choose_likeliest([*clarities, _NOT], probabilities, (_NOT,))
        if rating == _NOT or len(categories) == _AT_MOST:
            continue
        if rating == "High" and any(c.rating == "High" for c in categories):
            rating = "Medium"
        categories.append(Category(name, rating))
    return categories


async def ask_place(
    decider: Decider, operation: PlaceText
) -> list[TextAnswer | None]:
    """Return the likeliest answer to each question about the page; a tie is unclear.

    An answer that decides has no quote as evidence, which a decision model does not give.
    """
    seen = "seen" if operation.images else "unseen"
    note = word_question(decider, seen)
    all_answers = [(*deciding, NO, UNCLEAR) for deciding in QUESTIONS.values()]
    questions = [
        ChoiceQuestion(
            f"{note} {word_question(decider, name)}",
            tuple(
                (
                    answer,
                    word_question(
                        decider, f"{name}_{answer.replace(' ', '_')}"
                    ),
                )
                for answer in answers
            ),
        )
        for name, answers in zip(QUESTIONS, all_answers, strict=True)
    ]
    state = {
        "alternative text": operation.text,
        "context": format_context(operation.context),
        **language_state(operation.language),
    }
    decisions = await decider.decide(state, questions, images=operation.images)
    return [
        None
        if decision.reason
        else TextAnswer(
            choose_likeliest(answers, decision.probabilities, (UNCLEAR,))
        )
        for answers, decision in zip(all_answers, decisions, strict=True)
    ]


METHODS: Mapping[type, Method] = {
    Classify: ask_categories,
    PlaceText: ask_place,
}
