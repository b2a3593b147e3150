"""Pictures of reStructuredText: the directives ``image`` and ``figure``, and HTML inside."""

from __future__ import annotations

import re
from collections.abc import Iterator

from beholder.lint import html
from beholder.lint.leftovers import LeftOut
from beholder.lint.occurrence import EMPTY_LINK, Occurrence

_DIRECTIVE = re.compile(
    r"(?P<before>[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)*)\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?"
    r"(?P<name>[\w-]+)::[ \t]*(?P<argument>.*)"
)
_COMMENT = re.compile(r"[ \t]*\.\.(?:[ \t]+(?![_\[|]).*)?$")
_OPTION = re.compile(r"[ \t]+:([\w-]+):[ \t]*(.*)")
_CODE = (
    "code",
    "code-block",
    "sourcecode",
    "parsed-literal",
    "literalinclude",
)


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
        directive = _DIRECTIVE.match(line)
        end = _block_end(lines, at)
        # Examples of code and comments show no picture.
        is_literal = line.rstrip().endswith("::") or _COMMENT.match(line)
        if directive is None:
            at = end if is_literal else at + 1
        elif directive["name"] in ("image", "figure"):
            yield _picture(directive, lines[at + 1 : end], name, at + 1)
            at += 1
        elif directive["name"] == "raw" and "html" in directive["argument"]:
            yield from html.pictures_in_block(
                lines, at + 1, end, name, left_out
            )
            at = end
        else:
            at = end if directive["name"] in _CODE else at + 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _block_end(lines: list[str], at: int) -> int:
    """Return the line behind the lines that are indented below a line."""
    # The loop reads a block once: only a directive or a literal asks for it.
    if not lines[at].strip() or (
        "::" not in lines[at] and ".." not in lines[at]
    ):
        return at + 1
    end = at + 1
    while end < len(lines) and (
        not lines[end].strip() or _indent(lines[end]) > _indent(lines[at])
    ):
        end += 1
    return end


def _picture(
    directive: re.Match[str], block: list[str], name: str, number: int
) -> Occurrence:
    """Return the picture of a directive, with the options and the caption below it."""
    options: dict[str, str] = {}
    key = ""
    n_options = 0
    for line in block:
        option = _OPTION.match(line)
        # Options come first; a text may continue in the next lines.
        if not line.strip() or not (option or key):
            break
        if option:
            key = option[1].lower()
            options[key] = option[2].strip()
        else:
            options[key] = f"{options[key]} {line.strip()}".strip()
        n_options += 1
    caption = ""
    if directive["name"] == "figure":
        paragraph: list[str] = []
        for line in block[n_options:]:
            if line.strip():
                paragraph.append(line.strip())
            elif paragraph:
                break
        caption = " ".join(paragraph)
    text = options.get("alt")
    link = options.get("target")
    return Occurrence(
        file=name,
        line=number,
        column=directive.start("name") - 2 - directive.end("before"),
        element=directive["name"],
        picture=directive["argument"].strip(),
        raw=text,
        text_from="alt",
        decorative=text == "",
        caption=caption,
        role=_role(link, caption),
        link=link,
        image_only=link is not None,
        structural=(EMPTY_LINK,) if link is not None and not text else (),
    )


def _role(link: str | None, caption: str) -> str:
    if link is not None:
        return "functional"
    return "figure" if caption else "informative"
