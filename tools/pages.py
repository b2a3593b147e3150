"""The pages of the docs as tests read them: blocks of code, commands, and what these need."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
    ],
    key=lambda page: str(page.relative_to(ROOT)),
)
HAND_WRITTEN = [
    page
    for page in PAGES
    if page != ROOT / "docs/metrics.md"
    and page.parent != ROOT / "docs/metrics"
]
"""All pages but those that `make docs` writes from the registry of metrics."""
LINE_LENGTH = 100
"""Characters of a line of prose at most."""
LANGUAGES = frozenset({"python", "sh", "json", "toml", "yaml", "text"})

_BLOCK = re.compile(
    r"^(?:<!-- needs: (?P<needs>[^>]+) -->\n)?(?:<!-- exits: (?P<exits>\d) -->\n)?"
    r"```(?P<language>[^\n]*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_FIGURES = re.compile(
    r"^<!-- figures: (?P<code>.+?) -->\n(?P<text>.+?)(?:\n\n|\Z)", re.M | re.S
)
_NUMBER = re.compile(r"(?<![\w.])-?\d*\.?\d+")
_INLINE = re.compile(r"`(beholder [^`]*)`")
_UNBREAKABLE = re.compile(r" *(\||#|<!--|\[[^]]+\]: )")
"""How a line begins that ends where its table, heading, comment or link definition ends."""
_URL = re.compile(r"https?://[^\s)>]+")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        language: What stands behind the fence.
        code: Its lines.
        line: 1-based line of the page on which they begin.
        needs: What a comment above it says that it needs beyond the package and sample data; such
            a block is checked and not run.
        output: The text block directly below it: what its code prints. None if there is none.
        exits: The exit status of its commands; a comment above it says one other than 0.
    """

    language: str
    code: str
    line: int
    needs: str | None
    output: str | None = None
    exits: int = 0


class Figures(NamedTuple):
    """Numbers in a paragraph that a comment above it computes.

    ``<!-- figures: EXPRESSION -->`` stands above the paragraph and gives numbers in the order in
    which they are quoted, rounded as they are quoted.

    Attributes:
        code: The expression: a list of numbers.
        quoted: All numbers of the paragraph, as they are written.
        line: 1-based line of the comment.
    """

    code: str
    quoted: list[str]
    line: int


def name_of(page: Path) -> str:
    """Return the name of a page in its tests."""
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    """Return all fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    matches = list(_BLOCK.finditer(text))
    page_blocks = []
    for match, following in zip_longest(matches, matches[1:]):
        line = text[: match.start("code")].count("\n") + 1
        output = None
        if following is not None and following["language"] == "text":
            is_below = not text[match.end() : following.start()].strip()
            output = (
                following["code"]
                if is_below and match["language"] != "text"
                else None
            )
        exits = int(match["exits"] or 0)
        page_blocks.append(
            Block(
                match["language"],
                match["code"],
                line,
                match["needs"],
                output,
                exits,
            )
        )
    return page_blocks


def figures(page: Path) -> list[Figures]:
    """Return all quoted numbers of a page that a comment computes."""
    text = page.read_text(encoding="utf-8")
    return [
        Figures(
            match["code"],
            _NUMBER.findall(match["text"]),
            text[: match.start()].count("\n") + 1,
        )
        for match in _FIGURES.finditer(text)
    ]


def commands(code: str) -> Iterator[list[str]]:
    """Yield the commands of a block for a shell, as their words, without comments."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words


def inline_commands(text: str) -> list[str]:
    """Return the texts in single backticks that begin with our command, on one line each."""
    return [" ".join(command.split()) for command in _INLINE.findall(text)]


def long_prose_lines(text: str) -> list[int]:
    """Return the 1-based numbers of the lines of prose that have too many characters.

    Fenced blocks, tables, headings, HTML comments and link definitions are not prose, and URLs
    are not counted.
    """
    long_lines = []
    is_fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        elif is_fenced or _UNBREAKABLE.match(line):
            continue
        elif len(_URL.sub("", line)) > LINE_LENGTH:
            long_lines.append(number)
    return long_lines
