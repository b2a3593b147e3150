"""Graphs of whole numbers: exact sums, near the formulas, the same for a text in any company."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st
from training import encoders
from training.english import graphs as parser_graphs
from training.graphs import (
    EXACT,
    GELU_STEPS,
    GELU_ZERO,
    RAISED,
    SCORE_STEPS,
    SHARED,
    SIGNED,
    UNSIGNED,
    WEIGHT,
    Graph,
    attend,
    attention_scales,
    dequantize,
    product,
    quantize,
    raised_gelu,
    read_tensors,
    row_sums,
)

from beholder.embed import FloatArray, minilm
from beholder.embed.sessions import GraphSession, batch_by_length, lay_out
from beholder.language.model import FOLDER as PARSER
from beholder.language.network import FILES

POINT, VALUE, SHARE = 2**5.5, 2**7, 2**13
"""Steps of attention from 0 to 1: of queries and keys, of values, of shares."""
Arrays = Mapping[str, npt.NDArray[Any]]
Run = Callable[[Graph, Arrays], list[npt.NDArray[Any]]]


def f32(numbers: Any) -> FloatArray:
    return np.array(numbers, dtype=np.float32)


@pytest.fixture
def session(tmp_path: Path) -> Callable[[Graph], GraphSession]:
    """Writes a graph and loads it."""
    count = iter(range(100))

    def load(graph: Graph) -> GraphSession:
        path = tmp_path / f"{next(count)}.onnx"
        graph.write(path)
        return GraphSession(path)

    return load


@pytest.fixture
def multiply(
    session: Callable[[Graph], GraphSession],
) -> Callable[..., Callable[[Any], FloatArray]]:
    """Makes a product of a weight (in, out) and a bias."""

    def make(
        weight: FloatArray,
        bias: FloatArray,
        factors: Any = None,
        raised: float = 0,
    ) -> Callable[[Any], FloatArray]:
        factors = (
            np.ones(len(weight), np.float32) if factors is None else factors
        )
        graph = Graph(rows=("float32", "n", len(weight)))
        tensors = quantize("p", weight, bias, factors, raised)
        graph.output(
            "y",
            product(graph, tensors, "p", "rows", raised),
            "float32",
            "n",
            len(bias),
        )
        run = session(graph)
        return lambda rows: run(["y"], {"rows": f32(rows)})[0]

    return make


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("shape", [(384, 1152), (1536, 384), (8, 3), (5, 1)])
def test_products_are_exact(
    multiply: Any,
    signed: bool,
    shape: tuple[int, int],
) -> None:
    random = np.random.default_rng(3)
    codes = random.integers(-WEIGHT, WEIGHT + 1, shape)
    codes[2] = WEIGHT  # the greatest of each column, so that steps are 1
    low, high = (-SIGNED, SIGNED) if signed else (0, UNSIGNED)
    rows = random.integers(low, high + 1, (37, shape[0]))
    rows[:, 0], rows[::2, 1] = (
        high,
        low,
    )  # the largest of a row has 127 or 255 steps of 1
    # If no number is below 0, the bias is what having added 1 to all takes away.
    bias = np.zeros(shape[1]) if signed else codes.sum(axis=0)
    outputs = multiply(f32(codes), f32(bias), raised=0 if signed else 1)(rows)
    np.testing.assert_array_equal(outputs, rows @ codes)


@pytest.mark.parametrize("greatest", [SIGNED, UNSIGNED])
@pytest.mark.parametrize("sign", [-1, 1])
def test_sums_of_the_greatest_numbers_do_not_saturate(
    multiply: Any,
    greatest: int,
    sign: int,
) -> None:
    # A kernel that adds two products in 16 bits would stop at 32,767; 2 * 255 * 63 is 32,130.
    # The sum is the greatest that is let through: 255 * (1044 * 63 + 21) is 2**24 - 1.
    codes = np.full((1045, 4), sign * WEIGHT)
    codes[-1] = sign * 21
    rows = np.full((5, 1045), greatest)
    if (
        greatest == SIGNED
    ):  # also the numbers that are far below and above 0 in turn
        rows[1:3] *= -1
        rows[3, ::2] *= -1
        rows[4, 1::2] *= -1
    bias = np.zeros(4) if greatest == SIGNED else codes.sum(axis=0)
    outputs = multiply(
        f32(codes),
        f32(bias),
        raised=0 if greatest == SIGNED else 1,
    )(rows)
    np.testing.assert_array_equal(outputs, rows @ codes)


def test_numbers_are_rounded_to_the_nearest_and_halves_to_even(
    multiply: Any,
) -> None:
    eye = f32(np.eye(6) * WEIGHT)
    outputs = multiply(eye, f32(np.zeros(6)))(
        [[-127, 0.5, 1.5, -0.5, -2.5, 3.4], [254, 1, 3, -1, -5, 6.6]]
    )
    assert (outputs / WEIGHT).tolist() == [
        [-127, 0, 2, 0, -2, 3],
        [254, 0, 4, 0, -4, 6],
    ]
    outputs = multiply(eye, eye.sum(axis=0), raised=1)(
        [[255, 0.5, 1.5, 0, 2.5, 3.6]]
    )
    assert (outputs / WEIGHT).tolist() == [[255, 0, 2, 0, 2, 4]]


@pytest.mark.parametrize("raised", [0.0, 3.5])
@pytest.mark.parametrize("scale", [1e-32, 1e-5, 1.0, 1e5])
def test_each_operation_is_rounded_by_itself_in_one_order(
    multiply: Any,
    raised: float,
    scale: float,
) -> None:
    # The same steps in numpy: each operation of IEEE 754 has one result.
    random = np.random.default_rng(5)
    raised, bias = scale * raised, f32(scale * random.normal(size=50))
    weight = f32(random.normal(size=(200, 50)) * random.uniform(0.01, 1, 50))
    factors = f32(2 ** (random.integers(-4, 5, 200) / 4))
    rows = f32(scale * random.normal(size=(64, 200)))
    rows = np.abs(rows) if raised else rows
    divided = weight / factors[:, None]
    steps = np.abs(divided).max(axis=0) / np.float32(63)
    codes = np.rint(divided / steps).astype(np.int64)
    shift = f32(
        bias
        - raised * (codes * factors.astype(float)[:, None]).sum(axis=0) * steps
    )
    inputs = rows * factors
    largest = np.maximum(np.abs(inputs).max(axis=1, keepdims=True), f32(1e-30))
    step = largest / np.float32(255 if raised else 127)
    sums = f32(np.rint(inputs / step).astype(np.int64) @ codes)
    outputs = multiply(weight, bias, factors, raised)(rows)
    assert outputs.dtype == np.float32
    assert outputs.tobytes() == (sums * steps * step + shift).tobytes()


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 130), st.integers(0, 1000))
def test_a_row_is_the_same_in_every_batch(
    tmp_path_factory: pytest.TempPathFactory,
    n: int,
    seed: int,
) -> None:
    random = np.random.default_rng(seed)
    weight, bias = f32(random.normal(size=(24, 8))), f32(random.normal(size=8))
    graph = Graph(rows=("float32", "n", 24))
    tensors = quantize(
        "p",
        weight,
        bias,
        f32(2.0 ** random.integers(-3, 3, 24)),
    )
    graph.output("y", product(graph, tensors, "p", "rows"), "float32", "n", 8)
    path = tmp_path_factory.mktemp("batch") / "p.onnx"
    graph.write(path)
    run = GraphSession(path)
    rows = f32(
        random.normal(size=(n, 24)) * 10.0 ** random.integers(-9, 9, (n, 1))
    )
    each = np.concatenate([run(["y"], {"rows": row[None]})[0] for row in rows])
    order = random.permutation(n)
    assert (
        run(["y"], {"rows": rows[order]})[0].tobytes() == each[order].tobytes()
    )


def test_inputs_are_multiplied_and_their_weights_divided(
    multiply: Any,
) -> None:
    # By hand: 63.5 * 126 + 254 * 31.5 is 16,002. Rows become 127 and 127, weights 63 and 63.
    weight, rows = f32([[126], [31.5]]), [[63.5, 254], [63.5, -254]]
    assert multiply(weight, f32([0.5]), f32([2, 0.5]))(rows).tolist() == [
        [16002.5],
        [0.5],
    ]
    # Without that, the weight of 31.5 lies between two of its column: 15.75 steps are 16.
    assert multiply(weight, f32([0]))([[0, 127]]).tolist() == [[32 * 127]]


def test_what_has_been_added_to_all_numbers_does_not_count(
    multiply: Any,
) -> None:
    weight, bias = f32([[63, -20], [-31, 63]]), f32([7, 0])
    # By hand: numbers of (250, 95) and (-5, 250), raised by 5.
    expected = [
        [250 * 63 - 95 * 31 + 7, -250 * 20 + 95 * 63],
        [-5 * 63 - 250 * 31 + 7, 15850],
    ]
    assert (
        multiply(weight, bias, raised=5)([[255, 100], [0, 255]]).tolist()
        == expected
    )


@pytest.mark.parametrize("raised", [0, 0.25])
def test_rows_and_weights_of_zeros_give_the_bias(
    multiply: Any,
    raised: float,
) -> None:
    rows = np.full((2, 4), raised)
    rows[1] += 1
    outputs = multiply(f32(np.ones((4, 2))), f32([1.5, -2.0]), raised=raised)(
        rows
    )
    np.testing.assert_allclose(outputs, [[1.5, -2], [5.5, 2]], atol=1e-6)
    zeros = multiply(f32(np.zeros((4, 2))), f32([1.5, -2.0]), raised=raised)
    assert zeros(rows).tolist() == [[1.5, -2], [1.5, -2]]


def test_weights_whose_sums_a_float32_would_round_are_refused() -> None:
    weight, ones = (
        np.full((1045, 2), WEIGHT, np.float32),
        np.ones(1045, np.float32),
    )
    weight[-1, 0], weight[-1, 1] = -21, 21  # 255 * 65,793 is 2**24 - 1
    quantize("p", weight, f32([0, 0]), ones)
    weight[-1, 0] = -22
    with pytest.raises(ValueError, match=r"p: sums of weights up to 65794:"):
        quantize("p", weight, f32([0, 0]), ones)


def pairwise_sum(numbers: Sequence[np.float32]) -> np.float32:
    """The order of numpy's sums, by its documentation of ``numpy.sum`` and its C source."""
    if len(numbers) > 128:
        half = len(numbers) // 2
        half -= half % 8
        return pairwise_sum(numbers[:half]) + pairwise_sum(numbers[half:])
    a, b, c, d, e, f, g, h = (
        [*accumulate(numbers[i::8])][-1] for i in range(8)
    )
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@pytest.mark.parametrize("width", [8, 48, 128, 192, 384])
def test_sums_of_rows_have_one_order(
    session: Callable[[Graph], GraphSession],
    width: int,
) -> None:
    rows = f32(np.random.default_rng(width).normal(size=(50, width)))
    graph = Graph(rows=("float32", "n", width))
    graph.output("y", row_sums(graph, "rows", width), "float32", "n", 1)
    (sums,) = session(graph)(["y"], {"rows": rows})
    assert sums[:, 0].tolist() == [pairwise_sum([*row]) for row in rows]


