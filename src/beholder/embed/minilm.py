"""The built-in encoder of words in context: all-MiniLM-L6-v2 with few bits a weight.

The arithmetic is that of BERT. All products are exact (``whole``), and the curves of BERT come from
tables. So a text has the same vectors, to the bit, on every processor and whatever it is encoded
with.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors import safe_open
from tokenizers import Encoding, Tokenizer

from beholder.embed.attention import SHARED, attend, scales
from beholder.embed.base import Embedder, FloatArray
from beholder.embed.whole import ARITHMETIC, TILE, MakeLinear, Multiply, make_linear

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
        n, epsilon = rows.shape[-1], np.float32(self.epsilon)
        rows = rows - np.add.reduce(rows, axis=-1, keepdims=True) / n
        rows /= np.sqrt(np.add.reduce(rows * rows, axis=-1, keepdims=True) / n + epsilon)
        rows *= self.weight
        rows += self.bias
        return rows


FOLDER = Path(__file__).parent / "minilm_model"
INPUTS = FOLDER / "minilm_inputs.safetensors"
"""See ``whole.factors``."""
N_LAYERS = 6
WINDOW = 254
"""Tokens of a text, without the markers of its ends, that the model reads at once."""
_OVERLAP = 64
_HEADS = 12
_SCORES = 1 << 17
"""Scores of attention that fit the processor's cache."""
_NEAR = 4
"""Tokens by which texts differ at most whose attention is computed together."""
_STEPS = 512
"""Steps of a table from 0 to 1."""
_LOW, _HIGH = -8, 64
"""Where GELU is in a table: below it is 0, and no activation comes near the end."""
RAISED = 11 / 64
"""What makes GELU positive everywhere."""
_AT_ONCE = 1024
"""Tokens in memory at a time; a window more at most."""
_EPSILON = 1e-12
_LOADING = threading.Lock()


