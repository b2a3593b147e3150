"""Do a task for each row with each judge, and write the rows that come out.

Answers are in the store beside the output before they are used, so a run that is killed at any
moment goes on where it was, and a second run asks nothing. The output is written whole at the end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from beholder.aio import bounded, run_sync
from beholder.data import to_row
from beholder.errors import ConfigError, ItemError, TransientError
from beholder.files import replacing
from beholder.judges import Judge, Tally, judge
from beholder.records import Item, ItemFailure, ItemScore
from beholder.run.answers import run_answers
from beholder.run.rows.inputs import rebased
from beholder.run.rows.tasks import Task
from beholder.run.session import Progress
from beholder.run.store import locked

Made: TypeAlias = Item | ItemFailure

_DONE = ItemScore({})


@dataclass(frozen=True)
class RowsConfig:
    """A task over rows.

    Attributes:
        out: The JSONL file to write; answers are kept in a folder beside it.
        root: Folder that image paths of the items are relative to.
        judges: Spec per name of a system.
        judge_options: Options of all judges that are no part of a spec.
        concurrency: Rows that wait for judges at once.
        max_cost: US dollars that all starts together may spend, or None.
        cache: File of the answers that all runs share, or None.
    """

    out: Path
    root: Path
    judges: Mapping[str, str]
    judge_options: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int = 16
    max_cost: float | None = None
    cache: Path | None = None

    def __post_init__(self) -> None:
        if not self.judges:
            raise ConfigError("no judge was named; give one, such as --judge openai:MODEL")
        if self.concurrency < 1:
            raise ConfigError(f"--concurrency must be at least 1, got {self.concurrency}")

    @property
    def answers(self) -> Path:
        """Folder of the answers."""
        return self.out.with_name(f"{self.out.name}.answers")


@dataclass(frozen=True)
class Outcome:
    """What became of the rows.

    Attributes:
        n_written: Rows in the output.
        failures: Item id, system and reason, for rows that are not in it.
        outside: Whether image paths had to be written as absolute ones.
    """

    n_written: int
    failures: tuple[tuple[str, str, ItemFailure], ...]
    outside: bool


def carry_out(config: RowsConfig, task: Task, items: Sequence[Item], progress: Progress) -> Outcome:
    """Do a task for all rows, or go on with it.

    Raises:
        ConfigError: A judge cannot be made, or cannot do what is asked.
        RunError: Another process writes there, or the budget is spent.
        KeyboardInterrupt: Passed on, after the store has all answers.
    """
    with (
        locked(config.answers),
        run_answers(config.answers, config.cache, config.max_cost) as (answers, budget),
    ):
        judges = {
            name: judge(spec, answers=answers, budget=budget, **config.judge_options)
            for name, spec in config.judges.items()
        }
        identities = {name: made.identity for name, made in judges.items()}
        progress.start(len(items) * len(judges), 0)
        made = run_sync(_all(config, task, items, judges, progress))
    return _write(config, task, items, made, identities)


def tally_calls(
    config: RowsConfig, task: Task, items: Sequence[Item]
) -> tuple[Tally, dict[str, int]]:
    """What a task would ask, from typical answers, and how many rows are sure to fail, by reason.

    Raises:
        ConfigError: A judge cannot be made.
    """
    tally, lacking = Tally(), dict[str, int]()
    judges = {
        name: judge(spec, tally=tally, **config.judge_options)
        for name, spec in config.judges.items()
    }
    made = run_sync(_all(config, task, items, judges, _Unheard()))
    for outcome in made.values():
        if isinstance(outcome, ItemFailure):
            lacking[outcome.message] = lacking.get(outcome.message, 0) + 1
    return tally, lacking


class _Unheard:
    def start(self, total: int, reused: int) -> None:
        """See ``Progress``."""

    def advance(self, outcome: ItemScore | ItemFailure) -> None:
        """See ``Progress``."""


async def _all(
    config: RowsConfig,
    task: Task,
    items: Sequence[Item],
    judges: Mapping[str, Judge],
    progress: Progress,
) -> dict[tuple[int, str], Made]:
    async def one(job: tuple[int, str]) -> Made:
        position, system = job
        try:
            return await task.make(items[position], judges[system], system)
        except ItemError as error:
            return ItemFailure(type(error).__name__, str(error), isinstance(error, TransientError))

    jobs = ((position, system) for position in range(len(items)) for system in judges)
    found: dict[tuple[int, str], Made] = {}
    async for job, made in bounded(one, jobs, config.concurrency):
        found[job] = made
        progress.advance(made if isinstance(made, ItemFailure) else _DONE)
    return found


def _write(
    config: RowsConfig,
    task: Task,
    items: Sequence[Item],
    made: Mapping[tuple[int, str], Made],
    identities: Mapping[str, str],
) -> Outcome:
    failures, n_written, outside = [], 0, False
    folder = config.out.parent
    folder.mkdir(parents=True, exist_ok=True)
    with (
        replacing(config.out) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="\n") as lines,
    ):
        for position, item in enumerate(items):
            for system, identity in identities.items():
                row = made[position, system]
                if isinstance(row, ItemFailure):
                    failures.append((item.id, system, row))
                    continue
                images = tuple(rebased(image, config.root, folder) for image in row.images)
                outside |= any(Path(image).is_absolute() for image in images)
                how = {"judge": identity, **task.settings()}
                row = replace(row, images=images, meta={**row.meta, task.operation: how})
                lines.write(json.dumps(to_row(row), ensure_ascii=False, allow_nan=False) + "\n")
                n_written += 1
    return Outcome(n_written, tuple(failures), outside)
