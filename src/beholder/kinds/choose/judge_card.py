"""The check of a choice's judge: fitness and biases by questions with known answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import msgspec

from beholder.aio import run_sync
from beholder.base import files
from beholder.judges import Judge
from beholder.judges.diagnostics import Steadiness, check_steadiness
from beholder.judges.probes import Fitness, fitness
from beholder.kinds.choose.engine import taken_options, work_within
from beholder.kinds.choose.pictures import CaptionerChoice
from beholder.metrics import Tools
from beholder.run.answers import run_answers

CHECK = "judge-check"
"""Folder of the answers, and of the card."""
_CARD = "card.json"


class BiasLine(msgspec.Struct, frozen=True):
    """An influence on the judge's answers besides their subject.

    Attributes:
        name: The influence, such as ``length`` or ``seat``.
        unit: Unit of the value; 0 is no bias.
        n: Questions or pairs.
        value: The estimate, or None.
        low: Lower end of its interval.
        high: Upper end.
        reason: Why there is no value.
    """

    name: str
    unit: str
    n: int
    value: float | None
    low: float | None
    high: float | None
    reason: str

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return f"{self.name}: {self.reason or 'not enough data'}"
        return (
            f"{self.name}: {self.value:+.2f} ({self.low:+.2f} to {self.high:+.2f}), n {self.n},"
            f" {self.unit}"
        )


class JudgeCard(msgspec.Struct, frozen=True):
    """Result of the check of a judge.

    Attributes:
        judge: Its spec.
        verdict: fit, weak or unfit.
        auc: Share of pairs of a stated and an unstated fact that it ranks rightly; None without
            answers.
        n: Questions with a known answer.
        n_failed: Those without a usable answer.
        biases: Influences on its answers.
    """

    judge: str
    verdict: str
    auc: float | None
    n: int
    n_failed: int
    biases: tuple[BiasLine, ...]

    def __str__(self) -> str:
        area = "no answer" if self.auc is None else f"AUC {self.auc:.3f}"
        return (
            f"the judge {self.judge} is {self.verdict} by {self.n} questions with known answers"
            f" ({area}, {self.n_failed} without a usable answer)"
        )


def check_judge(choice: CaptionerChoice) -> None:
    """Check the judge, if asked for, within the budget, and write its card; one there stays.

    Raises:
        BudgetError: The budget is spent.
    """
    folder = choice.folder / CHECK
    if choice.judge is None or not choice.options.judge_check:
        return
    if (folder / _CARD).is_file():
        return
    files.make_folder(folder)
    judging = taken_options(choice.judging, [("judge", choice.judge)])
    work = work_within(choice, choice.work, folder)
    # Answers of the cache say nothing about repeats.
    with run_answers(folder, None, work.max_cost) as (answers, budget):
        tools = Tools(
            None, judging.for_tools(), answers, budget, folder=choice.folder
        )
        fit, steady = run_sync(_ask(tools.judge(choice.judge)))
    card = JudgeCard(
        choice.judge,
        fit.verdict,
        None if math.isnan(fit.auc) else fit.auc,
        fit.n,
        fit.n_failed,
        tuple(_lines(steady)),
    )
    files.write_text(folder / _CARD, msgspec.json.encode(card).decode())


async def _ask(judge: Judge) -> tuple[Fitness, Steadiness]:
    fit = await fitness(judge, threshold=judge.presence_threshold)
    # A judge that answers nothing would only be paid in vain.
    if fit.n_failed == fit.n:
        return fit, Steadiness(None, None, (), 0, 0)
    return fit, await check_steadiness(judge)


def _lines(steady: Steadiness) -> Iterator[BiasLine]:
    for bias in steady.biases:
        ends = bias.interval
        yield BiasLine(
            bias.name,
            bias.unit,
            bias.n,
            bias.value,
            None if ends is None else ends.low,
            None if ends is None else ends.high,
            bias.reason,
        )


def read_card(folder: Path) -> JudgeCard | None:
    """Return the card of a choice's folder, or None if its judge was not checked."""
    path = folder / CHECK / _CARD
    if not path.is_file():
        return None
    return msgspec.json.decode(path.read_bytes(), type=JudgeCard)
