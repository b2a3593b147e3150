"""Products of whole numbers: exact with numpy and with onnxruntime, and near those of the weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

from beholder.embed import FloatArray, entailment, minilm, whole
from beholder.embed.whole import SIGNED, TILE, UNSIGNED, WEIGHT, WholeLinear
from beholder.language import network
from toy import runners

runner = runners.each


def f32(numbers: Any) -> FloatArray:
    return np.array(numbers, dtype=np.float32)


def exact(rows: npt.NDArray[Any], codes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The product in 64-bit whole numbers, by numpy."""
    found: npt.NDArray[np.int64] = rows.astype(np.int64) @ codes.astype(np.int64)
    return found


def multiply(codes: npt.NDArray[np.int8], *, signed: bool) -> WholeLinear:
    """Multiplies by whole numbers, the greatest of each column ``WEIGHT``: so steps are 1."""
    assert (np.abs(codes).max(axis=0) == WEIGHT).all()
    # If no number is below 0, the shift is what having added 1 to all takes away.
    shift = np.zeros(codes.shape[1]) if signed else codes.sum(axis=0)
    return WholeLinear(f32(codes), f32(shift), raised=0 if signed else 1)


@pytest.mark.usefixtures("runner")
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("shape", [(384, 1152), (1536, 384), (8, 3), (5, 1)])
def test_products_are_exact(signed: bool, shape: tuple[int, int]) -> None:
    random = np.random.default_rng(3)
    codes = random.integers(-WEIGHT, WEIGHT + 1, shape).astype(np.int8)
    codes[2] = WEIGHT
    low, high = (-SIGNED, SIGNED) if signed else (0, UNSIGNED)
    rows = random.integers(low, high + 1, (37, shape[0]))
    rows[:, 0], rows[::2, 1] = high, low  # the largest of a row has 127 or 255 steps of 1
    found = multiply(codes, signed=signed)(f32(rows))
    np.testing.assert_array_equal(found, exact(rows, codes))


@pytest.mark.usefixtures("runner")
@pytest.mark.parametrize("most", [SIGNED, UNSIGNED])
@pytest.mark.parametrize("sign", [-1, 1])
def test_sums_of_the_greatest_numbers_do_not_saturate(most: int, sign: int) -> None:
    # A kernel that adds two products in 16 bits would stop at 32,767; 2 * 255 * 63 is 32,130.
    # The sum is the greatest that is let through: 255 * (1044 * 63 + 21) is 2**24 - 1.
    codes = np.full((1045, 4), sign * WEIGHT, np.int8)
    codes[-1] = sign * 21
    rows = np.full((5, 1045), most)
    if most == SIGNED:  # also the numbers that are far below and above 0 in turn
        rows[1:3] *= -1
        rows[3, ::2] *= -1
        rows[4, 1::2] *= -1
    found = multiply(codes, signed=most == SIGNED)(f32(rows))
    np.testing.assert_array_equal(found, exact(rows, codes))


@pytest.mark.usefixtures("runner")
def test_numbers_are_rounded_to_the_nearest_and_halves_to_even() -> None:
    codes = np.eye(6, dtype=np.int8) * np.int8(WEIGHT)
    found = multiply(codes, signed=True)(
        f32([[-127, 0.5, 1.5, -0.5, -2.5, 3.4], [254, 1, 3, -1, -5, 6.6]])
    )
    assert (found / WEIGHT).tolist() == [[-127, 0, 2, 0, -2, 3], [254, 0, 4, 0, -4, 6]]
    found = multiply(codes, signed=False)(f32([[255, 0.5, 1.5, 0, 2.5, 3.6]]))
    assert (found / WEIGHT).tolist() == [[255, 0, 2, 0, 2, 4]]


