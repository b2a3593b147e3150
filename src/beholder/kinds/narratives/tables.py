"""Tables of storylines: paths, scores, reliability, coherence, differences, costs, steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from msgspec import Struct, structs
from rich.console import RenderableType
from rich.text import Text

from beholder.kinds.narratives import compared, results
from beholder.kinds.narratives.judge_tables import (
    METHOD,
    SD,
    SOURCE,
    examples_table,
    model_tables,
    reliability_table,
)
from beholder.kinds.narratives.storylines.extract import Extracted
from beholder.report.numbers import show_fixed, show_number
from beholder.rounding import fixed
from beholder.tables import FAILED, Cells, Column, Table, interval_cells, record_cells

_PAIR = (
    Column("a", "source", "text"),
    Column("b", "minus", "text"),
    Column("n_a", "n, first", "count"),
    Column("n_b", "n, second", "count"),
)
_FEW = Column("few", "few", "mark")
_EFFECT = Column("g", "Hedges' g", "hundredths", interval=True)
_STAGES = {"caption": "writing captions", "transitions": "rating steps"}
_CHECKED = {
    "looked at": "looked at (ratings contain sight)",
    "held out": "looked at, each predicted from captions alone",
}
_N_BREAKS = 10
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
        path, shots = each.path, each.storyline.frames
        at = path.steps.index(path.weakest)
        cells: Cells = {"id": each.storyline.id, "pictures": len(shots), "mean": path.mean}
        step = f"{shots[at].id} → {shots[at + 1].id}"
        rows.append(cells | {"weakest": path.weakest, "step": step})
    columns = (
        Column("id", "id", "text"),
        Column("pictures", "pictures", "count"),
        Column("weakest", "weakest link"),
        Column("mean", "mean"),
        Column("step", "weakest step", "text"),
    )
    return Table("extracted", "", columns, tuple(rows))


def study_tables(study: results.NarrativeStudy) -> list[Table]:
    """All tables of a study that hold something, in the order to read them."""
    tables = study.tables
    found = [_scores(tables.scores)]
    if study.theta is not None:
        found.append(_coherence(tables.coherence, study.theta))
    found.append(reliability_table(tables.reliability))
    found += [table for one in study.models for table in model_tables(one)]
    if study.examples is not None:
        found.append(examples_table(study.examples))
    found += [_correlations(tables), _differences(tables.comparisons)]
    if tables.methods:
        stages = study.cost.stages.items()
        found.append(_cost(results.StageOfRun("", name, **asdict(one)) for name, one in stages))
        found.append(captions_or_sight_table(study.cost))
    if study.hybrid is not None:
        found.append(_hybrid(study.hybrid, study.cost.n_narratives))
    if study.steps is not None:
        found += [*_step_tables(study.steps), _weakest(study, study.steps)]
    return [table for table in found if table.rows]


def terminal_tables(study: results.NarrativeStudy) -> Iterator[RenderableType | Table]:
    """What a terminal shows of a study: most tables, and cautions."""
    yield from (table for table in study_tables(study) if table.name not in _PAGE_ONLY)
    if study.tables.methods:
        yield from map(Text, study.tables.cautions)
    if study.hybrid_missing:
        yield Text(study.hybrid_missing)


def side_by_side_tables(beside: results.SideBySide) -> list[Table]:
    """Two runs over the same narratives: judges, agreement and ranks way by way, cost."""
    found: list[Table] = []
    for one in beside.models:
        judges = zip(beside.runs, beside.judges[one.by], strict=True)
        found += model_tables(one, [f"{run}: {judge}" for run, judge in judges])
    cost = _cost(beside.cost, by="run")
    return [*found, cost] if cost.rows else found


def _scores(rows: Sequence[compared.SourceScore]) -> Table:
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
    found = tuple(record_cells(row, "mean") for row in rows)
    return Table("scores", "scores by source", columns, found, by="method")


def _coherence(rows: Sequence[compared.SourceCoherence], theta: results.ThetaMatrix) -> Table:
    named = {
        "minimum": "min coherence",
        "mean": "mean coherence",
        "dtw": "distance to the nearest human one",
    }
    columns = [SOURCE, Column("n", "n", "count")]
    for name, heading in named.items():
        columns += [Column(name, heading), Column(f"{name}_sd", "SD")]
    found = []
    for row in rows:
        cells: Cells = {"source": row.source, "n": row.minimum.n}
        for name, of in (("minimum", row.minimum), ("mean", row.mean), ("dtw", row.dtw)):
            cells |= {name: of.mean, f"{name}_sd": of.sd}
        found.append(cells)
    notes = (
        f"{theta.signature} by {theta.embedder}. Only compare numbers with the same signature.",
    )
    return Table("coherence", "coherence by source", tuple(columns), tuple(found), notes)


def _correlations(tables: compared.ComparisonTables) -> Table:
    columns = (
        METHOD,
        Column("other", "with", "text"),
        Column("n", "n", "count"),
        Column("r", "Pearson r", interval=True),
        Column("p", "p", "p"),
        Column("rho", "Spearman"),
    )
    rows = [
        record_cells(row, "r") | {"other": _MEASURES[row.measure]}
        for row in tables.correlations
        if row.n
    ]
    rows += [
        record_cells(row, "r") | {"method": row.a, "other": row.b} for row in tables.between_methods
    ]
    return Table("correlations", "scores and coherence", columns, tuple(rows))


def _effects(rows: Sequence[compared.SourceComparison]) -> tuple[Cells, ...]:
    return tuple(record_cells(row, "g") | interval_cells("g", row.g_interval) for row in rows)


def _differences(rows: Sequence[compared.SourceComparison]) -> Table:
    columns = (
        METHOD,
        *_PAIR,
        _FEW,
        Column("difference", "difference", "hundredths"),
        Column("t_student", "t (Student)", "hundredths"),
        Column("p_student", "p", "p"),
        Column("p_welch_holm", "p (Welch, Holm)", "p"),
        Column("p_mann_whitney", "p (Mann-Whitney)", "p"),
        Column("d_unweighted", "d, unweighted", "hundredths"),
        Column("d_pooled", "d, pooled", "hundredths"),
        _EFFECT,
    )
    return Table("differences", "do sources differ?", columns, _effects(rows), by="method")


def _cost(stages: Iterable[results.StageOfRun], by: str = "") -> Table:
    """What each stage took, grouped by ``by`` (``run``) if that is not empty."""
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
    rows: tuple[Cells, ...] = tuple(
        {
            **structs.asdict(one),
            "run": one.run or None,
            "stage": _STAGES.get(one.stage, f"rating by {one.stage}"),
            "seconds_each": one.seconds / one.calls if one.calls else None,
            "tokens": one.prompt_tokens + one.completion_tokens,
        }
        for one in stages
    )
    return Table("costs", "what judging costs", columns, rows, by=by)


def captions_or_sight_table(cost: results.Cost) -> Table:
    """What judging by captions and by sight costs, and from how many narratives captions pay."""
    columns = (
        Column("unit", "in", "text"),
        Column("captions_total", "captions, first time", "count"),
        Column("captions_again", "captions, again", "count"),
        Column("sight_total", "sight", "count"),
        Column("break_even", "captions pay from, narratives", "count"),
        Column("basis", "basis", "text"),
    )
    units = (("seconds", cost.seconds), ("tokens", cost.tokens))
    never = [unit for unit, of in units if of.break_even is None]
    notes = [
        f"For {cost.n_pictures:,} pictures, {cost.n_narratives:,} narratives and"
        f" {cost.judges:,} ratings of each. Captions are written once; another study of the same"
        " pictures only pays the ratings.",
        *(f"Captions never pay in {unit}." for unit in never),
    ]
    rows = tuple({"unit": unit, **structs.asdict(of)} for unit, of in units)
    return Table("captions-or-sight", "captions or sight?", columns, rows, tuple(notes))


def _hybrid(hybrid: results.HybridRatings, n: int) -> Table:
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
        {**asdict(check), "narratives": _CHECKED.get(check.narratives, check.narratives)}
        for check in hybrid.checks
    )
    which = {
        "uncertain": "the ones on which caption judges disagree most",
        "top": "the best rated by captions",
    }[hybrid.rule]
    weight, intercept, slope = (
        show_fixed(value, 2) for value in (hybrid.weight, hybrid.intercept, hybrid.slope)
    )
    trusted = (
        "Captions predict sight on narratives that were held out, so that narratives that were not"
        " looked at have ratings, shrunk as far as that check bears out."
        if hybrid.trusted
        else "Captions do not predict sight on narratives that were held out: narratives that were"
        " not looked at have no hybrid rating."
    )
    notes = (
        f"{hybrid.n_seen:,} of {n:,} narratives ({which}) were judged by sight as well. That"
        f" spares {hybrid.calls_saved:,.0f} ratings by sight: {hybrid.seconds_saved:,.0f}"
        f" seconds and {hybrid.tokens_saved:,.0f} tokens. Weight of sight {weight}"
        f" ({'learned' if hybrid.learned else 'given'}); sight ≈ {intercept} + {slope} ×"
        " captions.",
        f"{trusted} ICC does not see shrinking; the error does.",
    )
    return Table("hybrid", "captions first, sight where it matters", columns, rows, notes)


def _step_tables(steps: compared.StepTables) -> tuple[Table, ...]:
    """Ratings of steps by source, their differences, what breaks, and tests of that."""
    sources = (
        SOURCE,
        Column("n", "n", "count"),
        Column("mean", "mean step rating", "hundredths"),
        SD,
        Column("n_steps", "steps rated", "count"),
        Column("n_failed", "failed steps", "failed"),
    )
    differences = (
        *_PAIR,
        _FEW,
        Column("difference", "difference", "hundredths"),
        Column("t_welch", "t (Welch)", "hundredths"),
        Column("p_welch", "p", "p"),
        Column("p_welch_holm", "p (Holm)", "p"),
        Column("p_mann_whitney", "p (Mann-Whitney)", "p"),
        _EFFECT,
    )
    once = (
        "Steps of one narrative are not independent, so that each narrative counts once, with its"
        " mean step rating.",
    )
    tested = (
        Column("kind", "what breaks", "text"),
        *_PAIR,
        Column("difference", "difference of mean shares", "hundredths"),
        Column("p", "p (Mann-Whitney)", "p"),
        Column("p_holm", "p (Holm)", "p"),
    )
    return (
        Table("steps", "where stories break", sources, _cells(steps.sources)),
        Table(
            "step-differences", "steps of sources", differences, _effects(steps.comparisons), once
        ),
        _breaks(steps.breaks.sources),
        Table(
            "break-differences", "what breaks, between sources", tested,
            _cells(steps.breaks.comparisons), by="kind",
        ),
    )  # fmt: skip


def _cells(rows: Sequence[Struct]) -> tuple[Cells, ...]:
    return tuple(structs.asdict(row) for row in rows)


def _breaks(rows: Sequence[compared.BreakTally]) -> Table:
    columns = [SOURCE, Column("n", "steps stated", "count")]
    for kind in rows[0].counts:
        columns += [Column(kind, kind, "count"), Column(f"{kind}_share", "share", "percent")]
    columns.append(Column("n_not_told", "not stated", "count"))
    found = tuple(
        {
            **structs.asdict(row),
            **row.counts,
            **{f"{kind}_share": share for kind, share in row.shares.items()},
        }
        for row in rows
    )
    return Table("breaks", "what breaks in steps", tuple(columns), found)


def _weakest(study: results.NarrativeStudy, steps: compared.StepTables) -> Table:
    """The steps that judges rated lowest, with their coherence."""
    found: list[tuple[float, Cells]] = []
    for one in study.narratives:
        ids = [study.frames[frame].id for frame in one.frames]
        for i, mean in enumerate(one.step_means):
            if mean is not None:
                theta = one.coherence.steps[i] if one.coherence else None
                step = f"{ids[i]} → {ids[i + 1]}"
                found.append((mean, {"id": one.id, "step": step, "mean": mean, "theta": theta}))
    found.sort(key=lambda row: row[0])
    columns = (
        Column("id", "narrative", "text"),
        Column("step", "step", "text"),
        Column("mean", "judges", "hundredths"),
        Column("theta", "theta"),
    )
    rows = tuple(cells for _, cells in found[:_N_BREAKS])
    return Table("weakest-links", "weakest links", columns, rows, tuple(_with_theta(steps)))


def _with_theta(steps: compared.StepTables) -> Iterator[str]:
    """How ratings of steps agree with their coherence, if that is known."""
    found = steps.correlation
    if found.rho is None:
        return
    ends = found.interval
    interval = "\N{EN DASH}" if ends is None else " to ".join(map(show_number, ends))
    yield (
        f"Step ratings and θ: Spearman {show_number(found.rho)} ({interval}) over"
        f" {found.n:,} steps, narratives resampled as wholes."
    )
    if steps.same_weakest is not None and steps.by_chance is not None:
        yield (
            f"In {fixed(100 * steps.same_weakest, 0)} % of {steps.n_compared:,} narratives"
            " the judges' lowest step is the weakest link by θ as well; by chance it would be"
            f" {fixed(100 * steps.by_chance, 0)} %."
        )
