"""The runs of a choice, which caption and score, and the texts that they give.

The same command continues: what a run has finished is in its store, and a run that nothing is
missing of asks nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from beholder.aio import run_sync
from beholder.asking.tools import check_taken
from beholder.backends.money import load_prices
from beholder.base import files
from beholder.base.grouping import group_by_key
from beholder.base.spec import canonical_spec, parse_with_value
from beholder.data.lines import read_records
from beholder.data.row import item_from_row
from beholder.errors import ConfigError, RunError
from beholder.judges import Draw, Judge
from beholder.kinds.choose.pictures import (
    CAPTIONS,
    PICTURES,
    PRICES,
    REPEATED,
    CaptionerChoice,
    as_lines,
)
from beholder.kinds.generation.askers import CaptionRow
from beholder.kinds.generation.engine import RowsConfig
from beholder.kinds.generation.generators import GeneratedText
from beholder.kinds.generation.kind import ROWS
from beholder.kinds.generation.questions import CriteriaRow
from beholder.kinds.scores.engine import ScoreConfig
from beholder.kinds.scores.kind import KIND as SCORES
from beholder.metrics import Metric, Tools
from beholder.metrics import metric as metric_named
from beholder.options import DataOptions, JudgeOptions, WorkOptions
from beholder.records import Item
from beholder.run import kind
from beholder.run.answers import spent
from beholder.run.inputs import rebase_path
from beholder.run.plan import RunPlan
from beholder.run.session import Progress, RunContext
from beholder.run.store_file import FILE_NAME

RUNS = ("first", "second")
TYPICAL_WORDS = 30
"""Words of the made-up texts whose scoring a dry run counts."""
JUDGE = "judge"
"""Name of the judge among the prices."""
N_CRITERIA = 10
"""Criteria that the judge writes for a picture."""


@dataclass(frozen=True)
class RepeatedCaption(CaptionRow):
    """The second text of a picture: the same question, drawn again."""

    registered_name: ClassVar[str] = "caption_repeat"

    async def make(
        self, subject: Item, judge: Judge, tools: Tools
    ) -> tuple[GeneratedText, ...]:
        """Return the text of another draw."""
        return await super().make(subject, _SecondDraw(judge), tools)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _SecondDraw:
    """A judge whose questions are other draws, so that no answer is recalled."""

    judge: Judge

    async def ask(self, operation: Any) -> Any:
        return await self.judge.ask(operation, Draw(replicate=1))


@dataclass(frozen=True)
class CriterionMetric:
    """A metric's value that is a criterion.

    Attributes:
        metric: The metric.
        value: Name of its value.
    """

    metric: Metric[Any]
    value: str


def measures_of(choice: CaptionerChoice) -> dict[str, CriterionMetric]:
    """Return what measures ``right`` and ``complete``.

    Raises:
        ConfigError: There is neither a vision model as judge nor a reference for each picture, or
            the named metric has no such value.
    """
    judge = {} if choice.judge is None else {"judge": choice.judge}
    chosen: dict[str, CriterionMetric] = {}
    if choice.judge is not None:
        by_sight = metric_named("dcscore(verify='image')", **judge)
        chosen["right"] = CriterionMetric(by_sight, "precision")
        listed = metric_named("checklist", **judge)
        chosen["complete"] = CriterionMetric(listed, "coverage")
    elif choice.setup.has_references:
        accord = metric_named("accord")
        chosen["right"] = CriterionMetric(accord, "precision")
        chosen["complete"] = CriterionMetric(accord, "recall")
    if choice.options.metric is not None:
        spec, value = parse_with_value(choice.options.metric)
        own_metric = metric_named(spec, **judge)
        names = [info.name for info in own_metric.values]
        if (value or names[0]) not in names:
            raise ConfigError(
                f"--metric {choice.options.metric}: expected a value of {spec.name}, such as"
                f" {spec.name}.{names[0]}"
            )
        chosen["right"] = CriterionMetric(own_metric, value or names[0])
    if "right" not in chosen:
        raise ConfigError(
            "no judge sees the pictures and they have no references: name a judge that can see"
            " (--judge openai:MODEL), or give data with references"
        )
    return chosen


def taken_options(
    judging: JudgeOptions, specs: Sequence[tuple[str, str]]
) -> JudgeOptions:
    """Return the options that a tool of a run takes; those of other runs would be refused there.

    Args:
        judging: Options of all runs.
        specs: Kind and spec of each tool of the run.
    """
    for name in judging.keywords():
        option = {
            kind: {name: options[name]}
            for kind, options in judging.for_tools().items()
            if name in options
        }
        try:
            check_taken(option, specs)
        except ConfigError:
            extra = {k: v for k, v in judging.extra.items() if k != name}
            judging = replace(judging, extra=extra)
            if name in JudgeOptions.__dataclass_fields__:
                default: Any = False if name == "batch" else None
                judging = replace(judging, **{name: default})
    return judging


def write_prices(choice: CaptionerChoice, folder: Path) -> CaptionerChoice:
    """Return the choice with all named prices in one table, which backends read for ``max_cost``.

    The table is that of the option ``prices`` with those of ``--price``, by the model.
    """
    options, own_file = choice.options, choice.judging.extra.get("prices")
    path = folder / PRICES
    if not options.prices and own_file is None:
        path.unlink(missing_ok=True)
        return choice
    table = dict(
        load_prices(None if own_file is None else Path(str(own_file)))
    )
    specs = {JUDGE: choice.judge or "", **options.captioners}
    for name, price in options.prices.items():
        model = canonical_spec(specs[name]).argument if specs[name] else None
        table[model or ""] = price
    models = {
        name: msgspec.to_builtins(price) for name, price in table.items()
    }
    files.write_text(path, json.dumps({"models": models}, indent=2))
    extra = {**choice.judging.extra, "prices": str(path)}
    return replace(choice, judging=replace(choice.judging, extra=extra))


def check_sight(choice: CaptionerChoice) -> None:
    """Refuse a judge that cannot see, before any caption is asked for.

    Raises:
        ConfigError: Names both ways out.
    """
    if choice.judge is None:
        return
    judging = taken_options(choice.judging, [("judge", choice.judge)])
    means = RunContext(judging, choice.work, choice.folder)
    if not run_sync(means.tools().judge(choice.judge).accepts_images()):
        raise ConfigError(
            f"the judge {choice.judge} cannot see: name one that can (--judge openai:MODEL), or"
            " leave --judge out and give data with references"
        )


@dataclass(frozen=True)
class ChoicePart:
    """A run of a choice.

    Attributes:
        name: Its name for people.
        folder: Its run directory.
        kind: Kind of run.
        config: Its configuration.
        items: Input instead of the file that it names.
    """

    name: str
    folder: Path
    kind: Any
    config: Any
    items: Sequence[Item] | None = None


def caption_parts(choice: CaptionerChoice) -> Iterator[ChoicePart]:
    """Yield the runs of the captioners, one after the other, first and second texts."""
    options = choice.options
    for run, file in zip(RUNS, (PICTURES, REPEATED), strict=True):
        if run == "second" and not choice.repeated:
            continue
        for place, (name, spec) in enumerate(options.captioners.items(), 1):
            asker_type = CaptionRow if run == "first" else RepeatedCaption
            asker = asker_type(
                spec, options.language, choice.limits, options.context
            )
            stem = f"{place}-{files.safe_name(name)}.jsonl"
            config = RowsConfig(
                str(choice.folder / file),
                choice.folder / run / stem,
                {name: asker},
                rows=DataOptions(media_root=Path("/")),
                judging=taken_options(choice.judging, asker.tool_specs()),
                work=choice.work,
            )
            yield ChoicePart(
                f"{run} texts of {name}", config.run, ROWS, config
            )


def criteria_part(choice: CaptionerChoice) -> ChoicePart:
    """Return the run that writes criteria from the pictures."""
    asker = CriteriaRow(choice.judge or "", N_CRITERIA)
    config = RowsConfig(
        str(choice.folder / PICTURES),
        choice.folder / "criteria.jsonl",
        {"judge": asker},
        rows=DataOptions(media_root=Path("/")),
        judging=taken_options(choice.judging, asker.tool_specs()),
        work=choice.work,
    )
    return ChoicePart("criteria", config.run, ROWS, config)


def score_part(
    choice: CaptionerChoice,
    name: str,
    metrics: Sequence[Metric[Any]],
    items: Sequence[Item],
) -> ChoicePart:
    """Return a run that scores texts; its folder is named by them, as a run has one data set."""
    digest = sha256(as_lines(items).encode()).hexdigest()[:8]
    folder = choice.folder / "scores" / f"{name}-{digest}"
    # Without a cache, the choice has one of its own: other texts must not be paid for twice.
    cache = choice.work.cache or choice.folder / "answers.sqlite"
    config = ScoreConfig(
        str(choice.folder / CAPTIONS),
        tuple(dict.fromkeys(metrics)),
        folder,
        judging=taken_options(
            choice.judging,
            [spec for metric in metrics for spec in metric.tool_specs()],
        ),
        work=replace(choice.work, cache=cache),
    )
    return ChoicePart(f"scores of {name} texts", folder, SCORES, config, items)


def run_part(
    choice: CaptionerChoice, part: ChoicePart, progress: Progress
) -> None:
    """Make a run with what is left of the budget; errors as ``beholder.run.kind.run``."""
    config = replace(
        part.config, work=work_within(choice, part.config.work, part.folder)
    )
    given_items = None if part.items is None else iter(part.items)
    kind.run(part.kind, config, progress, given=given_items)


def work_within(
    choice: CaptionerChoice, work: WorkOptions, folder: Path
) -> WorkOptions:
    """Return the options of a run in a folder, with what other runs leave of the budget."""
    limit = choice.work.max_cost
    if limit is None:
        return work
    spent_elsewhere = spent_in(choice.folder) - spent(folder)
    return replace(work, max_cost=max(0.0, limit - spent_elsewhere))


def plan_part(part: ChoicePart) -> RunPlan:
    """Return the plan of a run; nothing is asked."""
    given_items = None if part.items is None else iter(part.items)
    return kind.plan(part.kind, part.config, given=given_items)


def spent_in(folder: Path) -> float:
    """Return the US dollars that all runs of a choice paid."""
    return sum(spent(file.parent) for file in sorted(folder.rglob(FILE_NAME)))


def caption_items(choice: CaptionerChoice) -> dict[str, list[Item]]:
    """Return the texts of both runs, each with its captioner; a failure has none.

    Raises:
        RunError: The captioners have not finished.
    """
    if not choice.options.captioner:
        return _read_given_texts(choice)
    keys = {item.source: item.id for item in choice.pictures}
    texts: dict[str, list[Item]] = {run: [] for run in RUNS}
    for part in caption_parts(choice):
        path = part.config.out
        if not path.is_file():
            raise RunError(
                f"{choice.folder} is not finished ({part.name}); repeat the first command"
            )
        run = path.parent.name
        for row in read_records(path, dict[str, Any]):
            item = item_from_row(row)
            # Files of a run name pictures relative to their own folder.
            images = (
                rebase_path(i, path.parent, choice.folder) for i in item.images
            )
            item = replace(item, images=tuple(images))
            texts[run].append(_name_text(item, keys[item.source], run))
    return texts


def _read_given_texts(choice: CaptionerChoice) -> dict[str, list[Item]]:
    keys = {item.source: item.id for item in choice.pictures}
    texts: dict[str, list[Item]] = {run: [] for run in RUNS}
    by_place = group_by_key(
        ((item.source, item.group["system"]), item)
        for item in choice.rows
        if item.candidate.strip()
    )
    for (source, _), items in by_place.items():
        for run, item in zip(RUNS, items, strict=False):
            texts[run].append(_name_text(item, keys[source], run))
    return texts


def _name_text(item: Item, picture: str, run: str) -> Item:
    system = item.group["system"]
    meta = {**item.meta, "picture": picture, "repeat": RUNS.index(run) + 1}
    name = f"{picture}/{system}/{RUNS.index(run) + 1}"
    return replace(item, id=name, meta=meta, judgments={})


def with_criteria(
    choice: CaptionerChoice, items: Iterable[Item]
) -> list[Item]:
    """Return the texts with the criteria of their pictures; those without stay as they are."""
    criteria = {
        row["id"]: row["meta"]["criteria"]
        for row in read_records(
            choice.folder / "criteria.jsonl", dict[str, Any]
        )
    }
    return [
        replace(
            item,
            meta={**item.meta, "criteria": criteria[item.meta["picture"]]},
        )
        if item.meta["picture"] in criteria
        else item
        for item in items
    ]


def placeholder_texts(choice: CaptionerChoice) -> dict[str, list[Item]]:
    """Return made-up texts of both runs, whose scoring a dry run counts."""
    limits = choice.limits
    n_words = TYPICAL_WORDS if limits is None else limits[1]
    criteria = [
        {"text": f"Criterion {n} of a picture is met", "source": "judge"}
        for n in range(N_CRITERIA)
    ]
    # Equal texts would be one question, so the first words differ.
    return {
        run: [
            _name_text(
                replace(
                    item,
                    candidate=f"{run} {system} {item.id}{' word' * (n_words - 3)}.",
                    group={"system": system},
                    meta={**item.meta, "criteria": criteria},
                ),
                item.id,
                run,
            )
            for item in pictures
            for system in choice.systems
        ]
        for run, pictures in zip(
            RUNS, (choice.pictures, choice.repeated), strict=True
        )
    }
