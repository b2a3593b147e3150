"""Values computed a second time, by the arithmetic of the docs, from what a score shows."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections import Counter
from statistics import fmean, harmonic_mean
from typing import Any

import pytest

from beholder import VCS, DCScore, Item, ItemScore, PoSh, Unit
from beholder.backends import BACKENDS, Request, Scripted
from beholder.metrics.accord import Accord
from beholder.metrics.vcs import VCSShort
from toy.facts import FactModel

PLAIN = (
    "A tall man holds a red cup. Beside him, a small dog sleeps on a wooden bench.",
    "A tall man holds a blue cup. Near him, two dogs sleep on a bench under a tree.",
)
SALAD = (
    "grey window the table long beside stands a woman dress in near wooden a the",
    "A woman in a long grey dress stands beside a wooden table near the window.",
)
TEXTS = {"plain": PLAIN, "words out of order": SALAD}


def f1(precision: float, recall: float) -> float:
    return (
        harmonic_mean([precision, recall])
        if min(precision, recall) > 0
        else 0.0
    )


def side(score: ItemScore, name: str) -> list[Unit]:
    return [unit for unit in score.units if unit.side == name]


class Digits(Scripted):
    """A model that grades by a digest of the question, and calls the unit "red" contradicted."""

    def __init__(self, model: str) -> None:
        def answer(request: Request) -> str:
            prompt = request.messages[-1].text
            rows = re.findall(
                r'<statement id="(\d+)">(.*?)</statement>', prompt
            )
            if rows:
                instead = "blue" if "blue" in prompt else None
                entries = [
                    {
                        "id": int(number),
                        "instead": instead if "red" in text else None,
                    }
                    for number, text in rows
                ]
                return json.dumps({"rows": entries})
            if "red" in prompt.rpartition("</target>")[2]:
                return "1"
            return str(1 + hashlib.sha256(prompt.encode()).digest()[0] % 5)

        super().__init__(answer, model=model)


if "digits" not in BACKENDS.names():
    BACKENDS.register("digits")(Digits)


# ------------------------------------------------------------------------------------ PoSh


def weighted_mean(units: list[Unit], *, equal: bool = False) -> float:
    """The mean of the units' scores by ``detail["weight"]``, or the plain one."""
    weights = [
        1.0 if equal else unit.detail.get("weight", 1.0) for unit in units
    ]
    scores = [unit.score or 0.0 for unit in units]
    return sum(s * w for s, w in zip(scores, weights, strict=True)) / sum(
        weights
    )


@pytest.mark.parametrize("judge", ["builtin", "digits:m"])
@pytest.mark.parametrize("rules", ["fixed", "reference"])
@pytest.mark.parametrize("kind", TEXTS)
def test_posh_is_the_weighted_mean_of_its_units_times_the_order(
    kind: str, rules: Any, judge: str
) -> None:
    score = PoSh(judge=judge, rules=rules, asking="one").score_text(
        *TEXTS[kind]
    )
    factor = score.detail["in_order"]
    assert (
        factor == pytest.approx(0.2)
        if (kind, rules)
        == (
            "words out of order",
            "fixed",
        )
        else factor == 1.0
    )
    precision = factor * weighted_mean(side(score, "candidate"))
    recall = factor * weighted_mean(side(score, "reference"))
    assert score.values["precision"] == pytest.approx(precision, abs=1e-12)
    assert score.values["recall"] == pytest.approx(recall, abs=1e-12)
    assert score.values["f1"] == pytest.approx(
        f1(precision, recall), abs=1e-12
    )
    ours = side(score, "candidate")
    for rate, verdict in (
        ("contradicted_rate", "contradicted"),
        ("unstated_rate", "unstated"),
    ):
        assert score.values[rate] == fmean(
            unit.verdict == verdict for unit in ours
        )


