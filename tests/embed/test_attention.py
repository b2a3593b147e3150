"""Attention of whole numbers: exact sums with any library, near softmax, the same in any company."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.special

from beholder.embed import FloatArray
from beholder.embed.attention import SHARED, STEPS, attend, scales
from toy import runners

POINT, VALUE, SHARE = 2**5.5, 2**7, 2**13
runner = runners.each
pytestmark = pytest.mark.usefixtures("runner")


def f32(numbers: Any) -> FloatArray:
    return np.array(numbers, dtype=np.float32)


def drawn(seed: int, k: int, n: int = 2, heads: int = 3, d: int = 16) -> list[FloatArray]:
    """Queries, keys and values in steps, each (n, k, heads, d)."""
    random = np.random.default_rng(seed)
    steps = POINT, POINT, VALUE
    return [f32(np.rint(step * random.normal(size=(n, k, heads, d)))) for step in steps]


def joined(queries: FloatArray, keys: FloatArray, values: FloatArray) -> FloatArray:
    """What ``attend`` gets."""
    return np.concatenate([a.reshape(*a.shape[:2], -1) for a in (queries, keys, values)], axis=2)


def softmax(
    queries: FloatArray, keys: FloatArray, values: FloatArray, added: Any, scale: float
) -> npt.NDArray[np.float64]:
    """Attention to what is in steps, in float64: by scipy, not in steps."""
    points = [a.astype(np.float64) / POINT for a in (queries, keys)]
    scores = scale * np.einsum("nqhd,nkhd->nhqk", *points) + added
    shares = scipy.special.softmax(scores, axis=3)
    found: npt.NDArray[np.float64] = np.einsum("nhqk,nkhd->nqhd", shares, values / VALUE)
    return found.reshape(*found.shape[:2], -1)


def size_of(differences: Any) -> list[int]:
    """Entries of the table by hand: of scores that are so many 512ths below the best."""
    return [round(math.exp(-(x + 0.5) / 512) * 65536) if x < 11 * 512 else 0 for x in differences]


def shares_of(differences: list[int]) -> npt.NDArray[np.int64]:
    """What keys get, by hand, that are so many 512ths below the best; in steps."""
    sizes = size_of(differences)
    return np.array([round(SHARE * size / sum(sizes)) for size in sizes])


def shares_by(queries: Any, keys: Any, added: FloatArray | None = None) -> list[float]:
    """What keys (k, k) get from the first of the queries (k, k): values are those of ``eye``."""
    qkv = np.concatenate([f32(queries), f32(keys), np.eye(len(keys), dtype=np.float32)], axis=1)
    found: list[float] = attend(qkv[None], 1, (0, 1), added)[0, 0].tolist()
    return found


def test_steps_are_those_of_queries_keys_and_values() -> None:
    assert scales(2).tolist() == f32([POINT, POINT, POINT, POINT, VALUE, VALUE]).tolist()
    assert SHARED == 2.0**-20


def test_values_are_rounded_and_cut() -> None:
    # The only key has a share of 1.
    values = f32([0.5, 1.5, -0.5, -2.5, 2.5, 1999.7, 2001, -1e9])
    qkv = np.concatenate([np.ones(16), values])[None, None].astype(np.float32)
    found = attend(qkv, 2, (0, 1)) / SHARE
    assert found.tolist() == [[[0, 2, 0, -2, 2, 2000, 2000, -2000]]]


def test_queries_and_keys_are_rounded() -> None:
    # A product of 4 is a step of the table.
    rows = np.zeros((4, 4))
    rows[:, 0] = 10, 9.5, 8.5, 7.4
    assert shares_by(np.full((4, 4), 4), rows) == shares_of([0, 0, 2, 3]).tolist()
    for query, rounded in ((2.5, 2), (3.5, 4), (-1.5, -2), (7.6, 8)):
        found = shares_by([[query, 0], [0, 0]], [[0, 0], [-4 if query > 0 else 4, 0]])
        assert found == shares_of([0, abs(rounded)]).tolist()


@pytest.mark.parametrize(
    ("n_heads", "width", "most"), [(12, 384, 724), (4, 192, 591), (1, 1, 4095), (3, 21, 1548)]
)
def test_no_sum_of_queries_times_keys_leaves_24_bits(n_heads: int, width: int, most: int) -> None:
    d = width // n_heads
    assert most**2 * d < 2**24 <= (most + 1) ** 2 * d
    queries, keys, values = f32(np.zeros((3, 1, 2, n_heads, d)))
    values[0, 1] = 1  # what is found is the share of the second key
    for sign in (-1, 1):
        # By hand: products of 4 times ``most`` and of 0; a product of 4 is a step of the table.
        queries[0, :, 0, -1], keys[0, :, 0, -1] = [sign * 1e9, sign * 4], [sign * 4, 0]
        added = f32([[[[0, most]]]])
        found = attend(joined(queries, keys, values), n_heads, (0, 1), added)
        assert found[0, 0, :d].tolist() == [SHARE / 2] * d
        # Products of the second query that are 32 apart.
        keys[0, :, 0, -1] = [sign * 1e30, sign * (most - 8)]
        found = attend(joined(queries, keys, values), n_heads, (1, 2))
        assert found[0, 0, :d].tolist() == [shares_of([0, 8])[1]] * d
        assert found[0, 0, d:].tolist() == [SHARE / 2] * (width - d)


@pytest.mark.parametrize("n_keys", [1, 2, 3, 5, 129, 252, 256])
def test_sums_of_the_greatest_values_are_exact(n_keys: int) -> None:
    # 252 keys get 32.5 steps each, which rounding makes 33: the most that it can add. One value is
    # odd, so that a sum beyond 2**24 would show.
    huge = np.full((1, n_keys, 3 * 32), 1e9, np.float32)
    huge[0, 0, 64:] = 1777
    huge[:, :, 80:] *= -1
    found = attend(huge, 1, (0, n_keys))
    total = round(SHARE / n_keys) * (1777 + 2000 * (n_keys - 1))
    assert total < 2**24
    assert np.array_equal(found[0, :, :16], np.full((n_keys, 16), total))
    assert np.array_equal(found[0, :, 16:], np.full((n_keys, 16), -total))


def test_scores_of_the_greatest_points_are_exact() -> None:
    # Queries and keys of 724 = isqrt((2**24 - 1) / 32). The last number of the query is 1, so that
    # sums differ by 4 and 32; 4 are a step of the table.
    queries, keys, values = np.full((3, 1, 3, 1, 32), 724, np.float32)
    queries[..., -1], keys[0, :, 0, -1] = 1, [724, 720, 692]
    values[0, :, 0] = np.eye(3, 32)
    found = attend(joined(queries, keys, values), 1, (0, 3))
    assert found[0, :, :3].tolist() == [shares_of([0, 1, 8]).tolist()] * 3


@pytest.mark.parametrize(
    "differences",
    [[0], [0, 0], [0, 1], [0, 511, 512, 513], [0, 700] * 3, [0, *[3333] * 5],
     [0, *[5376] * 200], [0, *[5500] * 200], [0, *[5631] * 200],
     [0, *[5632] * 200], [0, *[90_000] * 200], [*range(0, 2560, 10)]],
)  # fmt: skip
def test_shares_are_those_of_the_table(differences: list[int]) -> None:
    # Scores are what is added: all products are 0. Many that get nothing take from the best.
    n, added = len(differences), 7.0 - f32(differences)
    zeros = np.zeros((n, n))
    assert shares_by(zeros, zeros, added[None, None, None]) == shares_of(differences).tolist()


def test_parts_of_a_step_do_not_count() -> None:
    zeros, added = np.zeros((3, 3)), f32([[[[0, -4.99, -5]]]])
    assert shares_by(zeros, zeros, added) == shares_of([0, 4, 5]).tolist()


@pytest.mark.parametrize(("k", "q"), [(1, 1), (7, 3), (64, 64), (254, 20)])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_results_are_as_near_softmax_as_the_steps_allow(k: int, q: int, scale: float) -> None:
    queries, keys, values = drawn(k, k)
    random = np.random.default_rng(q)
    added = np.rint(STEPS * random.normal(size=(2, 1, q, k))) / STEPS
    added[1, :, :, 1::3] = -np.inf
    found = attend(joined(queries, keys, values), 3, (0, q), f32(STEPS * added), scale) * SHARED
    wanted = softmax(queries[:, :q], keys, values, added, scale)
    # A share is off by a 1,024th of itself, as are all others together; and by what its last step,
    # the end of the table, and the table's own steps make, each as much as a key's.
    largest = np.abs(values).max() / VALUE
    of_keys = k * (0.5 / SHARE + math.exp(-11) + 0.5 / 65536)
    assert np.abs(found - wanted).max() <= largest * (2 / 1024 + of_keys)
    deviation = np.sqrt(((found - wanted) ** 2).mean())
    assert deviation < 0.002


# With many texts, the last bit of a share decides in some.
@pytest.mark.parametrize(("n", "k"), [(2, 1), (2000, 3), (2, 256)])
@pytest.mark.parametrize("scale", [1.0, 48**-0.5])
def test_each_operation_is_rounded_by_itself_in_one_order(n: int, k: int, scale: float) -> None:
    queries, keys, values = drawn(k, k, n)
    added = f32(STEPS * np.random.default_rng(k).normal(size=(n, 3, k, k)))
    whole = [a.astype(np.int64).swapaxes(1, 2) for a in (queries, keys, values)]
    products = f32(whole[0] @ whole[1].swapaxes(2, 3))
    scores = products * np.float32(scale * STEPS / 2048) + added
    places = (scores.max(axis=3, keepdims=True) - scores).astype(np.int64)
    sizes = f32(size_of(range(12 * 512)))[np.minimum(places, 11 * 512)]
    parts = np.rint(sizes * (np.float32(SHARE) / sizes.sum(axis=3, keepdims=True)))
    wanted = (parts.astype(np.int64) @ whole[2]).swapaxes(1, 2).reshape(n, k, -1)
    found = attend(joined(queries, keys, values), 3, (0, k), added, scale)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, wanted)


def test_heads_texts_and_queries_do_not_see_each_other() -> None:
    parts = drawn(11, 9, n=3)
    together = attend(joined(*parts), 3, (0, 9), None, 0.25)
    assert together.shape == (3, 9, 48)
    for i, head, place in np.ndindex(3, 3, 9):
        own = joined(*(a[i : i + 1, :, head : head + 1] for a in parts))
        found = attend(own, 1, (place, place + 1), None, 0.25)
        assert found.tobytes() == together[i, place, 16 * head : 16 * head + 16].tobytes()


def test_queries_are_asked_from_the_first_to_that_before_the_last() -> None:
    qkv = joined(*drawn(12, 9))
    added = f32(STEPS * np.random.default_rng(1).normal(size=(2, 3, 9, 9)))
    of_all = attend(qkv, 3, (0, 9), added)
    for first, last in ((0, 1), (0, 4), (3, 4), (2, 7), (5, 9)):
        found = attend(qkv, 3, (first, last), added[:, :, first:last])
        assert found.tobytes() == of_all[:, first:last].tobytes()


def test_what_is_added_is_stretched() -> None:
    qkv, whole = joined(*drawn(13, 5)), np.zeros((2, 3, 4, 5), np.float32)
    random = np.random.default_rng(2)
    for shape in ((1, 1, 1, 5), (2, 1, 1, 5), (1, 3, 4, 5), (2, 1, 4, 1), (1, 1, 1, 1)):
        added = f32(STEPS * random.normal(size=shape))
        found = attend(qkv, 3, (0, 4), added)
        assert found.tobytes() == attend(qkv, 3, (0, 4), whole + added).tobytes()


def test_what_is_given_stays_and_may_be_a_part_of_more() -> None:
    more = np.asfortranarray(f32(50 * np.random.default_rng(3).normal(size=(2, 9, 3, 36))))
    qkv, kept = more[:, 1:8, 1], more.copy()
    found = attend(qkv, 3, (1, 5))
    assert found.tobytes() == attend(np.ascontiguousarray(qkv), 3, (1, 5)).tobytes()
    assert more.tobytes() == kept.tobytes()


def test_keys_that_are_left_out_do_not_show() -> None:
    queries, keys, values = drawn(4, 6, n=1)
    expected = attend(joined(queries, keys, values), 3, (0, 5), None, 0.25)
    queries, keys, values = (
        np.concatenate([a, np.full_like(a, 500)], axis=1) for a in (queries, keys, values)
    )
    added = np.zeros((1, 1, 1, 12), dtype=np.float32)
    added[..., 6:] = -np.inf
    found = attend(joined(queries, keys, values), 3, (0, 5), added, 0.25)
    assert found.tobytes() == expected.tobytes()
    # ... nor does the order of those that count.
    order = np.random.default_rng(1).permutation(12)
    qkv = joined(queries, keys[:, order], values[:, order])
    assert attend(qkv, 3, (0, 5), added[..., order], 0.25).tobytes() == expected.tobytes()


@pytest.mark.parametrize("k", [1, 13, 256])
def test_runners_give_the_same_bits(k: int) -> None:
    qkv, added = joined(*drawn(k, k, n=3)) * np.float32(1.01), np.zeros((3, 1, 1, k), np.float32)
    added[1, ..., k // 2 + 1 :] = -np.inf
    found = attend(qkv, 3, (k // 3, k), added, 48**-0.5)
    with runners.running("numpy"):
        assert attend(qkv, 3, (k // 3, k), added, 48**-0.5).tobytes() == found.tobytes()
