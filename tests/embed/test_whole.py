"""Products of whole numbers: exact with numpy and with onnxruntime, and near those of the weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.embed import whole
from beholder.embed.whole import ACTIVATION, WEIGHT, Product, WholeLinear, with_numpy

Engine: TypeAlias = Callable[[npt.NDArray[np.int8]], Product]
ENGINES: list[Engine] = [with_numpy]
try:
    import onnxruntime  # noqa: F401
except ImportError:
    pass
else:
    ENGINES += [whole.with_onnxruntime]


def exact(rows: whole.Bytes, codes: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """The product in 64-bit whole numbers, by numpy."""
    found: npt.NDArray[np.int64] = rows.astype(np.int64) @ codes.astype(np.int64)
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("shape", [(384, 1152), (1536, 384), (8, 3)])
def test_products_are_exact(engine: Engine, shape: tuple[int, int]) -> None:
    random = np.random.default_rng(3)
    codes = random.integers(-WEIGHT, WEIGHT + 1, shape).astype(np.int8)
    rows = random.integers(0, ACTIVATION + 1, (37, shape[0])).astype(np.uint8)
    np.testing.assert_array_equal(engine(codes)(rows), exact(rows, codes))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sign", [-1, 1])
def test_sums_of_the_greatest_numbers_do_not_saturate(engine: Engine, sign: int) -> None:
    # A kernel that adds two products in 16 bits would stop at 32,767; 2 * 255 * 63 is 32,130.
    codes = np.full((384, 8), sign * WEIGHT, np.int8)
    rows = np.full((5, 384), ACTIVATION, np.uint8)
    np.testing.assert_array_equal(engine(codes)(rows), exact(rows, codes))


def test_floats_on_a_grid_have_the_same_products_in_any_library() -> None:
    random = np.random.default_rng(4)
    matrix = random.integers(-(2**20), 2**20, (576, 384)) * 2.0**-40
    rows = random.integers(-(2**19), 2**19, (173, 576)).astype(np.float64)
    expected = rows @ matrix
    np.testing.assert_array_equal(whole.product_with_floats(matrix)(rows), expected)
    reordered = random.permutation(576)
    np.testing.assert_array_equal(rows[:, reordered] @ matrix[reordered], expected)


def test_the_greatest_number_of_a_row_does_not_wrap() -> None:
    # 1.5 steps below zero and 253.5 above round to 2 and 254: one more than fits.
    linear = WholeLinear(np.eye(2, dtype=np.float32), np.zeros(2, np.float32))
    found = linear(np.array([[-1.5, 253.5]], np.float32))
    np.testing.assert_allclose(found, [[-2.0, 253.0]])


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 130), st.integers(0, 1000))
def test_a_row_is_the_same_in_every_batch(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    linear = WholeLinear(random.normal(size=(24, 8)).astype(np.float32), np.ones(8, np.float32))
    rows = random.normal(size=(n, 24)).astype(np.float32) * 10.0 ** random.integers(-9, 9)
    each = np.concatenate([linear(row[None]) for row in rows])
    np.testing.assert_array_equal(linear(rows), each)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_results_are_near_the_product_of_the_weights(scale: float) -> None:
    random = np.random.default_rng(1)
    weight = random.normal(size=(384, 96)).astype(np.float32)
    rows = (scale * random.normal(1, 2, size=(50, 384))).astype(np.float32)
    wanted = rows.astype(np.float64) @ weight.astype(np.float64)
    error = WholeLinear(weight, np.zeros(96, np.float32))(rows) - wanted
    assert np.sqrt((error**2).mean()) < 0.02 * wanted.std()


def test_rows_of_zeros_give_the_shift() -> None:
    linear = WholeLinear(np.ones((4, 2), np.float32), np.array([1.5, -2.0], np.float32))
    assert linear(np.zeros((1, 4), np.float32)).tolist() == [[1.5, -2.0]]


def test_weights_whose_sums_a_float32_would_round_are_refused() -> None:
    with pytest.raises(ValueError, match=r"sums of weights up to 69300"):
        WholeLinear(np.ones((1100, 1), np.float32), np.zeros(1, np.float32))
