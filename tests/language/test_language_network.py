"""The network's parts against their formulas, written out word by word."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from safetensors import safe_open

from beholder.embed import minilm
from beholder.embed.minilm import Norm, Packed
from beholder.language import model
from beholder.language.network import (
    FAR,
    N_HEADS,
    SUFFIXES,
    WIDTH,
    Network,
    _Block,
    _by_place,
    best_tree,
    shape,
)
from toy import runners

SENTENCES = [
    line
    for line in Path(__file__).with_name("graphs.txt").read_text(encoding="utf-8").splitlines()
    if line and line[0] not in " #="
]
Floats = npt.NDArray[np.floating]
POINT, VALUE, SHARE = 2**5.5, 2**7, 2**13
"""Steps of attention from 0 to 1: of queries and keys, of values, of shares."""
STEPS = np.repeat([POINT, POINT, VALUE], WIDTH)
Part: TypeAlias = Callable[[str, Floats], Floats]
"""What a part of a network, by its name, makes of rows."""


@pytest.mark.parametrize(
    ("word", "expected"),
    [("dog", 1), ("I", 2), ("USA", 3), ("Paris", 4), ("iPad", 5), ("2010", 6), ("3rd", 7),
     ("...", 8), ("off-white", 9), ("T-shirt", 10)],
)  # fmt: skip
def test_shapes(word: str, expected: int) -> None:
    assert shape(word) == expected


def plain(
    name: str, weight: Floats, bias: Floats, raised: float
) -> Callable[[Floats], npt.NDArray[np.float32]]:
    """A product of floating point."""
    wide = weight.astype(np.float64)

    def multiply(rows: Floats) -> npt.NDArray[np.float32]:
        found: npt.NDArray[np.float32] = (rows @ wide + bias).astype(np.float32)
        return found

    return multiply


def _norm(rows: Floats, norm: Norm) -> Floats:
    deviation = np.sqrt(rows.var(axis=-1, keepdims=True) + 1e-5)
    found: Floats = (rows - rows.mean(axis=-1, keepdims=True)) / deviation
    return found * norm.weight + norm.bias


def _formulas(x: Floats, linear: Part, norm: Part, distances: Floats) -> Floats:
    """A block, in float64."""
    n = len(x)
    y = norm("near_norm", x)
    none = np.zeros(WIDTH)
    after = x.astype(np.float64)
    for place in range(n):
        before = y[place - 1] if place else none
        behind = y[place + 1] if place + 1 < n else none
        both = linear("near", np.concatenate((before, y[place], behind)))
        after[place] += np.maximum(both[:WIDTH], both[WIDTH:])
    qkv = linear("qkv", norm("wide_norm", after))
    queries, keys, values = qkv.reshape(n, 3, N_HEADS, -1).transpose(1, 0, 2, 3)
    expected = after.copy()
    for place in range(n):
        own = place // 64 * 64
        seen = range(max(0, own - 64), min(n, own + 128))
        mixed = []
        for head in range(N_HEADS):
            scores = np.array(
                [
                    queries[place, head] @ keys[other, head]
                    + distances[head, min(max(other - place, -FAR), FAR) + FAR]
                    for other in seen
                ]
            )
            weights = np.exp(scores - scores.max())
            mixed.append(weights / weights.sum() @ values[list(seen), head])
        expected[place] += linear("attended", np.concatenate(mixed))
    return expected


def _assert_near(found: Floats, expected: Floats) -> None:
    """As near as steps of shares and of the exponential allow."""
    error = np.abs(found - expected)
    assert error.max() < 0.01
    assert np.sqrt((error**2).mean()) < 0.001


@pytest.mark.parametrize("n", [1, 65, 128, 129, 200])
def test_a_block_is_convolution_and_attention_to_the_neighbourhood(n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, WIDTH)).astype(np.float32)
    parts = rng.normal(size=(4, WIDTH)).astype(np.float32)
    norms = {
        "near_norm": Norm(parts[0], parts[1], 1e-5),
        "wide_norm": Norm(parts[2], parts[3], 1e-5),
    }
    weights = {"near": rng.normal(size=(3 * WIDTH, 2 * WIDTH)) * WIDTH**-0.5}
    weights["attended"] = rng.normal(size=(WIDTH, WIDTH)) * WIDTH**-0.5
    biases = {"near": rng.normal(size=2 * WIDTH), "attended": rng.normal(size=WIDTH)}
    distances = rng.normal(size=(N_HEADS, 2 * FAR + 1)).astype(np.float32)
    # Queries, keys and values are whole numbers of steps, so that none is rounded.
    qkv: npt.NDArray[np.float32]
    qkv = np.rint(rng.normal(size=(n, 3 * WIDTH)) * STEPS).astype(np.float32)
    given: list[Floats] = []

    def make_qkv(rows: Floats) -> npt.NDArray[np.float32]:
        given.append(rows)
        return qkv

    def linear(name: str, rows: Floats) -> Floats:
        if name == "qkv":
            given.append(rows)
        found: Floats = qkv / STEPS if name == "qkv" else rows @ weights[name] + biases[name]
        return found

    block = _Block(
        near_norm=norms["near_norm"],
        near=plain("near", weights["near"], biases["near"], 0),
        wide_norm=norms["wide_norm"],
        qkv=make_qkv,
        attended=plain("", weights["attended"] / (VALUE * SHARE), biases["attended"], 0),
        distances=_by_place(distances),
    )
    found = block(x)
    _assert_near(found, _formulas(x, linear, lambda name, x: _norm(x, norms[name]), distances))
    np.testing.assert_allclose(given[0], given[1], rtol=1e-5, atol=1e-5)


def test_a_reading_is_the_formulas_over_the_stored_weights() -> None:
    words = ["A", "3rd", "dog", "in", "auto-parks", "sleeps", "near", "Rome", ",", "USA", "."]
    with safe_open(str(model.FILE), framework="np") as file:
        stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        labels = json.loads(file.metadata()["labels"])

    def matrix(name: str) -> Floats:
        return Packed(stored[f"{name}.planes"], stored[f"{name}.scales"]).rows(slice(None))

    def linear(name: str, x: Floats) -> Floats:
        found: Floats = matrix(name) @ x + stored[f"{name}.bias"]
        return found

    def norm(name: str, x: Floats) -> Floats:
        return _norm(x, Norm(stored[f"{name}.weight"], stored[f"{name}.bias"], 1e-5))

    tokenizer, pieces = minilm.pieces()
    first = []
    for word in words:
        ids = tokenizer.encode(word, add_special_tokens=False).ids
        ending = zlib.crc32(word[-3:].lower().encode()) % SUFFIXES
        mean = np.mean([pieces.rows(np.array([i]))[0] for i in ids], axis=0)
        added = matrix("suffixes")[ending] + matrix("shapes")[shape(word)]
        first.append(norm("norm", linear("embed", mean) + added))
    x = np.stack(first).astype(np.float32)
    network = Network(model.FILE, plain)
    for i, block in enumerate(network._blocks):

        def product(name: str, x: Floats, i: int = i) -> Floats:
            found: Floats = x @ matrix(f"{i}.{name}").T + stored[f"{i}.{name}.bias"]
            return np.rint(found * STEPS) / STEPS if name == "qkv" else found

        def of_block(name: str, x: Floats, i: int = i) -> Floats:
            return norm(f"{i}.{name}", x)

        given, x = x, block(x)
        _assert_near(x, _formulas(given, product, of_block, stored[f"{i}.distances"]))
    x = norm("last", x)

    read = network.read(words)
    for row, tag, part in zip(x, read.tags, read.parts, strict=True):
        tags, parts = linear("tags", row), linear("parts", row)
        i, j = max(labels["pairs"], key=lambda pair: tags[pair[0]] + parts[pair[1]])
        assert (labels["tags"][i], labels["parts"][j]) == (tag, part)
    assert all(linear("starts", row)[0] <= 0 for row in x[1:])  # one sentence
    scores = np.array(
        [
            [
                linear("arc", np.maximum(linear("arc_dependent", own), 0))
                @ np.maximum(linear("arc_head", head), 0)
                if i != j
                else linear("roots", own)[0]
                for j, head in enumerate(x)
            ]
            for i, own in enumerate(x)
        ]
    )
    assert read.heads.tolist() == best_tree(scores).tolist()
    chosen = scores[range(len(words)), read.heads]
    others = scores.copy()
    others[range(len(words)), read.heads] = -np.inf
    np.testing.assert_allclose(read.margins[:, 1], chosen - others.max(axis=1), atol=0.001)
    for place, (head, relation) in enumerate(zip(read.heads.tolist(), read.relations, strict=True)):
        if place == head:
            continue
        both = linear("relation_dependent", x[place]) + linear("relation_head", x[head])
        of_words = linear("relations", np.maximum(both, 0))
        of_words[labels["relations"].index("root")] = -np.inf
        assert relation == labels["relations"][of_words.argmax()]


def test_whole_numbers_seldom_change_a_reading() -> None:
    whole, floating = Network(model.FILE), Network(model.FILE, plain)
    n_changed, errors = 0, []
    for sentence in SENTENCES[::7]:
        words = sentence.split(" ")
        found, wanted = whole.read(words), floating.read(words)
        for name in ("tags", "parts", "heads", "relations"):
            pairs = zip(getattr(found, name), getattr(wanted, name), strict=True)
            n_changed += sum(a != b for a, b in pairs)
        errors.append(np.abs(found.margins - wanted.margins))
    of_words = np.concatenate(errors)
    assert len(of_words) > 200
    assert n_changed <= 0.01 * 4 * len(of_words)
    # Most margins are above 5.
    assert 0.001 < np.median(of_words) < 0.2


@pytest.mark.skipif(len(runners.RUNNERS) == 1, reason="onnxruntime is not installed")
def test_runners_give_the_same_bits() -> None:
    text = " ".join(SENTENCES[:25]).split(" ")  # more words than are computed together
    assert len(text) > 128
    found = []
    for each in runners.RUNNERS:
        with runners.running(each):
            read = Network(model.FILE).read(text)
        arrays = [read.heads.tolist(), read.near_verbs.tolist(), read.margins.tobytes()]
        found.append([read.tags, read.parts, read.relations, *arrays])
    assert found[0] == found[1]


def test_a_text_without_words_has_no_reading() -> None:
    read = Network(model.FILE).read([])
    assert (read.tags, read.parts, read.heads.tolist(), read.relations) == ([], [], [], [])


def test_roots_and_only_roots_have_the_relation_root() -> None:
    text = "The dog sleeps . A cat , which is black , sits on the mat ."
    words = text.split(" ")
    read = Network(model.FILE).read(words)
    roots = [place for place, head in enumerate(read.heads.tolist()) if head == place]
    assert [words[place] for place in roots] == ["sleeps", "sits"]
    assert [place for place, name in enumerate(read.relations) if name == "root"] == roots


@pytest.mark.slow
def test_tags_and_parts_are_pairs_that_treebanks_have() -> None:
    with safe_open(str(model.FILE), framework="np") as file:
        labels = json.loads(file.metadata()["labels"])
    known = {(labels["tags"][i], labels["parts"][j]) for i, j in labels["pairs"]}
    read = Network(model.FILE).read
    for sentence in SENTENCES:
        found = read(sentence.split(" "))
        assert set(zip(found.tags, found.parts, strict=True)) <= known, sentence
