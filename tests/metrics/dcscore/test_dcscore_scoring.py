"""DCScore from ready verdicts: hand-calculated, and the values that the public script gave."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

import pytest

from beholder import DCScore
from beholder.errors import ConfigError
from beholder.metrics.dcscore import score_trials, score_units
from beholder.metrics.dcscore.scoring import reference_id
from toy.cases import each_case
from toy.vectors import load_vectors

RECORDED = load_vectors("dcscore")
YES = [1, 1, 1]
# Names in the vectors, which are the script's, and ours.
NAMES = {
    "precision": "precision",
    "recall": "recall",
    "f1_score": "f1",
    "precision_relevant": "relevant_precision",
    "recall_relevant": "relevant_recall",
    "f1_score_relevant": "relevant_f1",
    "dcscore": "dcscore",
}


def score(*arrays_of_case: Any, **options: Any) -> dict[str, Any]:
    return {**score_units(*arrays_of_case, **options)}


def arrays(
    case: Mapping[str, Any],
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    predicted = case["predicted"]
    return (
        [fact["verification"] for fact in predicted],
        [fact["match"] for fact in predicted],
        [fact.get("relevance") for fact in predicted],
        [fact["relevance"] for fact in case["reference"]],
    )


def as_the_script_sees(case: Mapping[str, Any]) -> dict[str, Any]:
    """The script keys by text: rows that both answers lack vanish, and of equal texts the last
    match and any relevance hold. ``score_units`` keys by index and knows no texts."""
    changes = case.get("perturbation", {})
    lost = set(changes.get("drop_ver", ())) & set(changes.get("drop_map", ()))
    rows = [fact for fact in case["predicted"] if fact["fact"] not in lost]
    last = {fact["fact"]: fact["match"] for fact in rows}
    visible = {fact["fact"] for fact in rows if fact.get("relevance") == 1}
    rows = [
        fact
        | {
            "match": last[fact["fact"]],
            "relevance": int(fact["fact"] in visible),
        }
        for fact in rows
    ]
    return {**case, "predicted": rows}


def test_values_are_those_of_the_public_script() -> None:
    checked = 0
    for case in RECORDED["cases"]:
        expected = case["expected_code"]
        if "error" in expected:
            continue
        values = score(*arrays(as_the_script_sees(case)), rules="code")
        for script_name, value_name in NAMES.items():
            assert values[value_name] == pytest.approx(
                expected[script_name], abs=1e-9
            ), (
                case["id"],
                value_name,
            )
        counts = values["counts"]
        assert (
            counts["references"] + counts["extra"]
            == expected["total_atomic_facts"]
        )
        relevant = counts["references_relevant"] + counts["relevant_extra"]
        assert relevant == expected["total_atomic_facts_relevant"]
        checked += 1
    assert checked >= 30


@pytest.mark.parametrize("rules", ["eq2_pairs", "eq2_distinct"])
def test_values_are_those_of_the_papers_equations(rules: Any) -> None:
    for case in RECORDED["cases"]:
        expected = case["expected_paper"]
        values = score(*arrays(case), rules=rules)
        for script_name, value_name in (
            ("precision", "precision"),
            (f"recall_{rules}", "recall"),
            (f"f1_{rules}", "f1"),
            ("hallucination_rate", "hallucination_rate"),
            ("omission_rate", "omission_rate"),
            ("omission_rate_verified_only", "omission_rate_verified"),
        ):
            if expected[script_name] is None:
                assert math.isnan(values[value_name]), (case["id"], value_name)
            else:
                assert values[value_name] == pytest.approx(
                    expected[script_name], abs=1e-9
                ), (case["id"], value_name)


def test_nine_trials_average_to_the_scripts_means() -> None:
    for case in RECORDED["aggregate_cases"]:
        relevant = [1] * case["n_reference"]
        trials = score_trials(
            case["verifications"], case["matches"], case["relevance"], relevant
        )
        values: dict[str, Any] = {**trials}
        for script_name, value_name in NAMES.items():
            expected = case["expected_mean_over_9_trials"][script_name]
            assert values[value_name] == pytest.approx(expected, abs=1e-9), (
                case["id"]
            )


# Three facts on reference 0, one of them verified, and one verified extra; |T| = 2. By hand:
# code (1/3 + 1) / 3, distinct (1 + 1) / 3, pairs (3 + 1) / 3.
@pytest.mark.parametrize(
    ("rules", "recall"),
    [
        ("code", 4 / 9),
        ("code_fixed", 4 / 9),
        ("eq2_distinct", 2 / 3),
        ("eq2_pairs", 4 / 3),
    ],
)
def test_rules_count_several_facts_on_one_reference_differently(
    rules: Any, recall: float
) -> None:
    values = score([1, 0, 0, 1], [0, 0, 0, None], [1] * 4, [1, 1], rules=rules)
    assert values["recall"] == pytest.approx(recall, abs=1e-12)
    assert values["precision"] == 0.5
    assert values["hallucination_rate"] == 0.5
    assert values["omission_rate"] == 0.5
    f1 = 2 * 0.5 * recall / (0.5 + recall)
    assert values["f1"] == pytest.approx(
        f1, abs=1e-8 if rules == "code" else 1e-12
    )


def test_fixed_rules_weigh_the_relevant_half_by_relevant_facts_alone() -> None:
    # One relevant and two irrelevant facts on reference 0: the script gives it 1/3.
    case = ([1, 1, 1], [0, 0, 0], [1, 0, 0], [1])
    assert score(*case)["relevant_recall"] == pytest.approx(1 / 3)
    assert score(*case, rules="code_fixed")["relevant_recall"] == 1.0


def test_relevant_recall_above_one_is_the_scripts_and_not_the_fixed_rules() -> (
    None
):
    case = ([1, 1, 1], [0, 1, 2], YES, [0, 0, 1])
    assert score(*case)["relevant_recall"] == 3.0
    assert score(*case, rules="code_fixed")["relevant_recall"] == 1.0
    assert score(*case, rules="eq2_distinct")["relevant_recall"] == 1.0


@each_case("odd", [99, -1, "", "none", "null", "a", 0.5, True, []])
def test_ids_that_no_reference_has_are_no_match(odd: object) -> None:
    values = score([1, 1], [odd, 0], [1, 1], [1, 1], rules="code_fixed")
    # One reference covered and one extra: 2 / 3.
    assert values["recall"] == pytest.approx(2 / 3)
    assert values["omission_rate"] == 0.5


def test_an_id_that_does_not_exist_is_flagged() -> None:
    assert score([1], [7], [1], [1])["flags"] == [
        "1 matches name a reference that does not exist"
    ]
    assert score([1], [None], [1], [1])["flags"] == []


@each_case("same", [0, "0", " 0 ", 0.0, [0], [0, 1]])
def test_one_id_written_differently_is_one_reference(same: object) -> None:
    values = score([1, 1], [same, 0], [1, 1], [1, 1], rules="code_fixed")
    assert values["recall"] == 0.5
    assert values["counts"]["references_matched"] == 1


def test_verdicts_may_be_words_and_truth_values() -> None:
    plain = score(
        [1, 0, 1, 0], [0, 1, None, None], [1] * 4, [1, 1], rules="code_fixed"
    )
    words = score(
        ["1", "false", True, 0.0],
        [0, 1, None, "None"],
        [None] * 4,
        [1, 1],
        rules="code_fixed",
    )
    assert words == plain


def test_no_predicted_fact_scores_zero_and_says_so() -> None:
    values = score([], [], [], [1, 1])
    assert (
        values["recall"],
        values["f1"],
        values["dcscore"],
        values["omission_rate"],
    ) == (0, 0, 0, 1)
    assert math.isnan(values["precision"])
    assert math.isnan(values["hallucination_rate"])
    assert math.isnan(values["relevant_f1"])
    assert "no predicted fact" in values["flags"]
    zero = score([], [], [], [1, 1], on_empty="zero")
    assert (zero["precision"], zero["relevant_f1"]) == (0, 0)
    with pytest.raises(ConfigError, match=r"precision.*not defined"):
        score([], [], [], [1, 1], on_empty="error")


def test_no_reference_fact_has_a_recall_only_with_verified_extras() -> None:
    nothing = score([0, 0], [None, None], [1, 1], [])
    assert math.isnan(nothing["recall"])
    assert math.isnan(nothing["f1"])
    some = score([1, 0], [None, None], [1, 1], [])
    assert (some["recall"], some["precision"]) == (1.0, 0.5)
    assert math.isnan(some["omission_rate"])
    assert "no reference fact" in some["flags"]


def test_no_relevant_fact_leaves_f1_for_dcscore() -> None:
    values = score([1, 1], [0, 1], [0, 0], [1, 1], rules="code_fixed")
    assert math.isnan(values["relevant_f1"])
    assert values["dcscore"] == values["f1"] == 1.0
    assert "no relevant half: dcscore is f1" in values["flags"]


def test_all_unmatched_counts_extras_and_omits_all() -> None:
    values = score([1, 1], [None, None], [1, 1], YES, rules="code_fixed")
    assert values["recall"] == pytest.approx(2 / 5)
    assert values["omission_rate"] == 1.0


def test_lengths_rules_and_verdicts_are_checked() -> None:
    with pytest.raises(ConfigError, match="verified 2, match 1"):
        score([1, 1], [0], [1, 1], [1])
    with pytest.raises(ConfigError, match="eq3"):
        score([1], [0], [1], [1], rules="eq3")
    with pytest.raises(ConfigError, match="maybe"):
        score(["maybe"], [0], [1], [1])


@pytest.mark.parametrize(
    ("verified", "match"), [([], [[0]]), ([[1]], []), ([], [])]
)
def test_trials_need_a_sample_of_each_kind(verified: Any, match: Any) -> None:
    with pytest.raises(ConfigError, match="at least one match sample and one"):
        score_trials(verified, match, [1], [1])


def test_order_of_facts_does_not_matter() -> None:
    rng = random.Random(7)
    for rules in ("code", "code_fixed", "eq2_distinct", "eq2_pairs"):
        verified = [rng.random() < 0.6 for _ in range(30)]
        match = [rng.choice([None, *range(12)]) for _ in range(30)]
        relevant = [rng.random() < 0.8 for _ in range(30)]
        order = rng.sample(range(30), 30)
        straight = score(verified, match, relevant, [1] * 12, rules=rules)
        turned = score(
            *(
                [column[i] for i in order]
                for column in (verified, match, relevant)
            ),
            [1] * 12,
            rules=rules,
        )
        for name, value in straight.items():
            assert turned[name] == pytest.approx(value), name


def test_variance_is_over_trials() -> None:
    # Two verification samples: precision 1 and 0, so the variance is 1/4.
    values = score_trials([[1], [0]], [[0]], [1], [1], "code_fixed")
    assert values["precision"] == 0.5
    assert values["variance"]["precision"] == 0.25


def test_score_units_hangs_on_the_metric_too() -> None:
    assert (
        DCScore.score_units([1], [0], [1], [1], rules="code_fixed")["f1"]
        == 1.0
    )


def test_every_value_by_hand() -> None:
    # P = 4 (two relevant), T = 3 (two relevant). Verified: 0, 1, 3. Matches: 0 -> 0, 1 -> 0,
    # 2 -> 1; fact 3 adds something (X = 1).
    values = score(
        [1, 1, 0, 1], [0, 0, 1, None], [1, 0, 1, 0], [1, 0, 1], "code_fixed"
    )
    assert values["precision"] == 3 / 4
    assert values["recall"] == (1 / 2 + 1 / 2 + 1) / (
        3 + 1
    )  # two share reference 0
    assert values["f1"] == pytest.approx(2 * 0.75 * 0.5 / 1.25)  # 0.6
    assert values["hallucination_rate"] == 1 / 4
    assert values["omission_rate"] == pytest.approx(
        1 / 3
    )  # of three, two have a match
    assert values["omission_rate_verified"] == pytest.approx(
        2 / 3
    )  # only reference 0
    # Relevant: facts 0 and 2, references 0 and 2; fact 2 lies on an irrelevant reference.
    assert values["relevant_precision"] == 1 / 2
    assert values["relevant_recall"] == 1 / 2
    assert values["relevant_f1"] == pytest.approx(1 / 2)
    assert values["dcscore"] == pytest.approx((0.6 + 0.5) / 2)
    assert values["flags"] == []
    assert values["counts"] == {
        "predicted": 4, "verified": 3, "matched": 3, "extra": 1, "relevant": 2,
        "relevant_verified": 1, "relevant_extra": 0, "references": 3, "references_matched": 2,
        "references_relevant": 2,
    }  # fmt: skip


def test_recall_counts_by_each_rule() -> None:
    # As above: sum of shares 1, distinct references 2 (unverified matches too), pairs 3; X = 1.
    case = ([1, 1, 0, 1], [0, 0, 1, None], [1, 0, 1, 0], [1, 0, 1])
    assert score(*case, "eq2_distinct")["recall"] == (2 + 1) / 4
    assert score(*case, "eq2_pairs")["recall"] == (3 + 1) / 4
    assert score(*case, "code")["recall"] == (1 + 1) / 4
    # The script divides the relevant half by all facts on a reference: 1/2 of relevant 2.
    assert score(*case, "code")["relevant_recall"] == (1 / 2) / 2
    assert score(*case, "eq2_distinct")["relevant_recall"] == 1 / 2


def test_an_unknown_relevance_counts_as_relevant_on_both_sides() -> None:
    values = score([1, 0], [0, None], [None, 0], [None, 0], "code_fixed")
    assert (values["relevant_precision"], values["relevant_recall"]) == (
        1.0,
        1.0,
    )
    assert values["counts"]["references_relevant"] == 1


def test_relevant_half_is_not_defined_without_a_relevant_fact() -> None:
    values = score([1], [0], [0], [1], "code_fixed")
    assert math.isnan(values["relevant_f1"])
    assert values["dcscore"] == values["f1"] == 1.0
    assert values["flags"] == ["no relevant half: dcscore is f1"]


def test_variance_is_that_of_the_trials() -> None:
    # Precision of the two verification samples: 1 and 1/2; each with one match sample.
    values = score_trials(
        [[1, 1], [1, 0]], [[0, 1]], [1, 1], [1, 1], "code_fixed"
    )
    assert values["precision"] == 3 / 4
    assert (
        values["variance"]["precision"]
        == ((1 - 0.75) ** 2 + (0.5 - 0.75) ** 2) / 2
    )
    assert values["counts"]["verified"] == 1.5


@each_case(
    ("raw", "expected"),
    [(0, 0), (2, 2), (3, None), (-1, None), ("1", 1), (" 2 ", 2), (1.0, 1), (1.5, None),
     (True, None), ([2, 0], 2), ((), None), ("None", None), (None, None), ("x", None)],
)  # fmt: skip
def test_the_id_of_a_reference_as_judges_write_it(
    raw: Any, expected: int | None
) -> None:
    assert reference_id(raw, 3) == expected


def test_matches_that_name_no_reference_are_counted() -> None:
    values = score(
        [1, 1, 1, 1], [5, "None", " null ", ""], [1] * 4, [1, 1], "code_fixed"
    )
    assert values["flags"] == [
        "1 matches name a reference that does not exist"
    ]
    assert values["recall"] == 4 / 6  # all four add something
