"""Networks of whole numbers as ONNX graphs: the same to the bit with any batch and thread count.

Weights have 7 bits with their sign, activations 8. No sum leaves the 24 bits in which a float32
counts without rounding, so that the order of a kernel's sums does not matter; and no sum of two
products leaves 16 bits, which the kernels of processors without instructions for it need. Curves
come from tables. All else is arithmetic that IEEE 754 fixes to the bit, in a fixed order.

A graph is written from tensors by name, which become its initialisers under the same names; so
``read_tensors`` of a file gives what the file can be written from again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array: TypeAlias = npt.NDArray[Any]
Tensors: TypeAlias = Mapping[str, Array]
FloatArray: TypeAlias = npt.NDArray[np.float32]

WEIGHT, SIGNED, UNSIGNED = 63, 127, 255
"""The largest whole numbers: of weights, and of activations with a sign and without one."""
EXACT = 2**24
"""From here on a float32 does not count every whole number."""
_LEAST = np.float32(1e-30)
_ZERO = 128
"""Offset of signed activations: onnxruntime's fast integer kernels take uint8 only."""

GELU_STEPS = 512
"""Steps of the table of GELU from 0 to 1."""
_LOW, _HIGH = -8, 64
"""Ends of the table of GELU: below it is 0, and no activation comes near the upper end."""
GELU_ZERO = np.float32(0.5 - _LOW * GELU_STEPS)
"""The place of 0 in the table of GELU. The whole part of a place counts."""
RAISED = 11 / 64
"""What makes GELU positive everywhere."""

POINTS, VALUES, SHARES = 2**5.5, 2**7, 2**13
"""Steps from 0 to 1 of queries and keys, of values, and of shares."""
SHARED = 1 / (VALUES * SHARES)
"""The step of what attention returns."""
SCORE_STEPS = 512
"""Steps of the table of exponentials from 0 to 1, and of scores."""
_LARGEST_STEPS = 2000
"""The largest value in steps: ``SHARES`` times it, and what rounding adds to shares, is exact."""
_DEEP = 11
"""Shares below exp(-11) count as 0."""
_ROUND = np.float32(1.5 * 2**23)
"""A float32 of this size has no places behind the point."""
_GRID = 2**16
"""Steps of the exponential from 0 to 1, so that the sum of 256 is exact."""

_FLOAT = TensorProto.FLOAT
_OPSET, _IR = 18, 8
_ORT, _ORT_OPERATORS = "com.microsoft", frozenset({"MatMulIntegerToFloat"})
"""The domain of onnxruntime's own operators, and those of them that are in use."""


class Graph:
    """An ONNX graph, written operation by operation.

    A call adds an operation and returns the name of its output::

        graph = Graph(x=("float32", "n", 3))
        graph.output("y", graph("Add", graph("Abs", "x"), np.float32(1)), "float32", "n", 3)
        graph.write(path)

    Args:
        inputs: By name, the type of the numbers of each input, and sizes or names of sizes.

    Attributes:
        metadata: Texts that the file has beside the graph.
        products: By name, the inputs of the products of floating point, and their weights.
    """

    def __init__(self, **inputs: tuple[int | str, ...]) -> None:
        self.metadata: dict[str, str] = {}
        self.products: dict[str, tuple[str, Array]] = {}
        self._inputs = [_value(name, *form) for name, form in inputs.items()]
        self._outputs: list[Any] = []
        self._initialisers: dict[str, Array] = {}
        self._nodes: list[Any] = []

    def __call__(
        self,
        operator: str,
        *inputs: str | Array | np.generic | list[int],
        **settings: Any,
    ) -> str:
        """Add an operation of one output.

        Args:
            operator: Its name in ONNX.
            inputs: Names, or numbers; a list is one of int64.
            settings: Its attributes.
        """
        return self._add(operator, inputs, 1, settings)[0]

    def split(self, tensor: str, n_parts: int, axis: int) -> Sequence[str]:
        """Split a tensor into equal parts; returns their names."""
        return self._add(
            "Split", (tensor,), n_parts, {"num_outputs": n_parts, "axis": axis}
        )

    def tensor(self, name: str, numbers: Array) -> str:
        """Add an initialiser under a name of its own; returns the name."""
        self._initialisers[name] = np.ascontiguousarray(numbers)
        return name

    def output(
        self, name: str, tensor: str, kind: str, *sizes: int | str | None
    ) -> None:
        """Make a tensor an output of the graph."""
        self._nodes.append(helper.make_node("Identity", [tensor], [name]))
        self._outputs.append(_value(name, kind, *sizes))

    def encode(self) -> bytes:
        """Return the model in the format of ONNX, the same bytes each time."""
        initialisers = [
            numpy_helper.from_array(a, name)
            for name, a in self._initialisers.items()
        ]
        graph = helper.make_graph(
            self._nodes,
            "graph",
            self._inputs,
            self._outputs,
            initializer=initialisers,
        )
        domains = [
            helper.make_opsetid("", _OPSET),
            helper.make_opsetid(_ORT, 1),
        ]
        model = helper.make_model(graph, opset_imports=domains, ir_version=_IR)
        helper.set_model_props(model, self.metadata)
        encoded: bytes = model.SerializeToString(deterministic=True)
        return encoded

    def write(self, path: Path) -> None:
        """Write the model to a file."""
        path.write_bytes(self.encode())

    def _add(
        self,
        operator: str,
        inputs: Sequence[Any],
        n_outputs: int,
        settings: Mapping[str, Any],
    ) -> Sequence[str]:
        names = [
            x if isinstance(x, str) else self._constant(x) for x in inputs
        ]
        outputs = [f"{len(self._nodes)}.{i}" for i in range(n_outputs)]
        domain = _ORT if operator in _ORT_OPERATORS else ""
        self._nodes.append(
            helper.make_node(
                operator, names, outputs, domain=domain, **settings
            )
        )
        return outputs

    def _constant(self, numbers: Any) -> str:
        array = (
            np.array(numbers, np.int64)
            if isinstance(numbers, list)
            else np.asarray(numbers)
        )
        name = f"constant {array.dtype} {array.tolist()}"
        self._initialisers[name] = array
        return name


