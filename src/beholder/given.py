"""Values of options, as specs and files give them, checked against annotations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from beholder.errors import ConfigError

_IN_WORDS: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a path",
    NoneType: "nothing",
}


def check_types(taker: Callable[..., Any], options: Mapping[str, object], place: str) -> None:
    """Refuse values that are not of the type that a function or a class says it takes.

    Texts, numbers, truth values, lists, tables and choices among them are checked; what is
    annotated in another way is left to the taker.

    Args:
        taker: What will be called.
        options: Its keyword arguments.
        place: Where they were given, for the message.

    Raises:
        ConfigError: Names the option, the value and what is expected.
    """
    body = taker.__init__ if isinstance(taker, type) else taker  # type: ignore[misc]
    where = getattr(body, "__globals__", {})
    for name, taken in inspect.signature(taker).parameters.items():
        if name not in options:
            continue
        try:
            own = type("Hints", (), {"__annotations__": {name: taken.annotation}})
            hint = get_type_hints(own, where)[name]
        except NameError:  # imported for type checkers alone
            continue
        if not _fits(options[name], hint):
            raise ConfigError(
                f"{place}: {name}={options[name]!r}: expected {' or '.join(_words(hint))}"
            )


def _fits(value: object, hint: Any) -> bool:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if hint in (None, NoneType):
        return value is None
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint is Path:
        return isinstance(value, str | Path)
    if hint in (str, bool):
        return isinstance(value, hint)
    if origin in (list, tuple, Sequence):
        return isinstance(value, list | tuple)
    if origin in (dict, Mapping):
        return isinstance(value, Mapping)
    return True


def _words(hint: Any) -> list[str]:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return [word for one in get_args(hint) if one is not NoneType for word in _words(one)]
    if origin is Literal:
        return [f"one of {', '.join(map(repr, get_args(hint)))}"]
    if origin in (list, tuple, Sequence):
        return ["a list"]
    if origin in (dict, Mapping):
        return ["a dict of fields"]
    return [_IN_WORDS.get(hint) or str(getattr(hint, "__name__", hint))]
