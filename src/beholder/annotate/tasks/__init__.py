"""The tasks of annotation by name."""

from beholder.annotate.tasks.base import Task
from beholder.annotate.tasks.facts import FactTask
from beholder.annotate.tasks.marks import MarkTask
from beholder.annotate.tasks.pairs import PairTask
from beholder.annotate.tasks.ranking import RankTask
from beholder.annotate.tasks.ratings import SequenceRatingTask, TextRatingTask
from beholder.annotate.tasks.steps import StepTask

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
