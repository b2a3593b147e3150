"""``beholder plan``: sizes from options and from a run; expected sizes are calculated by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from beholder.records import Item, ItemScore
from toy.command import Cli
from toy.runs import write_run


def planned(cli: Cli, *arguments: str) -> list[dict[str, Any]]:
    done = cli("plan", *arguments, "--json")
    assert done.code == 0, done.err
    rows: list[dict[str, Any]] = json.loads(done.out)
    return rows


def run_of(folder: Path, values: list[list[float]]) -> Path:
    """A run of some pictures with a value for each of their texts."""
    items = [
        Item(f"{n}-{text}", "a boat", ("a boat",), (f"{n}.jpg",))
        for n, values_of_picture in enumerate(values)
        for text in range(len(values_of_picture))
    ]
    scores = [
        ItemScore({"good": value}, (), "toy|v:1", {})
        for values_of_picture in values
        for value in values_of_picture
    ]
    return write_run(folder, items, {"toy": scores})


def test_options_alone_are_enough(cli: Cli) -> None:
    goals = [
        "--width",
        "0.02",
        "--difference",
        "0.03",
        "--kappa",
        "0.1",
        "--labels",
        "0.03",
    ]
    assumptions = [
        "--sd",
        "0.25",
        "--r",
        "0.6",
        "--shares",
        ".4,.1,.1,.4",
        "--judge-r",
        "0.8",
    ]
    rows = planned(cli, *goals, *assumptions)
    assert [row["texts"] for row in rows] == [601, 2 * 437, 246, 105]
    assert [row["pictures"] for row in rows] == [601, 437, None, None]
    assert {row["dollars"] for row in rows} == {None}


@pytest.mark.parametrize(
    # By hand: k r / (1 + (k - 1) r) is 0.8 for four raters of 0.5, and 0.75 for three.
    ("reliability", "single", "raters"),
    [
        ("0.8", "0.5", 4),
        ("0.76", "0.5", 4),
        ("0.75", "0.5", 3),
        ("0.3", "0.5", 1),
    ],
)
def test_plan_computes_the_number_of_annotators_or_repeats(
    cli: Cli, reliability: str, single: str, raters: int
) -> None:
    (row,) = planned(cli, "--reliability", reliability, "--single", single)
    assert row["raters"] == raters
    assert "name --single" in cli("plan", "--reliability", reliability).err
    done = cli("plan", "--reliability", "1", "--single", single)
    assert (done.code, "expected numbers in 0 to 1" in done.err) == (2, True)


def test_a_run_says_how_values_scatter(cli: Cli, tmp_path: Path) -> None:
    # Pictures (.1, .3), (.5, .7): sd .258199, intraclass correlation 14/18, so that a text counts
    # 1/1.7778: (1.959964 x .258199 / .05)^2 = 102.44 -> 182.1 texts.
    run = run_of(tmp_path / "run", [[0.1, 0.3], [0.5, 0.7]])
    (row,) = planned(cli, str(run), "--width", "0.05")
    assert (row["texts"], row["pictures"]) == (183, 92)
    (row,) = planned(cli, str(run), "--width", "0.05", "--icc", "0")
    assert row["texts"] == 103


def test_two_runs_say_how_alike_systems_are(cli: Cli, tmp_path: Path) -> None:
    # Means of pictures differ by .2, 0, .2, 0: sd .11547. ((1.959964 + .841621) x .11547 / .05)^2
    # = 41.86.
    first = run_of(tmp_path / "a", [[0.2], [0.4], [0.6], [0.8]])
    second = run_of(tmp_path / "b", [[0.4], [0.4], [0.8], [0.8]])
    arguments = [str(first), "--against", str(second), "--difference", "0.05"]
    (row,) = planned(cli, *arguments)
    assert row["pictures"] == 42
    assert row["texts"] == 84
    assert "2 systems" not in row["goal"]
    (row,) = planned(cli, *arguments, "--systems", "3")
    assert row["pictures"] > 42
    assert "3 systems" in row["goal"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a goal"),
        (["--width", "0.02"], "name --sd, or a run"),
        (
            ["--difference", "0.02", "--sd", "0.2"],
            r"name --r \(or --against RUN\)",
        ),
        (["--kappa", "0.1"], "expected four shares"),
        (["--labels", "0.1", "--sd", "0.2"], "name --judge-r"),
    ],
)
def test_a_missing_assumption_is_an_error(
    cli: Cli, arguments: list[str], message: str
) -> None:
    done = cli("plan", *arguments)
    assert done.code != 0
    assert message.replace("\\", "") in " ".join(done.err.split())


def test_an_unknown_value_is_refused_with_the_values_of_the_run(
    cli: Cli, tmp_path: Path
) -> None:
    run = run_of(tmp_path / "run", [[0.1], [0.5]])
    done = cli("plan", str(run), "--value", "vcs", "--width", "0.1")
    assert done.code != 0
    assert "the run has no value 'vcs'; it has: toy.good" in done.err


def test_plans_of_an_error_rate(cli: Cli) -> None:
    done = cli(
        "plan", "--error-rate", "0.02", "--texts", "5000", "--expect", "0.0024", "--json",
    )  # fmt: skip
    rows = json.loads(done.out)
    assert [row["texts"] for row in rows[:4]] == [145, 229, 304, 373]
    # 12 of 5,000: C(4988, 145) / C(5000, 145) is the chance of none.
    assert rows[0]["chance"] == pytest.approx(
        math.comb(4988, 145) / math.comb(5000, 145)
    )
    assert rows[1]["goal"].endswith("(default)")
    assert (rows[6]["goal"], rows[6]["texts"]) == (
        "early stop, half of collections",
        173,
    )
    series = cli("plan", "--error-rate", "0.02", "--per-picture", "4", "--icc", "0.3", "--json")  # fmt: skip
    first = json.loads(series.out)[0]
    assert (first["texts"], first["pictures"]) == (284, 71)
    small = json.loads(cli("plan", "--error-rate", "0.02", "--texts", "9", "--json").out)  # fmt: skip
    assert "read all" in small[0]["goal"]
    pairs = cli("plan", "--not-worse-than", "0.03", "--discordant", "0.04", "--json")  # fmt: skip
    assert json.loads(pairs.out)[0]["pictures"] == 349
    for options in (
        ("--error-rate", "2"),
        ("--error-rate", "0.02", "--texts", "0"),
        ("--error-rate", "0.02", "--expect", "1"),
        ("--error-rate", "0.02", "--claims", "0"),
    ):
        assert cli("plan", *options).code == 2
