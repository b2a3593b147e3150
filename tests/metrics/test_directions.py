"""Which end of a value is better is declared, and counts declare none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.errors import ConfigError, UnknownNameError
from beholder.kinds.generation.askers import (
    CaptionRow,
    ClassifyRow,
    TranslateRow,
)
from beholder.kinds.scores.door import score
from beholder.kinds.scores.page import write_report
from beholder.metrics import METRICS, ValueInfo, metric
from beholder.metrics.judged.placement import DECISIONS, VERDICTS
from beholder.records import Item
from beholder.report.markdown import run_tables
from beholder.rewards import reward

COUNTS = {"words", "characters", "tokens", "clauses", "categories", "objects"}
"""Names of values that count, but those of ``accord``, which are shares."""


def _values() -> list[tuple[str, ValueInfo]]:
    classes: list[Any] = [
        METRICS.get(name) for name in METRICS.builtin() if name != "accord"
    ]
    classes += [CaptionRow, ClassifyRow, TranslateRow]
    return [
        (info.registered_name, value)
        for info in classes
        for value in info.values
    ]


def test_counts_have_no_better_end() -> None:
    opposite = {
        (name, value.name)
        for name, value in _values()
        if value.higher_is_better is None
    }
    decisions = {pair for pair in opposite if pair[0] == "placement"}
    assert decisions == {
        ("placement", kind) for kind in {*DECISIONS, *VERDICTS} - {"fits"}
    }
    counts = {
        (name, value.name) for name, value in _values() if value.name in COUNTS
    }
    assert opposite - decisions == counts
    assert ("length", "words") in opposite
    unbounded = [value for _, value in _values() if value.high >= 1e6]
    assert [value.name for value in unbounded if value.higher_is_better] == []


@pytest.mark.parametrize(
    ("direction", "sign"), [(True, 1.0), (None, 1.0), (False, -1.0)]
)
def test_the_sign_turns_only_what_is_better_when_lower(
    direction: bool | None, sign: float
) -> None:
    assert ValueInfo("v", "", higher_is_better=direction).sign == sign


def test_a_report_of_a_count_speaks_of_no_better_and_no_worst(
    tmp_path: Path,
) -> None:
    items = [Item(str(n), "w " * n, images=(f"{n}",)) for n in range(1, 5)]
    score(items, ["length"], out=tmp_path / "run", workers=1)
    page = write_report(tmp_path / "run").read_text("utf-8")
    section = page.partition('<section class="metric"')[2].partition(
        "</section>"
    )[0]
    for words in ("is better", "Worst", "Best"):
        assert words not in section
    assert "<p>mean words</p>" in page
    assert "Lowest items" in page
    assert [table.name for table in run_tables(tmp_path / "run")] == [
        "summary"
    ]


def test_a_count_is_refused_as_a_reward() -> None:
    with pytest.raises(ConfigError, match=r"length\.words cannot be a reward"):
        reward("length")


def test_the_names_of_the_papers_lead_to_the_metric() -> None:
    for name in ("har", "MAR"):
        with pytest.raises(
            UnknownNameError, match=r"dcscore\(direction='both'\)"
        ):
            metric(name)
