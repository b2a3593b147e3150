"""The network of the built-in parser.

A word is the mean of the vectors of its pieces in ``beholder.embed.minilm``, with a vector for its
last letters and one for its shape. Three blocks follow, each a convolution over three words and
attention to some hundred words around; then, from each word's vector, its tags, whether a sentence
starts there, and scores of all words of the sentence as its head (Dozat and Manning 2017,
arXiv:1611.01734). Of those scores the best tree is taken.

Tags and heads are decisions, which must not depend on the processor: every product is exact, and
all else is arithmetic that IEEE 754 fixes to the bit (``training/graphs.py``).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache
from tokenizers import Tokenizer

from beholder.embed import minilm
from beholder.embed.base import FloatArray
from beholder.embed.exact import on_grid
from beholder.embed.sessions import GraphSession, batch_by_length

FILES = ("english_words.onnx", "english.onnx", "english_relations.onnx")
"""The graphs of words, of texts and of relations; ``training/english/graphs.py`` defines them."""
WIDTH = 192
N_BLOCKS = 3
N_HEADS = 4
FAR = 24
"""Distances beyond this many words count as this."""
N_SHAPES = 16
SUFFIXES = 2048
MAX_PIECES = 12
"""Pieces of a word that are read."""
NEAR = 64
"""Words whose attention is computed together; they see as many before and behind them."""
_SENTENCE = 512
"""Longest sentence in words: the scores of heads grow with its square."""
_KNOWN_WORDS = 20_000
_PLACES = 16
"""Binary places of what the scores of heads are products of; their sums are exact in float64."""
_NEARLY = 5.0
"""By how much a noun is at most likelier than a verb to be one nearly, in logits: of the 20 such
nouns of 3,058 in descriptions of photographs, 16 are verbs."""

_OUTPUTS = ("labels", "dependents", "heads", "related")
"""Of the graph of texts."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Tagged:
    """Scores of the network for words.

    Attributes:
        bounds: Beginnings of sentences, and the end.
        tags, parts: English tag and universal part of speech of each word.
        heads: (n,) place of the head of each word, the own place for a root.
        relations: Relation of each word to its head.
        near_verbs: Places of the nouns that are nearly verbs of the present.
        margins: (n, 3) how far the chosen tag, head and relation are above the next best; of a
            head that is not the best by itself, negative.
    """

    bounds: list[int]
    tags: list[str]
    parts: list[str]
    heads: Ints
    relations: list[str]
    near_verbs: Ints
    margins: FloatArray


def shape(word: str) -> int:
    """Return the class of a word's letters and digits, 1 to 10: an input of the network."""
    if word.isalpha():
        if word.islower():
            return 1
        if word.isupper():
            return 2 if len(word) == 1 else 3
        return 4 if word[1:].islower() else 5
    if word.isdigit():
        return 6
    if any(c.isdigit() for c in word):
        return 7
    if not any(c.isalnum() for c in word):
        return 8
    return 9 if word.lower() == word else 10


def suffix(word: str) -> int:
    """A number for the last three letters."""
    return zlib.crc32(word[-3:].lower().encode()) % SUFFIXES


def piece_ids(tokenizer: Tokenizer, word: str) -> list[int]:
    """The pieces of a word, the unknown one for a word without any."""
    ids: list[int] = tokenizer.encode(word, add_special_tokens=False).ids[
        :MAX_PIECES
    ]
    return ids or tokenizer.encode("[UNK]", add_special_tokens=False).ids


