"""The page of the papers names commands, options and metrics that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from beholder.base.spec import parse_spec
from beholder.cli.main import app
from beholder.metrics import METRICS

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
SPANS = re.findall(r"`([^`\n]+)`", PAGE.read_text(encoding="utf-8"))
COMMANDS = [
    span
    for span in SPANS
    if span.startswith("beholder ") and "..." not in span
]
METRIC = re.compile(r"-m (\"[^\"]+\"|\S+)")


@pytest.mark.parametrize("command", sorted(set(COMMANDS)))
def test_every_command_on_the_page_is_taken(command: str) -> None:
    _, bound, *_ = app.parse_args(
        shlex.split(command)[1:], print_error=False, exit_on_error=False
    )
    assert bound is not None


def test_every_metric_on_the_page_is_there() -> None:
    names = {
        spec.strip('"')
        for span in SPANS
        for spec in METRIC.findall(span)
        if "python" not in span
    }
    assert len(names) > 20
    assert {parse_spec(spec).name for spec in names} <= set(METRICS.names())


def test_every_table_has_a_need_in_each_row() -> None:
    rows = [
        line
        for line in PAGE.read_text("utf-8").splitlines()
        if line.startswith("| ")
    ]
    assert len(rows) > 50
    assert {line.count(" | ") for line in rows} == {2}
