"""The built-in encoder of words in context: all-MiniLM-L6-v2 with few bits a weight.

The arithmetic is that of BERT in whole numbers, with tables for its curves (``training/graphs.py``
writes it as a graph). So a text has the same vectors, to the bit, whatever it is encoded with.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from beholder.embed.base import Embedder, FloatArray
from beholder.embed.sessions import GraphSession, batch_by_length, lay_out

FOLDER = Path(__file__).parent / "minilm_model"
N_LAYERS = 6
WIDTH = 384
"""Numbers of a vector."""
WINDOW = 254
"""Tokens of a text, without the markers of its ends, that the model reads at once."""
_OVERLAP = 64
_TOKENS = GraphSession(FOLDER / "tokens.onnx")
_ENCODER = GraphSession(FOLDER / "encoder.onnx")


@cache
def tokenizer() -> Tokenizer:
    """Return the tokenizer of the encoder, the entailment model and the parser."""
    return Tokenizer.from_file(str(FOLDER / "minilm_tokenizer.json"))


def read_tokens(text: str) -> Encoding:
    """Return the tokens of a text with those that mark its ends, however long it is."""
    # One text at a time: the batch call of tokenizers starts threads, which the worker processes of
    # a run do not need, and which forbid forking.
    return tokenizer().encode(text)


def token_vectors(ids: Sequence[int] | npt.NDArray[np.int64]) -> FloatArray:
    """Return vectors of tokens without context, (tokens, D)."""
    return _TOKENS(["vectors"], {"ids": np.asarray(ids, dtype=np.int64)})[0]


def layer_inputs(
    texts: Sequence[Sequence[int]],
) -> dict[str, npt.NDArray[Any]]:
    """Return the inputs of the graphs of ``training/encoders.py`` for texts of at most a window."""
    vectors = token_vectors(np.concatenate(texts))
    return {"vectors": vectors, **lay_out([len(ids) for ids in texts])}


def token_states(
    texts: Sequence[Sequence[int]],
    layer: int = N_LAYERS,
) -> list[FloatArray]:
    """Return vectors of the tokens of texts, as they leave a layer.

    A text of more than ``WINDOW`` tokens is read in windows of that length which overlap; where two
    overlap, each gives the half that is nearer to its middle.

    Args:
        texts: Token ids of each text, with the markers of both ends.
        layer: From 0, what the first layer gets, to ``N_LAYERS``.

    Returns:
        For each text an array (tokens, D), float32.
    """
    # Windows of all texts go through the graph in batches of like length, and
    # are joined after.
    windows = [window for ids in texts for window in _windows(ids)]
    lengths = [len(window) for window in windows]
    states = [np.empty(0, dtype=np.float32)] * len(windows)
    for batch in batch_by_length(lengths):
        (rows,) = _ENCODER(
            [f"state {layer}"], layer_inputs([windows[i] for i in batch])
        )
        ends = np.cumsum([lengths[i] for i in batch])
        for i, part in zip(batch, np.split(rows, ends[:-1]), strict=True):
            states[i] = part
    remaining = iter(states)
    return [
        _join_windows(
            [*islice(remaining, len(_starts(len(ids) - 2)))], len(ids)
        )
        for ids in texts
    ]


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
        """Name in signatures; see ``registry.versioned_identity``."""
        return "minilm"

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        """Return vectors of length one of texts; see ``Embedder.embed``."""
        token_ids = [read_tokens(text).ids for text in texts]
        unknown = tokenizer().token_to_id("[UNK]")
        rows = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for row, ids, states in zip(
            rows,
            token_ids,
            token_states(token_ids),
            strict=True,
        ):
            # An all-unknown text would get the vector of [UNK], alike for
            # every script.
            if any(token != unknown for token in ids[1:-1]):
                total = states.sum(axis=0, dtype=np.float64)
                row[:] = total / np.sqrt((total * total).sum())
        return rows


def _starts(n: int) -> list[int]:
    """Return the starts of the windows of n tokens, spaced evenly so that each is full."""
    if n <= WINDOW:
        return [0]
    # Division rounded up: the fewest windows that overlap by at least
    # _OVERLAP.
    n_windows = -(-(n - _OVERLAP) // (WINDOW - _OVERLAP))
    return [
        round(i * (n - WINDOW) / (n_windows - 1)) for i in range(n_windows)
    ]


def _windows(ids: Sequence[int]) -> list[list[int]]:
    inner = ids[1:-1]
    starts = _starts(len(inner))
    return [
        [ids[0], *inner[start : start + WINDOW], ids[-1]] for start in starts
    ]


def _join_windows(windows: Sequence[FloatArray], n: int) -> FloatArray:
    """Join the states of one text's windows into those of its n tokens, markers included."""
    starts = _starts(n - 2)
    # Window i counts its tokens from starts[i] - 1: its own marker comes first.
    # Two windows meet in the middle of their overlap, where both have context
    # on each side.
    cuts = [
        (start + before + WINDOW) // 2 for before, start in pairwise(starts)
    ]
    bounds = [-1, *cuts, n - 1]
    parts = [
        states[low + 1 - start : high + 1 - start]
        for states, start, (low, high) in zip(
            windows,
            starts,
            pairwise(bounds),
            strict=True,
        )
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
