"""Captions, categories and translations: one thing is asked of each row, and rows come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from beholder.data import to_row
from beholder.errors import ConfigError, DataError
from beholder.options import DataOptions, JudgeOptions, WorkOptions
from beholder.records import Item
from beholder.run import ROWS
from beholder.run.inputs import Input
from beholder.run.plan import RunPlan
from beholder.run.rows.askers import RowAsker, RowColumns
from beholder.run.rows.engine import GenerationRun, Written, plan_making, run_making, usual
from beholder.run.rows.generators import GeneratedText
from beholder.run.rows.inputs import read_pictured, rebased, root_of
from beholder.run.session import Engine, Progress, RunContext
from beholder.run.subjects import ITEM


@dataclass(frozen=True)
class RowsConfig:
    """What to ask of rows, and where to write what comes out.

    Attributes:
        data: A folder of pictures, or a data file whose rows need no text.
        out: The JSONL file to write; the run directory is ``OUT.run``.
        systems: What is asked, by the name of the system that is asked.
        columns: Group columns that rows get.
        rows: Which rows are taken.
        judging: How judges are asked.
        work: How much at once, what is kept, what may be spent.

    Raises:
        ConfigError: No judge was named.
    """

    data: str
    out: Path
    systems: Mapping[str, RowAsker]
    columns: RowColumns = field(default_factory=RowColumns)
    rows: DataOptions = field(default_factory=DataOptions)
    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)

    def __post_init__(self) -> None:
        if not self.systems:
            raise ConfigError("no judge was named; give one, such as --judge openai:MODEL")

    @property
    def run(self) -> Path:
        """The run directory."""
        return self.out.with_name(f"{self.out.name}.run")


def run_rows(config: RowsConfig, progress: Progress, engine: Engine | None = None) -> Written:
    """Ask what is missing, and write the rows; errors as ``engine.run_making``."""
    before = config.out.with_name(f"{config.out.name}.answers")  # until 0.1: answers alone
    if before.is_dir() and not config.run.exists():
        before.rename(config.run)
    return run_making(_making(config), progress, engine)


def plan_rows(config: RowsConfig) -> RunPlan:
    """Read all input and report what the run would ask; errors as ``engine.plan_making``."""
    return plan_making(_making(config))


def _making(config: RowsConfig) -> GenerationRun[Item]:
    def row(
        item: Item, system: str, parts: Sequence[GeneratedText], judge: str
    ) -> Mapping[str, Any]:
        return to_row(config.systems[system].row(item, parts, system, judge, config.columns))

    return GenerationRun(
        kind=ROWS,
        folder=config.run,
        out=config.out,
        data=config.data,
        rows=config.rows,
        means=RunContext(config.judging, usual(config.work), config.out.parent),
        subjects=ITEM,
        read=lambda: _read(config),
        source=_input(config),
        picture=lambda item: item.images[0] if item.images else None,
        systems=config.systems,
        row=row,
    )


def _input(config: RowsConfig) -> Input | None:
    """The data file; images are named relative to the output, so its folder is part of the key."""
    path = Path(config.data)
    if not path.is_file():
        return None
    folders = (path.parent, config.out.parent)
    return Input(path, config.rows, tuple(str(folder.absolute()) for folder in folders))


def _read(config: RowsConfig) -> Iterator[Item | DataError]:
    """Rows with their images relative to the output's folder."""
    root, folder = root_of(config.data), config.out.parent
    for row in read_pictured(config.data, config.rows):
        if isinstance(row, Item):
            row = replace(row, images=tuple(rebased(image, root, folder) for image in row.images))
        yield row
