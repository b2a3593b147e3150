from __future__ import annotations

import random
import re

import numpy as np
import pytest

import beholder
from beholder.text import word_order
from beholder.text.word_order import (
    ENDINGS,
    STEP,
    STOP,
    _load,
    ending,
    marked_words,
    order,
)


def test_english_is_above_its_words_shuffled_or_sorted() -> None:
    text = "A man in a red coat walks along the beach, and two dogs run behind him."
    rng = np.random.default_rng(0)
    words = text.split()
    assert order(text) > 0.6
    for _ in range(20):
        assert order(" ".join(rng.permutation(words))) < 0.35
    assert order(" ".join(sorted(words))) < 0


def test_the_value_is_the_mean_over_neighbours() -> None:
    table = _load()
    of = table.classes
    # "the" and "of" are listed; a word that no corpus has is known by its ending.
    pairs = [
        (STOP, "the"),
        ("the", "-ing"),
        ("-ing", STOP),
        (STOP, "of"),
        ("of", STOP),
    ]
    expected = (
        sum(int(table.ratios[of[a], of[b]]) for a, b in pairs)
        / len(pairs)
        / STEP
    )
    assert order("The zzqing, of!") == pytest.approx(expected)


def test_articles_stand_before_nouns_and_not_before_prepositions() -> None:
    table = _load()
    of = table.classes
    assert table.ratios[of["the"], of["man"]] > STEP / 2
    assert table.ratios[of["the"], of["of"]] < -STEP
    assert (
        len(of)
        == table.ratios.shape[0]
        == table.ratios.shape[1]
        == 600 + len(ENDINGS)
    )


@pytest.mark.parametrize("text", ["", "  ", "?!", "\n"])
def test_a_text_without_words_has_no_order(text: str) -> None:
    assert order(text) == 0.0
    assert marked_words(text) == []


def test_punctuation_between_words_is_one_stop() -> None:
    expected = [STOP, "it's", STOP, "a", "red-brown", "dog", STOP]
    assert marked_words("It's, ; a red-brown dog.") == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("zzqing", "-ing"),
        ("zzqed", "-ed"),
        ("zzqly", "-ly"),
        ("zzqs", "-s"),
        ("zzq", "-"),
    ],
)
def test_words_that_are_not_listed_are_known_by_their_ending(
    word: str, expected: str
) -> None:
    assert ending(word) == expected


REFERENCE = "qa qb qc qd"


@pytest.mark.parametrize(
    ("order", "candidate", "share"),
    [
        # All four words, none of the three neighbours: 1 - 0 loose. Order at either end and between.
        (-0.05, "qd qc qb qa", 0.2),
        (-1.0, "qd qc qb qa", 0.2),
        (0.25, "qd qc qb qa", 1.0),
        (0.10, "qd qc qb qa", 0.6),
        # Three of the neighbours (qa qb, qb qc, qc qd) of four are there, and all words.
        (-1.0, "qa qb qc qd qa", 1.0),
        # Four of five words, one of four neighbours (qb qc): 0.55, halfway from 0.45 to 0.65.
        (-1.0, "qd qb qc qa qa", 0.6),
        # Two of four words, one of three neighbours: 1 / 6.
        (-1.0, "qa qa qb qb", 1.0),
        # Three words have no order to speak of.
        (-1.0, "qc qb qa", 1.0),
    ],
)
def test_only_words_of_a_reference_in_no_english_order_lose(
    monkeypatch: pytest.MonkeyPatch, order: float, candidate: str, share: float
) -> None:
    # The order of a text of n words counts with 2 / n added to it.
    by_length = order - 2.0 / len(candidate.split())
    monkeypatch.setattr(word_order, "order", lambda _: by_length)
    assert word_order.in_order(candidate, [REFERENCE]) == pytest.approx(share)


def test_the_reference_whose_words_are_out_of_order_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(word_order, "order", lambda _: -1.0)
    assert word_order.in_order(
        "qd qc qb qa", ["qa", REFERENCE]
    ) == pytest.approx(0.2)


@pytest.mark.parametrize("metric", ["posh", "vcs", "accord"])
def test_the_words_of_a_reference_in_any_order_lose_their_value(
    metric: str,
) -> None:
    text = (
        "In the foreground a brown dog sleeps on a wooden bench. Behind it, three children in blue"
        " uniforms play football on the grass. A tall fence separates the field from the houses."
    )
    words = re.findall(r"\w+", text)
    random.Random(3).shuffle(words)
    name = "f1" if metric == "posh" else metric
    scorer = beholder.metric(metric)
    assert scorer.score_text(text, text).values[name] == pytest.approx(1.0)
    assert scorer.score_text(" ".join(words), text).values[name] < 0.3


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        (
            "Boy laying on couch with dog",
            "A boy is laying on the couch with his dog.",
        ),
        ("A people with horse.", "People with a horse."),
        ("There isn't a dog.", "There is no dog."),
    ],
)
def test_short_captions_in_bare_english_lose_nothing(
    text: str, reference: str
) -> None:
    assert word_order.in_order(text, [reference]) == 1.0
