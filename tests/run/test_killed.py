"""Every kind of run, killed before any write it makes, ends as a calm run and pays nothing twice."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from toy import killing
from toy.photos import make_collection, write_narratives
from toy.reviewer import write_reviews

pytestmark = pytest.mark.slow  # six processes a test

N_KILLS = 4

_TABLES = ("run.json", "scores.parquet", "thumbs/000000.jpg", "thumbs/000005.jpg")


def contents(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    """The files of a run that hold its results."""
    return {name: (folder / name).read_bytes() for name in names}


def paid(log: Path) -> Counter[str]:
    """How often each question was asked."""
    return Counter(log.read_text("utf-8").split("\n")[:-1])


def killed_like_calm(
    folder: Path,
    prepare: Callable[[Path], object],
    command: Sequence[str],
    files: Sequence[str],
    *,
    in_flight: int,
    seed: int,
) -> None:
    """Run a command calmly and killed; it writes the run ``run`` and notes calls in ``log``.

    Args:
        folder: Where both runs get a folder of their own.
        prepare: Writes the data into a folder.
        command: The command.
        files: Files of the run that must be the same.
        in_flight: Calls that a kill may interrupt.
        seed: Of the moments.
    """
    calm, killed = folder / "calm", folder / "killed"
    for one in (calm, killed):
        one.mkdir()
        prepare(one)
    n_writes = killing.command(*command, folder=calm)
    rng = random.Random(seed)
    for _ in range(N_KILLS):
        killing.command(*command, kill_at=rng.randrange(1, n_writes), folder=killed)
    killing.command(*command, folder=killed)
    assert contents(killed / "run", files) == contents(calm / "run", files)
    once, again = paid(calm / "log"), paid(killed / "log")
    assert set(once.values()) == {1}
    assert set(again) == set(once)
    assert (again - once).total() <= N_KILLS * in_flight


@pytest.mark.parametrize("seed", [1, 2])
def test_a_ranking(tmp_path: Path, seed: int) -> None:
    scorer = "response(judge=reviewer(model='m', log='log'), orders=2)"
    command = ("rank", "r.jsonl", "-s", scorer, "-s", "length", "-o", "run", "--concurrency", "2")
    killed_like_calm(
        tmp_path,
        lambda folder: write_reviews(folder / "r.jsonl", 8),
        command,
        ("run.json", "ranking.json", "ranks.csv", "scores.parquet", "report.html"),
        in_flight=2,
        seed=seed,
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_captions(tmp_path: Path, seed: int) -> None:
    judge = "story('steady', log='log')"
    command = ("caption", "run/img", "--judge", judge, "-o", "run/c.jsonl", "--concurrency", "2")
    killed_like_calm(
        tmp_path,
        lambda folder: make_collection(folder / "run", n=6),
        command,
        ("c.jsonl", *(f"c.jsonl.run/{name}" for name in _TABLES)),
        in_flight=2,
        seed=seed,
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_reviews(tmp_path: Path, seed: int) -> None:
    judge = "reviewer('m', log='log')"
    command = ("review", "data/img", "--judge", judge, "-o", "run", "--concurrency", "2")
    killed_like_calm(
        tmp_path,
        lambda folder: make_collection(folder / "data", n=6),
        command,
        ("reviews.jsonl", *_TABLES),
        in_flight=2,
        seed=seed,
    )


def _photos(folder: Path) -> None:
    make_collection(folder / "data", 20)
    write_narratives(folder / "s.jsonl", 2, 20)


@pytest.mark.parametrize("seed", [3, 4])
def test_a_study_of_narratives(tmp_path: Path, seed: int) -> None:
    command = (
        "narrate", "compare", "s.jsonl", "--pictures", "data/index.csv",
        "--embedder", "npz:data/vectors.npz", "--by", "captions", "--by", "hybrid",
        "--by", "transitions", "--judge", "story(model='steady', log='log')", "-o", "run",
        "--judges", "2", "--concurrency", "2",
    )  # fmt: skip
    killed_like_calm(
        tmp_path,
        _photos,
        command,
        (
            *("run.json", "study.json", "theta.npz", "scores.parquet", "units.parquet"),
            *("report.html", "thumbs/000000.jpg"),
        ),
        in_flight=1,  # the toy answers one call at a time
        seed=seed,
    )
