"""Calibration of the built-in judge's verdicts on units: are its probabilities shares?

    python -m training.studies.unit_calibration

Units of two descriptions of a picture that readers marked (``training/entailment/readings.py``,
pairs that the entailment model was not trained on). Printed are, over all and by kind of text, the
expected calibration error (mean distance of probability and share said over tenths), the shares of
verdicts and of matches that are right, and the same where units that are nearly even are left out.
The weights that ship were fitted on these units, too; so the units that words alone do not decide
get a second line, with weights of five folds by picture, fitted on the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from beholder.judges.builtin.entailed import ask, features, undecided
from beholder.judges.builtin.findings import find
from beholder.judges.builtin.gather import gather
from beholder.judges.builtin.numbers import numbers
from beholder.judges.builtin.reading import analysed
from training.entailment.decision import KINDS
from training.entailment.readings import long_texts, readings

BINS = 10
FOLDS = 5
PENALTY = 3e-3
NEARLY_EVEN = (0.0, 0.05, 0.1, 0.15)
"""Distances from a half within which a unit is left out."""

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class MarkedUnit(NamedTuple):
    """A marked unit with the judge's probability.

    Attributes:
        picture: Place of its pair of texts.
        is_long: Whether the pair is one of IIW-400 or DOCCI.
        kind: Place in ``decision.NAMES``.
        chance: Probability that the other text says it, 0..1.
        is_said: Whether readers say so.
        parts: Features of the decision; None where words alone decide.
    """

    picture: int
    is_long: bool
    kind: int
    chance: float
    is_said: bool
    parts: tuple[float, ...] | None


def marked_units() -> Iterator[MarkedUnit]:
    """Yield the units that readers marked as said or not."""
    n = numbers()
    long = {text for pair in long_texts().values() for text in pair.values()}
    for place, (text, other_text, label) in enumerate(readings(True)):
        source, target = analysed(text), analysed(other_text)
        evidence = gather(source, target, n)
        wordings = undecided(source, evidence, n)
        answers = dict(
            zip(wordings, ask(list(wordings.values()), target), strict=True)
        )
        findings = find(source, target, entail=True)
        for index, unit in enumerate(source.units):
            mark = label(unit)
            if unit.asked and mark not in (None, "ill"):
                answer = answers.get(index)
                yield MarkedUnit(
                    picture=place // 2,
                    is_long=text in long,
                    kind=KINDS[evidence[index].kind],
                    chance=(findings[index].grade - 1) / 4,
                    is_said=mark == "said",
                    parts=None
                    if answer is None
                    else features(evidence[index], answer, n),
                )


def calibration_error(chances: Floats, is_said: Bools) -> float:
    """Mean distance of probability and share said over tenths, 0..1; 0 is best."""
    bins = np.minimum((chances * BINS).astype(int), BINS - 1)
    gaps = [abs((chances - is_said)[bins == b].sum()) for b in range(BINS)]
    return float(sum(gaps) / len(chances))


def refitted(units: list[MarkedUnit]) -> Floats:
    """Probabilities of undecided units by weights that were fitted on other pictures."""
    kinds = np.array([unit.kind for unit in units])
    folds = np.array([unit.picture % FOLDS for unit in units])
    is_said = np.array([unit.is_said for unit in units])
    parts = np.array([unit.parts for unit in units])
    spread = parts.std(axis=0)
    # The constant is a part, too.
    scaled = parts / np.where(spread > 0, spread, 1.0)
    chances = np.zeros(len(units))
    for kind in set(kinds.tolist()):
        for fold in range(FOLDS):
            held = (kinds == kind) & (folds == fold)
            others = (kinds == kind) & (folds != fold)
            weights = _fit(scaled[others], is_said[others])
            chances[held] = 1 / (1 + np.exp(-scaled[held] @ weights))
    return chances


def _fit(parts: Floats, is_said: Bools) -> Floats:
    sign = np.where(is_said, -1.0, 1.0)

    def loss(weights: Floats) -> float:
        missed = np.logaddexp(0.0, sign * (parts @ weights))
        return float(missed.mean() + PENALTY * (weights @ weights))

    weights: Floats = minimize(loss, np.zeros(parts.shape[1])).x
    return weights


def line(name: str, chances: Floats, is_said: Bools) -> str:
    """Return a line of the table: number, calibration error, shares that are right."""
    is_match = chances >= 0.5
    return (
        f"{name:28}{len(chances):6}  calibration error"
        f" {calibration_error(chances, is_said):.3f}  right"
        f" {(is_match == is_said).mean():.3f}  matches right {is_said[is_match].mean():.3f}"
    )


def main() -> None:
    """Print the table."""
    units = list(marked_units())
    chances = np.array([unit.chance for unit in units])
    is_said = np.array([unit.is_said for unit in units])
    print(line("all", chances, is_said))
    is_long = np.array([unit.is_long for unit in units])
    print(line("photographs", chances[~is_long], is_said[~is_long]))
    print(line("IIW-400 and DOCCI", chances[is_long], is_said[is_long]))
    is_open = np.array([unit.parts is not None for unit in units])
    print(line("undecided by words", chances[is_open], is_said[is_open]))
    open_units = [unit for unit in units if unit.parts is not None]
    print(
        line(
            "... other pictures' weights",
            refitted(open_units),
            is_said[is_open],
        )
    )
    for distance in NEARLY_EVEN:
        stays = ~is_open | (abs(chances - 0.5) >= distance)
        print(
            f"left out {1 - stays.mean():.3f}  "
            + line(
                f"without {distance:.2f} around even",
                chances[stays],
                is_said[stays],
            )
        )


if __name__ == "__main__":
    main()
