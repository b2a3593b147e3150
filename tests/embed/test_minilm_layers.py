"""Layers of BERT: the formulas, in any company, and with each runner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.special
from safetensors import safe_open

from beholder.embed import FloatArray, minilm
from beholder.embed.minilm import Layer, Packed
from beholder.embed.whole import MakeLinear, Multiply, WholeLinear
from toy import runners

runner = runners.each
WIDTH, HEADS = 48, 12
LENGTHS = [5, 9, 6, 1, 30, 27, 29, 110, 108, 2, 3, *[40] * 9, 44]
"""Some are near those beside them, some far; not all of 40 tokens are computed together."""
TEXTS = [
    "A man in a red coat.",
    "a dog",
    "a big dog",
    "don't stop at 3.5 metres!",
    "",
    "a long walk by the river, " * 30,
]
Floats = npt.NDArray[np.float64]


def plain(name: str, weight: FloatArray, bias: FloatArray, raised: float) -> Multiply:
    """A product of floating point."""
    return lambda rows: (rows - np.float32(raised)) @ weight + bias


def whole(name: str, weight: FloatArray, bias: FloatArray, raised: float) -> Multiply:
    return WholeLinear(weight, bias, None, raised)


def drawn() -> dict[str, FloatArray]:
    """A layer, by the names of the packed model."""
    random = np.random.default_rng(0)
    shapes = {"qkv": (3 * WIDTH, WIDTH), "attended": (WIDTH, WIDTH)}
    shapes |= {"up": (4 * WIDTH, WIDTH), "down": (WIDTH, 4 * WIDTH)}
    found: dict[str, FloatArray] = {}
    for name, (n_out, n_in) in shapes.items():
        found[f"0.{name}"] = random.normal(size=(n_out, n_in)) * n_in**-0.5
        found[f"0.{name}.bias"] = random.normal(size=n_out)
    for name in ("attended_norm", "norm"):
        found[f"0.{name}.weight"] = random.normal(1, 0.3, size=WIDTH)
        found[f"0.{name}.bias"] = random.normal(size=WIDTH)
    return {name: tensor.astype(np.float32) for name, tensor in found.items()}


def layer(linear: MakeLinear) -> Layer:
    stored = drawn()
    return minilm.layer(0, stored.__getitem__, stored.__getitem__, linear)


def rows(lengths: Sequence[int]) -> FloatArray:
    return np.random.default_rng(1).normal(size=(sum(lengths), WIDTH)).astype(np.float32)


def through(
    layers: Sequence[Layer], lengths: Sequence[int], x: FloatArray, first: Any = None
) -> list[FloatArray]:
    return minilm.through(layers, [[0] * n for n in lengths], x, first)


def formulas(x: FloatArray) -> Floats:
    """The layer on one text, in float64, with queries, keys and values in steps."""
    stored = drawn()

    def linear(name: str, x: Floats) -> Floats:
        found: Floats = x @ stored[f"0.{name}"].T.astype(np.float64) + stored[f"0.{name}.bias"]
        return found

    def norm(name: str, x: Floats) -> Floats:
        x = x - x.mean(axis=1, keepdims=True)
        x /= np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-12)
        found: Floats = x * stored[f"0.{name}.weight"] + stored[f"0.{name}.bias"]
        return found

    given = x.astype(np.float64)
    qkv = linear("qkv", given)
    steps = np.repeat([2**5.5, 2**5.5, 2**7], WIDTH)
    parts = (np.rint(qkv * steps) / steps).reshape(len(x), 3, HEADS, -1).transpose(1, 2, 0, 3)
    scores = parts[0] @ parts[1].transpose(0, 2, 1) / np.sqrt(WIDTH / HEADS)
    mixed = scipy.special.softmax(scores, axis=2) @ parts[2]
    middle = norm("attended_norm", given + linear("attended", np.hstack([*mixed])))
    up = linear("up", middle)
    return norm("norm", middle + linear("down", up * scipy.special.ndtr(up)))


def test_a_layer_is_the_formulas_of_bert() -> None:
    x = rows(LENGTHS)
    found = through([layer(plain)], LENGTHS, x)
    assert [*map(len, found)] == LENGTHS
    ends = np.cumsum(LENGTHS)[:-1]
    wanted = np.concatenate([*map(formulas, np.split(x, ends))])
    error = np.abs(np.concatenate(found) - wanted)
    assert error.max() < 0.02
    assert np.sqrt((error**2).mean()) < 0.0005


def test_a_layer_of_whole_numbers_is_near_the_formulas() -> None:
    x = rows([30])
    error = through([layer(whole)], [30], x)[0] - formulas(x)
    assert np.sqrt((error**2).mean()) < 0.02  # rows have a deviation of about 1


@pytest.fixture
def together(runner: str) -> tuple[list[Layer], FloatArray, list[FloatArray]]:
    """Layers, what they get, and what they make of all texts."""
    layers, x = [layer(whole), layer(whole)], rows(LENGTHS)
    return layers, x, through(layers, LENGTHS, x)


def test_a_text_has_the_same_bits_in_any_company(
    together: tuple[list[Layer], FloatArray, list[FloatArray]],
) -> None:
    layers, x, expected = together
    texts = np.split(x, np.cumsum(LENGTHS)[:-1])
    for text, found in zip(texts, expected, strict=True):
        assert through(layers, [len(text)], text)[0].tobytes() == found.tobytes()
    backwards = through(layers, LENGTHS[::-1], np.concatenate(texts[::-1]))
    assert [a.tobytes() for a in backwards[::-1]] == [a.tobytes() for a in expected]


def test_the_first_tokens_alone_are_those_of_all(
    together: tuple[list[Layer], FloatArray, list[FloatArray]],
) -> None:
    layers, x, expected = together
    first = [1 + (7 * i) % n for i, n in enumerate(LENGTHS)]
    some = through(layers, LENGTHS, x, first)
    for found, all_of_them, n in zip(some, expected, first, strict=True):
        assert found.shape == (n, WIDTH)
        assert found.tobytes() == all_of_them[:n].tobytes()


@pytest.fixture(scope="module")
def ids() -> list[list[int]]:
    return [minilm.read_tokens(text).ids for text in TEXTS]


def shipped() -> tuple[Layer, ...]:
    with safe_open(str(minilm.FOLDER / "minilm.safetensors"), framework="np") as file:
        return minilm.layers(file, minilm.INPUTS)


def test_the_encoder_gives_the_same_bits_with_each_runner_and_in_any_company(
    ids: list[list[int]],
) -> None:
    x, layers = minilm.embedded(ids), shipped()
    expected = [a.tobytes() for a in minilm.token_states(ids)]
    for each in runners.RUNNERS:
        with runners.running(each):
            assert [a.tobytes() for a in minilm.through(shipped(), ids, x)] == expected
    for text, bits in zip(ids, expected, strict=True):
        assert minilm.through(layers, [text], minilm.embedded([text]))[0].tobytes() == bits


def test_whole_numbers_change_the_vectors_of_the_encoder_little(ids: list[list[int]]) -> None:
    with safe_open(str(minilm.FOLDER / "minilm.safetensors"), framework="np") as file:
        stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118

    def matrix(name: str) -> FloatArray:
        return Packed(stored[f"{name}.planes"], stored[f"{name}.scales"]).rows(slice(None))

    layers = [minilm.layer(i, matrix, stored.__getitem__, plain) for i in range(minilm.N_LAYERS)]
    x = minilm.embedded(ids)
    found, wanted = (
        np.concatenate(minilm.through(some, ids, x)).astype(np.float64)
        for some in (shipped(), layers)
    )
    cosines = (found * wanted).sum(axis=1) / np.linalg.norm(found, axis=1)
    cosines /= np.linalg.norm(wanted, axis=1)
    assert cosines.min() > 0.99
    assert cosines.mean() > 0.995
