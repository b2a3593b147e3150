"""Texts as rules compare them: normal form, words, length, and word lists by language."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from beholder.text.languages import base_language, language_named

_FORMAT = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_EDGES = " .,!?;:()[]{}<>«»‹›\"'“”„‟‘’‚‛「」『』"
_QUOTED = "(?:[\"“„«»‟]([^\"“”„«»‟]*)[\"“”«»]|(?<!\\w)['‘]([^'‘’]*)['’](?!\\w))"


@cache
def _data() -> dict[str, Any]:
    source = files("beholder.lint").joinpath("data.toml").read_text(encoding="utf-8")
    return tomllib.loads(source)


def alternatives(name: str) -> list[str]:
    """A list of ``data.toml``."""
    found: list[str] = _data()["lists"][name]
    return found


def mapping(name: str) -> dict[str, str]:
    """A table of ``data.toml``."""
    found: dict[str, str] = _data()["tables"][name]
    return found


def expression(name: str) -> re.Pattern[str]:
    """An expression of ``data.toml``, which describes their form."""
    return re.compile(_source(name))


def _source(name: str) -> str:
    if name in _data()["lists"]:
        return "|".join(alternatives(name))
    joined = re.sub(r"(?:^|\n)\s*", "", _data()["expressions"][name])
    return re.sub(r"\{([a-z_]+)\}", lambda found: _source(found[1]), joined)


_DENSE = expression("dense")
_EMOJI = expression("emoji")


def norm(text: str) -> str:
    """The text in NFC, without format characters, with single blanks."""
    return " ".join(_FORMAT.sub("", unicodedata.normalize("NFC", text)).split())


def fold(text: str) -> str:
    """The text in lower case, without punctuation at both ends."""
    return norm(text).casefold().strip(_EDGES)


def words(text: str) -> list[str]:
    """Words; in scripts without blanks, two letters count as one word."""
    dense = _DENSE.findall(text)
    found = [one for one in _WORD.findall(_DENSE.sub(" ", text)) if any(map(str.isalnum, one))]
    return found + ["".join(dense[at : at + 2]) for at in range(0, len(dense), 2)]


def length(text: str) -> int:
    """Characters as a reader counts them: marks and parts of an emoji are not counted."""
    text = _EMOJI.sub("x", text)
    return sum(not unicodedata.combining(one) for one in text)


def is_dense(text: str) -> bool:
    """Whether most letters are of a script without blanks."""
    return 2 * len(_DENSE.findall(text)) > sum(map(str.isalpha, text))


def emoji(text: str) -> list[tuple[int, int]]:
    """Ranges of emoji in a text."""
    return [match.span() for match in _EMOJI.finditer(text)]


def stem(word: str, language: str) -> str:
    """The stem of a word, English if the language has no stemmer."""
    return _stem(word.casefold(), (language_named(language) or "english").lower())


@lru_cache(maxsize=50_000)
def _stem(word: str, language: str) -> str:
    return str(_stemmer(language).stemWord(word))


@cache
def _stemmer(language: str) -> Any:
    import snowballstemmer

    known = snowballstemmer.algorithms()
    return snowballstemmer.stemmer(language if language in known else "english")


@cache
def _lists() -> dict[str, dict[str, Sequence[str]]]:
    source = files("beholder.lint").joinpath("words.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, Sequence[str]]] = json.loads(source)
    return found


def codes(language: str) -> tuple[str, ...]:
    """English and the language of the page, of those with word lists."""
    own = base_language(language)
    return ("en", own) if own in _lists() and own != "en" else ("en",)


@cache
def listed(name: str, language: str) -> frozenset[str]:
    """The words of a list, in English and in the language of the page."""
    return frozenset(one for code in codes(language) for one in _lists()[code][name])


@cache
def pattern(name: str, language: str) -> tuple[re.Pattern[str], ...]:
    """The expressions of a list, in English and in the language of the page."""
    return tuple(re.compile(str(_lists()[code][name]), re.I) for code in codes(language))


@cache
def _reported(language: str) -> re.Pattern[str]:
    verbs = "|".join(str(_lists()[code]["transcribed"]) for code in codes(language))
    return re.compile(rf"\b(?:{verbs})\b[^\"“„«»‟'‘.;]{{0,30}}{_QUOTED}", re.I)


def transcribed(text: str, language: str) -> str:
    """The text with quotations after words such as "reads" or "says" blanked."""
    return _reported(language).sub(_blanked, text)


def without_quotes(text: str) -> str:
    """The text with all quotations blanked."""
    return re.sub(_QUOTED, _blanked, text)


def _blanked(match: re.Match[str]) -> str:
    group = 1 if match[1] is not None else 2
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    return match[0][:start] + " " * (end - start) + match[0][end:]
