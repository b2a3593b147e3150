"""Tests of a judge: its operations, obvious questions, steadiness and biases.

``diagnose`` serves ``beholder doctor --judge``, ``check_steadiness`` ``beholder judge-check``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import TypeAlias

import numpy as np

from beholder import stats
from beholder.backends.openai_probe import SQUARES
from beholder.backends.openai_wire import Dialect
from beholder.errors import BeholderError
from beholder.judges.base import FIRST, Draw, Judge
from beholder.judges.decisions.judge import DecisionJudge
from beholder.judges.llm import LLMJudge
from beholder.judges.operations import (
    Decompose,
    Presence,
    Question,
    Rank,
    Verify,
)
from beholder.judges.probes import attempt, graded, load_probes, probes
from beholder.stats.checks import Floats
from beholder.stats.judge_bias import (
    OWN_UNIT,
    PLACE_UNIT,
    Bias,
    mean_bias,
    seat_bias,
    share_bias,
)

PanelRating: TypeAlias = tuple[str, str, str, float]
"""Operation, question, judge and value, as ``AnswerFile.ratings`` gives them."""


def panels(
    ratings: Iterable[PanelRating],
) -> Iterator[tuple[str, tuple[str, ...], Floats, int]]:
    """Return the operations by name, each with the answers of its judges.

    Yields:
        The operation, its judges in order of their names, a row of their values for each question
        that all of them answered, and how many others there are.
    """
    rows_by_operation: dict[str, dict[str, dict[str, float]]] = {}
    for operation, question, judge, value in ratings:
        rows_by_operation.setdefault(operation, {}).setdefault(question, {})[
            judge
        ] = value
    for operation, rows in sorted(rows_by_operation.items()):
        judges = tuple(
            sorted({judge for row in rows.values() for judge in row})
        )
        whole = [
            [row[name] for name in judges]
            for row in rows.values()
            if len(row) == len(judges)
        ]
        table = np.array(whole, dtype=np.float64).reshape(
            len(whole), len(judges)
        )
        yield operation, judges, table, len(rows) - len(whole)


OBVIOUS = load_probes("obvious.txt")
"""Units of one text with obvious answers."""
SCENE = OBVIOUS[0].text
_PADDING = (
    " The weather is calm, and there is nothing else of note in the picture."
    * 8
)
_NO_DRAWS = "a decision model draws no answers"
_LABELS = "texts with labels are needed: beholder score --labels"


@dataclass(frozen=True)
class CheckFinding:
    """One thing found out.

    Attributes:
        name: Name of the check.
        good: Whether it is as it should be; None if there is no good or bad.
        said: The finding, for people.
    """

    name: str
    good: bool | None
    said: str


async def diagnose(judge: Judge) -> list[CheckFinding]:
    """Check the abilities of a judge and a dozen obvious questions; costs about 17 calls."""
    findings = []
    if isinstance(judge, LLMJudge):
        able = await judge.backend.capabilities(schema=True, images=True)
        support = (
            f"yes, {able.top_logprobs}"
            if able.top_logprobs
            else "no: grades are means of samples"
        )
        findings += [
            CheckFinding("model", None, able.model),
            CheckFinding("log-probabilities", able.top_logprobs > 0, support),
            CheckFinding(
                "structured answers",
                able.structure != "text",
                f"by {able.structure}",
            ),
        ]
        # Without log-probabilities grades are means of samples, so it matters
        # whether a server draws copies of one sample.
        if not able.top_logprobs:
            await judge.backend.draws_copies()
            able = await judge.backend.capabilities(schema=True, images=True)
        if isinstance(able, Dialect):
            lacks = able.shortcomings()
            findings += [
                CheckFinding(f"no {name}", None, instead)
                for name, instead in lacks
            ]
        if able.images:
            findings.append(await _tried("sight", _sees(judge)))
        else:
            findings.append(CheckFinding("sight", None, "takes no pictures"))
    if isinstance(judge, DecisionJudge):
        model = await judge.backend.capabilities()
        findings.append(CheckFinding("model", None, model.model))
        if await judge.accepts_images():
            findings.append(await _tried("sight", _sees(judge)))
        else:
            findings.append(CheckFinding("sight", None, "takes no pictures"))
    findings.append(await _tried("knows the obvious", _knows(judge)))
    if isinstance(judge, DecisionJudge) and not judge.can(Decompose):
        summary = "none: it writes nothing; a writer would, as writer='JUDGE'"
        findings.append(CheckFinding("statements", None, summary))
    else:
        findings.append(await _tried("statements", _decomposes(judge)))
    return findings


async def _tried(name: str, check: Awaitable[CheckFinding]) -> CheckFinding:
    """Run a check; if it fails, return the reason, so that the others still run."""
    try:
        return await check
    except BeholderError as error:
        return CheckFinding(name, False, str(error))


async def _knows(judge: Judge) -> CheckFinding:
    questions = [probe.question for probe in OBVIOUS]
    grades = await judge.ask(Presence(questions, SCENE))
    wrong = [
        " ".join(filter(None, (q.kind, q.subject, q.text, q.object)))
        + f" = {grade.value:.1f}"
        for q, probe, grade in zip(questions, OBVIOUS, grades, strict=True)
        if (grade.value >= judge.presence_threshold) != probe.is_stated
    ]
    mass = min(grade.mass for grade in grades)
    right = f"{len(OBVIOUS) - len(wrong)} of {len(OBVIOUS)} right"
    summary = f"{right}, at least {mass:.0%} of the probability on grades"
    return CheckFinding(
        "knows the obvious", not wrong, "; ".join([summary, *wrong])
    )


async def _decomposes(judge: Judge) -> CheckFinding:
    statements = await judge.ask(Decompose(SCENE))
    summary = (
        f"{len(statements)} statements from 4 clauses, such as {statements[0].text!r}"
        if statements
        else "none"
    )
    return CheckFinding("statements", 4 <= len(statements) <= 30, summary)


async def _sees(judge: Judge) -> CheckFinding:
    claims = [
        "The picture is red.",
        "The picture is blue.",
        "The picture shows a dog.",
    ]
    red, blue = [
        await judge.ask(Verify(claims, [square])) for square in SQUARES
    ]
    good = red == [True, False, False] and blue == [False, True, False]
    summary = (
        "distinguishes red from blue" if good else f"red {red}, blue {blue}"
    )
    return CheckFinding("sight", good, summary)


@dataclass(frozen=True)
class Steadiness:
    """The steadiness of a judge.

    Attributes:
        single: ICC(2,1) of repeats over the grades of ``KNOWN``: how reliable one repeat is; None
            where fewer than two of these questions were answered every time.
        average: ICC(2,k) of the same: how reliable their mean is.
        biases: Influences on its answers besides their subject: ``length`` (the same facts in
            a longer text), ``repeats``, ``wording``, ``seat`` and ``flips``.
        n_failed: Questions without a usable answer.
        n_calls: Questions, answers kept from before counted in.
    """

    single: float | None
    average: float | None
    biases: tuple[Bias, ...]
    n_failed: int
    n_calls: int


async def check_steadiness(
    judge: Judge, *, replicates: int = 3, temperature: float = 0.7
) -> Steadiness:
    """Self-consistency over repeats, and bias by length. What fails is counted and left out.

    Args:
        judge: The judge.
        replicates: Repeats, at least 2.
        temperature: Of the repeats.
    """
    questions = [probe.question for probe in OBVIOUS]
    # A decision model has no temperature: its repeats would be one stored answer.
    draws_answers = not isinstance(judge, DecisionJudge)
    draws = [
        Draw(r, temperature) for r in range(replicates if draws_answers else 0)
    ]
    # One batch of questions, in this order: the repeats at temperature, then
    # the scene as it is and the scene with ten times the words. The answers
    # are cut apart again below.
    text_draws = [(SCENE, draw) for draw in draws] + [
        (SCENE, FIRST),
        (SCENE + _PADDING, FIRST),
    ]
    answers = await asyncio.gather(
        *(
            graded(judge, question, text, draw)
            for text, draw in text_draws
            for question in questions
        )
    )
    n = len(questions)
    *runs, shorter, longer = (
        answers[i : i + n] for i in range(0, len(answers), n)
    )
    grades_by_question = [
        [g for g in row if not isinstance(g, str)]
        for row in zip(*runs, strict=True)
    ]
    # Agreement needs a full table; a question that failed in one repeat is
    # left out of all.
    whole = [row for row in grades_by_question if len(row) == replicates]
    table = np.array(whole) if len(whole) >= 2 else None
    change = [
        after - before
        for before, after in zip(shorter, longer, strict=True)
        if not isinstance(before, str) and not isinstance(after, str)
    ]
    repeats = [
        {g >= judge.presence_threshold for g in grades} for grades in whole
    ]
    unit = "share of verdicts that change"
    biases = (
        mean_bias(
            "length",
            "grade for ten times the words",
            change,
            "questions",
            least=10,
        ),
        share_bias(
            "repeats",
            unit,
            [len(each) > 1 for each in repeats],
            "questions",
            least=10,
        )
        if draws_answers
        else Bias("repeats", 0, unit, reason=_NO_DRAWS),
        await _wording(judge),
        *seat_bias(*await _seats(judge)),
        # These two need human labels, which this check does not have; they are
        # listed so that a reader sees what was not measured.
        Bias("own texts", 0, OWN_UNIT, reason=_LABELS),
        Bias("place of the sentence", 0, PLACE_UNIT, reason=_LABELS),
    )
    return Steadiness(
        single=None if table is None else stats.icc(table, "2,1").value,
        average=None if table is None else stats.icc(table, "2,k").value,
        biases=biases,
        n_failed=sum(isinstance(answer, str) for answer in answers),
        n_calls=len(answers),
    )


async def _seats(judge: Judge) -> tuple[list[tuple[int, int]], list[int]]:
    """Rank pairs of probe texts in both orders; return consistent winners by seat, and clusters."""
    if not judge.can(Rank):
        return [], []
    texts = list(dict.fromkeys(probe.text for probe in probes()))
    # Neighbours at distance one and two: each text occurs in four pairs, and
    # twice in each seat.
    pairs = [
        (i, (i + step) % len(texts))
        for step in (1, 2)
        for i in range(len(texts))
    ]

    async def winner(first: int, second: int) -> int:
        ranks = await attempt(judge.ask(Rank([texts[first], texts[second]])))
        if isinstance(ranks, str):
            return 0
        return 1 if ranks[0] < ranks[1] else -1

    winners = await asyncio.gather(
        *(winner(a, b) for i, j in pairs for a, b in ((i, j), (j, i)))
    )
    both = zip(
        zip(winners[::2], winners[1::2], strict=True), pairs, strict=True
    )
    # A pair counts only if both orders were answered. Pairs that share their
    # first text form a cluster, since they are not independent.
    consistent = [
        (outcome, first) for outcome, (first, _) in both if 0 not in outcome
    ]
    return [outcome for outcome, _ in consistent], [
        first for _, first in consistent
    ]


async def _wording(judge: Judge) -> Bias:
    """Measure how much more often "is it supported?" gets yes than a grade, clustered by text."""

    async def difference(text: str, questions: list[Question]) -> float | None:
        claims = [
            f"{q.subject} {q.text} {q.object}".strip() for q in questions
        ]
        verdicts = await attempt(judge.ask(Verify(claims, reference=text)))
        if isinstance(verdicts, str):
            return None
        grades = await attempt(judge.ask(Presence(questions, text)))
        if isinstance(grades, str):
            return None
        return fmean(verdicts) - fmean(
            grade.value >= judge.presence_threshold for grade in grades
        )

    texts = (
        groupby(probes(), key=lambda probe: probe.text)
        if judge.can(Verify)
        else ()
    )
    # One difference per text: the questions on one text are not independent.
    comparisons = [
        difference(text, [probe.question for probe in group])
        for text, group in texts
    ]
    differences = [
        shift
        for shift in await asyncio.gather(*comparisons)
        if shift is not None
    ]
    unit = "share of yes, supported minus present"
    return mean_bias("wording", unit, differences, "texts", least=10)
