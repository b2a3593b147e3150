from __future__ import annotations

import numpy as np
import pytest

from beholder.metrics.accord.metric import ENDINGS, STEP, STOP, _load, ending, marked_words, order


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
    pairs = [(STOP, "the"), ("the", "-ing"), ("-ing", STOP), (STOP, "of"), ("of", STOP)]
    expected = sum(int(table.ratios[of[a], of[b]]) for a, b in pairs) / len(pairs) / STEP
    assert order("The zzqing, of!") == pytest.approx(expected)


def test_articles_stand_before_nouns_and_not_before_prepositions() -> None:
    table = _load()
    of = table.classes
    assert table.ratios[of["the"], of["man"]] > STEP / 2
    assert table.ratios[of["the"], of["of"]] < -STEP
    assert len(of) == table.ratios.shape[0] == table.ratios.shape[1] == 600 + len(ENDINGS)


@pytest.mark.parametrize("text", ["", "  ", "?!", "\n"])
def test_a_text_without_words_has_no_order(text: str) -> None:
    assert order(text) == 0.0
    assert marked_words(text) == []


def test_punctuation_between_words_is_one_stop() -> None:
    expected = [STOP, "it's", STOP, "a", "red-brown", "dog", STOP]
    assert marked_words("It's, ; a red-brown dog.") == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("zzqing", "-ing"), ("zzqed", "-ed"), ("zzqly", "-ly"), ("zzqs", "-s"), ("zzq", "-")],
)
def test_words_that_are_not_listed_are_known_by_their_ending(word: str, expected: str) -> None:
    assert ending(word) == expected
