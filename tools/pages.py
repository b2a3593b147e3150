"""The pages of the docs as tests read them: blocks of code, commands, and what these need."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")],
    key=lambda page: str(page.relative_to(ROOT)),
)
LANGUAGES = frozenset({"python", "sh", "json", "toml", "yaml", "text"})

_BLOCK = re.compile(
    r"^(?:<!-- needs: (?P<needs>[^>]+) -->\n)?```(?P<language>[^\n]*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_INLINE = re.compile(r"`(beholder [^`]*)`")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        language: What stands behind the fence.
        code: Its lines.
        line: 1-based line of the page on which they begin.
        needs: What a comment above it says that it needs beyond the package and sample data; such
            a block is checked and not run.
    """

    language: str
    code: str
    line: int
    needs: str | None


def name_of(page: Path) -> str:
    """A page as its tests are called."""
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            found["language"],
            found["code"],
            text[: found.start("code")].count("\n") + 1,
            found["needs"],
        )
        for found in _BLOCK.finditer(text)
    ]


def commands(code: str) -> Iterator[list[str]]:
    """The commands of a block for a shell, as their words, without comments."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words


def inline_commands(text: str) -> list[str]:
    """What stands between single backticks and begins with our command, on one line each."""
    return [" ".join(found.split()) for found in _INLINE.findall(text)]
