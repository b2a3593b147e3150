"""The units of a study: from a data file, with what a run proposes for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from beholder.data.notes import RowNotes
from beholder.errors import ConfigError, DataError, ItemError
from beholder.kinds.annotation.records import AnnotationUnit
from beholder.kinds.annotation.tasks import TASKS, Task
from beholder.options import DataOptions
from beholder.records import Item, ItemScore
from beholder.run import manifest
from beholder.run.pairs import pair_subjects
from beholder.run.store import Store
from beholder.run.subjects import ITEM


def units_of(
    task: Task,
    data: str,
    options: DataOptions,
    *,
    pictures: str | None = None,
    run: Path | None = None,
    notes: RowNotes | None = None,
    unshown: Counter[str] | None = None,
) -> tuple[list[AnnotationUnit], list[DataError]]:
    """Return the units of a data file, and the errors of rows that were skipped.

    Args:
        task: The task.
        data: A data file.
        options: Selection of rows.
        pictures: File or folder of the pictures that rows name by id.
        run: A run of scores whose outcomes are proposed to annotators.
        notes: Counts what is odd about the rows.
        unshown: Receives how many rows and proposals annotators do not see, by what they are.

    Raises:
        ConfigError: A field of the task is missing in the rows, the task takes no proposals, or the
            run has none.
        DataError: The file cannot be read, or a row is not valid and may not be skipped.
        RunError: The folder is not a run of scores.
    """
    skipped_rows: list[DataError] = []
    rows: Sequence[object] = list(
        task.read(data, options, skipped_rows, pictures, notes)
    )
    if notes is not None:
        for row in rows:
            notes.add(row)
    counts = Counter[str]() if unshown is None else unshown
    counts["wrong rows"] += len(skipped_rows)
    if run is None:
        units = task.units(rows)
        counts.update(task.count_unshown(rows))
        return units, skipped_rows
    if not task.proposals_from:
        able = [
            name for name in TASKS.names() if TASKS.get(name).proposals_from
        ]
        raise ConfigError(
            f"{task.full_name} takes no --prefill; {' and '.join(able)} do"
        )
    _check_same_texts(run, rows, data)
    completed_rows = task.completed(rows, run)
    units = _prefilled(task, task.units(completed_rows), run, counts)
    counts.update(task.count_unshown(completed_rows))
    counts[f"rows of which {run} has no statement"] += len(rows) - len(
        completed_rows
    )
    return units, skipped_rows


def _check_same_texts(run: Path, rows: Sequence[object], data: str) -> None:
    """Check that the ids of the rows belong to the same texts and pictures in a run.

    Proposals are matched by id, and the id of a row without one is its number: rows in another
    order would get the proposals of other texts.

    Raises:
        ConfigError: An id has another text or picture in the run; names the first.
        RunError: The folder is not a run of scores.
    """
    manifest.check_kind(run, manifest.SCORES)
    with Store.read(run) as store:
        scored = list(store.items())
    texts = {item.id: item.candidate for _, item in scored}
    # Rows that the run did not score get no proposals; they are not compared.
    items = [
        (n, row)
        for n, row in enumerate(rows)
        if isinstance(row, Item) and row.id in texts
    ]
    if not items:
        return
    pairing = pair_subjects(
        scored, items, ITEM, (run, data), allow_different=True
    )
    if pairing.paired_by != "id" or "--allow-different" in pairing.note:
        raise ConfigError(
            f"--prefill {run}: {pairing.note}; score {data} itself"
        )
    for _, item in items:
        if texts[item.id] != item.candidate:
            raise ConfigError(
                f"--prefill {run}: id {item.id!r} has the text {texts[item.id][:60]!r} there and"
                f" {item.candidate[:60]!r} in {data}, so its proposals are of another text; score"
                f" {data} itself"
            )


def load_outcomes(run: Path) -> list[Mapping[str, ItemScore]]:
    """Return the outcomes by item id of each metric of a run whose outcomes have units.

    Raises:
        RunError: The folder is not a run of scores.
    """
    manifest.check_kind(run, manifest.SCORES)
    with Store.read(run) as store:
        ids = {position: item.id for position, item in store.items()}
        outcomes_by_metric: list[Mapping[str, ItemScore]] = []
        for asker in store.askers():
            scores = {
                name: store.score(asker.name, position)
                for position, name in ids.items()
            }
            scored_units = {
                name: s
                for name, s in scores.items()
                if isinstance(s, ItemScore) and s.units
            }
            if scored_units:
                outcomes_by_metric.append(scored_units)
    return outcomes_by_metric


def _prefilled(
    task: Task,
    units: Sequence[AnnotationUnit],
    run: Path,
    unshown: Counter[str],
) -> list[AnnotationUnit]:
    """Return units with the proposals of the first metric of a run that has any.

    Args:
        task: The task.
        units: The units.
        run: A run of scores.
        unshown: Receives how many proposals annotators do not see.

    Raises:
        ConfigError: No metric of the run has a proposal for a unit.
    """
    for scores in load_outcomes(run):
        refused: Counter[str] = Counter()
        prefilled_units = [
            _with_proposals(
                task, unit, scores.get(str(unit.row.get("id"))), refused
            )
            for unit in units
        ]
        if any(unit.prefill for unit in prefilled_units):
            unshown.update(refused)
            return prefilled_units
    raise ConfigError(
        f"{run} has no proposals for these data; name a run that scored rows of the same ids with a"
        f" metric that {task.proposals_from}"
    )


def _with_proposals(
    task: Task,
    unit: AnnotationUnit,
    outcome: ItemScore | None,
    refused: Counter[str],
) -> AnnotationUnit:
    """Return a unit with the proposals of an outcome that its task accepts."""
    if outcome is None:
        return replace(unit, prefill={})
    proposed = {}
    for part, value in task.proposals(unit, outcome).items():
        try:
            task.check(unit, part, value)
        except ItemError:
            # A metric may flag a span without a word; no annotator could mark or remove it.
            refused["proposals that no annotator could make"] += 1
            continue
        proposed[part] = value
    return replace(unit, prefill=proposed)


def media_folder(
    data: str, options: DataOptions, pictures: str | None = None
) -> Path | None:
    """Return the folder of relative image paths: ``media_root``, or that of pictures or data.

    None if the data are no file on this machine, such as a published data set.
    """
    if options.media_root is not None:
        return options.media_root
    path = Path(pictures or data)
    if path.is_dir():
        return path
    return path.parent if path.is_file() else None
