"""What a judge proposes: the findings of a run as parts of judgments, to be kept or mended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from beholder.errors import ConfigError, ItemError
from beholder.kinds.annotation.records import AnnotationUnit
from beholder.kinds.annotation.tasks import Task
from beholder.kinds.annotation.tasks.base import statements_of
from beholder.records import Item, ItemScore
from beholder.run import manifest
from beholder.run.store import Store


def outcomes(run: Path) -> list[Mapping[str, ItemScore]]:
    """Per metric of a run that gives units, its outcomes by id of the item.

    Raises:
        RunError: The folder holds no run of scores.
    """
    manifest.check_kind(run, manifest.SCORES)
    with Store.read(run) as store:
        ids = {position: item.id for position, item in store.items()}
        found: list[Mapping[str, ItemScore]] = []
        for asker in store.askers():
            scores = {name: store.score(asker.name, position) for position, name in ids.items()}
            told = {name: s for name, s in scores.items() if isinstance(s, ItemScore) and s.units}
            if told:
                found.append(told)
    return found


def with_statements(rows: Sequence[Item], run: Path) -> list[Item]:
    """Items with the statements that a run took from them as ``facts``, where they bring none."""
    for told in outcomes(run):
        stated = {name: [u.text for u in statements_of(score)] for name, score in told.items()}
        if any(stated.values()):
            return [
                replace(item, meta={**item.meta, "facts": stated[item.id]})
                if "facts" not in item.meta and stated.get(item.id)
                else item
                for item in rows
            ]
    return list(rows)


def prefilled(task: Task, units: Sequence[AnnotationUnit], run: Path) -> list[AnnotationUnit]:
    """Units with what a run proposes for them, by the first of its metrics that proposes anything.

    Raises:
        ConfigError: The task takes no proposals, or the run has none for these data.
        RunError: The folder holds no run of scores.
    """
    if not task.takes_proposals:
        raise ConfigError(f"{task.name} cannot be filled in by a run; marks and facts can")
    for told in outcomes(run):
        made = [_with(task, unit, told.get(str(unit.row.get("id")))) for unit in units]
        if any(unit.prefill for unit in made):
            return made
    raise ConfigError(
        f"{run} proposes nothing for these data: it must have scored rows of the same ids with a"
        " metric that marks places (posh) or checks statements (dcscore)"
    )


def _with(task: Task, unit: AnnotationUnit, found: ItemScore | None) -> AnnotationUnit:
    if found is None:
        return unit
    proposed: dict[str, Any] = {}
    for part, value in task.proposals(unit, found).items():
        try:
            task.check(unit, part, value)
        except ItemError:  # a place without a word: nobody could have marked it
            continue
        proposed[part] = value
    return replace(unit, prefill=proposed)
