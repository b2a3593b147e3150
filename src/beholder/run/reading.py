"""Cautions about runs that are not complete, for every reader of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from beholder.run import manifest
from beholder.run.store import Store

COMPLETE = "complete"


def describe_incomplete(store: Store) -> str:
    """Return a caution with n of m for a run that is not complete; empty for a complete one.

    Args:
        store: A run that is read.

    Raises:
        RunError: The folder contains no run log, or a damaged one.
    """
    status = manifest.read_log(store.folder).status
    if status == COMPLETE:
        return ""
    counts = {}
    for asker in store.askers():
        # An asker may have fewer subjects than the data, but the caution counts against all.
        n = store.n_subjects(store.kind_of(asker.name))
        counts[asker.name] = (store.n_finished(asker.name, n), n)
    return word_incomplete(store.folder.resolve().name, status, counts)


def word_incomplete(
    run: str, status: str, counts: Mapping[str, tuple[int, int]]
) -> str:
    """Return the caution of a run that is not complete.

    Args:
        run: Name of the run.
        status: Its status, such as ``interrupted``.
        counts: Per metric, how many subjects are finished, and how many there are.
    """
    done = ", ".join(
        f"{n:,} of {n_all:,} finished by {name}"
        for name, (n, n_all) in counts.items()
    )
    return (
        f"{run} is not complete (status: {status or 'unknown'}): {done or 'nothing is finished'};"
        " values cover what is finished. Run the same command again to resume"
    )


def incomplete_runs(*folders: Path) -> list[str]:
    """Return cautions for the runs among these folders that are not complete."""
    cautions = []
    for folder in folders:
        if manifest.is_run(folder):
            with Store.read(folder) as store:
                cautions.append(describe_incomplete(store))
    return [caution for caution in cautions if caution]
