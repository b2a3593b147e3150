"""Values that tell nothing for the data at hand are told in the result, the summary and the page."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import beholder
from beholder import Item
from beholder.kinds.scores.page import write_report
from beholder.metrics import metric
from beholder.report import summary_table
from beholder.report.study_tables import TerminalTable
from beholder.run import manifest

# Two items of 60 words against 5 (a gap of 55: a Gaussian of exp(-55 ** 2 / 72) = 6e-19 at most)
# and one of equal length that shares two of its words.
LONG = " ".join(f"word{i}" for i in range(60))
ITEMS = [
    Item("a", LONG, ("word1 word2 word3 word4 word5",)),
    Item("b", f"{LONG} more", ("word7 word8 word9 word10 word11",)),
    Item("c", "one red cat", ("one red dog",)),
]
CAUTION = (
    "2 of 3 below 1e-06: document frequencies of one text a picture; texts 35 words longer or"
    " shorter than their reference count as 0"
)


def test_the_gap_that_is_told_is_where_the_gaussian_brings_the_best_score_below() -> (
    None
):
    assert 10 * math.exp(-(35**2) / 72) < 1e-6 < 10 * math.exp(-(34**2) / 72)


def test_tiny_values_stand_in_result_summary_and_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = beholder.score(ITEMS, ["cider_d", "cider"], out=tmp_path / "run")
    assert run.summary["cider_d"].cautions == (CAUTION,)
    assert run.summary["cider"].cautions == ()  # it does not look at lengths
    assert beholder.Run(run.path).manifest["summary"][0]["cautions"] == [
        CAUTION
    ]
    Console(width=120).print(
        TerminalTable(summary_table(manifest.read_log(run.path)))
    )
    assert "caution: 2 of 3 below 1e-06" in " ".join(
        capsys.readouterr().out.split()
    )
    assert f"Caution: {CAUTION}" in write_report(run.path).read_text("utf-8")


def test_several_references_are_no_reason() -> None:
    items = [Item(i.id, i.candidate, (*i.references, "a dog")) for i in ITEMS]
    prepared_metric = metric("cider_d").prepare(items)
    assert prepared_metric.cautions(
        {"cider_d": np.array([0.0, 1e-7, 0.4])}
    ) == (
        "2 of 3 below 1e-06: texts 35 words longer or shorter than their reference count as 0",
    )
    assert (
        prepared_metric.cautions({"cider_d": np.array([2e-6, 1e-6, 0.4])})
        == ()
    )


def test_a_tenth_of_tiny_values_is_not_told() -> None:
    prepared_metric = metric("cider_d").prepare(ITEMS)
    assert (
        prepared_metric.cautions({"cider_d": np.array([0.0, *range(1, 10)])})
        == ()
    )
    assert (
        len(
            prepared_metric.cautions(
                {"cider_d": np.array([0.0, 0.0, *range(1, 10)])}
            )
        )
        == 1
    )


@pytest.mark.parametrize(
    ("values", "cautions"),
    [
        (
            [0.5, 0.5, 0.5],
            ("all 3 values of f1 are 0.5: it separates no texts",),
        ),
        ([0.5, 0.5, 0.6], ()),
        ([0.5, 0.5], ()),
        ([], ()),
    ],
)
def test_equal_values_are_told(
    values: list[float], cautions: tuple[str, ...]
) -> None:
    assert (
        metric("token_f1").cautions(
            {"f1": np.array(values), "precision": np.zeros(9)}
        )
        == cautions
    )