def test_posh_with_several_references_is_recomputed_with_what_they_recall_of_each_other() -> (
    None
):
    references = [
        PLAIN[1],
        "A man with a cup stands by a dog.",
        "A dog on a bench.",
    ]
    score = PoSh().score_text(PLAIN[0], references)
    reference_units = side(score, "reference")
    recalls = [
        weighted_mean([u for u in reference_units if u.reference_index == i])
        for i in range(3)
    ]
    recall, peers = fmean(recalls), score.detail["peers"]
    assert 0 < peers < 1
    recall /= recall + peers * (1 - recall)
    assert score.values["recall"] == pytest.approx(recall, abs=1e-12)
    precision = weighted_mean(side(score, "candidate"))
    assert score.values["precision"] == pytest.approx(precision, abs=1e-12)


@pytest.mark.parametrize("judge", ["builtin", "digits:m"])
def test_equal_weights_are_the_plain_mean_of_the_paper_also_of_contradicted_units(
    judge: str,
) -> None:
    score = PoSh(judge=judge, weighting="equal", asking="one").score_text(
        *PLAIN
    )
    assert any(unit.verdict == "contradicted" for unit in score.units)
    assert any(unit.verdict == "match" for unit in score.units)
    for name, value in (("candidate", "precision"), ("reference", "recall")):
        plain = weighted_mean(side(score, name), equal=True)
        assert score.values[value] == pytest.approx(plain, abs=1e-12)
        assert {unit.detail["weight"] for unit in side(score, name)} == {1.0}
    # The default differs in both: what words say, and five times for a contradicted unit.
    weighed = PoSh(judge=judge, asking="one").score_text(*PLAIN)
    assert len({unit.detail["weight"] for unit in weighed.units}) > 3
    assert weighed.values["precision"] != pytest.approx(
        score.values["precision"], abs=1e-3
    )


def test_the_published_rules_are_the_mean_of_the_grades_divided_by_five() -> (
    None
):
    score = PoSh(judge="digits:m", rules="reference").score_text(*PLAIN)
    for name, value in (("candidate", "precision"), ("reference", "recall")):
        units = side(score, name)
        # A part of an absent thing is not asked and counts 1.
        grades = [unit.detail["grade"] for unit in units]
        assert score.values[value] == pytest.approx(
            fmean(grades) / 5, abs=1e-3
        )
        assert min(unit.score or 0.0 for unit in units) >= 0.2


# ----------------------------------------------------------------------------------- Accord


@pytest.mark.parametrize("judge", ["builtin", "digits:m"])
@pytest.mark.parametrize("kind", TEXTS)
def test_accord_is_the_mean_of_three_times_order_and_consistency(
    kind: str, judge: str
) -> None:
    score = Accord(judge=judge).score_text(*TEXTS[kind])
    values, factor = score.values, score.values["in_order"]
    assert factor == score.detail["in_order"]
    assert factor < 0.5 if kind != "plain" else factor == 1
    mean = fmean([values["f1"], values["words"], values["sentence"]])
    assert values["accord"] == pytest.approx(
        factor * values["consistent"] * mean, abs=1e-12
    )
    precision = factor * weighted_mean(side(score, "candidate"))
    recall = factor * weighted_mean(side(score, "reference"))
    assert values["precision"] == pytest.approx(precision, abs=1e-12)
    assert values["recall"] == pytest.approx(recall, abs=1e-12)
    assert values["f1"] == pytest.approx(f1(precision, recall), abs=1e-12)


# ---------------------------------------------------------------------------------- DCScore


def half(
    rules: str, facts: list[Any], counted: list[Any], n_targets: int
) -> tuple[float, float]:
    """Precision and recall of some facts, each (verified, target or None)."""
    extra = sum(verified and target is None for verified, target in facts)
    on_target = Counter(target for _, target in counted if target is not None)
    if rules in ("code", "code_fixed"):
        covered = sum(
            1 / on_target[t]
            for verified, t in facts
            if verified and t is not None
        )
    elif rules == "eq2_distinct":
        covered = len({target for _, target in facts if target is not None})
    else:
        covered = sum(target is not None for _, target in facts)
    precision = fmean(verified for verified, _ in facts)
    return precision, (covered + extra) / (n_targets + extra)


