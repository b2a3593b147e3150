"""From given grades to the values of PoSh, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from beholder.errors import ItemError
from beholder.judges import Grade
from beholder.judges.grades import rule_grade
from beholder.language import parse, scene_graph
from beholder.metrics.posh.plan import Ask, Plan, fixed_asks, unit_questions
from beholder.metrics.posh.published import f1
from beholder.metrics.posh.scoring import (
    Weighing,
    fixed_precision,
    fixed_recall,
)

EVEN = Weighing(
    {"entity": 1.0, "attribute": 1.0, "relation": 1.0}, information=False
)


def plan(candidate: str, *references: str) -> Plan:
    graphs = tuple(scene_graph(parse(r)) for r in references)
    return Plan(scene_graph(parse(candidate)), graphs, threshold=3.0)


def graded(
    plan: Plan, values: dict[tuple[str, int, str], float]
) -> dict[Ask, Grade]:
    """Grades by side, reference and words of the question; 1 where nothing is given."""
    return {
        ask: rule_grade(
            values.get((ask.side, ask.reference, ask.question.text), 1.0)
        )
        for ask in fixed_asks(plan)
    }


def test_every_unit_is_asked_of_every_reference_and_theirs_of_the_candidate() -> (
    None
):
    asks = fixed_asks(plan("A red dog.", "A dog.", "A cat."))
    questions = [(ask.side, ask.reference, ask.question.text) for ask in asks]
    assert questions == [
        ("candidate", 0, "dog"), ("candidate", 0, "red"), ("candidate", 1, "dog"),
        ("candidate", 1, "red"), ("reference", 0, "dog"), ("reference", 1, "cat"),
    ]  # fmt: skip


def test_precision_is_the_mean_of_the_best_grades_from_0_to_1() -> None:
    case = plan("A red dog.", "A dog.", "A cat.")
    grades = graded(
        case,
        {
            ("candidate", 0, "dog"): 5.0, ("candidate", 1, "dog"): 2.0,
            ("candidate", 0, "red"): 1.0, ("candidate", 1, "red"): 3.0,
        },
    )  # fmt: skip
    precision = fixed_precision(replace(case, threshold=3.5), grades, EVEN)
    assert precision.value == pytest.approx(
        (1.0 + 0.5) / 2
    )  # (5 - 1) / 4 and (3 - 1) / 4
    assert [u.verdict for u in precision.units] == ["match", "unstated"]
    assert [u.detail["reference"] for u in precision.units] == [0, 1]
    assert [u.detail["grade"] for u in precision.units] == [5.0, 3.0]
    assert [u.detail.get("of") for u in precision.units] == [None, "dog"]
    # A grade at the threshold is a match.
    assert fixed_precision(case, grades, EVEN).units[1].verdict == "match"


def test_weights_of_kinds_multiply_the_units_of_each_kind() -> None:
    case = plan("A red dog.", "A dog.")
    grades = graded(case, {("candidate", 0, "dog"): 5.0})
    heavy = Weighing(
        {"entity": 3.0, "attribute": 1.0, "relation": 1.0}, information=False
    )
    assert fixed_precision(case, grades, heavy).value == pytest.approx(3 / 4)
    nothing = Weighing(
        {"entity": 0.0, "attribute": 0.0, "relation": 0.0}, information=False
    )
    assert fixed_precision(case, grades, nothing).value == 0.0


def test_rare_words_weigh_more_where_information_counts() -> None:
    informed = Weighing(
        {"entity": 1.0, "attribute": 2.0, "relation": 1.0}, information=True
    )
    assert (
        informed.weight_of("entity", "zebra")
        > informed.weight_of("entity", "man")
        > 0
    )
    assert informed.weight_of("attribute", "man") == pytest.approx(
        2 * informed.weight_of("entity", "man")
    )
    both = informed.weight_of("entity", "man") + informed.weight_of(
        "entity", "zebra"
    )
    assert informed.weight_of("entity", "Zebra Man") == pytest.approx(both)


def test_a_contradiction_is_told_by_the_reference_that_says_otherwise() -> (
    None
):
    case = plan("A red dog.", "A dog.", "A blue dog.")
    grades = graded(case, {("candidate", 0, "red"): 2.0})
    for ask, grade in list(grades.items()):
        if (ask.side, ask.reference, ask.question.text) == (
            "candidate",
            1,
            "red",
        ):
            grades[ask] = replace(grade, contradiction="blue")
    precision = fixed_precision(case, grades, EVEN)
    assert (
        precision.units[1].detail["contradiction"] == "blue"
    )  # though the best is the silent one
    assert precision.units[1].detail["reference"] == 0
    present = fixed_precision(replace(case, threshold=2.0), grades, EVEN)
    assert "contradiction" not in present.units[1].detail


def test_what_is_not_surely_wrong_is_unstated_and_marked_so() -> None:
    case = plan("A red dog.", "A dog.", "A blue dog.")
    grades = {
        ask: replace(grade, contradiction="blue", sure=False)
        for ask, grade in graded(case, {("candidate", 0, "dog"): 5.0}).items()
    }
    dog, red = fixed_precision(case, grades, EVEN).units
    assert (dog.verdict, dog.detail["unsure"]) == ("match", True)
    assert (red.verdict, red.detail["unsure"]) == ("unstated", True)
    assert "contradiction" not in red.detail
    # A reference that surely says otherwise tells more than one that may not.
    asks = [ask for ask in grades if ask.question.text == "red"]
    grades[asks[1]] = replace(
        grades[asks[1]], contradiction="brown", sure=True
    )
    red = fixed_precision(case, grades, EVEN).units[1]
    assert (red.verdict, red.detail["contradiction"]) == (
        "contradicted",
        "brown",
    )
    assert "unsure" not in red.detail


def test_recall_is_the_best_or_the_mean_of_the_references_that_name_anything() -> (
    None
):
    case = plan("A dog.", "A red dog.", "Hello.", "A cat.")
    grades = graded(
        case, {("reference", 0, "dog"): 5.0, ("reference", 2, "cat"): 2.0}
    )
    # First reference (1 + 0) / 2, the second names nothing, the third 1 / 4.
    assert fixed_recall(case, grades, EVEN, "best").value == pytest.approx(0.5)
    mean = fixed_recall(case, grades, EVEN, "mean")
    assert mean.value == pytest.approx((0.5 + 0.25) / 2)
    assert [(u.reference_index, u.verdict) for u in mean.units] == [
        (0, "match"), (0, "omission"), (2, "omission"),
    ]  # fmt: skip
    with pytest.raises(ItemError, match="no reference names anything"):
        fixed_recall(plan("A dog.", "Hello."), {}, EVEN, "best")


def test_a_candidate_that_names_nothing_has_precision_0() -> None:
    case = plan("Hello.", "A dog.")
    assert fixed_precision(case, graded(case, {}), EVEN).value == 0.0


def test_f1_equals_the_harmonic_mean() -> None:
    assert f1(0.5, 1.0) == pytest.approx(2 / 3)
    assert f1(0.0, 0.0) == 0.0
    assert f1(0.25, 0.25) == 0.25


def test_questions_say_denial_and_name_both_ends() -> None:
    relations = [
        q
        for _, q in unit_questions(
            scene_graph(parse("A man without a hat is on a bench."))
        )
    ]
    question_parts = [(q.kind, q.text, q.subject, q.object) for q in relations]
    assert ("entity", "man", "", "") in question_parts
    assert ("relation", "not with", "man", "hat") in question_parts
    assert ("relation", "on", "man", "bench") in question_parts


def test_an_attribute_is_not_asked_of_a_thing_that_is_named_by_it() -> None:
    text = "There is a green house and a blue house."
    questions = [q for _, q in unit_questions(scene_graph(parse(text)))]
    attribute_parts = [
        (q.text, q.subject) for q in questions if q.kind == "attribute"
    ]
    assert attribute_parts == [
        ("green", "first house"),
        ("blue", "second house"),
    ]
    assert [q.text for q in questions if q.kind == "entity"] == [
        "green house",
        "blue house",
    ]


def test_an_excused_unit_is_in_neither_the_mean_nor_the_list() -> None:
    """Grades 5, 1 and 5 without the relation: (1 + 0 + 1) / 3; the excused grade would give 1 / 2."""
    case = plan(
        "A man with a hat on a beach.", "A man with a scarf on a beach."
    )
    values = {("candidate", 0, "man"): 5.0, ("candidate", 0, "beach"): 5.0}
    grades = graded(case, values)
    for side in ("candidate", "reference"):
        for ask, grade in list(grades.items()):
            if ask.side == side and ask.question.kind == "relation":
                grades[ask] = replace(grade, excused=True)
    precision = fixed_precision(case, grades, EVEN)
    assert precision.value == pytest.approx(2 / 3)
    assert [unit.text for unit in precision.units] == ["man", "hat", "beach"]
    assert fixed_recall(case, grades, EVEN, "best").value == 0.0