@pytest.mark.parametrize("width", [7, 100, 136, 260])
def test_a_width_without_that_order_is_refused(width: int) -> None:
    with pytest.raises(ValueError, match=f"width={width}: expected 8, 16"):
        row_sums(Graph(rows=("float32", "n", width)), "rows", width)


def test_gelu_is_that_of_scipy_in_steps_and_ends(
    session: Callable[[Graph], GraphSession],
) -> None:
    graph = Graph(places=("float32", "n", "m"))
    graph.output("y", raised_gelu(graph, "places"), "float32", "n", "m")
    run = session(graph)

    def gelu(x: Any) -> FloatArray:
        places = f32(x)[None] * np.float32(GELU_STEPS) + GELU_ZERO
        curve: FloatArray = run(["y"], {"places": places})[0][0]
        return curve

    x = np.linspace(-12, 63, 30_001, dtype=np.float32)
    # Half of a 512th off at most, where the curve rises by 1.13 at most.
    expected = (
        x.astype(np.float64) * scipy.special.ndtr(x.astype(np.float64))
        + RAISED
    )
    np.testing.assert_allclose(gelu(x), expected, rtol=1e-6, atol=1.13 / 1024)
    assert gelu(x).min() > 0
    ends = gelu([0, 20, -20, -7.9, -1e6, 64, 1e6]) - RAISED
    np.testing.assert_allclose(ends[:5], [0, 20, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(ends[5:], 64 - 1 / 512)


@pytest.fixture
def attending(
    session: Callable[[Graph], GraphSession],
) -> Callable[..., FloatArray]:
    """Attention of texts: qkv (texts, k, 3 D) to (texts, q, D), of the first q tokens."""

    def run(
        qkv: FloatArray,
        n_heads: int,
        q: int,
        added: Any = None,
        scale: float = 1,
    ) -> FloatArray:
        n, k, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
        graph = Graph(
            qkv=("float32", "t", 3 * width),
            queries=("int64", "n", "q"),
            keys=("int64", "n", "k"),
            added=("float32", "a", "b", "c", "d"),
        )
        mixed = attend(
            graph,
            "qkv",
            "queries",
            "keys",
            "added",
            width=width,
            n_heads=n_heads,
            scale=scale,
        )
        graph.output("y", mixed, "float32", "t", width)
        keys = np.arange(n * k).reshape(n, k)
        added = np.zeros((1, 1, 1, 1)) if added is None else added
        inputs = {
            "qkv": f32(qkv).reshape(n * k, -1),
            "queries": keys[:, :q],
            "keys": keys,
        }
        (rows,) = session(graph)(["y"], {**inputs, "added": f32(added)})
        return rows.reshape(n, q, width)

    return run


def draw_attention_inputs(
    seed: int,
    k: int,
    n: int = 2,
    heads: int = 3,
    d: int = 16,
) -> list[FloatArray]:
    """Queries, keys and values in steps, each (n, k, heads, d)."""
    random = np.random.default_rng(seed)
    steps = POINT, POINT, VALUE
    return [
        f32(np.rint(step * random.normal(size=(n, k, heads, d))))
        for step in steps
    ]


def joined(*parts: FloatArray) -> FloatArray:
    """Queries, keys and values side by side."""
    return np.concatenate(
        [part.reshape(*part.shape[:2], -1) for part in parts], axis=2
    )


def table_sizes(differences: Any) -> list[int]:
    """Entries of the table by hand: of scores that are so many 512ths below the best."""
    return [
        round(math.exp(-(x + 0.5) / 512) * 65536) if x < 11 * 512 else 0
        for x in differences
    ]


def table_shares(differences: Sequence[int]) -> list[int]:
    """Return the shares of keys, in steps, from their distance below the best in 512ths."""
    sizes = table_sizes(differences)
    return [round(SHARE * size / sum(sizes)) for size in sizes]


def test_steps_are_those_of_queries_keys_and_values() -> None:
    assert attention_scales(1).tolist() == f32([POINT, POINT, VALUE]).tolist()
    assert SHARED == 2.0**-20


def test_values_are_rounded_and_cut(attending: Any) -> None:
    # The only key has a share of 1.
    values = f32([0.5, 1.5, -0.5, -2.5, 2.5, 1999.7, 2001, -1e9])
    qkv = np.concatenate([np.ones(16), values])[None, None]
    assert (attending(qkv, 2, 1) / SHARE).tolist() == [
        [[0, 2, 0, -2, 2, 2000, 2000, -2000]]
    ]


@pytest.mark.parametrize("n_keys", [1, 2, 5, 129, 252, 256])
def test_sums_of_the_greatest_values_are_exact(
    attending: Any,
    n_keys: int,
) -> None:
    # 252 keys get 32.5 steps each, which rounding makes 33: the most that it can add. One value is
    # odd, so that a sum beyond 2**24 would show.
    huge = np.full((1, n_keys, 3 * 32), 1e9, np.float32)
    huge[0, 0, 64:] = 1777
    total = round(SHARE / n_keys) * (1777 + 2000 * (n_keys - 1))
    assert total < EXACT
    assert np.array_equal(
        attending(huge, 1, n_keys)[0], np.full((n_keys, 32), total)
    )


@pytest.mark.parametrize(
    "differences",
    [[0], [0, 0], [0, 1], [0, 511, 512, 513], [0, *[3333] * 5], [0, *[5631] * 200],
     [0, *[5632] * 200], [0, *[90_000] * 200], [*range(0, 2560, 10)]],
)  # fmt: skip
def test_shares_are_those_of_the_table(
    attending: Any,
    differences: list[int],
) -> None:
    # Scores are what is added: all products are 0. Many that get nothing take from the best.
    n, added = len(differences), 7.0 - f32(differences)
    qkv = np.concatenate([np.zeros((n, 2 * n)), np.eye(n)], axis=1)[None]
    shares = attending(qkv, 1, 1, added[None, None, None])[0, 0]
    assert shares.tolist() == table_shares(differences)


@pytest.mark.parametrize(("k", "q"), [(1, 1), (7, 3), (64, 64), (254, 20)])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_results_are_as_near_softmax_as_the_steps_allow(
    attending: Any,
    k: int,
    q: int,
    scale: float,
) -> None:
    queries, keys, values = draw_attention_inputs(k, k)
    added = (
        np.rint(
            SCORE_STEPS * np.random.default_rng(q).normal(size=(2, 1, q, k))
        )
        / SCORE_STEPS
    )
    added[1, :, :, 1::3] = -np.inf
    rows = (
        attending(
            joined(queries, keys, values),
            3,
            q,
            SCORE_STEPS * added,
            scale,
        )
        * SHARED
    )
    # Attention in float64, by scipy, not in steps.
    points = [a.astype(np.float64) / POINT for a in (queries[:, :q], keys)]
    scores = scale * np.einsum("nqhd,nkhd->nhqk", *points) + added
    expected = np.einsum(
        "nhqk,nkhd->nqhd",
        scipy.special.softmax(scores, axis=3),
        values / VALUE,
    )
    expected = expected.reshape(*expected.shape[:2], -1)
    # A share is off by a 1,024th of itself, as are all others together; and by what its last step,
    # the end of the table, and the table's own steps make, each as much as a key's.
    of_keys = k * (0.5 / SHARE + math.exp(-11) + 0.5 / 65536)
    assert np.abs(rows - expected).max() <= np.abs(values).max() / VALUE * (
        2 / 1024 + of_keys
    )
    assert np.sqrt(((rows - expected) ** 2).mean()) < 0.002


def test_keys_that_are_left_out_do_not_show_nor_does_the_order_of_keys(
    attending: Any,
) -> None:
    queries, keys, values = draw_attention_inputs(4, 6, n=1)
    expected = attending(joined(queries, keys, values), 3, 5, None, 0.25)
    queries, keys, values = (
        np.concatenate([a, np.full_like(a, 500)], axis=1)
        for a in (queries, keys, values)
    )
    added = np.zeros((1, 1, 1, 12), dtype=np.float32)
    added[..., 6:] = -np.inf
    rows = attending(joined(queries, keys, values), 3, 5, added, 0.25)
    assert rows.tobytes() == expected.tobytes()
    order = np.random.default_rng(1).permutation(12)
    qkv = joined(queries, keys[:, order], values[:, order])
    assert (
        attending(qkv, 3, 5, added[..., order], 0.25).tobytes()
        == expected.tobytes()
    )


def test_heads_and_texts_do_not_see_each_other(attending: Any) -> None:
    parts = draw_attention_inputs(11, 9, n=3)
    together = attending(joined(*parts), 3, 9, None, 0.25)
    for i, head in np.ndindex(3, 3):
        single_head = joined(
            *(a[i : i + 1, :, head : head + 1] for a in parts)
        )
        columns = together[i, :, 16 * head : 16 * head + 16]
        assert (
            attending(single_head, 1, 9, None, 0.25)[0].tobytes()
            == columns.tobytes()
        )


WIDTH, HEADS = 48, encoders.N_HEADS
LENGTHS = [5, 9, 6, 1, 30, 27, 29, 110, 108, 2, 3, 40, 44]


def tiny_layers(n_layers: int) -> dict[str, FloatArray]:
    """Layers of random weights, as ``step_weights`` takes them."""
    random = np.random.default_rng(0)
    shapes = {"qkv": (3 * WIDTH, WIDTH), "attended": (WIDTH, WIDTH)}
    shapes |= {"up": (4 * WIDTH, WIDTH), "down": (WIDTH, 4 * WIDTH)}
    layers: dict[str, npt.NDArray[Any]] = {}
    for i in range(n_layers):
        for name, (n_out, n_in) in shapes.items():
            layers[f"{i}.{name}"] = (
                random.normal(size=(n_out, n_in)) * n_in**-0.5
            )
            layers[f"{i}.{name}.bias"] = random.normal(size=n_out)
        for name in ("attended_norm", "norm"):
            layers[f"{i}.{name}.weight"] = random.normal(1, 0.3, size=WIDTH)
            layers[f"{i}.{name}.bias"] = random.normal(size=WIDTH)
    return {name: f32(a) for name, a in layers.items()}


def tiny_tensors(
    layers: Arrays,
    *,
    whole: bool,
) -> dict[str, npt.NDArray[Any]]:
    """Return tensors for ``encoder_graph`` and ``entailment_graph``, products of either kind."""
    random = np.random.default_rng(7)
    names = [name for name in layers if f"{name}.bias" in layers]
    factors = {
        name: np.ones(layers[name].shape[1], np.float32) for name in names
    }
    return {
        **encoders.step_weights(layers, factors if whole else None),
        "places table": random.normal(size=(200, WIDTH)).astype(np.float16),
        "norm.weight": f32(random.normal(1, 0.3, size=WIDTH)),
        "norm.bias": f32(random.normal(size=WIDTH)),
        "sides table": f32(random.normal(size=(2, WIDTH))),
        "head.weight": np.rint(2**16 * random.normal(size=(3 * WIDTH, 3)))
        / 2**16,
        "head.bias": random.normal(size=3),
    }


Floats = npt.NDArray[np.float64]


def normal(tensors: Arrays, name: str, x: Floats) -> Floats:
    x = x - x.mean(axis=1, keepdims=True)
    x /= np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-12)
    rows: Floats = x * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]
    return rows


