"""A test of how well a judge separates present from absent units: 200 probes with known answers.

The probes are texts of our own with units that they state and units that they do not (``altered``:
one detail is another; ``swapped``: said of another thing, or roles exchanged; ``foreign``: another
text's). A judge is fit where it parts the two, whatever its scale: area under the ROC curve. A
probe that a judge cannot answer is counted, and the others continue.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import groupby
from typing import Literal, TypeAlias, TypeVar, cast, get_args

import numpy as np

from beholder.errors import BeholderError, ConfigError, RunError
from beholder.judges.base import FIRST, Draw, Judge
from beholder.judges.operations import Presence, Question, Rank
from beholder.judges.operations.presence import (
    HIGHEST,
    LOWEST,
    QuestionKind,
)
from beholder.records import Estimate
from beholder.stats.alerts import AlertF1, alert_f1
from beholder.stats.calibration import (
    brier_score,
    expected_calibration_error,
)
from beholder.stats.checks import Floats

ProbeKind: TypeAlias = Literal["true", "altered", "swapped", "foreign"]
T = TypeVar("T")
Verdict: TypeAlias = Literal["fit", "weak", "unfit"]

FIT = 0.9
"""Area under the curve from which a judge is fit: it ranks nine of ten pairs of a stated and an
unstated unit rightly."""

WEAK = 0.75
"""Below it a judge is unfit: it adds more noise than verdicts."""

MOST_FAILED = 0.05
"""Share of probes without a usable answer beyond which a judge is unfit."""

QUESTIONS_PER_ITEM = 130
"""The questions of PoSh for a pair of descriptions of 100 and 170 words (``docs/judges.md``)."""


@dataclass(frozen=True)
class Probe:
    """A unit that a text states or does not."""

    text: str
    question: Question
    kind: ProbeKind

    @property
    def is_stated(self) -> bool:
        """Return whether the text states the unit."""
        return self.kind == "true"


@cache
def probes() -> tuple[Probe, ...]:
    """Return the probes of the package: 20 texts, each with five stated and five unstated units."""
    return load_probes("probes.txt")


def load_probes(name: str) -> tuple[Probe, ...]:
    """Return the probes of a file beside this one: blocks of a text and its units."""
    file = resources.files("beholder.judges").joinpath(name)
    probes = []
    for block in file.read_text(encoding="utf-8").split("\n\n"):
        text, *rows = block.strip().splitlines()
        if text.startswith("#"):
            continue
        for row in rows:
            kind, unit, *words = (part.strip() for part in row.split("|"))
            wording, subject, object_ = (*words, "", "")[:3]
            question = Question(
                cast(QuestionKind, unit), wording, subject, object_
            )
            probes.append(Probe(text, question, cast(ProbeKind, kind)))
    return tuple(probes)


async def attempt(question: Awaitable[T]) -> T | str:
    """Return the answer to a question, or the reason why there is none.

    Raises:
        ConfigError: No question to this judge can succeed.
        RunError: The account has no quota left.
    """
    try:
        return await question
    except (ConfigError, RunError):
        raise
    except BeholderError as error:
        return str(error)


@dataclass(frozen=True)
class Calibration:
    """Accuracy of a threshold on grades in separating present from absent units.

    Attributes:
        used: Macro F1 of the two at the threshold of the judge's scale.
        best: The highest there is, with its threshold: an upper bound.
    """

    used: AlertF1
    best: AlertF1


def calibrate(
    grades: Sequence[float], there: Sequence[bool], threshold: float
) -> Calibration:
    """Compare grades of presence with the known answers.

    Args:
        grades: One per unit.
        there: Whether the unit is there.
        threshold: Grade from which the judge counts a unit as there.
    """
    # Label 1 is an alert: the text does not state the unit.
    labels = [np.array([not is_stated for is_stated in there], dtype=int)]
    values = [np.array(grades, dtype=float)]
    return Calibration(
        alert_f1(values, labels, threshold=threshold), alert_f1(values, labels)
    )


@dataclass(frozen=True)
class Fitness:
    """The result of the probes.

    Attributes:
        n: Probes.
        failed: Reasons why probes got no grade, with their counts.
        auc: Share of pairs of a stated and an unstated unit that are ranked rightly, ties half;
            0.5 is chance, 1 best; NaN where one side has no grade.
        auc_by_kind: The same against each kind of unstated unit.
        right: Share of answered probes on the right side of ``threshold``.
        threshold: Grade from which a unit counts as found.
        calibration: F1 at that threshold, and at the best one.
        calibration_error: Mean distance of the grade, as a probability from 0 to 1, from the share
            of stated units, over tenths of the probes; 0 is best. None without grades.
        brier: Mean squared distance of these probabilities from 1 (stated) or 0; 0 is best.
        position_bias: Mean rank given to what stands first minus that of what stands last, in
            ranks; 0 is fair, below 0 favours the first; None if no ranking could be used,
            or no probe got a grade.
        seconds: Time for the probes, answers kept from before counted as nothing.
    """

    n: int
    failed: Mapping[str, int]
    auc: float
    auc_by_kind: Mapping[ProbeKind, float]
    right: float
    threshold: float
    calibration: Calibration
    calibration_error: Estimate | None
    brier: Estimate | None
    position_bias: float | None
    seconds: float

    @property
    def n_failed(self) -> int:
        """Probes without a grade."""
        return sum(self.failed.values())

    @property
    def verdict(self) -> Verdict:
        """Return whether the judge is fit here, by ``FIT``, ``WEAK`` and ``MOST_FAILED``."""
        if not self.auc >= WEAK or self.n_failed > MOST_FAILED * self.n:
            return "unfit"
        return "fit" if self.auc >= FIT else "weak"


async def fitness(
    judge: Judge,
    *,
    threshold: float,
    selection: Sequence[Probe] = (),
    together: bool = False,
) -> Fitness:
    """Put the probes to a judge.

    Args:
        judge: The judge.
        threshold: Grade from which a unit counts as found.
        selection: Probes of your own; the package's if not given.
        together: Ask all probes of a text at once, as metrics do; for judges that answer them in
            one call.

    Raises:
        ConfigError: No question to this judge can succeed (wrong key, unknown model).
        RunError: The account has no quota left.
    """
    # Plan: grade the probes side by side, count what failed, and measure
    # ranking (AUC), the threshold and calibration on the rest.
    chosen = list(selection) or list(probes())
    start = time.monotonic()
    groups = [[probe] for probe in chosen]
    if together:
        groups = [
            list(group)
            for _, group in groupby(chosen, key=lambda probe: probe.text)
        ]
    answers_by_group = await asyncio.gather(
        *(_grade_group(judge, group) for group in groups)
    )
    answers = [answer for group in answers_by_group for answer in group]
    seconds = time.monotonic() - start
    failed = Counter(answer for answer in answers if isinstance(answer, str))
    graded_probes = [
        (p, a)
        for p, a in zip(chosen, answers, strict=True)
        if not isinstance(a, str)
    ]
    grades = np.array([grade for _, grade in graded_probes], dtype=np.float64)
    # AUC by kind compares each kind of false probe with all true ones: a judge
    # may see invented things and miss exchanged ones.
    kinds = np.array([probe.kind for probe, _ in graded_probes], dtype=object)
    there = kinds == "true"
    judged = probability_of_yes(grades), there.astype(float)
    # Probes of one text are not independent.
    texts = [probe.text for probe, _ in graded_probes]
    return Fitness(
        n=len(chosen),
        failed=failed,
        auc=area(grades[there], grades[~there]),
        auc_by_kind={
            kind: area(grades[there], grades[kinds == kind])
            for kind in get_args(ProbeKind)
            if kind != "true"
        },
        right=float(((grades >= threshold) == there).mean())
        if len(grades)
        else np.nan,
        threshold=threshold,
        calibration=calibrate(grades.tolist(), there.tolist(), threshold),
        calibration_error=expected_calibration_error(*judged, clusters=texts)
        if graded_probes
        else None,
        brier=brier_score(*judged, clusters=texts) if graded_probes else None,
        position_bias=await position_bias(judge, EQUAL_TEXTS)
        if graded_probes
        else None,
        seconds=seconds,
    )


async def _grade_group(
    judge: Judge, group: Sequence[Probe]
) -> list[float | str]:
    """Return the grades of units of one text; asks each alone where a question fails."""
    questions = [probe.question for probe in group]
    text = group[0].text
    if len(group) > 1:
        grades = await attempt(judge.ask(Presence(questions, text)))
        if not isinstance(grades, str):
            return [grade.value for grade in grades]
    return [await graded(judge, question, text) for question in questions]


def probability_of_yes(grades: Floats) -> Floats:
    """Return grades of presence as probabilities: 0 for the lowest, 1 for the highest."""
    return (grades - LOWEST) / (HIGHEST - LOWEST)


async def graded(
    judge: Judge, question: Question, text: str, draw: Draw = FIRST
) -> float | str:
    """The grade of a unit in a text, or why there is none."""
    grades = await attempt(judge.ask(Presence([question], text), draw))
    return grades if isinstance(grades, str) else grades[0].value


def area(high: Floats, low: Floats) -> float:
    """Share of pairs in which the first is above the second, ties half; NaN without pairs."""
    if not len(high) or not len(low):
        return np.nan
    return float(
        ((high[:, None] > low).mean() + (high[:, None] >= low).mean()) / 2
    )


async def position_bias(judge: Judge, texts: Sequence[str]) -> float | None:
    """Return the mean rank of first places minus that of last places; None if a ranking failed."""
    if not judge.can(Rank):
        return None
    n = len(texts)
    orders = [[*texts[shift:], *texts[:shift]] for shift in range(n)]
    rankings = await attempt(
        asyncio.gather(*(judge.ask(Rank(order)) for order in orders))
    )
    if isinstance(rankings, str):
        return None
    first, last = ([ranks[place] for ranks in rankings] for place in (0, -1))
    return float(np.mean(first) - np.mean(last))


EQUAL_TEXTS = (
    "The composition leads the eye along the bridge, but the sky is too bright.",
    "The red coat stands out well; the reflections in the river are lost in shadow.",
    "The church gives depth to the scene, though the trees cover much of it.",
    "The light on the water is fine, while the man stands too far to the left.",
)
"""Reviews of one picture, none better than another."""