def by_hand(rules: str, score: ItemScore) -> dict[str, float]:
    """The values of DCScore from its units and detail, one sample, one reference."""
    predicted, targets = side(score, "candidate"), side(score, "reference")
    factor = score.detail["in_order"]
    facts = [
        (unit.detail["verified"], unit.detail["matched"][0])
        for unit in predicted
    ]
    relevant = [unit.detail["relevant"] for unit in predicted]
    relevant_facts = [
        fact for fact, counts in zip(facts, relevant, strict=True) if counts
    ]
    relevance = [unit.detail["relevant"] for unit in targets]
    if rules != "code":
        # A fact on a target that is not relevant neither covers nor adds anything.
        counted = [
            fact
            for fact in relevant_facts
            if fact[1] is None or relevance[fact[1]]
        ]
    else:
        counted = facts  # the script divides by all facts on a target, in both halves
    precision, recall = half(rules, facts, facts, len(targets))
    relevant_precision = fmean(verified for verified, _ in relevant_facts)
    _, relevant_recall = half(
        rules,
        relevant_facts if rules == "code" else counted,
        counted,
        sum(relevance),
    )
    epsilon = 1e-8 if rules == "code" else 0.0

    def joined(p: float, r: float) -> float:
        return 2 * p * r / (p + r + epsilon)

    whole, part = (
        joined(precision, recall),
        joined(relevant_precision, relevant_recall),
    )
    values = {
        "f1": whole,
        "precision": precision,
        "recall": recall,
        "dcscore": (whole + part) / 2,
        "relevant_f1": part,
        "relevant_precision": relevant_precision,
        "relevant_recall": relevant_recall,
    }
    # The two rates say which facts are wrong or missing; the order of words does not change that.
    return {name: factor * value for name, value in values.items()} | {
        "hallucination_rate": 1 - precision,
        "omission_rate": 1
        - len({t for _, t in facts if t is not None}) / len(targets),
    }


RULES = ["code", "code_fixed", "eq2_distinct", "eq2_pairs"]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("kind", TEXTS)
def test_dcscore_follows_from_its_units_with_the_builtin_judge(
    kind: str, rules: Any
) -> None:
    score = DCScore(rules=rules).score_text(*TEXTS[kind])
    assert (score.detail["in_order"] < 0.5) == (kind != "plain")
    assert score.values == pytest.approx(by_hand(rules, score), abs=1e-9)
    assert 0 < score.values["precision"] < 1


def test_the_rules_of_dcscore_differ_and_each_follows_from_the_units() -> None:
    """Two facts on one target, one of them wrong; a new true fact; facts that are not relevant."""
    candidate = "A dog runs. The dog is red. A cat sleeps. A bird sings?. The dog is brown."
    reference = "A dog runs. The dog is brown. A tree stands?."

    def answers(operation: str, _: int, rows: list[Any]) -> list[Any]:
        if operation == "matches":
            place_by_row = dict(enumerate([0, 1, None, 2, 1]))
            return [
                {**row, "reference": place_by_row[n]}
                for n, row in enumerate(rows)
            ]
        if operation == "rows":
            right = [True, False, True, True, True]
            return [
                {**row, "supported": right[n]} for n, row in enumerate(rows)
            ]
        return rows

    recalls = {}
    for rules in RULES:
        metric = DCScore(judge="scripted:x", rules=rules)  # type: ignore[arg-type]
        tools = FactModel(spoil=answers).tools()
        score = metric.score_text(candidate, reference, tools=tools)
        assert score.values == pytest.approx(by_hand(rules, score), abs=1e-9)
        recalls[rules] = score.values["recall"]
    # Verified: all but the second. 3 targets and 1 extra make 4. Covered: 1 + 1/2 + 1 (two facts share
    # the second target); 3 distinct targets; 4 matched facts. Each plus the extra.
    assert recalls == pytest.approx(
        {
            "code": 3.5 / 4,
            "code_fixed": 3.5 / 4,
            "eq2_distinct": 1.0,
            "eq2_pairs": 1.25,
        }
    )


