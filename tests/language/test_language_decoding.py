"""The best tree over scores, and where sentences are cut."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from beholder.language import network
from beholder.language.network import best_tree, sentence_bounds
from toy.cases import each_case


def _is_tree(heads: tuple[int, ...]) -> bool:
    if sum(head == place for place, head in enumerate(heads)) != 1:
        return False
    for place in range(len(heads)):
        up = place
        for _ in heads:
            up = heads[up]
        if heads[up] != up:
            return False
    return True


@each_case("seed", range(40))
def test_no_tree_is_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    scores = rng.normal(size=(n, n))
    trees = [
        heads
        for heads in itertools.product(range(n), repeat=n)
        if _is_tree(heads)
    ]
    best = max(
        trees,
        key=lambda heads: sum(
            scores[place, heads[place]] for place in range(n)
        ),
    )
    assert best_tree(scores).tolist() == list(best)


def test_a_cycle_is_broken_where_it_costs_least() -> None:
    # Each of the first two words likes the other best; the third is the root. To hang word 0 on the
    # root costs 9 - 5 = 4, word 1 costs 10 - 7 = 3.
    scores = np.array([[0.0, 9, 5], [10, 0, 7], [0, 0, 1]], dtype=np.float32)
    assert best_tree(scores).tolist() == [1, 2, 2]


def test_there_is_one_root_even_where_two_words_would_be() -> None:
    scores = np.array(
        [[5.0, 1], [2, 5]], dtype=np.float32
    )  # 5 + 2 beats 5 + 1
    assert best_tree(scores).tolist() == [0, 0]


def test_a_root_is_taken_where_no_word_would_be() -> None:
    scores = np.array([[0.0, 5, 1], [5, -1, 1], [4, 1, 0]], dtype=np.float32)
    # The roots are worth 0, -1 and 0; under word 0 the others bring 5 + 4.
    assert best_tree(scores).tolist() == [0, 0, 0]


def test_a_sentence_starts_at_the_first_word_and_at_positive_scores() -> None:
    starts = np.array([-5.0, -1, 2, 0, 0.5], dtype=np.float32)
    assert sentence_bounds(starts) == [0, 2, 4, 5]


def test_a_sentence_that_is_too_long_is_cut_at_its_likeliest_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(network, "_SENTENCE", 3)
    starts = np.array([9.0, -1, -3, -2, -4, -5, -6, 1, -1], dtype=np.float32)
    # 0..7 is cut at 1, then 1..7 at 3, then 3..7 at 4; 7..9 is short enough.
    assert sentence_bounds(starts) == [0, 1, 3, 4, 7, 9]
