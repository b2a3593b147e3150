"""Weights rounded to few bits a number: each group of a row shares a scale."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray

GROUP = 64
"""Numbers of a row that share a scale."""
Codes = npt.NDArray[np.int8]


def fit_codes(matrix: FloatArray, bits: int) -> tuple[Codes, FloatArray]:
    """Round a matrix to few bits, with the scale of each group that errs least in squares.

    Args:
        matrix: (n, m), m a multiple of ``GROUP``.
        bits: Bits a number, 2..8.

    Returns:
        Codes (n, m), and scales (n, m / GROUP), float16.
    """
    n, m = matrix.shape
    groups = matrix.reshape(n * m // GROUP, GROUP).astype(np.float32)
    half = 2 ** (bits - 1)
    extreme = np.take_along_axis(
        groups, np.abs(groups).argmax(axis=1)[:, None], axis=1
    )
    least = np.full((len(groups), 1), np.inf, dtype=np.float32)
    scales = np.zeros((len(groups), 1), dtype=np.float16)
    codes = np.zeros(groups.shape, dtype=np.int8)
    # The codes reach one step further down than up, so the extreme may stand at either end.
    for end in (-half, half - 1):
        for cut in np.linspace(0.7, 1.1, 17):
            trial = (extreme * np.float32(cut / end)).astype(np.float16)
            wide = trial.astype(np.float32)
            steps = np.divide(
                groups, wide, out=np.zeros_like(groups), where=wide != 0
            )
            steps = np.clip(np.rint(steps), -half, half - 1)
            error = ((steps * wide - groups) ** 2).sum(axis=1, keepdims=True)
            better = error < least
            least = np.where(better, error, least)
            scales = np.where(better, trial, scales)
            codes = np.where(better, steps.astype(np.int8), codes)
    return codes.reshape(n, m), scales.reshape(n, m // GROUP)


def decode(codes: Codes, scales: FloatArray) -> FloatArray:
    """Return the matrix (n, m) of codes and scales, float32."""
    groups = codes.astype(np.float32).reshape(*scales.shape, GROUP)
    matrix: FloatArray = groups * scales.astype(np.float32)[..., None]
    return matrix.reshape(codes.shape)
