"""Accord: expected values by hand, on vectors and texts made for it."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace

import numpy as np
import pytest

from beholder import PoSh, metric
from beholder.base import fingerprint
from beholder.embed import entailment, minilm
from beholder.errors import ConfigError, ItemError
from beholder.metrics import METRICS, Tools
from beholder.metrics.accord import Accord
from beholder.metrics.accord.metric import compare_wholes, exclusion_certainty
from beholder.metrics.wording import compare_words, read_all
from beholder.records import Item, ItemFailure
from toy.words import reading


def test_the_headline_metric_is_accord() -> None:
    assert metric("headline") == metric("accord") == Accord()
    assert (
        metric("headline(judge='openai:m')").name == "accord(judge='openai:m')"
    )
    assert "headline" not in METRICS.names()
    with pytest.raises(ConfigError, match="taken"):
        METRICS.register("headline")(Accord)


def test_wholes_are_half_the_best_and_half_the_centre() -> None:
    # Best: 1 with the first. Centre of two axes at a right angle: cosine 1 / sqrt(2) with each.
    similarity = compare_wholes(reading("qa"), [reading("qa"), reading("qb")])
    assert similarity == pytest.approx((1 + math.sqrt(0.5)) / 2)
    assert compare_wholes(reading("qa"), [reading("qb")]) == 0.0


REFERENCE = reading("qa qb qc qd")


TEXT = "A tall man holds a red cup."
OTHER_CUP = "A man holds a blue cup on a bench."


def test_the_value_is_the_mean_of_its_three_parts() -> None:
    values = Accord().score_text(TEXT, OTHER_CUP).values
    parts = [values[name] for name in ("f1", "words", "sentence")]
    assert values["in_order"] == 1.0
    assert values["accord"] == pytest.approx(
        values["consistent"] * sum(parts) / 3
    )
    # With one reference f1 is the harmonic mean of what PoSh gives for the units.
    assert values["f1"] == pytest.approx(
        2
        * values["precision"]
        * values["recall"]
        / (values["precision"] + values["recall"])
    )
    # The whole is the mean of unit vectors of tokens, which is near that of the tokens as they are.
    rows = [
        minilm.token_states([minilm.read_tokens(t).ids])[0].sum(axis=0)
        for t in (TEXT, OTHER_CUP)
    ]
    cosine = (
        rows[0] @ rows[1] / np.linalg.norm(rows[0]) / np.linalg.norm(rows[1])
    )
    assert values["sentence"] == pytest.approx(cosine, abs=0.01)


def test_words_of_several_references_are_set_beside_what_these_recall_of_one_another() -> (
    None
):
    texts = (TEXT, OTHER_CUP, "Someone drinks.")
    evidence = asyncio.run(
        Accord().gather(Item("i", TEXT, texts[1:]), Tools())
    )
    candidate, *references = asyncio.run(
        read_all(texts, Tools().encoder("minilm"))
    )
    near = compare_words(candidate, references)
    (there, back), (a, b) = (
        (compare_words(*pair).precision, compare_words(*pair).recall)
        for pair in (
            (references[0], references[1:]),
            (references[1], references[:1]),
        )
    )
    peers = (there + back) / 2  # of one another: each in the other
    assert (a, b) == (back, there)
    assert evidence.units.plan.peers == pytest.approx(peers)
    recall = near.recall / (near.recall + peers * (1 - near.recall))
    item_score = (
        Accord()
        .score_item(Item("i", TEXT, texts[1:]), evidence)
        .values["words"]
    )
    assert item_score == pytest.approx(
        2 * near.precision * recall / (near.precision + recall)
    )


def test_units_and_their_places_are_those_of_posh() -> None:
    several = (OTHER_CUP, "Someone drinks.")
    in_order, reversed_order = (
        Accord().score_text(TEXT, several),
        PoSh().score_text(TEXT, several),
    )
    assert in_order.units == reversed_order.units
    assert in_order.detail == reversed_order.detail
    for name in reversed_order.values:
        assert in_order.values[name] == reversed_order.values[name]


def test_a_copy_is_1_and_another_picture_is_near_0() -> None:
    assert Accord().score_text(OTHER_CUP, OTHER_CUP).values[
        "accord"
    ] == pytest.approx(1.0)
    foreign = (
        Accord()
        .score_text("Two planes fly over the sea.", OTHER_CUP)
        .values["accord"]
    )
    assert foreign < 0.15


def test_the_words_of_a_description_shuffled_fall_below_a_third() -> None:
    long = (
        "A woman in a grey coat stands at the corner of a busy street and waits for the bus. Behind"
        " her, a shop window shows three lamps. A boy with a dog on a leash walks past."
    )
    shuffled = " ".join(np.random.default_rng(1).permutation(long.split()))
    values = Accord().score_text(shuffled, long).values
    assert values["in_order"] == pytest.approx(0.2)
    assert values["accord"] < 0.3
    reordered = (
        "Behind a woman, a shop window shows three lamps. A boy walks past with a dog on a leash."
        " She stands at the corner of a busy street, in a grey coat, and waits for the bus."
    )
    assert Accord().score_text(reordered, long).values["in_order"] == 1.0


def test_the_signature_names_judge_and_encoder() -> None:
    signature = Accord().score_text(TEXT, OTHER_CUP).signature
    assert signature.startswith("accord|judge:builtin@")
    assert "|encoder:minilm@" in signature


def test_the_signature_covers_what_selects_sentences_whoever_judges() -> None:
    files = {
        path.name
        for path in fingerprint.file_digests("beholder.metrics.accord.metric")
    }
    assert {
        "entailment.onnx",
        "tokens.onnx",
        "entailed.py",
        "english.onnx",
    } <= files


def test_scores_do_not_depend_on_what_is_scored_beside() -> None:
    texts = [
        TEXT,
        OTHER_CUP,
        "A bench.",
        "A cup of tea stands on a small table by the window.",
    ]
    items = [
        Item(str(i), text, (OTHER_CUP, "Someone holds a cup."))
        for i, text in enumerate(texts)
    ]
    together = Accord().score(items)
    alone = [Accord().score([item])[0] for item in items]
    assert not any(isinstance(score, ItemFailure) for score in together)
    assert together == alone


def test_what_cannot_be_scored_has_a_reason() -> None:
    with pytest.raises(ItemError, match="names anything"):
        Accord().score_text("A dog.", "Hello.")
    with pytest.raises(ItemError, match="reads English"):
        Accord().score_text(
            "Ein Hund rennt über die grüne Wiese und bellt laut", "A dog."
        )


def test_the_worst_sentence_of_either_text_says_whether_one_excludes_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs_read: list[tuple[str, str]] = []

    def entail(pairs: list[tuple[str, str]]) -> np.ndarray:
        pairs_read.extend(pairs)
        return np.array(
            [
                [0.1, 0.0, 0.9] if "blue" in hypothesis else [0.2, 0.6, 0.2]
                for _, hypothesis in pairs
            ]
        )

    monkeypatch.setattr(entailment, "entail", entail)
    two = "A dog sleeps on the grass. A man holds a blue cup."
    # Excluded: 2 * 0.9 - 1 = 0.8, by the worst sentence of either text; the other has 0.2.
    assert exclusion_certainty(two, [TEXT]) == pytest.approx(0.8)
    assert exclusion_certainty(TEXT, [two]) == pytest.approx(0.8)
    # One reference of two that does not exclude it is enough; the nearest sentence is asked.
    assert exclusion_certainty(TEXT, [two, TEXT]) == 0.0
    assert ("A man holds a blue cup.", TEXT) in pairs_read
    assert exclusion_certainty("?", [TEXT]) == 0.0


def consistent(
    candidate: str, exclusion_certainty: float
) -> tuple[float, float]:
    """``consistent`` and ``words`` of a text beside ``TEXT``."""
    item = Item("i", candidate, (TEXT,))
    evidence = asyncio.run(Accord().gather(item, Tools()))
    values = (
        Accord()
        .score_item(item, replace(evidence, excluded=exclusion_certainty))
        .values
    )
    return values["consistent"], values["words"]


def test_contradictions_cost_the_more_the_nearer_the_words_are() -> None:
    # The default caution is a half: 1 - 0.5 * 0.8 * words ** 4.
    share, w = consistent("A man holds a cup.", 0.8)
    assert share == pytest.approx(1 - 0.4 * w * w * w * w)
    assert consistent(TEXT, 0.8)[0] == pytest.approx(0.6)
    # A contradicted unit, the blue cup, counts like a sentence that is surely excluded.
    share, w = consistent(OTHER_CUP, 0.2)
    assert share == pytest.approx(1 - 0.5 * w * w * w * w)


def test_no_sentence_is_compared_where_a_unit_is_contradicted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words_read: list[str] = []

    def exclusion_certainty(
        candidate: str, references: tuple[str, ...]
    ) -> float:
        words_read.append(candidate)
        return 0.2

    monkeypatch.setattr(
        "beholder.metrics.accord.metric.exclusion_certainty",
        exclusion_certainty,
    )
    for candidate, expected in ((OTHER_CUP, 1.0), (TEXT, 0.2)):
        item = Item("i", candidate, (TEXT,))
        assert asyncio.run(Accord().gather(item, Tools())).excluded == expected
    assert words_read == [TEXT]


@pytest.mark.parametrize(
    ("copy", "rest"),
    [
        ("A woman stacks lemons on a table.", "An old man buys three."),
        ("A dog sleeps on the grass.", "A child throws a ball."),
        ("A man reads a newspaper.", "A woman pours coffee."),
    ],
)
def test_an_omission_is_no_contradiction_and_neither_is_an_addition(
    copy: str, rest: str
) -> None:
    whole = f"{copy} {rest}"
    for candidate, reference in ((copy, whole), (rest, whole), (whole, copy)):
        assert (
            Accord().score_text(candidate, reference).values["consistent"]
            == 1.0
        )
    wrapped = f"Here's a detailed description of the image: {copy}"
    values = [
        Accord().score_text(text, whole).values["accord"]
        for text in (copy, wrapped)
    ]
    assert values[0] > values[1]


def test_a_repeated_sentence_is_right_whatever_another_exchanges() -> None:
    whole = "A man hugs a woman. A woman hugs a man."
    for candidate in ("A man hugs a woman.", "A woman hugs a man."):
        values = Accord().score_text(candidate, whole).values
        assert (values["contradicted_rate"], values["consistent"]) == (
            0.0,
            1.0,
        )


def test_a_wrong_fact_beside_an_omission_stays_a_contradiction() -> None:
    reference = "The runner in silver shoes is ahead of all the others. A tower can be seen."
    altered = "The runner in silver shoes is behind all the others."
    assert Accord().score_text(altered, reference).values["consistent"] < 0.8
