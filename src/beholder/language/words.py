"""Reading the word lists that ship beside the rules: sections of words, headed by ``[name]``."""

from __future__ import annotations

import functools
from importlib import resources


@functools.cache
def sections(file: str) -> dict[str, list[str]]:
    """The lines of each section of a word list of this package."""
    return parse(resources.files(__package__).joinpath(file).read_text(encoding="utf-8"))


def parse(text: str) -> dict[str, list[str]]:
    """The lines of each section of a text; ``#`` begins a comment line."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("["):
            name = line[1 : line.index("]")]
            found[name] = []
        elif line and not line.startswith("#"):
            found[name].append(line)
    return found


def word_set(file: str, section: str) -> frozenset[str]:
    """The words of a section."""
    return frozenset(" ".join(sections(file)[section]).split())


def pairs(file: str, section: str) -> dict[str, str]:
    """A section of ``key=value`` words."""
    entries = (word.split("=", 1) for word in " ".join(sections(file)[section]).split())
    return {entry[0]: entry[1] for entry in entries}
