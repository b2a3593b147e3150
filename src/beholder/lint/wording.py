"""Texts as rules compare them: normal form, words, length, and word lists by language."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from beholder.text.languages import base_language, language_named

_FORMAT = re.compile(
    "[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_EDGES = " .,!?;:()[]{}<>«»‹›\"'“”„‟‘’‚‛「」『』"
_QUOTED = (
    "(?:[\"“„«»‟]([^\"“”„«»‟]*)[\"“”«»]|(?<!\\w)['‘]([^'‘’]*)['’](?!\\w))"
)


@cache
def _read_json(file: str) -> Any:
    source = files("beholder.lint").joinpath(file)
    return json.loads(source.read_text(encoding="utf-8"))


def names(key: str) -> Any:
    """Return a list or table of ``names.json``: elements, columns, numerals, shades."""
    return _read_json("names.json")[key]


_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
_EMOJI = re.compile(
    "(?:[\u231a\u231b\u23e9-\u23ec\u23f0\u23f3\u25fd\u25fe\u2614\u2615\u2648-\u2653\u267f\u2693"
    "\u26a1\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa\u26fd"
    "\u2705\u270a\u270b\u2728\u274c\u274e\u2753-\u2755\u2757\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c"
    "\u2b50\u2b55\U0001f004\U0001f0cf\U0001f18e\U0001f191-\U0001f19a\U0001f201\U0001f21a"
    "\U0001f300-\U0001f320\U0001f32d-\U0001f335\U0001f337-\U0001f37c\U0001f37e-\U0001f393"
    "\U0001f3a0-\U0001f3ca\U0001f3cf-\U0001f3d3\U0001f3e0-\U0001f3f0\U0001f3f4"
    "\U0001f3f8-\U0001f43e\U0001f440\U0001f442-\U0001f4fc\U0001f4ff-\U0001f53d"
    "\U0001f54b-\U0001f54e\U0001f550-\U0001f567\U0001f57a\U0001f595\U0001f596\U0001f5a4"
    "\U0001f5fb-\U0001f64f\U0001f680-\U0001f6c5\U0001f6cc\U0001f6d0-\U0001f6d2"
    "\U0001f6d5-\U0001f6df\U0001f6eb\U0001f6ec\U0001f6f4-\U0001f6fc\U0001f7e0-\U0001f7f0"
    "\U0001f90c-\U0001f93a\U0001f93c-\U0001f945\U0001f947-\U0001f9ff\U0001fa70-\U0001faff]"
    "|[\U0001f1e6-\U0001f1ff]{2}"
    "|[0-9#*]\ufe0f\u20e3|[\u00a9-\u3299\U0001f000-\U0001faff]\ufe0f)"
    "[\ufe0f\U0001f3fb-\U0001f3ff]*(?:\u200d[\u2640-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]*)*"
)


def norm(text: str) -> str:
    """Return the text in NFC, without format characters, with single blanks."""
    return " ".join(
        _FORMAT.sub("", unicodedata.normalize("NFC", text)).split()
    )


def fold(text: str) -> str:
    """Return the text in lower case, without punctuation at both ends."""
    return norm(text).casefold().strip(_EDGES)


def words(text: str) -> list[str]:
    """Return the words; in scripts without blanks, two letters count as one word."""
    dense = _DENSE.findall(text)
    spaced_words = [
        word
        for word in _WORD.findall(_DENSE.sub(" ", text))
        if any(map(str.isalnum, word))
    ]
    return spaced_words + [
        "".join(dense[at : at + 2]) for at in range(0, len(dense), 2)
    ]


def length(text: str) -> int:
    """Return the number of characters as a reader counts them: an emoji with its parts is one."""
    # Any letter: an emoji of several code points counts as one.
    text = _EMOJI.sub("x", text)
    return sum(not unicodedata.combining(character) for character in text)


def is_dense(text: str) -> bool:
    """Return whether most letters are of a script without blanks."""
    return 2 * len(_DENSE.findall(text)) > sum(map(str.isalpha, text))


def emoji(text: str) -> list[tuple[int, int]]:
    """Return the ranges of emoji in a text."""
    return [match.span() for match in _EMOJI.finditer(text)]


def stem(word: str, language: str) -> str:
    """Return the stem of a word, by English rules if the language has no stemmer."""
    return _stem(
        word.casefold(), (language_named(language) or "english").lower()
    )


@lru_cache(maxsize=50_000)
def _stem(word: str, language: str) -> str:
    return str(_stemmer(language).stemWord(word))


@cache
def _stemmer(language: str) -> Any:
    import snowballstemmer

    languages = snowballstemmer.algorithms()
    return snowballstemmer.stemmer(
        language if language in languages else "english"
    )


def _lists() -> dict[str, dict[str, Sequence[str]]]:
    lists: dict[str, dict[str, Sequence[str]]] = _read_json("words.json")
    return lists


def codes(language: str) -> tuple[str, ...]:
    """Return the codes of English and of the page's language, if it has word lists."""
    page_language = base_language(language)
    return (
        ("en", page_language)
        if page_language in _lists() and page_language != "en"
        else ("en",)
    )


@cache
def listed(name: str, language: str) -> frozenset[str]:
    """Return the words of a list, in English and in the language of the page."""
    return frozenset(
        word for code in codes(language) for word in _lists()[code][name]
    )


@cache
def pattern(name: str, language: str) -> tuple[re.Pattern[str], ...]:
    """Return the expressions of a list, in English and in the language of the page."""
    return tuple(
        re.compile(str(_lists()[code][name]), re.I) for code in codes(language)
    )


@cache
def _reported(language: str) -> re.Pattern[str]:
    verbs = "|".join(
        str(_lists()[code]["transcribed"]) for code in codes(language)
    )
    return re.compile(rf"\b(?:{verbs})\b[^\"“„«»‟'‘.;]{{0,30}}{_QUOTED}", re.I)


def transcribed(text: str, language: str) -> str:
    """Return the text with quotations after words such as "reads" or "says" blanked."""
    return _reported(language).sub(_blanked, text)


def without_quotes(text: str) -> str:
    """Return the text with all quotations blanked."""
    return re.sub(_QUOTED, _blanked, text)


def _blanked(match: re.Match[str]) -> str:
    group = 1 if match[1] is not None else 2
    start, end = (
        match.start(group) - match.start(),
        match.end(group) - match.start(),
    )
    return match[0][:start] + " " * (end - start) + match[0][end:]
