"""English synonyms from WordNet: do two words share a sense?

The table is a cut of WordNet 3.0 (Princeton University; its licence lies beside it), made by
``training/synonyms.py``.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from beholder.base.fingerprint import digest_modules
from beholder.text.kinds import table_lines

_TABLE = Path(__file__).parent / "wordnet" / "synonyms.txt.xz"

# Regular endings per part of speech and what is in their place in the base form.
_ENDINGS = {
    "n": (("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
          ("men", "man"), ("ies", "y")),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""),
          ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}  # fmt: skip


def identity() -> str:
    """Name of the table in signatures, with a digest of it and of how it is read."""
    return f"wordnet3.0@{digest_modules(__name__)}"


@lru_cache(maxsize=1 << 15)
def senses(word: str) -> frozenset[int]:
    """Numbers of the senses of a word, whatever its inflection or part of speech.

    Only senses that another single word shares are numbered.

    Args:
        word: One lower-case English word.
    """
    table, forms = _load()
    numbers: set[int] = set()
    for part, endings in _ENDINGS.items():
        fitting = (
            (end, base)
            for end, base in endings
            if word.endswith(end) and word != end
        )
        stems = (word.removesuffix(end) + base for end, base in fitting)
        for base in {word, *forms[part].get(word, ()), *stems}:
            numbers.update(table[part].get(base, ()))
    return frozenset(numbers)


def are_synonyms(a: str, b: str) -> bool:
    """Return whether two lower-case words share a sense."""
    return not senses(a).isdisjoint(senses(b))


@cache
def _load() -> tuple[
    dict[str, dict[str, list[int]]], dict[str, dict[str, list[str]]]
]:
    table: dict[str, dict[str, list[int]]] = {part: {} for part in _ENDINGS}
    forms: dict[str, dict[str, list[str]]] = {part: {} for part in _ENDINGS}
    for number, line in enumerate(table_lines(_TABLE)):
        part, _, text = line.partition("\t")
        words = text.split(" ")
        if part.endswith("!"):
            forms[part[0]].setdefault(words[0], []).extend(words[1:])
        else:
            for word in words:
                table[part].setdefault(word, []).append(number)
    return table, forms
