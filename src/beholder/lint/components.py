"""Pictures of components: JSX, Vue, Svelte, Astro, and tags of these in Markdown.

Nothing is run. A tag is read by itself, with the link that contains nothing else. A text that is
written out is read, also as ``{"..."}``; one that an expression computes is counted as not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from html import escape, unescape
from typing import NamedTuple

from beholder.errors import DataError
from beholder.lint import html
from beholder.lint.leftovers import LeftOut
from beholder.lint.occurrence import Occurrence

_TAG = re.compile(r"<([A-Za-z][\w.:-]*)(?=[\s/>{])")
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[^\s=>/{}\"'`<]+")
_VALUE = re.compile(
    r"\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|`([^`]*)`|([^\s\"'=<>`{}]+)|(?=\{))"
)
_PART = re.compile(
    r"[{}]|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`"
)
"""A brace, or a string whose braces do not count."""
_STRING = re.compile(
    r"\s*(?:\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\$]|\\.)*)`)\s*"
)
_BINDING = re.compile(r"(?:v-bind:|x-bind:|:)(?=\w)")
_PICTURE_NAME = re.compile(
    r"(?:^|[a-z.])(?:Image|Img|Picture|Photo)$|-(?:image|img|picture|photo)$"
)
_SOURCE_NAME = re.compile(r"src|image|fluid|fixed|source|asset|url|picture")
_LINK_NAME = re.compile(
    r"a|button|(?:Next|Nuxt|Router|Nav)?Link|(?:nuxt|router)-link"
)
_NAMING = ("alt", "aria-label", "aria-labelledby", "title")
_COPIED_NAMES = (
    *("alt", "aria-label", "title", "role", "aria-hidden", "hidden"),
    *("src", "srcset", "type", "width", "height", "class", "style"),
)
_MOST_IN_VAIN = 50_000_000
"""Characters that are read for tags that never end, before a file is refused."""

_MASKED: dict[str, Sequence[tuple[str, str]]] = {
    "page": (
        (r"<script\b", "</script"),
        (r"<style\b", "</style"),
        (r"<!--", "-->"),
    ),
    "script": ((r"^[ \t]*//", "\n"), (r"^[ \t]*/\*", "*/")),
    "expression": ((r"\{\s*/\*", "*/"),),
    "fence": ((r"\A\s*---[ \t]*$", "\n---"),),
}
"""Beginnings and ends of blocks that are no markup of a page."""


class Tag(NamedTuple):
    """A start tag of a component or element.

    Attributes:
        name: As it is written.
        values: Attributes by name; None for a value that an expression computes.
        start: Place of its ``<``.
        end: Place behind its ``>``.
        has_spread: Whether ``{...object}`` may add attributes.
    """

    name: str
    values: Mapping[str, str | None]
    start: int
    end: int
    has_spread: bool


def pictures(
    source: str,
    name: str,
    left_out: list[LeftOut] | None = None,
    /,
    *,
    kinds: Sequence[str] = ("script", "expression"),
    is_svelte: bool = False,
) -> Iterator[Occurrence]:
    """Yield the pictures of a component, in order.

    Args:
        source: The component.
        name: The file as findings name it.
        left_out: Receives the pictures whose texts are expressions.
        kinds: Kinds of text in it that are no markup.
        is_svelte: Whether braces in quoted values are expressions.

    Raises:
        DataError: Tags without an end make it too long to read.
    """
    masked = mask(source, kinds)
    tags = find_tags(masked, name, is_svelte=is_svelte)
    yield from read_tags(masked, list(tags), name, left_out)


def mask(source: str, kinds: Sequence[str]) -> str:
    """Return the source with scripts, styles and comments blanked, character for character."""
    pairs = [pair for kind in kinds for pair in _MASKED[kind]]
    begin = re.compile("|".join(f"({start})" for start, _ in pairs), re.M)
    pieces: list[str] = []
    at = 0
    while match := begin.search(source, at):
        ending = pairs[(match.lastindex or 1) - 1][1]
        end = source.find(ending, match.end())
        end = len(source) if end < 0 else end + len(ending)
        pieces += (
            source[at : match.start()],
            blank(source[match.start() : end]),
        )
        at = end
    return "".join((*pieces, source[at:]))


def blank(text: str, mark: str = " ") -> str:
    """Return blanks, or other marks, in place of all characters except line ends."""
    return re.sub(r"[^\n]", mark, text)


def find_tags(
    source: str, name: str, *, is_svelte: bool = False
) -> Iterator[Tag]:
    """Yield the start tags of a text, by the rules of JSX, Vue, Svelte and Astro.

    Args:
        source: The text.
        name: Name of the file in messages.
        is_svelte: Whether braces in quoted values are expressions.

    Raises:
        DataError: Tags without an end make it too long to read.
    """
    at = n_in_vain = 0
    while match := _TAG.search(source, at):
        tag, at = _read_tag(source, match, is_svelte)
        if tag is not None:
            yield tag
            continue
        # What is no tag, such as a comparison, is searched again from within.
        n_in_vain += at - match.end()
        at = match.end()
        if n_in_vain > _MOST_IN_VAIN:
            raise DataError(name, "has too many tags without an end")


def _read_tag(
    source: str, match: re.Match[str], is_svelte: bool
) -> tuple[Tag | None, int]:
    """Return the tag, or None, and the place up to which it was read."""
    values: dict[str, str | None] = {}
    has_spread = False
    at = match.end()
    while True:
        at = _SPACE.match(source, at).end()  # type: ignore[union-attr]
        symbol = source[at : at + 1]
        if symbol == "/":
            at += 1
        elif symbol == ">":
            tag = Tag(match[1], values, match.start(), at + 1, has_spread)
            return tag, at + 1
        elif symbol == "{":
            end = _brace_end(source, at)
            inner = source[at + 1 : end - 1].strip()
            # ``{alt}`` is short for ``alt={alt}``.
            has_spread = has_spread or inner.startswith("...")
            values.setdefault(inner.lower(), None)
            if end == at:
                return None, len(source)
            at = end
        else:
            key = _NAME.match(source, at)
            if key is None:
                return None, at
            value, at = _read_value(source, key.end())
            if at < 0:
                return None, len(source)
            bound = _BINDING.match(key[0])
            attribute = key[0][bound.end() if bound else 0 :].lower()
            if bound and value is not None:
                value = _literal(value)
            elif is_svelte and value and "{" in value:
                value = None
            has_spread = has_spread or key[0] in ("v-bind", "x-bind")
            values.setdefault(attribute, value)


def _read_value(source: str, at: int) -> tuple[str | None, int]:
    """Return the value of an attribute, None for an expression, and its end; -1 without an end."""
    match = _VALUE.match(source, at)
    if match is None:
        return "", at
    if match.lastindex:
        value = unescape(match[match.lastindex])
        is_template = match.lastindex == 3 and "${" in value
        return None if is_template else value, match.end()
    start = match.end()
    end = _brace_end(source, start)
    if end == start:
        return None, -1
    return _literal(source[start + 1 : end - 1]), end


def _literal(expression: str) -> str | None:
    """Return the text of an expression that is one string, or a plain value; else None."""
    string = _STRING.fullmatch(expression)
    if string and string.lastindex:
        return re.sub(r"\\(.)", r"\1", string[string.lastindex])
    return (
        expression.strip() if expression.strip() in ("true", "false") else None
    )


def _brace_end(source: str, start: int) -> int:
    """Return the place behind the brace that closes the one at ``start``; ``start`` without one."""
    depth = 0
    for part in _PART.finditer(source, start):
        depth += {"{": 1, "}": -1}.get(part[0], 0)
        if depth == 0:
            return part.end()
    return start


def is_component(tag: Tag) -> bool:
    """Return whether a tag is a picture that HTML does not define, or has computed values."""
    return is_picture(tag) and (
        tag.name != tag.name.lower()
        or "-" in tag.name
        or tag.has_spread
        or None in tag.values.values()
    )


def is_picture(tag: Tag) -> bool:
    """Return whether a tag shows a picture: by its name, or a component with a text."""
    if tag.name in ("img", "amp-img"):
        return True
    if tag.name == "input":
        return tag.values.get("type") == "image"
    is_element = tag.name == tag.name.lower() and "-" not in tag.name
    if is_element or tag.name.startswith("Background"):
        return False
    return "alt" in tag.values or (
        bool(_PICTURE_NAME.search(tag.name))
        and (tag.has_spread or any(map(_SOURCE_NAME.search, tag.values)))
    )


def read_tags(
    source: str,
    tags: Sequence[Tag],
    name: str,
    left_out: list[LeftOut] | None,
    only: Container[int] | None = None,
) -> Iterator[Occurrence]:
    """Yield the pictures among tags.

    Args:
        source: The text that contains the tags.
        tags: Its start tags in order.
        name: The file as findings name it.
        left_out: Receives the pictures whose texts are expressions.
        only: Places of the tags that are read; None for all.
    """
    before: Tag | None = None
    line, line_start, counted_to = 1, 0, 0
    for tag in tags:
        previous, before = before, tag
        if not is_picture(tag) or (only is not None and tag.start not in only):
            continue
        if newlines := source.count("\n", counted_to, tag.start):
            line += newlines
            line_start = source.rfind("\n", counted_to, tag.start) + 1
        counted_to = tag.start
        naming = [tag.values[key] for key in _NAMING if key in tag.values]
        # A text that is written out counts; without one, an expression or an
        # object with attributes may give it.
        is_computed = None in naming or "aria-labelledby" in tag.values
        is_computed = is_computed or (tag.has_spread and not naming)
        is_hidden = tag.values.get("aria-hidden") == "true"
        if is_computed and not any(naming) and not is_hidden:
            if left_out is not None:
                left_out.append(LeftOut("expression", name))
            continue
        fragment = _fragment(tag)
        if previous and _is_alone_in(source, previous, tag):
            link = "button" if previous.name == "button" else 'a href="#"'
            fragment = f"<{link}>{fragment}</{link.split()[0]}>"
        for occurrence in html.pictures(fragment, name):
            occurrence.line = line
            occurrence.column = tag.start - line_start + 1
            occurrence.element = tag.name
            yield occurrence


def _fragment(tag: Tag) -> str:
    """Return an element of HTML with the attributes that are written out."""
    attributes = " ".join(
        f'{key}="{escape(value)}"'
        for key in _COPIED_NAMES
        if (value := tag.values.get(key)) is not None
    )
    element = tag.name if tag.name == "input" else "img"
    return f"<{element} {attributes}>"


def _is_alone_in(source: str, link: Tag, tag: Tag) -> bool:
    """Return whether a link without a name of its own contains nothing but a picture."""
    is_named = link.has_spread or any(key in link.values for key in _NAMING)
    if is_named or not _LINK_NAME.fullmatch(link.name):
        return False
    has_content_before = source[link.end : tag.start].strip()
    close = re.compile(
        rf"\s*(?:</{re.escape(tag.name)}\s*>\s*)?</{link.name}\s*>"
    )
    return not has_content_before and bool(close.match(source, tag.end))


_PAGE = partial(pictures, kinds=("page", "expression"))
READERS: dict[str, Callable[..., Iterator[Occurrence]]] = {
    ".jsx": pictures,
    ".tsx": pictures,
    ".vue": _PAGE,
    ".astro": partial(pictures, kinds=("fence", "page", "expression")),
    ".svelte": partial(_PAGE, is_svelte=True),
}
"""Readers of components, by ending."""
