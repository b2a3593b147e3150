"""What the built-in networks share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beholder.embed.base import FloatArray


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
