"""Fields of a metric: a default, a line of help, what they may be, and what they change."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Mapping
from dataclasses import MISSING, Field, field, fields
from functools import cache
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from beholder._version import __version__
from beholder.base.fingerprint import digest_of, library_versions_of
from beholder.base.registry import origin
from beholder.base.spec import Spec, tool
from beholder.errors import ConfigError
from beholder.judges.base import Judge

BUILTIN_JUDGE = "builtin"
"""Spec of the judge that is no model."""

REQUIRED = MISSING
"""Default of a field that the user must give."""


def param(
    default: Any = REQUIRED,
    help: str = "",
    *,
    affects_score: bool = True,
    tool: str | None = None,
    whole: tuple[int, int | None] | None = None,
    number: tuple[float, float] | None = None,
    above: bool = False,
) -> Any:
    """A config field of a metric; one annotated ``Literal[...]`` takes these values alone.

    Args:
        default: Value when the user says nothing; a field without one must be given.
        help: One line for docs and ``beholder show``; choices and default are added to it.
        affects_score: False leaves the field out of the signature.
        tool: The kind of tool the value names (``"embedder"``, ``"splitter"``); the signature then
            states the tool's identity (with version or model revision) and not only its name.
        whole: Least and most of a whole number; None: no most.
        number: Least and most of a number.
        above: Whether the number must be above the least one.
    """
    bounds: tuple[Any, ...] | None = (*number, above) if number else None
    if whole:
        bounds = (*whole, False, int)
    metadata = {
        "help": help,
        "affects_score": affects_score,
        "tool": tool,
        "bounds": bounds,
    }
    return field(default=default, metadata=metadata)


def params(metric: object) -> tuple[Field[Any], ...]:
    """The config fields of a metric or metric class, in order: those made by ``param``."""
    return tuple(f for f in fields(metric) if "help" in f.metadata)  # type: ignore[arg-type]


@cache
def choices(cls: type[Any]) -> Mapping[str, tuple[object, ...]]:
    """What the fields of a class may be, by name; fields that are not ``Literal`` are left out.

    Raises:
        ConfigError: The annotation of a field names what the module has not at run time.
    """
    found = {}
    for owner in reversed(cls.__mro__):
        own = inspect.get_annotations(owner)
        named = {p.name: own[p.name] for p in params(cls) if p.name in own}
        try:
            hints = get_type_hints(
                type("Hints", (), {"__annotations__": named}),
                vars(sys.modules[owner.__module__]),
            )
        except NameError as error:
            raise ConfigError(
                f"{owner.__name__}: an annotation cannot be read: {error}"
            ) from error
        found.update(
            {
                n: get_args(h)
                for n, h in hints.items()
                if get_origin(h) is Literal
            }
        )
    return MappingProxyType(found)


def validate_params(built: object) -> None:
    """Check the choices of what is being built, and write its tools in one way.

    Called when a frozen dataclass with params is made, so that equal settings are equal objects.

    Raises:
        ConfigError: A value is none of the choices, or what names a tool is no spec.
    """
    cls: Any = type(built)
    known = choices(cls)
    for p in params(built):
        value = getattr(built, p.name)
        if p.name in known and value not in known[p.name]:
            listed = ", ".join(map(repr, known[p.name]))
            raise ConfigError(f"{p.name}={value!r}: expected one of {listed}")
        if p.metadata["bounds"] and value is not p.default:
            check_number(p.name, value, *p.metadata["bounds"])
        if p.metadata["tool"] and value is not None:
            if isinstance(value, Judge):
                value = value.named()
            if not isinstance(value, str | Spec):
                raise ConfigError(
                    f"{p.name}={value!r}: expected a spec, such as 'openai:MODEL'"
                )
            object.__setattr__(built, p.name, str(tool(value)))


def check_number(
    name: str,
    value: object,
    low: float,
    high: float | None = None,
    above: bool = False,
    kind: type[float] = float,
) -> None:
    """Refuse what is no finite number within two bounds.

    Args:
        name: Of the field.
        value: Its value.
        low: Least number.
        high: Most; None: no most.
        above: Whether the number must be above the least one.
        kind: ``int`` for whole numbers.

    Raises:
        ConfigError: Names the field and its value.
    """
    most = math.inf if high is None else high
    if isinstance(value, int | kind) and not isinstance(value, bool):
        is_low = value <= low if above else value < low
        if not is_low and value <= most and math.isfinite(value):
            return
    wanted = "a whole number" if kind is int else "a number"
    least = f"above {low}" if above else f"from {low}"
    end = f" to {high}" if most < math.inf else ""
    raise ConfigError(f"{name}={value!r}: expected {wanted} {least}{end}")


def to_spec(name: str, built: object) -> Spec:
    """Canonical spec of what is built of params; those at their default are left out.

    A tool with options of its own is in it as a spec, any other as its text.
    """
    options: dict[str, object] = {}
    for p in params(built):
        value = getattr(built, p.name)
        if value != p.default:
            named = (
                tool(value)
                if p.metadata["tool"] and value is not None
                else None
            )
            options[p.name] = named if named and named.options else value
    return Spec(name, options=options)


@cache
def installed(package: str) -> str:
    """Version of an installed package; to read its metadata costs more than many a score."""
    return version(package)


TEXTS = "texts"
"""Names, among identities, how texts were changed before they were scored."""


def signature_of(
    name: str,
    built: Any,
    config: Mapping[str, object],
    identities: Mapping[str, str] | None,
) -> str:
    """Signature: every param that affects the score, tools by identity, code and versions.

    Args:
        name: Registered name; what an outside distribution offers is called by its full one.
        built: What has the params.
        config: The values they stand for.
        identities: Identity per param that names a tool; others show their value.
    """
    known = identities or {}
    parts = [
        f"{p.name}:{known.get(p.name, config[p.name])}"
        for p in params(built)
        if p.metadata["affects_score"]
    ]
    if TEXTS in known:
        parts.append(f"{TEXTS}:{known[TEXTS]}")
    found = origin(type(built))  # type: ignore[arg-type]  # a type is hashable
    versions = (
        [] if found is None else [f"{found.distribution}:{found.version}"]
    )
    # What a judge is asked, and how its answer is read, may be in another package.
    operations = getattr(type(built), "needs", ())
    code = digest_of(type(built), *operations)  # type: ignore[arg-type]  # types are hashable
    libraries = library_versions_of(type(built), *operations)  # type: ignore[arg-type]
    if not any(libraries in part for part in parts):  # no tool states them
        code += libraries
    versions += [f"code:{code}", f"v:{__version__}"]
    return "|".join([full_name(name, type(built)), *parts, *versions])


def full_name(name: str, cls: type[Any]) -> str:
    """The name of a class in specs: ``distribution/name`` if it comes from an outside one."""
    found = origin(cls)  # type: ignore[arg-type]
    return name if found is None else found.name or name
