"""Which scale grades are on, from which grade a unit is there, and units that give the values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from training.english import pipeline

from beholder import PoSh
from beholder.backends import BACKENDS, Answer, Request, Sample, Scripted
from beholder.errors import ConfigError
from beholder.judges import LLMJudge
from beholder.judges.operations import Operation, Rewrite
from beholder.language.links import COREFERENCES, Coreference, SpanClusters
from beholder.records import ItemScore, Unit
from toy.tools import OneJudge

TEXTS = (
    "A tall man holds a red cup.",
    "A man holds a cup near a dog. He smiles.",
)


class Always(Scripted):
    """Grades everything by the model's name, with a doubt; rewrites by adding THE."""

    def __init__(self, model: str) -> None:
        def answer(request: Request) -> str | Answer:
            prompt = request.messages[-1].text
            if "noun phrase" in prompt:
                return (
                    "THE "
                    + prompt.split("<phrase>\n")[1].split("\n</phrase>")[0]
                )
            if "Your digit" not in prompt:
                return '{"rows": []}'
            grade = model if model.isdigit() else str(1 + len(prompt) % 5)
            if "THE tall man" in prompt:
                grade = "5"
            return Answer(
                (Sample(grade, "length", ((grade, math.log(0.9)),)),), model
            )

        super().__init__(answer, model=model, top_logprobs=20)


if "always" not in BACKENDS.names():
    BACKENDS.register("always")(Always)


def verdicts(judge: str, **options: object) -> set[str | None]:
    metric = PoSh(judge=judge, contradictions=False, **options)  # type: ignore[arg-type]
    return {unit.verdict for unit in metric.score_text(*TEXTS).units}


@pytest.mark.parametrize("rules", ["fixed", "reference"])
def test_who_always_says_cannot_be_told_finds_nothing(rules: str) -> None:
    unsure = "always('3', scale='certainty')"
    assert verdicts(unsure, rules=rules) == {"unstated", "omission"}
    assert verdicts("always('4', scale='certainty')", rules=rules) == {"match"}


def test_a_weak_hint_is_a_mention_by_the_published_threshold() -> None:
    assert verdicts("always:2") == {"match"}
    assert verdicts("always:1") == {"unstated", "omission"}
    assert verdicts("always:2", presence_threshold=2.5) == {
        "unstated",
        "omission",
    }


def test_a_panel_counts_from_the_mean_of_its_members_thresholds() -> None:
    panel = "panel(members=[always('3'), always('3', scale='certainty')])"
    score = PoSh(judge=panel, contradictions=False).score_text(*TEXTS)
    assert score.detail["presence_threshold"] == 2.75
    assert {unit.verdict for unit in score.units} == {"match"}


def test_an_unknown_scale_is_refused() -> None:
    with pytest.raises(
        ConfigError,
        match=r"scale='doubt': expected one of 'mention', 'certainty'",
    ):
        PoSh(judge="always('3', scale='doubt')").score_text(*TEXTS)


def side(score: ItemScore, name: str) -> list[Unit]:
    return [unit for unit in score.units if unit.side == name]


def recomputed(units: list[Unit]) -> float:
    """The mean of the scores shown, each with the weight shown."""
    weights = [unit.detail.get("weight", 1.0) for unit in units]
    total = sum(
        u.score * w for u, w in zip(units, weights, strict=True) if u.score
    )
    return float(total / sum(weights))


def check(score: ItemScore, values: Mapping[str, float]) -> None:
    p, r = (
        recomputed(side(score, "candidate")),
        recomputed(side(score, "reference")),
    )
    assert values["precision"] == pytest.approx(p, abs=1e-12)
    assert values["recall"] == pytest.approx(r, abs=1e-12)
    assert values["f1"] == pytest.approx(2 * p * r / (p + r), abs=1e-12)


@pytest.mark.parametrize(
    "judge", ["builtin", "always:hash", "always('hash', scale='certainty')"]
)
@pytest.mark.parametrize("rules", ["fixed", "reference"])
def test_values_follow_from_the_units_that_are_shown(
    judge: str, rules: str
) -> None:
    score = PoSh(judge=judge, rules=rules).score_text(*TEXTS)  # type: ignore[arg-type]
    assert len({unit.score for unit in score.units}) > 1
    check(score, score.values)


