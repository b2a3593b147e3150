"""Diagnosis and steadiness of judges whose failings are known."""

from __future__ import annotations

import asyncio
import json
import math
import random
import re

import pytest

from beholder.backends import Answer, Request, Sample, Scripted
from beholder.judges import LLMJudge
from beholder.judges.diagnostics import (
    OBVIOUS,
    SCENE,
    check_steadiness,
    diagnose,
)


def graded(grade: int) -> Answer:
    return Answer(
        (Sample(str(grade), "length", ((str(grade), math.log(0.9)),)),), "m"
    )


def knows(request: Request) -> int:
    """The right grade of a question about the scene."""
    text = request.messages[-1].text
    for probe in OBVIOUS:
        question = probe.question
        fences = [f"<text>\n{question.text}\n</text>"]
        fences += (
            [f"<subject>\n{question.subject}\n</subject>"]
            if question.subject
            else []
        )
        fences += (
            [f"<object>\n{question.object}\n</object>"]
            if question.object
            else []
        )
        if all(fence in text for fence in fences):
            return 5 if probe.is_stated else 1
    return 1  # a question of the probes


def good_model(request: Request) -> str | Answer:
    if request.schema is None:
        return graded(knows(request))
    if "statements" in request.schema["properties"]:
        rows = [
            {"text": f"fact {i}", "subject": None, "relevant": True}
            for i in range(8)
        ]
        return json.dumps({"statements": rows})
    if "ranks" in request.schema["properties"]:
        return json.dumps(
            {"ranks": [1, 2, 3, 4]}
        )  # whatever stands first is best
    if not request.images:
        return json.dumps(
            {"rows": [{"id": i, "supported": True} for i in range(10)]}
        )
    red = request.images[0].data.startswith(b"\x89PNG") and _is_red(request)
    return json.dumps(
        {
            "rows": [
                {"id": 0, "supported": red},
                {"id": 1, "supported": not red},
                {"id": 2, "supported": False},
            ]
        }
    )


def _is_red(request: Request) -> bool:
    import io

    from PIL import Image

    with Image.open(io.BytesIO(request.images[0].data)) as picture:
        pixel = picture.convert("RGB").getpixel((5, 5))
    assert isinstance(pixel, tuple)
    return pixel[0] > pixel[2]


def test_good_judge_passes_every_check() -> None:
    findings = asyncio.run(
        diagnose(LLMJudge(Scripted(good_model, top_logprobs=20)))
    )
    assert {finding.name: finding.good for finding in findings} == {
        "model": None,
        "log-probabilities": True,
        "structured answers": True,
        "sight": True,
        "knows the obvious": True,
        "statements": True,
    }


def test_judge_that_always_says_5_is_found_out_with_the_questions_it_missed() -> (
    None
):
    def yes(request: Request) -> str | Answer:
        return graded(5) if request.schema is None else "no JSON"

    findings = asyncio.run(
        diagnose(LLMJudge(Scripted(yes, top_logprobs=20, images=False)))
    )
    by_name = {finding.name: finding for finding in findings}
    assert by_name["knows the obvious"].good is False
    assert "6 of 12 right" in by_name["knows the obvious"].said
    assert "entity a bicycle = 5.0" in by_name["knows the obvious"].said
    assert by_name["statements"].good is False
    assert "not JSON" in by_name["statements"].said
    assert by_name["sight"].good is None


def test_steady_judge_agrees_with_itself_and_its_position_bias_is_measured() -> (
    None
):
    judge = LLMJudge(Scripted(good_model, top_logprobs=20))
    steadiness = asyncio.run(check_steadiness(judge))
    assert steadiness.single == pytest.approx(1.0)
    assert steadiness.biases[0].value == 0.0
    assert (steadiness.n_calls, steadiness.n_failed) == (12 * 5, 0)


