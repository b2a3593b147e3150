"""Products of matrices of whole numbers: the same to the bit with any library, on any processor.

Weights have 7 bits with their sign, activations 8 without. No sum leaves the 24 bits in which a
float32 counts without rounding, so that the order of a BLAS does not matter; and no sum of two
products leaves 16 bits, which the kernels of processors without instructions for it need. With
onnxruntime (extra ``fast``) the same numbers come several times sooner.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray

WEIGHT, ACTIVATION = 63, 255
"""The largest whole number of either side."""
ARITHMETIC = "u8s7"
"""Activations without a sign and weights with one, and their bits."""
_EXACT = 2**24
_LEAST = np.float32(1e-30)
_TILE = 64
_OPSET, _IR = 13, 8

Bytes: TypeAlias = npt.NDArray[np.uint8]
Product: TypeAlias = Callable[[Bytes], FloatArray | npt.NDArray[np.int32]]


class WholeLinear:
    """A matrix and a shift, whose products are of whole numbers.

    The weights of an output share a step, and so do the activations of a row. First, each input is
    multiplied, and its weights divided, by the root of their size, so that both lose equally
    little.

    Args:
        weight: (in, out).
        bias: (out,).
    """

    def __init__(self, weight: FloatArray, bias: FloatArray) -> None:
        size = np.sqrt(np.sqrt(np.square(weight).mean(axis=1)))
        self._inputs = (size / size.mean()).astype(np.float32)
        weight = weight / self._inputs[:, None]
        self._steps = np.maximum(np.abs(weight).max(axis=0) / np.float32(WEIGHT), _LEAST)
        codes = np.rint(weight / self._steps).astype(np.int8)
        most = int(np.abs(codes.astype(np.int32)).sum(axis=0).max())
        if most * ACTIVATION >= _EXACT:
            raise ValueError(f"sums of weights up to {most}: a float32 would round their products")
        self._sums = codes.sum(axis=0, dtype=np.int32).astype(np.float32)
        self._bias = bias
        self._multiply = product_with(codes)

    def __call__(self, rows: FloatArray) -> FloatArray:
        """(n, in) to (n, out), each row by itself."""
        found = np.empty((len(rows), len(self._bias)), dtype=np.float32)
        for start in range(0, len(rows), _TILE):  # a tile stays in the processor's cache
            tile, out = rows[start : start + _TILE] * self._inputs, found[start : start + _TILE]
            low = np.minimum(tile.min(axis=1, keepdims=True), np.float32(0))
            high = np.maximum(tile.max(axis=1, keepdims=True), np.float32(0))
            step = np.maximum((high - low) / np.float32(ACTIVATION), _LEAST)
            zero = np.rint(low / step)
            tile /= step
            np.rint(tile, out=tile)
            tile -= zero
            if (np.rint(high / step) - zero).max() > ACTIVATION:  # seldom, and it takes long
                np.minimum(tile, np.float32(ACTIVATION), out=tile)
            out[:] = self._multiply(tile.astype(np.uint8))
            out += zero * self._sums
            out *= step
            out *= self._steps
            out += self._bias
        return found


def product_with(codes: npt.NDArray[np.int8]) -> Product:
    """Multiplies rows of bytes (n, in) by a matrix (in, out)."""
    return with_onnxruntime(codes) if _is_installed() else with_numpy(codes)


def with_numpy(codes: npt.NDArray[np.int8]) -> Product:
    """See ``product_with``."""
    wide = codes.astype(np.float32)

    def multiply(rows: Bytes) -> FloatArray:
        found: FloatArray = rows.astype(np.float32) @ wide
        return found

    return multiply


def product_with_floats(matrix: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Multiplies float64 rows (n, in) by a matrix (in, out), both on a grid: see ``exact``.

    The library makes no difference to the bits; onnxruntime has kernels for more processors.
    """
    if not _is_installed():
        return lambda rows: rows @ matrix
    multiply: Callable[[FloatArray], FloatArray] = with_onnxruntime(matrix.astype(np.float64))
    return multiply


def with_onnxruntime(matrix: npt.NDArray[np.int8] | npt.NDArray[np.float64]) -> Any:
    """See ``product_with`` and ``product_with_floats``.

    It stays in its thread, so that workers can be forked.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    session: Any = onnxruntime.InferenceSession(
        _graph(matrix), options, providers=["CPUExecutionProvider"]
    )
    session._model_bytes = b""  # kept to begin again with other providers, of which there are none

    return lambda rows: session.run(None, {"rows": rows})[0]


@cache
def _is_installed() -> bool:
    return importlib.util.find_spec("onnxruntime") is not None


def _graph(matrix: npt.NDArray[np.int8] | npt.NDArray[np.float64]) -> bytes:
    """An ONNX model with one node, a product, in the wire form of protocol buffers.

    The numbers of the fields are those of onnx.proto (ONNX IR version 8).
    """
    n_in, n_out = matrix.shape
    uint8, int8, int32, float64 = 2, 3, 6, 11
    kind, asked, made, operator = uint8, int8, int32, b"MatMulInteger"
    if matrix.dtype == np.float64:
        kind, asked, made, operator = float64, float64, float64, b"MatMul"
    stored = _number(1, n_in) + _number(1, n_out) + _number(2, asked)
    stored += _part(8, b"matrix") + _part(9, np.ascontiguousarray(matrix).tobytes())
    node = _part(1, b"rows") + _part(1, b"matrix") + _part(2, b"out") + _part(4, operator)

    def value(name: bytes, kind: int, width: int) -> bytes:
        sizes = _part(1, _part(2, b"n")) + _part(1, _number(1, width))
        return _part(1, name) + _part(2, _part(1, _number(1, kind) + _part(2, sizes)))

    graph = _part(1, node) + _part(2, b"product") + _part(5, stored)
    graph += _part(11, value(b"rows", kind, n_in)) + _part(12, value(b"out", made, n_out))
    return _number(1, _IR) + _part(7, graph) + _part(8, _part(1, b"") + _number(2, _OPSET))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _part(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
