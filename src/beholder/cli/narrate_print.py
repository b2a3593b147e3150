"""What a run over narratives prints: its costs before, its tables after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from beholder.cli.score import estimate
from beholder.narratives.study import mean_vote
from beholder.run.narrate.config import NarrateConfig
from beholder.run.narrate.engine import NarrativesPlan
from beholder.run.narrate.inputs import Inputs
from beholder.run.narrate.results import cost_table


def print_plan(config: NarrateConfig, plan: NarrativesPlan) -> None:
    """Print what a run would ask, and what that may cost."""
    for error in plan.bad_rows:
        typer.echo(f"left out: {error}", err=True)
    _print_costs(config, plan.cost)
    for asker in plan.askers:
        typer.echo(f"{asker.name}: {asker.n_to_ask} to ask, {asker.n_done} done already")
        typer.echo(f"  {asker.signature}")
        for reason, count in asker.lacking.items():
            typer.echo(f"  {count} would fail: {reason}")
        if asker.judge is not None:
            typer.echo(f"  {estimate(asker.judge)}")


def print_costs(config: NarrateConfig, inputs: Inputs) -> None:
    """Print what a run will judge and what that may cost, on stderr."""
    for error in inputs.bad_rows:
        typer.echo(f"left out: {error}", err=True)
    _print_costs(config, cost_table(config, inputs))


def _print_costs(config: NarrateConfig, cost: Mapping[str, Any]) -> None:
    typer.echo(
        f"{cost['n_narratives']} narratives of {cost['n_pictures']} pictures;"
        f" parts: {', '.join(config.parts)}",
        err=True,
    )
    if not config.judged:
        return
    for unit in ("seconds", "tokens"):
        row = cost[unit]
        pays = row["break_even"]
        when = "never" if pays is None else f"from {pays:,.0f} narratives on"
        typer.echo(
            f"{unit}, {config.voting.judges} judges: captions {row['captions_total']:,.0f}"
            f" (again: {row['captions_again']:,.0f}), sight {row['sight_total']:,.0f};"
            f" captions pay {when} [{row['basis']}]",
            err=True,
        )


def print_study(study: Mapping[str, Any], console: Console) -> None:
    """Print scores, coherence, reliability and steps."""
    tables = study["tables"]
    if tables["methods"]:
        scores = Table("method", "source", "n", "mean", "SD", "SD of judges", "failed")
        for row in tables["scores"]:
            scores.add_row(
                row["method"],
                escape(row["source"]),
                str(row["n"]),
                *(_two(row[name]) for name in ("mean", "sd", "within_sd")),
                str(row["n_failed"]),
            )
        console.print(scores)
        agreement = Table("method", "narratives", "ICC(2,1)", "ICC(2,k)", "alpha", "pairwise r")
        for row in tables["reliability"]:
            known = "icc_single" in row
            agreement.add_row(
                row["method"],
                str(row["n"]),
                *(_two(row[n]["value"]) if known else "–" for n in _COEFFICIENTS),
                _two(row["mean_pairwise_r"]) if known else "–",
            )
        console.print(agreement)
    if study["theta"] is not None:
        coherence = Table("source", "min coherence", "mean coherence", "distance to human")
        for row in tables["coherence"]:
            coherence.add_row(
                escape(row["source"]),
                *(_two(row[name]["mean"]) for name in ("minimum", "mean", "dtw")),
            )
        console.print(coherence)
        console.print(study["theta"]["signature"], markup=False, highlight=False)
    if study["steps"] is not None:
        steps = Table("source", "n", "mean step", "SD", "failed steps")
        for row in study["steps"]["sources"]:
            steps.add_row(
                escape(row["source"]),
                str(row["n"]),
                _two(row["mean"]),
                _two(row["sd"]),
                str(row["n_failed"]),
            )
        console.print(steps)
        _print_breaks(study, console)
    if study["hybrid_missing"]:
        console.print(study["hybrid_missing"], markup=False)


def _print_breaks(study: Mapping[str, Any], console: Console) -> None:
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
    console.print(table)


_N_BREAKS = 10
_COEFFICIENTS = ("icc_single", "icc_average", "alpha")


def problems(study: Mapping[str, Any], allowed: int) -> list[str]:
    """Why a run is no success: narratives with failures beyond those allowed."""
    failed = [(n["id"], reasons[0]) for n in study["narratives"] if (reasons := _failures(n))]
    if len(failed) <= allowed:
        return []
    lines = [f"{narrative}: {reason}" for narrative, reason in failed[:5]]
    more = f" (and {len(failed) - 5} more)" if len(failed) > 5 else ""
    return [
        *lines,
        f"{len(failed)} narratives have failures{more} (--allow-failed {allowed}); run the same"
        " command again to ask only for what is missing",
    ]


def _failures(narrative: Mapping[str, Any]) -> list[str]:
    votes = [vote for votes in narrative["votes"].values() for vote in votes]
    votes += [vote for step in narrative["steps"] for vote in step]
    found = [vote["failure"] for vote in votes if vote["failure"]]
    if narrative["coherence_failure"]:
        found.append(narrative["coherence_failure"])
    return found


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
