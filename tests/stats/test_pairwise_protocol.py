from __future__ import annotations

from typing import Any

import pytest

from beholder.errors import ConfigError
from beholder.kinds.agreement import caparena, docent
from toy.cases import each_case
from toy.vectors import load_vectors


def cases(name: str) -> list[Any]:
    """Outputs of the public coarse evaluation code of PoSh on made-up battles."""
    vectors = load_vectors("pairwise_protocol")[name]
    return [
        pytest.param(c, id=c["id"])
        for c in vectors
        if "error" not in c["expected"]
    ]


@pytest.mark.parametrize("case", cases("docent_cases"))
def test_docent_agreement_matches_the_public_code(
    case: dict[str, Any],
) -> None:
    result = docent.agreement(case["battles"], case["scores"])
    assert result == pytest.approx(case["expected"], abs=1e-9)


@pytest.mark.parametrize("case", cases("caparena_cases"))
def test_caparena_agreement_matches_the_public_code(
    case: dict[str, Any],
) -> None:
    result = caparena.agreement(case["battles"], case["scores_f1"])
    assert result == pytest.approx(case["expected"], abs=1e-9)


def judgment(label: int) -> dict[str, Any]:
    labels = {"mistakes": label, "omissions": label, "overall_quality": label}
    return {"generation1": "a", "generation2": "b", "labels": labels}


SCORES = {
    "a": {"precision": 0.5, "recall": 0.5, "f1": 0.5},
    "b": {"precision": 0.6, "recall": 0.6, "f1": 0.6},
}


def test_docent_with_ties_alone_has_a_stated_result() -> None:
    result = docent.agreement([judgment(2)], SCORES)
    assert result["mistakes_accuracy"] == 1.0
    assert result["mistakes_spearman"] is None
    assert result["mistakes_kendall_pvalue"] is None


def test_docent_counts_the_graded_labels_as_three_outcomes() -> None:
    # scores say second better by 0.1; no gold tie: threshold 0.1; labels 4 and 3 agree, 0 does not
    result = docent.agreement([judgment(4), judgment(3), judgment(0)], SCORES)
    assert result["omissions_accuracy"] == pytest.approx(2 / 3)
    assert (
        result["omissions_spearman"] is None
    )  # one pair of texts: the difference is constant


@each_case(
    ("battles", "scores", "words"),
    [
        ([], SCORES, "got none"),
        ([judgment(5)], SCORES, "expected 0 to 4, got 5"),
        ([judgment(1)], {"a": SCORES["a"]}, "nothing for generation 'b'"),
        ([judgment(1)], {**SCORES, "b": {"f1": 1.0}}, "no precision"),
        (
            [judgment(1)],
            {**SCORES, "b": {**SCORES["b"], "recall": float("nan")}},
            "recall is nan",
        ),
        ([{"labels": {}}], SCORES, "expected 0 to 4, got None"),
        ([{"labels": judgment(1)["labels"]}], SCORES, "no generation1"),
    ],
)
def test_docent_refuses_what_it_cannot_use(
    battles: list[Any], scores: dict[str, dict[str, float]], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        docent.agreement(battles, scores)


def battle(
    winner: str, model1: str = "x", cluster: str = "level 1"
) -> dict[str, Any]:
    return {
        "model1": model1,
        "model2": "y",
        "generation1": "a",
        "generation2": "b",
        "winner": winner,
        "cluster": cluster,
    }


def test_caparena_leaves_humans_out_and_counts_skips_as_ties() -> None:
    battles = [
        battle("model2"),
        battle("skip"),
        battle("bad", cluster="level 2"),
    ]
    with_human = [
        *battles,
        battle("model1", model1="human", cluster="level 3"),
    ]
    result = caparena.agreement(with_human, SCORES)
    assert result == caparena.agreement(battles, {"a": 0.5, "b": 0.6})
    # two gold ties of three equal differences: the threshold is 0.1, so all go to the second
    assert result["caption_overall"] == pytest.approx(1 / 3)
    assert result["caption_level_1"] == 0.5
    assert result["caption_level_2"] == 0.0
    assert result["model_spearman"] == 1.0  # y above x in both


def test_caparena_with_ties_alone_has_a_stated_result() -> None:
    result = caparena.agreement(
        [battle("equal"), battle("skip")], {"a": 0.1, "b": 0.9}
    )
    assert result["caption_overall"] == 1.0
    assert result["model_spearman"] is None


def test_caparena_refuses_what_it_cannot_use() -> None:
    with pytest.raises(ConfigError, match="none of 1 is between two models"):
        caparena.agreement([battle("model1", model1="human")], {})
    with pytest.raises(ConfigError, match="'draw'"):
        caparena.agreement([battle("draw")], SCORES)
    with pytest.raises(ConfigError, match=r"battles\[0\]: no winner"):
        caparena.agreement(
            [{k: v for k, v in battle("x").items() if k != "winner"}], SCORES
        )
