"""Languages by name or code, and whether a text is in English."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from unicodedata import normalize

from beholder.text import frequency
from beholder.text.tokenize import folded_words
from beholder.text.word_lists import parse

ENGLISH = "English"

_LISTS = parse(
    Path(__file__).with_name("languages.txt").read_text(encoding="utf-8")
)


def _pairs(section: str) -> dict[str, str]:
    entries = (
        entry.split("=")
        for line in _LISTS[section]
        for entry in line.split(", ")
    )
    return dict(entries)


NAMES = _pairs("names")
"""English names by code."""
_CODES_BY_NAME = {
    name.lower(): code for code, name in reversed(NAMES.items())
} | _pairs("other names")
"""Codes by name in lower case: English names, other English names, and names in the language."""
_SHORT_CODES = _pairs("longer codes")
"""Codes of two letters by those of three (ISO 639-2 and 639-3), and by two withdrawn ones."""
_TAG = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{1,8})*")
"""A language tag: the language, then script, region and variants."""
_SCRIPT = re.compile("[a-z]{4}")
_REGION = re.compile("[a-z]{2}|[0-9]{3}")
_SUBTAG = re.compile("[A-Za-z]{4}|[A-Z]{2}|[0-9]{3}")
_SCRIPT_ALIASES = {"hang": "kore"}
"""Codes of lists of languages that name a part of a script."""
_ONLY_SCRIPT = {
    script: frozenset(codes.split())
    for script, codes in _pairs("only script").items()
}
"""Languages by the script that a tag leaves out (``Suppress-Script`` of IANA's registry)."""
_VARIETIES = _pairs("varieties")
"""Script or region by the variety that follows a name in brackets."""
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\Z")
_WITHOUT_BLANKS = frozenset(
    {"Burmese", "Chinese", "Japanese", "Khmer", "Lao", "Thai"}
)

_SIGN_SETS = {
    name: frozenset(words.split())
    for name, words in _pairs("little words").items()
}
"""Little words that hardly any description does without, by language; none that English has."""
_ALL_SIGNS = frozenset().union(*_SIGN_SETS.values())
_OURS = frozenset(_LISTS["little words of English"][0].split())
LITTLE_WORDS = _ALL_SIGNS | _OURS
"""Little words by which languages are distinguished, lower case."""
_SIGN_SHARE = 0.2
_ENOUGH_FOR_SIGNS = 5
_SIGNS_PER_ENGLISH = 4
_KNOWN_SHARE = 0.4
_ENOUGH_WORDS = 8
LETTER = re.compile(r"[^\W\d_]")
LATIN = re.compile(
    r"[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a]"
)
_KEPT_LENGTH = 20_000
"""Characters of the longest text that is remembered; 4,096 of them are 80 MB."""


def language_code(written: str) -> str | None:
    """Return the code of a language that is written as a name or code; None for other words.

    Names may have a variety in brackets, codes may have two or three letters and be followed by
    script, region and variants: ``German``, ``de``, ``deu``, ``de-DE`` and ``de_Latn_AT`` are all
    ``de``.
    """
    name = normalize("NFC", _IN_BRACKETS.sub("", written.strip().casefold()))
    if name in _CODES_BY_NAME:
        return _CODES_BY_NAME[name]
    tag = _TAG.fullmatch(name)
    code = _SHORT_CODES.get(tag[1], tag[1]) if tag else ""
    return code if code in NAMES else None


@lru_cache(maxsize=1024)
def canonical_language(written: str) -> str:
    """Return how a language is stored: as a tag of BCP 47, or as it is written if it has none.

    Script and region stay, so that ``zh-Hans`` and ``zh-Hant`` are two languages; a script that the
    language is always written in is left out (``hin_Deva`` is ``hi``). Empty for the code ``und``,
    which means that the language is not determined.
    """
    name = written.strip()
    tag = _TAG.fullmatch(name.lower())
    if tag is not None and name.lower() not in _CODES_BY_NAME:
        primary, *subtags = re.split("[-_]", tag[0])
        code = _SHORT_CODES.get(primary, primary)
        # "zh-cmn" repeats the language.
        if subtags and _SHORT_CODES.get(subtags[0]) == code:
            subtags.pop(0)
        if code == "und":
            return ""
        return "-".join([code, *_canonical_subtags(code, subtags)])
    code = language_code(name) or ""
    variety = _IN_BRACKETS.search(name)
    if variety is None or not code:
        return code or name
    subtag = _VARIETIES.get(
        variety[0].strip(" ()").casefold(), variety[0].strip(" ()")
    )
    if not _SUBTAG.fullmatch(subtag):
        # A variety without a tag is a language of its own.
        return name
    return "-".join([code, *_canonical_subtags(code, [subtag.lower()])])


def _canonical_subtags(code: str, subtags: Sequence[str]) -> Iterator[str]:
    """Script, region and variants as BCP 47 writes them."""
    is_extension = False
    for subtag in subtags:
        is_extension |= len(subtag) == 1
        if is_extension:
            yield subtag
        elif _SCRIPT.fullmatch(subtag):
            script = _SCRIPT_ALIASES.get(subtag, subtag)
            if code not in _ONLY_SCRIPT.get(script, ()):
                yield script.title()
        else:
            yield subtag.upper() if _REGION.fullmatch(subtag) else subtag


def base_language(written: str) -> str:
    """Return the code of a language without script and region; of an unknown one its first part."""
    return (
        language_code(written) or re.split("[-_]", written.strip().lower())[0]
    )


def script_named(written: str) -> str:
    """Return the script that a tag states, such as ``Latn`` of ``hi-Latn``; empty without one."""
    tag = _TAG.fullmatch(written.strip().lower())
    _, *subtags = re.split("[-_]", tag[0]) if tag else ("",)
    return next(
        (subtag.title() for subtag in subtags if _SCRIPT.fullmatch(subtag)), ""
    )


def language_named(written: str) -> str | None:
    """The English name of a language that is named or coded: ``hi``, ``en-GB``, ``hindi``.

    None for any other word, so that no word of the data passes as the name of a language.
    """
    code = language_code(written)
    return None if code is None else NAMES[code]


def has_blanks(language: str) -> bool:
    """Return whether texts of a language have blanks between words.

    Args:
        language: Its name, as ``language_named`` returns it.
    """
    return language not in _WITHOUT_BLANKS


def not_english(text: str) -> str | None:
    """Return the evidence that a text is in another language; None if it may be English.

    Three signs: most letters are not Latin; little words of another language, two different ones at
    least, are a fifth of all words and far more than those of English; or of eight words or more
    hardly any is a known English word. Names of people and places, and foreign words that are
    quoted, are none of these. A text of fewer than five words passes where it is in Latin letters.
    """
    return (
        _remembered(text)
        if len(text) <= _KEPT_LENGTH
        else _find_evidence(text)
    )


def _find_evidence(text: str) -> str | None:
    if not text.isascii():
        n_letters = len(LETTER.findall(text))
        n_latin = len(LATIN.findall(text))
        if 2 * n_latin < n_letters:
            return f"{n_letters - n_latin} of its {n_letters} letters are not Latin"
    words = folded_words(text)
    signs = (
        len(words) >= _ENOUGH_FOR_SIGNS
        and len(_ALL_SIGNS.intersection(words)) > 1
    )
    if signs and (why := _other_language(words)):
        return why
    if len(words) >= _ENOUGH_WORDS:
        n_known = len(words) - frequency.weights(words).count(1.0)
        if n_known < _KNOWN_SHARE * len(words):
            return f"only {n_known} of its {len(words)} words are known English words"
    return None


_remembered = lru_cache(maxsize=4096)(_find_evidence)


def _other_language(words: Sequence[str]) -> str | None:
    """The language whose little words a text is full of, far fuller than of those of English."""
    least = max(
        _SIGN_SHARE * len(words),
        1 + _SIGNS_PER_ENGLISH * sum(w in _OURS for w in words),
    )
    signs = {
        name: [w for w in words if w in signs_of_language]
        for name, signs_of_language in _SIGN_SETS.items()
    }
    likeliest, little_words = max(signs.items(), key=lambda item: len(item[1]))
    if len(set(little_words)) == 1 or len(little_words) < least:
        return None
    return f"it looks {likeliest} ({', '.join(map(repr, dict.fromkeys(little_words[:3])))})"
