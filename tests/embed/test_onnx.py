"""Models in the wire form of protocol buffers, against bytes by hand; and as onnxruntime runs them."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.embed import onnx

needs_onnxruntime = pytest.mark.skipif(
    not onnx.is_installed(), reason="onnxruntime is not installed"
)


@pytest.mark.parametrize(
    ("number", "written"),
    # 150 and 300 are the examples of protobuf.dev/programming-guides/encoding.
    [(0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (150, "9601"), (300, "ac02"),
     (2**14, "808001")],
)  # fmt: skip
def test_numbers_have_7_bits_a_byte(number: int, written: str) -> None:
    assert onnx._varint(number).hex() == written


def test_a_node_is_written_as_onnx_proto_says() -> None:
    # NodeProto: input 1, output 2, op_type 4, attribute 5, domain 7.
    assert onnx.node("Add", "a b", "cd") == b"\x0a\x01a\x0a\x01b\x12\x02cd\x22\x03Add"
    # AttributeProto: name 1, i 3, type 20 (INT is 2).
    attribute = b"\x0a\x04axis\x18\x01\xa0\x01\x02"
    expected = b"\x0a\x01x\x12\x01y\x22\x03Own\x2a\x0b" + attribute + b"\x3a\x0dcom.microsoft"
    assert onnx.node("Own", "x", "y", own=True, axis=1) == expected


@needs_onnxruntime
def test_a_session_runs_operations_in_order_on_inputs_by_order() -> None:
    run = onnx.session(
        [onnx.node("Sub", "a b", "less"), onnx.node("Mul", "less factor", "out")],
        {"factor": np.array([[2.0], [3.0]], np.float32)},
        {"a": ("float32", ("n", 2, "m")), "b": ("float32", ("m",))},
        {"out": ("float32", ("n", 2, "m"))},
    )
    for n, m in ((1, 3), (4, 300)):
        a = np.arange(n * 2 * m, dtype=np.float32).reshape(n, 2, m)
        b = np.arange(m, dtype=np.float32) % 7
        expected = (a - b) * [[2], [3]]
        found = run(a, b)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        run(a)


@needs_onnxruntime
@pytest.mark.parametrize("kind", ["uint8", "int8", "int64", "float32", "float64"])
def test_constants_of_each_type_keep_their_numbers(kind: str) -> None:
    # In columns first in memory: what is written has rows first.
    numbers = np.asfortranarray(np.arange(6, dtype=kind).reshape(2, 3))
    out = {"out": (kind, (2, 3))}
    run = onnx.session([onnx.node("Max", "a b", "out")], {"b": numbers}, {"a": (kind, (3,))}, out)
    found = run(np.array([2, 2, 2], dtype=kind))
    assert found.dtype == numbers.dtype
    np.testing.assert_array_equal(found, np.maximum(numbers, 2))
