"""Languages by name or code, and whether a text is in English."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from beholder.text import frequency
from beholder.text.tokenize import folded_words

ENGLISH = "English"

NAMES = {
    "am": "Amharic", "ar": "Arabic", "as": "Assamese", "az": "Azerbaijani", "be": "Belarusian",
    "bg": "Bulgarian", "bho": "Bhojpuri", "bn": "Bengali", "ca": "Catalan", "cs": "Czech",
    "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek", "en": ENGLISH, "es": "Spanish",
    "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "ga": "Irish", "gl": "Galician", "gu": "Gujarati", "ha": "Hausa", "he": "Hebrew",
    "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian",
    "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian", "kk": "Kazakh",
    "km": "Khmer", "kn": "Kannada", "ko": "Korean", "kok": "Konkani", "lo": "Lao",
    "lt": "Lithuanian", "lv": "Latvian", "mai": "Maithili", "ml": "Malayalam", "mn": "Mongolian",
    "mr": "Marathi", "ms": "Malay", "my": "Burmese", "nb": "Norwegian",
    "ne": "Nepali", "nl": "Dutch", "nn": "Norwegian",
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
_CODES_BY_NAME = {name.lower(): code for code, name in reversed(NAMES.items())} | {
    "norwegian": "no", "bokmål": "nb", "norwegian bokmål": "nb", "nynorsk": "nn",
    "norwegian nynorsk": "nn",
    "bangla": "bn", "castilian": "es", "farsi": "fa", "filipino": "tl", "flemish": "nl",
    "mandarin": "zh", "oriya": "or", "valencian": "ca",
    "deutsch": "de", "español": "es", "français": "fr", "italiano": "it", "nederlands": "nl",
    "polski": "pl", "português": "pt", "svenska": "sv", "русский": "ru", "हिन्दी": "hi",
    "हिंदी": "hi", "中文": "zh", "日本語": "ja", "한국어": "ko", "العربية": "ar",
}  # fmt: skip
"""Codes by name in lower case: English names, other English names, and names in the language."""

_SHORT_CODES = {
    "amh": "am", "ara": "ar", "asm": "as", "aze": "az", "bel": "be", "bul": "bg", "ben": "bn",
    "cat": "ca", "ces": "cs", "cze": "cs", "cym": "cy", "wel": "cy", "dan": "da", "deu": "de",
    "ger": "de", "ell": "el", "gre": "el", "eng": "en", "spa": "es", "est": "et", "eus": "eu",
    "baq": "eu", "fas": "fa", "per": "fa", "pes": "fa", "fin": "fi", "fil": "tl", "fra": "fr",
    "fre": "fr", "gle": "ga", "glg": "gl", "guj": "gu", "hau": "ha", "heb": "he", "iw": "he",
    "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy", "arm": "hy", "ind": "id", "in": "id",
    "isl": "is", "ice": "is", "ita": "it", "jpn": "ja", "kat": "ka", "geo": "ka", "kaz": "kk",
    "khm": "km", "kan": "kn", "kor": "ko", "lao": "lo", "lit": "lt", "lav": "lv", "mal": "ml",
    "mon": "mn", "mar": "mr", "msa": "ms", "may": "ms", "mya": "my", "bur": "my", "nob": "nb",
    "nep": "ne", "nld": "nl", "dut": "nl", "nno": "nn", "nor": "no", "ori": "or", "ory": "or",
    "pan": "pa", "pol": "pl", "por": "pt", "ron": "ro", "rum": "ro", "rus": "ru", "san": "sa",
    "snd": "sd", "sin": "si", "slk": "sk", "slo": "sk", "slv": "sl", "som": "so", "sqi": "sq",
    "alb": "sq", "srp": "sr", "swe": "sv", "swa": "sw", "tam": "ta", "tel": "te", "tha": "th",
    "tgl": "tl", "tur": "tr", "ukr": "uk", "urd": "ur", "uzb": "uz", "vie": "vi", "yor": "yo",
    "zho": "zh", "chi": "zh", "cmn": "zh", "zul": "zu", "arb": "ar", "azj": "az", "khk": "mn",
    "lvs": "lv", "npi": "ne", "als": "sq", "swh": "sw", "uzn": "uz", "zsm": "ms",
}  # fmt: skip
"""Codes of two letters by those of three (ISO 639-2 and 639-3), and by two withdrawn ones."""

_TAG = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{1,8})*")
"""A language tag: the language, then script, region and variants."""
_SCRIPT, _REGION = re.compile("[a-z]{4}"), re.compile("[a-z]{2}|[0-9]{3}")
_SUBTAG = re.compile("[A-Za-z]{4}|[A-Z]{2}|[0-9]{3}")
_SCRIPT_ALIASES = {"hang": "kore"}
"""Codes of lists of languages that name a part of a script."""
_ONLY_SCRIPT = {
    script: frozenset(codes.split())
    for script, codes in {
        "latn": "af bs ca ceb cs cy da de en eo es et eu fi fil fo fr fy ga gl hr ht hu id is it la"
        " lb ln lt lv mg ms mt nb nl nn no nso om pl pt rm rn ro rw sk sl sm so sq ss st sv sw tl"
        " tn to tr ts ve vi xh zu",
        "cyrl": "be bg kk mk ru uk",
        "arab": "ar fa ps ur",
        "deva": "bho hi mai mr ne",
        "beng": "as bn",
        "ethi": "am ti",
        "hebr": "he yi",
        "armn": "hy",
        "geor": "ka",
        "grek": "el",
        "gujr": "gu",
        "guru": "pa",
        "jpan": "ja",
        "khmr": "km",
        "knda": "kn",
        "kore": "ko",
        "laoo": "lo",
        "mlym": "ml",
        "mymr": "my",
        "orya": "or",
        "sinh": "si",
        "taml": "ta",
        "telu": "te",
        "thai": "th",
    }.items()
}
"""Languages by the script that a tag leaves out (``Suppress-Script`` of IANA's registry)."""
_VARIETIES = {
    "simplified": "Hans", "traditional": "Hant", "latin": "Latn", "cyrillic": "Cyrl",
    "brazil": "BR", "brazilian": "BR", "portugal": "PT", "european portuguese": "PT", "us": "US",
    "uk": "GB", "american": "US", "british": "GB", "united states": "US", "united kingdom": "GB",
    "canada": "CA", "mexico": "MX", "spain": "ES", "latin america": "419", "austria": "AT",
    "switzerland": "CH", "germany": "DE", "france": "FR", "taiwan": "TW", "hong kong": "HK",
    "china": "CN",
}  # fmt: skip
"""Script or region by the variety that follows a name in brackets."""
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\Z")
_WITHOUT_BLANKS = frozenset(
    {"Burmese", "Chinese", "Japanese", "Khmer", "Lao", "Thai"}
)

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
_ENGLISH_SIGNS = (
    "the of and is are with an to at by from this that there his her its for"
)
_OURS = frozenset(_ENGLISH_SIGNS.split())
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
    name = _IN_BRACKETS.sub("", written.strip().casefold())
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
        if (
            subtags and _SHORT_CODES.get(subtags[0]) == code
        ):  # "zh-cmn" repeats the language
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
        return name  # a variety without a tag is a language of its own
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


def language_named(written: str) -> str | None:
    """The English name of a language that is named or coded: ``hi``, ``en-GB``, ``hindi``.

    None for any other word, so that no word of the data passes as the name of a language.
    """
    code = language_code(written)
    return None if code is None else NAMES[code]


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
        n_letters, n_latin = (
            len(LETTER.findall(text)),
            len(LATIN.findall(text)),
        )
        if 2 * n_latin < n_letters:
            return f"{n_letters - n_latin} of its {n_letters} letters are not Latin"
    found = folded_words(text)
    signs = (
        len(found) >= _ENOUGH_FOR_SIGNS
        and len(_ALL_SIGNS.intersection(found)) > 1
    )
    if signs and (why := _other_language(found)):
        return why
    if len(found) >= _ENOUGH_WORDS:
        known = len(found) - frequency.weights(found).count(1.0)
        if known < _KNOWN_SHARE * len(found):
            return f"only {known} of its {len(found)} words are known English words"
    return None


_remembered = lru_cache(maxsize=4096)(_looked_at)


def _other_language(found: Sequence[str]) -> str | None:
    """The language whose little words a text is full of, far fuller than of those of English."""
    least = max(
        _SIGN_SHARE * len(found),
        1 + _SIGNS_PER_ENGLISH * sum(w in _OURS for w in found),
    )
    signs = {
        name: [w for w in found if w in known]
        for name, known in _SIGN_SETS.items()
    }
    likeliest, most = max(signs.items(), key=lambda item: len(item[1]))
    if len(set(most)) == 1 or len(most) < least:
        return None
    return f"it looks {likeliest} ({', '.join(map(repr, dict.fromkeys(most[:3])))})"
