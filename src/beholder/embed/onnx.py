"""Small ONNX models, written without the package ``onnx``: onnxruntime runs them, or else numpy.

Numbers of fields are those of onnx.proto (ONNX IR version 8). Both give the same bits if all sums
are exact; the other operations are those that IEEE 754 fixes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

_OPSET, _IR = 18, 8
_INTEGER, _INTEGERS = 2, 7
_OWN, _OWN_OPERATORS = "com.microsoft", frozenset({"MatMulIntegerToFloat"})
"""The domain of onnxruntime's own operators, and those of them that are in use."""
_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "float64": 11}
INT32 = _TYPES["int32"]

Run: TypeAlias = Callable[..., Any]
"""Gets the inputs, in order, and returns the output."""
Numbers: TypeAlias = npt.NDArray[Any] | np.generic
Settings: TypeAlias = Mapping[str, int | Sequence[int]]


@cache
def is_installed() -> bool:
    """Whether onnxruntime (extra ``fast``) is there."""
    return importlib.util.find_spec("onnxruntime") is not None


class Graph:
    """A model: operations, written down one after another.

    A call adds one and returns the name of what it makes::

        graph = Graph(x=("float32", "n", 3))
        run = graph.session(graph("Add", graph("Abs", "x"), np.float32(1)))

    Args:
        inputs: By name, the type of the numbers of each input, and sizes or names of sizes.
    """

    def __init__(self, **inputs: tuple[int | str, ...]) -> None:
        self._inputs = inputs
        self._constants: dict[str, Numbers] = {}
        self._operations: list[tuple[str, Sequence[str], str, Settings]] = []

    def __call__(
        self, operator: str, *given: str | Numbers | list[int], **settings: int | Sequence[int]
    ) -> str:
        """Add an operation.

        Args:
            operator: Its name, one of ``_OPERATORS``.
            given: What it gets: names, or numbers. A list is one of int64.
            settings: Its attributes.
        """
        names = [one if isinstance(one, str) else self._constant(one) for one in given]
        made = f"made {len(self._operations)}"
        self._operations.append((operator, names, made, settings))
        return made

    def _constant(self, numbers: Numbers | list[int]) -> str:
        name = f"constant {len(self._constants)}"
        made = np.array(numbers, np.int64) if isinstance(numbers, list) else numbers
        self._constants[name] = made
        return name

    def session(self, output: str, kind: str = "float32") -> Run:
        """The model, ready to run in the thread that calls it, so that workers can be forked.

        Args:
            output: Name of what it returns.
            kind: The type of its numbers.
        """
        if not is_installed():
            return self._with_numpy(output)
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
        # Operations stay as written; to look for better ones takes longer than it saves.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        model, providers = self.encoded(output, kind), ["CPUExecutionProvider"]
        made: Any = onnxruntime.InferenceSession(model, options, providers=providers)
        made._model_bytes = b""  # kept to begin again with other providers, of which there are none
        names = [*self._inputs]
        return lambda *given: made.run([output], dict(zip(names, given, strict=True)))[0]

    def _with_numpy(self, output: str) -> Run:
        # BLAS has no products of whole numbers; those of float32 are as exact.
        known = {
            name: numbers.astype(np.float32) if numbers.dtype == np.int8 else numbers
            for name, numbers in self._constants.items()
        }

        def run(*given: Any) -> Any:
            values: dict[str, Any] = {**known, **dict(zip(self._inputs, given, strict=True))}
            for operator, names, made, settings in self._operations:
                values[made] = _OPERATORS[operator](*map(values.__getitem__, names), **settings)
            return values[output]

        return run

    def encoded(self, output: str, kind: str) -> bytes:
        """See ``session``: the model as onnxruntime reads it."""
        graph = b"".join(_part(1, _operation(*one)) for one in self._operations)
        graph += _part(2, b"graph")
        graph += b"".join(_part(5, _tensor(*pair)) for pair in self._constants.items())
        graph += b"".join(_part(11, _value(name, *form)) for name, form in self._inputs.items())
        graph += _part(12, _value(output, kind))
        model = _number(1, _IR) + _part(7, graph)
        for domain, version in (("", _OPSET), (_OWN, 1)):
            model += _part(8, _part(1, domain.encode()) + _number(2, version))
        return model


def _quantized(rows: Any, steps: Any, zeros: Any, axis: int) -> Any:
    return np.rint(rows / np.expand_dims(steps, 1 - axis)) + np.expand_dims(zeros, 1 - axis)


def _part_of(numbers: Any, starts: Any, ends: Any, axes: Any) -> Any:
    """Of an array the places from a start to an end on one axis."""
    return numbers[(slice(None),) * int(axes[0]) + (slice(int(starts[0]), int(ends[0])),)]


def _reshaped(numbers: Any, shape: Any) -> Any:
    return numbers.reshape([n or numbers.shape[i] for i, n in enumerate(shape.tolist())])


_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "Abs": np.abs,
    "Add": np.add,
    "Cast": lambda numbers, to: numbers.astype(np.int32),
    "Clip": np.clip,
    "Div": np.divide,
    "MatMul": np.matmul,
    "MatMulIntegerToFloat": lambda a, b, a_step, steps, zero: (a - zero) @ b * (a_step * steps),
    "Max": np.maximum,
    "Mul": np.multiply,
    "QuantizeLinear": _quantized,
    "ReduceMax": lambda a, axes, keepdims: a.max(axis=tuple(axes), keepdims=bool(keepdims)),
    "ReduceSum": lambda a, axes, keepdims: a.sum(axis=tuple(axes), keepdims=bool(keepdims)),
    "Reshape": _reshaped,
    "Slice": _part_of,
    "Sub": np.subtract,
    "Transpose": lambda numbers, perm: numbers.transpose(perm),
    "Unsqueeze": lambda numbers, axes: np.expand_dims(numbers, tuple(axes)),
}
"""What numpy does for each operation, as far as it is used here. All whole numbers are float32."""


def _operation(operator: str, given: Sequence[str], made: str, settings: Settings) -> bytes:
    found = b"".join(_part(1, name.encode()) for name in given)
    found += _part(2, made.encode()) + _part(4, operator.encode())
    for name, value in settings.items():
        found += _part(5, _part(1, name.encode()) + _attribute(value))
    return found + (_part(7, _OWN.encode()) if operator in _OWN_OPERATORS else b"")


def _attribute(value: int | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return _number(3, value) + _number(20, _INTEGER)
    return b"".join(_number(8, one) for one in value) + _number(20, _INTEGERS)


def _tensor(name: str, numbers: Numbers) -> bytes:
    sizes = b"".join(_number(1, size) for size in numbers.shape)
    kind = _number(2, _TYPES[numbers.dtype.name])
    return sizes + kind + _part(8, name.encode()) + _part(9, numbers.tobytes())


def _value(name: str, kind: int | str, *sizes: int | str) -> bytes:
    """What goes in or out; without sizes, of any shape."""
    shape = b"".join(
        _part(1, _number(1, size) if isinstance(size, int) else _part(2, size.encode()))
        for size in sizes
    )
    form = _number(1, _TYPES[str(kind)]) + (_part(2, shape) if sizes else b"")
    return _part(1, name.encode()) + _part(2, _part(1, form))


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
