"""Tables of judges of storylines: their agreement, side by side, what examples change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET, structs

from beholder.files import safe_name
from beholder.kinds.narratives import compared
from beholder.tables import Cells, Column, Table, interval_cells, record_cells

SOURCE = Column("source", "source", "text")
METHOD = Column("method", "method", "text")
MEAN = Column("mean", "mean", "hundredths")
SD = Column("sd", "SD", "hundredths")

_COEFFICIENT = (
    Column("coefficient", "coefficient", "text"),
    Column("value", "value", interval=True),
    Column("verdict", "in a word", "text"),
    Column("verdicts", "ends of the interval", "text"),
)
_NOTE = Column("reason", "note", "text")


def model_tables(found: compared.ModelAgreement, notes: Sequence[str] = ()) -> list[Table]:
    """How several judges rate the same narratives: agreement, scores and ranks, two by two.

    Args:
        found: How they agree.
        notes: What else is said of the judges.
    """
    by = safe_name(found.by)
    title = f"judges side by side, {found.by}"
    left_out = f" ({found.n_left_out:,} others left out)" if found.n_left_out else ""
    over = (
        f"Over {found.n:,} narratives that all {len(found.models)} judges rated{left_out},"
        " mean of each judge's votes. Here judges are different models."
    )
    if found.reason:
        columns, rows = (*_COEFFICIENT, _NOTE), (_no_coefficient(found.reason),)
        return [Table(f"judges-{by}", title, columns, rows, (over, *notes))]
    sources = (
        Column("model", "judge", "text"),
        SOURCE,
        Column("n", "n", "count"),
        MEAN,
        SD,
        Column("rank", "rank of the source", "tenths"),
    )
    pairs = (
        Column("a", "judge", "text"),
        Column("b", "and", "text"),
        Column("r", "Pearson r", interval=True),
        Column("p", "p of r", "p"),
        Column("rho", "Spearman"),
        Column("difference", "second − first", "hundredths", interval=True),
        Column("difference_p", "p of the difference", "p"),
    )
    two = (
        record_cells(row, "r") | interval_cells("difference", row.difference_interval)
        for row in found.pairs
    )
    ranked = (record_cells(row, "mean") for row in found.sources)
    agreed = (*_icc(found), _coefficient("Kendall's W", found.kendall_w))
    return [
        Table(f"judges-{by}", title, _COEFFICIENT, agreed, (over, *notes)),
        Table(
            f"judge-sources-{by}", f"sources by judge, {found.by}", sources, tuple(ranked),
            by="model",
        ),
        Table(f"judge-pairs-{by}", f"two judges, {found.by}", pairs, tuple(two)),
    ]  # fmt: skip


def reliability_table(rows: Sequence[compared.MethodReliability]) -> Table:
    """How the judges of each method agree."""
    found: list[Cells] = []
    for row in rows:
        same = {"method": row.method, "n": row.n, "n_left_out": row.n_left_out}
        found += [{**same, **cells} for cells in _reliability(row)]
    columns = (
        METHOD,
        *_COEFFICIENT,
        Column("n", "n", "count"),
        Column("n_left_out", "incomplete", "failed"),
        _NOTE,
    )
    notes = (
        "Words after Koo and Li 2016 (below 0.5 poor, below 0.75 moderate, below 0.9 good, else"
        " excellent): of the value, and of both ends of its interval.",
    )
    return Table("reliability", "agreement of judges", columns, tuple(found), notes, by="method")


def _reliability(row: compared.MethodReliability) -> Iterator[Cells]:
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


def examples_table(examples: compared.Examples) -> Table:
    """What examples change in the ratings of each method and source."""
    columns = [METHOD, SOURCE]
    for told in ("without", "with"):
        columns += [
            Column(f"n_{told}", f"n {told}", "count"),
            Column(f"mean_{told}", f"mean {told}", "hundredths"),
            Column(f"sd_{told}", f"SD {told} (n − 1)", "hundredths"),
            Column(f"sd_population_{told}", f"SD {told} (n)", "hundredths"),
        ]
    columns.append(Column("sd_difference", "SD (n − 1), with − without", "hundredths"))
    columns += [
        Column(f"icc_{told}", f"ICC(2,1) {told}", interval=True) for told in ("without", "with")
    ]
    rows = []
    for row in examples.rows:
        iccs = row.icc_single
        cells = structs.asdict(row) | {"method": row.way}
        for told, spread, icc in (
            ("without", row.without, iccs.without),
            ("with", row.shown, iccs.shown),
        ):
            cells |= {f"{name}_{told}": value for name, value in structs.asdict(spread).items()}
            value, interval = (icc.value, icc.interval) if icc else (None, None)
            cells |= {f"icc_{told}": value, **interval_cells(f"icc_{told}", interval)}
        rows.append(cells)
    shown = ", ".join(f"{one.id} rated {one.rating}" for one in examples.shown)
    notes = (f"Shown as examples, and left out of all tables: {shown}.",)
    return Table(
        "examples", "with and without examples", tuple(columns), tuple(rows), notes, by="method"
    )