def formulas(layers: Arrays, i: int, x: Floats) -> Floats:
    """A layer of BERT on one text in float64 (Devlin et al. 2019), by numpy and scipy."""

    def linear(name: str, x: Floats) -> Floats:
        rows: Floats = (
            x @ layers[f"{i}.{name}"].T.astype(np.float64)
            + layers[f"{i}.{name}.bias"]
        )
        return rows

    parts = (
        linear("qkv", x).reshape(len(x), 3, HEADS, -1).transpose(1, 2, 0, 3)
    )
    scores = parts[0] @ parts[1].transpose(0, 2, 1) / np.sqrt(WIDTH / HEADS)
    mixed = scipy.special.softmax(scores, axis=2) @ parts[2]
    middle = normal(
        layers,
        f"{i}.attended_norm",
        x + linear("attended", np.hstack([*mixed])),
    )
    up = linear("up", middle)
    return normal(
        layers,
        f"{i}.norm",
        middle + linear("down", up * scipy.special.ndtr(up)),
    )


def tiny_vectors() -> list[FloatArray]:
    random = np.random.default_rng(1)
    return [f32(random.normal(size=(n, WIDTH))) for n in LENGTHS]


def first_states(tensors: Arrays, vectors: FloatArray) -> Floats:
    places = tensors["places table"][: len(vectors)].astype(np.float64)
    return normal(tensors, "norm", vectors + places)


