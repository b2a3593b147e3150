"""The shipped parser: tokens, and what the network says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from beholder.language.document import Read, Word
from beholder.language.network import Network
from beholder.language.tokens import tokens

FILE = Path(__file__).with_name("english.safetensors")
"""The weights; ``english.md`` beside them is their card."""


class EnglishParser:
    """Reads paragraphs of English.

    Args:
        path: Weights of the network.
    """

    def __init__(self, path: Path = FILE) -> None:
        self._network = Network(path)

    def read(self, texts: Iterable[str]) -> Iterator[Read]:
        """Each text as it comes; the network gains nothing from many."""
        return map(self._read, texts)

    def _read(self, text: str) -> Read:
        found = tokens(text)
        read = self._network.read([token.text for token in found])
        places = enumerate(pairwise(read.bounds))
        sentences = [place for place, (begin, end) in places for _ in range(begin, end)]
        deps = ["ROOT" if name == "root" else name for name in read.relations]
        said = (read.tags, read.parts, deps, read.heads.tolist(), sentences, read.margins.tolist())
        rows = [
            Word(i, word, "", part, tag, dep, head, start, start + len(word), place, tuple(sure))
            for i, ((word, start), tag, part, dep, head, place, sure) in enumerate(
                zip(found, *said, strict=True)
            )
        ]
        return Read(rows, {found[int(i)].start for i in read.near_verbs})
