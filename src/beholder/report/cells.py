"""Cells of a study's tables, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beholder.report.numbers import show_fixed, show_number
from beholder.report.tables import show_p, show_signed
from beholder.tables import Column
from beholder.visible import visible

DASH = "\N{EN DASH}"


def show_cell(row: Mapping[str, Any], column: Column) -> str:
    """The value of a column as text."""
    value = row.get(column.key)
    if column.kind == "mark":
        return _mark(value, column.key)
    if value is None:
        return "" if column.kind == "cell" else DASH
    if column.kind in ("text", "cell"):
        return visible(str(value))
    if column.kind == "measure":
        return _NAMES.get(value, visible(str(value)))
    if column.kind == "direction":
        return str(value).upper()
    star = " ★" if column.best and row.get(f"{column.key}_best") else ""
    return f"{_number(value, column)}{star}"


def show_range(row: Mapping[str, Any], column: Column) -> str:
    """The interval of a column as text; empty where it has none."""
    low, high = row.get(f"{column.key}_low"), row.get(f"{column.key}_high")
    if not column.interval or low is None or high is None:
        return ""
    return " to ".join(_number(end, column).removesuffix(" %") for end in (low, high))


_NAMES = {"f1": "F1", "dcscore": "DCScore"}
_SIGNS = {"best": "★", "few": "⚠"}
_DIGITS = {"count": 0, "failed": 0, "tenths": 1, "hundredths": 2}


def _mark(value: Any, key: str) -> str:
    if value is None:
        return DASH
    if key in _SIGNS:
        return _SIGNS[key] if value else ""
    return "yes" if value else "no"


def _number(value: float, column: Column) -> str:
    if column.kind in _DIGITS:
        return show_fixed(value, _DIGITS[column.kind])
    if column.kind == "percent":
        return f"{show_fixed(100 * value, 1)} %"
    if column.kind == "p":
        return show_p(value)
    if column.kind == "signed":
        return show_signed(value)
    return show_number(value)
