"""Tables of storylines: paths, scores, reliability, coherence, differences, costs, steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from beholder.kinds.narratives.report.columns import EFFECT, FEW, METHOD, PAIR, SD, SOURCE, effects
from beholder.kinds.narratives.report.cost_tables import (
    captions_or_sight_table,
    cost_table,
    hybrid_table,
)
from beholder.kinds.narratives.report.judge_tables import (
    examples_table,
    model_tables,
    reliability_table,
)
from beholder.kinds.narratives.report.step_tables import step_tables, weakest_table
from beholder.kinds.narratives.storylines.extract import Extracted
from beholder.tables import FAILED, Column, Table, interval_cells

_PAGE_ONLY = ("correlations", "break-differences", "costs", "captions-or-sight")
_MEASURES = {
    "minimum": "minimum coherence",
    "mean": "mean coherence",
    "dtw": "distance to human narratives",
}


def extraction_table(found: Sequence[Extracted]) -> Table:
    """Storylines that were extracted, with their weakest links."""
    rows = []
    for each in found:
        steps, shots = each.path.steps, each.storyline.frames
        at = steps.index(min(steps))
        rows.append(
            {
                "id": each.storyline.id,
                "pictures": len(shots),
                "weakest": each.path.weakest,
                "mean": each.path.mean,
                "step": f"{shots[at].id} → {shots[at + 1].id}",
            }
        )
    columns = (
        Column("id", "id", "text"),
        Column("pictures", "pictures", "count"),
        Column("weakest", "weakest link"),
        Column("mean", "mean"),
        Column("step", "weakest step", "text"),
    )
    return Table("extracted", "", columns, tuple(rows))


def study_tables(study: Mapping[str, Any]) -> list[Table]:
    """All tables of a study that hold something, in the order to read them.

    Args:
        study: The content of ``study.json``.
    """
    tables = study["tables"]
    found: list[Table] = []
    if tables["methods"]:
        found.append(_scores(tables["scores"]))
    if study["theta"] is not None:
        found.append(_coherence(tables["coherence"], study["theta"]))
    if tables["methods"]:
        found.append(reliability_table(tables["reliability"]))
        for one in study["models"]:
            found += model_tables(one)
        if study["examples"] is not None:
            found.append(examples_table(study["examples"]))
        found += _filled(_correlations(tables), _differences(tables["comparisons"]))
        stages = study["cost"]["stages"].items()
        found += _filled(cost_table([{"stage": stage, **row} for stage, row in stages]))
        found.append(captions_or_sight_table(study["cost"]))
    if study["hybrid"] is not None:
        found.append(hybrid_table(study["hybrid"], study["cost"]["n_narratives"]))
    if study["steps"] is not None:
        found += _filled(*step_tables(study["steps"]), weakest_table(study))
    return found


def terminal_tables(study: Mapping[str, Any]) -> Iterator[RenderableType | Table]:
    """What a terminal shows of a study: most tables, and what to be careful with."""
    yield from (table for table in study_tables(study) if table.name not in _PAGE_ONLY)
    if study["tables"]["methods"]:
        yield from map(Text, study["tables"]["cautions"])
    if study["hybrid_missing"]:
        yield Text(study["hybrid_missing"])


def side_by_side_tables(beside: Mapping[str, Any]) -> list[Table]:
    """Two runs over the same narratives: judges, agreement and ranks way by way, cost.

    Args:
        beside: What ``side_by_side`` gives.
    """
    found: list[Table] = []
    for one in beside["models"]:
        judges = beside["judges"][one["by"]]
        found += model_tables(
            one, [f"{run}: {judge}" for run, judge in zip(beside["runs"], judges, strict=True)]
        )
    return found + _filled(cost_table(beside["cost"], by="run"))


def _filled(*tables: Table) -> list[Table]:
    return [table for table in tables if table.rows]


def _scores(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = (
        METHOD,
        SOURCE,
        Column("n", "n", "count"),
        Column("mean", "mean (1 to 10)", "hundredths", interval=True),
        SD,
        Column("within_sd", "SD of judges (n − 1)", "hundredths"),
        Column("within_sd_population", "SD of judges (n)", "hundredths"),
        Column("within_range", "range of judges", "hundredths"),
        FAILED,
        Column("n_votes_failed", "failed votes", "failed"),
    )
    found = tuple({**row, **interval_cells("mean", row["interval"])} for row in rows)
    return Table("scores", "scores by source", columns, found, by="method")


def _coherence(rows: Sequence[Mapping[str, Any]], theta: Mapping[str, Any]) -> Table:
    named = {
        "minimum": "min coherence",
        "mean": "mean coherence",
        "dtw": "distance to the nearest human one",
    }
    columns = [SOURCE, Column("n", "n", "count")]
    for name, heading in named.items():
        columns += [Column(name, heading), Column(f"{name}_sd", "SD")]
    found = [
        {
            "source": row["source"],
            "n": row["minimum"]["n"],
            **{name: row[name]["mean"] for name in named},
            **{f"{name}_sd": row[name]["sd"] for name in named},
        }
        for row in rows
    ]
    notes = (
        f"{theta['signature']} by {theta['embedder']}. Compare only numbers of one signature.",
    )
    return Table("coherence", "coherence by source", tuple(columns), tuple(found), notes)


def _correlations(tables: Mapping[str, Any]) -> Table:
    told = [
        {"method": row["method"], "other": _MEASURES[row["measure"]], **row}
        for row in tables["correlations"]
        if row["n"]
    ]
    told += [{"method": row["a"], "other": row["b"], **row} for row in tables["between_methods"]]
    columns = (
        METHOD,
        Column("other", "with", "text"),
        Column("n", "n", "count"),
        Column("r", "Pearson r", interval=True),
        Column("p", "p", "p"),
        Column("rho", "Spearman"),
    )
    rows = tuple({**row, **interval_cells("r", row["interval"])} for row in told)
    return Table("correlations", "scores and coherence", columns, rows)


def _differences(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = (
        METHOD,
        *PAIR,
        FEW,
        Column("difference", "difference", "hundredths"),
        Column("t_student", "t (Student)", "hundredths"),
        Column("p_student", "p", "p"),
        Column("p_welch_holm", "p (Welch, Holm)", "p"),
        Column("p_mann_whitney", "p (Mann-Whitney)", "p"),
        Column("d_unweighted", "d, unweighted", "hundredths"),
        Column("d_pooled", "d, pooled", "hundredths"),
        EFFECT,
    )
    return Table("differences", "do sources differ?", columns, effects(rows), by="method")
