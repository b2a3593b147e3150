"""Runs of signs without a space: cut before they reach spaCy's tokenizer, nothing else is."""

from __future__ import annotations

import re
from typing import Any

import pytest

from beholder.language import model, parse

TEXT = 'A dog\'s "red" ball (see https://example.org/a?b=c&d=e#f) - and so on...'


class Seen:
    """spaCy's tokenizer, with what it is given."""

    def __init__(self, whole: Any) -> None:
        self._whole = whole
        self.vocab = whole.vocab
        self.texts: list[str] = []

    def __call__(self, text: str) -> Any:
        self.texts.append(text)
        return self._whole(text)


@pytest.fixture(scope="module")
def nlp() -> Any:
    return model.load()


def _tokens(nlp: Any, text: str) -> tuple[list[tuple[str, int, str]], list[str]]:
    seen = Seen(nlp.tokenizer._whole)
    found = model._Tokenizer(seen)(text)
    assert found.text == text
    return [(token.text, token.idx, token.whitespace_) for token in found], seen.texts


@pytest.mark.parametrize("text", [TEXT, f"{TEXT}\n{'-' * 400} {'.' * 400}", '"' * 128, "a" * 999])
def test_other_texts_reach_the_tokenizer_whole(nlp: Any, text: str) -> None:
    assert _tokens(nlp, text)[1] == [text]


@pytest.mark.parametrize("sign", ['"', "(", ")", "$", "!", "😀", "=", "'"])
def test_a_long_run_reaches_it_in_pieces(nlp: Any, sign: str) -> None:
    text = f"A dog {sign * 5_000}and a cat's {sign * 700} bed."
    found, given = _tokens(nlp, text)
    longest = max(len(run) for piece in given for run in re.findall(r"[^\w\s]+", piece))
    assert longest <= 129  # one more: the apostrophe of "cat's"
    assert "".join(given) == text
    assert found[:2] == [("A", 0, " "), ("dog", 2, " ")]
    assert found[-2:] == [("bed", len(text) - 4, ""), (".", len(text) - 1, "")]


@pytest.mark.parametrize("sign", ['"', "(", ")", "$", "!", "😀", "="])
def test_pieces_give_the_tokens_of_the_whole(nlp: Any, sign: str) -> None:
    text = f"A dog {sign * 300} and a cat."
    whole = [(t.text, t.idx, t.whitespace_) for t in nlp.tokenizer._whole(text)]
    assert _tokens(nlp, text)[0] == whole


def test_places_of_words_stand_in_the_original() -> None:
    text = f"A dog {'(' * 300} and a cat."
    words = parse(text).words
    assert [text[word.start : word.end] for word in words] == [word.text for word in words]
    assert [w.text for w in words if w.text.isalpha()] == ["A", "dog", "and", "a", "cat"]
