"""Groups of options that commands share: those of ``beholder.options``, flattened, and their own.

Names, defaults and help come from the fields. A group repeats a field only where the command line
takes it in another way. A group that extends another lies in one module with it, or knows all names
of its annotations: they are read where the group is.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import Group, Parameter

from beholder.base.files import check_folder
from beholder.base.optional import load_object
from beholder.errors import ConfigError
from beholder.options import (
    DataOptions,
    Frames,
    JudgeOptions,
    WorkOptions,
    cache_place,
)

if TYPE_CHECKING:
    from beholder.base.postgres import Address
    from beholder.run.session import Engine
    from beholder.tables import Table


def _refuse_misspelt_option(kind: Any, value: str) -> None:
    """Refuse an option that is misspelt and would be taken for the data."""
    # Data may begin with a hyphen for the sake of "-", standard input.
    if value.startswith("-") and value != "-":
        raise ValueError(
            f"there is no option {value}; data come first, options after them"
        )


Data: TypeAlias = Annotated[
    str,
    Parameter(allow_leading_hyphen=True, validator=_refuse_misspelt_option),
]
"""A file, a folder or a name; - is standard input."""

ROWS, JUDGES, WORK, RESULTS, SERVER = (
    Group(name, sort_key=place)
    for place, name in enumerate(
        (
            "Rows of the data",
            "Judges and embedders",
            "Work and cost",
            "Results",
            "Server",
        ),
        start=1,
    )
)
"""Panels of a help page, after the one of the command's own options."""

OUTPUT = ("--output", "-o")
Out: TypeAlias = Annotated[Path | None, Parameter(name=OUTPUT)]

OutFile: TypeAlias = Annotated[Path, Parameter(name=OUTPUT)]


def _check_run_directory(kind: Any, value: Path | None) -> None:
    """Refuse a place that cannot be a run directory, before data are read or judges are asked."""
    if value is not None:
        check_folder(value)


RunOut: TypeAlias = Annotated[
    Path | None, Parameter(name=OUTPUT, validator=_check_run_directory)
]
"""A run directory."""


Markdown: TypeAlias = Annotated[
    str | None,
    Parameter(
        allow_leading_hyphen=True,
        help="File for a Markdown summary; - prints it instead of the tables.",
    ),
]
AsJson: TypeAlias = Annotated[
    bool,
    Parameter(name="--json", help="Print JSON on stdout instead of tables."),
]


