"""The folder of a choice: the drawn pictures, the runs that caption and score, their costs.

The same command continues: what a run has finished is in its store, and a run that nothing is
missing of asks nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from beholder.aio import run_sync
from beholder.asking.params import BUILTIN_JUDGE
from beholder.asking.tools import check_taken
from beholder.base import files
from beholder.base.grouping import group_by_key
from beholder.base.spec import canonical_spec, parse_with_value
from beholder.data import to_row
from beholder.data.lines import read_records
from beholder.data.read import good_rows
from beholder.data.row import item_from_row
from beholder.data.sample import draw
from beholder.errors import ConfigError, ItemError, RunError
from beholder.judges import Draw, Judge
from beholder.kinds.choose.config import FEWEST, ChoiceOptions, Setup
from beholder.kinds.generation.askers import CaptionRow
from beholder.kinds.generation.engine import (
    RowsConfig,
    read_pictured,
    with_usual_concurrency,
    word_limits,
)
from beholder.kinds.generation.generators import GeneratedText
from beholder.kinds.generation.kind import ROWS
from beholder.kinds.generation.questions import CriteriaRow
from beholder.kinds.scores.engine import ScoreConfig
from beholder.kinds.scores.kind import KIND as SCORES
from beholder.media.image import inside
from beholder.metrics import Metric, Tools
from beholder.metrics import metric as metric_named
from beholder.options import (
    DataOptions,
    JudgeOptions,
    SampleDesign,
    WorkOptions,
)
from beholder.records import Item
from beholder.run import kind
from beholder.run.answers import spent
from beholder.run.inputs import rebase_path, root_of
from beholder.run.plan import RunPlan
from beholder.run.session import Progress, RunContext
from beholder.run.store_file import FILE_NAME

CHOICE, PICTURES, REPEATED, CAPTIONS, PEOPLE = (
    "choice.json",
    "pictures.jsonl",
    "repeated.jsonl",
    "captions.jsonl",
    "people",
)
"""Files of a choice, and the folder of the people's study."""

PRICES = "prices.json"
RUNS = ("first", "second")
TYPICAL_WORDS = 30
"""Words of the made-up texts whose scoring a dry run counts."""
N_CRITERIA = 10
"""Criteria that the judge writes for a picture."""
_LATER = ("price", "limit", "main")
"""Options that only the result depends on, so that they may change."""


@dataclass(frozen=True)
class CaptionerChoice:
    """An opened choice.

    Attributes:
        folder: Its folder.
        setup: What the first start fixed.
        drawn: Rows of the drawn pictures; with texts only if no captioner is named.
        judging: Settings of questions to judges.
        work: Concurrency, storage and budget; ``max_cost`` is for all runs together.
    """

    folder: Path
    setup: Setup
    drawn: Sequence[Item]
    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)

    @property
    def options(self) -> ChoiceOptions:
        """Options of the choice."""
        return self.setup.options

    @cached_property
    def systems(self) -> list[str]:
        """Names of the captioners, in order."""
        if self.options.captioner:
            return list(self.options.captioners)
        return list(dict.fromkeys(i.group["system"] for i in self.drawn))

    @cached_property
    def pictures(self) -> list[Item]:
        """A row without a text per picture."""
        rows = {item.source: item for item in reversed(self.drawn)}
        return [
            replace(rows[source], candidate="", group={})
            for source in dict.fromkeys(item.source for item in self.drawn)
        ]

    @cached_property
    def repeated(self) -> list[Item]:
        """The pictures that get a second text, drawn from the pictures."""
        n = min(self.options.repeat, len(self.pictures))
        if not n:
            return []
        drawn_items = draw(
            self.pictures, SampleDesign(n=n, seed=self.options.seed)
        )
        return [replace(item, group={}) for item in drawn_items]

    @property
    def judge(self) -> str | None:
        """The judge if it is a vision model; None for the built-in judge, or none."""
        judge = self.options.judge
        return None if judge == BUILTIN_JUDGE else judge

    @property
    def limits(self) -> tuple[int, int] | None:
        """Fewest and most words of a caption."""
        return word_limits(self.options.words, self.drawn)


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


def open_choice(
    data: str | None,
    folder: Path,
    options: ChoiceOptions,
    rows: DataOptions,
) -> CaptionerChoice:
    """Draw the pictures, or read those that are drawn; writes nothing.

    ``data`` is None for a choice that is only read.

    Raises:
        ConfigError: The data have too few captioners, or no evidence for a judgment.
        DataError: The data cannot be read.
        RunError: The folder contains another choice, or none.
    """
    path = folder / CHOICE
    if path.is_file() or data is None:
        content = files.read_json(
            path,
            form=1,
            kind="choice",
            missing_message=f"{folder} contains no choice",
        )
        setup = files.as_record(content, Setup, path)
        if data is not None:
            _check_same(setup, data, options, folder)
            later = {name: getattr(options, name) for name in _LATER}
            setup = msgspec.structs.replace(
                setup, options=replace(setup.options, **later)
            )
        text = (folder / PICTURES).read_bytes()
        if sha256(text).hexdigest() != setup.digest:
            raise RunError(
                f"{folder / PICTURES} changed since the first start; restore it, or choose"
                " another folder with -o"
            )
        drawn_items = [
            item_from_row(row)
            for row in read_records(folder / PICTURES, dict[str, Any])
        ]
        choice = CaptionerChoice(folder, setup, drawn_items)
    else:
        choice = _draw_pictures(data, folder, options, rows)
    return choice