Tensors: TypeAlias = Callable[[str], FloatArray]
"""Returns a tensor by its name."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """What one layer of BERT multiplies by.

    Attributes:
        qkv: Gives queries, keys and values in the steps of ``attention``.
        attended: Gets what they make, in its steps.
        attended_norm: After attention.
        up: Gives places in the table of GELU.
        down: Gets numbers that are ``RAISED``.
        norm: At the end.
    """

    qkv: Multiply
    attended: Multiply
    attended_norm: Norm
    up: Multiply
    down: Multiply
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
        """Its name and arithmetic; see ``registry.versioned``."""
        return f"minilm-{ARITHMETIC}"

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
    lengths = [*map(len, texts)]
    asked: Sequence[int] = lengths
    for step in layers:
        qkv = step.qkv(x)
        if first and step is layers[-1]:
            starts = [0, *np.cumsum(lengths).tolist()]
            x = np.concatenate([x[s : s + n] for s, n in zip(starts, first, strict=False)])
            asked = first
        mixed, out = _attend(qkv, lengths, asked), np.empty_like(x)
        for start in range(0, len(x), TILE):  # a tile stays in the processor's cache
            tile = slice(start, start + TILE)
            rows = step.attended_norm(x[tile] + step.attended(mixed[tile]))
            out[tile] = step.norm(rows + step.down(raised_gelu(step.up(rows))))
        x = out
    return np.split(x, np.cumsum(asked)[:-1])


def _attend(qkv: FloatArray, lengths: Sequence[int], asked: Sequence[int]) -> FloatArray:
    """Attention in each text of its first tokens to all: (all tokens, 3 D) to (asked tokens, D)."""
    found = np.empty((sum(asked), qkv.shape[1] // 3), dtype=np.float32)
    read = written = first = 0
    while first < len(lengths):
        last, longest = first + 1, lengths[first]
        for n in lengths[last:]:  # texts of about one length go together
            longest = max(longest, n)
            far = abs(n - lengths[first]) > _NEAR
            if far or (last + 1 - first) * _HEADS * longest**2 > _SCORES:
                break
            last += 1
        own, wanted = lengths[first:last], asked[first:last]
        stop = read + sum(own)
        mixed = _attend_together(qkv[read:stop], own, max(wanted))
        for rows, n in zip(mixed, wanted, strict=True):
            found[written : written + n] = rows[:n]
            written += n
        read, first = stop, last
    return found


def _attend_together(qkv: FloatArray, lengths: Sequence[int], n_asked: int) -> FloatArray:
    """Texts laid end to end, (tokens, 3 D), to (texts, asked, D)."""
    n_texts, longest, width, added = len(lengths), max(lengths), qkv.shape[1], None
    if n_texts * longest > len(qkv):  # shorter ones get zeros behind
        padded = np.zeros((n_texts, longest, width), dtype=np.float32)
        added = np.zeros((n_texts, 1, 1, longest), dtype=np.float32)
        start = 0
        for i, n in enumerate(lengths):
            padded[i, :n] = qkv[start : start + n]
            added[i, :, :, n:] = -np.inf
            start += n
    else:
        padded = qkv.reshape(n_texts, longest, width)
    scale = (width // 3 // _HEADS) ** -0.5
    return attend(padded, _HEADS, (0, n_asked), added, scale)


def raised_gelu(places: FloatArray) -> FloatArray:
    """Product of a number and its normal distribution function, plus ``RAISED``.

    Args:
        places: Numbers as ``places_of`` gives them.
    """
    return _gelu().take(places.astype(np.int32), mode="clip")


def places_of(numbers: FloatArray) -> FloatArray:
    """Places in the table of GELU: their whole parts count."""
    return numbers * np.float32(_STEPS) + np.float32(0.5 - _LOW * _STEPS)


@cache
def _gelu() -> FloatArray:
    steps = range(_LOW * _STEPS, _HIGH * _STEPS)
    values = [x / _STEPS * 0.5 * math.erfc(-x / _STEPS * 0.5**0.5) + RAISED for x in steps]
    return np.array(values, dtype=np.float32)


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
        return layers(file, INPUTS)


def layers(file: Any, inputs: Path) -> tuple[Layer, ...]:
    """The layers of an open file of ``safetensors``, whose matrices are packed.

    Args:
        file: The file.
        inputs: Its ``whole.factors``.
    """
    stored, linear = file.get_tensor, make_linear(inputs)
    n_layers = sum(name.endswith(".qkv.bias") for name in file.keys())  # noqa: SIM118
    return tuple(layer(i, partial(unpacked, stored), stored, linear) for i in range(n_layers))


def unpacked(stored: Callable[[str], Any], name: str) -> FloatArray:
    """A matrix (out, in) that is stored packed, by its name without ``.planes``."""
    return Packed(stored(f"{name}.planes"), stored(f"{name}.scales")).rows(slice(None))


def layer(i: int, matrix: Tensors, stored: Tensors, linear: MakeLinear) -> Layer:
    """A layer whose matrices give numbers in the steps of what follows.

    Args:
        i: Its number.
        matrix: Returns a matrix (out, in).
        stored: Returns the other tensors.
        linear: Makes a product.
    """
    steps = scales(len(stored(f"{i}.norm.bias")))

    def weight(name: str) -> FloatArray:
        return matrix(f"{i}.{name}").T

    def bias(name: str) -> FloatArray:
        return stored(f"{i}.{name}.bias")

    def norm(name: str) -> Norm:
        return Norm(stored(f"{i}.{name}.weight"), bias(name), _EPSILON)

    shares = weight("attended") * np.float32(SHARED)
    places = places_of(bias("up"))
    return Layer(
        qkv=linear(f"{i}.qkv", weight("qkv") * steps, bias("qkv") * steps, 0),
        attended=linear(f"{i}.attended", shares, bias("attended"), 0),
        attended_norm=norm("attended_norm"),
        up=linear(f"{i}.up", weight("up") * np.float32(_STEPS), places, 0),
        down=linear(f"{i}.down", weight("down"), bias("down"), RAISED),
        norm=norm("norm"),
    )