@pytest.mark.parametrize("whole", [False, True])
def test_an_encoder_is_the_formulas_of_bert(
    session: Callable[[Graph], GraphSession],
    whole: bool,
) -> None:
    layers = tiny_layers(2)
    tensors, vectors = tiny_tensors(layers, whole=whole), tiny_vectors()
    inputs = {"vectors": np.concatenate(vectors), **lay_out(LENGTHS)}
    run = session(encoders.encoder_graph(tensors))
    states = run(["state 0", "state 1", "state 2"], inputs)
    expected = [first_states(tensors, rows) for rows in vectors]
    # Rows have a deviation of about 1. Steps of attention and of GELU cost a thousandth a layer;
    # whole numbers of 7 and 8 bits about a hundredth.
    for i, (rows, limit) in enumerate(
        zip(states, (1e-6, 0.02, 0.04), strict=True)
    ):
        if i:
            expected = [formulas(layers, i - 1, x) for x in expected]
        error = rows - np.concatenate(expected)
        assert np.sqrt((error**2).mean()) < (limit if whole else limit / 10)


def test_a_text_has_the_same_bits_in_any_company(
    session: Callable[[Graph], GraphSession],
) -> None:
    tensors, vectors = tiny_tensors(tiny_layers(2), whole=True), tiny_vectors()
    run = session(encoders.encoder_graph(tensors))
    (together,) = run(
        ["state 2"], {"vectors": np.concatenate(vectors), **lay_out(LENGTHS)}
    )
    ends = np.cumsum(LENGTHS)
    for text, rows in zip(vectors, np.split(together, ends[:-1]), strict=True):
        (alone,) = run(["state 2"], {"vectors": text, **lay_out([len(text)])})
        assert alone.tobytes() == rows.tobytes()
    backwards = {
        "vectors": np.concatenate(vectors[::-1]),
        **lay_out(LENGTHS[::-1]),
    }
    parts = np.split(
        run(["state 2"], backwards)[0], np.cumsum(LENGTHS[::-1])[:-1]
    )
    assert np.concatenate(parts[::-1]).tobytes() == together.tobytes()


