"""Words in context: expected values by hand, on vectors and texts made for it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beholder.embed.contextual import TokenVectors
from beholder.errors import ConfigError
from beholder.metrics.wording import (
    Reading,
    compare_words,
    join_tokens,
    peer_adjusted_recall,
    recalled_by_peers,
)
from beholder.text import weight
from toy.words import reading


def test_words_are_weighed_by_what_they_say() -> None:
    # Of qa (weight 1) and qb (3) the reference has qb alone: 3 / 4. It has nothing else: recall 1.
    wording = compare_words(reading("qa qb", [1.0, 3.0]), [reading("qb")])
    assert wording.precision == pytest.approx(0.75)
    assert wording.recall == 1.0


def test_each_word_counts_at_its_best_reference_and_recall_is_the_mean() -> (
    None
):
    # qa is in the first, qb in the second, qc in none: 2 / 3. They recall 1 / 2 and 1 of theirs:
    # 3 / 4.
    wording = compare_words(
        reading("qa qb qc"), [reading("qa qd"), reading("qb")]
    )
    assert wording.precision == pytest.approx(2 / 3)
    assert wording.recall == pytest.approx(0.75)


def test_peers_are_the_mean_over_all_ordered_pairs() -> None:
    # qa in "qa qb": 1, back 1/2; qa in "qc": 0 and 0; "qa qb" in "qc": 0 and 0. Mean 1.5 / 6.
    peers = recalled_by_peers([reading("qa"), reading("qa qb"), reading("qc")])
    assert peers == pytest.approx(0.25)
    assert recalled_by_peers([reading("qa")]) == 1.0


def test_words_that_point_away_from_all_others_count_0_and_not_less() -> None:
    away = Reading(("qa",), np.ones(1), -np.eye(4)[:1], np.eye(4)[0])
    wording = compare_words(away, [reading("qa")])
    assert (wording.precision, wording.recall) == (0.0, 0.0)


def test_a_text_without_words_has_none_in_common() -> None:
    wording = compare_words(reading(""), [reading("qa")])
    assert (wording.precision, wording.recall) == (0.0, 0.0)


def test_a_word_is_the_mean_of_its_tokens() -> None:
    # "ab-c d": the word "ab-c" of the tokens ab, -, c; the special ones and the comma are no word.
    rows = np.eye(6, dtype=np.float32)
    spans = np.array([(0, 0), (0, 2), (2, 3), (3, 4), (5, 6), (0, 0)])
    special = np.array([True, False, False, False, False, True])
    tokens = TokenVectors(
        np.arange(6), special, spans, cut=False, vectors=rows
    )
    words_read = join_tokens("AB-c d", tokens)
    assert words_read.words == ("ab-c", "d")
    third = 1 / math.sqrt(3)
    assert words_read.vectors.tolist() == [
        pytest.approx([0, third, third, third, 0, 0]),
        pytest.approx([0, 0, 0, 0, 1, 0]),
    ]
    assert words_read.whole_text == pytest.approx(np.full(6, 1 / math.sqrt(6)))
    assert words_read.weights.tolist() == [weight("ab-c"), weight("d")]


def test_an_encoder_without_places_is_an_error() -> None:
    tokens = TokenVectors(
        np.arange(1), np.zeros(1, bool), None, False, np.ones((1, 2))
    )
    with pytest.raises(ConfigError, match="minilm"):
        join_tokens("dog", tokens)


@pytest.mark.parametrize(
    ("recall", "peers", "expected"),
    # r / (r + q (1 - r)) by hand
    [
        (0.5, 1.0, 0.5),
        (0.5, 0.5, 2 / 3),
        (0.7, 0.4, 0.7 / 0.82),
        (0.0, 0.0, 0.0),
        (1.0, 0.2, 1.0),
    ],
)
def test_recall_is_adjusted_by_the_peers_recall(
    recall: float, peers: float, expected: float
) -> None:
    assert peer_adjusted_recall(recall, peers) == pytest.approx(expected)
