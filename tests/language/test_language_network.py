"""The network's parts against their formulas, written out word by word."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

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
    _Affine,
    _Block,
    _by_place,
    best_tree,
    shape,
)

SENTENCES = [
    line
    for line in Path(__file__).with_name("graphs.txt").read_text(encoding="utf-8").splitlines()
    if line and line[0] not in " #="
]
Floats = npt.NDArray[np.floating]


@pytest.mark.parametrize(
    ("word", "expected"),
    [("dog", 1), ("I", 2), ("USA", 3), ("Paris", 4), ("iPad", 5), ("2010", 6), ("3rd", 7),
     ("...", 8), ("off-white", 9), ("T-shirt", 10)],
)  # fmt: skip
def test_shapes(word: str, expected: int) -> None:
    assert shape(word) == expected


def _random_block(rng: np.random.Generator) -> tuple[_Block, Floats]:
    def linear(n_in: int, n_out: int) -> _Affine:
        weight = rng.normal(size=(n_in, n_out)).astype(np.float32) * np.float32(n_in**-0.5)
        return _Affine(weight, rng.normal(size=n_out).astype(np.float32))

    def norm() -> Norm:
        weight, bias = rng.normal(size=(2, WIDTH)).astype(np.float32)
        return Norm(weight, bias, 1e-5)

    distances = rng.normal(size=(N_HEADS, 2 * FAR + 1)).astype(np.float32)
    block = _Block(
        near_norm=norm(),
        near=linear(3 * WIDTH, 2 * WIDTH),
        wide_norm=norm(),
        qkv=linear(WIDTH, 3 * WIDTH),
        attended=linear(WIDTH, WIDTH),
        distances=_by_place(distances),
    )
    return block, distances


def _norm(rows: Floats, norm: Norm) -> Floats:
    deviation = np.sqrt(rows.var(axis=-1, keepdims=True) + 1e-5)
    found: Floats = (rows - rows.mean(axis=-1, keepdims=True)) / deviation
    return found * norm.weight + norm.bias


@pytest.mark.parametrize("n", [1, 64, 65, 150])
def test_a_block_is_convolution_and_attention_to_the_neighbourhood(n: int) -> None:
    rng = np.random.default_rng(n)
    block, distances = _random_block(rng)
    x = rng.normal(size=(n, WIDTH)).astype(np.float32)

    y = _norm(x, block.near_norm)
    none = np.zeros(WIDTH)
    after = x.astype(np.float64)
    for place in range(n):
        before = y[place - 1] if place else none
        behind = y[place + 1] if place + 1 < n else none
        both = np.concatenate((before, y[place], behind)) @ block.near.weight + block.near.bias
        after[place] += np.maximum(both[:WIDTH], both[WIDTH:])
    qkv = _norm(after, block.wide_norm) @ block.qkv.weight + block.qkv.bias
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
        expected[place] += np.concatenate(mixed) @ block.attended.weight + block.attended.bias
    np.testing.assert_allclose(block(x), expected, rtol=1e-3, atol=1e-3)


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
    network = Network(model.FILE)
    for block in network._blocks:
        x = block(x)
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
                if own is not head
                else linear("roots", own)[0]
                for head in x
            ]
            for own in x
        ]
    )
    assert read.heads.tolist() == best_tree(scores).tolist()
    for place, (head, relation) in enumerate(zip(read.heads.tolist(), read.relations, strict=True)):
        if place == head:
            continue
        both = linear("relation_dependent", x[place]) + linear("relation_head", x[head])
        of_words = linear("relations", np.maximum(both, 0))
        of_words[labels["relations"].index("root")] = -np.inf
        assert relation == labels["relations"][of_words.argmax()]


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
