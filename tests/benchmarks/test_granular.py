"""DOCENT's granular protocol on tiny files of our own in the published form; values by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beholder.errors import ConfigError
from beholder.kinds.agreement.granular import GranularFinding, granular
from beholder.kinds.agreement.load import JudgedSet, load
from beholder.kinds.scores.engine import ScoreConfig
from beholder.records import Item
from beholder.run.session import Quiet
from toy.command import Done, runner
from toy.digits import Digits

ROWS: list[dict[str, Any]] = [
    {
        # scores .9 .1 .5 and the highest of .1 and .9; "the" stands in no unit
        "generation": "a9 b1, c5 d19 the.",
        "mistakes": [{"start": 3, "end": 5, "text": "b1"}],
        "reference": "x9 y2 z9",
        "omissions": [{"start": 3, "end": 5}],
    },
    {
        "generation": "e2 f8",
        "mistakes": [{"start": 0, "end": 5}],
        "reference": "u9 v3",
        "omissions": [],
    },
]

SIX = ROWS * 3
"""Enough pictures for an interval, whose absence is a reason of its own.

One resample in 64 draws the second row alone, all of which is marked, so that there is no F1.
"""


def table(folder: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    """Rows as the hub has them: spans are lists written as JSON."""
    full_row = [
        {
            "uuid": f"u{i}",
            "model": "m",
            **row,
            "mistakes": json.dumps(row["mistakes"]),
            "omissions": json.dumps(row["omissions"]),
        }
        for i, row in enumerate(rows)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(full_row), folder / "test.parquet")
    return folder


def granular_findings(
    folder: Path, *metrics: Digits, rows: list[dict[str, Any]] = ROWS
) -> list[GranularFinding]:
    judged = load("docent_granular", str(table(folder / "data", rows)))
    config = ScoreConfig(judged.name, (), folder / "run")
    return list(
        granular(judged, metrics, config, Quiet(), n_resamples=50).findings
    )


def test_figures_of_mistakes_by_hand(tmp_path: Path) -> None:
    mistakes = granular_findings(tmp_path, Digits())[0]
    # Words that are wrong: .1 .2 .8; right: .9 .5 .9 and one that never alerts. Below .9: 3 hits,
    # 1 false alert, 3 rightly quiet; F1 of both classes 6/7. Below .5: 4/5 and 8/9, which is less.
    assert (mistakes.label, mistakes.metric) == ("mistakes", "digits")
    assert mistakes.alerts is not None
    assert mistakes.alerts.threshold == 0.9
    assert mistakes.alerts.f1 == pytest.approx(6 / 7)
    assert mistakes.precision.value == 3 / 4
    assert mistakes.recall.value == 1.0
    assert mistakes.f1.value == pytest.approx(6 / 7)
    # Runs: "b1, c5", half of which is b1; "e2 f8".
    assert mistakes.spans is not None
    assert mistakes.spans.f1 == 1.0
    # The first by the second's threshold (above .8): b1 and, wrongly, c5. The second by the first's
    # (.5): e2, not f8. 2 hits, 1 false, 1 missed, 3 quiet: 4/6 and 6/8.
    assert mistakes.held_out is not None
    assert mistakes.held_out.f1 == pytest.approx((4 / 6 + 6 / 8) / 2)


def test_omissions_are_compared_on_the_reference_side(
    tmp_path: Path,
) -> None:
    omissions = granular_findings(tmp_path, Digits())[2]
    assert omissions.label == "omissions"
    assert omissions.alerts is not None
    # y2 is wrong, x9 z9 u9 v3 are right: below .3 all is as marked.
    assert (omissions.alerts.f1, omissions.alerts.threshold) == (1.0, 0.3)
    assert (omissions.precision.value, omissions.recall.value) == (1.0, 1.0)


def test_random_scores_have_a_finding_of_their_own(tmp_path: Path) -> None:
    findings = granular_findings(tmp_path, Digits())
    assert [f.metric for f in findings] == ["digits", "random scores"] * 2


def test_verdicts_do_where_there_are_no_scores(tmp_path: Path) -> None:
    mistakes = granular_findings(tmp_path, Digits(tells="verdict"))[0]
    # Below 1: b1 and e2 alert, f8 does not.
    assert mistakes.precision.value == 1.0
    assert mistakes.recall.value == pytest.approx(2 / 3)


def test_a_metric_without_units_is_refused_with_a_reason_per_side(
    tmp_path: Path,
) -> None:
    finding_without_units = granular_findings(
        tmp_path / "a", Digits(tells="nothing")
    )[0]
    assert finding_without_units.alerts is None
    assert (
        finding_without_units.reason
        == "gives no units with a place in the candidate and a score or verdict"
    )
    one_side = granular_findings(
        tmp_path / "b", Digits(sides="candidate"), rows=SIX
    )
    assert one_side[0].reason is None
    assert one_side[2].reason is not None
    assert "in the reference" in one_side[2].reason


def test_items_without_a_score_are_left_out_and_counted(
    tmp_path: Path,
) -> None:
    rows = [*ROWS, {**ROWS[0], "generation": "fails1", "mistakes": []}]
    mistakes = granular_findings(tmp_path / "a", Digits(), rows=rows)[0]
    assert (mistakes.n_items, mistakes.n_missing) == (2, 1)
    assert mistakes.alerts is not None
    assert mistakes.alerts.threshold == 0.9
    nobody = granular_findings(tmp_path / "b", Digits(), rows=rows[2:])[0]
    assert (nobody.n_missing, nobody.reason) == (1, "no item has a score")


def test_without_any_mark_there_is_no_figure(tmp_path: Path) -> None:
    rows = [{**row, "mistakes": []} for row in ROWS]
    mistakes = granular_findings(tmp_path, Digits(), rows=rows)[0]
    assert mistakes.alerts is not None
    assert mistakes.alerts.f1 is None
    assert mistakes.reason is not None
    assert "there are no two classes" in mistakes.reason
    assert mistakes.recall.value is None


@pytest.mark.usefixtures("two_sources_are_enough")
def test_intervals_resample_pictures(tmp_path: Path) -> None:
    twice = [
        {**row, "model": f"m{i}", "uuid": "same"} for i, row in enumerate(ROWS)
    ]
    mistakes = granular_findings(tmp_path / "a", Digits(), rows=twice)[0]
    assert mistakes.alerts is not None
    assert mistakes.alerts.interval is None, "one picture: nothing to resample"
    assert mistakes.held_out is None
    two_pictures = granular_findings(tmp_path / "b", Digits())[0]
    assert two_pictures.precision.interval is not None
    # The precision of each picture alone bounds what resampling pictures can give: 1/2 and 1.
    assert (
        0.5
        == two_pictures.precision.interval.low
        < two_pictures.precision.interval.high
        == 1.0
    )


def test_a_set_without_marks_is_an_error(tmp_path: Path) -> None:
    judged = JudgedSet(
        "docent_granular", True, (Item("a", "b", ("c",), judgments={"x": 1}),)
    )
    with pytest.raises(ConfigError, match="no item has marked spans"):
        granular(
            judged, [Digits()], ScoreConfig("d", (), tmp_path / "run"), Quiet()
        )


def test_the_command_prints_metrics_and_refusals(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    cli = runner(monkeypatch, capsys, "agree", "docent_granular")

    def command(*more: str) -> Done:
        data = str(table(tmp_path / "data", SIX))
        return cli(
            "--data",
            data,
            "-o",
            str(tmp_path / "run"),
            "--resamples",
            "20",
            *more,
        )

    result = command("-m", "ngram_embed", "-m", "rouge", "--json")
    assert result.code == 0, result.err
    rows = json.loads(result.out)["findings"]
    assert [
        (row["label"], row["metric"], row["reason"] is None) for row in rows
    ] == [
        (label, name, name != "rouge")
        for label in ("mistakes", "omissions")
        for name in ("ngram_embed", "rouge", "random scores")
    ]
    printed = command("-m", "ngram_embed")
    words = " ".join(printed.out.split())
    assert "mistakes ngram_embed macro F1" in words
    assert "an upper bound" in words
    refused = command()
    assert refused.code == 2
    assert "docent_granular needs a metric that gives units" in refused.err
