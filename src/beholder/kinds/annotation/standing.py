"""How a study stands: agreement of its annotators, and what became of a judge's proposals."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.kinds.annotation.records import Judgments
from beholder.kinds.annotation.tasks import Task
from beholder.run.reliability import Coefficient, Reliability
from beholder.stats.bootstrap import mean_interval


def agreement_of(
    task: Task, judged: Sequence[Judgments], annotators: Sequence[str]
) -> list[Reliability]:
    """How far annotators agree; beside it what became of a judge's proposals, where there are.

    Args:
        task: What was judged.
        judged: Units with finished judgments.
        annotators: All of them; who finished nothing is left out.
    """
    names = [name for name in annotators if any(name in one.by for one in judged)]
    found = task.agreement(judged, names) if len(names) > 1 else []
    if any(one.unit.prefill for one in judged):
        kept = kept_share(judged)
        found.append(Reliability("proposals of the judge", tuple(names), len(judged), 0, (kept,)))
    return found


def kept_share(judged: Sequence[Judgments]) -> Coefficient:
    """Share of the parts that a judge proposed which annotators left as they were.

    Near 1 the judge is right, or people followed it: compare annotators who saw none.
    """
    values, clusters = [], []
    for one in judged:
        for state in one.by.values():
            for part, value in one.unit.prefill.items():
                values.append(float(state.get(part) == value))
                clusters.append(one.unit.source)
    if not values:
        return Coefficient("proposals kept", None, None, "no finished unit had proposals")
    mean = mean_interval(values, clusters=clusters)
    return Coefficient("proposals kept", mean.mean, mean.interval)
