"""``beholder agree``: how well metrics agree with people, or judges with each other."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from beholder.base.spec import split_specs
from beholder.errors import ConfigError
from beholder.kinds.agreement.groups import (
    ComparedToolGroup,
    DrawingGroup,
    JudgmentGroup,
)
from beholder.terminal.groups import (
    ItemDataGroup,
    JudgeGroup,
    RunOut,
    TellGroup,
    WorkGroup,
)


def agree(
    source: str | None = None,
    /,
    *,
    metric: Annotated[tuple[str, ...], Parameter(alias="-m")] = (),
    judgments: JudgmentGroup = JudgmentGroup(),
    out: RunOut = None,
    tools: ComparedToolGroup = ComparedToolGroup(),
    rows: ItemDataGroup = ItemDataGroup(),
    judging: JudgeGroup = JudgeGroup(),
    work: WorkGroup = WorkGroup(),
    drawing: DrawingGroup = DrawingGroup(),
    tell: TellGroup = TellGroup(),
) -> int:
    """Compare metrics with human judgments by the set's own protocol; scores are stored.

    Example: `beholder agree flickr8k_expert --data sets -m cider -m meteor`

    Example: `beholder agree --suite sets -m posh -m vcs -m meteor`

    Example: `beholder agree --suite sets -m posh --judge builtin`

    Args:
        source: A known data set, a data file with judgments, or a run with --judges.
        metric: Metric, such as cider or token_f1.recall; repeatable.
        out: Run directory of scores; by default runs/agree-SET.
    """
    # Imported on use: the help of the command must not wait for scipy.
    from beholder.kinds.agreement import comparing

    call = comparing.Call(
        source or "",
        split_specs(metric),
        judgments,
        out,
        tools.embedders() if judgments.suite else tools.specs(),
        rows,
        judging,
        work.to_options(),
        drawing,
        tell,
    )
    if judgments.suite is not None:
        # Each set of a suite has its own data and protocol, so one option
        # cannot fit all.
        conflicting_options = (
            source,
            judgments.judges,
            judgments.label,
            judgments.data,
            judgments.labels,
            judgments.subset,
        )
        if any(conflicting_options):
            raise ConfigError(
                "--suite takes every set of its folder by the set's own protocol, so"
                " name no set, --data, --label, --labels, --subset or --judges beside it"
            )
        return comparing.compare_suite(call, judgments.suite, tools.judge)
    if source is None:
        raise ConfigError(
            "name a set or a data file with judgments, or a folder with --suite"
        )
    if judgments.judges:
        return comparing.print_reliability(call)
    return comparing.compare_set(call)
