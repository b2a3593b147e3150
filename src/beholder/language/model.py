"""The shipped parser: tokens, and what the network says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, pairwise
from pathlib import Path

from beholder.language.document import Read, Word
from beholder.language.network import Network
from beholder.language.tokens import tokens

FOLDER = Path(__file__).parent
"""Has the network's files; ``english.md`` beside them is their card."""

_TOGETHER = 4
"""Paragraphs that are read at once."""


class EnglishParser:
    """Reads paragraphs of English.

    Args:
        folder: Has the network's files.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self._network = Network(folder)

    def read(self, texts: Iterable[str]) -> Iterator[Read]:
        """Some texts at a time, which costs the network less than each by itself."""
        waiting = map(tokens, texts)
        while some := [*islice(waiting, _TOGETHER)]:
            yield from self._read(some)

    def _read(
        self, texts: Sequence[Sequence[tuple[str, int]]]
    ) -> Iterator[Read]:
        begins = [0, *accumulate(map(len, texts))]
        read = self._network.read(
            [word for text in texts for word, _ in text], begins
        )
        sentences = [
            i
            for i, (a, b) in enumerate(pairwise(read.bounds))
            for _ in range(a, b)
        ]
        deps = ["ROOT" if name == "root" else name for name in read.relations]
        heads, margins = read.heads.tolist(), map(tuple, read.margins.tolist())
        said = zip(
            read.parts, read.tags, deps, heads, sentences, margins, strict=True
        )
        likely = {*read.near_verbs.tolist()}
        for text, begin in zip(texts, begins, strict=False):
            rows: list[Word] = []
            for (word, start), (part, tag, dep, head, place, sure) in zip(
                text, said, strict=False
            ):
                span = (start, start + len(word), place - sentences[begin])
                rows.append(
                    Word(
                        len(rows),
                        word,
                        "",
                        part,
                        tag,
                        dep,
                        head - begin,
                        *span,
                        sure,
                    )
                )
            yield Read(
                rows,
                {row.start for row in rows if begin + row.index in likely},
            )
