"""Registries of what can be extended, and the checks of options that specs and files give.

Built-in entries are in a table of ``module:name`` strings, so that listing the names imports
nothing. Outside packages offer theirs through an entry-point group and are called ``package/name``;
they are imported when asked for.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib import metadata
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Generic, Literal, TypeVar, Union

from beholder.base.fingerprint import digest_classes, library_versions
from beholder.base.optional import load_object
from beholder.base.spec import Spec, parse_spec
from beholder.errors import ConfigError, UnknownNameError

_CHECKED_TYPES: tuple[tuple[tuple[Any, ...], Any, str], ...] = (
    ((bool,), bool, "true or false"),
    ((int,), int, "a whole number"),
    ((float,), int | float, "a number"),
    ((str,), str, "a text"),
    ((Path,), str | Path, "a path"),
    ((None, NoneType), NoneType, "nothing"),
    ((list, tuple, Sequence), list | tuple, "a list"),
    ((dict, Mapping), Mapping, "a dict of fields"),
)
"""Types that are checked: what annotates them, what a value is, and how messages call it."""


def check_types(
    target: Callable[..., Any], options: Mapping[str, object], place: str
) -> None:
    """Refuse values that are not of the type that a function or a class says it takes.

    Texts, numbers, truth values, lists, tables and choices among them are checked; what is
    annotated in another way is left to the taker.

    Args:
        target: Function or class that will be called.
        options: Its keyword arguments.
        place: Place of the options, for the message.

    Raises:
        ConfigError: Names the option, the value and what is expected.
    """
    function = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]
    namespace = getattr(function, "__globals__", {})
    # Each annotation is resolved by itself: one that cannot be must not hide the others.
    for name, parameter in inspect.signature(target).parameters.items():
        if name not in options:
            continue
        try:
            holder = type(
                "Hints", (), {"__annotations__": {name: parameter.annotation}}
            )
            hint = typing.get_type_hints(holder, namespace)[name]
        except NameError:
            # The annotation is imported for type checkers alone.
            continue
        if not _fits(options[name], hint):
            raise ConfigError(
                f"{place}: {name}={options[name]!r}: expected {' or '.join(_describe_type(hint))}"
            )


def _fits(value: object, hint: Any) -> bool:
    origin = typing.get_origin(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, member) for member in typing.get_args(hint))
    if origin is Literal:
        return value in typing.get_args(hint)
    allowed = [
        kind for hints, kind, _ in _CHECKED_TYPES if (origin or hint) in hints
    ]
    fits = all(isinstance(value, kind) for kind in allowed)
    # A bool is an int in Python, but ``lct=True`` is a mistake.
    return fits and not (hint in (int, float) and isinstance(value, bool))


def _describe_type(hint: Any) -> list[str]:
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin in (Union, UnionType):
        return [
            word
            for argument in arguments
            if argument is not NoneType
            for word in _describe_type(argument)
        ]
    if origin is Literal:
        return [f"one of {', '.join(map(repr, arguments))}"]
    words = [
        phrase
        for hints, _, phrase in _CHECKED_TYPES
        if (origin or hint) in hints
    ]
    return words or [str(getattr(hint, "__name__", hint))]


T = TypeVar("T")

_MOST_MATCHES = 5
"""Similar names that the message on an unknown name suggests."""


@dataclass(frozen=True)
class Origin:
    """The outside distribution that a class comes from.

    Attributes:
        name: ``distribution/name`` of its entry point; empty if it has none.
        distribution: Name of the distribution.
        version: Its version.
    """

    name: str
    distribution: str
    version: str


def entry_points(group: str) -> EntryPoints:
    """The entry points of a group; searched again, in 40 ms, only if ``sys.path`` has changed."""
    return _search_entry_points(group, _path_state())


@lru_cache(maxsize=16)
def _search_entry_points(
    group: str, path: tuple[tuple[str, int], ...]
) -> EntryPoints:
    return metadata.entry_points(group=group)


# The name of a distribution is read from its metadata each time that it is asked for.
@lru_cache(maxsize=16)
def _points_by_name(
    group: str, path: tuple[tuple[str, int], ...]
) -> dict[str, EntryPoint]:
    return {
        f"{point.dist.name}/{point.name}": point
        for point in _search_entry_points(group, path)
        if point.dist
    }


def _path_state() -> tuple[tuple[str, int], ...]:
    """Each folder of ``sys.path`` and when something was last installed in it."""
    return tuple((folder, _modified_at(folder)) for folder in sys.path)


def _modified_at(folder: str) -> int:
    """When something was last installed in a folder; 0 if there is no such folder."""
    try:
        return Path(folder or ".").stat().st_mtime_ns
    except OSError:
        return 0


@cache
def find_origin(cls: type[Any]) -> Origin | None:
    """The outside distribution of a class; None of ours, and of code that is not installed."""
    # An entry point that loads the class gives its full name; else the module's distribution does.
    package = cls.__module__.partition(".")[0]
    if package in ("beholder", "__main__"):
        return None
    for group in sorted(metadata.entry_points().groups):
        for point in (
            metadata.entry_points(group=group)
            if group.startswith("beholder.")
            else ()
        ):
            if (dist := point.dist) and _loads(point, cls, package):
                return Origin(
                    f"{dist.name}/{point.name}", dist.name, dist.version
                )
    for name in distributions_by_module().get(package, ()):
        return Origin("", name, metadata.version(name))
    return None


def _loads(point: EntryPoint, cls: type[Any], package: str) -> bool:
    if point.value == f"{cls.__module__}:{cls.__qualname__}":
        return True
    if point.module.partition(".")[0] != package:
        return False
    try:
        return point.load() is cls
    except (ImportError, AttributeError):
        # It is another class, whose extra is missing.
        return False


@cache
def distributions_by_module() -> Mapping[str, list[str]]:
    """Names of the installed distributions by module."""
    return metadata.packages_distributions()


def versioned_identity(
    tool: object, identity: str, *classes: type[Any]
) -> str:
    """The identity of a tool with a digest of its code, and the versions of packages behind it.

    Args:
        tool: The tool.
        identity: Its own identity, such as the revision of its weights.
        classes: Further classes that its answers pass.
    """
    digest = digest_classes(type(tool), *classes)  # type: ignore[arg-type]  # classes are hashable
    if digest not in identity:
        identity += f"{'+' if '@' in identity else '@'}{digest}"
    libraries = library_versions(type(tool), *classes)  # type: ignore[arg-type]
    if libraries not in identity:
        identity += libraries
    outside_origin = find_origin(type(tool))  # type: ignore[arg-type]  # classes are hashable
    return (
        identity
        if outside_origin is None
        else f"{identity}[{outside_origin.distribution}:{outside_origin.version}]"
    )


class Registry(Generic[T]):
    """Names and the classes they stand for.

    Built-in classes are in a table of ``module:Class`` strings, so that listing the names imports
    nothing. Outside packages offer classes through an entry-point group and are called
    ``package/name``; they are imported when asked for.

    Args:
        kind: Kind of the registered objects, for messages: ``"metric"``.
        base: Every registered class must be a subclass of it.
        builtin: Name to ``module:Class``.
        group: The entry-point group of outside packages, for example ``"beholder.metrics"``.
        aliases: Further names of built-in classes, which ``names`` leaves out.
        command: Command that lists the names, for the message on an unknown one; None lists them
            in the message.

    Attributes:
        script_names: Names, of any registry, whose classes the script that runs has defined.
    """

    script_names: ClassVar[set[str]] = set()

    def __init__(
        self,
        kind: str,
        base: type[T],
        builtin: Mapping[str, str],
        group: str,
        aliases: Mapping[str, str] | None = None,
        command: str | None = None,
    ) -> None:
        self.kind = kind
        self.base = base
        self.group = group
        self.command = command
        self._builtin = dict(builtin)
        self._aliases = dict(aliases or {})
        self._classes: dict[str, type[T]] = {}

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Register a class of your own process under a name (decorator).

        Raises:
            ConfigError: The name is taken, or the class is not a subclass of the base.
        """

        def decorate(cls: type[T]) -> type[T]:
            self._check_class(name, cls)
            if name in self.names() or name in self._aliases:
                raise ConfigError(
                    f"the {self.kind} name {name!r} is taken; choose another"
                )
            self._classes[name] = cls
            if cls.__module__ == "__main__":
                self.script_names.add(name)
            return cls

        return decorate

    def get(self, name: str) -> type[T]:
        """The class of a name, imported if need be.

        Raises:
            UnknownNameError: Nothing has that name; the message has the closest names, and all
                names or the command that lists them.
            ConfigError: The class of an outside package cannot be imported, or has another base.
        """
        name = self._aliases.get(name, name)
        if name in self._classes:
            return self._classes[name]
        cls = (
            load_object(self._builtin[name])
            if name in self._builtin
            else self._load_outside_class(name)
        )
        self._check_class(name, cls)
        self._classes[name] = cls
        return cls

    def build(self, spec: str | Spec, /, **options: object) -> T:
        """Make an object from its spec.

        The spec's free argument, as in ``st:NAME``, is the first argument of the class; its named
        arguments and ``options`` are keyword arguments, and those of the spec go first.

        Raises:
            UnknownNameError: Nothing has that name.
            ConfigError: The spec cannot be read, or its arguments do not fit the class.
        """
        parsed = parse_spec(spec) if isinstance(spec, str) else spec
        cls = self.get(parsed.name)
        arguments = () if parsed.argument is None else (parsed.argument,)
        keywords = {**options, **parsed.literals()}
        try:
            inspect.signature(cls).bind(*arguments, **keywords)
        except TypeError as error:
            raise ConfigError(
                f"{self.kind} {str(parsed)!r}: {error}"
            ) from error
        check_types(cls, keywords, f"{self.kind} {str(parsed)!r}")
        return cls(*arguments, **keywords)

    def takes(self, name: str, option: str) -> bool:
        """Return whether the class of a name takes an option of that name.

        Raises:
            UnknownNameError: Nothing has that name.
        """
        return option in inspect.signature(self.get(name)).parameters

    def builtin(self) -> list[str]:
        """The names of beholder's own classes."""
        return list(self._builtin)

    def names(self) -> list[str]:
        """All names, built-in ones first, nothing imported."""
        return list(
            dict.fromkeys(
                [*self._builtin, *self._classes, *self._outside_points()]
            )
        )

    def _outside_points(self) -> dict[str, EntryPoint]:
        return _points_by_name(self.group, _path_state())

    def _load_outside_class(self, name: str) -> type[T]:
        if point := self._outside_points().get(name):
            try:
                return point.load()  # type: ignore[no-any-return]
            except Exception as error:
                # The package's own code may raise anything.
                raise ConfigError(
                    f"{self.kind} {name!r} cannot be loaded from {point.value!r}:"
                    f" {type(error).__name__}: {error};"
                    f" correct the entry point of {name.partition('/')[0]} or its code, and if"
                    " its pyproject.toml changed, install it again"
                ) from error
        # Suggest other capitals, then the bare name of an outside class, then the closest spelling.
        names = self.names()
        matches = [
            choice for choice in names if choice.lower() == name.lower()
        ]
        matches = matches or [
            choice for choice in names if choice.partition("/")[2] == name
        ]
        matches = matches or get_close_matches(
            name.lower(), names, n=_MOST_MATCHES, cutoff=0.5
        )
        hint = (
            f"; did you mean {' or '.join(map(repr, matches))}?"
            if matches
            else "."
        )
        listing = (
            f"`{self.command}` lists all"
            if self.command
            else f"There are: {', '.join(names)}"
        )
        raise UnknownNameError(
            f"no {self.kind} is called {name!r}{hint} {listing}"
        )

    def _check_class(self, name: str, cls: object) -> None:
        if not (isinstance(cls, type) and issubclass(cls, self.base)):
            raise ConfigError(
                f"{self.kind} {name!r}: {cls!r} is not a subclass of {self.base.__name__}"
            )