@pytest.mark.usefixtures("runner")
@pytest.mark.parametrize("raised", [0.0, 3.5])
@pytest.mark.parametrize("with_inputs", [False, True])
@pytest.mark.parametrize("scale", [1e-32, 1e-5, 1.0, 1e5])
def test_each_operation_is_rounded_by_itself_in_one_order(
    raised: float, with_inputs: bool, scale: float
) -> None:
    random = np.random.default_rng(5)
    raised, bias = scale * raised, f32(scale * random.normal(size=50))
    weight = f32(random.normal(size=(200, 50)) * random.uniform(0.01, 1, 50))
    inputs = f32(2 ** (random.integers(-4, 5, 200) / 4)) if with_inputs else None
    rows = f32(scale * random.normal(size=(TILE, 200)))
    if raised:
        rows = np.abs(rows)
    most = np.float32(255 if raised else 127)
    if inputs is None:
        # Where the last bit of a division decides; the largest stays.
        largest = np.maximum(np.abs(rows).max(axis=1, keepdims=True), f32(1e-30))
        rows[:, :100] = (random.integers(0, 126, (TILE, 100)) + f32(0.5)) * (largest / most)
        rows[:, -1:] = largest
    divided = weight if inputs is None else weight / inputs[:, None]
    steps = np.abs(divided).max(axis=0) / np.float32(63)
    codes = np.rint(divided / steps).astype(np.int64)
    factors = np.ones(200) if inputs is None else inputs.astype(np.float64)
    shift = f32(bias - raised * (codes * factors[:, None]).sum(axis=0) * steps)
    given = rows if inputs is None else rows * inputs
    step = np.maximum(np.abs(given).max(axis=1, keepdims=True), f32(1e-30)) / most
    sums = f32(exact(np.rint(given / step), codes))
    found = WholeLinear(weight, bias, inputs, raised)(rows)
    assert found.dtype == np.float32
    assert found.tobytes() == (sums * steps * step + shift).tobytes()


def test_weights_are_rounded_to_the_nearest_and_halves_to_even() -> None:
    weight = f32([[63, -126], [0.5, 1], [1.5, -3], [2.4, 5], [-2.6, -5.2]])
    codes = [[63, -63], [0, 0], [2, -2], [2, 2], [-3, -3]]
    linear = WholeLinear(weight, f32([0, 0]))
    np.testing.assert_allclose(linear(f32(np.eye(5))), np.array(codes) * [1, 2], rtol=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(runners.RUNNERS), st.integers(1, 2 * TILE + 2), st.integers(0, 1000))
