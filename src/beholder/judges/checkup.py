"""Is this judge fit for work? What it can do, whether it knows the obvious, how steady it is.

``diagnose`` serves ``beholder doctor --judge``, ``check_steadiness`` ``beholder judge-check``.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from PIL import Image as PILImage

from beholder.backends import Image
from beholder.errors import BeholderError
from beholder.judges.base import Draw, Judge
from beholder.judges.llm import LLMJudge
from beholder.judges.operations import Decompose, Presence, Question, Rank, Verify
from beholder.judges.reliability import PanelReliability, reliability
from beholder.stats.alerts import AlertF1, alert_f1

SCENE = (
    "A tall man in a red coat stands on a wooden bridge. He holds a black umbrella. Two ducks swim"
    " in the river below, and a church with a green roof rises behind the trees."
)
KNOWN: tuple[tuple[Question, bool], ...] = (
    (Question("entity", "a man"), True),
    (Question("entity", "ducks"), True),
    (Question("entity", "a bicycle"), False),
    (Question("entity", "a woman"), False),
    (Question("attribute", "red", "the man's coat"), True),
    (Question("attribute", "blue", "the man's coat"), False),
    (Question("attribute", "wooden", "the bridge"), True),
    (Question("attribute", "three", "the ducks"), False),
    (Question("relation", "stands on", "the man", "the bridge"), True),
    (Question("relation", "stands on", "the bridge", "the man"), False),
    (Question("relation", "behind", "the church", "the trees"), True),
    (Question("relation", "holds", "the man", "a book"), False),
)
_PADDING = " The weather is calm, and there is nothing else of note in the picture." * 8


@dataclass(frozen=True)
class CheckFinding:
    """One thing found out.

    Attributes:
        name: What was looked at.
        good: Whether it is as it should be; None where there is no good or bad.
        said: The finding, for people.
    """

    name: str
    good: bool | None
    said: str


async def diagnose(judge: Judge) -> list[CheckFinding]:
    """What a judge can do, and whether it knows a dozen obvious things. Costs about 17 calls."""
    findings = []
    if isinstance(judge, LLMJudge):
        able = await judge.backend.capabilities(schema=True, images=True)
        told = (
            f"yes, {able.top_logprobs}" if able.top_logprobs else "no: grades are means of samples"
        )
        findings += [
            CheckFinding("model", None, able.model),
            CheckFinding("log-probabilities", able.top_logprobs > 0, told),
            CheckFinding("structured answers", able.structure != "text", f"by {able.structure}"),
        ]
        if able.images:
            findings.append(await _tried("sight", _sees(judge)))
        else:
            findings.append(CheckFinding("sight", None, "takes no pictures"))
    findings.append(await _tried("knows the obvious", _knows(judge)))
    findings.append(await _tried("statements", _decomposes(judge)))
    return findings


async def _tried(name: str, check: Awaitable[CheckFinding]) -> CheckFinding:
    """A check that fails says why; the others still run."""
    try:
        return await check
    except BeholderError as error:
        return CheckFinding(name, False, str(error))


async def _knows(judge: Judge) -> CheckFinding:
    grades = await judge.ask(Presence([question for question, _ in KNOWN], SCENE))
    wrong = [
        " ".join(filter(None, (q.kind, q.subject, q.text, q.object))) + f" = {grade.value:.1f}"
        for (q, there), grade in zip(KNOWN, grades, strict=True)
        if (grade.value >= judge.presence_threshold) != there
    ]
    mass = min(grade.mass for grade in grades)
    right = f"{len(KNOWN) - len(wrong)} of {len(KNOWN)} right"
    said = f"{right}, at least {mass:.0%} of the probability on grades"
    return CheckFinding("knows the obvious", not wrong, "; ".join([said, *wrong]))


async def _decomposes(judge: Judge) -> CheckFinding:
    found = await judge.ask(Decompose(SCENE))
    said = f"{len(found)} statements from 4 clauses, such as {found[0].text!r}" if found else "none"
    return CheckFinding("statements", 4 <= len(found) <= 30, said)


async def _sees(judge: Judge) -> CheckFinding:
    claims = ["The picture is red.", "The picture is blue.", "The picture shows a dog."]
    red = await judge.ask(Verify(claims, [_square((220, 20, 20))]))
    blue = await judge.ask(Verify(claims, [_square((20, 30, 220))]))
    good = red == [True, False, False] and blue == [False, True, False]
    return CheckFinding("sight", good, "tells red from blue" if good else f"red {red}, blue {blue}")


def _square(colour: tuple[int, int, int]) -> Image:
    data = io.BytesIO()
    PILImage.new("RGB", (128, 128), colour).save(data, "PNG")
    return Image(data.getvalue(), "image/png")


@dataclass(frozen=True)
class Calibration:
    """How well a threshold on grades tells what is there from what is not.

    Attributes:
        used: Macro F1 of the two at the threshold of the judge's scale.
        best: The highest there is, with its threshold: an upper bound.
    """

    used: AlertF1
    best: AlertF1


def calibrate(grades: Sequence[float], there: Sequence[bool], threshold: float) -> Calibration:
    """Hold grades of presence against what is known.

    Args:
        grades: One per unit.
        there: Whether the unit is there.
        threshold: Grade from which the judge counts a unit as there.
    """
    labels = [np.array([not known for known in there], dtype=int)]
    values = [np.array(grades, dtype=float)]
    return Calibration(alert_f1(values, labels, threshold=threshold), alert_f1(values, labels))


@dataclass(frozen=True)
class Steadiness:
    """How steady a judge is, and whether the threshold of its scale suits it.

    Attributes:
        calibration: The threshold on the grades of ``KNOWN``.
        agreement: Of repeats with each other, over the grades of ``KNOWN``.
        position_bias: Mean rank given to the first place minus that given to the last, in ranks;
            0 is fair, negative favours what stands first.
        length_bias: Mean grade change when the same facts stand in a longer text; 0 is fair.
        n_calls: Judge calls it took, answers kept from before counted in.
    """

    calibration: Calibration
    agreement: PanelReliability
    position_bias: float
    length_bias: float
    n_calls: int


async def check_steadiness(
    judge: Judge, *, replicates: int = 3, temperature: float = 0.7, texts: Sequence[str] = ()
) -> Steadiness:
    """Self-consistency over repeats, and bias by position and by length.

    Args:
        judge: The judge.
        replicates: Repeats, at least 2.
        temperature: Of the repeats.
        texts: Three or more texts about one thing to be ranked; some of our own if not given.
    """
    questions = [question for question, _ in KNOWN]
    runs = await asyncio.gather(
        *(judge.ask(Presence(questions, SCENE), Draw(r, temperature)) for r in range(replicates))
    )
    rows = [
        ("presence", str(i), f"repeat {r}", grade.value)
        for r, grades in enumerate(runs)
        for i, grade in enumerate(grades)
    ]
    longer = await judge.ask(Presence(questions, SCENE + _PADDING))
    shorter = await judge.ask(Presence(questions, SCENE))
    change = [a.value - b.value for a, b in zip(longer, shorter, strict=True)]
    ranked = list(texts) or _equal_texts()
    bias = await _position_bias(judge, ranked)
    n_calls = len(questions) * (replicates + 2) + len(ranked)
    known = [there for _, there in KNOWN]
    calibration = calibrate([g.value for g in shorter], known, judge.presence_threshold)
    return Steadiness(calibration, reliability(rows)[0], bias, fmean(change), n_calls)


async def _position_bias(judge: Judge, texts: Sequence[str]) -> float:
    """Every text stands once in every place, so that quality cancels out."""
    n = len(texts)
    orders = [[*texts[shift:], *texts[:shift]] for shift in range(n)]
    rankings = await asyncio.gather(*(judge.ask(Rank(order)) for order in orders))
    return fmean(ranks[0] for ranks in rankings) - fmean(ranks[-1] for ranks in rankings)


def _equal_texts() -> list[str]:
    return [
        "The composition leads the eye along the bridge, but the sky is too bright.",
        "The red coat stands out well; the reflections in the river are lost in shadow.",
        "The church gives depth to the scene, though the trees cover much of it.",
        "The light on the water is fine, while the man stands too far to the left.",
    ]
