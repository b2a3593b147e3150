"""The built-in encoder of words in context: all-MiniLM-L6-v2 with few bits a weight.

The arithmetic is that of BERT. All products are exact (``whole``, ``exact``), and the curves of
BERT come from tables. So a text has the same vectors, to the bit, on every processor and whatever
it is encoded with.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors import safe_open
from tokenizers import Encoding, Tokenizer

from beholder.embed.base import Embedder, FloatArray
from beholder.embed.exact import on_grid
from beholder.embed.whole import ARITHMETIC, WholeLinear

GROUP = 64


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """A matrix (n, m) with few bits a number; ``training/packing.py`` makes it.

    A number is ``scale * (code - 2**(bits - 1))``; each ``GROUP`` numbers of a row share a scale.
    Codes are stored as planes of bits, the lowest first.

    Attributes:
        planes: (n, bits, m / 8), uint8; bit k of the codes of a row in ``planes[row, k]``.
        scales: (n, m / GROUP), float16.
    """

    planes: npt.NDArray[np.uint8]
    scales: npt.NDArray[np.float16]

    def rows(self, which: npt.NDArray[np.integer] | slice) -> FloatArray:
        """Some rows of the matrix, (k, m), float32."""
        planes, scales = self.planes[which], self.scales[which].astype(np.float32)
        n_bits = planes.shape[1]
        codes = np.unpackbits(planes[:, 0], axis=1)
        for bit in range(1, n_bits):
            codes |= np.unpackbits(planes[:, bit], axis=1) << bit
        rows = codes.astype(np.float32).reshape(*scales.shape, GROUP)
        rows -= 2.0 ** (n_bits - 1)
        rows *= scales[..., None]
        return rows.reshape(codes.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Norm:
    """Rows brought to mean 0 and variance 1, then scaled and shifted (Ba et al. 2016).

    Attributes:
        weight, bias: (D,) scale and shift.
        epsilon: Added to the variance.
    """

    weight: FloatArray
    bias: FloatArray
    epsilon: float

    def __call__(self, rows: FloatArray) -> FloatArray:
        """(..., D) to (..., D)."""
        rows = rows - rows.mean(axis=-1, keepdims=True)
        rows /= np.sqrt((rows * rows).mean(axis=-1, keepdims=True) + np.float32(self.epsilon))
        rows *= self.weight
        rows += self.bias
        return rows


FOLDER = Path(__file__).parent / "minilm_model"
N_LAYERS = 6
WINDOW = 254
"""Tokens of a text, without the markers of its ends, that the model reads at once."""
_OVERLAP = 64
_HEADS = 12
_TILE = 64
"""Rows of an activation that fit the processor's cache."""
_SCORES = 1 << 15
"""Scores of attention that fit the processor's cache."""
_STEPS = 1024
"""Steps of a table from 0 to 1."""
_HIGH = 8
"""From here on the normal distribution function is 1 in a float32, and 0 below the negative."""
_DEEP = 16
"""Shares of attention below exp(-16) count as that."""
_PLACES, _SHARES = 12, 14
"""Binary places of what is attended to, and of its shares."""
_AT_ONCE = 1024
"""Tokens in memory at a time; a window more at most."""
_EPSILON = 1e-12
_LOADING = threading.Lock()


Linear: TypeAlias = Callable[[FloatArray], FloatArray]
"""Multiplies by a matrix and adds a shift: (n, in) to (n, out), each row by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """What one layer of BERT multiplies by."""

    qkv: Linear
    attended: Linear
    attended_norm: Norm
    up: Linear
    down: Linear
    norm: Norm


@dataclass(frozen=True, slots=True, eq=False)
class _EncoderModel:
    tokenizer: Tokenizer
    unknown: int | None
    tokens: Packed  # (tokens, D)
    places: FloatArray  # (WINDOW + 2, D)
    norm: Norm
    layers: Callable[[], tuple[Layer, ...]]
    """Unpacked on use: the entailment model needs all but these."""


def read_tokens(text: str) -> Encoding:
    """The tokens of a text with those that mark its ends, however long it is."""
    # One text at a time: the batch call of tokenizers starts threads, which the worker processes of
    # a run do not need, and which forbid forking.
    return _load().tokenizer.encode(text)


def token_states(texts: Sequence[Sequence[int]], layer: int = N_LAYERS) -> list[FloatArray]:
    """Vectors of the tokens of texts, as they leave a layer.

    A text of more than ``WINDOW`` tokens is read in windows of that length which overlap; where two
    overlap, each gives the half that is nearer to its middle.

    Args:
        texts: Token ids of each text, with the markers of both ends.
        layer: From 0, what the first layer gets, to ``N_LAYERS``.

    Returns:
        For each text an array (tokens, D), float32.
    """
    windows = [window for ids in texts for window in _windows(ids)]
    states: list[FloatArray] = []
    first = 0
    while first < len(windows):
        last, n = first + 1, len(windows[first])
        while last < len(windows) and n + len(windows[last]) <= _AT_ONCE:
            n += len(windows[last])
            last += 1
        part = windows[first:last]
        states += through(_load().layers()[:layer], part, embedded(part))
        first = last
    left = iter(states)
    return [_joined([*islice(left, len(_starts(len(ids) - 2)))], len(ids)) for ids in texts]


@cache
def identity() -> str:
    """``minilm@REVISION-ARITHMETIC``: a hash of the model's files, and how they are multiplied."""
    config = json.loads((FOLDER / "minilm.json").read_text(encoding="utf-8"))
    return f"minilm@{config['revision']}-{ARITHMETIC}"


