"""Nouns that mostly stand for nothing to be touched, by WordNet's own counts."""

from __future__ import annotations

from beholder.text.kinds import is_abstract
from toy.cases import each_case


@each_case(
    ("word", "expected"),
    [
        # Counts of WordNet 3.0's index.sense, half a use added to each of the senses.
        (
            "reflection",
            True,
        ),  # 17 of 24 in attribute, cognition, communication and relation
        (
            "shadow",
            False,
        ),  # 6.5 of 35.5; most are of the state and the location
        ("path", False),  # the act 10.5, the road and the locations 12.5
        ("mark", True),  # 23 of 24.5
        ("court", False),  # most are of the group: people are one
        ("dog", False),
        ("paths", False),
        ("signs", True),
        ("gxqzt", False),
    ],
)
def test_abstract_nouns_are_recognised(word: str, expected: bool) -> None:
    assert is_abstract(word) is expected
