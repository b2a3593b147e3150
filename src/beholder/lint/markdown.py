"""Pictures of Markdown: ``![text](file)``, references, and HTML inside."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML

from beholder.lint import html
from beholder.lint.occurrence import Occurrence

if TYPE_CHECKING:
    from markdown_it.token import Token

_MARKDOWN = MarkdownIt()
_MOST_MISSES = 20
"""Texts of a block that are searched for in vain; further ones have the line of the last place."""
_FRONT = re.compile(r"---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|$)", re.S)
_FRONT_TEXT = re.compile(r"^(?:image_alt|alt)[ \t]*:[ \t]*(.*?)[ \t]*$", re.M)


def pictures(source: str, name: str) -> Iterator[Occurrence]:
    """Yield the pictures of a Markdown file, in order.

    Args:
        source: The text.
        name: The file as findings name it.
    """
    front = _FRONT.match(source)
    if front:
        for match in _FRONT_TEXT.finditer(front[1]):
            line = source.count("\n", 0, front.start(1) + match.start()) + 1
            text = match[1].strip("\"'")
            yield Occurrence(
                file=name, line=line, element="front matter", raw=text
            )
        source = "\n" * front[0].count("\n") + source[front.end() :]
    starts = [0, *(newline.end() for newline in re.finditer("\n", source))]
    at = 0
    for block in _MARKDOWN.parse(source):
        first, last = block.map or (0, len(starts))
        at = max(at, starts[first])
        end = starts[last] if last < len(starts) else len(source)
        n_misses = 0
        is_alone = _is_alone(block)
        link: Token | None = None
        for token in (block, *(block.children or ())):
            if token.type == "link_open":
                link = token
            elif token.type == "link_close":
                link = None
            elif token.type in (
                "html_block",
                "html_inline",
                "code_inline",
                "image",
            ):
                is_image = token.type == "image"
                source_text = (
                    f"![{token.content}]" if is_image else token.content
                )
                place = None
                # A text that is not written as it reads is searched for to the end of its block.
                if n_misses < _MOST_MISSES:
                    place = _pattern(source_text).search(source, at, end)
                    n_misses += place is None
                line, column = bisect_right(starts, at), None
                if place:
                    line = bisect_right(starts, place.start())
                    column = place.start() - starts[line - 1] + 1
                    at = place.end()
                if is_image:
                    yield _picture(token, is_alone, link, name, (line, column))
                elif token.type != "code_inline":
                    yield from _inside(source_text, name, (line, column))


def _pattern(text: str) -> re.Pattern[str]:
    """Return a pattern for a text of a block, whose lines may begin with marks of quotes."""
    first_line, *later_lines = text.split("\n")
    lines = (
        re.escape(first_line),
        *(re.escape(line.lstrip(" \t")) for line in later_lines),
    )
    return re.compile(r"(?<!\\)" + r"\n[ \t>]*+".join(lines))


def _is_alone(block: Token) -> bool:
    """Return whether a block has nothing but pictures and links around them."""
    return all(
        part.type in ("image", "link_open", "link_close")
        or not part.content.strip()
        for part in block.children or ()
    )


def _inside(
    source: str, name: str, place: tuple[int, int | None]
) -> Iterator[Occurrence]:
    for occurrence in html.pictures(source, name):
        # Places in HTML are relative to where it begins in the file.
        if occurrence.line == 1 and occurrence.column and place[1]:
            occurrence.column += place[1] - 1
        occurrence.line = place[0] + (occurrence.line or 1) - 1
        yield occurrence


def _picture(
    token: Token,
    alone: bool,
    link: Token | None,
    name: str,
    place: tuple[int, int | None],
) -> Occurrence:
    text = RendererHTML().renderInlineAsText(
        token.children or [], _MARKDOWN.options, {}
    )
    return Occurrence(
        file=name,
        line=place[0],
        column=place[1],
        element="image",
        picture=str(token.attrs.get("src") or ""),
        raw=text,
        decorative=not text,
        title=str(token.attrs.get("title") or ""),
        role="functional" if link else "informative",
        link=str(link.attrs.get("href") or "") if link else None,
        image_only=link is not None and alone,
        structural=(
            (
                "ALT003",
                "the link contains nothing but a picture without text",
                "",
            ),
        )
        if link and alone and not text.strip()
        else (),
    )
