"""The tasks of annotation by name."""

from beholder.kinds.annotation.tasks.base import Task
from beholder.kinds.annotation.tasks.facts import FactTask
from beholder.kinds.annotation.tasks.marks import MarkTask
from beholder.kinds.annotation.tasks.pairs import PairTask
from beholder.kinds.annotation.tasks.ranking import RankTask
from beholder.kinds.annotation.tasks.ratings import SequenceRatingTask, TextRatingTask
from beholder.kinds.annotation.tasks.steps import StepTask

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        MarkTask(),
        PairTask(),
        TextRatingTask(),
        SequenceRatingTask(),
        StepTask(),
        RankTask(),
        FactTask(),
    )
}
"""Every task, in the order in which help and docs show them."""

__all__ = ["TASKS", "Task"]
