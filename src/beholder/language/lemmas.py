"""Base forms of English words: tables for what is irregular, rules for the rest.

``lemmas.txt`` lists irregular words only, and the stems whose base form a rule cannot know (hoping
is from hope, but opening from open).
"""

from __future__ import annotations

import functools
import re

from beholder.language.lexicon import pairs, sections, word_set

_FILE = "lemmas.txt"
_VERBS: dict[str, str] = {}
for _line in sections(_FILE)["verbs"]:
    _base, *_forms = _line.split()
    for _form in _forms:
        _VERBS.setdefault(_form, _base)
_NOUNS = pairs(_FILE, "nouns")
_E_STEMS = word_set(_FILE, "stems with e")
_PLAIN_STEMS = word_set(_FILE, "plain stems")

_PRONOUNS = pairs(_FILE, "pronouns")
_ADJECTIVES = pairs(_FILE, "adjectives")
_E_ENDS = (
    "rg", "c", "v", "id", "it", "ut", "ur", "os", "af", "is", "as", "ar", "bl", "pl", "tl", "at",
    "ud",
)  # fmt: skip
_SILENT_E = re.compile(
    r"(?:[aeiouy](?:[cvzu]|[^aeiou]l)|[aeiou]nc|rc|dg|[aeiou]g|rg|ns|ls|rs|us|is|as|os|th|qu|u"
    r"|[bcdfgkpt]l|iz|at|ut|[^aeiou]ur|ir|rv|lv|nv)$"
)
_PREFIXED = re.compile(
    r"(?:over|under|out|re|un|fore|mis)(?=(?:[^\W\daeiou]|[bcfgp]l|[bcdfgpt]r|s[chklmnptw]|[cst]h|wr|wh)"
    r"[aeiouy][bdgklmnprtz]$)"
)
"""Prefixes of verbs of one syllable: overtaking, rewriting."""
_NO_E = re.compile(
    r"(?:ck|ll|ss|ff|zz|sh|ch|ng|nk|nd|nt|ct|pt|ft|st|ld|lk|lt|lm|mp|rd|rk|rm|rn|rt|rl|sk|w|x|y|ght)$"
)


@functools.lru_cache(maxsize=65536)
def lemma(text: str, pos: str, tag: str) -> str:
    """The base form of a word, in lower case.

    Args:
        text: The word as written.
        pos: Universal part of speech.
        tag: Penn Treebank tag; only its plural and inflection marks are used.
    """
    word = text.lower()
    if pos in ("VERB", "AUX"):
        return verb(word, tag)
    if pos == "NOUN" or tag in ("NNS", "NNPS"):
        return (
            noun(word)
            if tag in ("NNS", "NNPS", "")
            else _NOUNS.get(word, word)
        )
    if pos in ("ADJ", "ADV") and tag in ("JJR", "JJS", "RBR", "RBS"):
        return adjective(word)
    if pos in ("PRON", "DET", "PART"):
        return _PRONOUNS.get(word, word)
    return word


def noun(word: str) -> str:
    """The singular of a plural noun; words that are only used in the plural stay."""
    if word in _NOUNS:
        return _NOUNS[word]
    for end, single in (
        ("women", "woman"),
        ("men", "man"),
        ("children", "child"),
    ):
        if word.endswith(end) and len(word) > len(end):
            return word[: -len(end)] + single
    if "-" in word:
        first, _, last = word.rpartition("-")
        return f"{first}-{noun(last)}"
    if (
        not word.endswith("s")
        or word.endswith(("ss", "us", "is", "'s"))
        or len(word) < 3
    ):
        return word
    return _without_s(word)


def verb(word: str, tag: str = "") -> str:
    """The infinitive of a verb form."""
    # Plan: irregular forms, base forms, the parts of compounds and prefixed verbs, then endings.
    # "Saw" is a base form too: "they saw wood".
    if word in _VERBS and not (word == "saw" and tag in ("VB", "VBP")):
        return _VERBS[word]
    if tag in ("VB", "VBP", "MD"):
        return word
    if "-" in word:
        first, _, last = word.rpartition("-")
        return f"{first}-{verb(last, tag)}"
    for prefix in ("over", "under", "out", "re", "un", "with", "fore"):
        if (
            word.startswith(prefix)
            and word[len(prefix) :] in _VERBS
            and tag != "VBZ"
        ):
            return prefix + _VERBS[word[len(prefix) :]]
    if (
        word.endswith("ing")
        and len(word) > 4
        and re.search("[aeiouy]", word[:-3])
    ):
        return _stem(word[:-3])
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if (
        word.endswith("ed")
        and len(word) > 3
        and re.search("[aeiouy]", word[:-2])
    ):
        return _stem(word[:-2])
    if (
        word.endswith("s")
        and not word.endswith(("ss", "us", "is"))
        and tag in ("VBZ", "")
    ):
        return _without_s(word)
    return word


def _without_s(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return word[:-2]
    return word[:-1]


def _stem(stem: str) -> str:
    """Return the infinitive of the part before -ing or -ed."""
    if stem in _PLAIN_STEMS:
        return stem
    if stem in _E_STEMS:
        return stem + "e"
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "aeiou":
        single = stem[:-1]
        return (
            stem
            if stem[-1] in "sz" or (stem[-1] in "lf" and len(single) < 5)
            else single
        )
    bare = _PREFIXED.sub("", stem, count=1) if _PREFIXED.match(stem) else stem
    syllables = len(re.findall("[aeiouy]+", bare))
    if syllables == 1 and re.search(
        r"(?:^|[^aeiou])[aeiouy][bdgklmnprtz]$", bare
    ):
        # A doubled consonant would show a short vowel: hop, hopping.
        return stem + "e"
    if _SILENT_E.search(stem) and not _NO_E.search(stem):
        return stem + "e"
    return stem


def adjective(word: str) -> str:
    """The plain form of a comparative or superlative."""
    if word in _ADJECTIVES:
        return _ADJECTIVES[word]
    for end in ("er", "est"):
        if word.endswith(end) and len(word) > len(end) + 2:
            return _plain(word[: -len(end)])
    return word


def _plain(stem: str) -> str:
    """Return the adjective of the part before -er or -est."""
    if stem.endswith("i"):
        return stem[:-1] + "y"
    if stem[-1] == stem[-2] and stem[-1] not in "aeioulsf":
        return stem[:-1]
    if stem in _E_STEMS or (
        stem.endswith(_E_ENDS) and stem not in _PLAIN_STEMS
    ):
        return stem + "e"
    return stem
