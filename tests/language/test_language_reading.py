"""Texts are read once while they are among the last used."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from beholder.errors import ItemError
from beholder.language.reading import TextCache, english_graphs_together


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
    first, again, second = cache.read_texts(["a dog", "a dog", "a cat"])
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
    assert cache.read_texts(["a dog", "a cat", "a"]) == [
        ["a", "dog"],
        ["a", "cat"],
        ["a"],
    ]
    assert cache.n_read == 3


def test_texts_of_several_coroutines_are_read_together_and_once() -> None:
    reading = Reading()
    cache = TextCache(64, reading)

    async def both() -> list[list[list[str]]]:
        requests = (["a dog", "a cat"], ["a cat"], ["a bird", "a dog"])
        return await asyncio.gather(
            *(cache.together(texts) for texts in requests)
        )

    first, second, third = asyncio.run(both())
    assert reading.asked == [["a dog", "a cat", "a bird"]]
    assert (first, third) == (
        [["a", "dog"], ["a", "cat"]],
        [["a", "bird"], ["a", "dog"]],
    )
    assert second[0] is first[1]


def test_a_bounded_number_of_texts_is_read_at_once() -> None:
    reading = Reading()
    cache = TextCache(64, reading)

    async def many() -> list[list[list[str]]]:
        return await asyncio.gather(
            *(cache.together([str(n)]) for n in range(40))
        )

    assert asyncio.run(many()) == [[[str(n)]] for n in range(40)]
    assert [len(texts) for texts in reading.asked] == [16, 16, 8]


def test_a_text_that_is_refused_is_the_error_of_its_own_coroutine() -> None:
    async def some() -> list[object]:
        texts = ("A dog sleeps here.", "एक आदमी", "A cat sits there.")
        tasks = (english_graphs_together([text]) for text in texts)
        return await asyncio.gather(*tasks, return_exceptions=True)

    dog, refused, cat = asyncio.run(some())
    assert isinstance(refused, ItemError)
    assert not isinstance(dog, Exception)
    assert not isinstance(cat, Exception)