class Network:
    """The network, ready to read texts.

    Args:
        folder: Has ``FILES``.
    """

    def __init__(self, folder: Path) -> None:
        words, texts, relations = (
            GraphSession(folder / name) for name in FILES
        )
        labels = json.loads(texts.metadata("labels"))
        self._words, self._texts, self._relations = words, texts, relations
        self.tags = labels["tags"]
        self.parts = labels["parts"]
        self.relations = labels["relations"]
        # Tags and parts that go together: a word is no plural noun and verb at once.
        self._pairs = np.array(sorted(labels["pairs"]), dtype=np.int64).T
        of_pairs = [self.tags[tag] for tag in self._pairs[0]]
        self._is_noun = np.isin(of_pairs, ("NN", "NNS"))
        self._verbs = np.flatnonzero(np.isin(of_pairs, ("VBZ", "VBP")))
        self._known: LRUCache[str, FloatArray] = LRUCache(_KNOWN_WORDS)

    def tag_words(
        self, words: Sequence[str], texts: Sequence[int] = ()
    ) -> Tagged:
        """Return all scores of the network for words.

        Args:
            words: Of one text, or of several, which is faster than one at a time.
            texts: Beginning of each of several texts, and the end.
        """
        if not words:
            nothing = np.zeros(0, dtype=np.int64)
            return Tagged(
                bounds=[0],
                tags=[],
                parts=[],
                heads=nothing,
                relations=[],
                near_verbs=nothing,
                margins=np.zeros((0, 3)),
            )
        # An empty text begins where the next one does.
        texts = sorted({*texts, 0, len(words)})
        logits, dependents, heads, related = self._run_texts(
            self._vectors(words), texts
        )
        # A text begins a sentence, whatever the network says.
        logits[texts[:-1], -2] = np.inf
        tags, parts = self._pairs
        likely = logits[:, tags] + logits[:, len(self.tags) + parts]
        # Column by column: tag, head, relation; certainty.py reads them in this order.
        margins = np.empty((len(words), 3))
        best = likely.argmax(axis=1)
        nouns = np.flatnonzero(self._is_noun[best])
        verbs = (
            likely[nouns][:, self._verbs].max(axis=1)
            >= likely[nouns, best[nouns]] - _NEARLY
        )
        margins[:, 0] = _margins(likely, best)
        bounds = sentence_bounds(logits[:, -2])
        governors, margins[:, 1] = _trees(
            dependents, heads, logits[:, -1], bounds
        )
        relations, margins[:, 2] = self._label(related, governors)
        return Tagged(
            bounds=bounds,
            tags=[self.tags[i] for i in tags[best]],
            parts=[self.parts[i] for i in parts[best]],
            heads=governors,
            relations=[self.relations[i] for i in relations.tolist()],
            near_verbs=nouns[verbs],
            margins=margins,
        )

    def _vectors(self, words: Sequence[str]) -> FloatArray:
        """Vectors of words without context, (n, ``WIDTH``)."""
        cached = (
            (word, self._known.get(word)) for word in dict.fromkeys(words)
        )
        vectors = {
            word: vector for word, vector in cached if vector is not None
        }
        if new := [
            word for word in dict.fromkeys(words) if word not in vectors
        ]:
            pieces = [piece_ids(minilm.tokenizer(), word) for word in new]
            rows = minilm.token_vectors([*chain(*pieces)])
            inputs = {
                "pieces": _means(rows, np.array([*map(len, pieces)])),
                "suffixes": np.array([suffix(word) for word in new]),
                "shapes": np.array([shape(word) for word in new]),
            }
            # Copies, so that one in the cache does not hold all others.
            rows = self._words(["vectors"], inputs)[0]
            vectors.update(
                (word, row.copy()) for word, row in zip(new, rows, strict=True)
            )
            self._known.update((word, vectors[word]) for word in new)
        return np.stack([vectors[word] for word in words])

    def _run_texts(
        self, vectors: FloatArray, texts: Sequence[int]
    ) -> list[FloatArray]:
        """The outputs of the graph of texts, each (n, columns)."""
        bounds = [*pairwise(texts)]
        places, rows = [], []
        for batch in batch_by_length([last - first for first, last in bounds]):
            of_batch = np.concatenate([np.arange(*bounds[i]) for i in batch])
            inputs = _lay_out([bounds[i][1] - bounds[i][0] for i in batch])
            rows.append(
                self._texts(_OUTPUTS, {"vectors": vectors[of_batch], **inputs})
            )
            places.append(of_batch)
        order = np.argsort(np.concatenate(places))
        return [
            np.concatenate(parts)[order] for parts in zip(*rows, strict=True)
        ]

    def _label(
        self, related: FloatArray, governors: Ints
    ) -> tuple[Ints, FloatArray]:
        """The relation of each word to its head, and its margins."""
        (scores,) = self._relations(
            ["relations"], {"related": related, "governors": governors}
        )
        root = self.relations.index("root")
        scores[:, root] = -np.inf
        relations: Ints = scores.argmax(axis=1)
        margins = _margins(scores, relations)
        relations[governors == np.arange(len(governors))] = root
        return relations, margins


