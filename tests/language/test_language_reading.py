"""Texts are read once while they are among the last used."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.language.reading import TextCache


class Reading:
    """Reads a text as a list of its words, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        self.asked.append(list(texts))
        return [text.split() for text in texts]


def test_texts_are_read_once_while_they_are_among_the_last_used() -> None:
    reading = Reading()
    cache = TextCache(2, reading)
    first, again, second = cache.of(["a dog", "a dog", "a cat"])
    assert first is again
    assert reading.asked == [["a dog", "a cat"]]
    assert cache("a dog") is first  # now used later than the cat
    cache("a bird")
    assert cache("a dog") is first
    assert cache("a cat") is not second
    assert reading.asked == [["a dog", "a cat"], ["a bird"], ["a cat"]]
    assert cache.n_read == 4
    cache.clear()
    assert cache.n_read == 0
    assert cache("a dog") is not first


def test_more_texts_than_are_kept_are_all_read() -> None:
    cache = TextCache(1, Reading())
    assert cache.of(["a dog", "a cat", "a"]) == [["a", "dog"], ["a", "cat"], ["a"]]
    assert cache.n_read == 3
