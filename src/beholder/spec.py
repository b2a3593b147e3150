"""Specs: the text form of a metric, judge, embedder or splitter.

Two spellings exist, and each prints back as it was read::

    vcs(rules='paper', lct=1)      a name with named literal arguments
    openai:gpt-4.1                 a name with one free argument (a model, a path)

Values are Python literals read with ``ast``; nothing is ever evaluated.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from beholder.errors import ConfigError

_NAME = re.compile(r"\s*([A-Za-z][\w.-]*(?:/[A-Za-z][\w.-]*)?)")


@dataclass(frozen=True)
class Spec:
    """A parsed spec.

    Attributes:
        name: Registered name: ``vcs``, or ``package/name`` for an outside package.
        argument: The text after ``name:``, or None.
        options: The named arguments in parentheses, as literals.
    """

    name: str
    argument: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.argument is not None:
            return f"{self.name}:{self.argument}"
        if not self.options:
            return self.name
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.options.items())})"


def parse(text: str) -> Spec:
    """Read a spec.

    Args:
        text: For example ``"vcs(rules='paper', lct=1)"`` or ``"st:all-MiniLM-L6-v2"``.

    Raises:
        ConfigError: The text is not a spec; the message shows the text and the place.
    """
    match = _NAME.match(text)
    if match is None:
        raise ConfigError(f"{text!r} is not a spec: expected a name such as vcs or vcs(lct=1)")
    name, rest = match.group(1), text[match.end() :].strip()
    if not rest:
        return Spec(name)
    if rest.startswith(":"):
        argument = rest[1:].strip()
        if not argument:
            raise ConfigError(f"{text!r} is not a spec: nothing stands after the colon")
        return Spec(name, argument=argument)
    if not rest.startswith("("):
        raise ConfigError(f"{text!r} is not a spec: expected '(' or ':' after {name!r}")
    return Spec(name, options=_parse_options(text, rest))


def _parse_options(text: str, rest: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f{rest}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConfigError(f"{text!r} is not a spec: {error}") from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ConfigError(f"{text!r} is not a spec: expected name(key=value, ...)")
    if call.args:
        raise ConfigError(f"{text!r}: arguments must be named, as in lct=1")
    options: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise ConfigError(f"{text!r}: '**' cannot be used in a spec")
        try:
            options[keyword.arg] = ast.literal_eval(keyword.value)
        except ValueError as error:
            written = ast.unparse(keyword.value)
            raise ConfigError(
                f"{text!r}: {keyword.arg}={written} is not a literal; quote text as '{written}'"
            ) from error
    return options