def _value(name: str, kind: int | str, *sizes: int | str | None) -> Any:
    number = helper.np_dtype_to_tensor_dtype(np.dtype(str(kind)))
    return helper.make_tensor_value_info(name, number, list(sizes))


def read_tensors(path: Path) -> dict[str, Array]:
    """Return the named tensors of a model's file, without the constants of its operations."""
    model = onnx.load(path)
    return {
        tensor.name: numpy_helper.to_array(tensor)
        for tensor in model.graph.initializer
        if not tensor.name.startswith("constant ")
    }


def quantize(
    name: str,
    weight: FloatArray,
    bias: FloatArray,
    factors: FloatArray,
    raised: float = 0.0,
) -> dict[str, Array]:
    """Return the tensors of a product of whole numbers, as ``product`` reads them.

    The weights of an output share a step, and so do the activations of a row. First, each input is
    multiplied, and its weights divided, by a factor that makes both lose equally little.

    Args:
        name: Of the product.
        weight: (in, out).
        bias: (out,).
        factors: (in,), powers of 2 in quarters: ``training.inputs`` finds them.
        raised: What has been added to all numbers of the rows, so that none is below 0; 0 if they
            have signs.

    Raises:
        ValueError: There are so many weights that sums would be rounded.
    """
    weight = weight / factors[:, None]
    steps = np.maximum(np.abs(weight).max(axis=0) / np.float32(WEIGHT), _LEAST)
    codes = np.ascontiguousarray(np.rint(weight / steps).astype(np.int8))
    largest_sum = int(np.abs(codes).sum(axis=0, dtype=np.int32).max())
    if largest_sum * UNSIGNED >= EXACT:
        raise ValueError(
            f"{name}: sums of weights up to {largest_sum}: a float32 would round products"
        )
    if raised:
        # Rows are added from first to last: the sums of a BLAS have an order of their own.
        sums = (codes * factors.astype(np.float64)[:, None]).sum(axis=0)
        bias = (bias - raised * sums * steps).astype(np.float32)
    tensors = {
        "factors": factors,
        "codes": codes,
        "steps": steps,
        "bias": bias,
    }
    return {f"{name}.{part}": tensor for part, tensor in tensors.items()}


