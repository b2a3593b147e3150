from __future__ import annotations

from importlib.resources import files

import pytest

from beholder.text import weight


def test_weight_follows_the_formula() -> None:
    # The table says that "the" stands in 19,311 of 33,194 sentences and "dog" in 144:
    # 331.94 / (331.94 + 19311) and 331.94 / (331.94 + 144).
    assert weight("the") == pytest.approx(0.0168987, abs=1e-6)
    assert weight("dog") == pytest.approx(0.697441, abs=1e-6)


def test_an_unseen_word_has_the_greatest_weight() -> None:
    assert weight("xyzzy") == 1.0
    assert weight("犬") == 1.0


def test_rarer_words_weigh_more() -> None:
    order = ["the", "is", "white", "man", "dog", "lighthouse"]
    assert sorted(order, key=weight) == order


def test_the_table_stays_small() -> None:
    table = files("beholder.text") / "word_frequencies.txt"
    assert 0 < len(table.read_bytes()) < 500_000
