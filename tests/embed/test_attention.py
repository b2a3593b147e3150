"""Attention of whole numbers: exact sums with any library, near softmax, the same in any company."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.special

from beholder.embed import FloatArray, onnx
from beholder.embed.attention import SHARED, STEPS, attend, round_steps, scales

LIBRARIES = [False, True] if onnx.is_installed() else [False]
POINT, VALUE, SHARE = 2**5.5, 2**7, 2**13


@pytest.fixture(params=LIBRARIES, ids=lambda fast: "onnxruntime" if fast else "numpy")
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "is_installed", lambda: request.param)


def f32(numbers: Any) -> FloatArray:
    return np.array(numbers, dtype=np.float32)


def drawn(seed: int, k: int, q: int, n: int = 2, heads: int = 3, d: int = 16) -> list[FloatArray]:
    """Queries, keys and values in steps."""
    random = np.random.default_rng(seed)
    shapes = [(POINT, q), (POINT, k), (VALUE, k)]
    return [f32(np.rint(step * random.normal(size=(n, heads, d, m)))) for step, m in shapes]


def softmax(
    queries: FloatArray, keys: FloatArray, values: FloatArray, added: Any, scale: float
) -> npt.NDArray[np.float64]:
    """Attention to what is in steps, in float64: by scipy, not in steps."""
    points = [a.astype(np.float64) / POINT for a in (keys, queries)]
    scores = scale * np.einsum("nhdk,nhdq->nhkq", *points) + added
    shares = scipy.special.softmax(scores, axis=2)
    found: npt.NDArray[np.float64] = np.einsum("nhdk,nhkq->nhdq", values / VALUE, shares)
    return found


def shares_of(differences: list[int]) -> npt.NDArray[np.int64]:
    """What keys get, by hand, that are so many 512ths below the best; in steps."""
    sizes = [round(math.exp(-(x + 0.5) / 512) * 65536) if x < 11 * 512 else 0 for x in differences]
    return np.array([round(SHARE * size / sum(sizes)) for size in sizes])


def test_queries_keys_and_values_are_rounded_and_cut() -> None:
    assert scales(2).tolist() == f32([POINT, POINT, POINT, POINT, VALUE, VALUE]).tolist()
    assert SHARED == 2.0**-20
    # Two heads of two numbers: 2 * 2,896**2 is the greatest sum below 2**24.
    row = [0.5, 1.5, 2896.4, 2897, -0.5, -2.5, -2896.4, -1e9, 2.5, 1999.7, 2001, -1e9]
    found = round_steps(f32([row, [0] * 12]), 2)
    assert found.shape == (3, 2, 2, 2)
    assert found[0, 0].tolist() == [[0, 2], [2896, 2896]]
    assert found[1, 0].tolist() == [[0, -2], [-2896, -2896]]
    assert found[2, 0].tolist() == [[2, 2000], [2000, -2000]]
    assert not found[:, 1].any()


@pytest.mark.parametrize(("n_heads", "width"), [(12, 384), (4, 192), (1, 1), (3, 21)])
def test_no_sum_of_queries_times_keys_leaves_24_bits(n_heads: int, width: int) -> None:
    found = round_steps(np.full((1, 3 * width), 1e30, np.float32), n_heads)
    most, d = int(found[0].max()), width // n_heads
    assert most**2 * d < 2**24 <= (most + 1) ** 2 * d


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("n_keys", [1, 2, 3, 5, 129, 252, 256])
def test_sums_of_the_greatest_values_are_exact(n_keys: int) -> None:
    # 252 keys get 32.5 steps each, which rounding makes 33: the most that it can add. One value is
    # odd, so that a sum beyond 2**24 would show.
    huge = np.full((n_keys, 3 * 32), 1e9, np.float32)
    huge[0, 64:] = 1777
    huge[:, 80:] *= -1
    queries, keys, values = round_steps(huge, 1).transpose(0, 2, 3, 1)[:, None]
    found = attend(queries, keys, values)
    total = round(SHARE / n_keys) * (1777 + 2000 * (n_keys - 1))
    assert total < 2**24
    assert np.array_equal(found[0, 0, :16], np.full((16, n_keys), total))
    assert np.array_equal(found[0, 0, 16:], np.full((16, n_keys), -total))


@pytest.mark.usefixtures("library")
def test_scores_of_the_greatest_points_are_exact() -> None:
    # Queries and keys of 724 = isqrt((2**24 - 1) / 32). The last number of the query is 1, so that
    # sums differ by 4 and 32; 4 are a step of the table.
    queries, keys = np.full((1, 1, 32, 1), 724, np.float32), np.full((1, 1, 32, 3), 724, np.float32)
    queries[0, 0, -1], keys[0, 0, -1] = 1, [724, 720, 692]
    found = attend(queries, keys, np.eye(3, dtype=np.float32)[None, None])
    assert found[0, 0, :, 0].tolist() == shares_of([0, 1, 8]).tolist()


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "differences",
    [[0], [0, 0], [0, 1], [0, 511, 512, 513], [0, 700] * 3, [0, *[3333] * 5],
     [0, *[5376] * 200], [0, *[5500] * 200], [0, *[5631] * 200],
     [0, *[5632] * 200], [0, *[90_000] * 200], [*range(0, 2560, 10)]],
)  # fmt: skip
def test_shares_are_those_of_the_table(differences: list[int]) -> None:
    # Scores are what is added: all products are 0. Many that get nothing take from the best.
    n = len(differences)
    added = 7.0 - f32(differences)[:, None]
    found = attend(
        f32(np.zeros((1, 1, 4, 1))), f32(np.zeros((1, 1, 4, n))), f32(np.eye(n))[None, None], added
    )
    assert found[0, 0, :, 0].tolist() == shares_of(differences).tolist()


@pytest.mark.usefixtures("library")
def test_parts_of_a_step_do_not_count() -> None:
    added = f32([[0], [-4.99], [-5]])
    zeros, eye = f32(np.zeros((1, 1, 4, 3))), f32(np.eye(3))[None, None]
    found = attend(zeros[..., :1], zeros, eye, added)
    assert found[0, 0, :, 0].tolist() == shares_of([0, 4, 5]).tolist()


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("k", "q"), [(1, 1), (7, 3), (64, 64), (254, 20)])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_results_are_as_near_softmax_as_the_steps_allow(k: int, q: int, scale: float) -> None:
    queries, keys, values = drawn(k, k, q)
    random = np.random.default_rng(q)
    added = np.rint(STEPS * random.normal(size=(2, 1, k, q))) / STEPS
    added[1, :, 1::3] = -np.inf
    found = attend(queries, keys, values, f32(STEPS * added), scale) * SHARED
    wanted = softmax(queries, keys, values, added, scale)
    # A share is off by a 1,024th of itself, as are all others together; and by what its last step,
    # the end of the table, and the table's own steps make, each as much as a key's.
    largest = np.abs(values).max() / VALUE
    of_keys = k * (0.5 / SHARE + math.exp(-11) + 0.5 / 65536)
    assert np.abs(found - wanted).max() <= largest * (2 / 1024 + of_keys)
    deviation = np.sqrt(((found - wanted) ** 2).mean())
    assert deviation < 0.002


@pytest.mark.usefixtures("library")
def test_heads_texts_and_queries_do_not_see_each_other() -> None:
    queries, keys, values = drawn(11, 9, 9, n=3)
    together = attend(queries, keys, values, None, 0.25)
    for i, head, place in np.ndindex(3, 3, 9):
        own = np.s_[i : i + 1, head : head + 1]
        found = attend(queries[own][..., place : place + 1], keys[own], values[own], None, 0.25)
        assert found[0, 0, :, 0].tobytes() == together[i, head, :, place].tobytes()


@pytest.mark.usefixtures("library")
def test_keys_that_are_left_out_do_not_show() -> None:
    queries, keys, values = drawn(4, 6, 5, n=1)
    expected = attend(queries, keys, values, None, 0.25)
    keys, values = (np.concatenate([a, np.full_like(a, 500)], axis=3) for a in (keys, values))
    added = np.zeros((1, 1, 12, 1), dtype=np.float32)
    added[:, :, 6:] = -np.inf
    assert attend(queries, keys, values, added, 0.25).tobytes() == expected.tobytes()
    # ... nor does the order of those that count.
    order = np.random.default_rng(1).permutation(12)
    keys, values = keys[..., order], values[..., order]
    reordered = attend(queries, keys, values, added[:, :, order], 0.25)
    assert reordered.tobytes() == expected.tobytes()


@pytest.mark.skipif(len(LIBRARIES) == 1, reason="onnxruntime is not installed")
@pytest.mark.parametrize("k", [1, 13, 256])
def test_libraries_give_the_same_bits(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    queries, keys, values = drawn(k, k, 17)
    found = []
    for fast in LIBRARIES:
        monkeypatch.setattr(onnx, "is_installed", lambda fast=fast: fast)
        found.append(attend(queries, keys, values, None, 48**-0.5).tobytes())
    assert found[0] == found[1]
