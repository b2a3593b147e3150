"""Languages by name or code, and whether a text is in English."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from beholder.text import frequency
from beholder.text.tokenize import folded_words

ENGLISH = "English"

_NAMES = {
    "am": "Amharic", "ar": "Arabic", "as": "Assamese", "az": "Azerbaijani", "be": "Belarusian",
    "bg": "Bulgarian", "bho": "Bhojpuri", "bn": "Bengali", "ca": "Catalan", "cs": "Czech",
    "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek", "en": ENGLISH, "es": "Spanish",
    "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "ga": "Irish", "gl": "Galician", "gu": "Gujarati", "ha": "Hausa", "he": "Hebrew",
    "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian",
    "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian", "kk": "Kazakh",
    "km": "Khmer", "kn": "Kannada", "ko": "Korean", "kok": "Konkani", "lo": "Lao",
    "lt": "Lithuanian", "lv": "Latvian", "mai": "Maithili", "ml": "Malayalam", "mn": "Mongolian",
    "mr": "Marathi", "ms": "Malay", "my": "Burmese", "ne": "Nepali", "nl": "Dutch",
    "no": "Norwegian", "or": "Odia", "pa": "Punjabi", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sa": "Sanskrit", "sd": "Sindhi", "si": "Sinhala",
    "sk": "Slovak", "sl": "Slovenian", "so": "Somali", "sq": "Albanian", "sr": "Serbian",
    "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai",
    "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek",
    "vi": "Vietnamese", "yo": "Yoruba", "zh": "Chinese", "zu": "Zulu",
    # Spoken in India, with the codes of three letters
    "anp": "Angika", "awa": "Awadhi", "bns": "Bundeli", "ccp": "Chakma", "gbm": "Garhwali",
    "grt": "Garo", "hne": "Chhattisgarhi", "kfy": "Kumaoni", "lus": "Mizo", "mag": "Magahi",
    "mwr": "Marwari", "nag": "Nagamese", "raj": "Rajasthani", "tcy": "Tulu", "trp": "Kokborok",
}  # fmt: skip
_BY_NAME = {name.lower(): name for name in _NAMES.values()}
_WITHOUT_BLANKS = frozenset({"Burmese", "Chinese", "Japanese", "Khmer", "Lao", "Thai"})

_SIGNS = {
    "German": "und der das ist ein eine einer einem einen auf mit dem den des im zu sind von steht"
    " sich für nicht aus zum zur bei nach es er sie wie auch als wird werden durch einige zwei drei"
    " neben hinter vor über beim vom",
    "French": "et le la les est une un dans avec sur de des du il elle sont deux qui que aux pour"
    " par ce cette ses ne pas près devant derrière trois à leurs",
    "Spanish": "y el la los las es un una en con sobre de del se por dos está que lo su sus para"
    " más como fue tres junto bajo detrás entre sus",
    "Italian": "il la gli è una un con di del della dei nel nella si che sono su da alla tre"
    " sotto dietro alle sulla nella accanto",
    "Portuguese": "o os uma um em com de da dos das na dois há está são que por para"
    " ao três atrás perto",
    "Dutch": "en het een de van op zijn staat naar twee aan voor te dat niet bij drie achter naast",
    "Swedish": "och en ett på med som är av två står det att den för vid tre ett bredvid bakom",
    "Polish": "na w z jest się są dwa przez nad po nie przy obok oraz trzy dwie za",
}
"""Little words that hardly any description does without, by language; none that English has."""
_SIGN_SETS = {name: frozenset(told.split()) for name, told in _SIGNS.items()}
_ALL_SIGNS = frozenset().union(*_SIGN_SETS.values())
_ENGLISH_SIGNS = "the of and is are with an to at by from this that there his her its for"
_ENGLISH_SIGN_SET = frozenset(_ENGLISH_SIGNS.split())
LITTLE_WORDS = _ALL_SIGNS | _ENGLISH_SIGN_SET
"""Little words by which languages are distinguished, lower case."""
_SIGN_SHARE = 0.2
_ENOUGH_FOR_SIGNS = 5
_SIGNS_PER_ENGLISH = 4
_KNOWN_SHARE = 0.4
_ENOUGH_WORDS = 8
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(
    r"[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a]"
)
_KEPT_LENGTH = 20_000
"""Characters of the longest text that is remembered; 4,096 of them are 80 MB."""


def language_named(said: str) -> str | None:
    """The English name of a language that is named or coded: ``hi``, ``en-GB``, ``hindi``.

    None for any other word, so that no word of the data passes as the name of a language.
    """
    bare = said.strip().lower()
    code = re.split(r"[-_]", bare, maxsplit=1)[0]
    return _BY_NAME.get(bare) or _NAMES.get(code)


def has_blanks(language: str) -> bool:
    """Whether texts of a language, named as ``language_named`` does, have blanks between words."""
    return language not in _WITHOUT_BLANKS


def not_english(text: str) -> str | None:
    """Why a text is taken to be in another language than English; None where it may be English.

    Three signs: most letters are not Latin; little words of another language, two different ones at
    least, are a fifth of all words and far more than those of English; or of eight words or more
    hardly any is a known English word. Names of people and places, and foreign words that are
    quoted, are none of these. A text of fewer than five words passes where it is in Latin letters.
    """
    return _remembered(text) if len(text) <= _KEPT_LENGTH else _looked_at(text)


def _looked_at(text: str) -> str | None:
    if not text.isascii():
        n_letters, n_latin = len(_LETTER.findall(text)), len(_LATIN.findall(text))
        if 2 * n_latin < n_letters:
            return f"{n_letters - n_latin} of its {n_letters} letters are not Latin"
    found = folded_words(text)
    if len(found) >= _ENOUGH_FOR_SIGNS and len(_ALL_SIGNS.intersection(found)) > 1:
        why = _other_language(found)
        if why is not None:
            return why
    if len(found) >= _ENOUGH_WORDS:
        known = sum(frequency.weight(word) < 1.0 for word in found)
        if known < _KNOWN_SHARE * len(found):
            return f"only {known} of its {len(found)} words are known English words"
    return None


_remembered = lru_cache(maxsize=4096)(_looked_at)


def _other_language(found: Sequence[str], expected: str = ENGLISH) -> str | None:
    """The language whose little words a text is full of, in words; None if it is of none.

    It has more of them than of those of the language expected, of English far more.
    """
    own = sum(word in _SIGN_SETS.get(expected, _ENGLISH_SIGN_SET) for word in found)
    signs = {
        language: [word for word in found if word in known]
        for language, known in _SIGN_SETS.items()
    }
    likeliest = max(signs, key=lambda language: len(signs[language]))
    most = signs[likeliest]
    if (
        len(set(most)) > 1
        and len(most) >= _SIGN_SHARE * len(found)
        and len(most) > own * (_SIGNS_PER_ENGLISH if expected == ENGLISH else 1)
    ):
        return f"it looks {likeliest} ({', '.join(map(repr, dict.fromkeys(most[:3])))})"
    return None


_SCRIPTS = {
    "CYRILLIC": "Russian Ukrainian Belarusian Bulgarian Serbian Kazakh Mongolian",
    "GREEK": "Greek", "ARABIC": "Arabic Persian Urdu Sindhi", "HEBREW": "Hebrew",
    "DEVANAGARI": "Hindi Marathi Nepali Sanskrit Bhojpuri Maithili Konkani Angika Awadhi",
    "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean",
    "CJK": "Chinese Japanese Korean",
    "THAI": "Thai", "GEORGIAN": "Georgian", "ARMENIAN": "Armenian", "BENGALI": "Bengali Assamese",
    "TAMIL": "Tamil", "TELUGU": "Telugu", "KANNADA": "Kannada", "MALAYALAM": "Malayalam",
    "GUJARATI": "Gujarati", "GURMUKHI": "Punjabi",
}  # fmt: skip
"""Languages of scripts other than Latin, by the first word of a letter's Unicode name."""
_ENGLISH_SHARE = 0.8


