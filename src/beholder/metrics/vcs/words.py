"""The words that VCS-short compares: content words of a text, with their places."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from beholder.records import Span
from beholder.text import words
from beholder.text.tokenize import IDENTITY as TOKENIZER

StopWords: TypeAlias = Literal["english", "none"]

_ENGLISH = Path(__file__).with_name("stop_words_english.txt")


def identity(stop_words: StopWords) -> str:
    """What fixes the words of a text, for signatures: stop list with its version, and tokenizer."""
    return f"{stop_words}.v1@{TOKENIZER}"


def content_words(text: str, stop_words: StopWords) -> tuple[list[str], list[Span]]:
    """Words of a text in lower case without stop words, and their character ranges.

    A text of stop words alone keeps them all: something has to be compared.
    """
    found = [(text[start:end].lower(), (start, end)) for start, end in words(text)]
    stops = _english() if stop_words == "english" else frozenset()
    kept = [(word, span) for word, span in found if word.replace("’", "'") not in stops] or found
    return [word for word, _ in kept], [span for _, span in kept]


@cache
def _english() -> frozenset[str]:
    lines = _ENGLISH.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
