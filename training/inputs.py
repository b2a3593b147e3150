"""Factors of the inputs of each product of a network, without chance.

Whole numbers lose least if all inputs of a product, times their factors, are about equally large,
and the weights divided by them, too. The texts are those that ship as a sample. Factors are rounded
to quarters of powers of 2, so that every processor finds the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from beholder.embed import entailment, minilm
from beholder.embed.base import FloatArray
from beholder.embed.sessions import GraphSession
from beholder.language.network import FILES, Network
from beholder.language.tokens import tokens
from beholder.text import RuleSplitter
from training import encoders
from training.english import graphs
from training.graphs import Graph, Tensors

_EXPONENTS = {"attended": 0.25, "down": 0.25}
"""To what power the sizes of inputs count, if not 0.5; set by hand."""
_LEAST = 1e-6


class Recorder:
    """A session whose products are those of floating point; it keeps the sizes of their inputs.

    Args:
        graph: The graph.
        path: Where it is written.
    """

    def __init__(self, graph: Graph, path: Path) -> None:
        self._products = dict(graph.products)
        for name, (rows, _) in self._products.items():
            graph.output(f"input of {name}", rows, "float32", None, None)
        graph.write(path)
        self._session = GraphSession(path)
        self._squares: dict[str, list[FloatArray]] = {
            name: [] for name in self._products
        }

    def __call__(
        self, outputs: Sequence[str], inputs: Mapping[str, npt.NDArray[Any]]
    ) -> list[npt.NDArray[Any]]:
        """See ``GraphSession``."""
        names = [f"input of {name}" for name in self._products]
        answers = self._session([*outputs, *names], inputs)
        for name, rows in zip(
            self._products, answers[len(outputs) :], strict=True
        ):
            self._squares[name].append(np.square(rows))
        return answers[: len(outputs)]

    def factors(self) -> dict[str, FloatArray]:
        """Return the factors (in,) of each product."""
        factors = {}
        for name, (_, weight) in self._products.items():
            sizes = np.sqrt(np.concatenate(self._squares[name]).mean(axis=0))
            best = np.sqrt(np.sqrt(np.square(weight).mean(axis=1)))
            best /= np.maximum(sizes, _LEAST) ** _EXPONENTS.get(
                name.partition(".")[2], 0.5
            )
            factors[name] = power_of_quarters(
                np.rint(4 * np.log2(best / best.mean()))
            )
        return factors


def power_of_quarters(quarters: npt.NDArray[Any]) -> FloatArray:
    """2 to the power of a fourth of whole numbers, the same on every processor."""
    numbers = quarters.astype(np.int64)
    roots = np.sqrt(np.sqrt(np.array([1, 2, 4, 8], dtype=np.float32)))
    powers: FloatArray = np.ldexp(roots[numbers & 3], numbers >> 2)
    return powers


def encoder_factors(tensors: Tensors) -> dict[str, FloatArray]:
    """Factors of the encoder, from its tensors with products of floating point."""
    texts, _ = _sample()
    with TemporaryDirectory() as folder:
        recorder = Recorder(
            encoders.encoder_graph(tensors), Path(folder) / "encoder.onnx"
        )
        for text in texts:
            ids = minilm.read_tokens(text).ids[: minilm.WINDOW]
            recorder([f"state {minilm.N_LAYERS}"], minilm.layer_inputs([ids]))
        return recorder.factors()


def entailment_factors(tensors: Tensors) -> dict[str, FloatArray]:
    """Factors of the entailment model, from its tensors with products of floating point."""
    _, sentences = _sample()
    with TemporaryDirectory() as folder:
        recorder = Recorder(
            encoders.entailment_graph(tensors),
            Path(folder) / "entailment.onnx",
        )
        for pair in pairwise(sentences):
            recorder(
                ["scores"],
                entailment.model_inputs([entailment.read_pair(*pair)]),
            )
        return recorder.factors()


def parser_factors(tensors: Tensors, labels: str) -> dict[str, FloatArray]:
    """Factors of the parser's network, from its tensors with products of floating point."""
    texts, _ = _sample()
    with TemporaryDirectory() as folder:
        recorders = [
            Recorder(graph, Path(folder) / name)
            for name, graph in zip(
                FILES, graphs.parser_graphs(tensors, labels), strict=True
            )
        ]
        network: Any = Network(Path(folder))
        network._words, network._texts, network._relations = recorders
        for text in texts:
            network.tag_words([word for word, _ in tokens(text)])
        return {
            name: row
            for recorder in recorders
            for name, row in recorder.factors().items()
        }


def _sample() -> tuple[list[str], list[str]]:
    """Return all texts of the sample, and their sentences."""
    path = resources.files("beholder.samples").joinpath("descriptions.jsonl")
    rows = [
        json.loads(line)
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    texts = [
        text for row in rows for text in (row["candidate"], *row["references"])
    ]
    split = RuleSplitter().split
    return texts, [
        segment.text_in(text) for text in texts for segment in split(text)
    ]
