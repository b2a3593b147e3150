"""The registry of kinds of work; the only way to start or plan a run of a kind.

A kind is a value that names its parts as ``module:name``. A part is imported on use, so ``--help``,
a report of one kind and ``import beholder`` load nothing of the other kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from beholder.base.optional import load
from beholder.base.registry import installed
from beholder.errors import ConfigError, RunError

if TYPE_CHECKING:
    from beholder.data.notes import RowNotes
    from beholder.run.plan import RunPlan
    from beholder.run.session import Engine, Progress
    from beholder.tables import Table

GROUP = "beholder.kinds"
"""Entry-point group of outside packages; an entry names a ``RunKind``."""

Part: TypeAlias = str
"""``module:name``; empty if a kind has no such part."""

C = TypeVar("C")
"""Configuration of a run."""

G = TypeVar("G")
"""Input given in Python instead of a file; None if a kind reads files only."""

R = TypeVar("R")
"""What a run returns."""

_NONE: Mapping[str, Part] = MappingProxyType({})


@dataclass(frozen=True)
class Command:
    """A command of a kind.

    Attributes:
        name: Its name on the command line.
        function: Its function, or the ``app`` of a group of commands.
        place: Its position in the list of commands.
        is_group: Whether it is a group of commands.
    """

    name: str
    function: Part
    place: int = 1000
    is_group: bool = False


@dataclass(frozen=True)
class Beside:
    """What ``compare`` shows of two runs of a kind besides their paired differences.

    Attributes:
        plain: The same as JSON values.
        tables: Tables.
        notes: Lines for the terminal.
    """

    plain: Mapping[str, Any]
    tables: Sequence[Table]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class RunKind(Generic[C, G, R]):
    """One kind of work.

    Attributes:
        name: The kind, as ``run.json`` names it.
        run: ``(config: C, progress) -> R``: make a run, or resume it. It also takes ``given: G``
            and ``notes`` if the kind accepts input from Python, and ``engine`` if ``engines`` is
            set.
        plan: ``(config: C) -> RunPlan``: read all input and report what a run would ask. It also
            takes ``given: G`` if the kind accepts input from Python.
        engines: Whether its runs can work elsewhere than on this machine.
        page: ``(run_folder, output) -> Path``: write the HTML page of a run.
        figures: ``(run_folder, folder) -> list[Path]``: write the figures of a run.
        section: ``(store) -> PageSection | None``: what this kind adds to the page of a run of
            scores.
        groups: ``(store) -> {column: {subject id: value}}``: what else the viewer groups the items
            of a run of scores by.
        subject_pages: Per kind of subject, the ``web.subject_pages.Draw`` of the viewer.
        beside: ``(run_a, run_b) -> Beside``: what ``compare`` shows besides differences.
        has_systems: Whether its runs score texts of systems, which ``leaderboard`` ranks.
        commands: Its commands.
        functions: Its Python functions, as names of ``beholder``. Those of the kinds in this
            package are in ``beholder/__init__.pyi``, for type checkers, too.
        templates: A package with a folder ``templates`` of templates and style sheets.
        styles: Style sheets that its subjects need in the viewer.
    """

    name: str
    run: Part = ""
    plan: Part = ""
    engines: bool = False
    page: Part = ""
    figures: Part = ""
    section: Part = ""
    groups: Part = ""
    subject_pages: Mapping[str, Part] = field(default_factory=lambda: _NONE)
    beside: Part = ""
    has_systems: bool = False
    commands: tuple[Command, ...] = ()
    functions: Mapping[str, Part] = field(default_factory=lambda: _NONE)
    templates: str = ""
    styles: tuple[str, ...] = ()


_BUILTIN: tuple[Part, ...] = (
    "beholder.kinds.scores.kind:KIND",
    "beholder.kinds.agreement.kind:KIND",
    "beholder.kinds.ranking.kind:KIND",
    "beholder.kinds.generation.kind:ROWS",
    "beholder.kinds.generation.kind:REVIEWS",
    "beholder.kinds.narratives.kind:KIND",
    "beholder.kinds.bidirectional.kind:KIND",
    "beholder.kinds.annotation.kind:KIND",
    "beholder.kinds.revise.kind:KIND",
    "beholder.kinds.audit.kind:KIND",
)


def builtin_kinds() -> Iterator[RunKind[Any, Any, Any]]:
    """The kinds of this package; installed packages are not looked up."""
    return (load(part) for part in _BUILTIN)


def kinds() -> Iterator[RunKind[Any, Any, Any]]:
    """All kinds: those of this package, then those of installed packages by name.

    Raises:
        ConfigError: An entry point of the group ``beholder.kinds`` is no ``RunKind``.
    """
    yield from builtin_kinds()
    for point in sorted(installed(GROUP), key=lambda one: one.name):
        found = point.load()
        if not isinstance(found, RunKind):
            raise ConfigError(
                f"entry point {point.name!r} of {GROUP}: {point.value} is no RunKind"
            )
        yield found


def kind_named(name: str) -> RunKind[Any, Any, Any]:
    """The kind of that name.

    Raises:
        RunError: No kind has that name; lists the names.
    """
    for found in kinds():
        if found.name == name:
            return found
    raise RunError(
        f"there is no kind of run {name!r}; there are: {', '.join(one.name for one in kinds())}."
        " Install the package that made the run."
    )


def kind_of(folder: Path) -> RunKind[Any, Any, Any]:
    """The kind of a run directory.

    Raises:
        RunError: The folder holds no run, or one of an unknown kind.
    """
    from beholder.run import manifest  # loads numpy, which help does not need

    return kind_named(manifest.kind_of(folder))


def run(
    kind: RunKind[C, G, R] | str,
    config: C,
    progress: Progress,
    *,
    given: G | None = None,
    notes: RowNotes | None = None,
    engine: Engine | None = None,
) -> R:
    """Make a run, or resume it.

    Args:
        kind: The kind, or its name.
        config: Its configuration.
        progress: Receives the progress of the run.
        given: Input from Python instead of what the configuration names.
        notes: Has what the reader of ``given`` noted, for a kind that takes it.
        engine: Where the work is done; None for this machine.

    Returns:
        What the kind returns.

    Raises:
        RunError: No kind has that name, or the run cannot continue.
        ConfigError: The kind makes no runs or works on this machine only, or the configuration is
            wrong.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    found = kind_named(kind) if isinstance(kind, str) else kind
    if engine is not None and not found.engines:
        raise ConfigError(
            f"runs of the kind {found.name!r} work on this machine only; leave the engine out"
        )
    made: R = _call(
        found,
        found.run,
        config,
        progress,
        given=given,
        notes=notes,
        engine=engine,
    )
    return made


def plan(
    kind: RunKind[C, G, Any] | str,
    config: C,
    *,
    given: G | None = None,
    notes: RowNotes | None = None,
) -> RunPlan:
    """Read all input and report what a run would ask, without asking or writing anything.

    Args:
        kind: The kind, or its name.
        config: Its configuration.
        given: Input from Python instead of what the configuration names.
        notes: Has what the reader of ``given`` noted, for a kind that takes it.

    Raises:
        RunError: No kind has that name.
        ConfigError: The kind makes no runs, or the configuration is wrong.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    found = kind_named(kind) if isinstance(kind, str) else kind
    planned: RunPlan = _call(
        found, found.plan, config, given=given, notes=notes
    )
    return planned


def _call(
    kind: RunKind[Any, Any, Any], part: Part, *positional: Any, **optional: Any
) -> Any:
    if not part:
        raise ConfigError(f"the kind {kind.name!r} makes no runs")
    return load(part)(
        *positional, **{k: v for k, v in optional.items() if v is not None}
    )
