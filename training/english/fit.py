"""The two training runs: the teacher on treebanks, the student on treebanks and silver."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import nn

from training.english.examples import Document, Labels, batches, chunks, targets, words_of
from training.english.nets import Below, Pieces, Scores, Student, Teacher, losses

TEACHER_EPOCHS = 2
TEACHER_RATES = (3e-4, 1.5e-3)
"""Of the encoder's layers, and of everything that begins at random."""
STUDENT_STEPS = 2600
STUDENT_RATE = 2e-3
_LIMIT = 90
_LIMITS = (80, 100, 130)
"""Words of a document: sentences stand in other company in each pass."""


def teach(docs: Sequence[Document], captions: Sequence[Document], labels: Labels) -> Teacher:
    """Fine-tune the package's encoder on treebanks."""
    torch.manual_seed(0)
    rng = random.Random(0)
    net, pieces, below = Teacher(labels), Pieces(), Below()
    parts = list(chunks(docs, _LIMIT)) + list(chunks(captions, _LIMIT))
    groups = ([], [])  # type: tuple[list[nn.Parameter], list[nn.Parameter]]
    for name, parameter in net.named_parameters():
        groups[not name.startswith("layers")].append(parameter)
    optimiser = torch.optim.AdamW(
        [
            {"params": group, "lr": rate, "initial_lr": rate}
            for group, rate in zip(groups, TEACHER_RATES, strict=True)
        ],
        weight_decay=0.01,
    )
    plan = [batch for _ in range(TEACHER_EPOCHS) for batch in batches(parts, 1300, rng)]
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, _rate(len(plan), 100))

    def scores(batch: list[Document]) -> Scores:
        words = words_of(batch)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return net(pieces.batch(words), below([pieces.flat(doc) for doc in words]))

    for batch in plan:
        _step(net, scores, batch, labels, optimiser)
        schedule.step()
    return net.eval()


def study(
    docs: Sequence[Document],
    captions: Sequence[Document],
    silver: Sequence[Document],
    silver_captions: Sequence[Document],
    labels: Labels,
    *,
    steps: int = STUDENT_STEPS,
    start: Student | None = None,
    told: Callable[[int, float, Student], None] | None = None,
) -> Student:
    """Train the student; what is given back is the moving mean of its weights.

    Args:
        docs: The treebanks.
        captions: Copies of their sentences that look like captions.
        silver: The teacher's trees of descriptions.
        silver_captions: Copies of their sentences.
        labels: Labels to tell apart.
        steps: Batches to learn from.
        start: Weights to begin with; at random where there are none.
        told: Called after every hundredth step with its number, the mean loss and the student.
    """
    torch.manual_seed(0)
    rng = random.Random(0)
    net, pieces = Student(labels, dropout=0.1), Pieces()
    if start is not None:
        net.load_state_dict(start.state_dict())
    optimiser = torch.optim.AdamW(
        net.parameters(), lr=STUDENT_RATE, betas=(0.9, 0.98), weight_decay=0.02
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, _rate(steps, 150))
    mean = torch.optim.swa_utils.AveragedModel(
        net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.995)
    )

    def scores(batch: list[Document]) -> Scores:
        return net(pieces.batch(words_of(batch)))

    total, waiting = 0.0, []  # type: float, list[list[Document]]
    for step in range(1, steps + 1):
        if not waiting:
            limit = rng.choice(_LIMITS)
            parts = list(_regrouped(chunks([*docs, *silver], limit), rng))
            parts += rng.sample(captions, len(captions) // 3)
            parts += rng.sample(silver_captions, len(silver_captions) // 4)
            waiting = batches(parts, 800, rng)
        total += _step(net, scores, waiting.pop(), labels, optimiser)
        schedule.step()
        mean.update_parameters(net)
        if told is not None and step % 100 == 0:
            told(step, total / 100, mean.module)
            total = 0.0
    return mean.module.eval()


def _rate(steps: int, warmup: int) -> Callable[[int], float]:
    return lambda step: min(1, (step + 1) / warmup) * max(0.01, 1 - step / steps)


def _step(
    net: Teacher | Student,
    scores: Callable[[list[Document]], Scores],
    batch: list[Document],
    labels: Labels,
    optimiser: torch.optim.Optimizer,
) -> float:
    answers = targets(batch, labels)
    loss = losses(net.heads, scores(batch), answers)
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 2.0)
    optimiser.step()
    return loss.item()


def _regrouped(docs: Iterable[Document], rng: random.Random) -> Iterable[Document]:
    """A third of the documents in two, so that texts of one sentence are known too."""
    for doc in docs:
        if len(doc) > 1 and rng.random() < 0.3:
            cut = rng.randrange(1, len(doc))
            yield doc[:cut]
            yield doc[cut:]
        else:
            yield doc