@pytest.mark.parametrize("whole", [False, True])
def test_entailment_is_the_last_product_of_the_hypothesis(
    session: Callable[[Graph], GraphSession],
    whole: bool,
) -> None:
    layers = tiny_layers(2)
    tensors, vectors = tiny_tensors(layers, whole=whole), tiny_vectors()
    sizes = [1 + (7 * i) % n for i, n in enumerate(LENGTHS)]
    inside = np.arange(max(LENGTHS)) < np.array(sizes)[:, None]
    inputs = {"vectors": np.concatenate(vectors), **lay_out(LENGTHS)}
    inputs["sides"] = inside.ravel()[inputs["kept"]].astype(np.int64)
    inputs |= {
        "queries": inputs["keys"][:, : max(sizes)],
        "inside": inside[:, : max(sizes), None],
    }
    (scores,) = session(encoders.entailment_graph(tensors))(["scores"], inputs)
    expected = []
    for rows, size in zip(vectors, sizes, strict=True):
        sides = tensors["sides table"][
            (np.arange(len(rows)) < size).astype(int)
        ]
        x = first_states(tensors, rows) + sides
        for i in range(2):
            x = formulas(layers, i, x)
        pooled = np.concatenate(
            [x[0], x[:size].mean(axis=0), x[:size].max(axis=0)]
        )
        expected.append(pooled @ tensors["head.weight"] + tensors["head.bias"])
    # Scores have a deviation of about 12, the square root of 144 numbers.
    assert scores.dtype == np.float64
    assert np.sqrt(((scores - expected) ** 2).mean()) < (
        0.6 if whole else 0.06
    )