def _lay_out(lengths: Sequence[int]) -> dict[str, npt.NDArray[np.generic]]:
    """The inputs of the graph of texts that say where the words of texts are.

    Of a text of at most 2 ``NEAR`` words, each attends to all. Of a longer one, groups of ``NEAR``
    words attend to as many before and behind them.

    Args:
        lengths: Words of each text.
    """
    # First word and the place behind the last, of those that attend and of all.
    groups = []
    first = 0
    for n in lengths:
        last = first + n
        size = n if n <= 2 * NEAR else NEAR
        for start in range(first, last, size):
            stop = min(start + size, last)
            groups.append(
                (start, stop, max(first, start - NEAR), min(stop + NEAR, last))
            )
        first = last
    starts, stops, lows, highs = np.array(groups).T[:, :, None]
    n_queries = (stops - starts).max()
    n_before = (starts - lows).max()
    queries = starts + np.arange(n_queries)
    keys = starts + np.arange(-n_before, (highs - starts).max())
    is_query = queries < stops
    is_key = (keys >= lows) & (keys < highs)
    ends = np.cumsum(lengths)
    before = np.arange(first) - 1
    after = np.arange(first) + 1
    before[[0, *ends[:-1]]] = after[ends - 1] = first
    return {
        "before": before,
        "after": after,
        "queries": np.where(is_query, queries, 0),
        "keys": np.where(is_key, keys, 0),
        "added": np.where(is_key, np.float32(0), np.float32(-np.inf))[
            :, None, None
        ],
        "kept": np.flatnonzero(is_query),
        "corner": np.array([0, NEAR - n_before]),
        "end": np.array([n_queries, NEAR - n_before + keys.shape[1]]),
    }


def _trees(
    dependents: FloatArray,
    heads: FloatArray,
    roots: FloatArray,
    bounds: Sequence[int],
) -> tuple[Ints, FloatArray]:
    """The head of each word in the best tree of its sentence, and its margins."""
    dependents = on_grid(dependents, _PLACES)
    heads = on_grid(heads, _PLACES)
    governors = np.empty(len(heads), dtype=np.int64)
    margins = np.empty(len(heads))
    for start, stop in pairwise(bounds):
        scores = dependents[start:stop] @ heads[start:stop].T
        scores.flat[:: stop - start + 1] = roots[start:stop]
        heads_here = best_tree(scores)
        governors[start:stop] = heads_here + start
        margins[start:stop] = _margins(scores, heads_here)
    return governors, margins


def _means(rows: FloatArray, sizes: Ints) -> FloatArray:
    """The mean of the first rows, as many as the first size says, of the rows after, and so on."""
    starts = sizes.cumsum() - sizes
    sums: FloatArray = rows[starts]
    # One after the other, as sums of floats have an order.
    for place in range(1, sizes.max()):
        longer = np.flatnonzero(sizes > place)
        sums[longer] += rows[starts[longer] + place]
    sums /= sizes[:, None].astype(np.float32)
    return sums


def _margins(scores: FloatArray, chosen: Ints) -> FloatArray:
    """Return the score of each row's chosen column minus the best other one, (n,)."""
    rivals = scores.astype(np.float64).ravel()
    places = np.arange(0, scores.size, scores.shape[1]) + chosen
    chosen_scores = rivals[places]
    rivals[places] = -np.inf
    margins: FloatArray = chosen_scores - rivals.reshape(scores.shape).max(
        axis=1
    )
    return margins


