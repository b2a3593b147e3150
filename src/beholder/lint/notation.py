"""Rules on how a single text is written: ALT108 to ALT113."""

from __future__ import annotations

import html
import re

from beholder.lint.machines import (
    residues_of,
)
from beholder.lint.occurrence import Occurrence, split_address
from beholder.lint.rules import Hit, LintSetting, check
from beholder.lint.wording import (
    emoji,
    fold,
    listed,
    shortened,
    without_quotes,
    words,
)
from beholder.text import frequency
from beholder.text.languages import base_language

_MARKDOWN = re.compile(
    r"""
    \A>\ |(?<![\w*])\*\*(?!\s)[^*\n]{1,200}?(?<!\s)\*\*(?![\w*])
    |(?<![\w_])__(?=[^\W_])[^_\n]{1,200}?\w__(?!\w)
    |!?\[[^\[\]\n]{0,200}\]\([^()\s]{1,200}\)|(?<![\w`])`(?!\s)[^`\n]{1,100}?(?<!\s)`(?!\w)
    |(?<!\w)~~(?!\s)[^~\n]{1,100}~~(?!\w)
    """,
    re.VERBOSE,
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
_MARKDOWN_SIGN = re.compile(r"[*_`~\]>]")


@check("ALT108")
def all_caps(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find texts in capitals, other than short acronyms."""
    text_words = words(occurrence.judged)
    # Letters of scripts without capitals say nothing.
    cased = [
        letter
        for letter in occurrence.judged
        if letter.upper() != letter.lower()
    ]
    acronyms = len(text_words) <= 3 and all(
        len(word) <= 5 for word in text_words
    )
    if len(text_words) < 2 or len(cased) < 10 or acronyms:
        return None
    n_upper, n = sum(map(str.isupper, cased)), len(cased)
    return (
        Hit(f"{n_upper} of {n} letters are capitals")
        if n_upper >= 0.9 * n
        else None
    )


@check("ALT109")
def address(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find web addresses, except the host of a link's target beside other words."""
    if match := _ADDRESS.search(occurrence.judged):
        host = re.sub(
            r"^https?://|/$", "", match[0].rstrip(".,;"), flags=re.I
        ).lower()
        target = split_address(occurrence.link or "")
        is_host = target is not None and host == target.netloc
        if (
            occurrence.functional
            and len(occurrence.text) > len(match[0])
            and is_host
        ):
            return None
        return Hit(
            f'contains the address "{shortened(match[0])}"', match.span()
        )
    return None


@check("ALT110")
def has_emoji(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find emoji; on social networks three or more."""
    spans = emoji(occurrence.judged)
    is_only_emoji = (
        len(spans) == 1
        and occurrence.text == occurrence.text[slice(*spans[0])]
    )
    if len(spans) < (3 if setting.profile == "social" else 1) or (
        is_only_emoji and occurrence.emoji
    ):
        return None
    return Hit(f"contains {len(spans)} emoji", spans[0])


@check("ALT111")
def unpronounceable(
    occurrence: Occurrence, setting: LintSetting
) -> Hit | None:
    """Find texts of punctuation."""
    spoken = any(map(str.isalnum, occurrence.text)) or emoji(occurrence.text)
    return (
        None
        if spoken
        else Hit(f'"{shortened(occurrence.text)}" cannot be read aloud')
    )


@check("ALT112")
def markup(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find tags, entities, control characters and wrongly decoded characters."""
    if match := _TAG.search(occurrence.judged):
        return Hit(f'contains the tag "{shortened(match[0])}"', match.span())
    if _MARKDOWN_SIGN.search(occurrence.judged) and (
        match := _MARKDOWN.search(occurrence.judged)
    ):
        return Hit(
            f'contains the Markdown "{shortened(match[0])}"', match.span()
        )
    for residue, span in residues_of(occurrence):
        if residue.kind in ("headings", "bullets"):
            return Hit(f"contains {residue.kind} of Markdown", span)
    for match in _ENTITY.finditer(occurrence.judged):
        if html.unescape(match[0]) != match[0]:
            return Hit(f'contains the entity "{match[0]}"', match.span())
    if match := _CONTROL.search(occurrence.raw or ""):
        return Hit(f"contains the character U+{ord(match[0]):04X}")
    for match in _MOJIBAKE.finditer(occurrence.text):
        try:
            meant = match[0].encode("cp1252").decode("utf-8")
        except UnicodeError:
            continue
        return Hit(
            f'contains "{match[0]}", a wrongly decoded "{meant}"', match.span()
        )
    return None


@check("ALT113")
def cut_off(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find texts that end with an ellipsis or at a typical limit of a field."""
    # An ellipsis counts if another field continues the text. A length at the
    # limit of a field counts if the last word looks cut.
    text = without_quotes(occurrence.text).rstrip()
    if text.endswith(("...", "…")) and occurrence.text.endswith(("...", "…")):
        start = fold(occurrence.text.rstrip(".… "))
        for name, longer in (
            ("caption", occurrence.caption),
            ("long", occurrence.long),
            ("page", occurrence.nearby),
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
    n = len(occurrence.text)
    is_limit = setting.lengths.is_limit(n)
    if (
        not is_limit
        or re.search(r"[.!?…。)\]\"”’»]$", occurrence.text)
        or not occurrence.words
    ):
        return None
    last = occurrence.words[-1]
    if last.casefold() in map(str.casefold, words(occurrence.caption)):
        return None
    if setting.lengths.has_peak(n) or _breaks_off(last, occurrence.language):
        return Hit(f'ends at exactly {n} characters with "{last}"')
    return None


def _breaks_off(last: str, language: str) -> bool:
    """Return whether a last word looks like the beginning of a longer one; names do not."""
    if not last.islower() or base_language(language) not in ("", "en"):
        return len(last) == 1 and last.islower()
    short = len(last) <= 2 and last not in listed("function", "en")
    return short or frequency.weight(last) == 1.0
