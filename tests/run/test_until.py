"""``score --until``: pictures in random order, until an interval that may be looked at is narrow."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from beholder import metrics
from beholder.errors import ConfigError
from beholder.kinds.scores.engine import Reached
from beholder.kinds.scores.gates import parse_until
from beholder.records import Interval
from beholder.run.store import Store
from toy.cases import each_case
from toy.command import Cli


def rows(n: int = 400, texts: int = 1) -> list[dict[str, Any]]:
    """Seven of ten pictures have texts that are their reference, the others share no word."""
    return [
        {
            "id": f"{n}-{text}",
            "candidate": "a red boat" if n % 10 < 7 else "two grey cats",
            "references": ["a red boat"],
            "images": [f"{n}.jpg"],
        }
        for n in range(n)
        for text in range(texts)
    ]


def data(path: Path, some: list[dict[str, Any]]) -> Path:
    path.write_text(
        "".join(f"{json.dumps(row)}\n" for row in some), encoding="utf-8"
    )
    return path


def scored(run: Path) -> dict[str, float]:
    with Store.read(run) as store:
        ids = [item.id for _, item in store.items()]
        return {
            ids[place]: values["rouge_l"]
            for place, values in store.values("rouge")
        }


def until(cli: Cli, data_path: Path, out: Path, goal: str) -> str:
    arguments = [
        "score",
        str(data_path),
        "-m",
        "rouge",
        "--until",
        goal,
        "-o",
        str(out),
    ]
    done = cli(*arguments, "--no-report")
    assert done.code == 0, done.err
    return done.out


def test_it_stops_where_the_interval_is_narrow_and_holds_the_mean(
    cli: Cli, tmp_path: Path
) -> None:
    output = until(
        cli, data(tmp_path / "a.jsonl", rows()), tmp_path / "run", "rouge=0.12"
    )
    scores = scored(tmp_path / "run")
    assert 40 < len(scores) < 400
    line = next(
        line for line in output.splitlines() if "narrow enough" in line
    )
    low, high = (float(word) for word in line.replace("│", " ").split()[2:4])
    assert line.replace("│", " ").split()[4:6] == [
        str(len(scores)),
        str(400 - len(scores)),
    ]
    assert low < 0.7 < high
    assert high - low <= 0.24 + 1e-9
    assert (
        0.5 < sum(scores.values()) / len(scores) < 0.9
    )  # a random part, not the first rows


def test_the_order_of_the_rows_is_nothing_to_it(
    cli: Cli, tmp_path: Path
) -> None:
    mixed = rows()
    random.Random(3).shuffle(mixed)
    until(
        cli, data(tmp_path / "a.jsonl", rows()), tmp_path / "a", "rouge=0.15"
    )
    until(cli, data(tmp_path / "b.jsonl", mixed), tmp_path / "b", "rouge=0.15")
    assert scored(tmp_path / "a") == scored(tmp_path / "b")


def test_a_run_that_goes_on_ends_where_another_does(
    cli: Cli, tmp_path: Path
) -> None:
    data_path = data(tmp_path / "a.jsonl", rows())
    until(cli, data_path, tmp_path / "a", "rouge=0.2")
    fewer = scored(tmp_path / "a")
    until(cli, data_path, tmp_path / "a", "rouge=0.12")
    until(cli, data_path, tmp_path / "b", "rouge=0.12")
    assert fewer.items() < scored(tmp_path / "a").items()
    parts = [(tmp_path / run / "scores.parquet").read_bytes() for run in "ab"]
    assert parts[0] == parts[1]


def test_pictures_are_scored_with_all_their_texts(
    cli: Cli, tmp_path: Path
) -> None:
    data_path = data(tmp_path / "a.jsonl", rows(texts=2))
    until(cli, data_path, tmp_path / "run", "rouge=0.15")
    pictures = [name.split("-")[0] for name in scored(tmp_path / "run")]
    assert all(pictures.count(picture) == 2 for picture in pictures)
    assert len(set(pictures)) < 400


def test_data_that_are_too_few_are_scored_whole(
    cli: Cli, tmp_path: Path
) -> None:
    data_path = data(tmp_path / "a.jsonl", rows(60))
    output = until(cli, data_path, tmp_path / "run", "rouge=0.01")
    assert "all scored, still wider" in output
    assert len(scored(tmp_path / "run")) == 60


@each_case(
    ("goal", "reason"),
    [
        ("rouge", "expected METRIC=NUMBER"),
        ("rouge=0", "expected a positive width"),
        ("rouge=0.5", "expected a width between 0.001 and 0.5"),
        ("rouge=0.001", "expected a width between"),
        ("length=1", "length.words is not a mean of numbers between"),
        ("vcs=0.1", "the run has no metric 'vcs'"),
        (
            "bleu.corpus_bleu=0.1",
            "is not a mean of numbers between two limits; use --limit",
        ),
    ],
)
def test_a_goal_that_no_interval_can_reach_is_refused(
    goal: str, reason: str
) -> None:
    scored = [metrics.metric(name) for name in ("rouge", "bleu", "length")]
    with pytest.raises(ConfigError, match=reason) as raised:
        parse_until(goal, scored)
    assert str(raised.value).startswith(f"--until {goal!r}: ")


def test_an_interval_is_narrow_from_half_the_width_on() -> None:
    reached = Reached(Interval(0.25, 0.75), 10, 100)
    assert reached.is_narrow(0.25)
    assert not reached.is_narrow(0.24)


def test_an_interval_of_just_the_width_is_narrow() -> None:
    reached = Reached(Interval(0.25, 0.75, 0.95), 10, 20)
    assert reached.is_narrow(0.25)
    assert not reached.is_narrow(0.125)
