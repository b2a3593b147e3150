"""What the inputs of each product of the built-in models are multiplied by; without chance.

    python -m training.inputs minilm entailment english

Whole numbers lose least if all inputs of a product, times their factors, are about equally large,
and the weights divided by them, too. The texts are those that ship as a sample. Factors are rounded
to quarters of powers of 2, so that every processor finds the same. To be run again when a model is
trained again: with factors of other weights, products lose a little more.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from importlib import resources
from itertools import pairwise

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from beholder.embed import entailment, minilm
from beholder.embed.base import FloatArray
from beholder.embed.whole import MakeLinear, Multiply
from beholder.language import network
from beholder.language.model import FILE
from beholder.language.tokens import tokens
from beholder.text import RuleSplitter

_EXPONENTS = {"attended": 0.25, "down": 0.25}
"""To what power the sizes of inputs count, if not 0.5; set by hand."""
_LEAST = 1e-6
_FILES = {"minilm": minilm.INPUTS, "entailment": entailment.INPUTS, "english": network.INPUTS}


def save(model: str) -> None:
    """Write the factors of a model: a name of ``_FILES``."""
    sizes: dict[str, list[FloatArray]] = {}
    weights: dict[str, FloatArray] = {}

    def linear(name: str, weight: FloatArray, bias: FloatArray, raised: float) -> Multiply:
        weights[name] = weight

        def multiply(rows: FloatArray) -> FloatArray:
            rows = rows - np.float32(raised)
            sizes.setdefault(name, []).append(np.square(rows))
            return rows @ weight + bias

        return multiply

    _read(model, linear)
    found = {}
    for name, weight in weights.items():
        used = np.sqrt(np.concatenate(sizes[name]).mean(axis=0))
        factors = np.sqrt(np.sqrt(np.square(weight).mean(axis=1)))
        factors /= np.maximum(used, _LEAST) ** _EXPONENTS.get(name.partition(".")[2], 0.5)
        found[name] = np.rint(4 * np.log2(factors / factors.mean())).astype(np.int8)
    save_file(found, _FILES[model])
    _FILES[model].chmod(0o644)


def _read(model: str, linear: MakeLinear) -> None:
    """Send the sample through a model whose products are those of floating point."""
    texts, sentences = _sample()
    if model == "english":
        parser = network.Network(FILE, linear)
        for text in texts:
            parser.read([word for word, _ in tokens(text)])
        return
    path = minilm.FOLDER / f"{model}.safetensors"
    with safe_open(str(path), framework="np") as file:
        stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118

    get = stored.__getitem__
    matrix = partial(minilm.unpacked, get)
    layers = tuple(minilm.layer(i, matrix, get, linear) for i in range(minilm.N_LAYERS))
    if model == "minilm":
        ids = [minilm.read_tokens(text).ids[: minilm.WINDOW] for text in texts]
        minilm.through(layers, ids, minilm.embedded(ids))
    else:
        entailment.states(layers, stored["sides"], [*pairwise(sentences)])


def _sample() -> tuple[list[str], list[str]]:
    """All texts of the sample, and their sentences."""
    path = resources.files("beholder.samples").joinpath("descriptions.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts = [text for row in rows for text in (row["candidate"], *row["references"])]
    split = RuleSplitter().split
    return texts, [segment.of(text) for text in texts for segment in split(text)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the factors of inputs.")
    parser.add_argument("models", nargs="+", choices=[*_FILES])
    for model in parser.parse_args().models:
        save(model)


if __name__ == "__main__":
    main()
