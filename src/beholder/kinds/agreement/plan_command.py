"""``beholder plan``: how many texts, pictures or labels a study needs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from beholder.errors import ConfigError
from beholder.tables import Column, Table
from beholder.terminal.groups import AsJson
from beholder.terminal.printing import print_result

if TYPE_CHECKING:
    from beholder.kinds.agreement.pilot import Pilot, TextCost


@Parameter(name="*")
@dataclass(frozen=True)
class GoalGroup:
    """Goals of the study.

    Attributes:
        width: Wanted half width of the interval of a mean.
        difference: Difference between the means of two systems that the study should find.
        kappa: Wanted half width of the interval of Cohen's kappa; needs --shares.
        labels: Wanted half width of a mean corrected by human labels; needs --judge-r.
        reliability: Wanted reliability of the mean of annotators or repeats; needs --single.
        power: Probability of finding --difference.
        systems: Systems to rank; all pairs are tested.
        error_rate: Share of grave errors that `beholder accept` should show is not exceeded.
        not_worse_than: Difference of two rates of grave errors to rule out; needs --discordant.
    """

    width: float | None = None
    difference: float | None = None
    kappa: float | None = None
    labels: float | None = None
    reliability: float | None = None
    power: float = 0.8
    systems: int = 2
    error_rate: float | None = None
    not_worse_than: float | None = None


@Parameter(name="*", group=Group("Assumptions", sort_key=0))
@dataclass(frozen=True)
class AssumptionGroup:
    """Assumptions, if no run is named, or instead of its figures.

    Attributes:
        sd: Standard deviation of the values of texts.
        icc: Intraclass correlation of texts about one picture, 0 to 1.
        per_picture: Texts per picture.
        r: Correlation between two systems over pictures.
        judge_r: Correlation between the judge and human labels.
        single: Reliability of one annotator or repeat, ICC(2,1), as agree or judge-check report it.
        judged: Texts that only the judge rates.
        texts: Texts of the collection of --error-rate; by default very many.
        expect: Share of grave errors that you expect.
        claims: Claims that --error-rate shows together, such as one for each captioner.
        discordant: Share of pictures of which one of the two texts alone has a grave error.
        shares: Shares of both yes, only the first yes, only the second yes, both no: .4,.1,.1,.4.
    """

    sd: float | None = None
    icc: float | None = None
    per_picture: float | None = None
    r: float | None = None
    judge_r: float | None = None
    single: float | None = None
    judged: int = 2000
    texts: int | None = None
    expect: float | None = None
    claims: int = 1
    discordant: float | None = None
    shares: str | None = None


def plan(
    run: Path | None = None,
    /,
    *,
    value: Annotated[str | None, Parameter(alias="-v")] = None,
    against: Path | None = None,
    goals: GoalGroup = GoalGroup(),
    assumptions: AssumptionGroup = AssumptionGroup(),
    as_json: AsJson = False,
) -> None:
    """Compute how many texts, pictures or labels a study needs, and what it will cost.

    A run of a small sample shows how values vary and what judges cost; options replace its figures.

    Example: `beholder plan --sd 0.25 --width 0.02 --difference 0.03 --r 0.6`

    Args:
        run: A run of a small sample, from which options take their defaults.
        value: Value of the run, such as accord or posh.f1; by default its first.
        against: Run of another system on the same pictures.
    """
    from beholder.kinds.agreement.pilot import Pilot, read_pilot

    pilot = Pilot() if run is None else read_pilot(run, value, against)
    figures = {
        name: getattr(assumptions, name)
        for name in ("sd", "icc", "per_picture", "r")
    }
    # One standard deviation for texts and pictures: nothing else is known.
    figures["sd_pictures"] = assumptions.sd
    pilot = replace(
        pilot,
        **{
            name: figure
            for name, figure in figures.items()
            if figure is not None
        },
    )
    rows = list(_rows(goals, assumptions, pilot))
    if not rows:
        raise ConfigError(
            "name a goal: --width, --difference, --kappa, --labels, --reliability, --error-rate or"
            " --not-worse-than"
        )
    notes: tuple[str, ...] = (pilot.in_words,) if pilot.in_words else ()
    if goals.error_rate is not None and assumptions.expect is not None:
        notes += (
            "default: the fewest errors with which a chance to pass is 80 %",
        )
    table = Table("plan", "What a study needs", _COLUMNS, tuple(rows), notes)
    print_result(rows, [table], as_json)


_COLUMNS = (
    Column("goal", "for", "text"),
    Column("texts", "texts", "count"),
    Column("pictures", "pictures", "count"),
    Column("raters", "annotators or repeats", "count"),
    Column("chance", "chance to pass", "percent"),
    Column("calls", "judge calls", "count"),
    Column("tokens", "prompt tokens", "count"),
    Column("dollars", "dollars"),
)


def _rows(
    goals: GoalGroup, assumptions: AssumptionGroup, pilot: Pilot
) -> Iterator[dict[str, Any]]:
    from beholder.stats import sizes

    if goals.width is not None:
        # Each goal asks for the assumptions that its formula needs, and for no
        # others.
        sd, per_picture = _require_number(pilot.sd, "--sd"), pilot.per_picture
        needed = sizes.texts_for_mean(
            goals.width, sd, per_picture=per_picture, icc=pilot.icc
        )
        goal = f"mean within +/- {goals.width:g}"
        yield _row(goal, needed, math.ceil(needed / per_picture), pilot.price)
    if goals.difference is not None:
        pictures = sizes.pictures_for_difference(
            goals.difference,
            _require_number(pilot.sd_pictures or pilot.sd, "--sd"),
            _require_number(pilot.r, "--r (or --against RUN)"),
            power=goals.power,
            systems=goals.systems,
        )
        goal = f"difference of {goals.difference:g} found with power {goals.power:g}"
        if goals.systems > 2:
            goal += f" between any of {goals.systems} systems"
        # Every system describes every picture.
        texts = math.ceil(pictures * pilot.per_picture) * goals.systems
        yield _row(goal, texts, pictures, pilot.price)
    if goals.kappa is not None:
        needed = sizes.items_for_kappa(
            goals.kappa, _shares(assumptions.shares)
        )
        yield _row(f"kappa within +/- {goals.kappa:g}", needed, None, None)
    if goals.labels is not None:
        sd, r = (
            _require_number(pilot.sd, "--sd"),
            _require_number(assumptions.judge_r, "--judge-r"),
        )
        needed = sizes.labels_for_corrected_mean(
            goals.labels, sd, r, assumptions.judged
        )
        goal = f"corrected mean within +/- {goals.labels:g}: labels by people"
        yield _row(goal, needed, None, None)
    if goals.reliability is not None:
        raters = sizes.raters_for_reliability(
            goals.reliability, _require_number(assumptions.single, "--single")
        )
        yield {
            "goal": f"a mean of reliability {goals.reliability:g}",
            "raters": raters,
        }
    if goals.error_rate is not None:
        yield from _acceptance_rows(goals.error_rate, assumptions, pilot)
    if goals.not_worse_than is not None:
        from beholder.stats import acceptance

        pairs = acceptance.pairs_for_margin(
            _require_number(assumptions.discordant, "--discordant"),
            goals.not_worse_than,
            power=goals.power,
        )
        goal = f"not worse by {goals.not_worse_than:g}, found with power {goals.power:g}"
        yield _row(goal, 2 * pairs, pairs, pilot.price)


_MOST_ALLOWED = 5
"""Grave errors that the largest fixed plan of a table allows."""


def _acceptance_rows(
    rate: float, assumptions: AssumptionGroup, pilot: Pilot
) -> Iterator[dict[str, Any]]:
    """Yield fixed plans by the errors that they allow, then the early stop."""
    from beholder.stats import acceptance

    _check_acceptance(rate, assumptions)
    expected, n_texts = assumptions.expect, assumptions.texts
    alpha = 0.05 / assumptions.claims
    effect = 1 + (pilot.per_picture - 1) * (assumptions.icc or 0.0)
    is_chosen = False
    for allowed in range(_MOST_ALLOWED + 1):
        needed = acceptance.texts_to_read(rate, allowed, n_texts, alpha=alpha)
        goal = f"fixed plan, {allowed} grave allowed"
        row: dict[str, Any] = {"texts": math.ceil(round(needed * effect, 9))}
        if n_texts is not None and row["texts"] >= n_texts:
            row["texts"] = n_texts
            goal += ": read all"
        if expected is not None:
            row["chance"] = acceptance.chance_to_pass(
                needed, allowed, expected, n_texts
            )
            if row["chance"] >= 0.8 and not is_chosen:
                is_chosen = True
                goal += " (default)"
        if effect > 1:
            row["pictures"] = math.ceil(row["texts"] / pilot.per_picture)
        yield {"goal": goal, **row}
    # Whole series have no early stop.
    if effect == 1:
        yield from _early_rows(rate, assumptions, alpha)


def _early_rows(
    rate: float, assumptions: AssumptionGroup, alpha: float
) -> Iterator[dict[str, Any]]:
    """Yield after how many texts simulated collections are accepted with the early stop."""
    import numpy as np

    from beholder.stats.acceptance import early_stops

    expected = assumptions.expect
    stops = early_stops(rate, expected or 0.0, assumptions.texts, alpha=alpha)
    # Without an expected rate all collections are free of errors and stop at the same text.
    named = {"no grave error": 0.5}
    if expected is not None:
        named = {"half of collections": 0.5, "nine in ten": 0.9}
    for name, share in named.items():
        quantile = float(np.quantile(stops, share, method="inverted_cdf"))
        if math.isfinite(quantile):
            yield {"goal": f"early stop, {name}", "texts": int(quantile)}


def _check_acceptance(rate: float, assumptions: AssumptionGroup) -> None:
    """Refuse figures of an acceptance plan that are out of their range."""
    figures = {
        f"--error-rate {rate:g}": 0 < rate < 1,
        f"--claims {assumptions.claims}": assumptions.claims >= 1,
        f"--texts {assumptions.texts}": (assumptions.texts or 1) >= 1,
        f"--expect {assumptions.expect}": 0 <= (assumptions.expect or 0) < 1,
    }
    for figure, is_valid in figures.items():
        if not is_valid:
            raise ConfigError(
                f"{figure}: expected a rate between 0 and 1, or a number from 1"
            )


def _row(
    goal: str, texts: int, pictures: int | None, price: TextCost | None
) -> dict[str, Any]:
    from beholder.kinds.agreement.pilot import TextCost

    costs: dict[str, Any] = {
        "goal": goal,
        "texts": texts,
        "pictures": pictures,
    }
    for key, cost_per_text in asdict(price or TextCost()).items():
        cost = None if cost_per_text is None else cost_per_text * texts
        costs[key] = (
            cost if cost is None or key == "dollars" else math.ceil(cost)
        )
    return costs


def _require_number(number: float | None, option: str) -> float:
    if number is None:
        raise ConfigError(f"name {option}, or a run of a pilot that shows it")
    return number


def _shares(text: str | None) -> list[list[float]]:
    try:
        a, b, c, d = map(float, (text or "").split(","))
    except ValueError:
        raise ConfigError(
            f"--shares {text}: expected four shares, such as .4,.1,.1,.4"
        ) from None
    return [[a, b], [c, d]]
