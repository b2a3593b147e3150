"""Whether a text gives a claim's relation its own ends, by hand."""

from __future__ import annotations

import pytest

from beholder.judges.builtin.attachment import in_order, related
from beholder.judges.builtin.reading import analysed


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("A dog chases a cat.", "A dog sees a cat.", True),  # whatever it says
        ("A dog chases a cat.", "A cat sees a dog.", True),  # in either order
        ("A dog chases a cat.", "A dog sees a horse. A cat sleeps.", False),
        ("A dog chases a cat.", "A horse sees a cat. A dog sleeps.", False),
        ("A dog chases a cat.", "A puppy sees a kitten.", True),
    ],
)
def test_some_relation_has_both_ends(claim: str, text: str, expected: bool) -> None:
    read = analysed(claim)
    (_, unit, _), *_ = read.relations
    assert related(read, unit, analysed(text)) is expected


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("A dog chases a cat.", "A dog often chases a cat.", True),
        ("A dog chases a cat.", "A cat chases a dog.", False),
        ("A dog chases a cat.", "A dog chases a bird and a cat.", False),  # a thing between
        ("A dog chases a cat.", "A dog chases. A cat sleeps.", False),  # another sentence
        ("A cat is chased by a dog.", "A dog chases a cat.", True),
        ("A lid is on a box.", "A box beside a lid.", True),  # side by side says enough of "on"
        ("A lid is on a box.", "A box near a lamp and a lid.", False),
        ("A lid is under a box.", "A box beside a lid.", False),
        ("A lid is under a box.", "A lid under a box.", True),
        ("The tail of the dog.", "The dog sleeps. Its tail is long.", True),
        ("The tail of the dog.", "Its tail is long. The dog sleeps.", False),
        ("The tail of the dog.", "The dog sleeps. A tail is long.", False),
        # a predicate governs what stands at most six words after it
        ("A dog chases a cat.", "A dog chases one very big old gray cat.", True),
        ("A dog chases a cat.", "A dog chases one very big old gray lazy cat.", False),
    ],
)
def test_the_order_of_words_gives_both_ends(claim: str, text: str, expected: bool) -> None:
    read = analysed(claim)
    (_, unit, predicate), *_ = read.relations
    assert in_order(read, unit, predicate, analysed(text)) is expected
