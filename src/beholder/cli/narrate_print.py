"""What a run over narratives prints: its costs before, its tables after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from beholder.cli.printing import say, tell_tables
from beholder.narratives.study import mean_vote
from beholder.run.narrate.config import NarrateConfig


def say_costs(config: NarrateConfig, cost: Mapping[str, Any]) -> None:
    """Print what a run will judge and what that may cost."""
    say(
        f"{cost['n_narratives']} narratives of {cost['n_pictures']} pictures;"
        f" parts: {', '.join(config.parts)}"
    )
    if not config.judged:
        return
    for unit in ("seconds", "tokens"):
        row = cost[unit]
        pays = row["break_even"]
        when = "never" if pays is None else f"from {pays:,.0f} narratives on"
        say(
            f"{unit}, {config.voting.judges} judges: captions {row['captions_total']:,.0f}"
            f" (again: {row['captions_again']:,.0f}), sight {row['sight_total']:,.0f};"
            f" captions pay {when} [{row['basis']}]"
        )


def tell_study(study: Mapping[str, Any]) -> None:
    """Print scores, coherence, reliability and steps."""
    tables = study["tables"]
    if tables["methods"]:
        tell_tables([_scores(tables["scores"]), _agreement(tables["reliability"])])
    if study["theta"] is not None:
        tell_tables([_coherence(tables["coherence"]), Text(study["theta"]["signature"])])
    if study["steps"] is not None:
        tell_tables([_steps(study["steps"]["sources"]), _breaks(study)])
    if study["hybrid_missing"]:
        tell_tables([Text(study["hybrid_missing"])])


def _scores(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("method", "source", "n", "mean", "SD", "SD of judges", "failed")
    for row in rows:
        numbers = (_two(row[name]) for name in ("mean", "sd", "within_sd"))
        table.add_row(
            row["method"], escape(row["source"]), str(row["n"]), *numbers, str(row["n_failed"])
        )
    return table


def _agreement(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("method", "narratives", "ICC(2,1)", "ICC(2,k)", "alpha", "pairwise r")
    for row in rows:
        known = "icc_single" in row
        table.add_row(
            row["method"],
            str(row["n"]),
            *(_two(row[n]["value"]) if known else "–" for n in _COEFFICIENTS),
            _two(row["mean_pairwise_r"]) if known else "–",
        )
    return table


def _coherence(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("source", "min coherence", "mean coherence", "distance to human")
    for row in rows:
        numbers = (_two(row[name]["mean"]) for name in ("minimum", "mean", "dtw"))
        table.add_row(escape(row["source"]), *numbers)
    return table


def _steps(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("source", "n", "mean step", "SD", "failed steps")
    for row in rows:
        numbers = (_two(row[name]) for name in ("mean", "sd"))
        table.add_row(escape(row["source"]), str(row["n"]), *numbers, str(row["n_failed"]))
    return table


def _breaks(study: Mapping[str, Any]) -> Table:
    """The steps that judges rated lowest, with their coherence."""
    found = []
    for narrative in study["narratives"]:
        ids = [study["frames"][frame]["id"] for frame in narrative["frames"]]
        for i, votes in enumerate(narrative["steps"]):
            mean = mean_vote([vote["value"] for vote in votes])
            if mean is not None:
                theta = narrative["coherence"]["steps"][i] if narrative["coherence"] else None
                found.append((mean, narrative["id"], f"{ids[i]} → {ids[i + 1]}", theta))
    table = Table("weakest links", "step", "judges", "theta")
    for mean, narrative_id, step, theta in sorted(found, key=lambda row: row[0])[:_N_BREAKS]:
        table.add_row(escape(narrative_id), escape(step), _two(mean), _two(theta))
    return table


_N_BREAKS = 10
_COEFFICIENTS = ("icc_single", "icc_average", "alpha")


def failures(study: Mapping[str, Any]) -> list[str]:
    """Narratives with failures, each with its first reason."""
    return [
        f"{narrative['id']}: {reasons[0]}"
        for narrative in study["narratives"]
        if (reasons := _reasons(narrative))
    ]


def _reasons(narrative: Mapping[str, Any]) -> list[str]:
    votes = [vote for votes in narrative["votes"].values() for vote in votes]
    votes += [vote for step in narrative["steps"] for vote in step]
    found = [vote["failure"] for vote in votes if vote["failure"]]
    if narrative["coherence_failure"]:
        found.append(narrative["coherence_failure"])
    return found


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
