"""Criteria and questions that a text or pictures answer: one choice each, without a quote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beholder.backends import Image
from beholder.backends.decisions import (
    ChoiceQuestion,
    PredicateQuestion,
    ScoreQuestion,
)
from beholder.judges.decisions.decider import Decider
from beholder.judges.decisions.methods.base import (
    Method,
    choose_likeliest,
    described_levels,
    language_state,
    mean_level,
    name_options,
    word_question,
)
from beholder.judges.operations import (
    AnswerFromPictures,
    AnswerMatch,
    AnswerQuestions,
    CheckCriteria,
    MatchAnswers,
    TextAnswer,
)
from beholder.judges.operations.answer import (
    CONTRADICTED,
    MET,
    NOT_MENTIONED,
)
from beholder.judges.operations.match_answers import HIGHEST_GRADE


async def ask_criteria(
    decider: Decider, operation: CheckCriteria
) -> list[TextAnswer | None]:
    """Return the likeliest state of each criterion; a tie is the more cautious state.

    The states have no quote, which a decision model does not give.
    """
    questions = []
    for index, criterion in enumerate(operation.criteria):
        is_demand = index in operation.demands
        section = "demand" if is_demand else "criterion"
        states = (MET, CONTRADICTED) if is_demand else _STATES
        options = tuple(
            (state, word_question(decider, state.replace(" ", "_")))
            for state in states
        )
        question = word_question(decider, section, {"criterion": criterion})
        questions.append(ChoiceQuestion(question, options))
    decisions = await decider.decide(
        {"text": operation.text, **language_state(operation.language)},
        questions,
    )
    # The order of caution: no mention, then a contradiction.
    return [
        None
        if decision.reason
        else TextAnswer(
            choose_likeliest(
                [name for name, _ in question.options],
                decision.probabilities,
                (NOT_MENTIONED, CONTRADICTED),
            )
        )
        for question, decision in zip(questions, decisions, strict=True)
    ]


_STATES = (MET, CONTRADICTED, NOT_MENTIONED)


async def ask_questions(
    decider: Decider, operation: AnswerQuestions
) -> list[TextAnswer | None]:
    """Return the likeliest option of each question; a tie is the silent option, if there is one.

    A question that the text need not answer gets one more option, which says so.
    """
    questions = []
    all_options: list[list[str | None]] = []
    for question in operation.questions:
        options: list[str | None] = list(question.options)
        texts = list(question.options)
        if question.third and question.silent_option is None:
            options.append(None)
            texts.append(word_question(decider, "silent"))
        all_options.append(options)
        questions.append(
            ChoiceQuestion(
                word_question(decider, "question", {"text": question.text}),
                name_options(texts),
            )
        )
    images: Sequence[Image] = ()
    state = language_state(operation.language)
    if isinstance(operation, AnswerFromPictures):
        images = operation.images
    else:
        state = {"text": operation.text, **state}
    decisions = await decider.decide(state, questions, images=images)
    rows = zip(operation.questions, all_options, decisions, strict=True)
    return [
        None
        if decision.reason
        else TextAnswer(
            choose_likeliest(
                options, decision.probabilities, (question.silent_option,)
            )
        )
        for question, options, decision in rows
    ]


def has_open_question(operation: AnswerQuestions) -> bool:
    """Return whether an answer must be written, as there is nothing to choose from."""
    return any(not question.options for question in operation.questions)


async def ask_answer_matches(
    decider: Decider, operation: MatchAnswers
) -> list[AnswerMatch]:
    """Return whether each answer means the same (p > 0.5), and the expected grade, 0..5."""
    state = language_state(operation.language)
    questions: list[PredicateQuestion | ScoreQuestion] = []
    levels = described_levels(decider, range(HIGHEST_GRADE + 1))
    for number, answer in enumerate(operation.answers):
        name = f"item {number}"
        state[name] = (
            f"Question: {answer.question}\nRight answer: {answer.right}\n"
            f"Given answer: {answer.answer}"
        )
        questions += [
            PredicateQuestion(word_question(decider, "same", {"item": name})),
            ScoreQuestion(
                word_question(decider, "grade", {"item": name}), levels
            ),
        ]
    answers = iter(await decider.decide_all(state, questions))
    return [
        AnswerMatch(same=same > 0.5, grade=mean_level(grade))
        for (same,), grade in zip(answers, answers, strict=True)
    ]


METHODS: Mapping[type, Method] = {
    CheckCriteria: ask_criteria,
    AnswerQuestions: ask_questions,
    AnswerFromPictures: ask_questions,
    MatchAnswers: ask_answer_matches,
}
