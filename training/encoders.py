"""The built-in encoder and the entailment model as graphs: BERT of whole numbers.

Tokens of texts are laid end to end. Of ``n`` texts with up to ``k`` tokens, ``keys`` (n, k) has the
places of their tokens, 0 behind a shorter one, whose scores ``added`` (n, 1, 1, k) makes minus
infinity; ``places`` counts the tokens of each text from 0, and ``kept`` has the place of each
token among the n k.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto

from training.graphs import (
    GELU_STEPS,
    GELU_ZERO,
    RAISED,
    SHARED,
    Array,
    FloatArray,
    Graph,
    Tensors,
    attend,
    attention_scales,
    dequantize,
    grouped_rows,
    norm,
    product,
    quantize,
    raised_gelu,
)

N_HEADS = 12
ZERO_VALUE, ONE_VALUE = np.float32(0), np.float32(1)
_NORMS = ("norm.", "attended_norm.")
PLACES = 16
"""Binary places of what the last product of the entailment model gets; so sums are exact."""
_EPSILON = 1e-12
_INPUTS: Mapping[str, tuple[int | str, ...]] = {
    "places": ("int64", "tokens"),
    "keys": ("int64", "texts", "k"),
    "added": ("float32", "texts", 1, 1, "k"),
    "kept": ("int64", "tokens"),
}


@dataclass(frozen=True, slots=True)
class _Steps:
    """What weights and biases of a product are multiplied by, for the steps of what follows.

    Attributes:
        weight, bias: Factors of the outputs.
        offset: Added to the bias after that.
        raised: What has been added to the inputs.
    """

    weight: FloatArray | np.float32 = ONE_VALUE
    bias: FloatArray | np.float32 = ONE_VALUE
    offset: np.float32 = ZERO_VALUE
    raised: float = 0.0


def _steps(width: int) -> dict[str, _Steps]:
    """Return the products of a layer."""
    scales, places = attention_scales(width), np.float32(GELU_STEPS)
    return {
        "qkv": _Steps(scales, scales),
        "attended": _Steps(np.float32(SHARED)),
        "up": _Steps(places, places, GELU_ZERO),
        "down": _Steps(raised=RAISED),
    }


def token_graph(tensors: Tensors) -> Graph:
    """Vectors of tokens before any layer: ``ids`` (n,) to ``vectors`` (n, D).

    Args:
        tensors: The matrix ``tokens``, as ``grouped_rows`` reads it.
    """
    graph = Graph(ids=("int64", "n"))
    vectors = grouped_rows(graph, tensors, "tokens", "ids")
    graph.output(
        "vectors", vectors, "float32", "n", tensors["tokens.codes"].shape[1]
    )
    return graph


def step_weights(
    layers: Tensors, factors: Mapping[str, FloatArray] | None
) -> dict[str, Array]:
    """Return the tensors of layers whose products give numbers in the steps of what follows.

    Args:
        layers: ``I.qkv``, ``I.attended``, ``I.up`` and ``I.down``, (out, in), with ``.bias``, and
            the norms ``I.attended_norm`` and ``I.norm``, ``.weight`` and ``.bias``.
        factors: Of the inputs of each product; None for products of floating point.
    """
    tensors: dict[str, Array] = {
        name: a
        for name, a in layers.items()
        if name.partition(".")[2].startswith(_NORMS)
    }
    for i in range(_n_layers(layers)):
        for part, steps in _steps(len(layers[f"{i}.norm.bias"])).items():
            name, raised = f"{i}.{part}", steps.raised
            weight = layers[name].T * steps.weight
            bias = layers[f"{name}.bias"] * steps.bias + steps.offset
            if factors is None:
                tensors |= {f"{name}.weight": weight, f"{name}.bias": bias}
            else:
                tensors |= quantize(name, weight, bias, factors[name], raised)
    return tensors


def layer_weights(tensors: Tensors) -> dict[str, FloatArray]:
    """The weights of layers as ``step_weights`` takes them, from the tensors that it returned."""
    layers: dict[str, FloatArray] = {
        name: a
        for name, a in tensors.items()
        if name.partition(".")[2].startswith(_NORMS)
    }
    for i in range(_n_layers(tensors)):
        for part, steps in _steps(len(tensors[f"{i}.norm.bias"])).items():
            weight, bias = dequantize(tensors, f"{i}.{part}", steps.raised)
            layers[f"{i}.{part}"] = (weight / steps.weight).T
            layers[f"{i}.{part}.bias"] = (bias - steps.offset) / steps.bias
    return layers


def encoder_graph(tensors: Tensors) -> Graph:
    """States of tokens, one output for each layer: ``state 0`` before the first one.

    Its inputs are those of this module and ``vectors`` of ``token_graph``.

    Args:
        tensors: Those of ``step_weights``, ``places`` and ``norm``.
    """
    graph, x = _embedded(tensors)
    width = len(tensors["norm.bias"])
    n_layers = _n_layers(tensors)
    graph.output("state 0", x, "float32", "tokens", width)
    for i in range(n_layers):
        x = _layer(graph, tensors, i, x, _attend(graph, tensors, i, x))
        graph.output(f"state {i + 1}", x, "float32", "tokens", width)
    return graph


def entailment_graph(tensors: Tensors) -> Graph:
    """Scores of entailment, neutral and contradiction, ``scores`` (n, 3), float64.

    Its inputs are those of ``encoder_graph``, with ``sides``, for each token 0 for the premise or 1
    for the hypothesis; ``queries`` (n, q), the places of the tokens of hypotheses, 0 behind a
    shorter one; and ``inside`` (n, q, 1), True where there is a token.

    Args:
        tensors: Those of ``encoder_graph``, ``sides`` (2, D), which are added to tokens, and
            ``head.weight``, (3 D, 3), and ``head.bias``: the last product, in float64.
    """
    graph, x = _embedded(
        tensors,
        sides=("int64", "tokens"),
        queries=("int64", "texts", "q"),
        inside=("bool", "texts", "q", 1),
    )
    width = len(tensors["norm.bias"])
    x = graph(
        "Add",
        x,
        graph(
            "Gather",
            graph.tensor("sides table", tensors["sides table"]),
            "sides",
        ),
    )
    last = _n_layers(tensors) - 1
    for i in range(last):
        x = _layer(graph, tensors, i, x, _attend(graph, tensors, i, x))
    mixed = _attend(graph, tensors, last, x, "queries")
    x = graph("Gather", x, graph("Reshape", "queries", [-1]), axis=0)
    x = _layer(graph, tensors, last, x, mixed)
    # Of the tokens of a hypothesis: the first, the mean and the largest numbers.
    states = graph(
        "Reshape",
        x,
        graph("Concat", graph("Shape", "queries"), [width], axis=0),
    )
    first = graph(
        "Reshape", graph("Slice", states, [0], [1], [1]), [-1, width]
    )
    # CumSum adds one token after the other; ReduceSum has an order of its own.
    sums = graph(
        "CumSum", graph("Where", "inside", states, np.float32(0)), np.int64(1)
    )
    total = graph(
        "Reshape", graph("Slice", sums, [-1], [2**31], [1]), [-1, width]
    )
    counts = graph(
        "ReduceSum",
        graph("Cast", "inside", to=TensorProto.FLOAT),
        [1],
        keepdims=0,
    )
    mean = graph("Div", total, counts)
    present = graph("Where", "inside", states, np.float32(-np.inf))
    largest = graph("ReduceMax", present, [1], keepdims=0)
    pooled = graph(
        "Cast",
        graph("Concat", first, mean, largest, axis=1),
        to=TensorProto.DOUBLE,
    )
    steps = graph("Round", graph("Mul", pooled, np.float64(2**PLACES)))
    pooled = graph("Mul", steps, np.float64(2**-PLACES))
    head = (
        graph.tensor(name, tensors[name])
        for name in ("head.weight", "head.bias")
    )
    scores = graph("Add", graph("MatMul", pooled, next(head)), next(head))
    graph.output("scores", scores, "float64", "texts", 3)
    return graph


def _embedded(
    tensors: Tensors, **inputs: tuple[int | str, ...]
) -> tuple[Graph, str]:
    """Return a graph with the inputs of this module, and what the first layer gets."""
    width = len(tensors["norm.bias"])
    graph = Graph(vectors=("float32", "tokens", width), **_INPUTS, **inputs)
    table = graph.tensor("places table", tensors["places table"])
    places = graph(
        "Cast", graph("Gather", table, "places", axis=0), to=TensorProto.FLOAT
    )
    return graph, norm(
        graph, tensors, "norm", graph("Add", "vectors", places), _EPSILON
    )


def _attend(
    graph: Graph, tensors: Tensors, i: int, x: str, queries: str | None = None
) -> str:
    """Add the attention of a layer on states (tokens, D) to the graph.

    Of all tokens, or of the ``queries`` (n, q), then (n q, D).
    """
    width = len(tensors[f"{i}.norm.bias"])
    qkv = product(graph, tensors, f"{i}.qkv", x)
    scale = (width // N_HEADS) ** -0.5
    mixed = attend(
        graph,
        qkv,
        queries or "keys",
        "keys",
        "added",
        width=width,
        n_heads=N_HEADS,
        scale=scale,
    )
    return mixed if queries else graph("Gather", mixed, "kept", axis=0)


def _layer(graph: Graph, tensors: Tensors, i: int, x: str, mixed: str) -> str:
    """States after a layer of BERT, from those before it and what its attention made of them."""
    attended = graph("Add", x, product(graph, tensors, f"{i}.attended", mixed))
    x = norm(graph, tensors, f"{i}.attended_norm", attended, _EPSILON)
    curved = raised_gelu(graph, product(graph, tensors, f"{i}.up", x))
    down = product(graph, tensors, f"{i}.down", curved, RAISED)
    return norm(graph, tensors, f"{i}.norm", graph("Add", x, down), _EPSILON)


def _n_layers(tensors: Tensors) -> int:
    return sum(name.endswith(".qkv.bias") for name in tensors)
