"""Words of a text in any script, as character ranges of the original text."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from beholder.base.fingerprint import digest_modules

# Han characters: radicals, iteration marks, ideographs.
_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"


def identity() -> str:
    """Name of the rules of ``words`` in signatures, with a digest of their code."""
    return f"words@{digest_modules(__name__)}"


@cache
def _words() -> re.Pattern[str]:
    """Compiled on use, because that takes longer than many a command."""
    # Vowel signs, viramas and accents, which ``\w`` leaves out, and the joiners between them.
    marks = "\u200c\u200d" + "".join(
        chr(code)
        for block in (
            (0x300, 0x3100),
            (0xA600, 0xAC00),
            (0xFB00, 0xFE30),
            (0x11000, 0x11FFF),
        )
        for code in range(*block)
        if unicodedata.category(chr(code)) in ("Mn", "Mc", "Me")
    )
    letter = rf"(?:(?![_{_HAN}{_HIRAGANA}{_KATAKANA}])\w|[{marks}])"
    # Apostrophes, hyphens, and what is not seen: the soft hyphen and two joiners.
    inner = r"['’ʼ´\u2032\-\u2010\u2011\u2212\u00ad\u2060\ufeff]"
    return re.compile(
        rf"\d+(?:[.,:/]\d+)+(?![^\W\d_])"  # 1,000.5 and 10:30 and 3/4
        rf"|{letter}+(?:{inner}{letter}+)*"  # don't, well-known, 3-legged
        rf"|[{_HIRAGANA}{marks}]+"
        rf"|[{_KATAKANA}{marks}]+"
        rf"|[{_HAN}]"
    )


# The same rules for plain ASCII, where small classes make the search several times faster.
_ASCII_WORDS = re.compile(
    r"\d+(?:[.,:/]\d+)+(?![A-Za-z])|[A-Za-z0-9]+(?:['\-][A-Za-z0-9]+)*",
    re.ASCII,
)


def words(text: str) -> list[tuple[int, int]]:
    """Word tokens of a text.

    A word is a run of letters, digits and their combining marks, with apostrophes and hyphens
    inside it (``don't``, ``well-known``); a number keeps its separators (``1,000.5``, ``10:30``).
    Han characters are one word each, since Chinese has no spaces; runs of hiragana and runs of
    katakana are one word each. Punctuation, symbols and emoji are no words. No case folding, no
    stop words, no splitting of contractions: that is the metric's choice.

    Args:
        text: Any text.

    Returns:
        Half-open character ranges in order, none overlapping. Time is linear in the length.
    """
    pattern = _ASCII_WORDS if text.isascii() else _words()
    return [match.span() for match in pattern.finditer(text)]


def folded_words(text: str) -> tuple[str, ...]:
    """The words of a text, case folded and in plain characters, for those who need no places."""
    # Folding leaves every letter a letter in its place.
    if text.isascii():
        return tuple(_ASCII_WORDS.findall(text.lower()))
    return tuple(
        _plain(text[start:end]).casefold() for start, end in words(text)
    )


def lower_words(text: str) -> list[str]:
    """The words of a text in lower case and in plain characters, as many as ``words`` has."""
    if text.isascii():
        folded: list[str] = _ASCII_WORDS.findall(text.lower())
        return folded
    return [_plain(text[start:end]).lower() for start, end in words(text)]


# Apostrophes and hyphens of typesetters, and full-width forms, look like the ones of keyboards.
_PLAIN: dict[int, str | None] = {
    ord(character): "'" for character in "’‘ʼ´\u2032"
}
_PLAIN |= {
    0x2010: "-",
    0x2011: "-",
    0x2212: "-",
    0xAD: None,
    0x2060: None,
    0xFEFF: None,
}
_PLAIN |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}


def _plain(word: str) -> str:
    """A word with plain apostrophes, hyphens and widths, and without soft hyphens."""
    return word.translate(_PLAIN)


_MARK = re.compile(
    r"</?[A-Za-z]+(?:[ _-][A-Za-z]+)* ?/?>"  # <noise>, </noise>, <pause/>
    r"|\{[A-Za-z0-9][A-Za-z0-9 .,'’&/-]*\}"  # {scooter}: the English of the word before it
    r"|\b[A-Z][a-z]+:(?=\s*[\u0600-\u06ff\u0900-\u0dff])"  # Hindi: before words of its script
)
"""Marks of the published transcripts of Vaani, as table 1 of the HAR and MAR paper prints them."""


def without_marks(text: str) -> str:
    """A text without marks of transcripts: ``<noise>``, glosses ``{scooter}``, labels ``Hindi:``.

    Blanks take their place, as many as there were characters, so that a place in the cleaned text
    is the same place in the original. The words between ``<noise>`` and ``</noise>`` were said and
    stay.
    """
    return _MARK.sub(lambda mark: " " * len(mark.group()), text)


def n_spoken(text: str) -> int:
    """Words between blanks; marks of transcripts, and signs that stand alone, are none."""
    return sum(
        any(map(str.isalnum, word)) for word in without_marks(text).split()
    )
