"""``beholder choose``: which captioner for my pictures?"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from beholder.errors import ConfigError
from beholder.kinds.choose.config import ChoiceOptions
from beholder.terminal.groups import (
    ROWS,
    Data,
    JudgeGroup,
    Out,
    TellGroup,
    WorkGroup,
)

if TYPE_CHECKING:
    from beholder.kinds.choose.pictures import CaptionerChoice
    from beholder.run.plan import RunPlan


@Parameter(name="*")
@dataclass(frozen=True)
class ChooseGroup:
    """Options of rows and work.

    Attributes:
        media_root: Folder of the pictures; by default that of the data.
        skip_bad_rows: Skip invalid rows and count them.
    """

    media_root: Annotated[Path | None, Parameter(group=ROWS)] = None
    skip_bad_rows: Annotated[bool, Parameter(group=ROWS)] = False
    judging: JudgeGroup = field(default_factory=JudgeGroup)
    work: WorkGroup = field(default_factory=WorkGroup)
    tell: TellGroup = field(default_factory=TellGroup)


def choose(
    data: Data,
    /,
    *,
    out: Out = None,
    options: Annotated[
        ChoiceOptions,
        Parameter(name="*", group=Group("Choice", sort_key=0)),
    ] = ChoiceOptions(),
    run: ChooseGroup = ChooseGroup(),
) -> int:
    """Choose a captioner for your pictures by six criteria and a rule that is fixed before.

    Run it again to continue; with the folder of a choice alone it reads people's rankings, asks
    nothing and draws the page again. Exit code 0: chosen, 1: none is left, 3: not enough data.

    Example: `beholder choose systems.jsonl -o choice --n 20`

    Args:
        data: Folder of pictures, data file, or folder of a choice.
        out: Folder of the choice.
    """
    from beholder.kinds.choose.door import plan_choice, run_choice
    from beholder.kinds.choose.pictures import CHOICE
    from beholder.options import DataOptions
    from beholder.terminal.progress import TerminalProgress

    rows = DataOptions(
        media_root=run.media_root, skip_bad_rows=run.skip_bad_rows
    )
    work = run.work.to_options()
    is_choice = (Path(data) / CHOICE).is_file()
    if out is None and not is_choice:
        raise ConfigError("name the folder of the choice: -o choice")
    if run.tell.dry_run:
        if out is None:
            raise ConfigError(
                f"{data} is a choice, which asks nothing when it is read"
            )
        choice, plans = plan_choice(
            data, out, options, rows, run.judging, work
        )
        return _print_plans(choice, plans, out, as_json=run.tell.as_json)
    with TerminalProgress() as progress:
        chosen = run_choice(
            None if out is None else data,
            Path(data) if out is None else out,
            options,
            rows,
            run.judging,
            work,
            progress=progress,
        )
    return _print_result(
        chosen.result, chosen.choice, as_json=run.tell.as_json
    )


def _print_result(
    result: Mapping[str, Any], choice: CaptionerChoice, *, as_json: bool
) -> int:
    from beholder.kinds.choose.engine import spent_in
    from beholder.kinds.choose.judge_card import read_card
    from beholder.kinds.choose.look import LOOK
    from beholder.kinds.choose.result import (
        CRITERIA,
        PAGE,
        describe_figure,
    )
    from beholder.terminal.printing import (
        print_json,
        print_line,
        print_note,
        print_notes,
    )

    decision = result["decision"]
    if as_json:
        print_json(result)
    else:
        print_line(decision["text"])
        for name, row in result["common"].items():
            print_line(
                f"{name} is over the {row['n']} of {result['n_pictures']} pictures with a value of"
                f" every captioner ({row['lost']:.1%} lost)"
            )
        for captioner in result["captioners"]:
            print_line(f"{captioner['name']}:")
            figures = captioner["figures"]
            for name in CRITERIA:
                print_line(f"  {name}: {describe_figure(figures[name])}")
            for name in ("same", "contradicts", "sd_of_run"):
                if figures[name]["value"] is not None:
                    print_line(f"  {name}: {describe_figure(figures[name])}")
            cost = describe_figure(figures["collection"], 2)
            n = result["n_collection"]
            print_line(f"  dollars for {n:,} pictures: {cost}")
    if (card := read_card(choice.folder)) is not None and not as_json:
        print_line(str(card))
        for bias in card.biases:
            print_line(f"  {bias}")
    print_notes(f"caution: {caution}" for caution in result["cautions"])
    if result["people"] is None:
        command = shlex.join(
            [
                *(
                    "beholder",
                    "annotate",
                    "ranking",
                    f"{choice.folder}/{LOOK}",
                ),
                *(
                    "-o",
                    f"{choice.folder}/people",
                    "--pictures",
                    choice.setup.root,
                ),
            ]
        )
        print_note(f"look at pictures: {command}")
    else:
        share = describe_figure(result["people"]["first_in_leading"])
        print_note(f"people's first is in the leading pair: {share}")
    if result["next"]:
        print_note(f"caption the rest: {result['next']}")
    if (dollars := spent_in(choice.folder)) > 0:
        print_note(f"paid for this choice, at most: ${dollars:.4f}")
    print_note(f"page: {choice.folder}/{PAGE}")
    code: int = decision["exit"]
    return code


def _print_plans(
    choice: CaptionerChoice,
    plans: list[tuple[str, RunPlan]],
    out: Path,
    *,
    as_json: bool,
) -> int:
    """Print calls, tokens and dollars of each run; nothing was sent or written."""
    from beholder.kinds.choose.result import rule_of, size_sentence
    from beholder.terminal.printing import print_json, print_line, print_note

    rows: list[dict[str, Any]] = []
    for name, plan in plans:
        for asker in plan.askers:
            tally = asker.judge
            rows.append(
                {
                    "run": name,
                    "asker": asker.name,
                    "texts": asker.n_to_ask,
                    "done": asker.n_done,
                    "calls": tally.n_calls if tally else 0,
                    "prompt_tokens": tally.prompt_tokens if tally else 0,
                    "answer_tokens": tally.completion_tokens if tally else 0,
                    "dollars": tally.cost if tally else 0.0,
                    "fail": dict(asker.lacking),
                }
            )
    costs = [row["dollars"] for row in rows]
    total = None if None in costs else sum(costs)
    size = size_sentence(choice.setup.n_drawn, len(choice.systems))
    if choice.options.judge_check:
        print_note(
            "the check of the judge, of some 300 short questions, is not in this plan"
        )
    if as_json:
        print_json(
            {
                "runs": rows,
                "calls": sum(row["calls"] for row in rows),
                "dollars": total,
                "size": size,
                "rule": rule_of(choice.options),
            }
        )
        return 0
    print_line(size)
    for step in rule_of(choice.options):
        print_line(f"rule: {step}")
    for row in rows:
        cost = _in_dollars(row["dollars"])
        print_line(
            f"{row['run']}, {row['asker']}: {row['texts']:,} to do, {row['done']:,} done; about"
            f" {row['calls']:,} calls, {row['prompt_tokens']:,} prompt and"
            f" {row['answer_tokens']:,} answer tokens, {cost}"
        )
        for reason, n in row["fail"].items():
            print_line(f"  {n} would fail: {reason}")
    print_line(
        f"in all about {sum(row['calls'] for row in rows):,} calls, {_in_dollars(total)}"
    )
    print_line(f"folder: {out} (nothing was sent or written)")
    return 0


def _in_dollars(cost: float | None) -> str:
    return (
        "cost unknown (no price for this model)"
        if cost is None
        else f"${cost:.4f}"
    )