def other_language(text: str, expected: str) -> str | None:
    """Why a text is in another language than expected; None if it fits or is undecided.

    Args:
        text: Any text; fewer than five words are compared by script alone.
        expected: A language, named as ``language_named`` does.
    """
    letters = _LETTER.findall(text)
    scripts = {unicodedata.name(one, "").partition(" ")[0] for one in set(letters)}
    foreign = next((name for name, of in _SCRIPTS.items() if expected in of.split()), None)
    latin = scripts == {"LATIN"} and foreign is not None and expected != "Serbian"
    known = all(script in _SCRIPTS for script in scripts)
    fits = any(expected in _SCRIPTS[script].split() for script in scripts if known)
    if len(letters) >= 3 and (latin or (known and not fits)):
        return f"all its letters are {' or '.join(sorted(map(str.title, scripts)))}"
    found = folded_words(text)
    if len(found) < _ENOUGH_FOR_SIGNS or foreign is not None:
        return None
    if expected not in (ENGLISH, *_SIGN_SETS):
        n = sum(frequency.weight(word) < 1.0 for word in found)
        return "it looks English" if n >= _ENGLISH_SHARE * len(found) else None
    if why := _other_language(found, expected):
        return why
    own = _LETTERS[expected]
    small = [one for one in re.findall(r"\b[^\W\d_]+", text) if one.islower()]
    strange = {one for one in small if not own.issuperset(one)}
    if len(strange) > 1 and len(strange) >= _SIGN_SHARE * len(found):
        return (
            f"it has letters that are not {expected} ({', '.join(map(repr, sorted(strange)[:3]))})"
        )
    if expected == ENGLISH:
        n = sum(frequency.weight(word) < 1.0 for word in small)
        few = len(small) > 3 and n <= _UNKNOWN_SHARE * len(small)
        few = few and _ENGLISH_SIGN_SET.isdisjoint(found)
        return f"only {n} of its {len(small)} small words are English" if few else None
    if _SIGN_SETS[expected].isdisjoint(found):
        n = sum(frequency.weight(word) < 1.0 for word in found)
        return "it looks English" if n >= _ENGLISH_SHARE * len(found) else None
    return None


_UNKNOWN_SHARE = 0.25
"""Of small words that English knows; with fewer, a text is in another language."""
_LETTERS = {
    language: frozenset("abcdefghijklmnopqrstuvwxyz" + more)
    for language, more in (
        (ENGLISH, "éï"), ("German", "äöüßé"), ("French", "àâæçéèêëîïôœùûüÿ"),
        ("Spanish", "áéíñóúü"), ("Italian", "àèéìòù"), ("Portuguese", "áâãàçéêíóôõú"),
        ("Dutch", "éèëïóöü"), ("Swedish", "åäöé"), ("Polish", "ąćęłńóśźż"),
    )
}  # fmt: skip
"""Small letters of the languages with little words, with those of usual loan words."""