def dequantize(
    tensors: Tensors, name: str, raised: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Weight (in, out) and bias (out,) of a product of whole numbers."""
    codes, steps, factors = (
        tensors[f"{name}.{part}"] for part in ("codes", "steps", "factors")
    )
    sums = (codes * factors.astype(np.float64)[:, None]).sum(axis=0)
    bias = (tensors[f"{name}.bias"] + raised * sums * steps).astype(np.float32)
    return codes * steps * factors[:, None], bias


def product(
    graph: Graph, tensors: Tensors, name: str, rows: str, raised: float = 0.0
) -> str:
    """Multiply rows (n, in) by a matrix and add a bias, each row by itself: (n, out).

    Args:
        graph: Gets the operations.
        tensors: What ``quantize`` made; or ``NAME.weight``, (in, out), and ``NAME.bias``, for a
            product of floating point.
        name: Of the product.
        rows: The rows.
        raised: See ``quantize``.
    """

    def part(kind: str) -> str:
        return graph.tensor(f"{name}.{kind}", tensors[f"{name}.{kind}"])

    if f"{name}.weight" in tensors:
        lowered = graph("Sub", rows, np.float32(raised)) if raised else rows
        graph.products[name] = lowered, tensors[f"{name}.weight"]
        return graph(
            "Add", graph("MatMul", lowered, part("weight")), part("bias")
        )
    signed = not raised
    rows = graph("Mul", rows, part("factors"))
    sizes = graph("Abs", rows) if signed else rows
    largest = graph("Max", graph("ReduceMax", sizes, [1], keepdims=0), _LEAST)
    step = graph("Div", largest, np.float32(SIGNED if signed else UNSIGNED))
    zero = np.uint8(_ZERO if signed else 0)
    zeros = graph("Expand", zero, graph("Shape", step))
    quantized = graph("QuantizeLinear", rows, step, zeros, axis=0)
    sums = graph(
        "MatMulIntegerToFloat",
        quantized,
        part("codes"),
        np.float32(1),
        part("steps"),
        zero,
    )
    return graph(
        "Add", graph("Mul", sums, graph("Unsqueeze", step, [1])), part("bias")
    )


def norm(
    graph: Graph, tensors: Tensors, name: str, rows: str, epsilon: float
) -> str:
    """Rows (n, D) with mean 0 and variance 1, scaled and shifted (Ba et al. 2016)."""
    weight, bias = (
        graph.tensor(f"{name}.{p}", tensors[f"{name}.{p}"])
        for p in ("weight", "bias")
    )
    width = len(tensors[f"{name}.weight"])
    size = np.float32(width)
    centred = graph(
        "Sub", rows, graph("Div", row_sums(graph, rows, width), size)
    )
    squares = row_sums(graph, graph("Mul", centred, centred), width)
    variance = graph("Add", graph("Div", squares, size), np.float32(epsilon))
    scaled = graph("Div", centred, graph("Sqrt", variance))
    return graph("Add", graph("Mul", scaled, weight), bias)


def row_sums(graph: Graph, rows: str, width: int) -> str:
    """Sums (n, 1) of rows (n, ``width``) in one order on every processor: that of numpy.

    Halves are added until a part has at most 128 numbers; of a part, each eighth number is added
    to the first, and the eight sums in pairs. onnxruntime's own sums depend on the vectors of the
    processor; a sum of two numbers does not.
    """
    n_parts, size = 1, width
    while size > 128:
        n_parts, size = 2 * n_parts, size // 2
    if size % 8 or n_parts * size != width:
        raise ValueError(
            f"width={width}: expected 8, 16, ... 128, or a power of 2 times that"
        )
    lanes = graph("Reshape", rows, [-1, n_parts, size // 8, 8])
    sums = (
        graph("Sum", *graph.split(lanes, size // 8, 2)) if size > 8 else lanes
    )
    n_remaining = n_parts * 8
    while n_remaining > 1:
        n_remaining //= 2
        sums = graph(
            "ReduceSum",
            graph("Reshape", sums, [-1, n_remaining, 2]),
            [2],
            keepdims=0,
        )
    return sums


def take(graph: Graph, table: str, places: str) -> str:
    """Entries of a table by their places, int32 of any shape."""
    # GatherElements of flat places takes a seventh of the time of Gather.
    flat = graph(
        "GatherElements", table, graph("Reshape", places, [-1]), axis=0
    )
    return graph("Reshape", flat, graph("Shape", places))


def grouped_rows(
    graph: Graph, tensors: Tensors, name: str, places: str
) -> str:
    """Rows of a matrix whose numbers are stored as codes, each group of a row with a scale.

    Args:
        graph: Gets the operations.
        tensors: ``NAME.codes``, (rows, D) int8, and ``NAME.scales``, (rows, groups) float16.
        name: Of the matrix.
        places: (n,), which rows.
    """
    parts = [f"{name}.codes", f"{name}.scales"]
    width, n_groups = tensors[parts[0]].shape[1], tensors[parts[1]].shape[1]
    codes, scales = (
        graph(
            "Cast",
            graph("Gather", graph.tensor(part, tensors[part]), places),
            to=_FLOAT,
        )
        for part in parts
    )
    groups = graph("Reshape", codes, [-1, n_groups, width // n_groups])
    return graph(
        "Reshape",
        graph("Mul", groups, graph("Unsqueeze", scales, [2])),
        [-1, width],
    )


def rounded(graph: Graph, numbers: str) -> str:
    """Numbers below 2**22 rounded, halves to even ones."""
    return graph("Sub", graph("Add", numbers, _ROUND), _ROUND)


def raised_gelu(graph: Graph, places: str) -> str:
    """Product of a number and its normal distribution function, plus ``RAISED``.

    Args:
        graph: Gets the operations.
        places: Numbers in steps of ``GELU_STEPS``, plus ``GELU_ZERO``.
    """
    steps = range(_LOW * GELU_STEPS, _HIGH * GELU_STEPS)
    curve = [
        x / GELU_STEPS * 0.5 * math.erfc(-x / GELU_STEPS * 0.5**0.5) + RAISED
        for x in steps
    ]
    table = graph.tensor("gelu", np.array(curve, dtype=np.float32))
    inside = graph("Clip", places, np.float32(0), np.float32(len(curve) - 1))
    return take(graph, table, graph("Cast", inside, to=TensorProto.INT32))


def attention_scales(width: int) -> FloatArray:
    """(3 ``width``,): by this, queries, keys and values are multiplied to be in steps."""
    return np.repeat(
        np.array([POINTS, POINTS, VALUES], dtype=np.float32), width
    )


def attend(
    graph: Graph,
    qkv: str,
    queries: str,
    keys: str,
    added: str,
    *,
    width: int,
    n_heads: int,
    scale: float = 1.0,
) -> str:
    """Scaled dot-product attention of whole numbers: softmax(scale Q K + added) V.

    Args:
        graph: Gets the operations.
        qkv: (tokens, 3 ``width``), queries, keys and values in the steps of ``attention_scales``;
            they are rounded here.
        queries: (groups, q), the tokens whose queries count.
        keys: (groups, k), the tokens that each query of the group can attend to.
        added: Added to scores, in steps of ``SCORE_STEPS``; minus infinity for none. Four axes,
            which stretch to (groups, heads, q, k).
        width: Numbers of a token.
        n_heads: Heads that these are divided into.
        scale: Factor of the products of queries and keys.

    Returns:
        (groups q, ``width``), in steps of ``SHARED``.
    """
    limit_of_queries = math.isqrt((EXACT - 1) * n_heads // width)

    def heads(
        part: str, limit: int, which: str, order: tuple[int, ...]
    ) -> str:
        cut = graph("Clip", part, np.float32(-limit), np.float32(limit))
        rows = graph("Gather", rounded(graph, cut), which, axis=0)
        return graph(
            "Transpose",
            graph("Reshape", rows, [0, 0, n_heads, width // n_heads]),
            perm=order,
        )

    q, k, v = graph.split(qkv, 3, 1)
    q, k = (
        heads(q, limit_of_queries, queries, (0, 2, 1, 3)),
        heads(k, limit_of_queries, keys, (0, 2, 3, 1)),
    )
    scores = graph(
        "Mul",
        graph("MatMul", q, k),
        np.float32(scale * SCORE_STEPS / POINTS**2),
    )
    scores = graph("Add", scores, added)
    below = graph("Sub", graph("ReduceMax", scores, [3], keepdims=1), scores)
    places = graph(
        "Clip", below, np.float32(0), np.float32(_DEEP * SCORE_STEPS)
    )
    curve = [
        round(math.exp(-(x + 0.5) / SCORE_STEPS) * _GRID)
        for x in range(_DEEP * SCORE_STEPS)
    ]
    table = graph.tensor(
        "exponentials", np.array([*curve, 0], dtype=np.float32)
    )
    shares = take(graph, table, graph("Cast", places, to=TensorProto.INT32))
    total = graph("ReduceSum", shares, [3], keepdims=1)
    shares = graph("Mul", shares, graph("Div", np.float32(SHARES), total))
    mixed = graph(
        "MatMul",
        rounded(graph, shares),
        heads(v, _LARGEST_STEPS, keys, (0, 2, 1, 3)),
    )
    return graph(
        "Reshape", graph("Transpose", mixed, perm=(0, 2, 1, 3)), [-1, width]
    )
