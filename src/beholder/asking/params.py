"""Fields of a metric: a default, a line of help, what they may be, and what they change."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Mapping
from dataclasses import MISSING, Field, field, fields
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from beholder._version import __version__
from beholder.base.fingerprint import (
    digest_classes,
    digest_data_file,
    library_versions,
)
from beholder.base.ranges import check_number
from beholder.base.registry import find_origin
from beholder.base.spec import Spec, canonical_spec
from beholder.errors import ConfigError
from beholder.judges.base import Judge

UNSIGNED = frozenset(
    {
        *("api_key", "attempts", "batch", "batch_poll", "batch_quiet"),
        *("batch_size", "concurrency", "context", "facts", "key_env"),
        *("max_wait", "prices", "requests_per_minute", "timeout"),
        *("tokens_per_minute", "wait"),
    }
)
"""Options of beholder's own tools that change no number: how fast, how often and by which key.

``context`` only decides which questions are too long to be sent."""

_FILE_TOOLS = frozenset({"npz", "replay", "scripted"})
"""Tools whose argument is a file."""

_FILE_OPTIONS = frozenset({"prompts"})
"""Options of tools that are files, or folders of them."""

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
    is_file: bool = False,
    whole: tuple[int, float] | None = None,
    number: tuple[float, float] | None = None,
    above: bool = False,
) -> Any:
    """Return a config field of a metric; annotated ``Literal[...]``, it takes these values alone.

    Args:
        default: Value when the user says nothing; a field without one must be given.
        help: One line for docs and ``beholder show``; choices and default are added to it.
        affects_score: False leaves the field out of the signature.
        tool: The kind of tool the value names (``"embedder"``, ``"splitter"``); the signature then
            states the tool's identity (with version or model revision) and not only its name.
        is_file: Whether the value may be the path of a file; the signature then states a digest of
            its content and not its name.
        whole: Least and greatest whole number, such as ``(1, math.inf)``.
        number: Least and greatest number.
        above: Whether the number must be above the least one.
    """
    low, high = number or whole or (None, None)
    bounds = {"low": low, "high": high, "above": above, "whole": bool(whole)}
    metadata = {
        "help": help,
        "affects_score": affects_score,
        "tool": tool,
        "is_file": is_file,
        "bounds": None if low is None else bounds,
    }
    return field(default=default, metadata=metadata)


def params(metric: object) -> tuple[Field[Any], ...]:
    """Return the fields of a metric or metric class that ``param`` made, in order."""
    return tuple(f for f in fields(metric) if "help" in f.metadata)  # type: ignore[arg-type]


@cache
def choices(cls: type[Any]) -> Mapping[str, tuple[object, ...]]:
    """Return the allowed values of the ``Literal`` fields of a class, by name.

    Raises:
        ConfigError: The annotation of a field names what the module has not at run time.
    """
    choices_by_name = {}
    # Each class's annotations are resolved in its own module, since a name
    # there (with postponed evaluation) may be unknown in the module of a
    # subclass.
    for owner in reversed(cls.__mro__):
        annotations = inspect.get_annotations(owner)
        param_annotations = {
            p.name: annotations[p.name]
            for p in params(cls)
            if p.name in annotations
        }
        try:
            hints = get_type_hints(
                type("Hints", (), {"__annotations__": param_annotations}),
                vars(sys.modules[owner.__module__]),
            )
        except NameError as error:
            raise ConfigError(
                f"{owner.__name__}: an annotation cannot be read: {error}"
            ) from error
        choices_by_name.update(
            {
                n: get_args(h)
                for n, h in hints.items()
                if get_origin(h) is Literal
            }
        )
    return MappingProxyType(choices_by_name)


def validate_params(instance: object) -> None:
    """Check the choices of a new object, and normalise the specs of its tools.

    Called when a frozen dataclass with params is made, so that equal settings are equal objects.

    Raises:
        ConfigError: A value is not among the choices, or the name of a tool is not a spec.
    """
    cls: Any = type(instance)
    allowed = choices(cls)
    for p in params(instance):
        value = getattr(instance, p.name)
        if p.name in allowed and value not in allowed[p.name]:
            listed = ", ".join(map(repr, allowed[p.name]))
            raise ConfigError(f"{p.name}={value!r}: expected one of {listed}")
        # The default is exempt: None may stand for "no limit" and is no
        # number.
        if p.metadata["bounds"] and value is not p.default:
            check_number(p.name, value, **p.metadata["bounds"])
        if p.metadata["tool"] and value is not None:
            if isinstance(value, Judge):
                value = value.spec_text()
            if not isinstance(value, str | Spec):
                raise ConfigError(
                    f"{p.name}={value!r}: expected a spec, such as 'openai:MODEL'"
                )
            # The class is frozen, and its own guard would refuse the
            # assignment.
            object.__setattr__(instance, p.name, str(canonical_spec(value)))


def to_spec(name: str, instance: object) -> Spec:
    """Return the canonical spec of an object with params; those at their default are left out.

    A tool with options is included as a spec, any other as its text.
    """
    options: dict[str, object] = {}
    for p in params(instance):
        value = getattr(instance, p.name)
        if value != p.default:
            tool_spec = (
                canonical_spec(value)
                if p.metadata["tool"] and value is not None
                else None
            )
            options[p.name] = (
                tool_spec if tool_spec and tool_spec.options else value
            )
    return Spec(name, options=options)


@cache
def installed_version(package: str) -> str:
    """Return the version of an installed package.

    Cached, because reading its metadata costs more than many a score.
    """
    return version(package)


_DIGITS = 12
"""Digits of the digest of a file in a signature."""

TEXTS = "texts"
"""Names, among identities, how texts were changed before they were scored."""


def signature_of(
    name: str,
    instance: Any,
    config: Mapping[str, object],
    identities: Mapping[str, str] | None,
) -> str:
    """Return the signature: every param that affects the score, tools by identity, code, versions.

    Args:
        name: Registered name; what an outside distribution offers is called by its full one.
        instance: The object with the params.
        config: Resolved value of each param.
        identities: Identity per param that names a tool; others show their value, without what
            changes no number.
    """
    identity_by_name = identities or {}
    parts = []
    for p in params(instance):
        if p.metadata["affects_score"]:
            value: object = identity_by_name.get(p.name)
            if value is None:
                value = _signed_value(p, config[p.name])
            parts.append(f"{p.name}:{value}")
    if TEXTS in identity_by_name:
        parts.append(f"{TEXTS}:{identity_by_name[TEXTS]}")
    provider = find_origin(type(instance))  # type: ignore[arg-type]  # a type is hashable
    versions = (
        []
        if provider is None
        else [f"{provider.distribution}:{provider.version}"]
    )
    # What a judge is asked, and how its answer is read, may be in another package.
    operations = getattr(type(instance), "needs", ())
    code = digest_classes(type(instance), *operations)  # type: ignore[arg-type]  # types are hashable
    libraries = library_versions(type(instance), *operations)  # type: ignore[arg-type]
    if not any(libraries in part for part in parts):  # no tool states them
        code += libraries
    versions += [f"code:{code}", f"v:{__version__}"]
    return "|".join([full_name(name, type(instance)), *parts, *versions])


def _signed_value(p: Field[Any], value: object) -> object:
    if p.metadata["is_file"]:
        return _signed_file(str(value))
    if p.metadata["tool"] and value is not None:
        return signed_spec(canonical_spec(value))  # type: ignore[arg-type]  # checked when made
    return value


def signed_spec(spec: Spec) -> Spec:
    """Return the spec of a tool as a signature states it, where its identity is not known.

    Options that change no number are left out, and files are named by a digest of their content;
    a file that is missing shows its name. Options of other packages all stay.
    """
    if "/" in spec.name:
        return spec
    argument = spec.argument
    if argument is not None and spec.name in _FILE_TOOLS:
        argument = _signed_file(argument)
    options = {}
    for name, value in spec.options.items():
        if name in UNSIGNED:
            continue
        if name == "members":
            value = [signed_spec(member) for member in value]
        elif name in _FILE_OPTIONS and isinstance(value, str):
            value = _signed_file(value)
        options[name] = value
    return Spec(spec.name, argument, options)


def _signed_file(name: str) -> str:
    """Return ``@DIGEST`` of a file, or of the files of a folder; the name if there is none."""
    path = Path(name)
    if path.is_file():
        return f"@{digest_data_file(path)[:_DIGITS]}"
    if not path.is_dir():
        return name
    digests = [
        f"{file.relative_to(path).as_posix()}:{digest_data_file(file)}"
        for file in sorted(path.rglob("*"))
        if file.is_file()
    ]
    whole = hashlib.sha256("\n".join(digests).encode("utf-8")).hexdigest()
    return f"@{whole[:_DIGITS]}"


def full_name(name: str, cls: type[Any]) -> str:
    """Return the name of a class in specs: ``distribution/name`` for an outside package."""
    provider = find_origin(cls)  # type: ignore[arg-type]
    return name if provider is None else provider.name or name
