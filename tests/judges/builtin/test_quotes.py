"""Runs of words that two texts share, counted by hand."""

from __future__ import annotations

import pytest

from beholder.judges.builtin.nearby import Quotes


@pytest.mark.parametrize(
    ("source", "target", "first", "last", "expected"),
    [
        ("a b c", "a b c", 0, 3, 3),
        ("a b c", "a b c", 1, 2, 3),
        ("a b c", "a b c", 2, 3, 3),
        ("a b c", "c", 2, 3, 1),
        ("a b c", "a", 0, 1, 1),
        ("a b c", "a b", 1, 3, 0),
        # the end of the target does not go on at its beginning
        ("x a b", "a b x", 0, 1, 1),
        ("x a b", "a b x", 1, 2, 2),
        ("x a b", "a b x", 0, 2, 0),
        ("a b x", "x a b", 1, 3, 0),
        # the longest of several, with all the words asked for
        ("a b a b", "b a b a b c", 0, 1, 4),
        ("a b a b", "b a b a b c", 2, 4, 4),
        ("q a r", "a q a z a r a", 1, 2, 2),
        ("q a r", "a q a z a r a", 0, 2, 2),
        ("q a r", "a q a z a r a", 0, 3, 0),
        ("a a a", "a a", 0, 2, 2),
        ("a a a", "a a", 0, 3, 0),
        ("a b", "c d e f", 0, 1, 0),
        ("a b", "", 0, 1, 0),
    ],
)
def test_the_longest_run_over_some_words(
    source: str, target: str, first: int, last: int, expected: int
) -> None:
    assert Quotes(source.split(), target.split()).run(first, last) == expected
