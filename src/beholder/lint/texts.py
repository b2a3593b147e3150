"""Rules that look at one text alone: ALT101 to ALT114."""

from __future__ import annotations

import html
import re
from collections import Counter
from pathlib import PurePosixPath

from beholder.lint.occurrence import Occurrence, split_address
from beholder.lint.rules import Hit, LintSetting, check
from beholder.lint.wording import (
    emoji,
    fold,
    is_dense,
    length,
    listed,
    pattern,
    stem,
    without_quotes,
    words,
)
from beholder.text import frequency
from beholder.text.languages import base_language

_EXTENSION = (
    r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?|heic|heif|ico|psd|eps"
    r"|dng|cr2|nef|arw|pdf)"
)
_FILE = re.compile(rf"\S+{_EXTENSION}", re.IGNORECASE)
_CAMERA_MAKE = r"""
    (?:(?i:IMG|DSC[NF]?|_?MG|PXL|MVIMG|GOPR|DJI|VID|Screen\ ?shot|WhatsApp\ Image|Scan
    |Bildschirmfoto)|P|SAM)"""
_CAMERA_NAME = re.compile(
    rf"""
    {_CAMERA_MAKE}[ _-]*\d{{2,}}(?:(?i:at|um|am|pm|edited|copy)\b|[\W\d_])*
    """,
    re.VERBOSE,
)
_PROGRAM = re.compile(
    r"""
    (?i:Screen\ ?shot|Bildschirmfoto|WhatsApp\ Image)
    (?:\b(?i:at|um|am|pm|edited|copy)\b|[\W\d_])+
    """,
    re.VERBOSE,
)
_DIGEST = re.compile(
    r"[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I
)
_SIZE = re.compile(r"(?<!\d)\d{2,5}x\d{2,5}(?!\d)")
_TOKEN = re.compile(
    rf"""
    (?<!\S)\S{{1,200}}?(?i:{_EXTENSION})\b|\b{_CAMERA_MAKE}[_-]*\d{{2,}}\w*
    """,
    re.VERBOSE,
)
_TEMPLATE = re.compile(
    r"\{\{[^{}]*\}\}|\$\{[^{}]*\}|\[alt\]|(?<!\w)%s(?!\w)|<%[^%]*%>", re.I
)
_ADDRESS = re.compile(
    r"""
    https?://\S*|\bwww\.\S+|\b(?:[a-z\d](?:[\w-]{0,62})\.){1,8}[a-z]{2,24}/\S*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-z][^<>]*>", re.I)
_ENTITY = re.compile(r"&(?:[a-z][a-z\d]{1,31}|#\d{1,7}|#x[\da-f]{1,6});", re.I)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")
_MOJIBAKE = re.compile("[ÂÃâð][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ¡-¿]{1,3}")
_CREDIT = re.compile(
    r"""
    (?:\b(?i:(?:photo|image|picture|foto)(?:graph)?s?(?:\s+(?i:by|credits?|courtesy)\b|\s*[:©/])
    |credits?\b|courtesy\b|copyright\b|source\s*:)|©|\([cC]\))[\s:/©]*(?:(?i:by|of|the)\s+)*
    (?:(?:[A-Z\d][\w.'’-]*|(?i:and|of|the|via|getty|images|shutterstock|reuters|for))[\s/,&|]*)+
    |\b(?i:getty\ images|shutterstock|reuters|istock|alamy)\b
    """,
    re.VERBOSE,
)
_FRAME = re.compile(
    r"""
    may\ be\ an\ image\ of|may\ be\ a\ (?:photo|picture|graphic|illustration)\ of
    |description\ automatically\ generated|^an?\ picture\ containing|no\ description\ available
    |automatically\ generated\ description|no\ alternative\ text\ description
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LIMITS = {"web": (150, 250), "documents": (150, 250), "social": (500, 1000)}
_PLATFORMS = {"mastodon": 1500, "bluesky": 2000}
_SHORT = {"web": 2, "documents": 2, "museum": 4, "social": 4}
_CUT_LENGTHS = frozenset((100, 125, 128, 250, 255, 256, 500, 1000, 1500))
_LINEAR = 20_000


@check("ALT101")
def file_name(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Names of files, cameras and programs, digests, and sizes such as 300x200."""
    text = one.text.strip("\"'“”()[]")
    bare = re.sub(r"[_\-+]|%20", " ", one.fold)
    names = {
        name
        for file in one.file_names
        for name in (file, PurePosixPath(file).stem)
    }
    named = bare in {
        re.sub(r"[_\-+]|%20", " ", fold(name)) for name in names
    } and bool(re.search(r"\.\w{2,4}$|_|\d.*\d.*\d", text))
    if (
        _FILE.fullmatch(text)
        or named
        or _CAMERA_NAME.fullmatch(text)
        or _PROGRAM.fullmatch(text)
        or _DIGEST.fullmatch(text)
        or (_SIZE.search(text) and len(one.words) <= 3)
    ):
        return Hit(
            f'"{_short(one.text)}" is the name of a file, a camera or a program'
        )
    if len(one.words) >= 4 and (found := _TOKEN.search(one.judged)):
        if PurePosixPath(found[0]).suffix.lower() == ".pdf" and one.functional:
            return None
        return Hit(
            f'contains the name of a file, "{_short(found[0])}"',
            found.span(),
            "warning",
        )
    return None


@check("ALT102")
def placeholder(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Texts such as "alt text", "TODO", "lorem ipsum", and templates that were never filled."""
    if found := _TEMPLATE.search(one.judged):
        return Hit(
            f'contains the unfilled template "{_short(found[0])}"',
            found.span(),
        )
    if one.fold in listed("placeholder", one.language) or one.fold.startswith(
        "lorem ipsum"
    ):
        if one.work_title and fold(one.work_title) == one.fold:
            return Hit(
                f'"{one.text}" is only the title of the work',
                severity="warning",
            )
        return Hit(f'"{_short(one.text)}" is a placeholder')
    return None


@check("ALT103")
def generic_only(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Texts such as "Image" or "photo icon" that name only the kind of picture."""
    content = content_words(one)
    disagreed = any(
        rule == "ALT004" for rule, _, _ in one.structural
    )  # alt="" beside a name
    if disagreed or not content or content - listed("generic", one.language):
        return None
    target = split_address(one.link or "x")
    at_root = target is not None and target.path in ("", "/")
    at_root = at_root and "logo" in content and one.functional
    what = f'"{one.text}" names only the kind of picture'
    return Hit(what, severity="warning" if at_root else "")


def content_words(one: Occurrence) -> set[str] | None:
    """Words other than function words and numbers, in lower case; None without any word."""
    found = {word.casefold() for word in one.words if not word.isdigit()}
    return found - listed("function", one.language) if found else None


@check("ALT104")
def image_of(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Openings such as "image of" and "this is a picture showing"."""
    start = len(one.text) - len(one.text.lstrip(" \"'“”([{.,"))
    for opening in pattern("opening", one.language):
        if found := opening.match(one.text, start):
            photographic = re.match(
                "(?:photo|illustr|foto)", found["what"], re.I
            )
            if (
                setting.profile in ("museum", "documents")
                and one.medium
                and photographic
            ):
                return None
            if one.role in ("chart", "map", "logo", "screenshot"):
                return None
            return Hit(f'opens with "{found[0]}"', found.span())
    return None


@check("ALT105")
def too_long(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Texts over the limits of the profile."""
    counted: int
    if setting.profile == "museum":
        counted, unit = len(one.words), "words"
        limits: tuple[float, float] = (
            (float("inf"), 1000) if one.is_long else (30, 60)
        )
    else:
        counted, unit = length(one.text), "characters"
        limits = _LIMITS[setting.profile]
    milder = (
        not one.long and not one.is_long and one.role in ("complex", "text")
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
    level = (
        "warning" if counted > warning else "note" if counted > note else ""
    )
    if not level or (milder and level == "note"):
        return None
    limit = warning if counted > warning else note
    severity = "note" if milder else level
    return Hit(
        f"has {counted} {unit}, the limit is {limit:g}", severity=severity
    )


@check("ALT106")
def too_short(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Texts of one word, or of fewer than four in museums and on networks."""
    exempt = one.functional or one.decorative or one.is_long
    if exempt or one.text_from in ("summary", "description"):
        return None
    around = f"{one.caption} {one.nearby}"
    stated = one.fold and re.search(
        rf"(?<!\w){re.escape(one.text)}(?!\w)", around
    )
    if stated and one.text[0].isupper():
        return None
    if emoji(one.text) and not one.words:
        return None
    if is_dense(one.text):
        short = length(one.text) < 4
        return Hit(f"has {length(one.text)} characters") if short else None
    least = _SHORT[setting.profile]
    n = len(one.words)
    return (
        Hit(f"has {n} word{'s'[: n != 1]}; expected at least {least}")
        if n < least
        else None
    )


@check("ALT107")
def stuffing(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Lists of keywords, words that are repeated, and hashtags."""
    text = one.judged
    tags = re.findall(r"(?<!\w)#[^\W\d]\w+", text)
    if len(tags) >= 3:
        return Hit(f"has {len(tags)} hashtags")
    pieces = [
        piece.strip()
        for piece in re.split(r"[,;|/]", text.strip(" .!?"))
        if piece.strip()
    ]
    found = [word.casefold() for word in words(text)]
    functions = listed("function", one.language)
    if (
        len(pieces) >= 6
        and all(
            len(words(piece)) <= 4 and not re.search("[.!?](?!\\w)", piece)
            for piece in pieces
        )
        and sum(word in functions for word in found) < 0.1 * len(found)
        and not re.match(
            r".{0,60}?(?:\bfrom left\b|\bshows\b|\bincludes\b|:)", text, re.I
        )
        and 2 * sum(piece[0].isupper() for piece in pieces) < len(pieces)
    ):
        return Hit(f"lists {len(pieces)} keywords")
    content = [
        word for word in found if word not in functions and not word.isdigit()
    ]
    if len(content) >= 8:
        stems = Counter(stem(word, one.language) for word in content)
        most = max(
            (word for word in stems if len(word) >= 4),
            key=stems.__getitem__,
            default="",
        )
        n = stems[most]
        if n >= 3 and n >= 0.25 * len(content):
            return Hit(
                f'repeats "{most}" {n} times in {len(content)} content words'
            )
    return None


@check("ALT108")
def all_caps(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Texts in capitals, other than short acronyms."""
    found = words(one.judged)
    cased = [
        letter for letter in one.judged if letter.upper() != letter.lower()
    ]
    acronyms = len(found) <= 3 and all(len(word) <= 5 for word in found)
    if len(found) < 2 or len(cased) < 10 or acronyms:
        return None
    n_upper, n = sum(map(str.isupper, cased)), len(cased)
    return (
        Hit(f"{n_upper} of {n} letters are capitals")
        if n_upper >= 0.9 * n
        else None
    )


@check("ALT109")
def address(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Web addresses, except the host of a link's target beside other words."""
    if found := _ADDRESS.search(one.judged):
        host = re.sub(
            r"^https?://|/$", "", found[0].rstrip(".,;"), flags=re.I
        ).lower()
        target = split_address(one.link or "")
        is_host = target is not None and host == target.netloc
        if one.functional and len(one.text) > len(found[0]) and is_host:
            return None
        return Hit(f'contains the address "{_short(found[0])}"', found.span())
    return None


@check("ALT110")
def has_emoji(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Emoji, from the third on for social networks."""
    found = emoji(one.judged)
    whole = len(found) == 1 and one.text == one.text[slice(*found[0])]
    if len(found) < (3 if setting.profile == "social" else 1) or (
        whole and one.emoji
    ):
        return None
    return Hit(f"contains {len(found)} emoji", found[0])


@check("ALT111")
def unpronounceable(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Texts of punctuation."""
    spoken = any(map(str.isalnum, one.text)) or emoji(one.text)
    return (
        None if spoken else Hit(f'"{_short(one.text)}" cannot be read aloud')
    )


@check("ALT112")
def markup(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Tags, entities, control characters and wrongly decoded characters."""
    if found := _TAG.search(one.judged):
        return Hit(f'contains the tag "{_short(found[0])}"', found.span())
    for found in _ENTITY.finditer(one.judged):
        if html.unescape(found[0]) != found[0]:
            return Hit(f'contains the entity "{found[0]}"', found.span())
    if found := _CONTROL.search(one.raw or ""):
        return Hit(f"contains the character U+{ord(found[0]):04X}")
    for found in _MOJIBAKE.finditer(one.text):
        try:
            meant = found[0].encode("cp1252").decode("utf-8")
        except UnicodeError:
            continue
        return Hit(
            f'contains "{found[0]}", a wrongly decoded "{meant}"', found.span()
        )
    return None


@check("ALT113")
def cut_off(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Texts that end with an ellipsis or at a typical limit of a field."""
    text = without_quotes(one.text).rstrip()
    if text.endswith(("...", "…")) and one.text.endswith(("...", "…")):
        start = fold(one.text.rstrip(".… "))
        for name, longer in (
            ("caption", one.caption),
            ("long", one.long),
            ("page", one.nearby),
        ):
            if (
                len(start) >= 20
                and fold(longer).startswith(start)
                and fold(longer) != start
            ):
                return Hit(
                    f"ends with an ellipsis; the {name} continues",
                    evidence={name: longer},
                )
    n = len(one.text)
    if (
        n not in _CUT_LENGTHS
        or re.search(r"[.!?…。)\]\"”’»]$", one.text)
        or not one.words
    ):
        return None
    last = one.words[-1].casefold()
    short = (
        len(last) == 2
        and last not in listed("function", "en")
        and one.words[-1].islower()
    )
    unknown = base_language(one.language) in ("", "en") and (
        short or frequency.weight(last) == 1.0
    )
    if last not in map(str.casefold, words(one.caption)) and (
        unknown or len(last) == 1 or setting.lengths[n] > 1
    ):
        return Hit(f'ends at exactly {n} characters with "{one.words[-1]}"')
    return None


@check("ALT114")
def not_a_description(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Credits alone, and frames that programs put round their guesses."""
    if found := _FRAME.search(one.judged):
        return Hit(f'contains the machine-made "{found[0]}"', found.span())
    credited = sum(
        len(words(match[0])) for match in _CREDIT.finditer(one.text)
    )
    if one.words and credited >= 0.6 * len(one.words):
        return Hit("is only a credit")
    return None


def scannable(one: Occurrence, rule: str) -> bool:
    """Whether a rule looks at a text: only those that scan once look at very long ones."""
    return len(one.text) <= _LINEAR or rule in (
        "ALT105",
        "ALT108",
        "ALT110",
        "ALT111",
        "ALT112",
    )


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
