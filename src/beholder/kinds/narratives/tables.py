"""Tables of storylines: paths, scores, reliability, coherence, differences, costs, steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from msgspec import UNSET, structs
from rich.console import RenderableType
from rich.text import Text

from beholder.files import safe_name
from beholder.kinds.narratives import compared, results
from beholder.kinds.narratives.storylines.extract import Extracted
from beholder.kinds.narratives.study import NOTES
from beholder.report.numbers import show_fixed, show_number
from beholder.rounding import fixed
from beholder.tables import Cells, Table, declared, interval_cells, record_cells

TABLES = declared(Path(__file__).with_suffix(".toml"))

_STAGES = {"caption": "writing captions", "transitions": "rating steps"}
_CHECKED = {
    "looked at": "looked at (ratings contain sight)",
    "held out": "looked at, each predicted from captions alone",
}
_CHOSEN = {
    "uncertain": "the ones on which caption judges disagree most",
    "top": "the best rated by captions",
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
    return TABLES["extracted"].of(rows)


def study_tables(study: results.NarrativeStudy) -> list[Table]:
    """All tables of a study that hold something, in the order to read them."""
    tables = study.tables
    found = [TABLES["scores"].of(record_cells(row, "mean") for row in tables.scores)]
    if study.theta is not None:
        rows = map(_coherence, tables.coherence)
        found.append(TABLES["coherence"].of(rows, theta=study.theta))
    found.append(TABLES["reliability"].of(_reliability(tables.reliability)))
    found += [table for one in study.models for table in model_tables(one)]
    if study.examples is not None:
        shown = ", ".join(f"{one.id} rated {one.rating}" for one in study.examples.shown)
        found.append(TABLES["examples"].of(map(_example, study.examples.rows), shown=shown))
    found.append(TABLES["correlations"].of(_correlations(tables)))
    found.append(TABLES["differences"].of(_effects(tables.comparisons)))
    if tables.methods:
        stages = study.cost.stages.items()
        found.append(_cost(results.StageOfRun("", name, **asdict(one)) for name, one in stages))
        found.append(captions_or_sight_table(study.cost))
    if study.hybrid is not None:
        found.append(_hybrid(study.hybrid, study.cost.n_narratives))
    if study.steps is not None:
        steps = study.steps
        found += [
            TABLES["steps"].of(map(structs.asdict, steps.sources)),
            TABLES["step-differences"].of(_effects(steps.comparisons)),
            TABLES["breaks"].of(map(_breaks, steps.breaks.sources)),
            TABLES["break-differences"].of(map(structs.asdict, steps.breaks.comparisons)),
            TABLES["weakest-links"].of(_weakest(study), _with_theta(steps)),
        ]
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
    cost = replace(_cost(beside.cost), by="run")
    return [*found, cost] if cost.rows else found


def model_tables(found: compared.ModelAgreement, notes: Sequence[str] = ()) -> list[Table]:
    """How several judges rate the same narratives: agreement, scores and ranks, two by two.

    Args:
        found: How they agree.
        notes: What else is said of the judges.
    """
    agreed, sources, pairs = (
        replace(table, name=f"{name}-{safe_name(found.by)}", title=f"{table.title}, {found.by}")
        for name in ("judges", "judge-sources", "judge-pairs")
        for table in [TABLES[name]]
    )
    left_out = f" ({found.n_left_out:,} others left out)" if found.n_left_out else ""
    facts = {"found": found, "judges": len(found.models), "left_out": left_out}
    if found.reason:
        return [agreed.of([_no_coefficient(found.reason)], notes, **facts)]
    without_note = replace(agreed, columns=agreed.columns[:-1])
    coefficients = (*_icc(found), _coefficient("Kendall's W", found.kendall_w))
    two = (
        record_cells(row, "r") | interval_cells("difference", row.difference_interval)
        for row in found.pairs
    )
    return [
        without_note.of(coefficients, notes, **facts),
        sources.of(record_cells(row, "mean") for row in found.sources),
        pairs.of(two),
    ]


def _reliability(rows: Sequence[compared.MethodReliability]) -> Iterator[Cells]:
    for row in rows:
        same = {"method": row.method, "n": row.n, "n_left_out": row.n_left_out}
        yield from ({**same, **cells} for cells in _coefficients(row))


def _coefficients(row: compared.MethodReliability) -> Iterator[Cells]:
    if row.reason:
        yield _no_coefficient(row.reason)
        return
    yield from _icc(row)
    yield _coefficient("Cronbach's alpha", row.alpha)
    pairs = {f"r of judges {pair}": r for pair, r in row.pairwise_r.items()}
    for name, r in {"mean pairwise r": row.mean_pairwise_r, **pairs}.items():
        yield _coefficient(name, compared.AgreementValue(None if r is UNSET else r, None))


def _icc(found: compared.ModelAgreement | compared.MethodReliability) -> Iterator[Cells]:
    yield _coefficient("ICC(2,1), one judge", found.icc_single)
    yield _coefficient("ICC(2,k), mean of judges", found.icc_average)


def _coefficient(name: str, found: compared.AgreementValue | None) -> Cells:
    """A coefficient with its interval, and its words if it has them."""
    assert found is not None  # if there is no reason, there are coefficients
    words: Cells = {"verdict": "", "verdicts": ""}
    if isinstance(found, compared.WordedValue):
        words = {"verdict": found.verdict or "", "verdicts": " to ".join(found.verdicts or ())}
    return {"coefficient": name, **record_cells(found, "value"), **words}


def _no_coefficient(reason: str) -> Cells:
    return {"coefficient": "", "reason": reason, "verdict": "", "verdicts": ""}


def _example(row: compared.ExampleEffect) -> Cells:
    """What examples change in the ratings of a method and source."""
    iccs = row.icc_single
    cells = structs.asdict(row) | {"method": row.way}
    for told, spread, icc in (
        ("without", row.without, iccs.without),
        ("with", row.shown, iccs.shown),
    ):
        cells |= {f"{name}_{told}": value for name, value in structs.asdict(spread).items()}
        value, interval = (icc.value, icc.interval) if icc else (None, None)
        cells |= {f"icc_{told}": value, **interval_cells(f"icc_{told}", interval)}
    return cells


def _coherence(row: compared.SourceCoherence) -> Cells:
    cells: Cells = {"source": row.source, "n": row.minimum.n}
    for name, of in (("minimum", row.minimum), ("mean", row.mean), ("dtw", row.dtw)):
        cells |= {name: of.mean, f"{name}_sd": of.sd}
    return cells


def _correlations(tables: compared.ComparisonTables) -> Iterator[Cells]:
    for row in tables.correlations:
        if row.n:
            yield record_cells(row, "r") | {"other": _MEASURES[row.measure]}
    for two in tables.between_methods:
        yield record_cells(two, "r") | {"method": two.a, "other": two.b}


def _effects(rows: Sequence[compared.SourceComparison]) -> Iterator[Cells]:
    return (record_cells(row, "g") | interval_cells("g", row.g_interval) for row in rows)


def _cost(stages: Iterable[results.StageOfRun]) -> Table:
    """What each stage took."""
    return TABLES["costs"].of(
        {
            **structs.asdict(one),
            "run": one.run or None,
            "stage": _STAGES.get(one.stage, f"rating by {one.stage}"),
            "seconds_each": one.seconds / one.calls if one.calls else None,
            "tokens": one.prompt_tokens + one.completion_tokens,
        }
        for one in stages
    )


def captions_or_sight_table(cost: results.Cost) -> Table:
    """What judging by captions and by sight costs, and from how many narratives captions pay."""
    units = {"seconds": cost.seconds, "tokens": cost.tokens}
    rows = ({"unit": unit, **structs.asdict(of)} for unit, of in units.items())
    never = (f"Captions never pay in {u}." for u, of in units.items() if of.break_even is None)
    return TABLES["captions-or-sight"].of(rows, never, cost=cost)


def _hybrid(found: results.HybridRatings, n: int) -> Table:
    """How hybrid ratings stand against sight, and what they spare of ``n`` narratives."""
    return TABLES["hybrid"].of(
        (
            {**asdict(check), "narratives": _CHECKED.get(check.narratives, check.narratives)}
            for check in found.checks
        ),
        found=found,
        n=n,
        which=_CHOSEN[found.rule],
        weight=show_fixed(found.weight, 2),
        origin="learned" if found.learned else "given",
        intercept=show_fixed(found.intercept, 2),
        slope=show_fixed(found.slope, 2),
        trusted=_trust(found),
    )


def _trust(found: results.HybridRatings) -> str:
    """The note on whether captions predict sight, with the figures that it rests on."""
    held_out = next(check for check in found.checks if check.narratives == "held out")
    gain = "not defined"
    if held_out.gain is not None and held_out.gain_low is not None:
        ends = " to ".join(
            show_fixed(end or 0.0, 2) for end in (held_out.gain_low, held_out.gain_high)
        )
        gain = f"{show_fixed(held_out.gain, 2)} squared points, {ends}"
    note = NOTES["hybrid"]["below_trusted" if found.trusted else "below_refused"]
    return note.format(n=held_out.n, gain=gain)


def _breaks(row: compared.BreakTally) -> Cells:
    shares = {f"{kind}_share": share for kind, share in row.shares.items()}
    return {**structs.asdict(row), **row.counts, **shares}


def _weakest(study: results.NarrativeStudy) -> list[Cells]:
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
    return [cells for _, cells in found[:_N_BREAKS]]


def _with_theta(steps: compared.StepTables) -> Iterator[str]:
    """How ratings of steps agree with their coherence, if that is known."""
    found = steps.correlation
    if found.rho is None:
        return
    ends = found.interval
    interval = "\N{EN DASH}" if ends is None else " to ".join(map(show_number, ends))
    yield NOTES["steps"]["theta"].format(rho=show_number(found.rho), interval=interval, n=found.n)
    if steps.same_weakest is not None and steps.by_chance is not None:
        same, chance = (fixed(100 * share, 0) for share in (steps.same_weakest, steps.by_chance))
        yield NOTES["steps"]["weakest"].format(same=same, n=steps.n_compared, chance=chance)
