"""The built-in parser: tokens, and the network's scores for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, pairwise
from pathlib import Path

from beholder.language.document import ParsedParagraph, Word
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

    def read_texts(self, texts: Iterable[str]) -> Iterator[ParsedParagraph]:
        """Some texts at a time, which costs the network less than each by itself."""
        waiting = map(tokens, texts)
        while batch := [*islice(waiting, _TOGETHER)]:
            yield from self._read_batch(batch)

    def _read_batch(
        self, texts: Sequence[Sequence[tuple[str, int]]]
    ) -> Iterator[ParsedParagraph]:
        # The texts are tagged as one run of words; ``begins`` has the place of each in the run.
        begins = [0, *accumulate(map(len, texts))]
        tagged = self._network.tag_words(
            [word for text in texts for word, _ in text], begins
        )
        sentences = [
            i
            for i, (a, b) in enumerate(pairwise(tagged.bounds))
            for _ in range(a, b)
        ]
        deps = [
            "ROOT" if name == "root" else name for name in tagged.relations
        ]
        heads = tagged.heads.tolist()
        margins = map(tuple, tagged.margins.tolist())
        readings = zip(
            tagged.parts,
            tagged.tags,
            deps,
            heads,
            sentences,
            margins,
            strict=True,
        )
        # Each text takes its words from the one iterator of readings, so the order must be kept.
        likely = {*tagged.near_verbs.tolist()}
        for text, begin in zip(texts, begins, strict=False):
            rows: list[Word] = []
            for (word, start), (part, tag, dep, head, place, sure) in zip(
                text, readings, strict=False
            ):
                rows.append(
                    Word(
                        index=len(rows),
                        text=word,
                        lemma="",
                        pos=part,
                        tag=tag,
                        dep=dep,
                        head=head - begin,
                        start=start,
                        end=start + len(word),
                        sentence=place - sentences[begin],
                        margins=sure,
                    )
                )
            yield ParsedParagraph(
                rows,
                {row.start for row in rows if begin + row.index in likely},
            )
