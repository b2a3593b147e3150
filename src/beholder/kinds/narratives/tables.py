"""Tables of storylines: paths, scores, reliability, coherence, differences, costs, steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from msgspec import UNSET, structs
from rich.console import RenderableType
from rich.text import Text

from beholder.base.files import safe_name
from beholder.base.rounding import fixed
from beholder.judges.operations import BREAK_KINDS
from beholder.kinds.narratives import compared, results
from beholder.kinds.narratives.cost_tables import (
    captions_or_sight_table,
    hybrid_table,
    stage_cost_table,
)
from beholder.kinds.narratives.storylines.extract import Extracted
from beholder.report.numbers import show_number
from beholder.tables import (
    NOTE,
    Cells,
    Column,
    N,
    Table,
    heading,
    interval_cells,
    record_cells,
)

_N_BREAKS = 10
_PAGE_ONLY = (
    "correlations",
    "break-differences",
    "costs",
    "captions-or-sight",
)
_MEASURES = {
    "minimum": "minimum coherence",
    "mean": "mean coherence",
    "dtw": "distance to human narratives",
}
METHOD = Column("method", "method", "text")
STEP = Column("step", "step", "text")
_BETWEEN_SOURCES = (
    Column("t_student", "t (Student)", "hundredths"),
    Column("p_student", "p", "p"),
    Column("p_welch_holm", "p (Welch, Holm)", "p"),
    Column("p_mann_whitney", "p (Mann-Whitney)", "p"),
    Column("d_unweighted", "d, unweighted", "hundredths"),
    Column("d_pooled", "d, pooled", "hundredths"),
    Column("g", "Hedges' g", "hundredths", interval=True),
)
_BETWEEN_STEPS = (
    Column("t_welch", "t (Welch)", "hundredths"),
    Column("p_welch", "p", "p"),
    Column("p_welch_holm", "p (Holm)", "p"),
    Column("p_mann_whitney", "p (Mann-Whitney)", "p"),
    Column("g", "Hedges' g", "hundredths", interval=True),
)


def extraction_table(extracted: Sequence[Extracted]) -> Table:
    """Return the storylines that were extracted, with their weakest links."""
    columns = (
        Column("id", "id", "text"),
        Column("pictures", "pictures", "count"),
        Column("weakest", "weakest link"),
        Column("mean", "mean"),
        Column("step", "weakest step", "text"),
    )
    rows = []
    for extracted_storyline in extracted:
        path, shots = (
            extracted_storyline.path,
            extracted_storyline.storyline.frames,
        )
        at = path.steps.index(path.weakest)
        rows.append(
            {
                "id": extracted_storyline.storyline.id,
                "pictures": len(shots),
                "weakest": path.weakest,
                "mean": path.mean,
                "step": f"{shots[at].id} → {shots[at + 1].id}",
            }
        )
    return Table("extracted", "", columns, tuple(rows))


def study_tables(study: results.NarrativeStudy) -> list[Table]:
    """Return all tables of a study that have rows, in the order to read them."""
    tables = study.tables
    # Tables without rows are dropped at the end: a run can have rated, measured or both.
    all_tables = [
        Table.from_records(
            "scores",
            "scores by source",
            compared.SourceScore,
            tables.scores,
            by="method",
        )
    ]
    if study.theta is not None:
        all_tables.append(_coherence(tables.coherence, study.theta))
    all_tables.append(_reliability(tables.reliability))
    all_tables += [
        table
        for agreement in study.models
        for table in model_tables(agreement)
    ]
    if study.examples is not None:
        all_tables.append(_examples(study.examples))
    all_tables += [_correlations(tables), _differences(tables.comparisons)]
    if tables.methods:
        stages = study.cost.stages.items()
        all_tables.append(
            stage_cost_table(
                results.StageOfRun("", name, **asdict(stage))
                for name, stage in stages
            )
        )
        all_tables.append(captions_or_sight_table(study.cost))
    if study.hybrid is not None:
        all_tables.append(hybrid_table(study.hybrid, study.cost.n_narratives))
    if study.steps is not None:
        all_tables += _steps(study.steps)
        all_tables.append(_weakest(study, study.steps))
    return [table for table in all_tables if table.rows]


def terminal_tables(
    study: results.NarrativeStudy,
) -> Iterator[RenderableType | Table]:
    """Yield the tables and cautions of a study that a terminal shows."""
    yield from (
        table for table in study_tables(study) if table.name not in _PAGE_ONLY
    )
    if study.tables.methods:
        yield from map(Text, study.tables.cautions)
    if study.hybrid_missing:
        yield Text(study.hybrid_missing)


def side_by_side_tables(comparison: results.SideBySide) -> list[Table]:
    """Return tables of two runs over the same narratives: agreement and ranks by way, costs."""
    tables: list[Table] = []
    for agreement in comparison.models:
        judges = zip(
            comparison.runs, comparison.judges[agreement.by], strict=True
        )
        tables += model_tables(
            agreement, [f"{run}: {judge}" for run, judge in judges]
        )
    cost = replace(stage_cost_table(comparison.cost), by="run")
    return [*tables, cost] if cost.rows else tables


@dataclass(frozen=True)
class CoefficientRow:
    """A coefficient of agreement, in the words of Koo and Li 2016 if it has them.

    Attributes:
        coefficient: Its name.
        value: The value.
        interval: Its interval.
        verdict: The word for the value.
        verdicts: The words for both ends of the interval.
        reason: Why there is no coefficient or no interval; a column only of tables that miss a
            coefficient, else a note.
    """

    coefficient: Annotated[str, heading("coefficient", "text")]
    value: Annotated[float | None, heading("value", interval=True)] = None
    interval: compared.Ends | None = None
    verdict: Annotated[str, heading("in a word", "text")] = ""
    verdicts: Annotated[str, heading("ends of the interval", "text")] = ""
    reason: str | None = None


def model_tables(
    agreement: compared.ModelAgreement, notes: Sequence[str] = ()
) -> list[Table]:
    """Return the tables of several judges over the same narratives: agreement, ranks, pairs.

    Args:
        agreement: Agreement of the judges.
        notes: Further notes on the judges.
    """
    end = safe_name(agreement.by)
    left_out = (
        f" ({agreement.n_left_out:,} others left out)"
        if agreement.n_left_out
        else ""
    )
    over = (
        f"Over {agreement.n:,} narratives that all {len(agreement.models)} judges rated{left_out},"
        " mean of each judge's votes. Here judges are different models."
    )
    if agreement.reason:
        coefficients = [CoefficientRow("", reason=agreement.reason)]
    else:
        coefficients = [
            *_icc(agreement),
            _coefficient("Kendall's W", agreement.kendall_w),
        ]
    judges = Table.from_records(
        f"judges-{end}",
        f"judges side by side, {agreement.by}",
        CoefficientRow,
        coefficients,
        [over, *notes],
        after=[NOTE] if agreement.reason else (),
    )
    # Without common narratives the reason is the only row.
    if agreement.reason:
        return [judges]
    sources = Table.from_records(
        f"judge-sources-{end}",
        f"sources by judge, {agreement.by}",
        compared.ModelSource,
        agreement.sources,
        by="model",
    )
    pairs = Table.from_records(
        f"judge-pairs-{end}",
        f"two judges, {agreement.by}",
        compared.ModelPair,
        agreement.pairs,
    )
    return [judges, sources, pairs]


def _reliability(rows: Sequence[compared.MethodReliability]) -> Table:
    note = (
        "Words after Koo and Li 2016 (below 0.5 poor, below 0.75 moderate, below 0.9 good, else"
        " excellent): of the value, and of both ends of its interval."
    )
    return Table.from_records(
        "reliability",
        "agreement of judges",
        CoefficientRow,
        (
            record_cells(coefficient)
            | {"method": row.method, "n": row.n, "n_left_out": row.n_left_out}
            for row in rows
            for coefficient in _coefficients(row)
        ),
        [note],
        by="method",
        before=[METHOD],
        after=[N, Column("n_left_out", "incomplete", "failed"), NOTE],
    )


def _coefficients(row: compared.MethodReliability) -> Iterator[CoefficientRow]:
    if row.reason:
        yield CoefficientRow("", reason=row.reason)
        return
    yield from _icc(row)
    yield _coefficient("Cronbach's alpha", row.alpha)
    mean_r = None if row.mean_pairwise_r is UNSET else row.mean_pairwise_r
    yield CoefficientRow("mean pairwise r", mean_r)
    for pair, r in row.pairwise_r.items():
        yield CoefficientRow(f"r of judges {pair}", r)


def _icc(
    agreement: compared.ModelAgreement | compared.MethodReliability,
) -> Iterator[CoefficientRow]:
    yield _coefficient("ICC(2,1), one judge", agreement.icc_single)
    yield _coefficient("ICC(2,k), mean of judges", agreement.icc_average)


def _coefficient(
    name: str, coefficient: compared.AgreementValue | None
) -> CoefficientRow:
    # All coefficients are set unless the row has a reason why they are missing.
    assert coefficient is not None
    return CoefficientRow(
        name,
        coefficient.value,
        coefficient.interval,
        getattr(coefficient, "verdict", None) or "",
        " to ".join(getattr(coefficient, "verdicts", None) or ()),
        coefficient.reason,
    )


def _examples(examples: compared.Examples) -> Table:
    columns = [METHOD, Column("source", "source", "text")]
    for end in ("without", "with"):
        columns += [
            Column(f"n_{end}", f"n {end}", "count"),
            Column(f"mean_{end}", f"mean {end}", "hundredths"),
            Column(f"sd_{end}", f"SD {end} (n − 1)", "hundredths"),
            Column(f"sd_population_{end}", f"SD {end} (n)", "hundredths"),
        ]
    columns += [
        Column("sd_difference", "SD (n − 1), with − without", "hundredths"),
        Column("icc_without", "ICC(2,1) without", interval=True),
        Column("icc_with", "ICC(2,1) with", interval=True),
    ]
    example_list = ", ".join(
        f"{example.id} rated {example.rating}" for example in examples.shown
    )
    note = f"Shown as examples, and left out of all tables: {example_list}."
    return Table(
        "examples",
        "with and without examples",
        tuple(columns),
        tuple(map(_example_cells, examples.rows)),
        (note,),
        by="method",
    )


def _example_cells(row: compared.ExampleEffect) -> Cells:
    """Return the cells of ratings without and with examples, side by side."""
    cells = record_cells(row) | {"method": row.way}
    agreement = row.icc_single
    for end, spread, icc in (
        ("without", row.without, agreement.without),
        ("with", row.shown, agreement.shown),
    ):
        for name, content in structs.asdict(spread).items():
            cells[f"{name}_{end}"] = content
        cells[f"icc_{end}"] = icc.value if icc else None
        if icc:
            cells |= interval_cells(f"icc_{end}", icc.interval, icc.reason)
    return cells


def _coherence(
    sources: Sequence[compared.SourceCoherence], theta: results.ThetaMatrix
) -> Table:
    headings = {
        "minimum": "min coherence",
        "mean": "mean coherence",
        "dtw": "distance to the nearest human one",
    }
    columns = [Column("source", "source", "text"), N]
    for key, head in headings.items():
        columns += [Column(key, head), Column(f"{key}_sd", "SD")]
    rows: list[Cells] = []
    for row in sources:
        cells: Cells = {"source": row.source, "n": row.minimum.n}
        for key in headings:
            measure: compared.MeanAndSD = getattr(row, key)
            cells |= {key: measure.mean, f"{key}_sd": measure.sd}
        rows.append(cells)
    note = f"{theta.signature} by {theta.embedder}. Only compare numbers with the same signature."
    return Table(
        "coherence",
        "coherence by source",
        tuple(columns),
        tuple(rows),
        (note,),
    )


def _correlations(tables: compared.ComparisonTables) -> Table:
    rows = [
        record_cells(row) | {"other": _MEASURES[row.measure]}
        for row in tables.correlations
        if row.n
    ]
    rows += [
        record_cells(row) | {"method": row.a, "other": row.b}
        for row in tables.between_methods
    ]
    return Table.from_records(
        "correlations",
        "scores and coherence",
        compared.RatingCorrelation,
        rows,
        before=[METHOD, Column("other", "with", "text")],
    )


def _differences(rows: Sequence[compared.SourceComparison]) -> Table:
    return Table.from_records(
        "differences",
        "do sources differ?",
        compared.SourceComparison,
        map(_effect_cells, rows),
        by="method",
        before=[METHOD],
        after=_BETWEEN_SOURCES,
    )


def _effect_cells(row: compared.SourceComparison) -> Cells:
    """Return the cells of a comparison with the interval of g, whose column differs by table."""
    return record_cells(row) | interval_cells("g", row.g_interval)


def _steps(steps: compared.StepTables) -> list[Table]:
    """Return the tables of rated steps by source, and of the breaks in them."""
    # Four tables: ratings by source, tests between sources, kinds of break, tests on these.
    kinds: list[Column] = []
    for kind in BREAK_KINDS:
        kinds += [
            Column(kind, kind, "count"),
            Column(f"{kind}_share", "share", "percent"),
        ]
    independent = (
        "Steps of one narrative are not independent, so that each narrative counts once, with its"
        " mean step rating."
    )
    return [
        Table.from_records(
            "steps", "where stories break", compared.StepSource, steps.sources
        ),
        Table.from_records(
            "step-differences",
            "steps of sources",
            compared.SourceComparison,
            map(_effect_cells, steps.comparisons),
            [independent],
            after=_BETWEEN_STEPS,
        ),
        Table.from_records(
            "breaks",
            "what breaks in steps",
            compared.BreakTally,
            map(_break_cells, steps.breaks.sources),
            after=[*kinds, Column("n_not_told", "not stated", "count")],
        ),
        Table.from_records(
            "break-differences",
            "what breaks, between sources",
            compared.BreakComparison,
            steps.breaks.comparisons,
            by="kind",
        ),
    ]


def _break_cells(row: compared.BreakTally) -> Cells:
    shares = {f"{kind}_share": share for kind, share in row.shares.items()}
    return record_cells(row) | row.counts | shares


def _weakest(
    study: results.NarrativeStudy, steps: compared.StepTables
) -> Table:
    """Return the steps that judges rated lowest, with their coherence."""
    rows: list[dict[str, Any]] = []
    for narrative in study.narratives:
        ids = [study.frames[frame].id for frame in narrative.frames]
        coherence = narrative.coherence
        for i, mean in enumerate(narrative.step_means):
            theta = coherence.steps[i] if coherence else None
            step = f"{ids[i]} → {ids[i + 1]}"
            rows.append(
                {
                    "id": narrative.id,
                    "step": step,
                    "mean": mean,
                    "theta": theta,
                }
            )
    # Failed steps have no rating and cannot be the lowest.
    rated_rows = [row for row in rows if row["mean"] is not None]
    rated_rows.sort(key=lambda row: row["mean"])
    return Table(
        "weakest-links",
        "weakest links",
        (
            Column("id", "narrative", "text"),
            STEP,
            Column("mean", "judges", "hundredths"),
            Column("theta", "theta"),
        ),
        tuple(rated_rows[:_N_BREAKS]),
        tuple(_with_theta(steps)),
    )


def _with_theta(steps: compared.StepTables) -> Iterator[str]:
    """Yield how ratings of steps agree with their coherence, if that was measured."""
    correlation = steps.correlation
    if correlation.rho is None:
        return
    ends = correlation.interval
    interval = (
        "\N{EN DASH}" if ends is None else " to ".join(map(show_number, ends))
    )
    yield (
        f"Step ratings and θ: Spearman {show_number(correlation.rho)} ({interval}) over"
        f" {correlation.n:,} steps, narratives resampled as wholes."
    )
    if steps.same_weakest is not None and steps.by_chance is not None:
        same, chance = (
            fixed(100 * share, 0)
            for share in (steps.same_weakest, steps.by_chance)
        )
        yield (
            f"In {same} % of {steps.n_compared:,} narratives the judges' lowest step is the weakest"
            f" link by θ as well; by chance it would be {chance} %."
        )