def test_weights_come_back_from_the_tensors_of_a_graph() -> None:
    layers = tiny_layers(2)
    again = encoders.layer_weights(tiny_tensors(layers, whole=True))
    assert {*again} == {*layers}
    for name, tensor in layers.items():
        # Half a step of 63 of the largest weight of an output.
        np.testing.assert_allclose(
            again[name],
            tensor,
            atol=np.abs(tensor).max() / 120,
        )


def test_a_product_that_was_quantized_is_read_back() -> None:
    weight, factors = f32([[63, -20], [-31, 63]]), f32([1, 1])
    tensors = quantize("p", weight, f32([7, 0]), factors, raised=5)
    again, bias = dequantize(tensors, "p", raised=5)
    assert (again.tolist(), bias.tolist()) == (weight.tolist(), [7, 0])


def test_batches_have_texts_of_about_one_length_and_each_text_once() -> None:
    lengths = [3, 200, 4, 50, 52, 300, 3, *[30] * 9, 1]
    batches = batch_by_length(lengths)
    assert sorted(i for batch in batches for i in batch) == [
        *range(len(lengths))
    ]
    for batch in batches:
        sizes = [lengths[i] for i in batch]
        assert len(batch) == 1 or sum(sizes) <= 128
        assert max(sizes) <= 1.3 * min(sizes) + 2
    assert batch_by_length([]) == []