def test_weights_of_kinds_and_words_are_among_what_is_shown() -> None:
    metric = PoSh(
        judge="always:hash", attribute_weight=3.0, relation_weight=0.5
    )
    score = metric.score_text(*TEXTS)
    assert len({unit.detail["weight"] for unit in score.units}) > 3
    check(score, score.values)
    even = PoSh(judge="always:hash", weighting="equal").score_text(*TEXTS)
    assert {unit.detail["weight"] for unit in even.units} == {1.0}
    check(even, even.values)


def test_a_judge_words_identifiers_where_it_is_asked_to() -> None:
    texts = ("A tall man sees a red cup.", "A man.")
    plain = PoSh(judge="always:3", rules="reference").score_text(*texts)
    worded = PoSh(
        judge="always:3", rules="reference", identifiers="judge"
    ).score_text(*texts)

    def names(score: ItemScore) -> set[str]:
        return {unit.detail["identifier"] for unit in side(score, "candidate")}

    assert "man" in names(plain)
    assert "THE tall man" in names(worded)
    check(worded, worded.values)
    # man 5 and cup 3; "tall" of THE tall man 5, "red" 3; the relation from THE tall man 5
    assert worded.values["precision"] == pytest.approx(
        (5 + 3 + 5 + 3 + 5) / 5 / 5
    )


class Listed(Coreference):
    """Says that "He" is the man of the texts above."""

    def clusters(self, text: str) -> SpanClusters:
        he = text.find("He ")
        return (
            [[(text.index("man") - 2, text.index("man") + 3), (he, he + 2)]]
            if he > 0
            else []
        )


if "listed" not in COREFERENCES.names():
    COREFERENCES.register("listed")(Listed)


@pytest.mark.parametrize("rules", ["fixed", "reference"])
def test_the_coreference_is_the_one_that_is_named(rules: str) -> None:
    def owners(coref: str) -> set[str]:
        metric = PoSh(judge="always:5", rules=rules, coref=coref)  # type: ignore[arg-type]
        units = side(metric.score_text(*TEXTS), "reference")
        return {
            u.detail.get("of") or u.detail["identifier"]
            for u in units
            if u.text == "smiles"
        }

    assert owners("listed") == owners("builtin") != set()
    assert owners("none") != owners("listed")
    with pytest.raises(
        ConfigError, match=r"no coreference 'nearest'.*'none', 'fastcoref'"
    ):
        owners("nearest")


def test_the_parser_is_the_one_that_is_named(tmp_path: Path) -> None:
    pipeline.load().to_disk(tmp_path / "english")
    name = f"spacy:{tmp_path / 'english'}"
    for rules in ("fixed", "reference"):
        metric = PoSh(judge="always:hash", rules=rules, parser=name)
        plain = PoSh(judge="always:hash", rules=rules)
        assert (
            metric.score_text(*TEXTS).values == plain.score_text(*TEXTS).values
        )
        assert f"|parser:{name}|" in metric.signature()
    with pytest.raises(ConfigError, match="no_such_model"):
        PoSh(parser="spacy:no_such_model").score_text(*TEXTS)


def test_each_reference_is_recalled_by_its_own_units() -> None:
    candidate = "A tall man holds a red cup."
    references = (
        "A man holds a blue cup on a bench.",
        "Two dogs run. A small bird sings.",
    )
    posh_metric = PoSh(
        judge="always:hash", rules="reference", references="mean"
    )
    both = posh_metric.score_text(candidate, references).values["recall"]
    each = [
        posh_metric.score_text(candidate, reference).values["recall"]
        for reference in references
    ]
    assert each[0] != each[1]
    assert both == pytest.approx(sum(each) / 2)


class Grader(LLMJudge):
    """A judge that words nothing."""

    def can(self, kind: type[Operation[Any]]) -> bool:
        return kind is not Rewrite and super().can(kind)


def test_a_judge_that_words_no_identifiers_is_refused_where_it_should() -> (
    None
):
    tools = OneJudge(Grader(Scripted(lambda _: "3", top_logprobs=20)))
    reference_posh = PoSh(
        judge="x", rules="reference", identifiers="judge", asking="one"
    )
    with pytest.raises(ConfigError, match="rewrite"):
        reference_posh.identities(tools)
    for other_posh in (
        PoSh(judge="x", rules="fixed", identifiers="judge", asking="one"),
        PoSh(judge="x", rules="reference", asking="one"),
    ):
        assert other_posh.identities(tools)["asking"] == "one"
