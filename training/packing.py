"""Weights rounded to few bits a number, in the form that ``beholder.embed.minilm`` reads."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray
from beholder.embed.minilm import GROUP, Packed


def pack(matrix: FloatArray, bits: int) -> Packed:
    """Round a matrix to few bits, with the scale of each group that errs least in squares.

    Args:
        matrix: (n, m), m a multiple of ``GROUP``.
        bits: Bits a number, 2..8.
    """
    n, m = matrix.shape
    groups = matrix.reshape(n * m // GROUP, GROUP).astype(np.float32)
    half = 2 ** (bits - 1)
    extreme = np.take_along_axis(groups, np.abs(groups).argmax(axis=1)[:, None], axis=1)
    least = np.full((len(groups), 1), np.inf, dtype=np.float32)
    scales = np.zeros((len(groups), 1), dtype=np.float16)
    codes = np.zeros(groups.shape, dtype=np.uint8)
    # The codes reach one step further down than up, so the extreme may stand at either end.
    for end in (-half, half - 1):
        for cut in np.linspace(0.7, 1.1, 17):
            trial = (extreme * np.float32(cut / end)).astype(np.float16)
            wide = trial.astype(np.float32)
            steps = np.divide(groups, wide, out=np.zeros_like(groups), where=wide != 0)
            steps = np.clip(np.rint(steps), -half, half - 1)
            error = ((steps * wide - groups) ** 2).sum(axis=1, keepdims=True)
            better = error < least
            least = np.where(better, error, least)
            scales = np.where(better, trial, scales)
            codes = np.where(better, (steps + half).astype(np.uint8), codes)
    return _packed(codes.reshape(n, m), scales.reshape(n, m // GROUP), bits)


def pack_to(matrix: FloatArray, scales: FloatArray, bits: int) -> Packed:
    """Round a matrix to few bits with given scales.

    Args:
        matrix: (n, m), m a multiple of ``GROUP``.
        scales: (n, m / GROUP), float16.
        bits: Bits a number, 2..8.
    """
    half = 2 ** (bits - 1)
    groups = matrix.reshape(*scales.shape, GROUP).astype(np.float32)
    wide = np.where(scales == 0, 1, scales).astype(np.float32)[..., None]
    codes = np.clip(np.rint(groups / wide), -half, half - 1) + half
    return _packed(codes.astype(np.uint8).reshape(matrix.shape), scales, bits)


def _packed(codes: npt.NDArray[np.uint8], scales: FloatArray, bits: int) -> Packed:
    planes = [np.packbits((codes >> bit) & 1, axis=1) for bit in range(bits)]
    return Packed(np.stack(planes, axis=1), scales.astype(np.float16))
