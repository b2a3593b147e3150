"""Kinds of work and their registry, which every reader of runs and every door asks.

A kind is a value that names where its parts are, as ``module:name``. A part is imported when it is
used, so that help, a report of one kind and ``import beholder`` load nothing of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from beholder.errors import ConfigError, RunError
from beholder.optional import load

if TYPE_CHECKING:
    from beholder.run.plan import RunPlan
    from beholder.run.session import Progress
    from beholder.tables import Table

GROUP = "beholder.kinds"
"""Entry-point group of outside packages; an entry names a ``RunKind``."""

Part: TypeAlias = str
"""``module:name``; empty where a kind has no such part."""

_NONE: Mapping[str, Part] = MappingProxyType({})


@dataclass(frozen=True)
class Command:
    """A command of a kind.

    Attributes:
        name: As it is typed.
        function: Its function, or the ``app`` of a group of commands.
        place: Its place in the list of commands.
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
class RunKind:
    """One kind of work.

    Attributes:
        name: The kind, as ``run.json`` names it.
        run: ``(config, progress)``: carry a run out, or continue it.
        plan: ``(config) -> RunPlan``: read all input and report what a run would ask.
        page: ``(run_folder, output) -> Path``: write the HTML page of a run.
        figures: ``(run_folder, folder) -> list[Path]``: write the figures of a run.
        section: ``(store) -> PageSection | None``: what this kind adds to the page of a run of
            scores.
        subject_pages: Per kind of subject, how the viewer draws one: a ``web.subject_pages.Draw``.
        beside: ``(run_a, run_b) -> Beside``: what ``compare`` shows besides differences.
        has_systems: Whether its runs score items that systems wrote, which `leaderboard` ranks.
        commands: Its commands.
        functions: Its Python functions, as names of ``beholder``.
        templates: A package with a folder ``templates`` of templates and style sheets.
        styles: Style sheets that its subjects need in the viewer.
    """

    name: str
    run: Part = ""
    plan: Part = ""
    page: Part = ""
    figures: Part = ""
    section: Part = ""
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
)


def builtin_kinds() -> Iterator[RunKind]:
    """The kinds of this package; installed packages are not looked up."""
    return (load(part) for part in _BUILTIN)


def kinds() -> Iterator[RunKind]:
    """All kinds: those of this package, then those of installed packages by name.

    Raises:
        ConfigError: An entry point of the group ``beholder.kinds`` is no ``RunKind``.
    """
    yield from builtin_kinds()
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        found = point.load()
        if not isinstance(found, RunKind):
            raise ConfigError(f"entry point {point.name!r} of {GROUP}: {point.value} is no RunKind")
        yield found


def kind_named(name: str) -> RunKind:
    """The kind of a name.

    Raises:
        RunError: No kind has that name; names all.
    """
    for found in kinds():
        if found.name == name:
            return found
    raise RunError(
        f"there is no kind of run {name!r}; there are: {', '.join(one.name for one in kinds())}."
        " Install the package that made the run."
    )


def kind_of(folder: Path) -> RunKind:
    """The kind of a run directory.

    Raises:
        RunError: The folder holds no run, or one of an unknown kind.
    """
    from beholder.run import manifest  # loads numpy, for which help does not wait

    return kind_named(manifest.kind_of(folder))


def run(kind: str, config: Any, progress: Progress) -> Any:
    """Carry a run out, or continue it; what it gives depends on the kind.

    Args:
        kind: Name of the kind.
        config: Its configuration.
        progress: Is told how the run goes.

    Raises:
        RunError: No kind has that name, or the run cannot go on.
        ConfigError: The kind makes no runs, or the configuration is wrong.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    return _carry_out(kind_named(kind).run, kind)(config, progress)


def plan(kind: str, config: Any) -> RunPlan:
    """Read all input and report what a run would ask; nothing is asked or written.

    Args:
        kind: Name of the kind.
        config: Its configuration.

    Raises:
        RunError: No kind has that name.
        ConfigError: The kind makes no runs, or the configuration is wrong.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    found: RunPlan = _carry_out(kind_named(kind).plan, kind)(config)
    return found


def _carry_out(part: Part, kind: str) -> Callable[..., Any]:
    if not part:
        raise ConfigError(f"the kind {kind!r} makes no runs")
    found: Callable[..., Any] = load(part)
    return found
