"""Write docs/beholder.1, the manual page, and the list of commands; ``make docs`` runs it.

The page is made from the help of all commands, as ``beholder --help`` and ``beholder COMMAND
--help`` show it, by the rules of man(7). The wheel brings it to ``share/man/man1``.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from rich.console import Console

from beholder._version import __version__
from beholder.cli.main import app

LIST = Path(__file__).parents[1] / "src" / "beholder" / "commands.txt"
PAGE = Path(__file__).parents[1] / "docs" / "beholder.1"

_EXIT = """0
Done.
1
Some items failed, or a gate was missed.
2
The input or the usage is wrong.
130
Interrupted; the same command goes on.""".splitlines()


def page() -> str:
    """Return the whole page in roff."""
    with patch.object(
        sys, "argv", ["beholder"]
    ):  # usage names the program that runs
        markdown = app.generate_docs(
            output_format="markdown", usage_name="beholder"
        )
    body, _, commands = markdown.partition("\n## Table of Contents\n")
    about = body.strip().splitlines()[-1]
    commands = commands[commands.index("\n## ") :]
    lines = [
        '.\\" Made by `make docs` from the help of commands; change that, not this page.',
        f'.TH BEHOLDER 1 "" "beholder {__version__}" "User Commands"',
        ".SH NAME",
        "beholder \\- scores, mistakes and omissions of descriptions of something seen",
        ".SH SYNOPSIS",
        ".B beholder",
        "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]",
        ".SH DESCRIPTION",
        _text(about),
        *_roff(commands.splitlines()),
        ".SH EXIT STATUS",
    ]
    for code, meaning in zip(_EXIT[::2], _EXIT[1::2], strict=True):
        lines += [".TP", f".B {code}", _text(meaning)]
    return "\n".join(lines) + "\n"


def commands() -> str:
    """Return the list that ``beholder`` prints: each command and its first line, in order."""
    printed = io.StringIO()
    for (
        name
    ) in app:  # a command that is not imported is shown without its help
        app[name]
    app.help_print([], console=Console(file=printed, width=500))
    rows = [
        line.strip("│ ").split(None, 1)
        for line in printed.getvalue().splitlines()
        if "│" in line
    ]
    usage, about, *_ = [
        line for line in printed.getvalue().splitlines() if line.strip()
    ]
    names = {
        command: summary.replace("(-h)", "").strip()
        for command, summary in rows
    }
    return (
        "\n".join(
            [
                usage.strip(),
                "",
                about.strip(),
                "",
                *(f"{name}\t{summary}" for name, summary in names.items()),
            ]
        )
        + "\n"
    )


def _roff(markdown: list[str]) -> Iterator[str]:
    """Lines of roff for the markdown that cyclopts makes: headings, usage, lists, paragraphs."""
    usage = False
    for line in markdown:
        if line.startswith("```"):
            usage = not usage
            if usage:
                yield ".PP"
        elif usage:
            yield f"\\fB{_escaped(line)}\\fR"
        elif heading := re.fullmatch(r"(#+) (.+)", line):
            yield (".SH " if len(heading[1]) == 2 else ".SS ") + _escaped(
                heading[2]
            )
        elif option := re.fullmatch(r"\* `([^`]+)`(?:: ?(.*))?", line):
            yield from (".TP", f"\\fB{_escaped(option[1])}\\fR")
            if option[2]:
                yield _text(option[2])
        elif group := re.fullmatch(r"\*\*(\w+)\*\*:", line):
            yield from (".PP", f"{group[1]}:")
        elif not line.strip():
            continue
        elif line.startswith("    "):
            yield _text(line.strip())
        else:
            yield from (".PP", _text(line))


def _text(markdown: str) -> str:
    """Return a paragraph: what stands in backquotes or stars is bold."""
    bold = re.sub(r"`([^`]+)`|\*\*(.+?)\*\*|\*(\[.+?\])\*", _bold, markdown)
    return _escaped(bold).replace("\0", "\\fB").replace("\1", "\\fR")


def _bold(match: re.Match[str]) -> str:
    return match[3] if match[3] else f"\0{match[1] or match[2]}\1"


def _escaped(text: str) -> str:
    """Text in which roff finds no request, no escape and no dash to break at."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    LIST.write_text(commands(), encoding="utf-8")
