"""Start tags in the source of a page: libxml2 keeps neither their columns nor their mistakes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from beholder.lint.occurrence import Structural
from beholder.lint.wording import names, norm

_TAG = re.compile(r"<!--|<([a-zA-Z][^\s/>]*)")
_RAW = frozenset(names("raw_elements"))
_RAW_ATTRIBUTE = re.compile(
    r"[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>\"']+))?"
)
_TEMPLATE_MARKS = ("{%", "{{", "<?", "<%")
_BARE = frozenset(names("bare_attributes"))
"""Attributes of HTML that need no value."""
_MOST_ATTRIBUTES = 200


class StartTag(NamedTuple):
    """The start tag of an element: line, column, and its place in the source, if it is known."""

    line: int
    column: int | None = None
    at: int | None = None


def find_stray_attributes(source: str, at: int) -> Iterator[Structural]:
    """Yield findings about a text that ends too early in its tag, and a second ``alt``.

    Args:
        source: The page.
        at: Place of the tag.
    """
    tag = re.compile(r"<[^\s/>]+").match(source, at)
    at = tag.end() if tag else len(source)
    start = at
    n_alts = 0
    alt_end, is_quoted, is_stray = -1, False, False
    for _ in range(_MOST_ATTRIBUTES):
        attribute = _RAW_ATTRIBUTE.match(source, at)
        if attribute is None:
            break
        key, value = attribute[1].lower(), attribute[2]
        is_bare = value is None and key not in _BARE
        if alt_end >= 0:
            # A quotation mark in a name, a name right behind the text, or a
            # word behind a text without quotation marks.
            is_next = at == alt_end
            is_stray = is_stray or (
                any(mark in key for mark in "\"'")
                or (is_next and is_bare and attribute.start(1) == at)
                or (is_next and is_bare and not is_quoted and key.isalpha())
            )
        if key == "alt" and value is not None:
            n_alts += 1
            if alt_end < 0:
                alt_end = attribute.end()
                is_quoted = value[0] in "\"'"
        at = attribute.end()
    if any(mark in source[start:at] for mark in _TEMPLATE_MARKS):
        return
    if is_stray:
        rest = norm(source[alt_end:at])[:60]
        yield (
            "ALT113",
            f"ends at a quotation mark or blank inside it: the tag continues with {rest}",
            "",
        )
    elif n_alts > 1:
        yield (
            "ALT112",
            f"is one of {n_alts} alt attributes of its tag, and only the first counts",
            "",
        )


def find_start_tags(
    source: str, prefixes: tuple[str, ...]
) -> dict[str, list[StartTag]]:
    """Return the place of each start tag, by tag, without scripts and comments."""
    places_by_tag = defaultdict(list)
    line, start, until, before = 1, 0, 0, 0
    for match in _TAG.finditer(source):
        at = match.start()
        if at < until:
            continue
        if newlines := source.count("\n", before, at):
            line += newlines
            start = source.rfind("\n", before, at) + 1
        before = at
        tag = (match[1] or "").lower()
        if prefixes and tag.startswith(prefixes):
            tag = tag.partition(":")[2]
        if tag:
            places_by_tag[tag].append(StartTag(line, at - start + 1, at))
        # Tags in scripts, styles and comments are text: skip to their end.
        if not tag or tag in _RAW:
            end = re.compile(f"</{tag}" if tag else "-->", re.I).search(
                source, match.end()
            )
            until = end.start() if end else len(source)
    return dict(places_by_tag)