def sentence_bounds(starts: FloatArray) -> list[int]:
    """Return the places where sentences begin, and the end of the text.

    A sentence begins at the first word and at each word with a positive logit.

    A sentence of more than ``_SENTENCE`` words is cut at its likeliest place.
    """
    places = np.flatnonzero(starts[1:] > 0) + 1
    waiting = [len(starts), *places[::-1].tolist()]
    bounds = [0]
    while waiting:
        stop = waiting[-1]
        if stop - bounds[-1] > _SENTENCE:
            waiting.append(
                bounds[-1] + 1 + int(starts[bounds[-1] + 1 : stop].argmax())
            )
        else:
            bounds.append(waiting.pop())
    return bounds


Floats = npt.NDArray[np.float32] | npt.NDArray[np.float64]


def best_tree(scores: Floats) -> Ints:
    """The heads of the tree with the greatest sum of scores and exactly one root.

    Args:
        scores: (n, n), finite; of each word (row) to each word as its head, and on the diagonal of
            the word as root.

    Returns:
        (n,) the head of each word, its own place for the root.
    """
    n = len(scores)
    links = scores.astype(np.float64)
    roots = links.diagonal().copy()
    links.flat[:: n + 1] = -np.inf
    heads: Ints = links.argmax(axis=1)
    best_scores = links.max(axis=1)
    # No tree under a root is better than the root with the best heads of all others.
    root = int((roots - best_scores).argmax())
    heads[root] = root
    if _cycle(heads, root) is None:
        return heads
    # One node more, the place above all: a word with it for head is a root.
    arcs = np.full((n + 1, n + 1), -np.inf)
    arcs[:n, :n] = links
    arcs[:n, n] = roots
    heads = _arborescence(arcs, n)[:n]
    # Seldom; now a second costs more than all heads can gain.
    if np.count_nonzero(heads == n) > 1:
        arcs[:n, n] -= 1.0 + n * float(np.ptp(scores))
        heads = _arborescence(arcs, n)[:n]
    return np.where(heads == n, np.arange(n), heads)


def _arborescence(arcs: npt.NDArray[np.float64], root: int) -> Ints:
    """Heads of the best tree under a root; row: dependent, column: head."""
    heads: Ints = arcs.argmax(axis=1)
    heads[root] = root
    cycle = _cycle(heads, root)
    if cycle is None:
        return heads
    outside = np.delete(np.arange(len(arcs)), cycle)
    # The cycle becomes the last node: entered where that costs least, left from its best word.
    entering = arcs[cycle][:, outside] - arcs[cycle, heads[cycle]][:, None]
    leaving = arcs[outside][:, cycle]
    m = len(outside)
    smaller = np.full((m + 1, m + 1), -np.inf)
    smaller[:m, :m] = arcs[outside][:, outside]
    smaller[m, :m] = entering.max(axis=0)
    smaller[:m, m] = leaving.max(axis=1)
    smaller_heads = _arborescence(smaller, int(np.searchsorted(outside, root)))
    for node, head, leaving_scores in zip(
        outside.tolist(), smaller_heads.tolist(), leaving, strict=False
    ):
        heads[node] = (
            outside[head] if head < m else cycle[leaving_scores.argmax()]
        )
    heads[root] = root
    heads[cycle[entering[:, smaller_heads[m]].argmax()]] = outside[
        smaller_heads[m]
    ]
    return heads


def _cycle(heads: Ints, root: int) -> list[int] | None:
    """Return the nodes of a cycle, sorted, or None; the root, its own head, does not count."""
    above = heads.tolist()
    visited = {root}
    for node in range(len(above)):
        path: list[int] = []
        while node not in visited:
            visited.add(node)
            path.append(node)
            node = above[node]
        if node in path:
            return sorted(path[path.index(node) :])
    return None
