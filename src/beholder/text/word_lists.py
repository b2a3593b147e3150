"""Word lists in text files, divided into sections."""

from __future__ import annotations


def parse(text: str) -> dict[str, list[str]]:
    """The lines of each section of a text; ``#`` begins a comment line."""
    sections: dict[str, list[str]] = {}
    name = ""
    for line in text.split("\n"):
        if line.startswith("["):
            name = line[1 : line.index("]")]
            sections[name] = []
        elif line and not line.startswith("#"):
            sections[name].append(line)
    return sections
