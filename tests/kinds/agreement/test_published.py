"""Published figures beside one's own."""

from __future__ import annotations

from beholder.kinds.agreement.page_tables import published_of, read_figures
from beholder.kinds.agreement.protocols import PROTOCOLS
from beholder.kinds.agreement.results import (
    AgreementResult,
    MeasureData,
    MeasureResult,
    MetricAgreement,
)


def test_each_figure_has_a_protocol_and_a_source() -> None:
    figures = read_figures()
    assert len(figures) == 93
    # A figure is there once: two rows of one metric and measure have different sources or splits.
    keys = [
        tuple(
            row.get(key)
            for key in ("set", "measure", "metric", "source", "split")
        )
        for row in figures
    ]
    assert len(set(keys)) == len(keys)
    problems = []
    for row in figures:
        measures = {measure.name for measure in PROTOCOLS[row["set"]]}
        is_complete = (
            (
                row.get("measure") in measures
                or ("measure" not in row and row["differs"])
            )
            and row["split"]
            and row["ties"]
            and -1 <= row["value"] <= 1
            and row["references"] in ("yes", "no")
            and row["source"]
            and 2000 < row["year"] < 2027
        )
        if not is_complete:
            problems.append(row)
    assert not problems


def own_result(name: str, measure: str, n: int = 16_992) -> AgreementResult:
    row = MetricAgreement(
        metric="accord", value="accord", agreement=0.57, low=0.55, high=0.6, n=n, n_missing=0,
        n_sources=9, reason=None, categories={},
    )  # fmt: skip
    measure_result = MeasureResult(
        name=measure,
        metrics=(row,),
        differences=(),
        data=MeasureData((), (), (), ()),
    )
    return AgreementResult(
        name=name,
        n_items=9,
        n_resamples=9,
        signatures={},
        measures=(measure_result,),
        extra={},
    )


def test_only_the_same_statistic_is_comparable() -> None:
    (table,) = published_of(
        own_result("flickr8k_expert", "tau-c, each rating"), is_whole=True
    )
    figures = {
        row["metric"]: (row["agreement"], row["said"]) for row in table.rows
    }
    assert figures["accord.accord"] == (0.57, "yours")
    assert figures["RefCLIP-S"] == (0.53, "same protocol")
    assert figures["VC-Inspector-7B"] == (
        0.634,
        "not comparable: tau-b, where this measure is tau-c",
    )
    conditions = {
        row["metric"]: (row.get("split"), row.get("ties"))
        for row in table.rows
    }
    assert conditions["accord.accord"] == ("16,992 labels", None)
    assert conditions["RefCLIP-S"] == (
        "all 5,664 pairs, 16,992 ratings",
        "tau-c",
    )
    assert {"split", "ties"} <= {column.key for column in table.columns}
    (part,) = published_of(
        own_result("flickr8k_expert", "tau-c, each rating"), is_whole=False
    )
    assert "same protocol" not in {row["said"] for row in part.rows}
    (half,) = published_of(
        own_result("flickr8k_expert", "tau-c, each rating", n=8_000),
        is_whole=True,
    )
    assert "same protocol" not in {row["said"] for row in half.rows}


def test_sets_without_published_figures_are_not_comparable() -> None:
    (table,) = published_of(
        own_result("mine", "spearman, overall"), is_whole=True
    )
    assert table.rows == ()
    assert table.notes == (
        "Not comparable: we know no published figure of this set.",
    )


def test_coefficients_of_each_rater_are_not_those_of_pooled_ratings() -> None:
    # VATEX-EVAL's public code averages three raters' coefficients.
    (table,) = published_of(
        own_result("vatex_eval", "tau-b, each rating"), is_whole=True
    )
    (row,) = (row for row in table.rows if row["metric"] == "VC-Inspector-7B")
    assert row["agreement"] == 0.426
    assert str(row["said"]).startswith(
        "not comparable: mean over three raters"
    )
