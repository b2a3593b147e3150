"""What ``rules="fixed"`` mends in the published protocol: old value beside new.

Old values follow from the published rules by hand: grades of a scripted judge, mean / 5.
"""

from __future__ import annotations

import pytest

from beholder import PoSh
from beholder.errors import ConfigError, ItemError
from beholder.judges import Grade
from beholder.judges.grades import rule_grade
from beholder.language import parse, scene_graph
from beholder.metrics.posh import Ask, Plan
from beholder.records import ItemScore, Unit

FIXED, PUBLISHED = PoSh(), PoSh(rules="reference")


def answered(
    metric: PoSh, candidate: str, reference: str, grade: float
) -> ItemScore:
    """The score when every question gets the same grade."""
    first, second = (
        scene_graph(parse(text), metric.rules)
        for text in (candidate, reference)
    )
    plan = Plan(first, (second,), threshold=2.0)
    grades: dict[Ask, Grade] = {}
    while asks := metric.open_wave(plan, grades).asks:
        grades.update({ask: rule_grade(grade) for ask in asks})
    return metric.score_answers(plan, grades)


def unit(score: ItemScore, text: str, side: str = "candidate") -> Unit:
    return next(
        u for u in score.units if u.text.lower() == text and u.side == side
    )


def test_lowest_grade_everywhere_is_a_fifth_by_the_published_rules_and_0_now() -> (
    None
):
    texts = ("A dog sleeps.", "A cat runs.")
    assert answered(PUBLISHED, *texts, 1.0).values["f1"] == pytest.approx(0.2)
    assert answered(FIXED, *texts, 1.0).values["f1"] == 0.0


def test_highest_grade_everywhere_is_1_in_both() -> None:
    texts = ("A red dog sleeps on a mat.", "A cat runs.")
    assert answered(PUBLISHED, *texts, 5.0).values["f1"] == pytest.approx(1.0)
    assert answered(FIXED, *texts, 5.0).values["f1"] == pytest.approx(1.0)


def test_grade_3_everywhere_is_three_fifths_or_a_half() -> None:
    texts = ("A red dog sleeps on a mat.", "A cat runs.")
    assert answered(PUBLISHED, *texts, 3.0).values[
        "precision"
    ] == pytest.approx(0.6)
    assert answered(FIXED, *texts, 3.0).values["precision"] == pytest.approx(
        0.5
    )


def test_attributes_of_absent_entities_are_not_asked_by_the_published_rules() -> (
    None
):
    # entities graded 1.5 < 2 are absent: their attribute gets 1, so (1.5 + 1) / 2 / 5 = 0.25
    score = answered(PUBLISHED, "A red cup.", "A plate.", 1.5)
    assert score.values["precision"] == pytest.approx(0.25)


def test_two_like_things_need_two_counterparts() -> None:
    texts = ("There is a man. There is a man.", "There is a man.")
    old = [
        u.verdict
        for u in PUBLISHED.score_text(*texts).units
        if u.text == "man"
    ]
    new = [
        u.verdict for u in FIXED.score_text(*texts).units if u.text == "man"
    ]
    assert old == ["match", "match", "match"]
    assert sorted(map(str, new)) == ["match", "match", "unstated"]


def test_an_attribute_is_not_asked_of_an_entity_that_is_named_by_it() -> None:
    text = "A tall man and a short man stand."
    plan = Plan(
        scene_graph(parse(text)), (scene_graph(parse(text)),), threshold=3.0
    )
    questions = [ask.question for ask in FIXED.open_wave(plan, {}).asks]
    tall = [q for q in questions if q.kind == "attribute" and q.text == "tall"]
    assert tall
    assert all("tall" not in q.subject for q in tall)


def test_a_negation_contradicts_what_it_denies() -> None:
    texts = (
        "There are no people in the park.",
        "There are people in the park.",
    )
    assert unit(PUBLISHED.score_text(*texts), "people").verdict == "match"
    assert unit(FIXED.score_text(*texts), "people").verdict == "contradicted"


def test_words_for_the_picture_carry_no_unit() -> None:
    text = "The image shows a cat."
    assert "image" in {u.text for u in PUBLISHED.score_text(text, text).units}
    assert {u.text for u in FIXED.score_text(text, text).units} == {"cat"}


def test_capitalised_attributes_keep_their_place() -> None:
    text = "Two dogs run."
    two = unit(FIXED.score_text(text, text), "two")
    assert [text[a:b] for a, b in two.spans] == ["Two"]


def test_a_group_word_says_how_many() -> None:
    score = FIXED.score_text("A trio of women sings.", "Four women sing.")
    assert unit(score, "trio").verdict == "contradicted"
    assert unit(score, "trio").detail["contradiction"].lower() == "four"


def test_a_wrong_attribute_says_what_the_other_text_has() -> None:
    score = FIXED.score_text("A red car.", "A blue car.")
    assert unit(score, "red").detail["contradiction"] == "blue"


def test_precision_is_against_the_union_and_recall_the_best_or_the_mean() -> (
    None
):
    references = ["A red car.", "A car and a dog."]
    candidate = "A red car and a dog."
    best = PoSh().score_text(candidate, references).values
    mean = PoSh(references="mean").score_text("A red car.", references).values
    alone = PoSh().score_text("A red car.", references[1]).values["recall"]
    assert best["precision"] == pytest.approx(1.0, abs=1e-6)
    assert best["recall"] == pytest.approx(1.0, abs=1e-6)
    assert mean["recall"] == pytest.approx((1.0 + alone) / 2, abs=1e-6)


def test_weights_of_kinds_decide_what_counts() -> None:
    only = PoSh(entity_weight=0.0, attribute_weight=1.0, relation_weight=0.0)
    score = only.score_text("A wooden cup.", "A plastic cup on a table.")
    assert score.values["precision"] == pytest.approx(
        unit(score, "wooden").score
    )


def test_a_candidate_that_names_nothing_has_precision_0() -> None:
    assert FIXED.score_text("Wow!", "A dog runs.").values["precision"] == 0.0


def test_references_that_name_nothing_are_a_reason() -> None:
    with pytest.raises(ItemError, match="names anything"):
        FIXED.score_text("A dog.", "Wow!")


def test_another_language_is_refused_with_the_way_out() -> None:
    german = (
        "Ein alter Mann sitzt auf einer Bank und liest eine Zeitung im Park."
    )
    with pytest.raises(ItemError, match=r"reads English.*openai:MODEL"):
        FIXED.score_text("A man sits on a bench.", german)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rules": "paper"},
        {"presence_threshold": 6.0},
        {"presence_threshold": 0.0},
        {"lexical_weight": 2.0},
        {"entity_weight": -1.0},
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        PoSh(**wrong)  # type: ignore[arg-type]


def test_lists_of_absent_things_gain_nothing() -> None:
    reference = "A man in a red coat holds a cup in the street."
    plain = "A man holds a cup."
    for more in (
        " There is no elephant. There are no cars.",
        " He is without a dog.",
    ):
        longer, shorter = (
            FIXED.score_text(text, reference) for text in (plain + more, plain)
        )
        assert longer.values["precision"] < shorter.values["precision"]
        assert longer.values["f1"] < shorter.values["f1"]
