"""``beholder.choose``: the whole way from pictures to a captioner, or what is left of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from beholder.base import files
from beholder.data import to_row
from beholder.data.read import EVERY_ROW
from beholder.errors import ConfigError, RunError
from beholder.kinds.choose import battles
from beholder.kinds.choose.config import ChoiceOptions
from beholder.kinds.choose.costs import add_wall
from beholder.kinds.choose.criteria import build_captioners, stable_items
from beholder.kinds.choose.decision import RuleDecision
from beholder.kinds.choose.engine import (
    JUDGE,
    RUNS,
    ChoicePart,
    CriterionMetric,
    caption_items,
    caption_parts,
    check_sight,
    criteria_part,
    measures_of,
    placeholder_texts,
    plan_part,
    run_part,
    score_part,
    with_criteria,
    write_prices,
)
from beholder.kinds.choose.judge_card import check_judge
from beholder.kinds.choose.pictures import (
    CAPTIONS,
    CHOICE,
    CaptionerChoice,
    open_choice,
    save_choice,
)
from beholder.kinds.choose.result import build_result, write_result
from beholder.kinds.generation.engine import with_usual_concurrency
from beholder.metrics import metric as metric_named
from beholder.options import (
    DataOptions,
    JudgeOptions,
    WorkOptions,
    check_list,
    group_options,
)
from beholder.records import Item
from beholder.run.plan import RunPlan, read_finished
from beholder.run.session import Progress, Quiet

_ACCORD = "accord"
_FLAGS = {
    "base_url": "--base-url",
    "key_env": "--key-env",
    "temperature": "--temperature",
    "prompts": "--prompts",
    "replicates": "--samples",
}
"""Flags of options of questions."""


@dataclass(frozen=True)
class Chosen:
    """The result of a choice.

    Attributes:
        choice: The choice.
        result: The content of ``result.json``.
        decision: What the rule gives.
    """

    choice: CaptionerChoice
    result: Mapping[str, Any]
    decision: RuleDecision


def choose(
    data: str | Path,
    out: str | Path | None = None,
    *,
    captioners: Sequence[str] = (),
    limits: Sequence[str] = (),
    prices: Sequence[str] = (),
    progress: Progress | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Choose a captioner for a collection, or continue; asks nothing twice.

    Args:
        data: A folder of pictures or a data file; without captioners, a file with texts of two
            or more captioners (group column ``system``). Alone: the folder of a choice, which is
            read and asked nothing.
        out: Folder of the choice.
        captioners: Models that write, such as ``"a=openai:gpt-4.1"``.
        limits: Least wanted shares, such as ``"language=0.95"``.
        prices: Dollars per million tokens, such as ``"c=0.2/0.8"``.
        progress: Receives the progress of the runs.
        options: Other fields of ``ChoiceOptions``, such as ``judge`` and ``n``, and options of
            every door, such as ``max_cost``; see ``beholder.options``.

    Returns:
        The content of ``result.json``.

    Raises:
        ConfigError: An option is wrong, there are too few captioners, or nothing judges them.
        DataError: The data cannot be read.
        RunError: The folder contains another choice, is busy, or the budget is spent.
    """
    for name, texts in (
        ("captioners", captioners), ("limits", limits), ("prices", prices),
    ):  # fmt: skip
        check_list(name, texts)
    names = ChoiceOptions.__dataclass_fields__.keys() & options.keys()
    choice_options = {name: options.pop(name) for name in names}
    rows, judging, work = group_options(options)  # type: ignore[arg-type]
    choice = ChoiceOptions(
        captioner=tuple(captioners),
        limit=tuple(limits),
        price=tuple(prices),
        **choice_options,
    )
    chosen = run_choice(
        None if out is None else str(data),
        Path(data if out is None else out),
        choice,
        rows,
        judging,
        work,
        progress=progress or Quiet(),
    )
    return dict(chosen.result)


def run_choice(
    data: str | None,
    folder: Path,
    options: ChoiceOptions,
    rows: DataOptions = EVERY_ROW,
    judging: JudgeOptions | None = None,
    work: WorkOptions | None = None,
    *,
    progress: Progress,
) -> Chosen:
    """Make a choice, or resume; ``data`` is None to read one that is finished.

    Raises:
        ConfigError: An option is wrong.
        DataError: The data cannot be read.
        RunError: The folder contains another choice, or none, or one that is not finished.
    """
    choice = _open(data, folder, options, rows, judging, work)
    measures = measures_of(choice)
    save_choice(choice)
    if data is not None:
        choice = write_prices(choice, choice.folder)
        check_sight(choice)
        check_judge(choice)
        for part in caption_parts(choice) if options.captioner else ():
            _run_captioner(choice, part, progress)
    texts = caption_items(choice)
    every_text = [item for run in RUNS for item in texts[run]]
    if not every_text:
        raise RunError(f"{folder}: no captioner wrote a text")
    if data is not None:
        files.write_jsonl(folder / CAPTIONS, map(to_row, every_text))
        if _needs_criteria(measures):
            run_part(choice, criteria_part(choice), progress)
    scored = dict(texts)
    if _needs_criteria(measures):
        scored["first"] = with_criteria(choice, texts["first"])
    for part in score_parts(choice, texts, scored, measures):
        if data is not None:
            run_part(choice, part, progress)
        elif not part.folder.is_dir():
            raise RunError(
                f"{folder} is not finished ({part.name}); repeat the first command"
            )
    fought = None
    if battles.are_wanted(choice):
        fight = battles.battle_part(choice, texts["first"])
        if data is not None:
            battles.run_battles(choice, fight, progress)
        fought = battles.read_battles(choice, fight)
    captioners = build_captioners(choice, texts, scored, measures)
    result, decision = build_result(
        choice, captioners, measures, texts["first"], fought
    )
    write_result(choice, result)
    return Chosen(choice, result, decision)


