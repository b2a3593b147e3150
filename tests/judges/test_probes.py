"""Fitness of judges whose answers are planned: shares counted by hand."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import Callable

import pytest

from beholder.backends import Answer, Request, Sample, Scripted
from beholder.errors import ConfigError
from beholder.judges import LLMJudge
from beholder.judges.operations import Question
from beholder.judges.probes import (
    Fitness,
    Probe,
    fitness,
    position_bias,
    probes,
)

TEXT = "A red cup."
FOUR = [
    Probe(TEXT, Question("entity", "a cup"), "true"),
    Probe(TEXT, Question("attribute", "red", "the cup"), "true"),
    Probe(TEXT, Question("attribute", "blue", "the cup"), "altered"),
    Probe(TEXT, Question("entity", "a plate"), "foreign"),
]


def judge(grade: Callable[[str], int | str]) -> LLMJudge:
    """A judge that grades by the unit that is asked about, and ranks what stands first first."""

    def answer(request: Request) -> str | Answer:
        if request.schema is not None:
            return json.dumps({"ranks": [1, 2, 3, 4]})
        digit = str(grade(request.messages[1].text))
        return Answer(
            (Sample(digit, "length", ((digit, math.log(0.9)),)),), "m"
        )

    return LLMJudge(Scripted(answer, top_logprobs=20))


def measured(grade: Callable[[str], int | str], **options: float) -> Fitness:
    return asyncio.run(
        fitness(
            judge(grade), selection=FOUR, threshold=options.get("threshold", 3)
        )
    )


def by_unit(cup: int, red: int, blue: int, plate: int) -> Callable[[str], int]:
    def grade(prompt: str) -> int:
        for word, value in (("red\n", red), ("blue", blue), ("plate", plate)):
            if word in prompt.rpartition("</target>")[2]:
                return value
        return cup

    return grade


def test_there_are_200_probes_half_of_them_stated_and_none_twice() -> None:
    kinds = Counter(probe.kind for probe in probes())
    assert kinds["true"] == 100
    assert sum(kinds.values()) == 200
    assert min(kinds.values()) >= 20
    assert len({(p.text, p.question) for p in probes()}) == 200
    assert Counter(Counter(p.text for p in probes()).values()) == {10: 20}
    first = next(p for p in probes() if p.question.kind == "relation")
    assert first.question == Question(
        "relation", "holds", "the man", "the umbrella"
    )


def test_shares_of_pairs_and_of_answers_are_counted() -> None:
    fitness_ = measured(by_unit(cup=5, red=3, blue=3, plate=1))
    assert fitness_.auc == pytest.approx(
        (1 + 1 + 1 + 0.5) / 4
    )  # red and blue are level
    assert fitness_.auc_by_kind["altered"] == pytest.approx(0.75)
    assert fitness_.auc_by_kind["foreign"] == 1.0
    assert math.isnan(fitness_.auc_by_kind["swapped"])
    assert fitness_.right == 0.75
    # At 3: stated 2 of 2, others 1 of 2: F1 (4/5 + 2/3) / 2, and no threshold does better.
    assert fitness_.calibration.used.f1 == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert fitness_.calibration.best.f1 == pytest.approx((4 / 5 + 2 / 3) / 2)
    # Probabilities 0, 0.5, 0.5 and 1 of no, no, yes and yes.
    assert fitness_.calibration_error is not None
    assert fitness_.calibration_error.mean == 0.0
    assert fitness_.brier is not None
    assert fitness_.brier.mean == pytest.approx(2 * 0.5**2 / 4)
    assert fitness_.n_failed == 0
    assert (
        fitness_.position_bias == -3.0
    )  # rank 1 for the first place, 4 for the last
    assert fitness_.verdict == "weak"


def test_a_judge_that_knows_is_fit_wherever_its_scale_lies() -> None:
    fitness_ = measured(by_unit(cup=2, red=2, blue=1, plate=1))
    assert (fitness_.auc, fitness_.verdict) == (1.0, "fit")
    assert fitness_.right == 0.5
    assert (
        fitness_.calibration.best.f1,
        fitness_.calibration.best.threshold,
    ) == (
        1.0,
        2.0,
    )
    assert fitness_.calibration_error is not None
    assert fitness_.calibration_error.mean == pytest.approx(
        (2 * 0.75 + 2 * 0.0) / 4
    )


def test_a_judge_that_always_says_the_same_is_at_chance_and_unfit() -> None:
    fitness_ = measured(lambda prompt: 5)
    assert (fitness_.auc, fitness_.verdict) == (0.5, "unfit")


def test_answers_that_cannot_be_used_are_counted_and_the_others_go_on() -> (
    None
):
    fitness_ = measured(
        lambda prompt: (
            "none" if "plate" in prompt.rpartition("</target>")[2] else 5
        )
    )
    assert fitness_.n_failed == 1
    assert "no usable answer to presence" in next(iter(fitness_.failed))
    assert fitness_.auc_by_kind["altered"] == 0.5
    assert math.isnan(fitness_.auc_by_kind["foreign"])
    nothing = measured(lambda prompt: "none")
    assert nothing.n_failed == 4
    assert nothing.verdict == "unfit"
    assert math.isnan(nothing.auc)


def test_too_many_failures_make_a_judge_unfit_that_is_right_otherwise() -> (
    None
):
    right = by_unit(cup=5, red=5, blue=1, plate=1)
    fitness_ = measured(
        lambda prompt: "none" if "plate" in prompt else right(prompt)
    )
    assert fitness_.auc == 1.0
    assert fitness_.verdict == "unfit"


def test_an_error_that_concerns_all_questions_is_passed_on() -> None:
    def refuse(prompt: str) -> int:
        raise ConfigError("refused the key")

    with pytest.raises(ConfigError, match="refused the key"):
        measured(refuse)


def test_position_bias_is_not_told_where_a_ranking_failed() -> None:
    broken = LLMJudge(Scripted(lambda request: "no JSON", top_logprobs=20))
    assert asyncio.run(position_bias(broken, ["a", "b"])) is None