def test_the_shipped_encoders_are_what_training_writes() -> None:
    for name, graph in (
        ("tokens", encoders.token_graph),
        ("encoder", encoders.encoder_graph),
        ("entailment", encoders.entailment_graph),
    ):
        path = minilm.FOLDER / f"{name}.onnx"
        assert graph(read_tensors(path)).encode() == path.read_bytes(), (
            path.name
        )


def test_the_shipped_parser_is_what_training_writes() -> None:
    words, texts, relations = (PARSER / name for name in FILES)
    assert (
        parser_graphs.word_graph(read_tensors(words)).encode()
        == words.read_bytes()
    )
    assert (
        parser_graphs.relation_graph(read_tensors(relations)).encode()
        == relations.read_bytes()
    )
    labels = GraphSession(texts).metadata("labels")
    assert (
        parser_graphs.text_graph(read_tensors(texts), labels).encode()
        == texts.read_bytes()
    )


def test_the_shipped_encoder_has_the_same_bits_for_a_text_in_any_company() -> (
    None
):
    texts = [
        "A man in a red coat.",
        "a dog",
        "a big dog",
        "",
        "a long walk by the river, " * 30,
    ]
    ids = [minilm.read_tokens(text).ids for text in texts]
    together = minilm.token_states(ids)
    for text, states in zip(ids, together, strict=True):
        assert minilm.token_states([text])[0].tobytes() == states.tobytes()
