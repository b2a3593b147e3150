"""The parsed text that every later stage reads: words with one kind of tree; picklable."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from beholder.records import Span


class _WordFields(NamedTuple):
    index: int  # type: ignore[assignment]  # hides a method of tuples
    text: str
    lemma: str
    pos: str
    tag: str
    dep: str
    head: int
    start: int
    end: int
    sentence: int
    margins: tuple[float, ...] = ()


class Word(_WordFields):
    """One word of a document; hyphen compounds such as "off-white" are one word.

    A tuple, as texts have many: it is made several times faster than a dataclass. Words of a
    ``Document`` know their neighbours in its tree.

    Attributes:
        index: Place in the document.
        text: As written, quotes and spaces evened.
        lemma: Base form, lower case.
        pos: Universal part of speech: ``NOUN``, ``VERB``, ``ADJ`` ...
        tag: Penn Treebank tag: ``NNS``, ``VBZ`` ...
        dep: Relation to the head, in the names of Universal Dependencies.
        head: Place of the head in the document; its own place for the root of a sentence.
        start: First character in the original text.
        end: One past the last character in the original text.
        sentence: Place of its sentence in the document.
        margins: Distances of the parser's tag, head and relation from the next best; empty if it
            does not say.
        document: The document that it is of; missing in words that are in none yet.
    """

    document: Document

    @property
    def lower(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    @property
    def span(self) -> Span:
        """Its characters in the original text."""
        return self.start, self.end

    @property
    def is_noun(self) -> bool:
        """Return whether it is a common or proper noun."""
        return self.pos in ("NOUN", "PROPN")

    @property
    def is_plural(self) -> bool:
        """Return whether it is a plural noun."""
        return self.tag in ("NNS", "NNPS")

    @property
    def governor(self) -> Word | None:
        """The word that it is attached to; None for the root of a sentence."""
        if self.head == self.index:
            return None
        return self.document.words[self.head]

    @property
    def head_word(self) -> Word:
        """The word that it is attached to; the word itself if it is a root."""
        return self.document.words[self.head]

    @property
    def next(self) -> Word | None:
        """The word after it; None for the last of the document."""
        words = self.document.words
        return words[self.index + 1] if self.index + 1 < len(words) else None

    @property
    def previous(self) -> Word | None:
        """The word before it; None for the first of the document."""
        return self.document.words[self.index - 1] if self.index else None

    @property
    def role(self) -> str:
        """Its relation without the subtype: ``nsubj`` for ``nsubj:pass``."""
        return self.dep.split(":")[0]

    @property
    def relations(self) -> Collection[str]:
        """The relations of the words attached to it, each with and without its subtype."""
        return self.document.attached.get(self.index, ())

    def children(self, *deps: str) -> list[Word]:
        """The words attached to it, in order; with names, only those relations.

        A name stands for its subtypes too: ``nsubj`` gives ``nsubj:pass``, while ``nsubj:pass``
        gives only itself.
        """
        attached = self.document.attached.get(self.index)
        if attached is None:
            return []
        if len(deps) < 2:
            return [*attached.get(deps[0] if deps else _ANY, ())]
        children: list[Word] = []
        runs = 0
        for dep in deps:
            if dep in attached:
                children += attached[dep]
                runs += 1
        return children if runs < 2 else sorted(set(children))

    def lower_children(self, *deps: str) -> list[str]:
        """The texts of the ``children`` in lower case."""
        return [child.lower for child in self.children(*deps)]

    def before(self, *deps: str) -> list[Word]:
        """The ``children`` that stand before it."""
        return [c for c in self.children(*deps) if c.index < self.index]

    def after(self, *deps: str) -> list[Word]:
        """The ``children`` that stand after it."""
        return [c for c in self.children(*deps) if c.index > self.index]

    def child(self, *deps: str) -> Word | None:
        """The first child with one of these relations."""
        return next(iter(self.children(*deps)), None)

    def subtree(self) -> list[Word]:
        """The word and all below it, in text order."""
        below = {self}
        queue = [self]
        while queue:
            for child in queue.pop().children():
                if child not in below:
                    below.add(child)
                    queue.append(child)
        return sorted(below)

    def moved(self, index: int, head: int) -> Word:
        """The word at another place and with another head."""
        if index == self.index and head == self.head:
            return self
        return self._replace(index=index, head=head)

    def __getstate__(self) -> None:
        """A pickled word is a tuple: the document that is pickled with it binds it again."""


class ParsedParagraph(NamedTuple):
    """The words of a paragraph as a parser returns them.

    Attributes:
        words: Its tokens, with places in the paragraph and no lemmas yet.
        likely: First characters of the nouns that are nearly verbs.
    """

    words: list[Word]
    likely: Collection[int] = ()


_ANY = ""
"""Stands for every relation."""


class Document:
    """A parsed text.

    Attributes:
        text: The original text.
        words: All words, in order.
        sentences: First and one-past-last word of each sentence.
        parser: Parser that made the tree, for signatures.
        attached: Index of a word to the words attached to it, by relation.
    """

    def __init__(
        self,
        text: str,
        words: Sequence[Word],
        sentences: Sequence[Span],
        parser: str,
    ) -> None:
        self.text = text
        self.words = tuple(map(Word._make, words))
        self.sentences = tuple(sentences)
        self.parser = parser
        self.attached: dict[int, dict[str, list[Word]]] = {}
        self._having: dict[frozenset[str], set[int]] = {}
        for word in self.words:
            word.document = self
            if word.head != word.index:
                attached = self.attached.setdefault(word.head, {})
                # Three keys per word, so that children are found by full relation, by role, or all
                # of them.
                for name in {_ANY, word.dep, word.role}:
                    attached.setdefault(name, []).append(word)

    def joined(self, runs: Mapping[Span, tuple[str, str]]) -> Document:
        """The document with runs of words as one word each, in the tree where the topmost was.

        Args:
            runs: First and one-past-last word of each run, with the ``pos`` and ``tag`` it gets.
        """
        if not runs:
            return self
        depths = tree_depths(self.words)
        place: list[int] = []
        words: list[Word] = []
        starts = {start: (end, *tags) for (start, end), tags in runs.items()}
        for word in self.words:
            # Of a run that began before.
            if word.index < len(place):
                continue
            end, pos, tag = starts.get(
                word.index, (word.index + 1, word.pos, word.tag)
            )
            run = self.words[word.index : end]
            if len(run) > 1:
                text = " ".join(self.text[word.start : run[-1].end].split())
                # The topmost word has the relation of the whole run to the rest of the sentence.
                top = min(run, key=lambda w: depths[w.index])
                word = word._replace(
                    text=text, lemma=text.lower(), pos=pos, tag=tag
                )
                word = word._replace(
                    dep=top.dep, head=top.head, end=run[-1].end
                )
            place += [len(words)] * len(run)
            words.append(word)
        place.append(len(words))
        words = [w.moved(i, place[w.head]) for i, w in enumerate(words)]
        sentences = [
            (place[start], place[end]) for start, end in self.sentences
        ]
        return Document(self.text, words, sentences, self.parser)

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __reduce__(self) -> tuple[object, ...]:
        return Document, (self.text, self.words, self.sentences, self.parser)

    def having(self, forms: frozenset[str]) -> set[int]:
        """The sentences with one of some words, in base form or as written in lower case."""
        if forms not in self._having:
            matches = (
                w.sentence
                for w in self.words
                if w.lemma in forms or w.text.lower() in forms
            )
            self._having[forms] = set(matches)
        return self._having[forms]


def tree_depths(words: Sequence[Word]) -> list[int]:
    """Return the number of steps from each word to its root."""
    heads = [word.head for word in words]
    depths = [-1] * len(heads)
    for start in range(len(heads)):
        if depths[start] >= 0:
            continue
        # Climbs to a word with a known depth, then numbers the path backwards: each word is
        # visited once.
        path, at = [], start
        while depths[at] < 0 and heads[at] != at:
            path.append(at)
            at = heads[at]
        # A root, or a word on a circle of a damaged tree.
        if depths[at] < 0:
            depths[at] = 0
        for step in reversed(path):
            depths[step] = depths[heads[step]] + 1
    return depths
