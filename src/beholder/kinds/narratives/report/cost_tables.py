"""Tables of what judging storylines costs, and of captions first, sight where it matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beholder.kinds.narratives.report.columns import SD
from beholder.report.numbers import show_fixed
from beholder.tables import Column, Table

_STAGES = {"caption": "writing captions", "transitions": "rating steps"}
_CHECKED = {
    "looked at": "looked at (ratings contain sight)",
    "held out": "looked at, each predicted from captions alone",
}


def cost_table(rows: Sequence[Mapping[str, Any]], by: str = "") -> Table:
    """What each stage took.

    Args:
        rows: Per stage ``stage``, ``calls``, ``seconds`` and tokens; ``run`` where runs differ.
        by: ``run`` to group the stages by it.
    """
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
    found = [
        {
            **row,
            "stage": _STAGES.get(row["stage"], f"rating by {row['stage']}"),
            "seconds_each": row["seconds"] / row["calls"] if row["calls"] else None,
            "tokens": row["prompt_tokens"] + row["completion_tokens"],
        }
        for row in rows
    ]
    return Table("costs", "what judging costs", columns, tuple(found), by=by)


def captions_or_sight_table(cost: Mapping[str, Any]) -> Table:
    """What judging by captions and by sight costs, and from how many narratives captions pay."""
    columns = (
        Column("unit", "in", "text"),
        Column("captions_total", "captions, first time", "count"),
        Column("captions_again", "captions, again", "count"),
        Column("sight_total", "sight", "count"),
        Column("break_even", "captions pay from, narratives", "count"),
        Column("basis", "basis", "text"),
    )
    units = ("seconds", "tokens")
    never = [unit for unit in units if cost[unit]["break_even"] is None]
    notes = [
        f"For {cost['n_pictures']:,} pictures, {cost['n_narratives']:,} narratives and"
        f" {cost['judges']:,} ratings of each. Captions are written once; another study of the same"
        " pictures only pays the ratings.",
        *(f"Captions never pay in {unit}." for unit in never),
    ]
    rows = tuple({"unit": unit, **cost[unit]} for unit in units)
    return Table("captions-or-sight", "captions or sight?", columns, rows, tuple(notes))


def hybrid_table(hybrid: Mapping[str, Any], n: int) -> Table:
    """How hybrid ratings stand against sight, and what they spare of ``n`` narratives."""
    columns = (
        Column("narratives", "against sight, narratives", "text"),
        Column("n", "n", "count"),
        Column("error", "error (points)", "hundredths"),
        Column("error_of_mean", "error of giving each the mean", "hundredths"),
        Column("r", "Pearson r"),
        SD,
        Column("sd_sight", "SD of sight", "hundredths"),
    )
    rows = tuple(
        {**row, "narratives": _CHECKED.get(row["narratives"], row["narratives"])}
        for row in hybrid["checks"]
    )
    which = {
        "uncertain": "the ones on which caption judges disagree most",
        "top": "the best rated by captions",
    }[hybrid["rule"]]
    weight, intercept, slope = (
        show_fixed(hybrid[name], 2) for name in ("weight", "intercept", "slope")
    )
    trusted = (
        "Captions predict sight on narratives that were held out, so that narratives that were not"
        " looked at have ratings, shrunk as far as that check bears out."
        if hybrid["trusted"]
        else "Captions do not predict sight on narratives that were held out: narratives that were"
        " not looked at have no hybrid rating."
    )
    notes = (
        f"{hybrid['n_seen']:,} of {n:,} narratives ({which}) were judged by sight as well. That"
        f" spares {hybrid['calls_saved']:,.0f} ratings by sight: {hybrid['seconds_saved']:,.0f}"
        f" seconds and {hybrid['tokens_saved']:,.0f} tokens. Weight of sight {weight}"
        f" ({'learned' if hybrid['learned'] else 'given'}); sight ≈ {intercept} + {slope} ×"
        " captions.",
        f"{trusted} ICC does not see shrinking; the error does.",
    )
    return Table("hybrid", "captions first, sight where it matters", columns, rows, notes)
