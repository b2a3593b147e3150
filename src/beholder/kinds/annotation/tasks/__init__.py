"""The tasks of annotation by name; packages add theirs in the group ``beholder.annotation_tasks``.

An entry point names a subclass of ``Task``. Listing names imports no task.
"""

from beholder.base.registry import Registry
from beholder.kinds.annotation.tasks.base import Task

_HERE = "beholder.kinds.annotation.tasks"

TASKS: Registry[Task] = Registry(
    "annotation task",
    Task,  # type: ignore[type-abstract]
    {
        "marks": f"{_HERE}.marks:MarkTask",
        "pairs": f"{_HERE}.pairs:PairTask",
        "ratings": f"{_HERE}.ratings:TextRatingTask",
        "sequences": f"{_HERE}.ratings:SequenceRatingTask",
        "steps": f"{_HERE}.ratings:StepTask",
        "ranking": f"{_HERE}.ranking:RankTask",
        "facts": f"{_HERE}.facts:FactTask",
        "revisions": f"{_HERE}.revisions:RevisionTask",
        "reading": f"{_HERE}.reading:ReadingTask",
    },
    "beholder.annotation_tasks",
)


def task_named(name: str) -> Task:
    """Return the task of a name; tasks of other packages are called ``package/name``.

    Raises:
        UnknownNameError: No task has that name; the message lists all.
        ConfigError: The entry point of that name is not a task.
    """
    return TASKS.get(name)()


__all__ = ["TASKS", "Task", "task_named"]