def plan_choice(
    data: str,
    folder: Path,
    options: ChoiceOptions,
    rows: DataOptions = EVERY_ROW,
    judging: JudgeOptions | None = None,
    work: WorkOptions | None = None,
) -> tuple[CaptionerChoice, list[tuple[str, RunPlan]]]:
    """Return the plans of all runs; nothing is asked or written. Errors as ``run_choice``.

    Texts that are not written yet are counted as made-up ones of the usual length.
    """
    from tempfile import TemporaryDirectory

    choice = _open(data, folder, options, rows, judging, work)
    measures = measures_of(choice)
    plans = []
    # Runs read files of the choice; if it has not begun, they are in a folder of their own.
    with TemporaryDirectory() as temporary:
        place = Path(temporary)
        if not (folder / CHOICE).is_file():
            begun = open_choice(data, place, options, rows)
            choice = replace(begun, judging=choice.judging, work=choice.work)
            save_choice(choice)
        choice = write_prices(choice, place)
        if options.captioner:
            for part in caption_parts(choice):
                plans.append((part.name, plan_part(part)))
        if options.captioner and not (folder / CAPTIONS).is_file():
            texts = placeholder_texts(choice)
        else:
            texts = caption_items(choice)
        if _needs_criteria(measures):
            part = criteria_part(choice)
            plans.append((part.name, plan_part(part)))
        for part in score_parts(choice, texts, texts, measures):
            plans.append((part.name, plan_part(part)))
        if battles.are_wanted(choice):
            fight = battles.battle_part(choice, texts["first"])
            plans.append(("battles", battles.plan_battles(choice, fight)))
    return choice, plans


def _open(
    data: str | None,
    folder: Path,
    options: ChoiceOptions,
    rows: DataOptions,
    judging: JudgeOptions | None,
    work: WorkOptions | None,
) -> CaptionerChoice:
    choice = open_choice(data, folder, options, rows)
    if options.prices and not choice.options.captioner:
        raise ConfigError(
            "--price is for captioners that write; state the dollars of each text in its row"
        )
    for name in options.prices.keys() - {*choice.systems, JUDGE}:
        raise ConfigError(
            f"--price {name}: there is no such captioner; expected one of"
            f" {', '.join(choice.systems)}, {JUDGE}"
        )
    if data is not None:
        # Kept for the command that captions the rest.
        flags = {
            flag: str(getattr(judging, name))
            for name, flag in _FLAGS.items()
            if getattr(judging, name, None) is not None
        }
        setup = msgspec.structs.replace(choice.setup, asking=flags)
        choice = replace(choice, setup=setup)
    return replace(
        choice,
        judging=judging or JudgeOptions(),
        work=with_usual_concurrency(work or WorkOptions()),
    )


def _needs_criteria(measures: Mapping[str, CriterionMetric]) -> bool:
    return any(
        m.metric.registered_name == "checklist" for m in measures.values()
    )


def score_parts(
    choice: CaptionerChoice,
    texts: Mapping[str, Sequence[Item]],
    scored: Mapping[str, Sequence[Item]],
    measures: Mapping[str, CriterionMetric],
) -> Iterator[ChoicePart]:
    """Yield the runs that score first texts, second texts, and pairs of both."""
    chosen = [measure.metric for measure in measures.values()]
    yield score_part(choice, "first", chosen, scored["first"])
    if scored["second"]:
        right = [measures["right"].metric]
        yield score_part(choice, "second", right, scored["second"])
    if pairs := stable_items(choice, texts):
        yield score_part(choice, "stable", [metric_named(_ACCORD)], pairs)


def _run_captioner(
    choice: CaptionerChoice, part: ChoicePart, progress: Progress
) -> None:
    """Run a captioner, and note the seconds on the clock that its first texts took."""
    ((name, asker),) = part.config.systems.items()
    before = len(read_finished(part.folder, asker.name))
    start = time.monotonic()
    run_part(choice, part, progress)
    seconds = time.monotonic() - start
    n_new = len(read_finished(part.folder, asker.name)) - before
    if part.config.out.parent.name == RUNS[0]:
        add_wall(choice.folder, name, seconds, n_new)
