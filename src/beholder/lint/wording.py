"""Texts as rules compare them: normal form, words, length, and word lists by language."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from beholder.base.visible import cut_text
from beholder.text.languages import base_language, language_named

_FORMAT = re.compile(
    "[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_EDGES = " .,!?;:()[]{}<>«»‹›\"'“”„‟‘’‚‛「」『』"
_QUOTED = (
    "(?:[\"“„«»‟]([^\"“”„«»‟]*)[\"“”«»]|(?<!\\w)['‘]([^'‘’]*)['’](?!\\w))"
)
_QUOTE = re.compile("[\"“”„«»‟'‘’]")


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
    if text.isascii():
        return " ".join(text.split())
    return " ".join(
        _FORMAT.sub("", unicodedata.normalize("NFC", text)).split()
    )


def fold(text: str) -> str:
    """Return the text in lower case, without punctuation at both ends."""
    return norm(text).casefold().strip(_EDGES)


def words(text: str) -> list[str]:
    """Return the words; in scripts without blanks, two letters count as one word."""
    if text.isascii():
        return [
            word for word in _WORD.findall(text) if any(map(str.isalnum, word))
        ]
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
    if text.isascii():
        return len(text)
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


def word_lists() -> dict[str, dict[str, Sequence[str]]]:
    """Return the lists of ``words.json`` by name, by code of the language."""
    lists: dict[str, dict[str, Sequence[str]]] = _read_json("words.json")
    return lists


def codes(language: str) -> tuple[str, ...]:
    """Return the codes of English and of the page's language, if it has word lists."""
    page_language = base_language(language)
    return (
        ("en", page_language)
        if page_language in word_lists() and page_language != "en"
        else ("en",)
    )


@cache
def listed(name: str, language: str) -> frozenset[str]:
    """Return the words of a list, in English and in the language of the page."""
    return frozenset(
        word for code in codes(language) for word in word_lists()[code][name]
    )


@cache
def pattern(name: str, language: str) -> tuple[re.Pattern[str], ...]:
    """Return the expressions of a list, in English and in the language of the page."""
    return tuple(
        re.compile(str(word_lists()[code][name]), re.I)
        for code in codes(language)
    )


@cache
def _reported(language: str) -> re.Pattern[str]:
    verbs = "|".join(
        str(word_lists()[code]["transcribed"]) for code in codes(language)
    )
    return re.compile(rf"\b(?:{verbs})\b[^\"“„«»‟'‘.;]{{0,30}}{_QUOTED}", re.I)


def transcribed(text: str, language: str) -> str:
    """Return the text with quotations after words such as "reads" or "says" blanked."""
    if not _QUOTE.search(text):
        return text
    return _reported(language).sub(_blanked, text)


def without_quotes(text: str) -> str:
    """Return the text with all quotations blanked."""
    return re.sub(_QUOTED, _blanked, text) if _QUOTE.search(text) else text


def _blanked(match: re.Match[str]) -> str:
    group = 1 if match[1] is not None else 2
    start, end = (
        match.start(group) - match.start(),
        match.end(group) - match.start(),
    )
    return match[0][:start] + " " * (end - start) + match[0][end:]


def shortened(text: str) -> str:
    """Return at most 60 characters of a text, for messages."""
    return cut_text(text, 60, "...")


_SENTENCE_END = re.compile(r"(?:[.!?:]|\A)[\s\"'“”‘’(\[]*\Z")
_CAPITAL_WORD = re.compile(r"(?:[^\W\d_]\.){2,}|[^\W\d_](?:[\w'’-]*\w)?")
_LITTLE_IN_NAMES = frozenset(
    ("of", "the", "for", "and", "&", "de", "la", "van", "von", "der", "di")
)


class CapitalWord(NamedTuple):
    """A word of a text and what its capital says.

    Attributes:
        start: Index of its first character.
        end: Index after its last character.
        is_capital: Whether it begins with a capital.
        is_first: Whether a sentence begins with it, so that its capital says nothing.
        is_little: Whether it is one that names contain in small letters, such as "of".
    """

    start: int
    end: int
    is_capital: bool
    is_first: bool
    is_little: bool


def capital_words(text: str) -> list[CapitalWord]:
    """Return the words of a text that consist of letters, in order."""
    return [
        CapitalWord(
            *match.span(),
            match[0][0].isupper(),
            bool(_SENTENCE_END.search(text, 0, match.start())),
            match[0] in _LITTLE_IN_NAMES,
        )
        for match in _CAPITAL_WORD.finditer(text)
    ]


def is_in_name(text: str, start: int, end: int) -> bool:
    """Return whether a capitalised range of a text belongs to a name, as its neighbours show.

    A capital at the beginning of a sentence says nothing: "Two Eskimo hunters".
    """
    text_words = capital_words(text)
    inside = [word for word in text_words if start <= word.start < end]
    if not any(word.is_capital and not word.is_little for word in inside):
        return False
    after = next((word for word in text_words if word.start >= end), None)
    if after and after.is_capital and text[end : after.start] == " ":
        return True
    # "and": one of two parts of a name; "of" and "for": a name in two parts.
    before = [word for word in text_words if word.end <= start]
    little = []
    while before and before[-1].is_little:
        little.append(text[before[-1].start : before[-1].end])
        before.pop()
    starts_with_little = inside[0].is_little
    if not before or not before[-1].is_capital:
        return False
    between = text[before[-1].end : start]
    if re.search(r"[^\w\s&]", between):
        return False
    return (
        not before[-1].is_first
        or "for" in little
        or (starts_with_little and bool(little))
    )


def names_in(text: str) -> frozenset[str]:
    """Return the words, in lower case, that a text writes with a capital wherever they are."""
    is_name: dict[str, bool] = {}
    for word in capital_words(text):
        key = text[word.start : word.end].casefold()
        # At the beginning of a sentence the other places decide.
        if not word.is_first:
            is_name[key] = word.is_capital and is_name.get(key, True)
    return frozenset(key for key, value in is_name.items() if value)
