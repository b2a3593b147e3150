"""The network of the parser as graphs of whole numbers: of words, of texts, of relations.

Words are laid end to end. Attention is computed in groups of words: each of those in ``queries``
(groups, q) attends to those in ``keys`` (groups, k), but where ``added`` is minus infinity.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from beholder.language.network import (
    FAR,
    FILES,
    N_BLOCKS,
    N_HEADS,
    NEAR,
    WIDTH,
)
from training.graphs import (
    SCORE_STEPS,
    SHARED,
    Array,
    FloatArray,
    Graph,
    Tensors,
    attend,
    attention_scales,
    grouped_rows,
    norm,
    product,
    quantize,
)

JOINED = {
    "tags": ("tags", "parts", "starts", "roots"),
    "arc_dependent": ("arc_dependent", "arc_head"),
    "relation_dependent": ("relation_dependent", "relation_head"),
}
"""Products of the same inputs, which become one under the first name."""
_EPSILON = 1e-5


def step_weights(
    stored: Tensors, factors: Mapping[str, FloatArray] | None
) -> dict[str, Array]:
    """Return the tensors of the graphs, whose products give numbers in the steps of what follows.

    Args:
        stored: Weights (out, in) by name, each with ``.bias``; the norms; ``I.distances``; the
            matrices ``suffixes`` and ``shapes`` as ``grouped_rows`` reads them.
        factors: Of the inputs of each product; None for products of floating point.
    """
    joined = {name: (name,) for name in ("embed", "arc", "relations")} | JOINED
    joined |= {
        f"{i}.{name}": (f"{i}.{name}",)
        for i in range(N_BLOCKS)
        for name in ("near", "qkv", "attended")
    }
    unshared = (
        "norm.weight",
        "norm.bias",
        "last.weight",
        "last.bias",
        ".codes",
        ".scales",
    )
    tensors = {
        name: a for name, a in stored.items() if name.endswith(unshared)
    }
    for name, parts in joined.items():
        weight = np.concatenate([stored[part] for part in parts]).T
        bias = np.concatenate([stored[f"{part}.bias"] for part in parts])
        if name.endswith("qkv"):
            scales = attention_scales(WIDTH)
            weight, bias = weight * scales, bias * scales
        elif name.endswith("attended"):
            weight = weight * np.float32(SHARED)
        if factors is None:
            tensors |= {f"{name}.weight": weight, f"{name}.bias": bias}
        else:
            tensors |= quantize(name, weight, bias, factors[name])
    for i in range(N_BLOCKS):
        tensors[f"{i}.distances"] = _by_place(stored[f"{i}.distances"])
    return tensors


def _by_place(distances: FloatArray) -> FloatArray:
    """Scores by distance (heads, 2 ``FAR`` + 1) as (heads, 2 ``NEAR``, 3 ``NEAR``), in steps.

    The first axis is of the words that ask, the second of those from ``NEAR`` before the first.
    """
    distance = np.arange(3 * NEAR) - NEAR - np.arange(2 * NEAR)[:, None]
    by_place: FloatArray = distances[
        :, np.clip(distance, -FAR, FAR) + FAR
    ].astype(np.float32)
    return by_place * np.float32(SCORE_STEPS)


def word_graph(tensors: Tensors) -> Graph:
    """Vectors of words without context.

    Inputs are ``pieces`` (n, D), the mean of the vectors of a word's pieces, ``suffixes`` and
    ``shapes`` (n,); the output is ``vectors`` (n, ``WIDTH``).
    """
    width = len(
        tensors[
            "embed.factors" if "embed.factors" in tensors else "embed.weight"
        ]
    )
    graph = Graph(
        pieces=("float32", "n", width),
        suffixes=("int64", "n"),
        shapes=("int64", "n"),
    )
    x = product(graph, tensors, "embed", "pieces")
    for name in ("suffixes", "shapes"):
        x = graph("Add", x, grouped_rows(graph, tensors, name, name))
    graph.output(
        "vectors",
        norm(graph, tensors, "norm", x, _EPSILON),
        "float32",
        "n",
        WIDTH,
    )
    return graph


def text_graph(tensors: Tensors, labels: str) -> Graph:
    """Everything about words in their texts.

    Inputs are ``vectors`` of ``word_graph``; ``before`` and ``after`` (n,), the neighbours of each
    word, or n where its text ends; ``queries``, ``keys`` and ``added``; ``kept`` (n,), the place of
    each word among ``queries``; and ``corner`` and ``end`` (2,), the part of ``I.distances`` that
    the groups have. Outputs: ``labels``, the logits of tags, parts of speech, starts of sentences
    and roots; ``dependents`` and ``heads`` (n, ``WIDTH``), whose products are scores of arcs; and
    ``related``, which ``relation_graph`` reads.

    Args:
        tensors: Those of ``step_weights``.
        labels: Names of what the logits are of, JSON; the file's metadata.
    """
    graph = Graph(
        vectors=("float32", "n", WIDTH),
        before=("int64", "n"),
        after=("int64", "n"),
        queries=("int64", "groups", "q"),
        keys=("int64", "groups", "k"),
        added=("float32", "groups", 1, 1, "k"),
        kept=("int64", "n"),
        corner=("int64", 2),
        end=("int64", 2),
    )
    graph.metadata["labels"] = labels
    x = "vectors"
    for i in range(N_BLOCKS):
        x = _block(graph, tensors, i, x)
    x = norm(graph, tensors, "last", x, _EPSILON)
    labels = product(graph, tensors, "tags", x)
    graph.output("labels", labels, "float32", "n", len(tensors["tags.bias"]))
    arcs = graph(
        "Max", product(graph, tensors, "arc_dependent", x), np.float32(0)
    )
    dependents, heads = graph.split(arcs, 2, 1)
    graph.output(
        "dependents",
        product(graph, tensors, "arc", dependents),
        "float32",
        "n",
        WIDTH,
    )
    graph.output("heads", heads, "float32", "n", WIDTH)
    related = product(graph, tensors, "relation_dependent", x)
    graph.output("related", related, "float32", "n", 2 * WIDTH)
    return graph


def _block(graph: Graph, tensors: Tensors, i: int, x: str) -> str:
    """Add a convolution over three words, and attention to those around."""
    normed = norm(graph, tensors, f"{i}.near_norm", x, _EPSILON)
    padded = graph("Concat", normed, np.zeros((1, WIDTH), np.float32), axis=0)
    sides = (
        graph("Gather", padded, which, axis=0) for which in ("before", "after")
    )
    triples = graph("Concat", next(sides), normed, next(sides), axis=1)
    pairs = graph.split(product(graph, tensors, f"{i}.near", triples), 2, 1)
    x = graph("Add", x, graph("Max", *pairs))
    qkv = product(
        graph,
        tensors,
        f"{i}.qkv",
        norm(graph, tensors, f"{i}.wide_norm", x, _EPSILON),
    )
    table = graph.tensor(f"{i}.distances", tensors[f"{i}.distances"])
    added = graph(
        "Add", graph("Slice", table, "corner", "end", [1, 2]), "added"
    )
    mixed = attend(
        graph, qkv, "queries", "keys", added, width=WIDTH, n_heads=N_HEADS
    )
    mixed = graph("Gather", mixed, "kept", axis=0)
    return graph("Add", x, product(graph, tensors, f"{i}.attended", mixed))


def relation_graph(tensors: Tensors) -> Graph:
    """Logits ``relations`` (n, labels) of words from ``related`` and their ``governors`` (n,)."""
    graph = Graph(
        related=("float32", "n", 2 * WIDTH), governors=("int64", "n")
    )
    dependents, heads = graph.split("related", 2, 1)
    both = graph(
        "Add", dependents, graph("Gather", heads, "governors", axis=0)
    )
    logits = product(
        graph, tensors, "relations", graph("Max", both, np.float32(0))
    )
    graph.output(
        "relations", logits, "float32", "n", len(tensors["relations.bias"])
    )
    return graph


def parser_graphs(tensors: Tensors, labels: str) -> tuple[Graph, Graph, Graph]:
    """Return the graphs of words, of texts and of relations, in the order of ``FILES``."""
    return (
        word_graph(tensors),
        text_graph(tensors, labels),
        relation_graph(tensors),
    )


def write(tensors: Tensors, labels: str, folder: Path) -> None:
    """Write the files of the network."""
    for name, graph in zip(FILES, parser_graphs(tensors, labels), strict=True):
        graph.write(folder / name)
