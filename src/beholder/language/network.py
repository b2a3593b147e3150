"""The network of the built-in parser, in numpy.

A word is the mean of the vectors of its pieces in ``beholder.embed.minilm``, with a vector for its
last letters and one for its shape. Three blocks follow, each a convolution over three words and
attention to some hundred words around; then, from each word's vector, its tags, whether a sentence
starts there, and scores of all words of the sentence as its head (Dozat and Manning 2017,
arXiv:1611.01734). Of those scores the best tree is taken.

Tags and heads are decisions, which must not depend on the processor: every product is exact (see
``beholder.embed.whole``), and all else is arithmetic that IEEE 754 fixes to the bit.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache
from safetensors import safe_open
from tokenizers import Tokenizer

from beholder.embed import minilm
from beholder.embed.attention import SHARED, STEPS, attend, scales
from beholder.embed.base import FloatArray
from beholder.embed.exact import on_grid
from beholder.embed.minilm import Norm
from beholder.embed.whole import MakeLinear, Multiply, make_linear

INPUTS = Path(__file__).with_name("english_inputs.safetensors")
"""See ``whole.factors``."""
WIDTH = 192
N_BLOCKS = 3
N_HEADS = 4
FAR = 24
"""Distances beyond this many words count as this."""
N_SHAPES = 16
SUFFIXES = 2048
MAX_PIECES = 12
"""Pieces of a word that are read."""
_NEAR = 64
"""Words whose attention is computed together; they see as many before and behind them."""
_SENTENCE = 512
"""Longest sentence in words: the scores of heads grow with its square."""
_KNOWN_WORDS = 20_000
_EPSILON = 1e-5
_PLACES = 16
"""Binary places of what the scores of heads are products of; their sums are exact in float64."""
_NEARLY = 5.0
"""By how much a noun is at most likelier than a verb to be one nearly, in logits: of the 20 such
nouns of 3,058 in descriptions of photographs, 16 are verbs."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Tagged:
    """What the network says of words.

    Attributes:
        bounds: Where sentences begin, and the end.
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
    """What the letters of a word look like, 1 to 10."""
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
    found: list[int] = tokenizer.encode(word, add_special_tokens=False).ids[:MAX_PIECES]
    return found or tokenizer.encode("[UNK]", add_special_tokens=False).ids


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    near_norm: Norm
    near: Multiply
    wide_norm: Norm
    qkv: Multiply
    attended: Multiply
    distances: FloatArray  # (heads, 2 * _NEAR, 3 * _NEAR): from a word to each that it sees

    def __call__(self, x: FloatArray, texts: Sequence[int] = ()) -> FloatArray:
        n = len(x)
        triples = np.zeros((n, 3, WIDTH), dtype=np.float32)
        triples[:, 1] = own = self.near_norm(x)
        triples[1:, 0], triples[:-1, 2] = own[:-1], own[1:]
        for place in texts[1:-1]:
            triples[place - 1, 2] = triples[place, 0] = 0
        pairs = self.near(triples.reshape(n, -1))
        x = x + np.maximum(pairs[:, :WIDTH], pairs[:, WIDTH:])
        qkv = self.qkv(self.wide_norm(x))[None]
        mixed = np.empty_like(x)
        for first, last in pairwise(texts or (0, n)):
            size = _NEAR if last - first > 2 * _NEAR else last - first
            for start in range(first, last, size):
                stop = min(start + size, last)
                low, high = max(first, start - _NEAR), min(stop + _NEAR, last)
                skipped = _NEAR - (start - low)
                far = self.distances[:, : stop - start, skipped : skipped + high - low]
                asked = start - low, stop - low
                mixed[start:stop] = attend(qkv[:, low:high], N_HEADS, asked, far[None])[0]
        return x + self.attended(mixed)


class Network:
    """The weights of a file, ready to read texts.

    Args:
        path: A file as ``training.english`` writes it.
        make: Makes products; None for those of whole numbers.
    """

    def __init__(self, path: Path, make: MakeLinear | None = None) -> None:
        make = make or make_linear(INPUTS)
        with safe_open(str(path), framework="np") as file:
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            labels = json.loads(file.metadata()["labels"])

        matrix = partial(minilm.unpacked, stored.__getitem__)

        def linear(*names: str, given: float = 1, made: FloatArray | float = 1) -> Multiply:
            """A product whose inputs are in steps of ``given`` and outputs times ``made``."""
            weight = np.concatenate([matrix(name) for name in names]).T * np.float32(given)
            bias = np.concatenate([stored[f"{name}.bias"] for name in names])
            return make(names[0], weight * made, bias * made, 0)

        def norm(name: str) -> Norm:
            return Norm(stored[f"{name}.weight"], stored[f"{name}.bias"], _EPSILON)

        self.tags, self.parts, self.relations = labels["tags"], labels["parts"], labels["relations"]
        # Tags and parts that go together: a word is no plural noun and verb at once.
        self._pairs = np.array(sorted(labels["pairs"]), dtype=np.int64).T
        of_pairs = [self.tags[tag] for tag in self._pairs[0]]
        self._is_noun = np.isin(of_pairs, ("NN", "NNS"))
        self._verbs = np.flatnonzero(np.isin(of_pairs, ("VBZ", "VBP")))
        self._tokenizer, self._pieces = minilm.pieces()
        self._known: LRUCache[str, FloatArray] = LRUCache(_KNOWN_WORDS)
        self._embed = linear("embed")
        self._suffixes, self._shapes = matrix("suffixes"), matrix("shapes")
        self._norm, self._last = norm("norm"), norm("last")
        self._blocks = tuple(
            _Block(
                near_norm=norm(f"{i}.near_norm"),
                near=linear(f"{i}.near"),
                wide_norm=norm(f"{i}.wide_norm"),
                qkv=linear(f"{i}.qkv", made=scales(WIDTH)),
                attended=linear(f"{i}.attended", given=SHARED),
                distances=_by_place(stored[f"{i}.distances"]),
            )
            for i in range(N_BLOCKS)
        )
        self._tag = linear("tags", "parts", "starts", "roots")
        self._to_arc = linear("arc_dependent", "arc_head")
        self._arc = linear("arc")
        self._to_relation = linear("relation_dependent", "relation_head")
        self._relation = linear("relations")

    def read(self, words: Sequence[str], texts: Sequence[int] = ()) -> Tagged:
        """Everything that the network says of words.

        Args:
            words: Of one text, or of several, which is faster than one at a time.
            texts: Where each of several texts begins, and the end; none is empty.
        """
        if not words:
            nothing = np.zeros(0, dtype=np.int64)
            return Tagged([0], [], [], nothing, [], nothing, np.zeros((0, 3)))
        x = self._vectors(words)
        for block in self._blocks:
            x = block(x, texts)
        x = self._last(x)
        told = self._tag(x)
        told[[*texts[:-1]], -2] = np.inf
        tags, parts = self._pairs
        likely = told[:, tags] + told[:, len(self.tags) + parts]
        margins = np.empty((len(words), 3))
        best = likely.argmax(axis=1)
        nouns = np.flatnonzero(self._is_noun[best])
        verbs = likely[nouns][:, self._verbs].max(axis=1) >= likely[nouns, best[nouns]] - _NEARLY
        margins[:, 0] = _margins(likely, best)
        bounds = sentence_bounds(told[:, -2])
        heads, margins[:, 1] = self._heads(x, told[:, -1], bounds)
        relations, margins[:, 2] = self._relations(x, heads)
        named = [self.tags[i] for i in tags[best]], [self.parts[i] for i in parts[best]]
        names = [self.relations[i] for i in relations.tolist()]
        return Tagged(bounds, *named, heads, names, nouns[verbs], margins)

    def _vectors(self, words: Sequence[str]) -> FloatArray:
        """What the first block gets of words."""
        kept = ((word, self._known.get(word)) for word in dict.fromkeys(words))
        known = {word: vector for word, vector in kept if vector is not None}
        if new := [word for word in dict.fromkeys(words) if word not in known]:
            pieces = [piece_ids(self._tokenizer, word) for word in new]
            rows = self._pieces.rows(np.array([*chain(*pieces)], dtype=np.int64))
            made = self._embed(_means(rows, np.array([*map(len, pieces)])))
            made += self._suffixes[[suffix(word) for word in new]]
            made += self._shapes[[shape(word) for word in new]]
            # Copies, so that one that is kept does not keep all others.
            made = self._norm(made)
            known.update((word, row.copy()) for word, row in zip(new, made, strict=True))
            self._known.update((word, known[word]) for word in new)
        return np.concatenate([known[word] for word in words]).reshape(len(words), WIDTH)

    def _heads(
        self, x: FloatArray, roots: FloatArray, bounds: Sequence[int]
    ) -> tuple[Ints, FloatArray]:
        arcs = np.maximum(self._to_arc(x), 0)
        dependents = on_grid(self._arc(arcs[:, :WIDTH]), _PLACES)
        heads = on_grid(arcs[:, WIDTH:], _PLACES)
        found, margins = np.empty(len(x), dtype=np.int64), np.empty(len(x))
        for start, stop in pairwise(bounds):
            scores = dependents[start:stop] @ heads[start:stop].T
            scores.flat[:: stop - start + 1] = roots[start:stop]
            heads_here = best_tree(scores)
            found[start:stop] = heads_here + start
            margins[start:stop] = _margins(scores, heads_here)
        return found, margins

    def _relations(self, x: FloatArray, heads: Ints) -> tuple[Ints, FloatArray]:
        both = self._to_relation(x)
        scores = self._relation(np.maximum(both[:, :WIDTH] + both[heads, WIDTH:], 0))
        root = self.relations.index("root")
        scores[:, root] = -np.inf
        found: Ints = scores.argmax(axis=1)
        margins = _margins(scores, found)
        found[heads == np.arange(len(heads))] = root
        return found, margins


def _means(rows: FloatArray, sizes: Ints) -> FloatArray:
    """The mean of the first rows, as many as the first size says, of the rows after, and so on."""
    starts = sizes.cumsum() - sizes
    found: FloatArray = rows[starts]
    for place in range(1, sizes.max()):  # one after the other, as sums of floats have an order
        longer = np.flatnonzero(sizes > place)
        found[longer] += rows[starts[longer] + place]
    found /= sizes[:, None].astype(np.float32)
    return found


def _margins(scores: FloatArray, chosen: Ints) -> FloatArray:
    """How far the chosen column of each row is above the best other one."""
    others = scores.astype(np.float64).ravel()
    places = np.arange(0, scores.size, scores.shape[1]) + chosen
    taken = others[places]
    others[places] = -np.inf
    margins: FloatArray = taken - others.reshape(scores.shape).max(axis=1)
    return margins


def sentence_bounds(starts: FloatArray) -> list[int]:
    """Where sentences begin, and the end: places whose logit is positive, and the first.

    A sentence of more than ``_SENTENCE`` words is cut at its likeliest place.
    """
    places = np.flatnonzero(starts[1:] > 0) + 1
    waiting, bounds = [len(starts), *places[::-1].tolist()], [0]
    while waiting:
        stop = waiting[-1]
        if stop - bounds[-1] > _SENTENCE:
            waiting.append(bounds[-1] + 1 + int(starts[bounds[-1] + 1 : stop].argmax()))
        else:
            bounds.append(waiting.pop())
    return bounds


def _by_place(distances: FloatArray) -> FloatArray:
    """Scores by distance (heads, 2 * FAR + 1) as ``_Block.distances``, in steps."""
    far = np.arange(3 * _NEAR) - _NEAR - np.arange(2 * _NEAR)[:, None]
    places = np.clip(far, -FAR, FAR) + FAR
    found: FloatArray = distances[:, places].astype(np.float32) * np.float32(STEPS)
    return found


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
    most = links.max(axis=1)
    # No tree under a root is better than the root with the best heads of all others.
    root = int((roots - most).argmax())
    heads[root] = root
    if _cycle(heads, root) is None:
        return heads
    # One node more, the place above all: a word with it for head is a root.
    arcs = np.full((n + 1, n + 1), -np.inf)
    arcs[:n, :n] = links
    arcs[:n, n] = roots
    heads = _arborescence(arcs, n)[:n]
    if np.count_nonzero(heads == n) > 1:  # seldom; now a second costs more than all heads can gain
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
    found = _arborescence(smaller, int(np.searchsorted(outside, root)))
    for node, head, own in zip(outside.tolist(), found.tolist(), leaving, strict=False):
        heads[node] = outside[head] if head < m else cycle[own.argmax()]
    heads[root] = root
    heads[cycle[entering[:, found[m]].argmax()]] = outside[found[m]]
    return heads


def _cycle(heads: Ints, root: int) -> list[int] | None:
    """The nodes of some cycle, in order; the root, its own head, is none."""
    above, seen = heads.tolist(), {root}
    for node in range(len(above)):
        path: list[int] = []
        while node not in seen:
            seen.add(node)
            path.append(node)
            node = above[node]
        if node in path:
            return sorted(path[path.index(node) :])
    return None
