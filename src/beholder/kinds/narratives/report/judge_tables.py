"""Tables of judges of storylines: their agreement, side by side, what examples change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beholder.kinds.narratives.report.columns import MEAN, METHOD, SD, SOURCE
from beholder.report.figures import safe_name
from beholder.tables import Column, Table, interval_cells

_COEFFICIENT = (
    Column("coefficient", "coefficient", "text"),
    Column("value", "value", interval=True),
    Column("verdict", "in a word", "text"),
    Column("verdicts", "ends of the interval", "text"),
)
_COEFFICIENTS = {
    "icc_single": "ICC(2,1), one judge",
    "icc_average": "ICC(2,k), mean of judges",
    "alpha": "Cronbach's alpha",
}


def model_tables(found: Mapping[str, Any], notes: Sequence[str] = ()) -> list[Table]:
    """How several judges rate the same narratives: agreement, scores and ranks, two by two.

    Args:
        found: What ``between_models`` gives, and ``by``: the way of rating.
        notes: What else is said of the judges.
    """
    by = safe_name(found["by"])
    title = f"judges side by side, {found['by']}"
    left_out = f" ({found['n_left_out']:,} others left out)" if found["n_left_out"] else ""
    over = (
        f"Over {found['n']:,} narratives that all {len(found['models'])} judges rated{left_out},"
        " mean of each judge's votes. Here judges are different models."
    )
    if "reason" in found:
        columns = (*_COEFFICIENT, Column("reason", "note", "text"))
        return [Table(f"judges-{by}", title, columns, (_reason(found),), (over, *notes))]
    rows = [
        *_coefficients(found, ("icc_single", "icc_average")),
        {"coefficient": "Kendall's W", **_valued(found["kendall_w"])},
    ]
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
    two = [
        {
            **row,
            **interval_cells("r", row["interval"]),
            **interval_cells("difference", row["difference_interval"]),
        }
        for row in found["pairs"]
    ]
    return [
        Table(f"judges-{by}", title, _COEFFICIENT, tuple(rows), (over, *notes)),
        Table(
            f"judge-sources-{by}", f"sources by judge, {found['by']}", sources,
            tuple(found["sources"]), by="model",
        ),
        Table(f"judge-pairs-{by}", f"two judges, {found['by']}", pairs, tuple(two)),
    ]  # fmt: skip


def reliability_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """How the judges of each method agree."""
    found: list[dict[str, Any]] = []
    for row in rows:
        same = {name: row[name] for name in ("method", "n", "n_left_out")}
        if "reason" in row:
            found.append({**same, **_reason(row)})
            continue
        pairs = {"mean pairwise r": row["mean_pairwise_r"]}
        pairs |= {f"r of judges {pair}": r for pair, r in row["pairwise_r"].items()}
        told = [
            *_coefficients(row, ("icc_single", "icc_average", "alpha")),
            *(
                {"coefficient": name, **_valued({"value": r, "interval": None})}
                for name, r in pairs.items()
            ),
        ]
        found += [{**same, **one} for one in told]
    columns = (
        METHOD,
        *_COEFFICIENT,
        Column("n", "n", "count"),
        Column("n_left_out", "incomplete", "failed"),
        Column("reason", "note", "text"),
    )
    notes = (
        "Words after Koo and Li 2016 (below 0.5 poor, below 0.75 moderate, below 0.9 good, else"
        " excellent): of the value, and of both ends of its interval.",
    )
    return Table("reliability", "agreement of judges", columns, tuple(found), notes, by="method")


def _coefficients(found: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    return [{"coefficient": _COEFFICIENTS[name], **_valued(found[name])} for name in names]


def _valued(found: Mapping[str, Any]) -> dict[str, Any]:
    """A coefficient with its interval and its words, where it has them."""
    return {
        "value": found["value"],
        **interval_cells("value", found["interval"]),
        "verdict": found.get("verdict") or "",
        "verdicts": " to ".join(found.get("verdicts") or ()),
    }


def _reason(found: Mapping[str, Any]) -> dict[str, Any]:
    return {"coefficient": "", "reason": found["reason"], "verdict": "", "verdicts": ""}


_SPREAD = ("n", "mean", "sd", "sd_population")


def examples_table(examples: Mapping[str, Any]) -> Table:
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
    for row in examples["rows"]:
        cells = {"method": row["way"], "source": row["source"]}
        for told in ("without", "with"):
            cells |= {f"{name}_{told}": row[told][name] for name in _SPREAD}
            icc = row["icc_single"][told] or {"value": None, "interval": None}
            cells |= {f"icc_{told}": icc["value"]}
            cells |= interval_cells(f"icc_{told}", icc["interval"])
        rows.append({**cells, "sd_difference": row["sd_difference"]})
    shown = ", ".join(f"{one['id']} rated {one['rating']}" for one in examples["shown"])
    notes = (f"Shown as examples, and left out of all tables: {shown}.",)
    return Table(
        "examples", "with and without examples", tuple(columns), tuple(rows), notes, by="method"
    )
