"""Panels of judges, and judges built from text; values by hand."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from beholder import judges
from beholder.backends import Image, Request, Scripted
from beholder.errors import ConfigError, UnknownNameError
from beholder.judges import Answers, Draw, LLMJudge, Panel
from beholder.judges.answer_file import AnswerFile
from beholder.judges.answers import InMemory
from beholder.judges.operations import (
    OPERATIONS,
    AlignWords,
    AnswerFromPictures,
    AnswerQuestions,
    Assess,
    AssessInContext,
    CheckCriteria,
    Compare,
    Contradict,
    GradeDescription,
    JudgedFrame,
    MatchAnswers,
    MatchNearest,
    MatchStatements,
    NameSubjects,
    OpenAnswer,
    Operation,
    PlaceText,
    Presence,
    PresenceList,
    Question,
    Rank,
    RateSequence,
    RateTransition,
    Rewrite,
    TextQuestion,
    Verify,
)
from beholder.judges.operations.base import PanelOperation
from toy.cases import each_case

FRAMES = [JudgedFrame(caption="a"), JudgedFrame(caption="b")]


def judge_who_says(value: object) -> LLMJudge:
    text = value if isinstance(value, str) else json.dumps(value)
    return LLMJudge(Scripted(lambda request: text), samples=1)


def test_grades_are_averaged_and_each_judge_kept() -> None:
    answers = InMemory()
    panel = Panel(
        [judge_who_says(grade) for grade in ("2", "3", "5")], answers
    )
    grade = asyncio.run(
        panel.ask(Presence([Question("entity", "cat")], "A cat."))
    )[0]
    assert grade.value == pytest.approx(10 / 3)
    assert grade.probabilities == pytest.approx((0, 1 / 3, 1 / 3, 0, 1 / 3))
    grades_by_judge = {
        judge: value for (_, _, judge), value in answers.ratings.items()
    }
    assert grades_by_judge == {"judge 0": 2.0, "judge 1": 3.0, "judge 2": 5.0}


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        ((True, True, False), True),
        ((True, False), False),
        ((False,) * 3, False),
    ],
)
def test_majority_decides_and_a_tie_is_not_supported(
    votes: tuple[bool, ...], verdict: bool
) -> None:
    members = [
        judge_who_says({"rows": [{"id": 0, "supported": vote}]})
        for vote in votes
    ]
    panel = Panel(members, InMemory())
    assert asyncio.run(panel.ask(Verify(["a"], reference="R"))) == [verdict]


def test_match_without_majority_is_no_match() -> None:
    def says(reference: int | None) -> LLMJudge:
        return judge_who_says({"matches": [{"id": 0, "reference": reference}]})

    references = ["x", "y", "z"]
    panel = Panel([says(0), says(0), says(2)], InMemory())
    assert asyncio.run(panel.ask(MatchStatements(["a"], references))) == [0]
    panel = Panel([says(0), says(1), says(2)], InMemory())
    assert asyncio.run(panel.ask(MatchStatements(["a"], references))) == [None]


def test_ratings_and_ranks_are_averaged() -> None:
    panel = Panel(
        [
            judge_who_says({"reason": r, "score": s})
            for r, s in (("x", 4), ("y", 9))
        ],
        InMemory(),
    )
    rating = asyncio.run(panel.ask(RateSequence(FRAMES)))
    assert (rating.value, rating.reason) == (
        6,
        "x | y",
    )  # 6.5 rounds half to even
    panel = Panel(
        [judge_who_says({"ranks": r}) for r in ([1, 2, 3], [3, 1, 2])],
        InMemory(),
    )
    # Mean ranks 2, 1.5, 2.5.
    assert asyncio.run(panel.ask(Rank(["a", "b", "c"]))) == [2, 1, 3]


def test_replicates_ask_the_same_model_again_and_are_kept_apart() -> None:
    replicates: list[int] = []

    def answer(request: Request) -> str:
        replicates.append(request.replicate)
        return json.dumps({"reason": "", "score": 3 + request.replicate})

    member = LLMJudge(Scripted(answer))
    answers = InMemory()
    panel = Panel([member] * 3, answers)
    assert (
        asyncio.run(
            panel.ask(RateSequence(FRAMES), Draw(temperature=0.7))
        ).value
        == 4
    )
    assert sorted(replicates) == [0, 1, 2]
    assert sorted(answers.ratings.values()) == [3.0, 4.0, 5.0]
    asyncio.run(panel.ask(RateSequence(FRAMES), Draw(1, 0.7)))
    assert sorted(replicates) == [0, 1, 2, 3, 4, 5]
    # The repeat is rated beside the first, and does not take its place.
    assert sorted(answers.ratings.values()) == [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    assert {judge for (_, _, judge) in answers.ratings} == {
        "judge 0",
        "judge 1",
        "judge 2",
    }


def test_panel_and_replicates_are_built_from_text(tmp_path: Path) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text(
        '{"contains": "story", "answer": {"reason": "", "score": 8}}\n'
    )
    file = AnswerFile(tmp_path / "run.sqlite")
    panel = judges.judge(
        f"scripted(model={str(rules)!r}, replicates=3)", answers=Answers(file)
    )
    assert asyncio.run(panel.ask(RateSequence(FRAMES))).value == 8
    assert panel.identity.count("t=0.7") == 3
    assert [row[2:] for row in file.ratings()] == [
        (f"judge {i}", 8.0) for i in range(3)
    ]
    file.close()
    two = judges.judge(
        f"panel(scripted:{rules}, scripted(model={str(rules)!r}, samples=3))"
    )
    assert asyncio.run(two.ask(RateSequence(FRAMES))).value == 8
    assert re.match(
        r"panel\(scripted:scripted\+[0-9a-f]{8}\(mean of 5,", two.identity
    )


@each_case(
    ("text", "message"),
    [
        (
            "opnai:m",
            r"no judge is called 'opnai'; did you mean 'openai'.*openai:MODEL.*panel",
        ),
        ("claude-x", "this model at Anthropic, write anthropic:claude-x"),
        (
            "gemini-9-flash-x",
            "this model at Google, write gemini:gemini-9-flash-x",
        ),
        ("gpt-x", "this model at OpenAI, write openai:gpt-x"),
        ("openai", "'openai' needs a model; write for example openai:MODEL"),
        ("openai(model='m', temprature=1)", "temprature"),
        (
            "openai(model='m', temperature=3)",
            "temperature=3: expected a number from 0 to 2",
        ),
        (
            "openai(model='m', concurrency=0)",
            "concurrency=0: expected a number above 0",
        ),
        ("openai(model='m', replicates=0)", "replicates=0"),
        (
            "openai('m', replicates=2, temperature=0)",
            "2 replicates at temperature 0 would repeat",
        ),
        ("panel(openai:a)", "at least two judges"),
    ],
)
def test_specs_that_cannot_be_built_say_why(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        judges.judge(text)


def test_unknown_judge_is_an_unknown_name() -> None:
    with pytest.raises(UnknownNameError):
        judges.judge("nobody:x")


def test_assessments_are_averaged_by_aspect_with_all_reasons() -> None:
    answers = InMemory()
    values = [
        {"reason": "a", "overall": 2, "mistakes": 5},
        {"reason": "b", "overall": 5, "mistakes": 5},
    ]
    panel = Panel([judge_who_says(value) for value in values], answers)
    assessment = asyncio.run(
        panel.ask(
            Assess("A cat.", ("overall", "mistakes"), references=["A cat."])
        )
    )
    assert assessment.grades == {"overall": 3.5, "mistakes": 5.0}
    assert assessment.reason == "a | b"
    assert sorted(answers.ratings.values()) == [2.0, 5.0, 5.0, 5.0]


def test_a_panel_sees_only_if_all_its_members_do() -> None:
    sees, blind = (
        LLMJudge(Scripted(lambda request: "5", images=eyes))
        for eyes in (True, False)
    )
    Panel([sees, sees], InMemory()).check_can(GradeDescription, images=True)
    with pytest.raises(ConfigError, match="does not take pictures"):
        Panel([sees, blind], InMemory()).check_can(
            GradeDescription, images=True
        )


PICTURE = Image(b"", "image/png")


def turns(
    says: dict[int, object], model: str = "scripted"
) -> tuple[LLMJudge, Scripted]:
    """A model that says one thing per replicate."""

    def answer(request: Request) -> str:
        value = says[request.replicate]
        return value if isinstance(value, str) else json.dumps(value)

    backend = Scripted(answer, model=model)
    return LLMJudge(backend, samples=1), backend


@dataclass(frozen=True)
class Merged:
    """One operation as a panel of two replicates answers it, by hand.

    Attributes:
        operation: What is asked.
        says: What the two say.
        together: Takes what is compared from the panel's answer.
        expected: That, by hand.
        noted: The numbers kept for agreement.
    """

    operation: Operation[Any]
    says: tuple[object, object]
    together: Callable[[Any], object]
    expected: object
    noted: tuple[float, ...]


def placed(*answers: str) -> dict[str, object]:
    rows = [
        {"id": i, "answer": a, "evidence": "none", "quote": None}
        for i, a in enumerate(answers)
    ]
    return {"rows": rows}


MERGED = {
    "presence": Merged(
        Presence([Question("entity", "cat")], "A cat."),
        ("2", "5"),
        lambda grades: grades[0].value,
        3.5,
        (2.0, 5.0),
    ),
    "compare": Merged(
        Compare("A cat.", "A dog.", [PICTURE]),
        (
            {"reason": "the animal", "better": "first"},
            {"reason": "the tail", "better": "tie"},
        ),
        lambda answer: (answer.better, answer.reason),
        # (1 + 0.5) / 2 is a quarter from half, and one vote of two moves the mean as far.
        ("first", "the animal | the tail"),
        (0.5, 1.0),
    ),
    "match_nearest": Merged(
        MatchNearest(["a"], ["x", "y"]),
        (
            {"matches": [{"id": 0, "reference": 1}]},
            {"matches": [{"id": 0, "reference": 1}]},
        ),
        lambda answer: answer,
        [1],
        (),
    ),
    "match": Merged(
        MatchStatements(["a"], ["x", "y"]),
        (
            {"matches": [{"id": 0, "reference": 1}]},
            {"matches": [{"id": 0, "reference": 1}]},
        ),
        lambda answer: answer,
        [1],
        (),
    ),
    "contradict": Merged(
        Contradict([Question("entity", "dog")], "A cat sleeps."),
        (
            {"rows": [{"id": 0, "instead": "a cat"}]},
            {"rows": [{"id": 0, "instead": None}]},
        ),
        lambda answer: answer,
        [None],
        (0.0, 1.0),
    ),
    "check_criteria": Merged(
        CheckCriteria(["A cat."], "A cat sleeps."),
        (
            {"rows": [{"id": 0, "state": "contradicted", "quote": "sleeps"}]},
            {"rows": [{"id": 0, "state": "met", "quote": "a cat"}]},
        ),
        lambda answer: [
            (part.state, part.spans, part.tied, part.changed)
            for part in answer
        ],
        [("contradicted", ((6, 12),), True, True)],  # a tie is never met
        (0.0, 1.0),
    ),
    "answer_questions": Merged(
        AnswerQuestions(
            [TextQuestion("Who?", ("a cat", "a dog"))], "A cat sleeps."
        ),
        (
            {"rows": [{"id": 0, "choice": "A", "quote": "cat"}]},
            {"rows": [{"id": 0, "choice": "B", "quote": "cat"}]},
        ),
        lambda answer: [
            (part.state, part.spans, part.tied) for part in answer
        ],
        [("", (), True)],  # no option, so it is wrong
        (0.0, 1.0),
    ),
    "answer_from_pictures": Merged(
        AnswerFromPictures(
            [TextQuestion("Who?", ("a cat", "a dog"))],
            images=[Image(b"x", "image/png")],
        ),
        (
            {"rows": [{"id": 0, "choice": None, "quote": None}]},
            {"rows": [{"id": 0, "choice": "B", "quote": None}]},
        ),
        lambda answer: [(part.state, part.tied) for part in answer],
        [(None, True)],  # not shown
        (0.0, 1.0),
    ),
    "match_answers": Merged(
        MatchAnswers([OpenAnswer("Who?", "a cat", "a dog")]),
        (
            {"rows": [{"id": 0, "same": True, "grade": 4}]},
            {"rows": [{"id": 0, "same": False, "grade": 1}]},
        ),
        lambda answer: [tuple(part) for part in answer],
        [(False, 2.5)],
        (1.0, 4.0),
    ),
    "name_subjects": Merged(
        NameSubjects([("<cat>", "A cat sleeps.")], "A cat sleeps."),
        (
            {"rows": [{"id": 0, "entity": "the cat", "quote": "a cat"}]},
            {"rows": [{"id": 0, "entity": "THE  CAT", "quote": "cat"}]},
        ),
        lambda answer: [
            (part.state, part.spans, part.changed) for part in answer
        ],
        [("the cat", ((0, 5),), False)],
        (0.0, 0.0),
    ),
    "presence_list": Merged(
        PresenceList([Question("entity", "cat")], "A cat."),
        (
            {"rows": [{"id": 0, "grade": 1, "quote": None}]},
            {"rows": [{"id": 0, "grade": 5, "quote": "cat"}]},
        ),
        lambda grades: grades[0].value,
        3.0,
        (1.0, 5.0),
    ),
    "verify": Merged(
        Verify(["a"], reference="R"),
        (
            {"rows": [{"id": 0, "supported": True}]},
            {"rows": [{"id": 0, "supported": False}]},
        ),
        lambda answer: answer,
        [False],
        (0.0, 1.0),
    ),
    "rate_sequence": Merged(
        RateSequence(FRAMES),
        ({"reason": "x", "score": 3}, {"reason": "y", "score": 8}),
        lambda rating: (rating.value, rating.reason),
        (6, "x | y"),  # 5.5 rounds half to even
        (3.0, 8.0),
    ),
    "rate_transition": Merged(
        RateTransition(FRAMES[0], FRAMES[1]),
        (
            {"reason": "x", "score": 1, "breaks": ["time", "place"]},
            {"reason": "y", "score": 3, "breaks": ["place"]},
        ),
        lambda rating: (rating.value, rating.reason, rating.breaks),
        (2, "x | y", ("place",)),  # time: one of two is no majority
        (1.0, 3.0),
    ),
    "rank": Merged(
        Rank(["a", "b", "c"]),
        ({"ranks": [3, 1, 2]}, {"ranks": [3, 2, 1]}),
        lambda ranks: ranks,
        [
            3,
            1,
            2,
        ],  # mean ranks 3, 1.5, 1.5: of equal ones the first comes first
        (1.0, 1.0, 2.0, 2.0, 3.0, 3.0),
    ),
    "assess": Merged(
        Assess("A cat.", ("overall",), references=["A cat."]),
        ({"reason": "x", "overall": 2}, {"reason": "y", "overall": 5}),
        lambda answer: (answer.grades, answer.reason),
        ({"overall": 3.5}, "x | y"),
        (2.0, 5.0),
    ),
    "assess_in_context": Merged(
        AssessInContext(
            "A cat.",
            ("overall",),
            references=["A cat."],
            context={"page": "A pet."},
        ),
        ({"reason": "x", "overall": 2}, {"reason": "y", "overall": 5}),
        lambda answer: (answer.grades, answer.reason),
        ({"overall": 3.5}, "x | y"),
        (2.0, 5.0),
    ),
    "place_text": Merged(
        PlaceText("A cat.", {"page": "A cat sleeps."}),
        (
            placed("no", "no", "simple", "no"),
            placed("no", "no", "simple", "yes"),
        ),
        lambda answer: [part.state for part in answer],
        ["no", "no", "simple", "unclear"],
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),  # they differ in the last
    ),
    "grade": Merged(
        GradeDescription("A cat.", [PICTURE]),
        ("9", "4"),
        lambda grade: grade.value,
        6.5,
        (4.0, 9.0),
    ),
}


@each_case("name", MERGED)
def test_a_panel_of_replicates_asks_each_apart_and_makes_one_answer(
    name: str,
) -> None:
    case = MERGED[name]
    # Repeat 3 of a panel of two seats are the replicates 6 and 7 of its member.
    member, backend = turns({6: case.says[0], 7: case.says[1]})
    answers = InMemory()
    answer = asyncio.run(
        Panel([member] * 2, answers).ask(case.operation, Draw(3, 0.5))
    )
    assert case.together(answer) == case.expected
    assert sorted(request.replicate for request in backend.requests) == [6, 7]
    assert tuple(sorted(answers.ratings.values())) == case.noted
    assert {key[0] for key in answers.ratings} <= {name}


def test_a_question_about_another_picture_is_another_question() -> None:
    answers = InMemory()
    row = {"rows": [{"id": 0, "choice": "A", "quote": None}]}
    panel = Panel([judge_who_says(row)] * 2, answers)
    for picture in (PICTURE, Image(b"x", "image/png"), PICTURE):
        operation = AnswerFromPictures(
            [TextQuestion("Which?", ("a", "b"))], images=[picture]
        )
        asyncio.run(panel.ask(operation))
    assert len({question for _, question, _ in answers.ratings}) == 2


def test_different_judges_are_asked_the_same_replicate() -> None:
    members = [turns({4: "5"}, "a"), turns({4: "3"}, "b")]
    panel = Panel([judge for judge, _ in members], InMemory())
    operation = Presence([Question("entity", "cat")], "A cat.")
    assert asyncio.run(panel.ask(operation, Draw(2)))[0].value == 4.0


def noting(
    backend: str, replicates_by_model: dict[str, list[int]]
) -> LLMJudge:
    """A model that notes under its name which repeats it is asked for."""

    def answer(request: Request) -> str:
        replicates_by_model.setdefault(backend, []).append(request.replicate)
        return "3"

    return LLMJudge(Scripted(answer, model=backend), samples=1)


def test_one_model_under_several_judges_is_asked_for_repeats_of_its_own() -> (
    None
):
    """Else both seats ask for one answer, pay for it twice, and one of the two is kept."""
    replicates_by_model: dict[str, list[int]] = {}
    panel = Panel(
        [noting(name, replicates_by_model) for name in ("a", "a", "b", "a")],
        InMemory(),
    )
    for repeat in range(2):
        asyncio.run(
            panel.ask(
                Presence([Question("entity", "cat")], "A cat."), Draw(repeat)
            )
        )
    # Four seats, so that the second repeat begins at 4.
    assert {
        name: sorted(numbers) for name, numbers in replicates_by_model.items()
    } == {
        "a": [0, 1, 2, 4, 5, 6],
        "b": [0, 4],
    }


def test_a_model_in_a_panel_of_the_panel_is_counted_with_the_others() -> None:
    replicates_by_model: dict[str, list[int]] = {}

    def member(name: str) -> LLMJudge:
        return noting(name, replicates_by_model)

    inner = [
        Panel([member("a"), member("a")], InMemory()),
        Panel([member("a"), member("b")], InMemory()),
    ]
    panel = Panel([member("a"), *inner, member("b")], InMemory())
    for repeat in range(2):
        asyncio.run(
            panel.ask(
                Presence([Question("entity", "cat")], "A cat."), Draw(repeat)
            )
        )
    # Each inner panel takes two numbers of its models: a 0; then 2 and 3; then 4 of a and of b;
    # then b 6. Seven at most, in twos: the second repeat begins at 8.
    assert {
        name: sorted(numbers) for name, numbers in replicates_by_model.items()
    } == {
        "a": [0, 2, 3, 4, 8, 10, 11, 12],
        "b": [4, 6, 12, 14],
    }


def test_every_operation_that_panels_merge_is_in_the_table() -> None:
    kinds = {
        name
        for name, kind in OPERATIONS.items()
        if issubclass(kind, PanelOperation)
    }
    assert set(MERGED) == kinds


def test_answers_that_cannot_be_averaged_come_from_the_first_judge() -> None:
    first, backend = turns({2: "the a"})
    second, unasked = turns({})
    panel = Panel([first, second], InMemory())
    assert asyncio.run(panel.ask(Rewrite("a"), Draw(2, 0.9))) == "the a"
    assert [
        (r.replicate, r.sampling.temperature) for r in backend.requests
    ] == [(2, 0.9)]
    assert unasked.requests == []


def test_a_panel_can_what_all_its_members_can() -> None:
    model, rules = judge_who_says("5"), judges.judge("builtin")
    assert Panel([model, rules], InMemory()).can(Presence)
    assert not Panel([model, rules], InMemory()).can(AlignWords)
    assert Panel([rules, rules], InMemory()).can(AlignWords)
    with pytest.raises(
        ConfigError,
        match="the judge builtin has no operation 'rank'; a model has",
    ):
        Panel([model, rules], InMemory()).check_can(Rank)
    with pytest.raises(
        ConfigError,
        match="LLMJudge has no operation 'align_words'; the built-in",
    ):
        asyncio.run(model.ask(AlignWords("a", ["b"])))
