"""Pictures of Markdown: ``![text](file)``, references, and HTML inside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from beholder.lint import html
from beholder.lint.occurrence import Occurrence

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT = re.compile(r"---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|$)", re.S)
_FRONT_TEXT = re.compile(r"^(?:image_alt|alt)[ \t]*:[ \t]*(.*?)[ \t]*$", re.M)


def pictures(source: str, name: str) -> Iterator[Occurrence]:
    """Pictures of a Markdown file, in order.

    Args:
        source: The text.
        name: The file as findings name it.
    """
    front = _FRONT.match(source)
    if front:
        for found in _FRONT_TEXT.finditer(front[1]):
            line = source.count("\n", 0, front.start(1) + found.start()) + 1
            text = found[1].strip("\"'")
            yield Occurrence(file=name, line=line, element="front matter", raw=text)
        source = "\n" * front[0].count("\n") + source[front.end() :]
    for block in MarkdownIt().parse(source):
        line = block.map[0] + 1 if block.map else 1
        if block.type == "html_block":
            yield from _inside(block.content, name, line)
        link: Token | None = None
        for token in block.children or ():
            if token.type in ("softbreak", "hardbreak"):
                line += 1
            elif token.type == "link_open":
                link = token
            elif token.type == "link_close":
                link = None
            elif token.type == "html_inline":
                yield from _inside(token.content, name, line)
            elif token.type == "image":
                yield _picture(token, block, link, name, line)


def _inside(source: str, name: str, line: int) -> Iterator[Occurrence]:
    for one in html.pictures(source, name):
        one.line = line + (one.line or 1) - 1
        yield one


def _picture(token: Token, block: Token, link: Token | None, name: str, line: int) -> Occurrence:
    text = token.content
    alone = all(
        one.type in ("image", "link_open", "link_close") or not one.content.strip()
        for one in block.children or ()
    )
    return Occurrence(
        file=name,
        line=line,
        element="image",
        picture=str(token.attrs.get("src") or ""),
        raw=text,
        decorative=not text,
        title=str(token.attrs.get("title") or ""),
        role="functional" if link else "informative",
        link=str(link.attrs.get("href") or "") if link else None,
        image_only=link is not None and alone,
        structural=(("ALT003", "the link contains nothing but a picture without text", ""),)
        if link and alone and not text.strip()
        else (),
    )
