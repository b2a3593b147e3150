"""Tables of a ranking run: systems, thresholds, groups, lengths, differences, position bias."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from msgspec import structs

from beholder.kinds.ranking import results
from beholder.report.numbers import show_number
from beholder.tables import Cells, Column, Table, declared, interval_cells, record_cells

Labels: TypeAlias = Mapping[str, str]
"""Short label of each scorer, by name."""

PEOPLE = "people, the pair itself"
TABLES = declared(Path(__file__).with_suffix(".toml"))
_NONE = "\N{EN DASH}"


def ranking_tables(ranking: results.Ranking) -> list[Table]:
    """All tables of a run that have rows, in the order to read them."""
    tables, labels = ranking.tables, ranking.labels
    found = [
        _scores(ranking),
        _thresholds("correlation-by-threshold", tables.thresholds, labels),
        _thresholds("threshold-by-language", tables.thresholds_by_language, labels),
        _joined(tables.thresholds, labels),
        _groups("language", tables.groups.language, labels),
        _groups("category", tables.groups.category, labels),
        _lengths(tables.lengths, labels),
        TABLES["differences"].of(record_cells(one, "difference") for one in tables.differences),
        TABLES["position-bias"].of(record_cells(one, "value") for one in tables.bias),
    ]
    return [table for table in found if table.rows]


def _with(name: str, columns: Iterable[Column]) -> Table:
    """A table with further columns."""
    return replace(TABLES[name], columns=(*TABLES[name].columns, *columns))


def _scores(ranking: results.Ranking) -> Table:
    tables = ranking.tables
    rows: list[Cells] = [{"scorer": PEOPLE, "value": "", **record_cells(tables.human, "mean")}]
    for row in tables.scorers:
        found = (one.scorers[row.scorer] for one in ranking.images if row.scorer in one.scorers)
        value = next((next(iter(one.values)) for one in found), "")
        rows.append(record_cells(row, "mean") | {"value": value})
        rows += [record_cells(one, "mean") | {"scorer": row.scorer} for one in row.values]
    heads = {name: label for name, label in ranking.labels.items() if label != name}
    return replace(TABLES["scores"], heads=heads).of(
        rows,
        (*_left_out(tables), *(scorer.signature for scorer in ranking.scorers)),
        found=tables,
        agrees="in any way" if tables.threshold is None else f"at least {tables.threshold:g}",
        kendall_w=_shown(tables.kendall_w),
        counts=", ".join(f"{n} ({count:,} images)" for n, count in tables.n_texts.items()),
    )


def _left_out(tables: results.RankingTables) -> Iterator[str]:
    for reason, count in tables.reasons.items():
        yield f"{count:,} images left out: {reason}"
    if tables.n_incomplete:
        yield f"{tables.n_incomplete:,} rankings left out: a rank is missing"


def _shown(mean: results.MeanCorrelation) -> str:
    if mean.mean is None:
        return _NONE
    shown = show_number(mean.mean)
    ends = mean.interval
    return shown if ends is None else f"{shown} ({' to '.join(map(show_number, ends))})"


def _thresholds(name: str, found: Sequence[results.AtThreshold], labels: Labels) -> Table:
    rows: list[Cells] = []
    for row in found:
        means = {scorer.scorer: scorer.mean for scorer in row.scorers}
        place: Cells = {"language": row.language} if row.language else {}
        people = {"images": row.n, "people": row.human.mean, "prompt": row.prompt.mean}
        rows.append({**place, "threshold": _head(row.threshold), **people, **means})
    scorers = (Column(name, label) for name, label in labels.items())
    return _with(name, scorers).of(rows)


def _joined(found: Sequence[results.AtThreshold], labels: Labels) -> Table:
    columns: list[Column] = []
    for name, label in labels.items():
        columns += [Column(name, label), Column(f"{name}, share", f"{label} in it", "percent")]
    rows: list[Cells] = []
    for row in found:
        cells: Cells = {"threshold": _head(row.threshold)}
        for one in row.scorers:
            cells |= {one.scorer: one.with_model, f"{one.scorer}, share": one.share_in_pair}
        rows.append(cells)
    return _with("one-more-annotator", columns).of(rows)


def _head(threshold: float | None) -> str:
    return "in any way" if threshold is None else f"≥ {threshold:g}"


def _groups(kind: str, groups: Sequence[results.GroupMeans], labels: Labels) -> Table:
    rows: list[Cells] = []
    for group in groups:
        row: Cells = {kind: group.group or _NONE, "images": group.n, "people": group.human.mean}
        for name, found in zip(labels, group.scorers, strict=True):
            row |= {name: found.mean, **interval_cells(name, found.interval)}
        rows.append(row)
    scorers = (Column(name, label, interval=True) for name, label in labels.items())
    return _with(kind, scorers).of(rows)


def _lengths(lengths: Sequence[results.TextLengths], labels: Labels) -> Table:
    columns: list[Column] = []
    for name in dict.fromkeys(name for row in lengths for name in row.tokens):
        columns.append(Column(name, f"tokens, {labels[name]}"))
        columns.append(Column(f"{name}, texts", f"texts, {labels[name]}", "count"))
    rows: list[Cells] = []
    for one in lengths:
        row = structs.asdict(one) | {"language": one.language or _NONE}
        for name, tokens in one.tokens.items():
            row |= {name: tokens.mean, f"{name}, texts": tokens.n_texts}
        rows.append(row)
    return _with("lengths", columns).of(rows)
