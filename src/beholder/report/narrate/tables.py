"""What a terminal shows of storylines: paths, scores, reliability, coherence, weakest links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from beholder.narratives.extract import Extracted
from beholder.narratives.study import mean_vote

_N_BREAKS = 10
_COEFFICIENTS = ("icc_single", "icc_average", "alpha")


def extraction_table(found: Sequence[Extracted]) -> Table:
    """Storylines that were extracted, with their weakest links."""
    table = Table("id", "pictures", "weakest link", "mean", "weakest step")
    for each in found:
        steps, shots = each.path.steps, each.storyline.frames
        at = steps.index(min(steps))
        table.add_row(
            escape(each.storyline.id),
            str(len(shots)),
            f"{each.path.weakest:.3f}",
            f"{each.path.mean:.3f}",
            escape(f"{shots[at].id} → {shots[at + 1].id}"),
        )
    return table


def study_tables(study: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Scores, reliability, coherence and steps of a study, as far as it has them."""
    tables = study["tables"]
    if tables["methods"]:
        yield from (_scores(tables["scores"]), _agreement(tables["reliability"]))
    for found in study["models"]:
        yield from models_tables(found)
    if study["examples"] is not None:
        yield _examples(study["examples"]["rows"])
    if study["theta"] is not None:
        yield from (_coherence(tables["coherence"]), Text(study["theta"]["signature"]))
    if study["steps"] is not None:
        yield from (_steps(study["steps"]["sources"]), _compared(study["steps"]["comparisons"]))
        yield from (_kinds(study["steps"]["breaks"]["sources"]), _breaks(study))
    if study["hybrid"] is not None:
        yield _checks(study["hybrid"]["checks"])
    yield from (Text(note) for note in tables["cautions"] if note.startswith("hybrid:"))
    if study["hybrid_missing"]:
        yield Text(study["hybrid_missing"])


def _scores(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("method", "source", "n", "mean", "SD", "SD of judges", "failed")
    for row in rows:
        numbers = (_two(row[name]) for name in ("mean", "sd", "within_sd"))
        table.add_row(
            escape(row["method"]),
            escape(row["source"]),
            str(row["n"]),
            *numbers,
            str(row["n_failed"]),
        )
    return table


def _agreement(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("method", "narratives", "ICC(2,1)", "ICC(2,k)", "alpha", "pairwise r")
    for row in rows:
        known = "icc_single" in row
        table.add_row(
            escape(row["method"]),
            str(row["n"]),
            *(_with_word(row[n]) if known else "–" for n in _COEFFICIENTS),
            _two(row["mean_pairwise_r"]) if known else "–",
        )
    return table


def models_tables(found: Mapping[str, Any]) -> Iterator[RenderableType]:
    """How several judges rate the same narratives: agreement, scores and ranks by judge."""
    if "reason" in found:
        yield Text(f"judges {found['by']}: {found['reason']}")
        return
    table = Table(f"judges {found['by']}", "r", "rho", "second − first", "p")
    for row in found["pairs"]:
        numbers = (_two(row[name]) for name in ("r", "rho", "difference", "difference_p"))
        table.add_row(escape(f"{row['a']} and {row['b']}"), *numbers)
    yield table
    table = Table("judge", "source", "n", "mean", "SD", "rank")
    for row in found["sources"]:
        numbers = (_two(row[name]) for name in ("mean", "sd"))
        table.add_row(
            escape(row["model"]), escape(row["source"]), str(row["n"]), *numbers, f"{row['rank']:g}"
        )
    yield table
    single, average = (_with_word(found[name]) for name in ("icc_single", "icc_average"))
    yield Text(
        f"{len(found['models'])} judges, {found['n']} narratives that all rated: ICC(2,1) {single},"
        f" ICC(2,k) {average}, Kendall's W {_two(found['kendall_w']['value'])}"
    )


def side_by_side_tables(beside: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Two runs over the same narratives: judges, agreement and ranks way by way, cost."""
    for found in beside["models"]:
        judges = " and ".join(beside["judges"][found["by"]])
        yield Text(f"{found['by']}: {judges}")
        yield from models_tables(found)
    if not beside["models"]:
        yield Text("the runs share no way of rating")
    table = Table("run", "stage", "answers", "seconds", "tokens")
    for row in beside["cost"]:
        tokens = row["prompt_tokens"] + row["completion_tokens"]
        table.add_row(
            escape(row["run"]), escape(row["stage"]), f"{row['calls']:,}",
            f"{row['seconds']:,.1f}", f"{tokens:,}",
        )  # fmt: skip
    if beside["cost"]:
        yield table


def _examples(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("examples", "source", "without", "with", "SD change", "ICC(2,1)", "with")
    for row in rows:
        told = [f"{_two(row[w]['mean'])} ± {_two(row[w]['sd'])}" for w in ("without", "with")]
        icc = [found and found["value"] for found in row["icc_single"].values()]
        table.add_row(
            escape(row["way"]), escape(row["source"]), *told, _two(row["sd_difference"]),
            *map(_two, icc),
        )  # fmt: skip
    return table


def _checks(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(
        "hybrid against sight", "n", "error", "error of the mean", "r", "SD", "SD of sight"
    )
    for row in rows:
        numbers = (_two(row[n]) for n in ("error", "error_of_mean", "r", "sd", "sd_sight"))
        table.add_row(row["narratives"], str(row["n"]), *numbers)
    return table


def _compared(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("steps of", "difference", "t (Welch)", "p", "p (Holm)", "g")
    for row in rows:
        numbers = (_two(row[name]) for name in ("difference", "t_welch"))
        chances = (_p(row[name]) for name in ("p_welch", "p_welch_holm"))
        table.add_row(escape(f"{row['a']} − {row['b']}"), *numbers, *chances, _two(row["g"]))
    return table


def _kinds(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("breaks in steps of", "told", *rows[0]["counts"], "not told")
    for row in rows:
        counts = (str(count) for count in row["counts"].values())
        table.add_row(escape(row["source"]), str(row["n"]), *counts, str(row["n_not_told"]))
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


def _with_word(found: Mapping[str, Any]) -> str:
    """A coefficient with its word, where it has one."""
    word = found.get("verdict")
    return _two(found["value"]) + (f" {word}" if word else "")


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
