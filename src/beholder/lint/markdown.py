"""Pictures of Markdown: ``![text](file)``, references, and HTML inside."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML

from beholder.lint import components, html
from beholder.lint.leftovers import LeftOut
from beholder.lint.occurrence import EMPTY_LINK, Occurrence, Structural

if TYPE_CHECKING:
    from markdown_it.token import Token

_MARKDOWN = MarkdownIt()
_MOST_MISSES = 20
"""Texts of a block that are searched for in vain; further ones have the line of the last place."""
_FRONT = re.compile(
    r"(---|\+\+\+)[ \t]*\n(.*?\n)(?:\1|\.\.\.)[ \t]*(?:\n|$)", re.S
)
_FRONT_TEXT = re.compile(
    r"^(?P<before>[ \t]*(?:-[ \t]+)*)(?P<quote>[\"']?)"
    r"(?:(?:[\w-]+[_-])?alt(?:[_-]?text)?|\w+Alt(?:Text)?|altText)(?P=quote)"
    r"[ \t]*[:=][ \t]*(?P<text>.*?)[ \t]*$",
    re.M,
)
"""A field of YAML or TOML at any depth, such as ``cover_alt`` or ``imageAlt``."""
_FOLDED = re.compile(r"[|>][+-]?\d?")
"""The mark of a YAML text that is in the lines below."""
_MOST_FOLDED = 2_000
"""Characters of such a text that are read."""
_CODE = re.compile(r"(?<![`{=\\])(`+)(?!`).*?(?<!`)\1(?!`)")
"""A code span; the backquote of a value in a tag is behind ``{`` or ``=``."""
_EMPTY = (
    "ALT001.empty",
    "has an empty text (decorative, or forgotten)",
    "note",
)


def pictures(
    source: str, name: str, left_out: list[LeftOut] | None = None, /
) -> Iterator[Occurrence]:
    """Yield the pictures of a Markdown or MDX file, in order.

    Args:
        source: The text.
        name: The file as findings name it.
        left_out: Receives what is not read, such as texts that are expressions.
    """
    front = _FRONT.match(source)
    if front:
        yield from _front_texts(front, name)
        source = "\n" * front[0].count("\n") + source[front.end() :]
    of_components: list[Occurrence] = []
    if "{" in source or re.search("<[A-Z]", source):
        source, of_components = _components(source, name, left_out)
    of_text = _pictures_of_text(source, name, left_out)
    if not of_components:
        yield from of_text
        return
    yield from sorted(
        (*of_text, *of_components),
        key=lambda place: (place.line or 0, place.column or 0),
    )


def _front_texts(front: re.Match[str], name: str) -> Iterator[Occurrence]:
    line, counted_to = 1, 0
    for match in _FRONT_TEXT.finditer(front[2]):
        text = match["text"].strip("\"'")
        if _FOLDED.fullmatch(match["text"]):
            indent = len(match["before"])
            below: list[str] = []
            start = match.end() + 1
            rest = front[2][start : start + _MOST_FOLDED]
            for text_line in rest.split("\n"):
                words = text_line.strip()
                if (
                    words
                    and len(text_line) - len(text_line.lstrip()) <= indent
                ):
                    break
                below.append(words)
            text = " ".join(filter(None, below))
        at = front.start(2) + match.start()
        line += front[0].count("\n", counted_to, at)
        counted_to = at
        yield Occurrence(
            file=name, line=line, element="front matter", raw=text
        )


def _components(
    source: str, name: str, left_out: list[LeftOut] | None
) -> tuple[str, list[Occurrence]]:
    """Return the source with components replaced, and the pictures that they show."""
    masked = components.mask(source, ("expression",))
    lines = masked.split("\n")
    for block in _MARKDOWN.parse(masked):
        if block.type in ("fence", "code_block") and block.map:
            for number in range(*block.map):
                lines[number] = components.blank(lines[number])
    masked = _CODE.sub(
        lambda code: components.blank(code[0]), "\n".join(lines)
    )
    tags = list(components.find_tags(masked, name))
    shown_tags = [tag for tag in tags if components.is_component(tag)]
    occurrences = list(
        components.read_tags(
            masked,
            tags,
            name,
            left_out,
            only={tag.start for tag in shown_tags},
        )
    )
    pieces: list[str] = []
    at = 0
    for tag in shown_tags:
        pieces += (
            source[at : tag.start],
            # Blanks at the beginning of a line would make code of it.
            components.blank(source[tag.start : tag.end], "\ufffc"),
        )
        at = tag.end
    return "".join((*pieces, source[at:])), occurrences


def _pictures_of_text(
    source: str, name: str, left_out: list[LeftOut] | None
) -> Iterator[Occurrence]:
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
                    place_of_tag = line, column
                    yield from _inside(
                        source_text, name, place_of_tag, left_out
                    )


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
    source: str,
    name: str,
    place: tuple[int, int | None],
    left_out: list[LeftOut] | None,
) -> Iterator[Occurrence]:
    for occurrence in html.pictures(source, name, left_out):
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
    structural: tuple[Structural, ...] = ()
    if link and alone and not text.strip():
        structural = (EMPTY_LINK,)
    elif not text:
        # Markdown has no other way to forget a text, or to mark a picture.
        structural = (_EMPTY,)
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
        structural=structural,
    )
