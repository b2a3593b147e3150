"""How glad texts are: the number of exclamation marks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from beholder.api import Run
from beholder.asking.asker import Asker
from beholder.base.files import write_text
from beholder.data import read_items
from beholder.data.read import good_rows
from beholder.errors import DataError
from beholder.metrics import Tools, ValueInfo
from beholder.options import DataOptions
from beholder.records import Item, ItemScore
from beholder.run import kind, manifest
from beholder.run.kind import ComparisonExtra
from beholder.run.plan import RunPlan, plan
from beholder.run.session import Progress, Quiet, RunContext, Session
from beholder.run.subjects import ITEM
from beholder.tables import Column, Table
from beholder.terminal.printing import print_line, print_plan
from beholder.web.subject_pages import Drawing, SeenSubject


@dataclass(frozen=True)
class Gladness(Asker[Item]):
    """Exclamation marks of a text."""

    registered_name = "gladness"
    values = (ValueInfo("marks", "exclamation marks", high=100),)

    async def evaluate(self, subject: Item, tools: Tools) -> ItemScore:
        """Count them."""
        return ItemScore({"marks": float(subject.candidate.count("!"))})


@dataclass(frozen=True)
class MoodConfig:
    """What to read, and where to keep the run."""

    data: str
    out: Path
    rows: DataOptions = field(default_factory=DataOptions)

    def items(self, bad: list[DataError]) -> Iterator[Item]:
        """The good rows."""
        return good_rows(
            read_items(self.data, self.rows), self.rows, bad, name=self.data
        )


def run_moods(config: MoodConfig, progress: Progress) -> list[DataError]:
    """Score what the run still lacks."""
    bad: list[DataError] = []
    asker = Gladness()
    with Session.open(
        config.out,
        "moods",
        means=RunContext(),
        askers=[asker],
        progress=progress,
    ) as session:
        n, digest = session.take(ITEM, config.items(bad))
        session.add(asker, ITEM, n)
        if session.begin(manifest.Log(config.data, digest, n, len(bad))):
            session.map(*session.asked)
            session.close()
    return bad


def plan_moods(config: MoodConfig) -> RunPlan:
    """Return the questions that the run would ask."""
    bad: list[DataError] = []
    return plan(
        [Gladness()], ITEM, config.items(bad), config.out, RunContext(), bad
    )


def write_page(run_folder: Path, output: Path | None = None) -> Path:
    """The page of a run."""
    target = output or run_folder / "report.html"
    mean = (
        manifest.results(manifest.read_log(run_folder))["gladness"]
        .values["marks"]
        .mean
    )
    write_text(target, f"<!doctype html><title>Moods</title><p>{mean}")
    return target


def draw_item(seen: SeenSubject) -> Drawing:
    """One text in the viewer."""
    return "mood_item.html.j2", {"mood": f"mood of {seen.subject.id}"}


def compare_moods(run_a: Path, run_b: Path) -> ComparisonExtra:
    """Return the tables that ``compare`` shows besides the difference."""
    table = Table(
        "moods",
        "Moods side by side",
        (Column("n", "n", "count"),),
        ({"n": 2},),
    )
    return ComparisonExtra({"moods": 2}, [table])


def command(
    data: str, /, *, out: Path = Path("runs/moods"), dry_run: bool = False
) -> int:
    """Count exclamation marks."""
    config = MoodConfig(data, out)
    if dry_run:
        return print_plan(kind.plan("moods", config), out)
    kind.run("moods", config, Quiet())
    print_line(f"run: {out}")
    return 0


def moods(data: str, out: Path) -> Run:
    """The Python function."""
    kind.run("moods", MoodConfig(data, out), Quiet())
    return Run(out)
