"""Calibration of a decision model in a run with labels: units, and texts, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import beholder
from toy.command import Cli
from toy.planted_decisions import BelievesAllButDogs

JUDGE = BelievesAllButDogs("m").name
TEXTS = ("A dog sits on a mat.", "A cat sits on a mat.")


@pytest.fixture
def cli(cli: Cli) -> Cli:
    rows = [
        {
            "id": str(number),
            "image": f"{number}.jpg",
            "candidate": TEXTS[number % 2],
            "references": ["A cat sits on a mat."],
            "judgments": {
                # People mark the dog, and like every text.
                "mistakes": [[2, 5]] if number % 2 == 0 else [],
                "good": 1,
                "fits": number % 2 == 1,
            },
        }
        for number in range(12)
    ]
    for name, n_rows in (("data.jsonl", 12), ("labels.jsonl", 8)):
        lines = [json.dumps(row) + "\n" for row in rows[:n_rows]]
        Path(name).write_text("".join(lines))
    return cli


def calibration(tables: Any) -> Any:
    (row,) = next(
        table.rows for table in tables if table.name == "calibration"
    )
    return row


def test_probabilities_of_units_are_held_against_marks(cli: Cli) -> None:
    done = cli(
        "score", "data.jsonl", "-m", f"posh(judge='{JUDGE}')", "-o", "run"
    )
    assert done.code == 0, done.err
    tables = (
        beholder.Run(Path("run"))
        .corrected("data.jsonl", label=["posh.unstated_rate=mistakes"])
        .tables
    )
    row = calibration(tables)
    # With the dog: dog .3 and wrong, mat .9 and right, sitting .3 and right; without: thrice .9.
    assert (row["of"], row["n"]) == ("units", 36)
    assert row["brier"] == pytest.approx((0.09 + 0.01 + 0.49 + 3 * 0.01) / 6)
    # .3 for units of which one half is right, and .9 for units that all are.
    assert row["error"] == pytest.approx((2 * 0.2 + 4 * 0.1) / 6)
    assert row["error_low"] <= row["error"] <= row["error_high"]


def test_grades_of_texts_are_held_against_verdicts(cli: Cli) -> None:
    metric = f"prometheus(judge='{JUDGE}')"
    done = cli(
        *("score", "data.jsonl", "-m", metric, "-o", "run"),
        *("--labels", "labels.jsonl", "--label", "good", "--json"),
    )
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["calibration"]
    # Levels 0 to 4: certainly 0, or .1 for it and .225 for the others: 2.25 of 4.
    assert (row["of"], row["n"]) == ("texts", 8)
    assert row["brier"] == pytest.approx((1.0 + 0.4375**2) / 2)
    assert row["error"] == pytest.approx((1.0 + 0.4375) / 2)


def test_agree_prints_it_beside_verdicts_that_the_data_have(cli: Cli) -> None:
    done = cli(
        *("agree", "data.jsonl", "-m", f"prometheus(judge='{JUDGE}')"),
        *("--label", "fits", "--statistic", "verdicts", "--json"),
        *("--no-report", "--no-figures"),
    )
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["calibration"]
    # Texts with a cat fit: 0 for what does not, .5625 for what does.
    assert row["n"] == 12
    assert row["brier"] == pytest.approx((0.0 + 0.4375**2) / 2)


def test_agree_prints_it_beside_the_marks_of_a_set(cli: Cli) -> None:
    lines = Path("data.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    marked = [
        row
        | {
            "dataset": "docent_granular",
            "judgments": {"mistakes": row["judgments"]["mistakes"]},
        }
        for row in rows
    ]
    Path("marked.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in marked)
    )
    done = cli(
        *("agree", "marked.jsonl", "-m", f"posh(judge='{JUDGE}')", "--json"),
        *("--resamples", "100"),
    )
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["calibration"]
    assert (row["of"], row["n"]) == ("units", 36)
    assert row["brier"] == pytest.approx((0.09 + 0.01 + 0.49 + 3 * 0.01) / 6)


def test_a_judge_without_probabilities_has_no_such_table(cli: Cli) -> None:
    assert cli("score", "data.jsonl", "-m", "accord", "-o", "run").code == 0
    tables = (
        beholder.Run(Path("run"))
        .corrected("data.jsonl", label=["accord.accord=good"])
        .tables
    )
    assert "calibration" not in [table.name for table in tables]
