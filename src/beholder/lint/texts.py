"""Rules on what a single text says: ALT102 to ALT107."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from beholder.lint.machines import (
    STATEMENT,
    count_tags,
    find_prompt,
)
from beholder.lint.occurrence import Occurrence, split_address
from beholder.lint.rules import Hit, LintSetting, check
from beholder.lint.wording import (
    emoji,
    fold,
    is_dense,
    length,
    listed,
    names,
    names_in,
    pattern,
    shortened,
    stem,
    word_lists,
    words,
)
from beholder.text.languages import base_language

_TEMPLATE = re.compile(
    r"""
    \{\{[^{}]*\}\}|\$\{[^{}]*\}|\#\{[^{}]*\}|\{%[^{}]*%\}|\{\$[^{}]*\}|<%[^%]*%>|<\?(?:php
        |=)[^?]*\?>
    |(?<![\w\\^_}])\{(?:[a-z_][\w.]+|\d)\}|\[\[\w[\w.:-]*\]\]|%\(\w+\)[sd]|%\d\$[sd]
        |(?<![\w%])%s(?!\w)
    |(?<!\w)%%?[A-Z][A-Z_]+%%?(?!\w)|\[alt\]|\[[a-z_]+\ [a-z_]+=["'“”][^\]]*\]
    |\[object\ \w+\]|\b__\(\s*['"][^()]*\)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Expressions of template languages, anywhere in a text."""
_TEMPLATE_SIGN = re.compile(r"[{\[%<]|__\(")
_UNFILLED = re.compile(
    r"""
    \$[a-z_][\w>.\-]*|@?[a-z_]\w*(?:\.\w+)*\.(?:alt|altText|title|name|caption|description|label
        |text
    |rendered)|(?-i:\#[¡¿]?(?:[A-ZÄÖÜÉ]{2,10}[!?]|DIV/0!|N/[AD]|NV)|=[A-ZÄÖÜ.]{2,}\(.*\))
    |alt\s*=\s*["'“”].*|(?:.{0,30}\s)?(?:undefined|null|NaN)
    |[\[<{(]\s*(?:insert|your|add|enter|alt|describe|description|image\ description|name\ of
    |placeholder|title|caption)\b[^\])>}]*[\])>}]
    |(?:please\ )?(?:insert|add|enter|type|write|provide|put)\ (?:(?:an?|the|your)\ )?(?:\w+\ )?
    (?:alt(?:ernative)?[ -]?text|(?:image\ |picture\ |photo\ )?description|caption)(?:\ \w+){0,5}
    |(?:please\ )?describe\ (?:the|this|your)\ (?:image|picture|photo)(?:\ \w+){0,3}
    |(?:image\ |picture\ )?(?:alt(?:ernative)?[ -]?text|description)\ (?:goes|comes|is)?\ ?here
    |(?:hier\ )?(?:den\ |eine?n?\ )?(?:alternativtext|bildbeschreibung|beschreibung)\ (?:hier\ )?
    (?:einfügen|eingeben|ergänzen|hinzufügen)|(?-i:TODO|FIXME|TBD)\b.*
    |(?:alt(?:[ -]text)?|image|description)\ (?:todo|tbd)|x{3,}|(?:asdf)+\w{0,4}|(?:blah?\ ?){2,}
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Texts that are nothing but a variable, an error of a spreadsheet, or a request to write one."""
_DENSE_REQUEST = re.compile(
    r"""
    (?:ここに|画像の|写真の|この画像の)*(?:代替テキスト|代替文|altテキスト|alt|説明文?|キャプション|テキスト)
    を?\ ?(?:ここに)?(?:入力|追加|記入|記述|挿入|書)[^。]{0,8}
    |(?:请|請)?(?:在此处?|在這裡|在这里)?(?:输入|輸入|添加|新增|填写|填寫|插入|撰写|撰寫)
    (?:图片|图像|圖片|圖像|此图)?的?(?:替代文本|替代文字|描述|说明|說明|alt文?本?|文字|文本)
    |(?:여기에\ ?)?(?:(?:이미지|사진|그림)의?\ ?)?(?:대체\ ?텍스트|설명|캡션|텍스트)(?:을|를)?
    \ ?(?:여기에\ ?)?(?:입력|추가|작성|삽입)[^.]{0,8}
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Requests to write a text in Japanese, Chinese and Korean."""
_LETTERS = re.compile(r"[^\W\d_]+")
_MOST_REQUEST_WORDS = 12
_FIRST_EAST_ASIAN = "\u3000"
_LIMITS = {"web": (150, 250), "documents": (150, 250), "social": (500, 1000)}
_PLATFORMS = {"mastodon": 1500, "bluesky": 2000}
_SHORT = {"web": 2, "documents": 2, "museum": 4, "social": 4}
_LINEAR = 20_000
_COMPOUND_PART = 5
"""Letters that the parts of a compound have at least."""
_SHOP_WORDS = frozenset(names("shop_words"))
"""Words of keyword lists that have capitals throughout, as names have."""


@check("ALT102")
def placeholder(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find texts such as "alt text", "TODO", "lorem ipsum", and unfilled templates."""
    if _TEMPLATE_SIGN.search(occurrence.judged) and (
        match := _TEMPLATE.search(occurrence.judged)
    ):
        return Hit(
            f'contains the unfilled template "{shortened(match[0])}"',
            match.span(),
        )
    listed_texts = listed("placeholder", occurrence.language)
    if (
        occurrence.fold in listed_texts
        or re.sub("[_-]", " ", occurrence.fold) in listed_texts
        or occurrence.fold.startswith("lorem ipsum")
        or occurrence.fold in names("program_values")
        or _UNFILLED.fullmatch(occurrence.text.rstrip(" .:"))
        or _is_request(occurrence.text)
    ):
        if (
            occurrence.work_title
            and fold(occurrence.work_title) == occurrence.fold
        ):
            return Hit(
                f'"{occurrence.text}" is only the title of the work',
                severity="warning",
            )
        return Hit(f'"{shortened(occurrence.text)}" is a placeholder')
    return None


def _is_request(text: str) -> bool:
    """Return whether a text asks for a text, in any language: "Wpisz tutaj tekst alternatywny".

    Such a text consists of few words: to write, here, a text for a picture, and function words.
    """
    if text and max(text) >= _FIRST_EAST_ASIAN:
        return bool(_DENSE_REQUEST.fullmatch(text.strip(" .。!！…")))
    text_words = [word.casefold() for word in _LETTERS.findall(text)]
    if not 2 <= len(text_words) <= _MOST_REQUEST_WORDS:
        return False
    used = frozenset(text_words)
    for request in _requests_by_first_word().get(text_words[0], ()):
        if not used <= request.vocabulary:
            continue
        writes = bool(used & request.write)
        is_here = bool(used & request.here)
        names_text = bool(used & request.text_nouns)
        if (
            (names_text and (writes or is_here))
            or (writes and is_here)
            or (used & request.describe and used & request.pictures)
        ):
            return True
    return False


class _Request(NamedTuple):
    """Words of requests to write a text in one language."""

    write: frozenset[str]
    describe: frozenset[str]
    here: frozenset[str]
    text_nouns: frozenset[str]
    pictures: frozenset[str]
    vocabulary: frozenset[str]


@cache
def _requests_by_first_word() -> Mapping[str, tuple[_Request, ...]]:
    requests: dict[str, tuple[_Request, ...]] = {}
    for lists in word_lists().values():
        fields = [
            frozenset(lists[key])
            for key in ("write", "describe", "here", "text_nouns", "generic")
        ]
        little = frozenset([*lists["request_words"], *lists["function"]])
        request = _Request._make([*fields, little.union(*fields)])
        for word in request.vocabulary:
            requests[word] = (*requests.get(word, ()), request)
    return requests


@check("ALT103")
def generic_only(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find texts such as "Image" or "photo icon" that name only the kind of picture."""
    content = content_words(occurrence)
    disagreed = any(
        rule == "ALT004" for rule, _, _ in occurrence.structural
    )  # alt="" beside a name
    kinds = listed("generic", occurrence.language) | _kinds_anywhere()
    rest = (content or set()) - kinds
    # A word for the place or purpose on the page says nothing of the picture either.
    is_generic = (
        occurrence.fold in kinds
        or (content and not rest - _purposes() and rest != content)
        or _is_compound_kind(occurrence.fold, kinds)
    )
    if disagreed or not is_generic:
        return None
    target = split_address(occurrence.link or "x")
    at_root = target is not None and target.path in ("", "/")
    at_root = at_root and "logo" in occurrence.fold and occurrence.functional
    what = f'"{occurrence.text}" names only the kind of picture'
    return Hit(what, severity="warning" if at_root else "")


@cache
def _kinds_anywhere() -> frozenset[str]:
    """Return words for a picture that mean nothing else, in whatever language."""
    return frozenset(names("pictures"))


@cache
def _purposes() -> frozenset[str]:
    return frozenset(names("purposes"))


def _is_compound_kind(text: str, kinds: frozenset[str]) -> bool:
    """Return whether a text is one word for a place on the page and a picture: "Produktbild"."""
    match = _purpose_beginning().match(text)
    return match is not None and text[match.end() :] in kinds


@cache
def _purpose_beginning() -> re.Pattern[str]:
    beginnings = "|".join(map(re.escape, names("purpose_beginnings")))
    return re.compile(rf"(?:{beginnings})(?:s|en|の|用|的)?[- ]?")


def content_words(occurrence: Occurrence) -> set[str] | None:
    """Return words other than function words and numbers, in lower case; None without any word."""
    folded_words = {
        word.casefold() for word in occurrence.words if not word.isdigit()
    }
    return (
        folded_words - listed("function", occurrence.language)
        if folded_words
        else None
    )


@check("ALT104")
def image_of(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find openings such as "image of" and "this is a picture showing"."""
    start = len(occurrence.text) - len(occurrence.text.lstrip(" \"'“”([{.,"))
    for opening in pattern("opening", occurrence.language):
        if match := opening.match(occurrence.text, start):
            photographic = re.match(
                "(?:photo|illustr|foto)", match["what"], re.I
            )
            if (
                setting.profile in ("museum", "documents")
                and occurrence.medium
                and photographic
            ):
                return None
            if occurrence.role in ("chart", "map", "logo", "screenshot"):
                return None
            # An icon of a saint is a work of art, and no picture of a picture.
            if re.match(
                r"\W*(?:an? |the )?icon of (?:saint|st\b|christ|the (?:virgin|mother|holy))",
                occurrence.text,
                re.I,
            ):
                return None
            if _is_title(occurrence, match):
                return None
            return Hit(f'opens with "{match[0]}"', match.span())
    if match := STATEMENT.match(occurrence.text):
        return Hit(f'opens with "{match[0]}"', match.span())
    return None


_DEFINITE = re.compile(r"(?:the|la|l['’]|il|a|o|el|de|het)\s*", re.I)


def _is_title(occurrence: Occurrence, opening: re.Match[str]) -> bool:
    """Return whether an opening belongs to a name, as in "The Picture of Dorian Gray, a novel".

    A name has capitals although the rest of the text has none; German nouns always have one.
    """
    text = occurrence.text
    what = opening.start("what")
    after = text[opening.end() :].lstrip()
    return (
        base_language(occurrence.language) != "de"
        and text[what].isupper()
        and _DEFINITE.fullmatch(text, opening.start(), what) is not None
        and after[:1].isupper()
        and any(
            word.islower() and word not in listed("function", "en")
            for word in words(after)
        )
    )


@check("ALT105")
def too_long(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find texts over the limits of the profile."""
    counted: int
    if setting.profile == "museum":
        counted, unit = len(occurrence.words), "words"
        limits: tuple[float, float] = (
            (float("inf"), 1000) if occurrence.is_long else (30, 60)
        )
    else:
        counted, unit = length(occurrence.text), "characters"
        limits = _LIMITS[setting.profile]
    # A chart or text without a long description may take twice the length, and
    # is never worse than a note.
    milder = (
        not occurrence.long
        and not occurrence.is_long
        and occurrence.role in ("complex", "text")
    )
    note, warning = (limit * (2 if milder else 1) for limit in limits)
    hard = (
        _PLATFORMS[setting.platform]
        if setting.profile == "social"
        else float("inf")
    )
    if counted > hard:
        return Hit(
            f"has {counted} characters, the network allows {hard}",
            severity="error",
        )
    if counted > warning:
        limit, severity = warning, "warning"
    elif counted > note and not milder:
        limit, severity = note, "note"
    else:
        return None
    if milder:
        severity = "note"
    return Hit(
        f"has {counted} {unit}, the limit is {limit:g}", severity=severity
    )


@check("ALT106")
def tooshortened(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find texts of one word, or of fewer than four in museums and on networks."""
    exempt = (
        occurrence.functional or occurrence.decorative or occurrence.is_long
    )
    if exempt or occurrence.text_from in ("summary", "description"):
        return None
    # A name that is printed beside the picture needs no more words.
    around = f"{occurrence.caption} {occurrence.nearby}"
    stated = occurrence.text in around and re.search(
        rf"(?<!\w){re.escape(occurrence.text)}(?!\w)", around
    )
    if stated and occurrence.text[0].isupper():
        return None
    if emoji(occurrence.text) and not occurrence.words:
        return None
    # Scripts without blanks have no words to count.
    if is_dense(occurrence.text):
        short = length(occurrence.text) < 4
        return (
            Hit(f"has {length(occurrence.text)} characters") if short else None
        )
    least = _SHORT[setting.profile]
    n = len(occurrence.words)
    return (
        Hit(f"has {n} word{'s'[: n != 1]}; expected at least {least}")
        if n < least
        else None
    )


@check("ALT107")
def stuffing(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find lists of keywords, repeated words, and hashtags."""
    text = occurrence.judged
    tags = re.findall(r"(?<!\w)#[^\W\d]\w+", text)
    if len(tags) >= 3:
        return Hit(f"has {len(tags)} hashtags")
    if match := find_prompt(text):
        return Hit(
            f'contains "{shortened(match[0].strip())}" of a prompt for picture generators',
            match.span(),
        )
    if (n_tags := count_tags(text)) >= 3:
        return Hit(f"lists {n_tags} tags")
    # Keywords: six or more short pieces with hardly a function word, which are
    # no sentence, no list that the text announces and mostly no names.
    pieces = [
        piece.strip()
        for piece in re.split(r"[,;|/]", text.strip(" .!?"))
        if piece.strip()
    ]
    folded_words = [word.casefold() for word in words(text)]
    functions = listed("function", occurrence.language)
    if (
        len(pieces) >= 6
        and all(
            len(words(piece)) <= 4 and not re.search("[.!?](?!\\w)", piece)
            for piece in pieces
        )
        and sum(word in functions for word in folded_words)
        < 0.1 * len(folded_words)
        and not re.match(
            r".{0,60}?(?:\bfrom left\b|\bshows\b|\bincludes\b|:)", text, re.I
        )
        and not _are_names(pieces, folded_words, occurrence.language)
    ):
        return Hit(f"lists {len(pieces)} keywords")
    content = [
        word
        for word in folded_words
        if word not in functions and not word.isdigit()
    ]
    if len(content) < 8:
        return None
    # A stem that repeats has a beginning that repeats, which is quickly seen.
    beginnings = Counter(word[:3] for word in content)
    repeated = [word for word in content if beginnings[word[:3]] >= 3]
    if not repeated:
        return None
    # Names repeat by right: families, streets. Where every word has a capital, a
    # shop's keywords have one, too.
    capitals = names_in(text)
    if capitals & _SHOP_WORDS and not any(
        piece[0].islower() for piece in pieces
    ):
        capitals = frozenset()
    stems = Counter(
        stem(word, occurrence.language)
        for word in repeated
        if word not in capitals
    )
    commonest = max(
        (word for word in stems if len(word) >= 4),
        key=stems.__getitem__,
        default="",
    )
    n = stems[commonest]
    # A sentence may repeat a noun; hardly any has it in every third word.
    is_list = sum(word in functions for word in folded_words) < 0.1 * len(
        folded_words
    )
    least = 0.25 if is_list else 1 / 3
    if n >= (3 if is_list else 4) and n >= least * len(content):
        return Hit(
            f'repeats "{commonest}" {n} times in {len(content)} content words'
        )
    return None


def _are_names(
    pieces: list[str], folded_words: list[str], language: str
) -> bool:
    """Return whether most pieces of a list may be names, which have capitals.

    Words of trade are no names. In German, where all nouns have capitals, neither are three
    compounds with one beginning ("Gartentisch"), nor lists with adjectives between the nouns.
    """
    if 2 * sum(piece[0].isupper() for piece in pieces) < len(pieces):
        return False
    if not _bargain_words().isdisjoint(folded_words):
        return False
    if base_language(language) != "de":
        return True
    single = [piece for piece in pieces if " " not in piece]
    beginnings = Counter(
        piece[:_COMPOUND_PART].casefold()
        for piece in single
        if len(piece) >= 2 * _COMPOUND_PART
    )
    n_adjectives = sum(piece.islower() for piece in single)
    return n_adjectives < 2 and max(beginnings.values(), default=0) < 3


@cache
def _bargain_words() -> frozenset[str]:
    return frozenset(names("bargain_words"))


def scannable(occurrence: Occurrence, rule: str) -> bool:
    """Return whether a rule is applied to a text: very long ones only meet rules of linear time."""
    return len(occurrence.text) <= _LINEAR or rule in (
        "ALT105",
        "ALT108",
        "ALT110",
        "ALT111",
        "ALT112",
    )
