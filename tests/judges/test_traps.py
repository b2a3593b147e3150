"""Planted judges that give probabilities: each trap catches its own, and no other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from beholder.backends.decisions import (
    ChoiceQuestion,
    Decision,
    DecisionCall,
    DecisionQuestion,
    QuestionLimits,
)
from beholder.judges.answers import Answers
from beholder.judges.decisions.judge import DecisionJudge
from beholder.judges.operations import Question
from beholder.judges.probes import Probe, ProbeKind, fitness
from beholder.judges.traps import (
    N_CALLS,
    TrapReport,
    check_traps,
    find_step,
    trap_texts,
)
from toy.planted_decisions import PlantedDecisions

STATED = {
    wording.casefold(): verdict
    for text in trap_texts()
    for fact in text.facts
    for wording, verdict in (
        (fact.stated, 0.9),
        (fact.reworded, 0.9),
        (fact.denied, 0.1),
    )
}
RIGHT = {
    trap.question: trap.options[trap.right]
    for text in trap_texts()
    for trap in text.choices
}
AT_THE_END = ("parrot", "ladder", "violin", "honey", "kettle")


def choose(question: ChoiceQuestion, answer: str) -> Decision:
    """Give 0.7 to an option by its words."""
    return Decision(
        tuple(
            0.7
            if answer in (name, about)
            else 0.3 / (len(question.options) - 1)
            for name, about in question.options
        )
    )


def know(call: DecisionCall, question: DecisionQuestion) -> float | Decision:
    """Answer as a judge without faults does."""
    text = call.state["description"]
    if isinstance(question, ChoiceQuestion):
        return choose(question, RIGHT[question.instructions])
    claim = question.instructions
    for thing in AT_THE_END:
        if claim.endswith((f"a {thing}", f": {thing}")):
            return 0.9 if thing in text else 0.1
    words = claim.partition(": ")[2].casefold()
    if words in STATED:
        return STATED[words]
    return (
        0.8
        if any(claim.endswith(unit) for unit in (" a man", " ducks"))
        else 0.1
    )


def check(
    answer: Callable[
        [DecisionCall, DecisionQuestion], float | Decision
    ] = know,
    **options: object,
) -> tuple[dict[str, float | None], TrapReport, int]:
    backend = PlantedDecisions(
        lambda call: [answer(call, question) for question in call.questions],
        **options,  # type: ignore[arg-type]
    )
    answers = Answers()
    report = asyncio.run(
        check_traps(DecisionJudge(backend, answers=answers), answers)
    )
    values = {bias.name: bias.value for bias in report.biases}
    return values, report, len(backend.requests)


def test_there_are_twenty_choices_and_facts_with_one_right_answer_each() -> (
    None
):
    texts = trap_texts()
    assert [(len(t.choices), len(t.facts)) for t in texts] == [(4, 4)] * 5
    assert len(RIGHT) == 20
    assert len(STATED) == 60
    assert {trap.right for text in texts for trap in text.choices} == {
        0,
        1,
        2,
        3,
    }


def test_a_judge_without_faults_falls_into_no_trap() -> None:
    values, report, n_calls = check()
    assert values == dict.fromkeys(values, 0.0)
    assert len(values) == 8
    assert report.right_choices == (20, 20)
    assert [end.n_seen for end in report.ends] == [5, 5, 5, 5]
    assert n_calls == N_CALLS
    for bias in report.biases:
        assert bias.interval is not None
        assert bias.n in (12, 15, 20)


def flipping(
    call: DecisionCall, question: DecisionQuestion
) -> float | Decision:
    # The first option wins, whatever it is.
    return (
        0.7 if isinstance(question, ChoiceQuestion) else know(call, question)
    )


def naming(call: DecisionCall, question: DecisionQuestion) -> float | Decision:
    # Options with numbers as names: the first wins in three of four questions.
    if (
        isinstance(question, ChoiceQuestion)
        and question.options[0][1] is not None
    ):
        n_questions = call.questions.index(question)
        if n_questions < 3:
            return choose(question, "the text does not say")
    return know(call, question)


def joint(call: DecisionCall, question: DecisionQuestion) -> float | Decision:
    # In company a probability is 0.2 lower, and at the end 0.1 higher again.
    value = know(call, question)
    if isinstance(value, Decision) or len(call.questions) != 12:
        return value
    if call.state["description"] in {text.text for text in trap_texts()}:
        return value
    lowered = max(0.0, value - 0.2)
    return lowered + 0.1 if question is call.questions[-1] else lowered


def agreeing(
    call: DecisionCall, question: DecisionQuestion
) -> float | Decision:
    value = know(call, question)
    is_fact = "other words: " in getattr(question, "instructions", "")
    if isinstance(value, float) and is_fact and value == 0.1:
        words = question.instructions.partition(": ")[2].casefold()
        return 0.9 if words in STATED else value
    return value


def literal(
    call: DecisionCall, question: DecisionQuestion
) -> float | Decision:
    words = question.instructions.partition(": ")[2]
    reworded = {fact.reworded for t in trap_texts() for fact in t.facts[:2]}
    return 0.2 if words in reworded else know(call, question)


def cutting(
    call: DecisionCall, question: DecisionQuestion
) -> float | Decision:
    text = call.state["description"][:10_000]
    return know(DecisionCall({"description": text}, call.questions), question)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # 15 of 20 right answers are neither first nor last: all choices flip.
        (flipping, {"order of options": 1.0}),
        # Of the three changed choices of a text none has this right answer.
        (naming, {"names of options": 15 / 20}),
        # Alone 0.8 (2 of 12) or 0.1 (10); in company 0.6 or 0; the last is 0.1 higher,
        # except that the list itself ends with a question of its own.
        (
            joint,
            {
                "company of questions": (2 * 0.2 + 9 * 0.1 + 1 * 0.0) / 12,
                "place among questions": 11 * 0.1 / 12,
            },
        ),
        (agreeing, {"negation": 1.0}),
        (literal, {"literal reading": 10 / 20}),
        # 10,000 characters are about 4,000 tokens: the two longer texts are cut.
        (cutting, {"cutting of long texts": 10 / 15}),
    ],
)
def test_each_trap_catches_the_judge_that_is_made_for_it(
    answer: Callable[[DecisionCall, DecisionQuestion], float | Decision],
    expected: dict[str, float],
) -> None:
    values, _, _ = check(answer)
    changed = {name: value for name, value in values.items() if value}
    assert changed == {
        name: pytest.approx(value) for name, value in expected.items()
    }


def test_whether_the_state_counts_once_is_seen_in_the_tokens() -> None:
    # A text of 600 tokens and 20 a question, or both for each question.
    limits = QuestionLimits(max_questions=80)
    for count, is_once, tokens in (
        (lambda call: 600 + 20 * len(call.questions), True, (620, 2200)),
        (lambda call: 620 * len(call.questions), False, (620, 49_600)),
        (
            lambda call: call.to_request().estimated_tokens(),
            None,
            (None, None),
        ),
    ):
        _, report, _ = check(count_tokens=count, limits=limits)
        state = report.state_count
        assert state is not None
        assert state.n_questions == 80
        assert state.is_once is is_once
        assert (state.tokens_of_one, state.tokens_of_all) == tokens


def test_small_windows_get_shorter_texts_and_a_refusal_is_no_cut() -> None:
    values, report, _ = check(limits=QuestionLimits(window=4_000))
    assert [end.n_tokens < 4_000 for end in report.ends] == [True] * 3

    def refusing(
        call: DecisionCall, question: DecisionQuestion
    ) -> float | Decision:
        too_long = len(call.state["description"]) > 10_000
        return Decision(reason="refused") if too_long else know(call, question)

    values, report, _ = check(refusing)
    assert values["cutting of long texts"] == 0.0
    assert [end.reason for end in report.ends] == [
        "",
        "",
        "refused",
        "refused",
    ]


def test_smallest_step_is_a_power_of_ten() -> None:
    for probabilities, step in (
        ([0.0, 1.0], 1.0),
        ([0.97, 0.5], 0.01),
        ([0.9713], 0.0001),
        ([0.123456789], None),
    ):
        assert find_step(probabilities) == step


def test_calibration_of_a_judge_that_is_wrong_by_a_known_amount() -> None:
    # Stated units get 0.8 and are stated in 3 of 4 cases; others 0.4 and 1 of 4.
    text = "A red cup."
    cases: dict[str, tuple[ProbeKind, ...]] = {
        "high": ("true", "true", "true", "foreign"),
        "low": ("true", "foreign", "foreign", "foreign"),
    }
    probes = [
        Probe(text, Question("entity", f"{name} {n}"), kind)
        for name, kinds in cases.items()
        for n, kind in enumerate(kinds)
    ]
    backend = PlantedDecisions(
        lambda call: [
            0.8 if "high" in question.instructions else 0.4
            for question in call.questions
        ]
    )
    fit = asyncio.run(
        fitness(
            DecisionJudge(backend),
            selection=probes,
            threshold=3,
            together=True,
        )
    )
    # All units of a text are in one call.
    first = DecisionCall.from_request(backend.requests[0])
    assert len(first.questions) == len(probes)
    assert fit.brier is not None
    assert fit.calibration_error is not None
    # 3 * .04 + .64 for the high ones, .36 + 3 * .16 for the low ones.
    assert fit.brier.mean == pytest.approx((0.76 + 0.84) / 8)
    # |.8 - .75| and |.4 - .25|, four each.
    assert fit.calibration_error.mean == pytest.approx(0.1)
