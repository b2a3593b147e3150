"""Pictures of AsciiDoc: the macros ``image::file[text]`` and ``image:file[text]``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from beholder.lint import html
from beholder.lint.leftovers import LeftOut
from beholder.lint.occurrence import EMPTY_LINK, Occurrence

_MACRO = re.compile(
    r"(?<![\w\\`+])image:(?P<block>:?)(?P<file>[^\s\[:][^\s\[]{0,2000})\["
)
_INSIDE = re.compile(r"((?:\"(?:[^\"\\]|\\.)*+\"|[^\]\"\\]|\\.|\")*+)\]")
"""Attributes up to the bracket that ends them; one between quotation marks does not."""
_ATTRIBUTE = re.compile(
    r"\s*(?:(?P<name>[\w-]+)\s*=\s*)?(?:\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<plain>[^,]*))\s*(?:,|$)"
)
_FENCE = re.compile(r"(-{4,}|\.{4,}|/{4,}|\+{4,}|`{3,})[\w,]*\s*$")
"""A line that begins or ends a block of code, of a comment, or of HTML."""
_BLOCK_ATTRIBUTES = re.compile(r"\[(.+)\]\s*$")


def pictures(
    source: str, name: str, left_out: list[LeftOut] | None = None, /
) -> Iterator[Occurrence]:
    """Yield the pictures of a text, in order.

    Args:
        source: The text.
        name: The file as findings name it.
        left_out: Receives what is not read.
    """
    lines = source.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        fence = _FENCE.fullmatch(line)
        if fence:
            end = _fence_end(lines, at, fence[1])
            if fence[1][0] == "+":
                yield from html.pictures_in_block(
                    lines, at + 1, end, name, left_out
                )
            at = end + 1
            continue
        if not line.startswith("//"):
            for macro in _MACRO.finditer(line):
                inside = _INSIDE.match(line, macro.end())
                # What has no end here has none further on.
                if inside is None:
                    break
                yield _picture(macro, inside[1], lines, at, name)
        at += 1


def _fence_end(lines: list[str], at: int, fence: str) -> int:
    """Return the line that ends a block; the number of lines without one."""
    for end in range(at + 1, len(lines)):
        if lines[end].rstrip() == fence:
            return end
    return len(lines)


def _picture(
    macro: re.Match[str], inside: str, lines: list[str], at: int, name: str
) -> Occurrence:
    positions, values = _read_attributes(inside)
    caption = ""
    if macro["block"]:
        # A title and attributes may be above a block, in any order.
        for line in reversed(lines[max(0, at - 3) : at]):
            attributes = _BLOCK_ATTRIBUTES.fullmatch(line)
            if attributes:
                values = _read_attributes(attributes[1])[1] | values
            elif re.match(r"\.[^\s.]", line):
                caption = line[1:].strip()
            else:
                break
    # Asciidoctor makes a text of the file's name if there is none.
    text = values.get("alt") or next(filter(None, positions[:1]), None)
    if text is None and "alt" in values:
        text = ""
    link = values.get("link")
    role = "figure" if caption else "informative"
    return Occurrence(
        file=name,
        line=at + 1,
        column=macro.start() + 1,
        element="image",
        picture=macro["file"],
        raw=text,
        text_from="alt",
        decorative=text == "",
        title=values.get("title", ""),
        caption=caption,
        role="functional" if link else role,
        link=link,
        image_only=bool(link and macro["block"]),
        structural=(EMPTY_LINK,)
        if link and macro["block"] and not text
        else (),
    )


def _read_attributes(inside: str) -> tuple[list[str], dict[str, str]]:
    """Return the values without a name in order, and those with one."""
    positions: list[str] = []
    values: dict[str, str] = {}
    at = 0
    while at < len(inside):
        match = _ATTRIBUTE.match(inside, at)
        if match is None or match.end() == at:
            break
        at = match.end()
        quoted = match["quoted"]
        value = (match["plain"] or "").strip() if quoted is None else quoted
        value = re.sub(r"\\([\"\]])", r"\1", value)
        if match["name"]:
            values[match["name"]] = value
        else:
            positions.append(value)
    return positions, values