class MiniLMEmbedder(Embedder):
    """Built-in sentence embedding in context (spec ``minilm``): no download, no torch.

    The vector of a text is the mean of the vectors of its tokens under all-MiniLM-L6-v2, scaled to
    length one. Where the original stops after 256 tokens, this one reads on. The model knows
    English; a text without any known token gets zeros. The same text gives the same bits in any
    batch. What few bits a weight cost is in ``docs/embeddings.md``.
    """

    batch_size: ClassVar[int] = 256
    per_process: ClassVar[bool] = True
    english_only: ClassVar[bool] = True

    @property
    def identity(self) -> str:
        """See ``identity``."""
        return identity()

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        """See ``Embedder.embed``."""
        read = [read_tokens(text).ids for text in texts]
        model = _load()
        rows = np.zeros((len(texts), model.places.shape[1]), dtype=np.float32)
        for row, ids, states in zip(rows, read, token_states(read), strict=True):
            if any(token != model.unknown for token in ids[1:-1]):
                total = states.sum(axis=0, dtype=np.float64)
                row[:] = total / np.sqrt((total * total).sum())
        return rows


def _starts(n: int) -> list[int]:
    """Where the windows of n tokens start: evenly, so that each is full."""
    if n <= WINDOW:
        return [0]
    n_windows = -(-(n - _OVERLAP) // (WINDOW - _OVERLAP))
    return [round(i * (n - WINDOW) / (n_windows - 1)) for i in range(n_windows)]


def _windows(ids: Sequence[int]) -> list[list[int]]:
    inner = ids[1:-1]
    starts = _starts(len(inner))
    return [[ids[0], *inner[start : start + WINDOW], ids[-1]] for start in starts]


def _joined(windows: Sequence[FloatArray], n: int) -> FloatArray:
    """The states of the n tokens of one text from those of its windows, markers included."""
    starts = _starts(n - 2)
    # Window i counts its tokens from starts[i] - 1: its own marker comes first.
    cuts = [(start + before + WINDOW) // 2 for before, start in pairwise(starts)]
    bounds = [-1, *cuts, n - 1]
    parts = [
        states[low + 1 - start : high + 1 - start]
        for states, start, (low, high) in zip(windows, starts, pairwise(bounds), strict=True)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def embedded(texts: Sequence[Sequence[int]]) -> FloatArray:
    """What the first layer gets for the tokens of texts laid end to end, (tokens, D)."""
    model = _load()
    distinct, where = np.unique(np.concatenate(texts), return_inverse=True)
    x = model.tokens.rows(distinct)[where]
    x += np.concatenate([model.places[: len(ids)] for ids in texts])
    return model.norm(x)


def through(
    layers: Sequence[Layer],
    texts: Sequence[Sequence[int]],
    x: FloatArray,
    first: Sequence[int] | None = None,
) -> list[FloatArray]:
    """The states of each text after some layers, from those of all texts laid end to end.

    Args:
        layers: The layers.
        texts: Token ids of each text.
        x: What the first layer gets, (tokens, D).
        first: Of each text, how many tokens are asked for, from the first on; None asks for all.
    """
    bounds = [0, *np.cumsum([*map(len, texts)]).tolist()]
    for step in layers:
        spans, qkv = [slice(*pair) for pair in pairwise(bounds)], step.qkv(x)
        if first and step is layers[-1]:
            x = np.concatenate([x[span][:n] for span, n in zip(spans, first, strict=True)])
            bounds = [0, *np.cumsum(first).tolist()]
        mixed = np.empty_like(x)
        for span, (start, stop) in zip(spans, pairwise(bounds), strict=True):
            mixed[start:stop] = _attend(qkv[span], stop - start)
        x = step.attended_norm(x + step.attended(mixed))
        x = step.norm(x + step.down(gelu(step.up(x))))
    return [x[start:stop] for start, stop in pairwise(bounds)]


def _attend(qkv: FloatArray, n_asked: int) -> FloatArray:
    """Attention of the first tokens of a text to all of it: (T, 3 D) to (n, D)."""
    n, width = len(qkv), qkv.shape[1] // 3
    heads = on_grid(qkv, _PLACES).reshape(n, 3, _HEADS, width // _HEADS).transpose(1, 2, 0, 3)
    mixed = np.empty((n_asked, _HEADS, width // _HEADS), dtype=np.float32)
    together = max(1, _SCORES // (n * n_asked))
    for first in range(0, _HEADS, together):
        part = slice(first, first + together)
        queries, keys, values = heads[:, part]
        scores = queries[:, :n_asked] @ keys.transpose(0, 2, 1)
        scores *= (width // _HEADS) ** -0.5
        scores -= scores.max(axis=2, keepdims=True)
        shares = _on_curve(math.exp, -_DEEP, 0, scores)
        shares /= shares.sum(axis=2, keepdims=True)
        mixed[:, part] = (on_grid(shares, _SHARES) @ values).transpose(1, 0, 2)
    return mixed.reshape(n_asked, width)


def gelu(x: FloatArray) -> FloatArray:
    """Product of a number and its normal distribution function, which is within 0.0002."""
    found = np.empty_like(x)
    for start in range(0, len(x), _TILE):  # a tile stays in the processor's cache
        rows = x[start : start + _TILE]
        shares = _on_curve(_normal, -_HIGH, _HIGH, rows)
        np.multiply(rows, shares, out=found[start : start + _TILE])
    return found


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x * 0.5**0.5)


@cache
def _table(curve: Callable[[float], float], low: int, high: int) -> FloatArray:
    """Values from low to high: the curves of libraries differ with the processor."""
    steps = range(low * _STEPS, high * _STEPS + 1)
    return np.array([curve(step / _STEPS) for step in steps], dtype=np.float32)


def _on_curve(
    curve: Callable[[float], float], low: int, high: int, x: npt.NDArray[np.floating[Any]]
) -> FloatArray:
    """What the table of a curve has at some numbers; beyond its ends, what it has there."""
    places = x * x.dtype.type(_STEPS)
    np.rint(places, out=places)
    places -= low * _STEPS
    found: FloatArray = _table(curve, low, high).take(places.astype(np.intp), mode="clip")
    return found


def _load() -> _EncoderModel:
    with _LOADING:  # threads that start together load once
        return _read()


@cache
def pieces() -> tuple[Tokenizer, Packed]:
    """The tokenizer, and the vectors of its tokens before any layer."""
    with safe_open(str(FOLDER / "minilm.safetensors"), framework="np") as file:
        tokens = Packed(file.get_tensor("tokens.planes"), file.get_tensor("tokens.scales"))
    return Tokenizer.from_file(str(FOLDER / "minilm_tokenizer.json")), tokens


@cache
def _read() -> _EncoderModel:
    tokenizer, tokens = pieces()
    with safe_open(str(FOLDER / "minilm.safetensors"), framework="np") as file:
        places, weight, bias = map(file.get_tensor, ("places", "norm.weight", "norm.bias"))
    return _EncoderModel(
        tokenizer=tokenizer,
        unknown=tokenizer.token_to_id("[UNK]"),
        tokens=tokens,
        places=places.astype(np.float32),
        norm=Norm(weight, bias, _EPSILON),
        layers=_own_layers,
    )


@cache
def _own_layers() -> tuple[Layer, ...]:
    with safe_open(str(FOLDER / "minilm.safetensors"), framework="np") as file:
        return layers(file)


def layers(file: Any) -> tuple[Layer, ...]:
    """The layers of an open file of ``safetensors``, whose matrices are packed."""
    stored = file.get_tensor

    def linear(name: str) -> Linear:
        rows = Packed(stored(f"{name}.planes"), stored(f"{name}.scales")).rows(slice(None))
        return WholeLinear(rows.T, stored(f"{name}.bias"))

    def norm(name: str) -> Norm:
        return Norm(stored(f"{name}.weight"), stored(f"{name}.bias"), _EPSILON)

    return tuple(
        Layer(
            qkv=linear(f"{i}.qkv"),
            attended=linear(f"{i}.attended"),
            attended_norm=norm(f"{i}.attended_norm"),
            up=linear(f"{i}.up"),
            down=linear(f"{i}.down"),
            norm=norm(f"{i}.norm"),
        )
        for i in range(sum(name.endswith(".qkv.bias") for name in file.keys()))  # noqa: SIM118
    )
