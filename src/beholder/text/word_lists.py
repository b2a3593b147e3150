"""Word lists in text files, divided into sections."""

from __future__ import annotations


def parse(text: str) -> dict[str, list[str]]:
    """The lines of each section of a text; ``#`` begins a comment line."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.split("\n"):
        if line.startswith("["):
            name = line[1 : line.index("]")]
            found[name] = []
        elif line and not line.startswith("#"):
            found[name].append(line)
    return found
