"""Tables of a ranking run for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from beholder.report.numbers import show_number
from beholder.report.tables import cell, plain_table, show_p

DASH = "\N{EN DASH}"


def ranking_tables(ranking: Mapping[str, Any]) -> list[Table]:
    """All tables of a run that hold something, in the order to read them."""
    tables = ranking["tables"]
    names = labels(ranking)
    found = [_systems(ranking), _thresholds(tables, names), _joins(tables, names)]
    for kind, rows in tables["groups"].items():
        if rows:
            found.append(_groups(kind, rows, names))
    label_of = dict(zip((row["name"] for row in ranking["scorers"]), names, strict=True))
    found.append(_lengths(tables["lengths"], label_of))
    if tables["differences"]:
        found.append(_differences(tables["differences"]))
    if tables["bias"]:
        found.append(_bias(tables["bias"]))
    return found


def labels(ranking: Mapping[str, Any]) -> list[str]:
    """Short labels of the scorers, for the heads of columns: S1, S2..."""
    return [f"S{number}" for number in range(1, len(ranking["scorers"]) + 1)]


def _systems(ranking: Mapping[str, Any]) -> Table:
    tables = ranking["tables"]
    table = plain_table("", "scorer")
    _numbers(table, "correlation", "95 % interval", "images", "failed", "level")
    human = tables["human"]
    table.add_row("", "people", *_estimate(human), "", "", style="dim")
    for label, row in zip(labels(ranking), tables["scorers"], strict=True):
        table.add_row(
            label,
            cell(row["scorer"], "bold"),
            *_estimate(row),
            f"{row['n_failed']:,}",
            f"{row['n_level']:,}",
        )
    lines = [
        f"images whose best pair of annotators agrees {_limit(tables['threshold'])}:"
        f" {tables['n_kept']:,} of {tables['n_judged']:,} that can be compared"
        f" ({tables['n_images']:,} in the data); Kendall's W of all annotators"
        f" {_shown(tables['kendall_w']['mean'])}",
    ]
    lines += [f"{count:,} images left out: {reason}" for reason, count in tables["reasons"].items()]
    if tables["n_incomplete"]:
        lines.append(f"{tables['n_incomplete']:,} rankings left out: a rank is missing")
    if any(row["values"] for row in tables["scorers"]):
        lines.append("scorers' other values: in the report and the CSV files")
    lines += [scorer["signature"] for scorer in ranking["scorers"]]
    table.caption = Text("\n".join(lines), style="dim", overflow="fold")
    table.caption_justify = "left"
    return table


def _thresholds(tables: Mapping[str, Any], names: Sequence[str]) -> Table:
    rows = tables["thresholds"]
    table = plain_table("best pair agrees")
    _numbers(table, *(_head(row["threshold"]) for row in rows))
    table.add_row("images", *(f"{row['n']:,}" for row in rows))
    table.add_row("people", *(_shown(row["human"]["mean"]) for row in rows))
    if any(row["prompt"]["mean"] is not None for row in rows):
        table.add_row("prompt order", *(_shown(row["prompt"]["mean"]) for row in rows))
    for place, name in enumerate(names):
        table.add_row(name, *(_shown(row["scorers"][place]["mean"]) for row in rows))
    return table


def _joins(tables: Mapping[str, Any], names: Sequence[str]) -> Table:
    rows = tables["thresholds"]
    table = plain_table("as one more annotator")
    _numbers(table, *(_head(row["threshold"]) for row in rows))
    for place, name in enumerate(names):
        table.add_row(name, *(_joined(row["scorers"][place]) for row in rows))
    table.caption = Text(
        "agreement of the best pair when the scorer may be in it, and the share of images in which"
        " it is",
        style="dim",
    )
    table.caption_justify = "left"
    return table


def _lengths(rows: Sequence[Mapping[str, Any]], label_of: Mapping[str, str]) -> Table:
    counting = list(dict.fromkeys(name for row in rows for name in row["tokens"]))
    table = plain_table("lengths of texts")
    _numbers(table, "texts", "characters", *(f"tokens, {label_of[name]}" for name in counting))
    for row in rows:
        tokens = [row["tokens"].get(name) for name in counting]
        table.add_row(
            cell(row["language"] or DASH),
            f"{row['n_texts']:,}",
            show_number(row["characters"]),
            *(DASH if found is None else show_number(found["mean"]) for found in tokens),
        )
    return table


def _groups(kind: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Table:
    table = plain_table(kind)
    _numbers(table, "images", "people", *names)
    for row in rows:
        table.add_row(
            cell(row["group"] or DASH),
            f"{row['n']:,}",
            _shown(row["human"]["mean"]),
            *(_shown(found["mean"]) for found in row["scorers"]),
        )
    return table


def _differences(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = plain_table("scorer", "minus")
    _numbers(table, "difference", "95 % interval", "p", "images")
    for row in rows:
        known = row["n"] > 0
        table.add_row(
            cell(row["a"]),
            cell(f"{row['b']} (gain by the image)" if row["image_gain"] else row["b"]),
            Text(_shown(row["difference"]) if known else DASH, style="bold"),
            _interval(row["interval"]) if known else DASH,
            show_p(row["p"]) if known else DASH,
            f"{row['n']:,}",
        )
    return table


def _bias(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = plain_table("position bias")
    _numbers(table, "rank and place", "95 % interval", "requests", "failed")
    for row in rows:
        table.add_row(
            cell(row["scorer"]),
            _shown(row["value"]),
            _interval(row["interval"]),
            f"{row['n_requests']:,}",
            f"{row['n_failed']:,}",
        )
    table.caption = Text("above 0: what is shown first is ranked better", style="dim")
    table.caption_justify = "left"
    return table


def _numbers(table: Table, *names: str) -> None:
    for name in names:
        table.add_column(cell(name), justify="right", no_wrap=True)


def _estimate(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return _shown(row["mean"]), _interval(row["interval"]), f"{row['n']:,}"


def _joined(row: Mapping[str, Any]) -> str:
    share = row["share_in_pair"]
    return _shown(row["with_model"]) + ("" if share is None else f" ({100 * share:.0f} %)")


def _head(threshold: float | None) -> str:
    return "in any way" if threshold is None else f"≥ {threshold:g}"


def _limit(threshold: float | None) -> str:
    return "in any way" if threshold is None else f"at least {threshold:g}"


def _shown(value: float | None) -> str:
    return DASH if value is None else show_number(value)


def _interval(interval: Sequence[float] | None) -> str:
    if interval is None:
        return DASH
    return f"{show_number(interval[0])} to {show_number(interval[1])}"
