"""The interface of embedders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.floating]
"""A float array; text embeddings are (n, D), float32, rows of length one (or zero)."""


class Embedder(ABC):
    """Turns texts into vectors of length one.

    Attributes:
        batch_size: The most texts for one call of ``embed``.
        cheap: Whether making a vector again costs no more than reading it back. Vectors of a cheap
            embedder are not kept in the run's store, and every worker process may make its own; a
            big model or a paid endpoint is not cheap.
        english_only: Whether it knows English alone, so that other texts are refused.
    """

    batch_size: ClassVar[int] = 256
    per_process: ClassVar[bool] = False
    english_only: ClassVar[bool] = False

    @property
    @abstractmethod
    def identity(self) -> str:
        """Name with revision or hash that fixes the vectors, for signatures and store keys."""

    @abstractmethod
    async def embed(self, texts: Sequence[str]) -> FloatArray:
        """Return vectors of some texts.

        Args:
            texts: n texts, distinct, none empty.

        Returns:
            Array (n, D), float32. Each row has length 1, or is all zero when the text has nothing
            the model knows. A row does not depend on the other texts of the call: with the built-in
            embedders to the bit, with others up to rounding.
        """