def test_a_row_is_the_same_in_every_batch_and_with_each_runner(
    runner: str, n: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    weight, bias = f32(random.normal(size=(24, 8))), f32(random.normal(size=8))
    inputs = f32(2.0 ** random.integers(-3, 3, 24))
    rows = f32(random.normal(size=(n, 24)) * 10.0 ** random.integers(-9, 9, (n, 1)))
    with runners.running("numpy"):
        slow = WholeLinear(weight, bias, inputs)
    with runners.running(runner):
        linear = WholeLinear(weight, bias, inputs)
    each = np.concatenate([slow(row[None]) for row in rows])
    assert linear(rows).tobytes() == each.tobytes()
    order = random.permutation(n)
    assert linear(rows[order]).tobytes() == each[order].tobytes()


@pytest.mark.parametrize("raised", [0.0, 3.5])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_results_are_as_near_the_product_of_the_weights_as_the_bits_allow(
    raised: float, scale: float
) -> None:
    random = np.random.default_rng(1)
    n, raised = 384, scale * raised
    weight, bias = f32(random.normal(size=(n, 96))), f32(scale * random.normal(size=96))
    rows = f32(scale * random.normal(0.5, 1, size=(50, n)).clip(-3.5, 3.5))
    inputs = f32(2.0 ** random.integers(-1, 2, n))
    wanted = rows.astype(np.float64) @ weight.astype(np.float64) + bias
    found = WholeLinear(weight, bias, inputs, raised)(rows + np.float32(raised))
    # Each number is off by up to half a step, evenly: by a step / sqrt(12) in the square mean.
    given = (rows.astype(np.float64) + raised) * inputs
    divided = weight.astype(np.float64) / inputs[:, None]
    steps = np.abs(divided).max(axis=0) / WEIGHT
    step = np.abs(given).max(axis=1, keepdims=True) / (UNSIGNED if raised else SIGNED)
    of_rows = step**2 * (divided**2).sum(axis=0)
    of_weights = ((given - raised * inputs) ** 2).sum(axis=1, keepdims=True) * steps**2
    expected = np.sqrt((of_rows + of_weights).mean() / 12)
    assert np.sqrt(((found - wanted) ** 2).mean()) == pytest.approx(expected, rel=0.05)
    assert expected < 0.06 * wanted.std()


@pytest.mark.parametrize("columns", [1, 2])
def test_inputs_are_multiplied_and_their_weights_divided(columns: int) -> None:
    # By hand: 63.5 * 126 + 254 * 31.5 is 16,002. Rows become 127 and 127, weights 63 and 63.
    weight, rows = f32([[126] * columns, [31.5] * columns]), f32([[63.5, 254], [63.5, -254]])
    linear = WholeLinear(weight, np.full(columns, 0.5, np.float32), f32([2, 0.5]))
    assert linear(rows).tolist() == [[16002.5] * columns, [0.5] * columns]
    # Without that, the weight of 31.5 lies between two of its column: 15.75 steps are 16.
    assert WholeLinear(weight, np.zeros(columns, np.float32))(f32([[0, 127]])).tolist() == [
        [32 * 127] * columns
    ]


def test_what_has_been_added_to_all_numbers_does_not_count() -> None:
    weight, bias = f32([[63, -20], [-31, 63]]), f32([7, 0])
    # By hand: numbers of (250, 95) and (-5, 250), raised by 5.
    rows = f32([[255, 100], [0, 255]])
    expected = [[250 * 63 - 95 * 31 + 7, -250 * 20 + 95 * 63], [-5 * 63 - 250 * 31 + 7, 15850]]
    assert WholeLinear(weight, bias, raised=5)(rows).tolist() == expected
    # The same with inputs of a half and of 2: weights and rows are whole again.
    inputs = f32([0.5, 2])
    halves = WholeLinear(weight * inputs[:, None], bias, inputs, raised=5)
    wanted = (rows / inputs - 5) @ (weight * inputs[:, None]) + bias
    assert halves(rows / inputs).tolist() == wanted.tolist()


@pytest.mark.parametrize("raised", [0, 0.25])
def test_rows_and_weights_of_zeros_give_the_shift(raised: float) -> None:
    linear = WholeLinear(f32(np.ones((4, 2))), f32([1.5, -2.0]), raised=raised)
    rows = np.full((2, 4), raised, np.float32)
    rows[1] += 1
    np.testing.assert_allclose(linear(rows), [[1.5, -2], [5.5, 2]], atol=1e-6)
    nothing = WholeLinear(f32(np.zeros((4, 2))), f32([1.5, -2.0]), raised=raised)
    assert nothing(rows).tolist() == [[1.5, -2], [1.5, -2]]


def test_weights_whose_sums_a_float32_would_round_are_refused() -> None:
    weight = np.full((1045, 2), WEIGHT, np.float32)
    weight[-1, 0], weight[-1, 1] = -21, 21  # 255 * 65,793 is 2**24 - 1
    WholeLinear(weight, f32([0, 0]))
    weight[-1, 0] = -22
    with pytest.raises(ValueError, match=r"sums of weights up to 65794:"):
        WholeLinear(weight, f32([0, 0]))


def test_factors_are_powers_of_2_in_quarters(tmp_path: Path) -> None:
    quarters = np.array([0, 1, 2, 3, 4, -1, -2, -3, -4, -128, 127], dtype=np.int8)
    save_file({"a": quarters, "b": quarters[:2]}, tmp_path / "inputs.safetensors")
    found = whole.factors(tmp_path / "inputs.safetensors")
    assert found["a"].dtype == np.float32
    np.testing.assert_allclose(found["a"], [2 ** (q / 4) for q in quarters.tolist()], rtol=1e-7)
    assert found["a"][[0, 4, 8, 9]].tolist() == [1, 2, 0.5, 2.0**-32]
    assert found["b"].tolist() == found["a"][:2].tolist()


def test_a_product_gets_the_factors_of_its_name(tmp_path: Path) -> None:
    stored = {"a": np.array([4, -4], np.int8), "b": np.array([0, 0], np.int8)}
    save_file(stored, tmp_path / "inputs.safetensors")
    make = whole.make_linear(tmp_path / "inputs.safetensors")
    weight, zero = f32([[126], [31.5]]), np.zeros(1, np.float32)
    assert make("a", weight, zero, 0)(f32([[0, 254]])).tolist() == [[254 * 31.5]]
    assert make("b", weight, zero, 0)(f32([[0, 254]])).tolist() == [[254 * 32]]


@pytest.mark.parametrize(
    ("path", "products", "n"),
    [(minilm.INPUTS, "qkv attended up down", 6), (entailment.INPUTS, "qkv attended up down", 6),
     (network.INPUTS, "near qkv attended", 3)],
)  # fmt: skip
def test_shipped_factors_are_quarters_for_every_product(path: Path, products: str, n: int) -> None:
    with safe_open(str(path), framework="np") as file:
        stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    assert {f"{i}.{name}" for i in range(n) for name in products.split()} <= {*stored}
    for row in stored.values():
        assert row.dtype == np.int8
        assert np.abs(row).max() <= 16  # less than four powers of 2
