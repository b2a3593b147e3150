"""Trains the built-in entailment model on a CPU, on one thread.

    pip install torch==2.13.0
    python -m training.entailment.silver /tmp/silver.jsonl
    python -m training.entailment.train /tmp/silver.jsonl [--minutes 50]

It starts from the layers of the built-in encoder, or from an earlier round (``--start``), and stays
with its tokens and places. The weights that ship began with two such rounds, of 219,178 pairs
without exchanges and of 93,216 of all (``--start FILE --minutes 40``); ``distill.py`` says what
followed. Data:

- the pairs of ``SHARED_DATA/nli``, which people labelled (SNLI, counterfactual SNLI, one exchanged
  word, monotonicity);
- ``statements.jsonl``: passages of ImageInWords descriptions (CC-BY-4.0) with statements that each
  says, leaves open or excludes, written for this model by language models that knew only the
  task. Half of what is left open concerns another thing than the passage speaks of, and half of
  the sentences are paraphrases with and without one wrong fact;
- ``exchanged.jsonl``: passages of two or more like things by four other such writers, and
  statements in which who does, has, wears or stands where is exchanged;
- patterns: pairs of ``exchanges.py``, in which who does, has or wears what is exchanged;
- premises beside themselves and beside others, and silver pairs of long descriptions, among them
  sentences with two things exchanged.

Never trained on are premises whose SHA-256 begins below 10 and every sixth passage; accuracy on
them is printed and written to ``entailment.json``.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from beholder.embed import minilm
from beholder.embed.entailment import FILE
from beholder.embed.minilm import GROUP, Packed
from training.entailment import exchanges
from training.packing import pack, pack_to

SHARED = Path(__file__).parents[3] / "shared/data/nli"
PEOPLE = {"snli": 1.0, "counterfactual": 1.0, "one_word": 0.8, "monotonicity": 0.4}
"""Weight of a pair."""
WRITTEN = {name: Path(__file__).with_name(f"{name}.jsonl") for name in ("statements", "exchanged")}
SIXTH = 6
COPIES, STRANGERS, SILVER = 3000, 3000, {"statement": 12000, "crossed": 6000}
PATTERNS = 6000
SAID = {"statement": 0.3, "crossed": 0.4, "patterns": 0.5}
"""Weight of a pair that a program made."""
LABELS = ("entailment", "neutral", "contradiction")
LEAST, WARM = 0.02, 200
"""Least share of the learning rate, and steps until it is full."""
RATES = {"head": 5e-4, "body": 1.7e-4}
DROP, DECAY, SIZE, LONGEST = 0.1, 0.01, 32, 110
BITS = 5
D, HEADS = 384, 12
KEPT_BACK = 10
BESIDE = 120
"""Letters of a sentence that stands beside a pattern, at most."""

EXCHANGED = ("roles", "passive", "attribute_exchange")
"""Kinds of minimal pairs whose altered words do not say which unit is wrong."""
Row = tuple[list[int], list[int], int, float]


class _Rounded(torch.autograd.Function):
    """Weights as few bits will have them; the gradient is that of the weights themselves."""

    @staticmethod
    def forward(_: Any, weight: Tensor, scales: Tensor) -> Tensor:
        groups = weight.view(*scales.shape, GROUP)
        steps = torch.round(groups / torch.where(scales == 0, 1.0, scales)[..., None])
        half = 2 ** (BITS - 1)
        return (torch.clamp(steps, -half, half - 1) * scales[..., None]).view_as(weight)

    @staticmethod
    def backward(_: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


class Linear(nn.Linear):
    """A linear layer whose weights are rounded while it is trained, once it has scales."""

    scales: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        """Rows (..., in) to (..., out)."""
        if self.scales is None:
            return super().forward(x)
        return functional.linear(x, _Rounded.apply(self.weight, self.scales), self.bias)


class Layer(nn.Module):
    """One layer of BERT, with the weights of the built-in encoder to start with."""

    def __init__(self, stored: dict[str, Any], i: int) -> None:
        super().__init__()
        self.qkv, self.attended = Linear(D, 3 * D), Linear(D, D)
        self.up, self.down = Linear(D, 4 * D), Linear(4 * D, D)
        self.attended_norm, self.norm = nn.LayerNorm(D, 1e-12), nn.LayerNorm(D, 1e-12)
        with torch.no_grad():
            for name, module in self.named_children():
                theirs = f"{i}.{name}"
                packed = f"{theirs}.planes" in stored
                weight = unpacked(stored, theirs) if packed else stored[f"{theirs}.weight"]
                module.weight.copy_(torch.tensor(weight))
                module.bias.copy_(torch.tensor(stored[f"{theirs}.bias"]))

    def round(self) -> None:
        """Round the weights from now on, on the scales that fit them best now."""
        for module in self.children():
            if isinstance(module, Linear):
                scales = pack(module.weight.detach().cpu().numpy(), BITS).scales
                module.scales = torch.tensor(scales.astype(np.float32), device=module.weight.device)

    def forward(self, x: Tensor, mask: Tensor, drop: float) -> Tensor:
        """States (n, tokens, D) to states."""
        n, long, _ = x.shape
        q, k, v = self.qkv(x).view(n, long, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        mixed = self.attended(mixed.transpose(1, 2).reshape(n, long, D))
        x = self.attended_norm(x + functional.dropout(mixed, drop, self.training))
        made = self.down(functional.gelu(self.up(x)))
        return self.norm(x + functional.dropout(made, drop, self.training))


class Model(nn.Module):
    """Both sentences at once: ``[CLS] hypothesis [SEP] premise [SEP]``."""

    def __init__(self, start: Path | None = None) -> None:
        super().__init__()
        stored = load_file(minilm.FOLDER / "minilm.safetensors")
        self.register_buffer("tokens", torch.tensor(unpacked(stored, "tokens")))
        self.register_buffer("places", torch.tensor(stored["places"].astype(np.float32)))
        self.first = nn.LayerNorm(D, 1e-12).requires_grad_(False)
        self.first.weight.copy_(torch.tensor(stored["norm.weight"]))
        self.first.bias.copy_(torch.tensor(stored["norm.bias"]))
        self.sides = nn.Parameter(torch.zeros(2, D))
        self.head = nn.Linear(3 * D, 3)
        if start is not None:
            stored = load_file(start)
            with torch.no_grad():
                self.sides.copy_(torch.tensor(stored["sides"]))
                self.head.weight.copy_(torch.tensor(stored["head.weight"]))
                self.head.bias.copy_(torch.tensor(stored["head.bias"]))
        self.layers = nn.ModuleList(Layer(stored, i) for i in range(minilm.N_LAYERS))

    def forward(self, rows: Sequence[Row], drop: float = DROP) -> Tensor:
        """Scores (rows, 3) of the labels."""
        device = self.tokens.device
        own = torch.tensor([len(row[1]) for row in rows], device=device)
        texts = [torch.tensor([*row[1], *row[0][1:]]) for row in rows]
        padded = nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=-1).to(device)
        mask = (padded >= 0)[:, None, None, :]
        inside = torch.arange(padded.shape[1], device=device)[None] < own[:, None]
        inside = inside[..., None]
        x = self.first(self.tokens[padded.clamp(min=0)] + self.places[: padded.shape[1]])
        x = x + torch.where(inside, self.sides[1], self.sides[0])
        with torch.autocast(device.type, torch.bfloat16):
            for layer in self.layers:
                x = layer(x, mask, drop)
        x = x.float()
        mean = (x * inside).sum(1) / own[:, None]
        most = x.masked_fill(~inside, -1e4).amax(1)
        pooled = torch.cat([x[:, 0], mean, most], 1)
        logits: Tensor = self.head(functional.dropout(pooled, drop, self.training))
        return logits


def unpacked(stored: dict[str, Any], name: str) -> Any:
    """A packed matrix as numbers."""
    return Packed(stored[f"{name}.planes"], stored[f"{name}.scales"]).rows(slice(None))


def load(silver: Path) -> tuple[list[Row], dict[str, list[Row]]]:
    """Rows to train on, and those kept back by set."""
    train: list[Row] = []
    kept: dict[str, list[Row]] = {name: [] for name in (*PEOPLE, *WRITTEN)}
    for name, weight in PEOPLE.items():
        text = gzip.decompress((SHARED / f"{name}.jsonl.gz").read_bytes()).decode()
        for given in map(json.loads, text.splitlines()):
            row = _row(given["premise"], given["hypothesis"], given["label"], weight)
            (kept[name] if is_kept_back(given["premise"]) else train).append(row)
    premises = sorted({tuple(row[0]) for row in train})
    for own in random.sample(premises, COPIES):
        train.append((list(own), list(own), 0, 0.5))
    for own in random.sample(premises, STRANGERS):
        train.append((list(own), list(random.choice(premises)), 1, 0.3))
    for name, place, given in written():
        passage = given["passage"]
        rows = [_row(passage, text, label, 1.5) for label in LABELS for text in given[label]]
        if place % SIXTH:
            train += [*rows, *rows, _row(passage, passage, "entailment", 0.5)]
        else:
            kept[name] += rows
    return train + list(_made(silver)), kept


def written() -> Iterator[tuple[str, int, dict[str, Any]]]:
    """File, place in it, and passage with its statements, of those written for the model."""
    for name in WRITTEN:
        lines = Path(__file__).with_name(f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for place, line in enumerate(lines):
            yield name, place, json.loads(line)


def _made(silver: Path) -> Iterator[Row]:
    """Rows that a program made."""
    found: dict[str, list[Any]] = {name: [] for name in SILVER}
    for given in map(json.loads, silver.read_text(encoding="utf-8").splitlines()):
        if not is_kept_back(given["premise"]):
            found[given["sort"]].append(given)
    for sort, rows in found.items():
        for given in random.sample(rows, min(SILVER[sort], len(rows))):
            yield _row(given["premise"], given["hypothesis"], given["label"], SAID[sort])
    beside = sorted({g["premise"] for g in found["statement"] if len(g["premise"]) < BESIDE})
    for premise, text, label in exchanges.pairs(PATTERNS, random.Random(5), beside):
        yield _row(premise, text, label, SAID["patterns"])


def _row(premise: str, hypothesis: str, label: str, weight: float) -> Row:
    return token_ids(premise), token_ids(hypothesis), LABELS.index(label), weight


@lru_cache(maxsize=1 << 17)
def token_ids(text: str) -> list[int]:
    """Tokens of a text, as many as are read."""
    return minilm.read_tokens(text).ids[:LONGEST]


def is_kept_back(premise: str) -> bool:
    """Whether a premise is only measured with."""
    return hashlib.sha256(premise.lower().strip(" .").encode()).digest()[0] < KEPT_BACK


def accuracy(model: Model, kept: dict[str, list[Row]]) -> dict[str, float]:
    """Share of right labels, by set."""
    model.eval()
    found = {}
    with torch.no_grad():
        for name, rows in kept.items():
            ordered = sorted(rows, key=lambda row: len(row[0]) + len(row[1]))
            right = 0
            for start in range(0, len(ordered), SIZE):
                part = ordered[start : start + SIZE]
                wanted = torch.tensor([row[2] for row in part])
                right += int((model(part).argmax(1).cpu() == wanted).sum())
            found[name] = round(right / len(rows), 4)
    model.train()
    return found


def batches(rows: list[Row]) -> Iterator[list[Row]]:
    """Rows of like length together, in random order."""
    random.shuffle(rows)
    for start in range(0, len(rows), SIZE * 50):
        part = sorted(rows[start : start + SIZE * 50], key=lambda row: len(row[0]) + len(row[1]))
        made = [part[i : i + SIZE] for i in range(0, len(part), SIZE)]
        random.shuffle(made)
        yield from made


def save(model: Model, about: dict[str, Any], output: Path) -> None:
    """Write the layers in few bits, and what was measured."""
    stored: dict[str, np.ndarray] = {}
    for i, layer in enumerate(model.layers):
        for name, module in layer.named_children():
            weight = module.weight.detach().cpu().numpy()
            stored[f"{i}.{name}.bias"] = module.bias.detach().cpu().numpy()
            if isinstance(module, nn.LayerNorm):
                stored[f"{i}.{name}.weight"] = weight
            else:
                scales = module.scales
                packed = pack(weight, BITS)
                if scales is not None:
                    packed = pack_to(weight, scales.cpu().numpy(), BITS)
                stored[f"{i}.{name}.planes"] = packed.planes
                stored[f"{i}.{name}.scales"] = packed.scales
    stored["sides"] = model.sides.detach().cpu().numpy()
    stored["head.weight"] = model.head.weight.detach().cpu().numpy()
    stored["head.bias"] = model.head.bias.detach().cpu().numpy()
    save_file({k: np.ascontiguousarray(v, dtype=None) for k, v in stored.items()}, output)
    output.chmod(0o644)
    output.with_suffix(".json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Train, measure, save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("silver", type=Path)
    parser.add_argument("--minutes", type=float, default=50, help="of processor time")
    parser.add_argument("--start", type=Path, help="weights of an earlier round to go on from")
    parser.add_argument("--output", type=Path, default=FILE)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    train, kept = load(args.silver)
    model = Model(args.start).train()
    head = [model.sides, *model.head.parameters()]
    body = list(model.layers.parameters())
    groups = [{"params": head, "lr": RATES["head"]}, {"params": body, "lr": RATES["body"]}]
    optimizer = torch.optim.AdamW(groups, weight_decay=DECAY)
    began, step, seen, share = time.process_time(), 0, 0, 0.0
    while share < 1:
        for part in batches(train):
            share = (time.process_time() - began) / 60 / args.minutes
            if share >= 1:
                break
            rate = min(1, (step + 1) / WARM) * max(LEAST, 1 - share)
            for group, full in zip(optimizer.param_groups, RATES.values(), strict=True):
                group["lr"] = full * rate
            wanted, weights = (torch.tensor([row[i] for row in part]) for i in (2, 3))
            loss = (functional.cross_entropy(model(part), wanted, reduction="none") * weights).sum()
            loss /= weights.sum()
            loss.backward()
            nn.utils.clip_grad_norm_([*body, *head], 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            step, seen = step + 1, seen + len(part)
            if step % 300 == 0:
                print(
                    f"{step} steps, {seen} pairs, {share:.0%}, loss {loss.item():.3f}", flush=True
                )
    about = {"pairs": seen, "bits": BITS, "kept_back": accuracy(model, kept)}
    print(about, flush=True)
    save(model, about, args.output)


if __name__ == "__main__":
    main()
