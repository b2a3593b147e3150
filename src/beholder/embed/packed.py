"""Matrices of weights with few bits a number, as built-in models store them.

A number is ``scale * (code - 2**(bits - 1))``; each ``GROUP`` numbers of a row share a scale. Codes
are stored as planes of bits, the lowest first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray

GROUP = 64


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """A matrix (n, m) in few bits.

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
    flat = codes.reshape(n, m)
    planes = [np.packbits((flat >> bit) & 1, axis=1) for bit in range(bits)]
    return Packed(np.stack(planes, axis=1), scales.reshape(n, m // GROUP))


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
