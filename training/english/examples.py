"""What the networks are trained on: documents of sentences, in batches, with their answers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from training.english.ud import Word

UNKNOWN = ""
"""Tag or relation of a token that the treebank cuts differently."""


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """One sentence as the tokenizer cuts it.

    Attributes:
        words: Its tokens.
        tags: English tags, ``UNKNOWN`` where the treebank has other words.
        parts: Universal parts of speech, likewise.
        heads: Place of each head in the sentence, the own place for the root, -1 where not known.
        relations: Relations to the heads, ``root`` for the root.
    """

    words: list[str]
    tags: list[str]
    parts: list[str]
    heads: list[int]
    relations: list[str]

    @classmethod
    def from_words(cls, sentence: Sequence[Word]) -> Sentence:
        """Return a sentence of a treebank, cut as there."""
        return cls(
            [w.form for w in sentence],
            [w.xpos for w in sentence],
            [w.upos for w in sentence],
            [w.head for w in sentence],
            [w.deprel for w in sentence],
        )

    def as_words(self) -> list[Word]:
        """Return the same as words of a treebank."""
        columns = (
            self.words,
            self.parts,
            self.tags,
            self.heads,
            self.relations,
        )
        return [
            Word(form, part, tag, "_", head, relation, True)
            for form, part, tag, head, relation in zip(*columns, strict=True)
        ]


Document = list[Sentence]


@dataclass(frozen=True)
class Labels:
    """The labels that the network tells apart, in order.

    Attributes:
        tags, parts, relations: Their names.
        pairs: Places of the tags and parts that one word has.
    """

    tags: list[str]
    parts: list[str]
    relations: list[str]
    pairs: list[tuple[int, int]]

    @classmethod
    def from_documents(
        cls, docs: Iterable[Document], floor: int = 5
    ) -> Labels:
        """Return the labels that occur at least ``floor`` times."""
        sentences = [sentence for doc in docs for sentence in doc]

        def common(names: Iterable[str]) -> list[str]:
            return sorted(
                k
                for k, n in Counter(names).items()
                if k != UNKNOWN and n >= floor
            )

        tags = common(tag for s in sentences for tag in s.tags)
        parts = common(part for s in sentences for part in s.parts)
        relations = common(
            relation for s in sentences for relation in s.relations
        )
        both = Counter(
            pair
            for s in sentences
            for pair in zip(s.tags, s.parts, strict=True)
        )
        pairs = [
            (i, j)
            for i, tag in enumerate(tags)
            for j, part in enumerate(parts)
            if both[tag, part] >= floor
        ]
        return cls(tags, parts, relations, pairs)


def aligned(nlp: Language, docs: Iterable[Doc]) -> Iterator[Document]:
    """Yield each gold document as sentences of the tokens that ``nlp`` makes of its text."""
    for gold in docs:
        example: Any = Example(nlp.make_doc(gold.text), gold)
        tokens = [token.text for token in example.predicted]
        tags = [
            tag or UNKNOWN
            for tag in example.get_aligned("TAG", as_string=True)
        ]
        parts = [
            part or UNKNOWN
            for part in example.get_aligned("POS", as_string=True)
        ]
        heads, relations = example.get_aligned_parse(projectivize=False)
        starts = example.get_aligned_sent_starts()
        bounds = [
            0,
            *(i for i in range(1, len(tokens)) if starts[i] == 1),
            len(tokens),
        ]
        document = []
        for low, high in pairwise(bounds):
            own_heads = [
                h - low if h is not None and low <= h < high else -1
                for h in heads[low:high]
            ]
            names = [
                UNKNOWN
                if head < 0
                else "root"
                if head == place
                else relation or UNKNOWN
                for place, (head, relation) in enumerate(
                    zip(own_heads, relations[low:high], strict=True)
                )
            ]
            document.append(
                Sentence(
                    tokens[low:high],
                    tags[low:high],
                    parts[low:high],
                    own_heads,
                    names,
                )
            )
        yield document


def chunks(docs: Iterable[Document], limit: int) -> Iterator[Document]:
    """Documents of at most ``limit`` words, cut between sentences, without longer ones."""
    for doc in docs:
        waiting: Document = []
        for sentence in doc:
            if len(sentence.words) > limit:
                continue
            if (
                waiting
                and sum(len(s.words) for s in waiting) + len(sentence.words)
                > limit
            ):
                yield waiting
                waiting = []
            waiting.append(sentence)
        if waiting:
            yield waiting


def batches(
    docs: Iterable[Document], places: int, rng: random.Random
) -> list[list[Document]]:
    """Documents of like length together, padded to at most ``places``, in random order."""
    lengths = [(sum(len(s.words) for s in doc), doc) for doc in docs]
    lengths.sort(key=lambda pair: pair[0] + 3 * rng.random())
    batches_of_docs: list[list[Document]] = []
    waiting: list[Document] = []
    longest = 0
    for length, doc in lengths:
        if waiting and max(longest, length) * (len(waiting) + 1) > places:
            batches_of_docs.append(waiting)
            waiting, longest = [], 0
        waiting.append(doc)
        longest = max(longest, length)
    if waiting:
        batches_of_docs.append(waiting)
    rng.shuffle(batches_of_docs)
    return batches_of_docs


def words_of(docs: Sequence[Document]) -> list[list[str]]:
    """Return the words of each document."""
    return [
        [word for sentence in doc for word in sentence.words] for doc in docs
    ]


def bare(words: list[str]) -> Sentence:
    """Return a sentence of which only the words are known."""
    n = len(words)
    return Sentence(
        words, [UNKNOWN] * n, [UNKNOWN] * n, [-1] * n, [UNKNOWN] * n
    )
