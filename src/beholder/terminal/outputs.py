"""Places that a command writes: none may be what it reads, and errors name their option."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from beholder.base.files import check_folder
from beholder.errors import OutputError

OUTPUTS = {
    "out": "-o",
    "markdown": "--markdown",
    "tables": "--tables",
    "figures": "--figures",
    "gates": "--gates",
    "latex": "--latex",
    "figure": "--figure",
    "svg": "--svg",
    "html": "--html",
    "write": "--write",
    "write_baseline": "--write-baseline",
    "to": "--to",
}
"""Option by parameter that names what a command writes."""

_OPTIONS = frozenset({*OUTPUTS.values(), "--output"})

FOLDERS = frozenset({"tables", "figures"})
"""Those of them that are always folders."""

_OWNERS = ("run.json", "study.json")
"""Files by which a folder is known as a run or a study."""

_OWN_ENDINGS = frozenset({".json", ".jsonl", ".sqlite", ".parquet"})


@dataclass(frozen=True)
class NamedPlace:
    """A path that an argument of a command names.

    Attributes:
        name: Name of the parameter.
        option: Its option; empty for an argument without one.
        path: The path.
    """

    name: str
    option: str
    path: Path

    @property
    def is_output(self) -> bool:
        """Return whether the command writes there."""
        return self.name in OUTPUTS


def named_places(bound: inspect.BoundArguments) -> list[NamedPlace]:
    """Return the paths that parsed arguments name, in their order."""
    places: list[NamedPlace] = []
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters.get(name)
        has_option = (
            parameter is not None and parameter.kind is parameter.KEYWORD_ONLY
        )
        places += _places_in(name, value, has_option)
    return places


def _places_in(
    name: str, value: Any, has_option: bool
) -> Iterator[NamedPlace]:
    if is_dataclass(value) and not isinstance(value, type):
        for group_field in fields(value):
            inner = getattr(value, group_field.name)
            yield from _places_in(group_field.name, inner, True)
        return
    option = OUTPUTS.get(name, f"--{name.replace('_', '-')}") * has_option
    for part in value if isinstance(value, list | tuple) else (value,):
        # Data and Markdown may be "-", and are texts for that.
        is_text = isinstance(part, str) and (
            not has_option or name == "markdown"
        )
        if isinstance(part, Path) or (is_text and part != "-"):
            yield NamedPlace(name, option, Path(part))


def check_outputs(
    command: Callable[..., Any], places: Sequence[NamedPlace]
) -> None:
    """Refuse outputs that would replace what a command reads, or files of a run, before any work.

    Args:
        command: The command.
        places: The paths that its arguments name.

    Raises:
        OutputError: Names the place, and what is there.
    """
    for place, output in enumerate(places):
        if not output.is_output:
            continue
        if output.name in FOLDERS:
            check_folder(output.path)
        elif output.name == "markdown":
            check_folder(output.path.parent)
        for other in (*places[:place], *places[place + 1 :]):
            _refuse_shared(output, other)
        _refuse_own(output, command.__name__)


def _refuse_shared(output: NamedPlace, other: NamedPlace) -> None:
    # A baseline is brought up to date in its place, after all of it was read.
    names = {output.name, other.name}
    if names == {"baseline", "write_baseline"} or not _is_same(
        output.path, other.path
    ):
        return
    if other.is_output:
        raise OutputError(
            output.path,
            f"{output.path} would be written by {other.option} and by {output.option}",
        )
    if other.path.is_file():
        source = f" ({other.option})" if other.option else ""
        raise OutputError(
            output.path,
            f"{output.path} is read by this command{source}, and would be replaced",
        )


def _refuse_own(output: NamedPlace, command: str) -> None:
    """Refuse an output that would replace a file of a run or of a study."""
    # Tables are written under names that files of a run have, too.
    is_folder = output.name == "tables"
    folder = output.path if is_folder else output.path.absolute().parent
    owner = next((name for name in _OWNERS if (folder / name).exists()), None)
    if owner is None or not (is_folder or output.path.is_file()):
        return
    # Only the command that draws the page of a run may replace it.
    is_page = output.path.name == "report.html" and command != "report"
    if is_folder or is_page or output.path.suffix.lower() in _OWN_ENDINGS:
        kind = owner.removesuffix(".json")
        raise OutputError(
            output.path,
            f"{output.path} belongs to the {kind} in {folder}, and would be replaced",
        )


def _is_same(first: Path, second: Path) -> bool:
    """Return whether two paths lead to one regular file, or to one place without a file."""
    try:
        if first.exists() and second.exists():
            return first.is_file() and first.samefile(second)
        return os.path.realpath(first) == os.path.realpath(second)
    except (OSError, ValueError):  # a NUL in the name, a loop of links
        return False


def find_option(path: Path, arguments: Sequence[str]) -> str:
    """Return the option whose value is a path, or lies above or below it, as it was written.

    Args:
        path: The path that cannot be written.
        arguments: Arguments of the command line.

    Returns:
        The option of the longest such value; empty if there is none.
    """
    values_by_option: list[tuple[str, str]] = []
    for place, argument in enumerate(arguments):
        option, equals, value = argument.partition("=")
        if option not in _OPTIONS:
            continue
        if equals:
            values_by_option.append((option, value))
        elif place + 1 < len(arguments):
            values_by_option.append((option, arguments[place + 1]))
    absolute = path.absolute()
    matches = []
    for option, value in values_by_option:
        named = Path(value).absolute()
        # A folder is named and a file in it cannot be written, or a file and its folder cannot.
        if absolute.is_relative_to(named) or named.parent == absolute:
            matches.append((len(value), option))
    return max(matches, default=(0, ""))[1]