def _parse_mapping(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not equals:
        raise ConfigError(
            f"--map {text}: expected FIELD=COLUMN, such as candidate=text"
        )
    return name.strip(), column.strip()


@Parameter(name="*", group=ROWS)
@dataclass(frozen=True)
class ItemDataGroup(DataOptions):
    """The selection of a command's rows in the data, and the columns of their fields."""

    map: Annotated[
        tuple[str, ...],
        Parameter(
            help="Column of a field, as FIELD=COLUMN, such as candidate=text; repeatable."
        ),
    ] = ()  # type: ignore[assignment]

    def __post_init__(self) -> None:
        super().__post_init__()
        # In a copy by dataclasses.replace it is parsed already.
        if not isinstance(self.map, Mapping):
            pairs = [_parse_mapping(text) for text in self.map]
            for name, n in Counter(name for name, _ in pairs).items():
                if n > 1:
                    raise ConfigError(
                        f"--map {name}: given {n} times; a field has one column"
                    )
            object.__setattr__(self, "map", dict(pairs))


@Parameter(name="*", group=ROWS)
@dataclass(frozen=True)
class DataGroup(ItemDataGroup):
    """The selection of rows for a command that reads no items."""

    map: Annotated[tuple[str, ...], Parameter(parse=False)] = ()
    references_from: Annotated[Path | None, Parameter(parse=False)] = None
    require_all: Annotated[bool, Parameter(parse=False)] = False
    group_references: Annotated[bool, Parameter(parse=False)] = False
    frames: Annotated[Frames | None, Parameter(parse=False)] = None


@Parameter(name="*", group=JUDGES)
@dataclass(frozen=True)
class JudgeGroup(JudgeOptions):
    """Settings of questions to judges; options in ``extra`` become part of the judge's spec."""

    extra: Annotated[Mapping[str, object], Parameter(parse=False)] = field(
        default_factory=dict
    )
    replicates: Annotated[
        int | None, Parameter(name=("--samples", "--replicates"))
    ] = None


@Parameter(name="*", group=WORK)
@dataclass(frozen=True)
class WorkGroup(WorkOptions):
    """Concurrency, storage and budget of a command."""

    # A text here, as a shell gives it; ``found`` makes a path or an address of it.
    cache: Annotated[
        str | None,
        Parameter(
            help="Cache of judge answers: a folder, postgresql://USER@HOST/NAME, or off."
        ),
    ] = None  # type: ignore[assignment]

    def to_options(self) -> WorkOptions:
        """The options of the run, with the file or database of the cache."""
        return WorkOptions(
            self.workers,
            self.concurrency,
            find_cache(self.cache),
            self.max_cost,
        )


@Parameter(name="*", group=JUDGES)
@dataclass(frozen=True)
class ToolGroup:
    """Judge and embedder of the metrics that name none themselves.

    Attributes:
        judge: Default judge: openai:MODEL, hf:MODEL, vllm:MODEL or 'panel(A, B)'.
        embedder: Default embedder: static, ordered, minilm, st:NAME or openai:MODEL.
    """

    judge: str | None = None
    embedder: str | None = None

    def specs(self) -> dict[str, str]:
        """Those that were given."""
        return {kind: spec for kind, spec in vars(self).items() if spec}


@Parameter(name="*", group=WORK)
@dataclass(frozen=True)
class EngineGroup:
    """The place of a run's work.

    Attributes:
        engine: Engine that scores: this machine, or a Ray cluster.
        address: Address of the Ray cluster; by default RAY_ADDRESS, else a new cluster here.
        parts: Storage shared by the cluster, as s3://BUCKET/PATH; by default the run directory.
    """

    engine: Literal["local", "ray"] = "local"
    address: str | None = None
    parts: str | None = None

    def to_engine(self) -> Engine | None:
        """The engine; None for this machine.

        Raises:
            ConfigError: An option is given that this machine does not take.
        """
        if self.engine == "ray":
            engine: Engine = load_object("beholder.ray:RayEngine")(
                self.address, self.parts
            )
            return engine
        # Ignored in silence, they would suggest that the cluster was used.
        for name in ("address", "parts"):
            if getattr(self, name) is not None:
                raise ConfigError(
                    f"--{name} is for --engine ray; name that, or leave it out"
                )
        return None


@Parameter(name="*", group=RESULTS)
@dataclass(frozen=True)
class TellGroup:
    """The output of a command.

    Attributes:
        dry_run: Check all input and count the questions, without asking or writing.
    """

    as_json: AsJson = False
    dry_run: bool = False


@Parameter(name="*", group=RESULTS)
@dataclass(frozen=True)
class FinishGroup(TellGroup):
    """The last actions of a command.

    Attributes:
        allow_failed: Failed items that still count as success.
        dry_run: Check all input and count the questions, without asking or writing.
    """

    allow_failed: int = 0

    def __post_init__(self) -> None:
        if self.allow_failed < 0:
            raise ConfigError(
                f"--allow-failed {self.allow_failed}: expected 0 or more"
            )


@Parameter(name="*")
@dataclass(frozen=True)
class ItemRunGroup:
    """Options of every command that makes a run over items."""

    rows: ItemDataGroup = field(default_factory=ItemDataGroup)
    judging: JudgeGroup = field(default_factory=JudgeGroup)
    work: WorkGroup = field(default_factory=WorkGroup)
    finish: FinishGroup = field(default_factory=FinishGroup)


@Parameter(name="*")
@dataclass(frozen=True)
class EngineRunGroup(ItemRunGroup):
    """The same, for runs that can work elsewhere than on this machine."""

    where: EngineGroup = field(default_factory=EngineGroup)


@Parameter(name="*")
@dataclass(frozen=True)
class RunGroup(EngineRunGroup):
    """The same, for runs over other subjects than items."""

    rows: DataGroup = field(default_factory=DataGroup)


@Parameter(name="*", group=JUDGES)
@dataclass(frozen=True)
class VoteJudgeGroup(JudgeGroup):
    """Settings of questions to judges; ratings have a temperature of their own."""

    temperature: Annotated[float | None, Parameter(parse=False)] = None
    replicates: Annotated[int | None, Parameter(parse=False)] = None


@Parameter(name="*")
@dataclass(frozen=True)
class StorylineRunGroup(ItemRunGroup):
    """Options of every run over storylines."""

    rows: DataGroup = field(default_factory=DataGroup)
    judging: VoteJudgeGroup = field(default_factory=VoteJudgeGroup)


@Parameter(name="*", group=SERVER)
@dataclass(frozen=True)
class ServerGroup:
    """The address of the pages.

    Attributes:
        host: Address to listen on; if others can reach it, they need their links.
        port: Port; 0 chooses a free one.
        name: Host name that browsers on other machines may use; repeatable.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    name: tuple[str, ...] = ()


@Parameter(name="*", group=SERVER)
@dataclass(frozen=True)
class ViewerGroup(ServerGroup):
    """The address of a viewer's pages.

    Attributes:
        host: Address to listen on; if others can reach it, they need the token.
        port: Port; 0 chooses a free one.
        token: Token that opens the pages, 16 characters or more; by default generated if it is
            needed.
    """

    port: int = 0
    token: str | None = None


@Parameter(name="*", group=RESULTS)
@dataclass(frozen=True)
class TablesGroup:
    """The files for tables besides the terminal.

    Attributes:
        tables: Folder for all tables as CSV, JSON and LaTeX.
    """

    tables: Path | None = None

    def write(self, tables: Iterable[Table]) -> None:
        """Write the tables, if a folder was named."""
        # The report package is slow to load, and most commands write no tables.
        if self.tables is not None:
            from beholder.report.study_tables import write_tables
            from beholder.terminal.printing import print_note

            print_note(
                f"tables: {self.tables} ({len(write_tables(tables, self.tables))} files)"
            )


@Parameter(name="*")
@dataclass(frozen=True)
class LabelGroup:
    """Human labels that correct means.

    Attributes:
        labels: Data file with human judgments of some items, matched by id; repeatable.
        label: Judgment of --labels to use, as NAME or METRIC.VALUE=NAME; NAME@1..10 sets its scale;
            repeatable.
    """

    labels: tuple[Path, ...] = ()
    label: tuple[str, ...] = ()


def find_cache(place: str | None) -> Path | Address | None:
    """Return the place of the shared cache: option, ``BEHOLDER_CACHE`` or the platform's folder.

    Args:
        place: A folder, the address of a database, ``off`` for no cache, or None.
    """
    location = (
        place or os.environ.get("BEHOLDER_CACHE") or str(_platform_folder())
    )
    if location == "off":
        return None
    cache = cache_place(location)
    return cache / "answers.sqlite" if isinstance(cache, Path) else cache


def _platform_folder() -> Path:
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local"))
            / "beholder"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/beholder"
    return (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        / "beholder"
    )
