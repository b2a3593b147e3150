"""Panels of judges, and judges built from text; values by hand."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from beholder import judges
from beholder.backends import Request, Scripted
from beholder.errors import ConfigError, UnknownNameError
from beholder.judges import Answers, Draw, LLMJudge, Panel
from beholder.judges.answers import AnswerFile, InMemory
from beholder.judges.operations import (
    Assess,
    GradeDescription,
    JudgedFrame,
    MatchStatements,
    Presence,
    Question,
    Rank,
    RateSequence,
    Verify,
)

SHOTS = [JudgedFrame(caption="a"), JudgedFrame(caption="b")]


def judge_who_says(value: object) -> LLMJudge:
    text = value if isinstance(value, str) else json.dumps(value)
    return LLMJudge(Scripted(lambda request: text), samples=1)


def test_grades_are_averaged_and_each_judge_kept() -> None:
    kept = InMemory()
    panel = Panel([judge_who_says(grade) for grade in ("2", "3", "5")], kept)
    grade = asyncio.run(panel.ask(Presence([Question("entity", "cat")], "A cat.")))[0]
    assert grade.value == pytest.approx(10 / 3)
    assert grade.probabilities == pytest.approx((0, 1 / 3, 1 / 3, 0, 1 / 3))
    said = {judge: value for (_, _, judge), value in kept.ratings.items()}
    assert said == {"judge 0": 2.0, "judge 1": 3.0, "judge 2": 5.0}


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [((True, True, False), True), ((True, False), False), ((False,) * 3, False)],
)
def test_majority_decides_and_a_tie_is_not_supported(
    votes: tuple[bool, ...], verdict: bool
) -> None:
    members = [judge_who_says({"rows": [{"id": 0, "supported": vote}]}) for vote in votes]
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
        [judge_who_says({"reason": r, "score": s}) for r, s in (("x", 4), ("y", 9))], InMemory()
    )
    rating = asyncio.run(panel.ask(RateSequence(SHOTS)))
    assert (rating.value, rating.reason) == (6, "x | y")  # 6.5 rounds half to even
    panel = Panel([judge_who_says({"ranks": r}) for r in ([1, 2, 3], [3, 1, 2])], InMemory())
    # Mean ranks 2, 1.5, 2.5.
    assert asyncio.run(panel.ask(Rank(["a", "b", "c"]))) == [2, 1, 3]


def test_replicates_ask_the_same_model_again_and_are_kept_apart() -> None:
    asked: list[int] = []

    def answer(request: Request) -> str:
        asked.append(request.replicate)
        return json.dumps({"reason": "", "score": 3 + request.replicate})

    member = LLMJudge(Scripted(answer))
    kept = InMemory()
    panel = Panel([member] * 3, kept)
    assert asyncio.run(panel.ask(RateSequence(SHOTS), Draw(temperature=0.7))).value == 4
    assert sorted(asked) == [0, 1, 2]
    assert sorted(kept.ratings.values()) == [3.0, 4.0, 5.0]
    asyncio.run(panel.ask(RateSequence(SHOTS), Draw(1, 0.7)))
    assert sorted(asked) == [0, 1, 2, 3, 4, 5]


def test_panel_and_replicates_are_built_from_text(tmp_path: Path) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text('{"contains": "story", "answer": {"reason": "", "score": 8}}\n')
    file = AnswerFile(tmp_path / "run.sqlite")
    one = judges.judge(f"scripted(model={str(rules)!r}, replicates=3)", answers=Answers(file))
    assert asyncio.run(one.ask(RateSequence(SHOTS))).value == 8
    assert [row[2:] for row in file.ratings()] == [(f"judge {i}", 8.0) for i in range(3)]
    file.close()
    two = judges.judge(f"panel(scripted:{rules}, scripted(model={str(rules)!r}, samples=3))")
    assert asyncio.run(two.ask(RateSequence(SHOTS))).value == 8
    assert two.identity.startswith("panel(scripted:scripted(mean of 5,")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("opnai:m", r"no judge is called 'opnai'; there are: .*openai:MODEL.*panel"),
        ("openai", "'openai' names no model; write for example openai:MODEL"),
        ("openai(model='m', temprature=1)", "temprature"),
        ("openai(model='m', temperature=3)", "temperature=3: expected a number from 0 to 2"),
        ("openai(model='m', concurrency=0)", "concurrency=0: expected a number above 0"),
        ("openai(model='m', replicates=0)", "replicates=0"),
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
    kept = InMemory()
    said = [
        {"reason": "a", "overall": 2, "mistakes": 5},
        {"reason": "b", "overall": 5, "mistakes": 5},
    ]
    panel = Panel([judge_who_says(value) for value in said], kept)
    found = asyncio.run(panel.ask(Assess("A cat.", ("overall", "mistakes"), references=["A cat."])))
    assert found.grades == {"overall": 3.5, "mistakes": 5.0}
    assert found.reason == "a | b"
    assert sorted(kept.ratings.values()) == [2.0, 5.0, 5.0, 5.0]


def test_a_panel_sees_only_if_all_its_members_do() -> None:
    sees, blind = (LLMJudge(Scripted(lambda request: "5", images=eyes)) for eyes in (True, False))
    Panel([sees, sees], InMemory()).check_can(GradeDescription, images=True)
    with pytest.raises(ConfigError, match="does not take pictures"):
        Panel([sees, blind], InMemory()).check_can(GradeDescription, images=True)