def test_unsteady_judge_and_length_bias_are_seen() -> None:
    rng = random.Random(0)

    def moody(request: Request) -> str | Answer:
        if request.schema is not None:
            # Fair: rank by the text alone, wherever it stands.
            texts = re.findall(
                r'<review id="\d+">(.*?)</review>', request.messages[-1].text
            )
            order = sorted(texts)
            return json.dumps(
                {"ranks": [order.index(text) + 1 for text in texts]}
            )
        if request.sampling.temperature > 0:
            return graded(rng.randint(1, 5))
        match = re.search(
            r"<target>\n(.*)\n</target>", request.messages[-1].text, re.DOTALL
        )
        return graded(
            4 if match is not None and len(match[1]) > len(SCENE) else 3
        )

    steadiness = asyncio.run(
        check_steadiness(LLMJudge(Scripted(moody, top_logprobs=20)))
    )
    assert steadiness.single is not None
    assert steadiness.single < 0.5
    by_name = {bias.name: bias for bias in steadiness.biases}
    assert by_name["length"].value == pytest.approx(1.0)
    # Of 12 questions with three random grades, those on both sides of the threshold change.
    assert by_name["repeats"].n == 12
    assert by_name["repeats"].value is not None
    assert by_name["repeats"].value > 0.2
    # A judge that ranks by the words alone gives each pair one winner in both orders.
    assert (by_name["seat"].value, by_name["flips"].value) == (0, 0)
    assert by_name["flips"].n == 40


def test_questions_without_an_answer_are_left_out_and_counted() -> None:
    def partly(request: Request) -> str | Answer:
        return (
            "hm"
            if "bicycle" in request.messages[1].text
            else graded(knows(request))
        )

    steadiness = asyncio.run(
        check_steadiness(LLMJudge(Scripted(partly, top_logprobs=20)))
    )
    assert steadiness.n_failed == 5
    assert steadiness.single is not None
    assert steadiness.biases[0].value == 0.0
    assert steadiness.biases[0].n == 11
    mute = asyncio.run(
        check_steadiness(LLMJudge(Scripted(lambda r: "hm", top_logprobs=20)))
    )
    assert mute.single is None
    assert [bias.value for bias in mute.biases] == [None] * 7
    assert [bias.reason for bias in mute.biases] == [
        "0 questions, 10 are needed",
        "0 questions, 10 are needed",
        "0 texts, 10 are needed",
        "0 pairs in both orders, 30 are needed",
        "0 pairs in both orders, 30 are needed",
        "texts with labels are needed: beholder score --labels",
        "texts with labels are needed: beholder score --labels",
    ]
    assert mute.n_failed == mute.n_calls == 60


def test_a_judge_of_the_first_seat_and_one_that_affirms_whatever_is_claimed_are_seen() -> (
    None
):
    def biased(request: Request) -> str | Answer:
        if request.schema is None:
            return graded(1)
        if "ranks" in request.schema["properties"]:
            return json.dumps({"ranks": [1, 2]})
        return json.dumps(
            {"rows": [{"id": i, "supported": i != 3} for i in range(10)]}
        )

    steadiness = asyncio.run(
        check_steadiness(LLMJudge(Scripted(biased, top_logprobs=20)))
    )
    by_name = {bias.name: bias for bias in steadiness.biases}
    assert (by_name["seat"].value, by_name["flips"].value) == (1, 1)
    # Nine of the ten claims about each of 20 texts are supported, and none is graded present.
    assert by_name["wording"].value == pytest.approx(0.9)
    assert by_name["wording"].n == 20


@pytest.mark.parametrize(
    ("n", "good"), [(3, False), (4, True), (30, True), (31, False)]
)
def test_a_scene_of_four_clauses_has_four_to_thirty_statements(
    n: int, good: bool
) -> None:
    def model(request: Request) -> str | Answer:
        if (
            request.schema is not None
            and "statements" in request.schema["properties"]
        ):
            rows = [
                {"text": f"fact {i}", "subject": None, "relevant": True}
                for i in range(n)
            ]
            return json.dumps({"statements": rows})
        return good_model(request)

    findings = asyncio.run(
        diagnose(LLMJudge(Scripted(model, top_logprobs=20)))
    )
    assert {f.name: f.good for f in findings}["statements"] is good
