"""Products of matrices of whole numbers: the same to the bit with any library, on any processor.

Weights have 7 bits with their sign, activations 8. No sum leaves the 24 bits in which a float32
counts without rounding, so that the order of a BLAS does not matter; and no sum of two products
leaves 16 bits, which the kernels of processors without instructions for it need. All else is
arithmetic that IEEE 754 fixes to the bit. With onnxruntime (extra ``fast``) the same numbers come
several times sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors import safe_open

from beholder.embed import onnx
from beholder.embed.base import FloatArray

WEIGHT, SIGNED, UNSIGNED = 63, 127, 255
"""The largest whole numbers: of weights, and of activations with a sign and without one."""
ARITHMETIC = "a8w7"
"""Activations and weights, and their bits."""
TILE = 64
"""Rows that fit the processor's cache."""
EXACT = 2**24
"""From here on a float32 does not count every whole number."""
_LEAST = np.float32(1e-30)
_ZERO = 128
"""What an activation with a sign has added to it for onnxruntime, whose kernels want none."""


Codes: TypeAlias = npt.NDArray[np.int8]
Multiply: TypeAlias = Callable[[FloatArray], FloatArray]
MakeLinear: TypeAlias = Callable[[str, FloatArray, FloatArray, float], Multiply]
"""Gets a name, and ``weight``, ``bias`` and ``raised`` of ``WholeLinear``."""


class WholeLinear:
    """A matrix and a shift, whose products are of whole numbers.

    The weights of an output share a step, and so do the activations of a row. First, each input is
    multiplied, and its weights divided, by a number that makes both lose equally little.

    Args:
        weight: (in, out).
        bias: (out,).
        inputs: (in,), what inputs are multiplied by; None for nothing.
        raised: What has been added to all numbers of the rows, so that none is below 0; 0 if they
            have signs.

    Raises:
        ValueError: There are so many weights that sums would be rounded.
    """

    def __init__(
        self,
        weight: FloatArray,
        bias: FloatArray,
        inputs: FloatArray | None = None,
        raised: float = 0.0,
    ) -> None:
        if inputs is not None:
            weight = weight / inputs[:, None]
        steps = np.maximum(np.abs(weight).max(axis=0) / np.float32(WEIGHT), _LEAST)
        codes = np.ascontiguousarray(np.rint(weight / steps).astype(np.int8))
        most = int(np.abs(codes).sum(axis=0, dtype=np.int32).max())
        if most * UNSIGNED >= EXACT:
            raise ValueError(f"sums of weights up to {most}: a float32 would round their products")
        if raised:
            # Rows are added from first to last: the sums of a BLAS have an order of their own.
            factors = np.ones(len(codes)) if inputs is None else inputs.astype(np.float64)
            sums = (codes * factors[:, None]).sum(axis=0)
            bias = (bias - raised * sums * steps).astype(np.float32)
        self._n_out = len(bias)
        self._zeros = np.full(TILE, 0 if raised else _ZERO, np.uint8)
        self._multiply = _product(codes, steps, bias, inputs, signed=not raised)

    def __call__(self, rows: FloatArray) -> FloatArray:
        """(n, in) to (n, out), each row by itself."""
        if len(rows) <= TILE:  # so many stay in the processor's cache
            found: FloatArray = self._multiply(rows, self._zeros[: len(rows)])
            return found
        found = np.empty((len(rows), self._n_out), dtype=np.float32)
        for start in range(0, len(rows), TILE):
            found[start : start + TILE] = self(rows[start : start + TILE])
        return found


def factors(path: Path) -> dict[str, FloatArray]:
    """What the inputs of products are multiplied by, by name: ``training/inputs.py`` writes it.

    Args:
        path: A file of quarters of exponents of 2, which every processor reads alike.
    """
    roots = np.sqrt(np.sqrt(np.array([1, 2, 4, 8], dtype=np.float32)))
    with safe_open(str(path), framework="np") as file:
        stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    return {name: np.ldexp(roots[row & 3], row >> 2) for name, row in stored.items()}


def make_linear(path: Path) -> MakeLinear:
    """Makes products with the ``factors`` of a file."""
    found = factors(path)
    return lambda name, weight, bias, raised: WholeLinear(weight, bias, found[name], raised)


def _product(
    codes: Codes,
    steps: FloatArray,
    bias: FloatArray,
    inputs: FloatArray | None,
    *,
    signed: bool,
) -> onnx.Run:
    """Multiplies rows by a matrix of whole numbers.

    Args:
        codes: (in, out), the matrix.
        steps: (out,), what its numbers are multiples of.
        bias: (out,), added to the products.
        inputs: (in,), what rows are multiplied by first, if by anything.
        signed: Whether numbers of rows may be below 0.
    """
    graph = onnx.Graph(given=("float32", "n", len(codes)), zeros=("uint8", "n"))
    rows = "given" if inputs is None else graph("Mul", "given", inputs)
    sizes = graph("Abs", rows) if signed else rows
    largest = graph("Max", graph("ReduceMax", sizes, [1], keepdims=0), _LEAST)
    step = graph("Div", largest, np.float32(SIGNED if signed else UNSIGNED))
    whole = graph("QuantizeLinear", rows, step, "zeros", axis=0)
    zero = np.uint8(_ZERO if signed else 0)
    found = graph("MatMulIntegerToFloat", whole, codes, np.float32(1), steps, zero)
    found = graph("Mul", found, graph("Unsqueeze", step, [1]))
    return graph.session(graph("Add", found, bias))
