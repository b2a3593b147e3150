"""Compare the language of a text with the expected one, by scripts and py3langid.

Apart from ``languages``, so that signatures state py3langid's version only where it decides.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from beholder.text.languages import LATIN, LETTER, NAMES
from beholder.text.tokenize import folded_words

_AKIN = {
    "en": ("pcm",), "de": ("lb",), "no": ("nb", "nn", "da"), "da": ("nb", "no", "nn"),
    "sr": ("hr", "bs"), "hr": ("sr", "bs"), "id": ("ms",), "ms": ("id",), "nl": ("af",),
}  # fmt: skip
"""Languages that a short text cannot be distinguished from, by code."""
_NOT_LATIN = re.compile(
    r"am|ar|as|be|bg|bho|bn|el|fa|gu|he|hi|hy|ja|ka|km|kn|ko|lo|mai|ml|mr|my|ne|or|pa|ru|sa|sd|si"
    r"|ta|te|th|uk|ur|zh"
)
"""Languages that are never written in Latin letters, by code."""
_BOTH = ("az", "ha", "kk", "mn", "ms", "sq", "sr", "so", "tr", "uz")
"""Languages that are or were written in Latin and in other letters, by code."""
_FITS, _LEAST = 0.03, 0.3
"""Most of the language expected, and least of the likeliest one, in a text of another."""
_FITS_FEW, _LEAST_FEW, _FEW = 0.01, 0.5, 5
"""The same in a text of fewer than five words."""


@cache
def _identifier() -> Any:
    # Takes a second to load.
    from py3langid.langid import (
        MODEL_FILE,
        LanguageIdentifier,
    )

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def other_language(text: str, expected: str) -> str | None:
    """Return the evidence that a text is in another language than expected.

    None if it fits or is undecided.

    Scripts decide, then py3langid, a classifier of byte sequences of 139 languages. Of a language
    that it does not know, only English is another one.

    Args:
        text: Any text.
        expected: A language, named as ``language_named`` does.
    """
    if not LETTER.search(text):
        return None
    # Plan: scripts that exclude the expected language; languages that the classifier does not
    # know; then its chances, with stricter limits for a few words.
    chances = {
        code: round(chance, 3) for code, chance in _identifier().rank(text)
    }
    likeliest = next(iter(chances))
    expected_code = next(
        code for code, name in NAMES.items() if name == expected
    )
    if _NOT_LATIN.fullmatch(expected_code) and all(
        map(LATIN.match, LETTER.findall(text))
    ):
        return "all its letters are Latin"
    if not (
        _NOT_LATIN.fullmatch(expected_code)
        or expected_code in _BOTH
        or LATIN.search(text)
    ):
        return "none of its letters is Latin"
    if expected_code not in chances and likeliest != "en":
        return None
    fits = sum(
        chances.get(code, 0.0)
        for code in (expected_code, *_AKIN.get(expected_code, ()))
    )
    few = len(folded_words(text)) < _FEW
    most_of_expected, least_of_likeliest = (
        (_FITS_FEW, _LEAST_FEW) if few else (_FITS, _LEAST)
    )
    if fits > most_of_expected or chances[likeliest] < least_of_likeliest:
        return None
    return f"it looks {NAMES.get(likeliest, likeliest)}"
