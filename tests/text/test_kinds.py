"""What WordNet's table says of kinds."""

from __future__ import annotations

from beholder.text.kinds import is_kind
from toy.cases import each_case


@each_case(
    ("word", "wider", "expected"),
    [
        ("church", "building", True),
        ("poodle", "dog", True),
        ("building", "church", False),
        ("dog", "dog", False),
        ("door", "window", False),
        ("xyzzy", "dog", False),
    ],
)
def test_a_church_is_a_kind_of_building(
    word: str, wider: str, expected: bool
) -> None:
    assert is_kind(word, wider) is expected
