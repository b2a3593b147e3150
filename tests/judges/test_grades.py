"""Grades from log-probabilities and from samples; expected values by hand."""

from __future__ import annotations

import math

import pytest

from beholder.judges.grades import (
    from_first_token,
    from_samples,
    mean_grade,
    rule_grade,
)
from beholder.judges.reading import BadAnswer
from toy.cases import each_case

LOG = math.log


def test_expectation_over_the_grades_renormalised() -> None:
    # 4 with 0.6, 5 with 0.2, the rest elsewhere: (4 * 0.6 + 5 * 0.2) / 0.8 = 4.25
    grade = from_first_token(
        [("4", LOG(0.6)), ("5", LOG(0.2)), ("The", LOG(0.2))], 1, 5
    )
    assert grade.value == pytest.approx(4.25)
    assert grade.probabilities == pytest.approx((0, 0, 0, 0.75, 0.25))
    assert grade.mass == pytest.approx(0.8)


def test_spellings_of_one_grade_add_up() -> None:
    # 2: 0.3 + 0.2 + 0.1, 1: 0.4 -> 2 * 0.6 + 1 * 0.4 = 1.6
    tokens = [
        ("2", LOG(0.3)),
        (" 2", LOG(0.2)),
        ("▁2", LOG(0.1)),
        ("1\n", LOG(0.4)),
    ]
    assert from_first_token(tokens, 1, 5).value == pytest.approx(1.6)


@each_case("token", ["15", "1.", "4th", "6", "0", "-1", "１", "**5**"])
def test_a_token_that_only_contains_a_digit_is_no_grade(token: str) -> None:
    assert from_first_token(
        [(token, LOG(0.9)), ("3", LOG(0.1))], 1, 5
    ).value == pytest.approx(3.0)
    with pytest.raises(BadAnswer):
        from_first_token([(token, LOG(0.9))], 1, 5)


def test_probability_too_small_for_a_float_is_no_grade() -> None:
    with pytest.raises(BadAnswer):
        from_first_token([("3", -9999.0)], 1, 5)


def test_a_grade_on_which_hardly_any_of_the_probability_lies_is_not_taken() -> (
    None
):
    # A tokenizer that begins with a blank: the digits come after it.
    blank = [("\u2581", LOG(0.94)), ("The", LOG(0.011))]
    with pytest.raises(BadAnswer, match="one digit from 1 to 5"):
        from_first_token([*blank, ("1", LOG(0.049))], 1, 5)
    assert from_first_token(
        [*blank, ("1", LOG(0.051))], 1, 5
    ).mass == pytest.approx(0.051)


@each_case(
    ("text", "grade"),
    [
        ("5.", 5),
        ("**5**", 5),
        ("Digit: 4", 4),
        ("The grade is 3.", 3),
        ("2\n\nBecause it says so.", 2),
        ("(1)", 1),
        ("So let me see.\n</think>\n\n4", 4),
        ("4.5", None),
        ("1-5", None),
        ("4/5", None),
        ("4 out of 5", None),
        ("3\n4", None),
        ("15", None),
        ("I would give it a 4", None),
        ("5 stars", None),
    ],
)
def test_a_grade_may_stand_in_marks_and_before_an_explanation(
    text: str, grade: int | None
) -> None:
    if grade is None:
        with pytest.raises(BadAnswer):
            from_samples([text], 1, 5)
    else:
        assert from_samples([text], 1, 5).value == grade


def test_samples_are_averaged_and_their_shares_kept() -> None:
    grade = from_samples(["4", " 5\n", "<think>1</think>3", "good"], 1, 5)
    assert grade.value == pytest.approx(4.0)
    assert grade.probabilities == pytest.approx((0, 0, 1 / 3, 1 / 3, 1 / 3))
    assert grade.mass == pytest.approx(0.75)


def test_samples_that_are_mostly_no_grades_are_refused() -> None:
    with pytest.raises(BadAnswer):
        from_samples(["4", "x", "y"], 1, 5)


@each_case(
    ("value", "probabilities"),
    [
        (1.0, (1, 0, 0, 0, 0)),
        (1.25, (0.75, 0.25, 0, 0, 0)),
        (3.0, (0, 0, 1, 0, 0)),
        (3.4, (0, 0, 0.6, 0.4, 0)),
        (4.9, (0, 0, 0, 0.1, 0.9)),
        (5.0, (0, 0, 0, 0, 1)),
    ],
)
def test_a_grade_by_rule_lies_between_the_two_whole_grades_beside_it(
    value: float, probabilities: tuple[float, ...]
) -> None:
    grade = rule_grade(value, "blue", ((3, 7),))
    assert grade.probabilities == pytest.approx(probabilities)
    assert sum(grade.probabilities) == pytest.approx(1.0)
    assert (grade.value, grade.mass, grade.read) == (value, 1.0, "rules")
    assert (grade.contradiction, grade.where, grade.sure) == (
        "blue",
        ((3, 7),),
        True,
    )
    assert rule_grade(value, sure=False).sure is False


def test_the_mean_of_grades_has_the_mean_of_their_probabilities_and_the_least_mass() -> (
    None
):
    two = from_first_token([("2", LOG(0.5)), ("x", LOG(0.5))], 1, 5)
    four = from_first_token([("4", LOG(0.3)), ("5", LOG(0.6))], 1, 5)
    mean = mean_grade([two, four])
    # (2 + (4 + 2 * 5) / 3) / 2
    assert mean.value == pytest.approx(10 / 3)
    assert mean.probabilities == pytest.approx((0, 1 / 2, 0, 1 / 6, 1 / 3))
    assert mean.mass == pytest.approx(0.5)
    assert mean.sure is True
    assert mean_grade([two, rule_grade(2.0, sure=False)]).sure is False


def test_half_of_the_samples_are_enough() -> None:
    # 4 and 2 of four samples: (4 + 2) / 2 = 3
    grade = from_samples(["4", "what", "2", "no grade"], 1, 5)
    assert grade.value == pytest.approx(3.0)
    assert grade.mass == pytest.approx(0.5)
    with pytest.raises(BadAnswer):
        from_samples(["4", "what", "no grade"], 1, 5)
