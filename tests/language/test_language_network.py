"""The network's parts against their formulas, written out word by word."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from training.english import graphs
from training.graphs import dequantize, read_tensors
from training.packing import decode

from beholder.embed import minilm
from beholder.embed.sessions import GraphSession
from beholder.language import model
from beholder.language.network import (
    FAR,
    FILES,
    N_BLOCKS,
    N_HEADS,
    NEAR,
    SUFFIXES,
    WIDTH,
    Network,
    _lay_out,
    best_tree,
    shape,
)
from toy.cases import each_case

SENTENCES = [
    line
    for line in Path(__file__)
    .with_name("graphs.txt")
    .read_text(encoding="utf-8")
    .splitlines()
    if line and line[0] not in " #="
]
Floats = npt.NDArray[np.floating]
POINT = 2**5.5
VALUE = 2**7
SHARE = 2**13
"""Steps of attention from 0 to 1: of queries and keys, of values, of shares."""
STEPS = np.repeat([POINT, POINT, VALUE], WIDTH)
Stored = Mapping[str, npt.NDArray[Any]]


@each_case(
    ("word", "expected"),
    [("dog", 1), ("I", 2), ("USA", 3), ("Paris", 4), ("iPad", 5), ("2010", 6), ("3rd", 7),
     ("...", 8), ("off-white", 9), ("T-shirt", 10)],
)  # fmt: skip
def test_words_have_the_expected_shape(word: str, expected: int) -> None:
    assert shape(word) == expected


def _norm(stored: Stored, name: str, rows: Floats) -> Floats:
    deviation = np.sqrt(rows.var(axis=-1, keepdims=True) + 1e-5)
    scaled: Floats = (rows - rows.mean(axis=-1, keepdims=True)) / deviation
    return scaled * stored[f"{name}.weight"] + stored[f"{name}.bias"]


def _linear(stored: Stored, name: str, rows: Floats) -> Floats:
    products: Floats = (
        rows @ stored[name].T.astype(np.float64) + stored[f"{name}.bias"]
    )
    return products


def _formulas(x: Floats, stored: Stored, i: int) -> Floats:
    """A block on one text, in float64, word by word."""
    n = len(x)
    y = _norm(stored, f"{i}.near_norm", x)
    none = np.zeros(WIDTH)
    after = x.astype(np.float64)
    for place in range(n):
        before = y[place - 1] if place else none
        behind = y[place + 1] if place + 1 < n else none
        both = _linear(
            stored, f"{i}.near", np.concatenate((before, y[place], behind))
        )
        after[place] += np.maximum(both[:WIDTH], both[WIDTH:])
    qkv = _linear(stored, f"{i}.qkv", _norm(stored, f"{i}.wide_norm", after))
    qkv = np.rint(qkv * STEPS) / STEPS
    queries, keys, values = qkv.reshape(n, 3, N_HEADS, -1).transpose(
        1, 0, 2, 3
    )
    distances = stored[f"{i}.distances"]
    expected = after.copy()
    for place in range(n):
        # Of a text of up to 128 words all are seen; of a longer one 64 around the group of 64.
        group_start = place // 64 * 64
        visible = (
            range(n)
            if n <= 128
            else range(max(0, group_start - 64), min(n, group_start + 128))
        )
        mixed = []
        for head in range(N_HEADS):
            scores = np.array(
                [
                    queries[place, head] @ keys[neighbour, head]
                    + distances[
                        head, min(max(neighbour - place, -FAR), FAR) + FAR
                    ]
                    for neighbour in visible
                ]
            )
            weights = np.exp(scores - scores.max())
            mixed.append(weights / weights.sum() @ values[list(visible), head])
        expected[place] += _linear(
            stored, f"{i}.attended", np.concatenate(mixed)
        )
    return expected


def random_weights() -> dict[str, npt.NDArray[np.float32]]:
    """A network of random weights (out, in), as ``step_weights`` takes them."""
    random = np.random.default_rng(0)
    sizes = {
        "embed": (WIDTH, 384),
        "arc": (WIDTH, WIDTH),
        "relations": (5, WIDTH),
    }
    sizes |= dict.fromkeys(("arc_dependent", "arc_head"), (WIDTH, WIDTH))
    sizes |= dict.fromkeys(
        ("relation_dependent", "relation_head"), (WIDTH, WIDTH)
    )
    sizes |= {
        "tags": (7, WIDTH),
        "parts": (3, WIDTH),
        "starts": (1, WIDTH),
        "roots": (1, WIDTH),
    }
    norms = ["norm", "last"]
    stored = {}
    for i in range(N_BLOCKS):
        sizes |= {
            f"{i}.near": (2 * WIDTH, 3 * WIDTH),
            f"{i}.qkv": (3 * WIDTH, WIDTH),
        }
        sizes |= {f"{i}.attended": (WIDTH, WIDTH)}
        norms += [f"{i}.near_norm", f"{i}.wide_norm"]
        stored[f"{i}.distances"] = random.normal(size=(N_HEADS, 2 * FAR + 1))
    for name, (n_out, n_in) in sizes.items():
        # Of small scale, so that three blocks of random weights do not magnify what is rounded.
        stored[name] = 0.5 * random.normal(size=(n_out, n_in)) * n_in**-0.5
        stored[f"{name}.bias"] = random.normal(size=n_out)
    for name in norms:
        stored[f"{name}.weight"] = random.normal(1, 0.3, size=WIDTH)
        stored[f"{name}.bias"] = random.normal(size=WIDTH)
    return {name: a.astype(np.float32) for name, a in stored.items()}


@pytest.fixture(scope="module")
def drawn_texts(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, Floats], GraphSession]:
    """Random weights and the graph of texts with them."""
    stored = random_weights()
    file = tmp_path_factory.mktemp("drawn") / "texts.onnx"
    graphs.text_graph(graphs.step_weights(stored, None), "[]").write(file)
    return stored, GraphSession(file)


@pytest.mark.parametrize(
    "lengths", [[1], [65], [128], [129], [200], [3, 130, 1, 20]]
)
def test_blocks_are_convolution_and_attention_to_the_neighbourhood(
    lengths: list[int], drawn_texts: tuple[dict[str, Floats], GraphSession]
) -> None:
    stored, session = drawn_texts
    x = (
        np.random.default_rng(sum(lengths))
        .normal(size=(sum(lengths), WIDTH))
        .astype(np.float32)
    )
    names = ["labels", "dependents", "heads", "related"]
    outputs = session(names, {"vectors": x, **_lay_out(lengths)})
    texts: list[Floats] = []
    for rows in np.split(x, np.cumsum(lengths)[:-1]):
        after: Floats = rows
        for i in range(N_BLOCKS):
            after = _formulas(after, stored, i)
        texts.append(after)
    last = _norm(stored, "last", np.concatenate(texts))

    def linear(*names: str) -> Floats:
        return np.hstack([_linear(stored, name, last) for name in names])

    expected_outputs = [
        linear("tags", "parts", "starts", "roots"),
        _linear(stored, "arc", np.maximum(linear("arc_dependent"), 0)),
        np.maximum(linear("arc_head"), 0),
        linear("relation_dependent", "relation_head"),
    ]
    for rows, expected in zip(outputs, expected_outputs, strict=True):
        error = rows - expected
        # As near as steps of shares and of the exponential allow.
        assert np.abs(error).max() < 0.02
        assert np.sqrt((error**2).mean()) < 0.002


def test_a_reading_is_the_formulas_over_the_stored_weights() -> None:
    words = [
        "A",
        "3rd",
        "dog",
        "in",
        "auto-parks",
        "sleeps",
        "near",
        "Rome",
        ",",
        "USA",
        ".",
    ]
    tensors = {
        k: a
        for name in FILES
        for k, a in read_tensors(model.FOLDER / name).items()
    }
    labels = json.loads(
        GraphSession(model.FOLDER / FILES[1]).metadata("labels")
    )

    def linear(name: str, x: Floats) -> Floats:
        weight, bias = dequantize(tensors, name)
        products: Floats = x @ weight.astype(np.float64) + bias
        return products

    def row(name: str, place: int) -> Floats:
        numbers: Floats = decode(
            tensors[f"{name}.codes"], tensors[f"{name}.scales"]
        )[place]
        return numbers

    first = []
    for word in words:
        ids = minilm.tokenizer().encode(word, add_special_tokens=False).ids
        ending = zlib.crc32(word[-3:].lower().encode()) % SUFFIXES
        mean = linear("embed", minilm.token_vectors(ids).mean(axis=0))
        added = row("suffixes", ending) + row("shapes", shape(word))
        first.append(_norm(tensors, "norm", mean + added))
    x: Floats = np.stack(first)
    for i in range(N_BLOCKS):
        stored = {name: tensors[name] for name in tensors if "norm." in name}
        middle = (
            FAR + NEAR
        )  # the place of the word itself, of the first that asks
        far = tensors[f"{i}.distances"][:, 0, NEAR - FAR : middle + 1] / 512
        stored[f"{i}.distances"] = far
        for name, scale in (
            ("near", 1),
            ("qkv", STEPS),
            ("attended", 1 / (VALUE * SHARE)),
        ):
            weight, bias = dequantize(tensors, f"{i}.{name}")
            stored[f"{i}.{name}"] = (weight / scale).T
            stored[f"{i}.{name}.bias"] = bias / (scale if name == "qkv" else 1)
        x = _formulas(x, stored, i)
    x = _norm(tensors, "last", x)
    tagged = Network(model.FOLDER).tag_words(words)
    logits = linear("tags", x)
    n_tags = len(labels["tags"])
    n_parts = len(labels["parts"])
    for logit, tag, part in zip(
        logits, tagged.tags, tagged.parts, strict=True
    ):
        tags = logit[:n_tags]
        parts = logit[n_tags : n_tags + n_parts]
        i, j = max(
            labels["pairs"], key=lambda pair: tags[pair[0]] + parts[pair[1]]
        )
        assert (labels["tags"][i], labels["parts"][j]) == (tag, part)
    assert (logits[1:, -2] <= 0).all()  # one sentence
    arcs = np.maximum(linear("arc_dependent", x), 0)
    scores = linear("arc", arcs[:, :WIDTH]) @ arcs[:, WIDTH:].T
    scores.flat[:: len(words) + 1] = logits[:, -1]
    assert tagged.heads.tolist() == best_tree(scores).tolist()
    chosen = scores[range(len(words)), tagged.heads]
    rivals = scores.copy()
    rivals[range(len(words)), tagged.heads] = -np.inf
    # What whole numbers of 8 bits cost: most margins are above 5.
    np.testing.assert_allclose(
        tagged.margins[:, 1], chosen - rivals.max(axis=1), atol=0.5
    )
    both = linear("relation_dependent", x)
    for place, (head, relation) in enumerate(
        zip(tagged.heads.tolist(), tagged.relations, strict=True)
    ):
        if place == head:
            continue
        of_words = linear(
            "relations",
            np.maximum(both[place, :WIDTH] + both[head, WIDTH:], 0),
        )
        of_words[labels["relations"].index("root")] = -np.inf
        assert relation == labels["relations"][of_words.argmax()]


def test_a_text_has_the_same_reading_in_any_company() -> None:
    texts = [
        " ".join(SENTENCES[:25]).split(" "),
        ["Snow"],
        *(s.split(" ") for s in SENTENCES[:9]),
    ]
    assert len(texts[0]) > 128  # more words than are computed together
    ends = np.cumsum([len(text) for text in texts]).tolist()
    read_words = Network(model.FOLDER).tag_words
    together = read_words(
        [word for text in texts for word in text], [0, *ends]
    )
    for text, stop in zip(texts, ends, strict=True):
        alone = read_words(text)
        start = stop - len(text)
        assert (
            together.margins[start:stop].tobytes() == alone.margins.tobytes()
        )
        assert (
            together.heads[start:stop] - start
        ).tolist() == alone.heads.tolist()
        for name in ("tags", "parts", "relations"):
            assert getattr(together, name)[start:stop] == getattr(alone, name)


def test_a_text_without_words_has_no_reading() -> None:
    tagged = Network(model.FOLDER).tag_words([])
    assert (
        tagged.tags,
        tagged.parts,
        tagged.heads.tolist(),
        tagged.relations,
    ) == (
        [],
        [],
        [],
        [],
    )


def test_roots_and_only_roots_have_the_relation_root() -> None:
    text = "The dog sleeps . A cat , which is black , sits on the mat ."
    words = text.split(" ")
    tagged = Network(model.FOLDER).tag_words(words)
    roots = [
        place
        for place, head in enumerate(tagged.heads.tolist())
        if head == place
    ]
    assert [words[place] for place in roots] == ["sleeps", "sits"]
    assert [
        place for place, name in enumerate(tagged.relations) if name == "root"
    ] == roots


@pytest.mark.slow
def test_tags_and_parts_are_pairs_that_treebanks_have() -> None:
    labels = json.loads(
        GraphSession(model.FOLDER / FILES[1]).metadata("labels")
    )
    pairs = {
        (labels["tags"][i], labels["parts"][j]) for i, j in labels["pairs"]
    }
    read_words = Network(model.FOLDER).tag_words
    for sentence in SENTENCES:
        tagged = read_words(sentence.split(" "))
        assert set(zip(tagged.tags, tagged.parts, strict=True)) <= pairs, (
            sentence
        )
