"""Small ONNX models, written without the package ``onnx`` and run by onnxruntime in one thread.

Numbers of fields are those of onnx.proto (ONNX IR version 8).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

_OPSET, _IR = 18, 8
_INTEGER = 2
_OWN = "com.microsoft"
"""The domain of onnxruntime's own operators."""
_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7, "float64": 11}

Run: TypeAlias = Callable[..., Any]
"""Gets the inputs, in order, and returns the output."""
Shapes: TypeAlias = Mapping[str, tuple[str, tuple[int | str, ...]]]
"""By name: a type of numbers, and sizes or names of sizes."""


@cache
def is_installed() -> bool:
    """Whether onnxruntime (extra ``fast``) is there."""
    return importlib.util.find_spec("onnxruntime") is not None


def node(operator: str, inputs: str, output: str, *, own: bool = False, **attributes: int) -> bytes:
    """One operation.

    Args:
        operator: Its name.
        inputs: Names of what it gets, separated by blanks.
        output: Name of what it makes.
        own: Whether it is onnxruntime's own.
        attributes: Whole numbers that it needs.
    """
    found = b"".join(_part(1, name.encode()) for name in inputs.split())
    found += _part(2, output.encode()) + _part(4, operator.encode())
    for name, value in attributes.items():
        found += _part(5, _part(1, name.encode()) + _number(3, value) + _number(20, _INTEGER))
    return found + (_part(7, _OWN.encode()) if own else b"")


def session(
    nodes: Iterable[bytes],
    constants: Mapping[str, npt.NDArray[Any] | np.generic],
    inputs: Shapes,
    output: Shapes,
) -> Run:
    """A model that is ready to run.

    It stays in the thread that calls it, so that workers can be forked.

    Args:
        nodes: Its operations, in order.
        constants: Numbers by the names that operations have for them.
        inputs: What a run gets.
        output: What it makes, one.
    """
    import onnxruntime

    graph = b"".join(_part(1, one) for one in nodes) + _part(2, b"graph")
    graph += b"".join(_part(5, _tensor(*pair)) for pair in constants.items())
    graph += b"".join(_part(11, _value(*pair)) for pair in inputs.items())
    graph += b"".join(_part(12, _value(*pair)) for pair in output.items())
    model = _number(1, _IR) + _part(7, graph)
    for domain, version in (("", _OPSET), (_OWN, 1)):
        model += _part(8, _part(1, domain.encode()) + _number(2, version))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    made: Any = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    made._model_bytes = b""  # kept to begin again with other providers, of which there are none
    names = [*inputs]
    return lambda *given: made.run(None, dict(zip(names, given, strict=True)))[0]


def _tensor(name: str, numbers: npt.NDArray[Any] | np.generic) -> bytes:
    sizes = b"".join(_number(1, size) for size in numbers.shape)
    kind = _number(2, _TYPES[numbers.dtype.name])
    return sizes + kind + _part(8, name.encode()) + _part(9, numbers.tobytes())


def _value(name: str, form: tuple[str, tuple[int | str, ...]]) -> bytes:
    kind, sizes = form
    shape = b"".join(
        _part(1, _number(1, size) if isinstance(size, int) else _part(2, size.encode()))
        for size in sizes
    )
    return _part(1, name.encode()) + _part(2, _part(1, _number(1, _TYPES[kind]) + _part(2, shape)))


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