def save_choice(choice: CaptionerChoice) -> None:
    """Write the drawn rows once, and the setup."""
    folder = choice.folder
    files.make_folder(folder)
    if not (folder / PICTURES).is_file():
        files.write_text(folder / PICTURES, _as_lines(choice.drawn))
    if choice.options.captioner:
        files.write_text(folder / REPEATED, _as_lines(choice.repeated))
    content = msgspec.to_builtins(choice.setup)
    files.write_text(folder / CHOICE, json.dumps(content, indent=2))


def _check_same(
    setup: Setup, data: str, options: ChoiceOptions, folder: Path
) -> None:
    before = vars(setup.options)
    for name, value in vars(options).items():
        if name not in _LATER and value != before[name]:
            raise RunError(
                f"{folder} contains another choice (--{name} {before[name]}, now {value}); repeat"
                " the first command, or choose another folder with -o"
            )
    if Path(data).absolute() != Path(setup.data).absolute():
        raise RunError(
            f"{folder} contains a choice for {setup.data}; choose another folder with -o"
        )


def _draw_pictures(
    data: str, folder: Path, options: ChoiceOptions, rows: DataOptions
) -> CaptionerChoice:
    items = list(good_rows(read_pictured(data, rows), rows, [], name=data))
    if options.captioner:
        # A row per picture: a text that the data have is not used.
        first = {item.source: item for item in reversed(items)}
        items = [
            replace(first[source], candidate="")
            for source in dict.fromkeys(item.source for item in items)
        ]
    else:
        systems = {item.group.get("system", "") for item in items}
        if len(systems) < FEWEST or "" in systems:
            raise ConfigError(
                "choose compares; name captioners with --captioner NAME=SPEC, or give texts of two"
                " captioners with a group column system (to measure one captioner use caption and"
                " score)"
            )
    root = root_of(data) if rows.media_root is None else rows.media_root
    n_all = len({item.source for item in items})
    n = min(options.n, n_all)
    # A larger draw contains the smaller one, so copies are replaced by drawing more.
    size = n
    while True:
        drawn_items = draw(items, SampleDesign(n=size, seed=options.seed))
        copies = _find_copies(drawn_items, root)
        if size - len(copies) >= n or size == n_all:
            break
        size = min(n_all, n + len(copies))
    kept_items = [
        replace(
            item,
            group={k: v for k, v in item.group.items() if k != "category"},
            images=tuple(rebase_path(i, root, folder) for i in item.images),
        )
        for item in drawn_items
        if item.source not in copies
    ]
    setup = Setup(
        data=str(data),
        root=str(root),
        n_all=n_all,
        n_drawn=len({item.source for item in kept_items}),
        n_copies=len(copies),
        digest=sha256(_as_lines(kept_items).encode()).hexdigest(),
        has_references=all(item.references for item in kept_items),
        options=options,
    )
    return CaptionerChoice(folder, setup, kept_items)


def _find_copies(items: Iterable[Item], root: Path) -> set[tuple[str, ...]]:
    """Return the sources whose picture has the bytes of an earlier one."""
    source_by_digest: dict[str, tuple[str, ...]] = {}
    copies: set[tuple[str, ...]] = set()
    for item in items:
        if len(item.images) != 1 or item.source in copies:
            continue
        try:
            with inside(root, item.images[0]).open("rb") as picture:
                digest = sha256(picture.read()).hexdigest()
        except (OSError, ItemError):
            continue  # what needs the picture says so later
        if source_by_digest.setdefault(digest, item.source) != item.source:
            copies.add(item.source)
    return copies


def _as_lines(items: Iterable[Item]) -> str:
    return "".join(
        json.dumps(to_row(item), ensure_ascii=False) + "\n" for item in items
    )


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
    """Return the choice with the named prices as a table that backends read, for ``max_cost``."""
    options = choice.options
    if not options.prices or "prices" in choice.judging.extra:
        return choice
    table = {
        canonical_spec(options.captioners[name]).argument: {
            "input": price.input,
            "output": price.output,
            "free": price.free,
        }
        for name, price in options.prices.items()
        if name in options.captioners
    }
    path = folder / PRICES
    files.write_text(path, json.dumps({"models": table}, indent=2))
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
    digest = sha256(_as_lines(items).encode()).hexdigest()[:8]
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
    config, limit = part.config, choice.work.max_cost
    if limit is not None:
        spent_elsewhere = spent_in(choice.folder) - spent(part.folder)
        work = replace(config.work, max_cost=max(0.0, limit - spent_elsewhere))
        config = replace(config, work=work)
    given_items = None if part.items is None else iter(part.items)
    kind.run(part.kind, config, progress, given=given_items)


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
        for item in choice.drawn
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


def with_usual_work(work: WorkOptions) -> WorkOptions:
    """Return the options with the concurrency of captioners, the same for each."""
    return with_usual_concurrency(work)


def placeholder_texts(choice: CaptionerChoice) -> list[Item]:
    """Return a made-up text per picture and captioner, whose scoring a dry run counts."""
    limits = choice.limits
    n_words = TYPICAL_WORDS if limits is None else limits[1]
    text = "A word" + " word" * (n_words - 2) + "."
    criteria = [
        {"text": f"Criterion {n} of a picture is met", "source": "judge"}
        for n in range(N_CRITERIA)
    ]
    return [
        _name_text(
            replace(
                item,
                candidate=f"{system}: {text}",
                group={"system": system},
                meta={**item.meta, "criteria": criteria},
            ),
            item.id,
            "first",
        )
        for item in choice.pictures
        for system in choice.systems
    ]
