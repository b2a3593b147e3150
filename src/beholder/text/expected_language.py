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
    "bs": ("hr", "sr"), "af": ("nl",), "lb": ("de",), "mk": ("bg", "sr"), "fy": ("nl",),
    "gd": ("ga",), "oc": ("ca",), "an": ("es",), "fo": ("is", "da"), "xh": ("zu",),
    "tt": ("ba",),
}  # fmt: skip
"""Languages that a short text cannot be distinguished from, by code."""
_NOT_LATIN = re.compile(
    r"ab|am|ar|as|av|ba|be|bg|bho|bn|bo|ce|cv|dv|dz|el|fa|gu|he|hi|hy|ii|ja|ka|km|kn|ko|ks|kv|ky"
    r"|lo|mai|mk|ml|mr|my|ne|or|os|pa|ps|ru|sa|sd|si|ta|te|tg|th|ti|ug|uk|ur|yi|zh"
)
"""Languages that are never written in Latin letters, by code."""
_CODES_OF_BOTH = (
    "ae az bm bs cr cu ff ha iu jv kk kr ku mg mn ms"
    " oj pi sq sr so su sw tk tr tt uz wo yo za"
)
_BOTH = frozenset(_CODES_OF_BOTH.split())
"""Languages that are or were written in Latin and in other letters, by code."""
_USUAL_SCRIPTS = ("", "Hans", "Hant", "Hani", "Jpan", "Kore", "Cyrl")
"""Scripts of tags that do not change how a language is written; the usual ones are left out."""
_FITS, _LEAST = 0.03, 0.3
"""Most of the language expected, and least of the likeliest one, in a text of another."""
_SURELY_ENGLISH = 0.9
"""Least chance of English in a text whose language is written in letters that are not usual."""
_FITS_FEW, _LEAST_FEW, _FEW = 0.01, 0.5, 5
"""The same in a text of fewer than five words."""


def akin_languages(expected: str) -> list[str]:
    """Return the names of the languages that count as the named one, sorted; itself is left out."""
    codes = [code for code, name in NAMES.items() if name == expected]
    return sorted(
        {NAMES[code] for code in _akin_codes(codes) if code in NAMES}
        - {expected}
    )


def _akin_codes(codes: list[str]) -> set[str]:
    return {akin for code in codes for akin in _AKIN.get(code, ())}


@cache
def _identifier() -> Any:
    # Takes a second to load.
    from py3langid.langid import (
        MODEL_FILE,
        LanguageIdentifier,
    )

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def other_language(text: str, expected: str, script: str = "") -> str | None:
    """Return the evidence that a text is in another language than expected.

    None if it fits or is undecided.

    Scripts decide, then py3langid, a classifier of byte sequences of 139 languages. Of a language
    that it does not know, only English is another one.

    Args:
        text: Any text.
        expected: A language, named as ``language_named`` does.
        script: Script that the tag of the text states, as ``script_named`` returns it. A language
            in letters that it is not usually written in is unknown to the classifier: only the
            letters decide, and whether the text is surely English.
    """
    if not LETTER.search(text):
        return None
    # Plan: scripts that exclude the expected language; languages that the classifier does not
    # know; then its chances, with stricter limits for a few words.
    chances: dict[str, float] = dict(_identifier().rank(text))
    likeliest = next(iter(chances))

    def chance_of(code: str) -> float:
        return round(chances.get(code, 0.0), 3)

    # Norwegian has three codes; the classifier does not know each of them.
    codes = [code for code, name in NAMES.items() if name == expected]
    expected_code = next((code for code in codes if code in chances), codes[0])
    all_latin = all(map(LATIN.match, LETTER.findall(text)))
    few = len(folded_words(text)) < _FEW
    if script == "Latn" and not LATIN.search(text):
        return "none of its letters is Latin"
    if all_latin and (
        script not in ("", "Latn")
        or (not script and _NOT_LATIN.fullmatch(expected_code))
    ):
        return "all its letters are Latin"
    if _NOT_LATIN.fullmatch(expected_code) and script not in _USUAL_SCRIPTS:
        is_english = not few and chance_of("en") >= _SURELY_ENGLISH
        return "it looks English" if is_english and all_latin else None
    if not (
        _NOT_LATIN.fullmatch(expected_code)
        or expected_code in _BOTH
        or LATIN.search(text)
    ):
        return "none of its letters is Latin"
    if expected_code not in chances and likeliest != "en":
        return None
    fits = sum(map(chance_of, {*codes, *_akin_codes(codes)}))
    most_of_expected, least_of_likeliest = (
        (_FITS_FEW, _LEAST_FEW) if few else (_FITS, _LEAST)
    )
    if fits > most_of_expected or chance_of(likeliest) < least_of_likeliest:
        return None
    return f"it looks {NAMES.get(likeliest, likeliest)}"