# -------------------------------------------------------------------------------------- VCS

LONG = (
    "He opens the heavy door. A dog barks at him. He sits down at the table. He drinks tea.",
    "A man opens a door. He sits at a table in the kitchen. His dog barks. Then he has some tea.",
)


@pytest.mark.parametrize("rules", ["fixed", "paper", "package", "head"])
@pytest.mark.parametrize(
    "texts", [LONG, SALAD], ids=["plain", "words out of order"]
)
def test_vcs_follows_from_its_units_and_values(
    texts: tuple[str, str], rules: Any
) -> None:
    score = VCS(rules=rules).score_text(*texts)
    values, factor = score.values, score.detail["in_order"]
    assert (factor < 0.5) == (texts is SALAD and rules == "fixed")
    # Chunks of one sentence each: a unit's score is the similarity of its match.
    p = fmean(unit.score or 0.0 for unit in side(score, "candidate"))
    r = fmean(unit.score or 0.0 for unit in side(score, "reference"))
    assert values["las_precision"] == pytest.approx(p, abs=1e-6)
    assert values["las_recall"] == pytest.approx(r, abs=1e-6)
    assert values["las"] == pytest.approx(f1(p, r), abs=1e-6)
    sas = max(0.0, (values["gas"] - (1 - values["las"])) / values["las"])
    assert values["sas"] == pytest.approx(sas, abs=1e-9)
    for name in ("nas_d", "nas_l"):
        joined = f1(values[f"{name}_precision"], values[f"{name}_recall"])
        assert values[name] == pytest.approx(joined, abs=1e-9)
    assert values["nas_f1"] == pytest.approx(
        f1(values["nas_d"], values["nas_l"]), abs=1e-9
    )
    regularizer = values["regularizer"]
    nas = (
        max(0.0, (values["nas_f1"] - regularizer) / (1 - regularizer))
        if regularizer < 1
        else 0.0
    )
    assert values["nas"] == pytest.approx(nas, abs=1e-9)
    higher = max(sas, nas)
    vcs = factor * max(0.0, (sas + nas - 1) / higher) if higher else 0.0
    assert values["vcs"] == pytest.approx(vcs, abs=1e-9)


@pytest.mark.parametrize("rules", ["paper", "package", "head"])
def test_published_vcs_short_has_the_formula_of_vcs(rules: Any) -> None:
    score = VCSShort(rules=rules).score_text(
        "A dog runs on a beach.", "A dog on the wet beach."
    )
    values = score.values
    p = fmean(unit.score or 0.0 for unit in side(score, "candidate"))
    r = fmean(unit.score or 0.0 for unit in side(score, "reference"))
    sas = max(0.0, (values["gas"] - (1 - f1(p, r))) / f1(p, r))
    assert values["sas"] == pytest.approx(sas, abs=1e-6)
    higher = max(values["sas"], values["nas"])
    vcs = max(0.0, (values["sas"] + values["nas"] - 1) / higher)
    assert values["vcs"] == pytest.approx(vcs, abs=1e-9)


# -------------------------------------------------------------------- signatures and languages


def test_no_factor_is_shown_for_another_language() -> None:
    """The rule knows English words; a row in German keeps all, and the detail says so."""
    item = Item("x", SALAD[0], (SALAD[1],), group={"language": "German"})
    dcscore = DCScore(judge="scripted:x")
    evidence = asyncio.run(dcscore.gather(item, FactModel().tools()))
    assert dcscore.score_item(item, evidence).detail["in_order"] == 1.0
