"""The drawn pictures of a choice, and its folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from beholder.asking.params import BUILTIN_JUDGE
from beholder.base import files
from beholder.data import to_row
from beholder.data.lines import read_records
from beholder.data.read import good_rows
from beholder.data.row import item_from_row
from beholder.data.sample import draw
from beholder.errors import ConfigError, DataError, ItemError, RunError
from beholder.kinds.choose.config import FEWEST, ChoiceOptions, Setup
from beholder.kinds.generation.engine import read_pictured, word_limits
from beholder.media.image import inside
from beholder.options import (
    DataOptions,
    JudgeOptions,
    SampleDesign,
    WorkOptions,
)
from beholder.records import Item
from beholder.run.inputs import rebase_path, root_of

CHOICE, PICTURES, REPEATED, CAPTIONS, PEOPLE, PRICES = (
    "choice.json",
    "pictures.jsonl",
    "repeated.jsonl",
    "captions.jsonl",
    "people",
    "prices.json",
)
"""Files of a choice, and the folder of the people's study."""

_LATER = ("price", "limit", "main")
"""Options that only the result depends on, so that they may change."""


@dataclass(frozen=True)
class CaptionerChoice:
    """An opened choice.

    Attributes:
        folder: Its folder.
        setup: What the first start fixed.
        rows: Rows of the drawn pictures; with texts only if no captioner is named.
        judging: Settings of questions to judges.
        work: Concurrency, storage and budget; ``max_cost`` is for all runs together.
    """

    folder: Path
    setup: Setup
    rows: Sequence[Item]
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
        return list(dict.fromkeys(i.group["system"] for i in self.rows))

    @cached_property
    def pictures(self) -> list[Item]:
        """A row without a text per picture."""
        rows = {item.source: item for item in reversed(self.rows)}
        return [
            replace(rows[source], candidate="", group={})
            for source in dict.fromkeys(item.source for item in self.rows)
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
        return word_limits(self.options.words, self.rows)


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
        later = _later_options(setup, data, options, folder)
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
        files.write_text(folder / PICTURES, as_lines(choice.rows))
    if choice.options.captioner:
        files.write_text(folder / REPEATED, as_lines(choice.repeated))
    content = msgspec.to_builtins(choice.setup)
    files.write_text(folder / CHOICE, json.dumps(content, indent=2))


def _later_options(
    setup: Setup, data: str | None, options: ChoiceOptions, folder: Path
) -> dict[str, Any]:
    """Return the options that replace those of the first start; others must be the same.

    Without ``data``, only those that are named replace one.
    """
    before = vars(setup.options)
    new_values = {
        name: value
        for name, value in vars(options).items()
        if data is not None or value != vars(ChoiceOptions())[name]
    }
    for name in new_values.keys() - set(_LATER):
        if new_values[name] != before[name]:
            raise RunError(
                f"{folder} contains another choice (--{name} {before[name]}, now"
                f" {new_values[name]}); repeat the first command, or choose another folder with -o"
            )
    if (
        data is not None
        and Path(data).absolute() != Path(setup.data).absolute()
    ):
        raise RunError(
            f"{folder} contains a choice for {setup.data}; choose another folder with -o"
        )
    return {name: new_values[name] for name in _LATER if name in new_values}


def _draw_pictures(
    data: str, folder: Path, options: ChoiceOptions, rows: DataOptions
) -> CaptionerChoice:
    bad_rows: list[DataError] = []
    items = list(
        good_rows(read_pictured(data, rows), rows, bad_rows, name=data)
    )
    if options.captioner:
        n_unused = sum(bool(item.candidate.strip()) for item in items)
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
        texts = Counter(
            (item.source, item.group["system"])
            for item in items
            if item.candidate.strip()
        )
        # A picture has a first and a second text of each captioner.
        n_unused = sum(max(0, n - 2) for n in texts.values())
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
        n_unused=n_unused,
        n_bad_rows=len(bad_rows),
        digest=sha256(as_lines(kept_items).encode()).hexdigest(),
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


def as_lines(items: Iterable[Item]) -> str:
    """Return rows of a JSONL file."""
    return "".join(
        json.dumps(to_row(item), ensure_ascii=False) + "\n" for item in items
    )
