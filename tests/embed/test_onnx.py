"""Models in the wire form of protocol buffers, against bytes by hand; and what becomes of them."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from beholder.embed import onnx
from beholder.embed.onnx import Graph
from toy import runners
from toy.without import without

runner = runners.each
needs_onnxruntime = pytest.mark.skipif(
    len(runners.RUNNERS) == 1, reason="onnxruntime is not installed"
)


def f32(numbers: Any) -> npt.NDArray[np.float32]:
    return np.array(numbers, dtype=np.float32)


@pytest.mark.parametrize(
    ("number", "written"),
    # 150 and 300 are the examples of protobuf.dev/programming-guides/encoding.
    [(0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (150, "9601"), (300, "ac02"),
     (2**14, "808001")],
)  # fmt: skip
def test_numbers_have_7_bits_a_byte(number: int, written: str) -> None:
    assert onnx._varint(number).hex() == written


def part(tag: int, *bodies: bytes) -> bytes:
    """What has a length, which fits a byte."""
    body = b"".join(bodies)
    return bytes([tag, len(body)]) + body


def test_a_model_is_written_as_onnx_proto_says() -> None:
    graph = Graph(x=("float32", "n", 2))
    made = graph("ReduceMax", graph("Abs", "x"), [1], keepdims=0)
    # A byte before a part is 8 * its field + 2, before a number 8 * its field. NodeProto: input 1,
    # output 2, op_type 4, attribute 5. AttributeProto: name 1, i 3, type 20 (INT is 2).
    keepdims = part(0x2A, b"\x0a\x08keepdims\x18\x00\xa0\x01\x02")
    first = part(0x0A, b"\x0a\x01x\x12\x06made 0\x22\x03Abs")
    reduced = b"\x0a\x06made 0\x0a\x0aconstant 0\x12\x06made 1\x22\x09ReduceMax"
    nodes = first + part(0x0A, reduced, keepdims)
    # TensorProto: dims 1, data_type 2 (INT64 is 7), name 8, raw_data 9.
    tensor = part(0x2A, b"\x08\x01\x10\x07\x42\x0aconstant 0\x4a\x08\x01", bytes(7))
    # ValueInfoProto: name 1, type 2. TypeProto: tensor_type 1. Of a tensor: elem_type 1 (FLOAT is
    # 1), shape 2. TensorShapeProto: dim 1. Of a dimension: dim_value 1, dim_param 2.
    shape = part(0x12, b"\x0a\x03\x12\x01n\x0a\x02\x08\x02")
    given = part(0x5A, b"\x0a\x01x", part(0x12, part(0x0A, b"\x08\x01", shape)))
    output = part(0x62, b"\x0a\x06made 1", part(0x12, part(0x0A, b"\x08\x01")))
    # GraphProto: node 1, name 2, initializer 5, input 11, output 12. ModelProto: ir_version 1,
    # graph 7, opset_import 8. OperatorSetIdProto: domain 1, version 2.
    body = nodes + b"\x12\x05graph" + tensor + given + output
    assert len(body) == 149
    domains = part(0x42, b"\x0a\x00\x10\x12") + part(0x42, b"\x0a\x0dcom.microsoft\x10\x01")
    assert graph.encoded(made, "float32") == b"\x08\x08\x3a\x95\x01" + body + domains


def test_lists_of_numbers_and_operators_of_onnxruntime_are_written_as_onnx_proto_says() -> None:
    graph = Graph(x=("float32", 1, 1, 1))
    graph("Transpose", "x", perm=(0, 2, 1))
    graph("MatMulIntegerToFloat", "x", "x")
    found = graph.encoded("made 0", "float32")
    # AttributeProto: ints 8, type 20 (INTS is 7). NodeProto: domain 7.
    perm = b"\x0a\x04perm\x40\x00\x40\x02\x40\x01\xa0\x01\x07"
    assert part(0x0A, b"\x0a\x01x\x12\x06made 0\x22\x09Transpose", part(0x2A, perm)) in found
    own = b"\x0a\x01x\x0a\x01x\x12\x06made 1\x22\x14MatMulIntegerToFloat"
    assert part(0x0A, own, b"\x3a\x0dcom.microsoft") in found


@pytest.mark.usefixtures("runner")
def test_a_session_runs_operations_in_order_on_inputs_by_order() -> None:
    graph = Graph(a=("float32", "n", 2, "m"), b=("float32", "m"))
    less = graph("Sub", "a", "b")
    run = graph.session(graph("Mul", less, f32([[2], [3]])))
    for n, m in ((1, 3), (4, 300)):
        a = np.arange(n * 2 * m, dtype=np.float32).reshape(n, 2, m)
        b = np.arange(m, dtype=np.float32) % 7
        expected = (a - b) * [[2], [3]]
        found = run(a, b)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        run(a)
    with pytest.raises(ValueError, match="argument 2 is longer"):
        run(a, b, b)
    # What is in between can be returned, too.
    assert graph.session(less)(a, b).tolist() == (a - b).tolist()


@pytest.mark.parametrize("kind", ["uint8", "int8", "int32", "int64", "float32", "float64"])
def test_constants_of_each_type_keep_their_numbers(kind: str, runner: str) -> None:
    # In columns first in memory: what is written has rows first.
    numbers = np.asfortranarray(np.arange(6, dtype=kind).reshape(2, 3))
    graph = Graph(a=(kind, 3))
    found = graph.session(graph("Max", "a", numbers), kind)(np.array([2, 2, 2], dtype=kind))
    if (kind, runner) != ("int8", "numpy"):  # which multiplies them as floats
        assert found.dtype == numbers.dtype
    assert found.tolist() == [[2, 2, 2], [3, 4, 5]]


@pytest.mark.usefixtures("runner")
def test_a_list_is_of_int64_and_a_number_needs_no_axis() -> None:
    graph = Graph(a=("int64", "n"))
    run = graph.session(graph("Add", graph("Mul", "a", [2**40, 3]), np.int64(-1)), "int64")
    found = run(np.array([5, 7]))
    assert (found.dtype, found.tolist()) == (np.int64, [5 * 2**40 - 1, 20])


X = f32([[-1.5, 0, 2.5], [4, -8, 0.5]])
OPERATIONS: list[tuple[str, list[Any], dict[str, Any], str, Any]] = [
    ("Abs", [], {}, "float32", [[1.5, 0, 2.5], [4, 8, 0.5]]),
    ("Add", [f32([1, 2, 3])], {}, "float32", [[-0.5, 2, 5.5], [5, -6, 3.5]]),
    ("Cast", [], {"to": onnx.INT32}, "int32", [[-1, 0, 2], [4, -8, 0]]),
    ("Clip", [np.float32(-2), np.float32(3)], {}, "float32", [[-1.5, 0, 2.5], [3, -2, 0.5]]),
    ("Div", [f32([[2], [4]])], {}, "float32", [[-0.75, 0, 1.25], [1, -2, 0.125]]),
    ("MatMul", [f32([[1, 0], [2, 1], [0, 4]])], {}, "float32", [[-1.5, 10], [-12, -6]]),
    ("Max", [np.float32(0.25)], {}, "float32", [[0.25, 0.25, 2.5], [4, 0.25, 0.5]]),
    ("Mul", [f32([[2], [-4]])], {}, "float32", [[-3, 0, 5], [-16, 32, -2]]),
    # Half a step is rounded to even numbers.
    ("QuantizeLinear", [f32([0.5, 1]), np.array([128, 11], np.uint8)], {"axis": 0},
     "uint8", [[125, 128, 133], [15, 3, 11]]),
    ("QuantizeLinear", [f32([1, 4, 0.5]), np.array([9, 8, 7], np.uint8)], {"axis": 1},
     "uint8", [[7, 8, 12], [13, 6, 8]]),
    ("ReduceMax", [[1]], {"keepdims": 0}, "float32", [2.5, 4]),
    ("ReduceMax", [[0]], {"keepdims": 1}, "float32", [[4, 0, 2.5]]),
    ("ReduceSum", [[1]], {"keepdims": 1}, "float32", [[1], [-3.5]]),
    ("ReduceSum", [[0]], {"keepdims": 0}, "float32", [2.5, -8, 3]),
    ("Reshape", [[3, 2]], {}, "float32", [[-1.5, 0], [2.5, 4], [-8, 0.5]]),
    ("Reshape", [[0, 1, -1]], {}, "float32", [[[-1.5, 0, 2.5]], [[4, -8, 0.5]]]),
    ("Slice", [[1], [2], [1]], {}, "float32", [[0], [-8]]),
    ("Slice", [[1], [9], [0]], {}, "float32", [[4, -8, 0.5]]),
    ("Sub", [f32([1, 2, 3])], {}, "float32", [[-2.5, -2, -0.5], [3, -10, -2.5]]),
    ("Transpose", [], {"perm": (1, 0)}, "float32", [[-1.5, 4], [0, -8], [2.5, 0.5]]),
    ("Unsqueeze", [[1]], {}, "float32", [[[-1.5, 0, 2.5]], [[4, -8, 0.5]]]),
    ("Unsqueeze", [[0, 3]], {}, "float32", [[[[-1.5], [0], [2.5]], [[4], [-8], [0.5]]]]),
]  # fmt: skip
"""What an operator gives by hand for ``X`` and what else it gets, and its type."""


@pytest.mark.parametrize(("operator", "given", "settings", "kind", "expected"), OPERATIONS)
def test_operations_are_those_of_onnx(
    operator: str, given: list[Any], settings: dict[str, Any], kind: str, expected: Any, runner: str
) -> None:
    graph, x = Graph(x=("float32", "n", "m")), X.copy()
    found = graph.session(graph(operator, "x", *given, **settings), kind)(x)
    assert found.tolist() == expected
    if (kind, runner) != ("uint8", "numpy"):  # which goes on with floats
        assert found.dtype == kind
    assert x.tolist() == X.tolist()


@pytest.mark.usefixtures("runner")
def test_whole_numbers_are_multiplied_without_what_was_added() -> None:
    graph = Graph(x=("float32", "n", "m"))
    codes, zero = np.array([[1, -2], [3, 4], [-5, 6]], np.int8), np.uint8(128)
    whole = graph("QuantizeLinear", "x", f32([0.5, 1]), np.array([128, 128], np.uint8), axis=0)
    steps = np.float32(0.5), f32([1, 2])
    found = graph.session(graph("MatMulIntegerToFloat", whole, codes, *steps, zero))(X)
    # (-3, 0, 5) and (4, -8, 0) are multiplied: by hand, (-28, 36) and (-20, -40).
    assert (found.dtype, found.tolist()) == (np.float32, [[-14, 36], [-10, -40]])


def test_every_operator_is_tried() -> None:
    assert {operator for operator, *_ in OPERATIONS} == {*onnx._OPERATORS} - {
        "MatMulIntegerToFloat"
    }


@pytest.mark.usefixtures("runner")
def test_sums_of_whole_numbers_are_exact() -> None:
    random = np.random.default_rng(2)
    # In views that are not contiguous, numbers around 591 = isqrt((2**24 - 1) / 48).
    a = random.integers(585, 592, (2, 3, 48, 40)).swapaxes(2, 3)
    b = np.asfortranarray(-random.integers(585, 592, (2, 3, 48, 33)))
    graph = Graph(a=("float32", "k", "l", "n", "m"), b=("float32", "k", "l", "m", "o"))
    found = graph.session(graph("MatMul", "a", "b"))(f32(a), f32(b))
    np.testing.assert_array_equal(found, a @ b)
    stacks = random.integers(-(2**15), 2**15, (3, 2, 200, 5))
    for operator, expected in (
        ("ReduceMax", stacks.max(axis=2)),
        ("ReduceSum", stacks.sum(axis=2)),
    ):
        graph = Graph(a=("float32", "k", "l", "n", "m"))
        run = graph.session(graph(operator, "a", [2], keepdims=0))
        np.testing.assert_array_equal(run(f32(stacks)), expected)


def test_an_operator_that_numpy_does_not_have_is_an_error() -> None:
    graph = Graph(x=("float32", "n", "m"))
    with runners.running("numpy"), pytest.raises(KeyError, match="'Sin'"):
        graph.session(graph("Sin", "x"))(X)


def test_nothing_asks_for_onnxruntime_if_it_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "onnxruntime")
    onnx.is_installed.cache_clear()
    try:
        assert not onnx.is_installed()
        graph = Graph(x=("float32", "n", "m"))
        assert graph.session(graph("Abs", "x"))(X).tolist() == np.abs(X).tolist()
    finally:
        onnx.is_installed.cache_clear()
    assert sys.modules["onnxruntime"] is None


@needs_onnxruntime
def test_onnxruntime_runs_what_is_written_in_the_thread_that_calls_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import onnxruntime

    made = []

    def make(model: bytes, options: Any, providers: list[str]) -> SimpleNamespace:
        made.append((options.intra_op_num_threads, options.inter_op_num_threads, *providers))
        assert options.graph_optimization_level.name == "ORT_DISABLE_ALL"
        return SimpleNamespace(run=lambda outputs, given: [given["x"] + 1])

    monkeypatch.setattr(onnxruntime, "InferenceSession", make)
    graph = Graph(x=("float32", "n", "m"))
    assert graph.session(graph("Abs", "x"))(X).tolist() == (X + 1).tolist()
    assert made == [(1, 1, "CPUExecutionProvider")]
