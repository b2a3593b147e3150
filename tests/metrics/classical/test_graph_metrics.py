"""Metrics over scene-graph facts and over parts, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
import pytest

from beholder.embed import EMBEDDERS
from beholder.embed.base import Embedder, FloatArray
from beholder.metrics import metric
from beholder.metrics.classical.spice import (
    CAPTURE,
    SPICE,
    Fact,
    FactEvidence,
    Facts,
    SoftSPICE,
    facts,
    phrase,
)
from beholder.records import Item, ItemScore

VECTORS = {
    "dog": (1.0, 0.0),
    "cat": (0.6, 0.8),
    "car": (0.0, 1.0),
    "red dog": (1.0, 0.0),
}


class TwoNumbers(Embedder):
    """Known words have known vectors; everything else points along the first axis."""

    per_process = True

    @property
    def identity(self) -> str:
        return "two"

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        return np.array(
            [VECTORS.get(text, (1.0, 0.0)) for text in texts], dtype=np.float32
        )


if "two_numbers" not in EMBEDDERS.names():
    EMBEDDERS.register("two_numbers")(TwoNumbers)


def evidence(
    candidate_facts: AbstractSet[Fact], reference_facts: AbstractSet[Fact]
) -> FactEvidence:
    def side(objects_and_attributes: AbstractSet[Fact]) -> Facts:
        kinds = ("objects", "attributes", "relations")
        return {
            kind: {fact for fact in objects_and_attributes if len(fact) == n}
            for n, kind in enumerate(kinds, start=1)
        }

    vectors = {
        phrase(fact): np.array(VECTORS.get(phrase(fact), (1.0, 0.0)))
        for fact in candidate_facts | reference_facts
    }
    return FactEvidence(side(candidate_facts), side(reference_facts), vectors)


ITEM = Item("a", "x", ("y",))


def test_spice_counts_equal_facts() -> None:
    both_sides = evidence(
        {("dog",), ("dog", "red"), ("car",)}, {("dog",), ("dog", "blue")}
    )
    values = SPICE().score_item(ITEM, both_sides).values
    assert values["precision"] == pytest.approx(1 / 3)
    assert values["recall"] == pytest.approx(1 / 2)
    assert values["f1"] == pytest.approx(0.4)


def test_softspice_takes_the_best_cosine() -> None:
    # candidate dog, cat; references car: cosines 0 and 0.8
    values = (
        SoftSPICE()
        .score_item(ITEM, evidence({("dog",), ("cat",)}, {("car",)}))
        .values
    )
    assert values["precision"] == pytest.approx(0.4)
    assert values["recall"] == pytest.approx(0.8)


def test_capture_matches_in_stages_and_weighs_kinds() -> None:
    # objects: dog = dog, sofa ~ couch by synonym, cat left with car: 0.8, so 2.8 / 3 both ways;
    # attributes: (dog, red) has nothing opposite, so 0. Weights 5 and 5.
    candidate_facts = {("dog",), ("sofa",), ("cat",), ("dog", "red")}
    reference_facts = {("dog",), ("couch",), ("car",)}
    values = (
        CAPTURE()
        .score_item(ITEM, evidence(candidate_facts, reference_facts))
        .values
    )
    assert values["capture"] == pytest.approx((2.8 / 3) * 5 / 10)


def test_facts_of_a_text_leave_out_what_it_denies() -> None:
    text_facts = facts(("A red dog chases a cat.",), "builtin")
    assert {("dog",), ("cat",)} <= text_facts["objects"]
    assert ("dog", "red") in text_facts["attributes"]
    assert ("dog", "chase", "cat") in text_facts["relations"]
    assert ("cat",) not in facts(("A dog sits. There is no cat.",), "builtin")[
        "objects"
    ]


def test_units_of_parts_stand_where_their_text_is() -> None:
    text = "A red dog chases a cat."
    built = metric("sg_embed(embedder='two_numbers')")
    (score,) = built.score([Item("a", text, ("A dog sleeps.",))])
    assert isinstance(score, ItemScore)
    ours = [unit for unit in score.units if unit.side == "candidate"]
    assert {unit.kind for unit in ours} == {"entity", "attribute", "relation"}
    for unit in ours:
        if unit.kind == "entity":
            assert [text[a:b].casefold() for a, b in unit.spans] == [unit.text]


def test_four_word_runs_stay_within_a_sentence() -> None:
    text = "A dog runs on sand. It barks."
    built = metric("ngram_embed(embedder='two_numbers')")
    (score,) = built.score([Item("a", text, ("A dog.",))])
    assert isinstance(score, ItemScore)
    ours = [unit.text for unit in score.units if unit.side == "candidate"]
    assert ours == ["A dog runs on", "dog runs on sand", "It barks"]


def test_token_f1_aligns_words_by_their_best_cosine() -> None:
    built = metric("token_f1(embedder='two_numbers', weights='none')")
    # dog finds dog (1), cat finds dog (0.6) better than car (0.8)? cat-car is 0.8: P = (1 + 0.8)/2;
    # dog finds dog (1), car finds cat (0.8): R = 0.9
    values = built.score_text("dog cat", "dog car").values
    assert values["precision"] == pytest.approx(0.9)
    assert values["recall"] == pytest.approx(0.9)


def test_token_f1_weighs_rare_words_more() -> None:
    plain = metric("token_f1(embedder='two_numbers', weights='none')")
    weighed = metric("token_f1(embedder='two_numbers')")
    # "the" lies along dog and matches nothing of car; it is frequent, so it costs less when weighed
    texts = ("the car", "car")
    assert (
        weighed.score_text(*texts).values["f1"]
        > plain.score_text(*texts).values["f1"]
    )


def test_cosine_takes_the_best_or_the_mean_reference() -> None:
    best = metric("cosine(embedder='two_numbers')").score_text(
        "dog", ["cat", "car"]
    )
    mean = metric(
        "cosine(embedder='two_numbers', references='mean')"
    ).score_text("dog", ["cat", "car"])
    assert best.values["cosine"] == pytest.approx(0.6)
    assert mean.values["cosine"] == pytest.approx(0.3)
