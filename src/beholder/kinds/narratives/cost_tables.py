"""Tables of what judging costs: stages, captions or sight, and captions with some sight."""

from __future__ import annotations

from collections.abc import Iterable

from beholder.kinds.narratives import results
from beholder.kinds.narratives.hybrid import HybridCheck, held_out_check
from beholder.report.numbers import show_fixed
from beholder.stats.bootstrap import describe_few_sources
from beholder.tables import (
    Column,
    Table,
    record_cells,
)

_STAGES = {"caption": "writing captions", "transitions": "rating steps"}
_CHECKED = {
    "looked at": "looked at (ratings contain sight)",
    "held out": "looked at, each predicted from captions alone",
}
_CHOSEN = {
    "uncertain": "the ones on which caption judges disagree most",
    "top": "the best rated by captions",
}


def stage_cost_table(stages: Iterable[results.StageOfRun]) -> Table:
    """Return the answers, seconds and tokens of each stage of judging."""
    columns = (
        Column("run", "run", "text"),
        Column("stage", "stage", "text"),
        Column("calls", "answers", "count"),
        Column("seconds", "seconds, summed", "hundredths"),
        Column("seconds_each", "seconds each"),
        Column("prompt_tokens", "prompt tokens", "count"),
        Column("completion_tokens", "answer tokens", "count"),
        Column("tokens", "tokens", "count"),
    )
    rows = []
    for stage in stages:
        name = _STAGES.get(stage.stage, f"rating by {stage.stage}")
        seconds_each = stage.seconds / stage.calls if stage.calls else None
        rows.append(
            record_cells(stage)
            | {
                "run": stage.run or None,
                "stage": name,
                "seconds_each": seconds_each,
                "tokens": stage.prompt_tokens + stage.completion_tokens,
            }
        )
    return Table("costs", "what judging costs", columns, tuple(rows))


def captions_or_sight_table(cost: results.Cost) -> Table:
    """Return the costs of judging by captions and by sight, and when captions begin to pay."""
    units = {"seconds": cost.seconds, "tokens": cost.tokens}
    basis = (
        f"For {cost.n_pictures:,} pictures, {cost.n_narratives:,} narratives and {cost.judges:,}"
        " ratings of each. Captions are written once; another study of the same pictures only pays"
        " the ratings."
    )
    # An empty cell for the break-even would read as unknown.
    never = (
        f"Captions never pay in {unit}."
        for unit, unit_cost in units.items()
        if unit_cost.break_even is None
    )
    return Table.from_records(
        "captions-or-sight",
        "captions or sight?",
        results.UnitCost,
        (
            record_cells(unit_cost) | {"unit": unit}
            for unit, unit_cost in units.items()
        ),
        [basis, *never],
        before=[Column("unit", "in", "text")],
        after=[Column("basis", "basis", "text")],
    )


def hybrid_table(hybrid: results.HybridRatings, n: int) -> Table:
    """Return the checks of hybrid ratings against sight, and the savings on ``n`` narratives."""
    weight, slope, intercept = (
        show_fixed(number, 2)
        for number in (hybrid.weight, hybrid.slope, hybrid.intercept)
    )
    # The weight and the scale are part of what the ratings mean, so they stand with them.
    origin = "learned" if hybrid.learned else "given"
    notes = (
        f"{hybrid.n_seen:,} of {n:,} narratives ({_CHOSEN[hybrid.rule]}) were judged by sight as"
        f" well. That spares {hybrid.calls_saved:,.0f} ratings by sight:"
        f" {hybrid.tokens_saved:,.0f} tokens. Weight of sight {weight} ({origin}); sight ≈"
        f" {intercept} + {slope} × captions.",
        f"{_trust(hybrid)} ICC does not see shrinking; the error does.",
    )
    return Table.from_records(
        "hybrid",
        "captions first, sight where it matters",
        HybridCheck,
        (
            record_cells(check)
            | {"narratives": _CHECKED.get(check.narratives, check.narratives)}
            for check in hybrid.checks
        ),
        notes,
    )


def _trust(hybrid: results.HybridRatings) -> str:
    """Return the note on whether captions predict sight, with the figures that it rests on."""
    held_out = held_out_check(hybrid.checks)
    gain = "not defined"
    interval_text = describe_few_sources(held_out.n)
    if held_out.gain is not None and held_out.gain_low is not None:
        ends = (held_out.gain_low, held_out.gain_high or 0.0)
        interval_text = " to ".join(show_fixed(end, 2) for end in ends)
    if held_out.gain is not None and interval_text:
        gain = (
            f"{show_fixed(held_out.gain, 2)} squared points, {interval_text}"
        )
    if hybrid.trusted:
        return (
            f"Captions predict sight on the {held_out.n} narratives that were held out (gain over"
            f" the mean {gain}), so that narratives that were not looked at have ratings, shrunk as"
            " far as that check bears out."
        )
    return (
        f"Captions are not shown to predict sight on the {held_out.n} narratives that were held out"
        f" (gain over the mean {gain}; its interval must be above 0, and the slope): narratives"
        " that were not looked at have no hybrid rating."
    )
