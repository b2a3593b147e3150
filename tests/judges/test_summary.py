"""What is told of judges: sums and shares, counted by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from beholder.backends import Answer, Sample, Usage
from beholder.judges import AnswerFile
from beholder.judges.answers import Record
from beholder.judges.grades import Judging, digit_mass


def answer(
    first: dict[str, float] | None, *, text: str = "4", **usage: int
) -> Answer:
    """An answer whose first token has these probabilities."""
    first_token = (
        None
        if first is None
        else tuple((t, math.log(p)) for t, p in first.items())
    )
    return Answer(
        (Sample(text, "stop", first_token),), "m", usage=Usage(**usage)
    )


@pytest.mark.parametrize(
    ("first", "mass"),
    [
        ({"4": 0.5, " 5": 0.25, "x": 0.25}, 0.75),
        ({"15": 0.9, "\u2581": 0.05}, 0.0),
        ({"\u25817": 0.5}, 0.5),
        ({"\u00b2": 0.9}, 0.0),  # a digit of another script is none of ours
        (None, None),
    ],
)
def test_digits_are_single_and_blanks_before_them_no_matter(
    first: dict[str, float] | None, mass: float | None
) -> None:
    assert digit_mass(answer(first)) == (
        None if mass is None else pytest.approx(mass)
    )


def test_a_runs_answers_are_counted(tmp_path: Path) -> None:
    file = AnswerFile(tmp_path / "a.sqlite")
    answers = [
        answer({"4": 0.9}, prompt=100, cached=40, completion=1),
        answer({"4": 0.2, "The": 0.7}, prompt=100, cached=40, completion=1),
        answer({"4": 0.6}, prompt=100, completion=1),
        answer(None, text="{}", prompt=200, completion=57),
    ]
    for i, answer_ in enumerate(answers):
        file.put_answer(
            Record(
                str(i), "presence", "presence.v1@0", "b", "m", 0, answer_, None
            )
        )
    judging = file.judging()
    file.close()
    assert (
        judging.n_answers,
        judging.prompt_tokens,
        judging.answer_tokens,
    ) == (
        4,
        500,
        60,
    )
    assert judging.cached_tokens == 80
    assert sorted(judging.masses) == pytest.approx([0.2, 0.6, 0.9])
    assert judging.in_words == (
        "4 answers, 500 prompt tokens (16% from the server's cache), 60 answer tokens; of the"
        " probability on the first token, digits had 60.0% (median), and under half in 33.3% of 3"
    )
    assert "something else than a digit: digits had 60.0%" in judging.caution


def test_nothing_is_told_of_nobody_and_no_caution_of_a_sure_judge() -> None:
    assert Judging(0, 0, 0, 0).in_words == Judging(0, 0, 0, 0).caution == ""
    assert (
        Judging(2, 10, 0, 2).in_words
        == "2 answers, 10 prompt tokens, 2 answer tokens"
    )
    sure = Judging(20, 10, 0, 20, [1.0] * 19 + [0.4])
    assert sure.caution == ""
    assert Judging(20, 10, 0, 20, [1.0] * 18 + [0.4] * 2).caution
    assert "digits had 100 % (median)" in sure.in_words
    # A share that would be rounded up to 100.0 % is not yet whole; 99.94 % is shown as it is.
    assert (
        "digits had 99.9% (median)"
        in Judging(3, 0, 0, 0, [0.9994] * 3).in_words
    )
    assert (
        "digits had 100 % (median)"
        in Judging(3, 0, 0, 0, [0.9996] * 3).in_words
    )


def test_share_of_unsure_answers_by_hand() -> None:
    assert Judging(4, 0, 0, 0, (0.1, 0.4, 0.5, 0.9)).share_unsure == 0.5
    assert math.isnan(Judging(0, 0, 0, 0).share_unsure)
