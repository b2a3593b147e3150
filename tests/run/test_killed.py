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

# Seven processes a test.
pytestmark = [pytest.mark.slow, pytest.mark.nightly]

KILLS = ((0.75, 1.0),), ((0.02, 0.25), (0.1, 0.35), (0.15, 0.4))
"""Two runs that are killed: once near the end; three times, early, after every resumption.

Each kill comes before a write drawn between these shares of the writes of a calm run. A resumed run
makes fewer of them, so later kills come earlier.
"""

_TABLES = (
    "run.json",
    "scores.parquet",
    "thumbs/000000.jpg",
    "thumbs/000005.jpg",
)


def contents(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    """The files of a run that hold its results."""
    return {name: (folder / name).read_bytes() for name in names}


def paid(log: Path) -> Counter[str]:
    """Return the number of times that each question was asked."""
    return Counter(log.read_text("utf-8").split("\n")[:-1])


def killed_like_calm(
    folder: Path,
    prepare: Callable[[Path], object],
    command: Sequence[str],
    files: Sequence[str],
    *,
    in_flight: int,
) -> None:
    """Run a command calmly and killed; it writes the run ``run`` and notes calls in ``log``.

    Args:
        folder: Where each run gets a folder of its own.
        prepare: Writes the data into a folder.
        command: The command.
        files: Files of the run that must be the same.
        in_flight: Calls that a kill may interrupt.
    """
    rng = random.Random(1)
    calm = _folder(folder / "calm", prepare)
    n_writes = killing.command(*command, folder=calm)
    once = paid(calm / "log")
    assert set(once.values()) == {1}
    for number, kills in enumerate(KILLS):
        killed = _folder(folder / f"killed-{number}", prepare)
        n_killed = 0
        for low, high in kills:
            at = rng.randrange(int(low * n_writes) + 1, int(high * n_writes))
            n_killed += (
                killing.command(*command, kill_at=at, folder=killed) == 0
            )
        assert n_killed == len(kills), "a run ended before its kill"
        killing.command(*command, folder=killed)
        assert contents(killed / "run", files) == contents(calm / "run", files)
        again = paid(killed / "log")
        assert set(again) == set(once)
        assert (again - once).total() <= len(kills) * in_flight


def _folder(folder: Path, prepare: Callable[[Path], object]) -> Path:
    folder.mkdir()
    prepare(folder)
    return folder


def test_a_killed_ranking_resumes_with_the_same_files(tmp_path: Path) -> None:
    scorer = "response(judge=reviewer(model='m', log='log'), orders=2)"
    command = (
        "rank",
        "r.jsonl",
        "-s",
        scorer,
        "-s",
        "length",
        "-o",
        "run",
        "--concurrency",
        "2",
    )
    killed_like_calm(
        tmp_path,
        lambda folder: write_reviews(folder / "r.jsonl", 8),
        command,
        (
            "run.json",
            "ranking.json",
            "ranks.csv",
            "scores.parquet",
            "report.html",
        ),
        in_flight=2,
    )


def test_killed_captions_resume_with_the_same_files(tmp_path: Path) -> None:
    judge = "story('steady', log='log')"
    command = (
        "caption",
        "run/img",
        "--judge",
        judge,
        "-o",
        "run/c.jsonl",
        "--concurrency",
        "2",
    )
    killed_like_calm(
        tmp_path,
        lambda folder: make_collection(folder / "run", n=6),
        command,
        ("c.jsonl", *(f"c.jsonl.run/{name}" for name in _TABLES)),
        in_flight=2,
    )


def test_killed_reviews_resume_with_the_same_files(tmp_path: Path) -> None:
    judge = "reviewer('m', log='log')"
    command = (
        "review",
        "data/img",
        "--judge",
        judge,
        "-o",
        "run",
        "--concurrency",
        "2",
    )
    killed_like_calm(
        tmp_path,
        lambda folder: make_collection(folder / "data", n=6),
        command,
        ("reviews.jsonl", *_TABLES),
        in_flight=2,
    )


def _photos(folder: Path) -> None:
    make_collection(folder / "data", 20)
    write_narratives(folder / "s.jsonl", 2, 20)


def test_a_study_of_narratives(tmp_path: Path) -> None:
    command = (
        "narrate", "compare", "s.jsonl", "--pictures", "data/index.csv",
        "--embedder", "npz:data/vectors.npz", "--by", "captions", "--by", "sight",
        "--by", "hybrid", "--by", "transitions", "--judge", "story(model='steady', log='log')", "-o", "run",
        "--judges", "2", "--concurrency", "2",
    )  # fmt: skip
    killed_like_calm(
        tmp_path,
        _photos,
        command,
        (
            *(
                "run.json",
                "study.json",
                "theta.npz",
                "scores.parquet",
                "units.parquet",
            ),
            *("report.html", "thumbs/000000.jpg"),
        ),
        in_flight=1,  # the toy answers one call at a time
    )
