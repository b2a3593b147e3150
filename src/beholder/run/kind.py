"""The registry of features and kinds of run; the only way to start or plan a run of a kind.

A feature is a value that names its parts as ``module:name``. A part is imported on use, so
``--help``, a report of one kind and ``import beholder`` load nothing of the other features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from beholder.base.optional import load_object
from beholder.base.registry import entry_points
from beholder.errors import ConfigError, RunError

if TYPE_CHECKING:
    from beholder.data.notes import RowNotes
    from beholder.run.plan import RunPlan
    from beholder.run.session import Engine, Progress
    from beholder.tables import Table

GROUP = "beholder.kinds"
"""Entry-point group of outside packages; an entry names a ``RunKind`` or a ``Feature``."""

Part: TypeAlias = str
"""``module:name``; empty if a feature has no such part."""

C = TypeVar("C")
"""Configuration of a run."""

G = TypeVar("G")
"""Input given in Python instead of a file; None if a kind reads files only."""

R = TypeVar("R")
"""The result of a run."""

_NONE: Mapping[str, Part] = MappingProxyType({})


@dataclass(frozen=True)
class Command:
    """A command of a feature.

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
class ComparisonExtra:
    """Tables that ``compare`` shows of two runs of a kind besides their paired differences.

    Attributes:
        plain: The same as JSON values.
        tables: Tables.
        notes: Lines for the terminal.
    """

    plain: Mapping[str, Any]
    tables: Sequence[Table]
    notes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Feature:
    """A feature for users: its commands, functions and page parts.

    Attributes:
        name: Its name.
        commands: Its commands.
        functions: Functions that an installed package adds to ``beholder``. Those of this package
            are in ``beholder/__init__.pyi``.
        section: ``(store) -> PageSection | None``: what it adds to the page of a run of scores.
        groups: ``(store) -> {column: {subject id: value}}``: what else the viewer groups the items
            of a run of scores by.
        templates: A package with a folder ``templates`` of templates and style sheets.
    """

    name: str
    commands: tuple[Command, ...] = ()
    functions: Mapping[str, Part] = field(default_factory=lambda: _NONE)
    section: Part = ""
    groups: Part = ""
    templates: str = ""


@dataclass(frozen=True, kw_only=True)
class RunKind(Feature, Generic[C, G, R]):
    """A feature that makes runs of one kind.

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
        subject_pages: Per kind of subject, the ``web.subject_pages.Draw`` of the viewer.
        comparison_extra: ``(run_a, run_b) -> ComparisonExtra``, for ``compare``.
        has_systems: Whether its runs score texts of systems, which ``leaderboard`` ranks.
        styles: Style sheets that its subjects need in the viewer.
    """

    run: Part
    plan: Part
    engines: bool = False
    page: Part = ""
    figures: Part = ""
    subject_pages: Mapping[str, Part] = field(default_factory=lambda: _NONE)
    comparison_extra: Part = ""
    has_systems: bool = False
    styles: tuple[str, ...] = ()


_BUILTIN: tuple[Part, ...] = (
    "beholder.kinds.scores.kind:KIND",
    "beholder.kinds.agreement.kind:FEATURE",
    "beholder.kinds.ranking.kind:KIND",
    "beholder.kinds.generation.kind:ROWS",
    "beholder.kinds.generation.kind:REVIEWS",
    "beholder.kinds.narratives.kind:KIND",
    "beholder.kinds.bidirectional.kind:FEATURE",
    "beholder.kinds.annotation.kind:FEATURE",
    "beholder.kinds.revise.kind:FEATURE",
    "beholder.kinds.audit.kind:FEATURE",
    "beholder.kinds.accept.kind:FEATURE",
    "beholder.kinds.filtering.kind:FEATURE",
    "beholder.kinds.choose.kind:FEATURE",
    "beholder.kinds.watch.kind:FEATURE",
    "beholder.lint.feature:FEATURE",
    "beholder.cli.feature:FEATURE",
)


def builtin_features() -> Iterator[Feature]:
    """Yield the features of this package; installed packages are not looked up."""
    return (load_object(part) for part in _BUILTIN)


def installed_features() -> Iterator[Feature]:
    """Yield the features of installed packages, by name.

    Raises:
        ConfigError: An entry point of the group ``beholder.kinds`` names something else.
    """
    for point in sorted(entry_points(GROUP), key=lambda point: point.name):
        feature = point.load()
        if not isinstance(feature, Feature):
            raise ConfigError(
                f"entry point {point.name!r} of {GROUP}: {point.value} is no RunKind"
                " and no Feature"
            )
        yield feature


def features() -> Iterator[Feature]:
    """Yield the features of this package, then those of installed packages by name.

    Raises:
        ConfigError: An entry point of the group ``beholder.kinds`` names something else.
    """
    yield from builtin_features()
    yield from installed_features()


def kinds() -> Iterator[RunKind[Any, Any, Any]]:
    """Yield the features that make runs.

    Raises:
        ConfigError: An entry point of the group ``beholder.kinds`` names something else.
    """
    return (feature for feature in features() if isinstance(feature, RunKind))


def kind_named(name: str) -> RunKind[Any, Any, Any]:
    """Return the kind of run of that name.

    Raises:
        RunError: No kind has that name; lists the names.
    """
    for kind in kinds():
        if kind.name == name:
            return kind
    raise RunError(
        f"there is no kind of run {name!r}; there are: {', '.join(kind.name for kind in kinds())}."
        " Install the package that made the run."
    )


def kind_of(folder: Path) -> RunKind[Any, Any, Any]:
    """Return the kind of a run directory.

    Raises:
        RunError: The folder contains no run, or one of an unknown kind.
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
        engine: Engine that does the work; None for this machine.

    Returns:
        What the kind returns.

    Raises:
        RunError: No kind has that name, or the run cannot continue.
        ConfigError: The kind works on this machine only, or the configuration is wrong.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    run_kind = kind_named(kind) if isinstance(kind, str) else kind
    if engine is not None and not run_kind.engines:
        raise ConfigError(
            f"runs of the kind {run_kind.name!r} work on this machine only; leave the engine out"
        )
    options = {"given": given, "notes": notes, "engine": engine}
    result: R = load_object(run_kind.run)(
        config, progress, **_drop_missing(options)
    )
    return result


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
        ConfigError: The configuration is wrong.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    run_kind = kind_named(kind) if isinstance(kind, str) else kind
    options = {"given": given, "notes": notes}
    run_plan: RunPlan = load_object(run_kind.plan)(
        config, **_drop_missing(options)
    )
    return run_plan


def _drop_missing(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are given: a kind may not take the others."""
    return {k: v for k, v in options.items() if v is not None}
