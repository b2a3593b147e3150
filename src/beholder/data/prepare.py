"""Texts of items before they are scored: composed characters, residue counted and removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from beholder.records import Item
from beholder.text.composition import composed, is_composed
from beholder.text.residue import KINDS, find_residue, without_residue

Cleaning: TypeAlias = Literal["none", "residue"]
"""What is removed from texts before they are scored."""

_SIDES = ("candidates", "references")
_DECOMPOSED = "decomposed"


@dataclass
class Preparation:
    """Prepares the texts of a run and counts what is wrong with them.

    Attributes:
        clean: What is removed.
        counts: Texts by side ("candidates") and what they contain; under an empty name all texts.
    """

    clean: Cleaning = "none"
    counts: dict[str, Counter[str]] = field(default_factory=lambda: {s: Counter() for s in _SIDES})

    def prepare(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items to be scored."""
        for item in items:
            for side, texts in zip(_SIDES, ((item.candidate,), item.references), strict=True):
                for text in texts:
                    self._count(side, text)
            item = composed(item)
            if self.clean == "residue":
                item = replace(
                    item,
                    candidate=without_residue(item.candidate),
                    references=tuple(map(without_residue, item.references)),
                )
            yield item

    def _count(self, side: str, text: str) -> None:
        counts = self.counts[side]
        counts[""] += 1
        counts.update({residue.kind for residue in find_residue(text)})
        if not is_composed(text):
            counts[_DECOMPOSED] += 1

    @property
    def is_empty(self) -> bool:
        """Whether no item was prepared."""
        return not any(self.counts.values())

    def restore(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        """Take the counts of an earlier reading of the same items."""
        self.counts = {side: Counter(counts.get(side, {})) for side in _SIDES}

    def cautions(self) -> tuple[str, ...]:
        """A sentence on residue and one on decomposed characters, where texts have any."""
        cautions = []
        if residue := self._in_words(KINDS):
            removed = "removed before scoring (--clean residue)"
            kept = "scored as written; --clean residue removes what a machine left around its text"
            cautions.append(f"{residue}: {removed if self.clean == 'residue' else kept}")
        if decomposed := self._in_words((_DECOMPOSED,)):
            cautions.append(
                f"{decomposed} characters: composed (Unicode NFC) before scoring; tools that count"
                " code points as they are, such as sacrebleu, give other values for these texts"
            )
        return tuple(cautions)

    def _in_words(self, names: Iterable[str]) -> str:
        parts = []
        for side, counts in self.counts.items():
            kinds = [f"{counts[name]:,} contain {name}" for name in names if counts[name]]
            if kinds:
                parts.append(f"of {counts['']:,} {side} {', '.join(kinds)}")
        return "; ".join(parts)
