"""Specs: the text form of a metric, judge, embedder or splitter.

One grammar for all of them::

    spec   = name | name ":" text | name "(" [ part { "," part } ] ")"
    part   = text | spec | key "=" value
    value  = text | number | True | False | None | spec | "[" values "]" | "(" values ")" | dict

    vcs(rules='paper', lct=1)                   named arguments
    openai('gpt-4.1', temperature=0.7)          the free argument (a model, a file), then named ones
    openai:gpt-4.1                              the same without quotes, up to the end of the text
    panel(members=[openai('a'), hf('b')])       specs are values
    panel(openai:a, hf:b(temperature=0))        specs without a name are ``members``

Values are literals; nothing is ever evaluated. ``str`` gives the canonical text of a spec: reading
and printing it again changes nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from beholder.errors import ConfigError

MAX_LENGTH = 20_000
"""Characters of the longest spec that is read."""

MAX_DEPTH = 20
"""Specs, lists and dicts inside each other, at most."""

_NAME = re.compile(r"[A-Za-z][\w.-]*(?:/[A-Za-z][\w.-]*)?")
_KEY = re.compile(r"[A-Za-z_]\w*\s*=")
_SPACE = re.compile(r"\s*")
_ESCAPE = (
    r"""\\(?:[\\'"abfnrtv]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})"""
)
_TEXT = re.compile(
    rf"""'(?:[^'\\\n]|{_ESCAPE})*'|"(?:[^"\\\n]|{_ESCAPE})*\""""
)
_NUMBER = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?"
)
_CONSTANTS = {"True": True, "False": False, "None": None}
_BARE_ARGUMENT = re.compile(r"[^\s,()\[\]{}'\"]+")
_OPTIONS_AT_END = re.compile(
    r"([^\s()]+)(\(\s*[A-Za-z_]\w*\s*=.*\))", re.DOTALL
)
_NAMED = re.compile(r"\s*([\w.-]+)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class Spec:
    """A parsed spec.

    Attributes:
        name: Registered name: ``vcs``, or ``package/name`` for an outside package.
        argument: The free argument: a model, a file; or None.
        options: The named arguments: literals, specs, and lists, tuples and dicts of them.
    """

    name: str
    argument: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        bare = self.argument if not self.options else None
        if (
            bare
            and bare == bare.strip()
            and not _OPTIONS_AT_END.fullmatch(bare)
        ):
            return f"{self.name}:{bare}"
        return self.called()

    def called(self) -> str:
        """The text with brackets instead of a colon, as it stands inside another spec."""
        parts = [] if self.argument is None else [repr(self.argument)]
        parts += [
            f"{key}={_written(value)}" for key, value in self.options.items()
        ]
        return f"{self.name}({', '.join(parts)})" if parts else self.name

    def literals(self) -> Mapping[str, Any]:
        """The options of what takes no specs as values.

        Raises:
            ConfigError: A value is a spec, often a text whose quotes were forgotten.
        """
        for key, value in self.options.items():
            for inner in _specs_in(value):
                if (
                    key == "members"
                    and self.argument is None
                    and value == [Spec(inner.name)]
                ):
                    raise ConfigError(
                        f"{self.name}({inner}): text in brackets needs quotes; write"
                        f" {self.name}:{inner} or {self.name}('{inner}')"
                    )
                raise ConfigError(
                    f"{self}: {key}={_written(value)} is not a literal; quote text as"
                    f" {str(inner)!r}"
                )
        return dict(self.options)


def parse(text: str) -> Spec:
    """Read a spec.

    Args:
        text: For example ``"vcs(rules='paper', lct=1)"`` or ``"st:all-MiniLM-L6-v2"``.

    Raises:
        ConfigError: The text is not a spec; the message shows the text and the place.
    """
    if len(text) > MAX_LENGTH:
        raise ConfigError(
            f"{text[:40]!r}... is not a spec: it has {len(text)} characters, at most {MAX_LENGTH}"
            " are read"
        )
    _check_text(text)
    bare = text.strip()
    name = _NAME.match(bare)
    if name is None:
        raise ConfigError(
            f"{text!r} is not a spec: expected a name such as vcs or vcs(lct=1)"
        )
    rest = bare[name.end() :].lstrip()
    if rest and rest[0] not in "(:":
        raise ConfigError(
            f"{text!r} is not a spec: expected '(' or ':' after {name[0]!r}"
        )
    if not rest.startswith(":"):
        return _Reader(bare).whole()
    argument = rest[1:].strip()
    if not argument:
        raise ConfigError(
            f"{text!r} is not a spec: nothing stands after the colon"
        )
    # Other brackets belong to the argument, as in the name of a file.
    found = _OPTIONS_AT_END.fullmatch(argument)
    return (
        _Reader(found[2]).whole(name[0], found[1])
        if found
        else Spec(name[0], argument)
    )


def listed(texts: Iterable[str]) -> tuple[str, ...]:
    """Specs that were given one by one or with commas between them."""
    found: list[str] = []
    for text in texts:
        try:
            several = (
                parse(f"list({text})").options.get("members", [])
                if "," in text
                else []
            )
        except (
            ConfigError
        ):  # whoever reads the text says what is wrong with it
            several = []
        found += [str(one) for one in several] if len(several) > 1 else [text]
    return tuple(found)


def tool(given: str | Spec) -> Spec:
    """The canonical spec of a tool, such as a judge: equal tools have equal specs.

    The free argument may be written ``model=``, members as texts, options in any order::

        openai:m  ==  openai('m')  ==  openai(model='m')

    Raises:
        ConfigError: The text is not a spec, names its model twice, or holds a secret.
    """
    parsed = parse(given) if isinstance(given, str) else given
    _check_no_secrets(parsed.name, parsed.options)
    options = dict(sorted(parsed.options.items()))
    argument = parsed.argument
    if isinstance(options.get("model"), str) and options["model"]:
        if argument is not None:
            raise ConfigError(
                f"{str(parsed)!r} names two models; leave one out"
            )
        argument = options.pop("model")
    members = options.get("members")
    if isinstance(members, list | tuple):
        if not all(isinstance(member, str | Spec) for member in members):
            raise ConfigError(
                f"{str(parsed)!r}: members are specs, such as [openai('a'), hf('b')]"
            )
        options["members"] = [tool(member) for member in members]
    return Spec(parsed.name, argument, options)


_SECRET = re.compile(
    r"(.*[-_])?(api[-_]?key|key|pass(word|wd|phrase)?|secret|auth[-_]?token|access[-_]?token|token"
    r"|bearer|authorization|credentials?)",
    re.IGNORECASE,
)
_ADDRESS_WITH_SECRET = re.compile(
    r"\s*[A-Za-z][A-Za-z0-9+.-]*://[^/\s]*@|.*://.*[?&]\S*="
)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


def _check_no_secrets(name: str, value: object, key: str = "") -> None:
    """Refuse what must not be kept: a spec is in names, signatures, tables and reports.

    Messages name the option and never the value.
    """
    if key == "key_env" and value is not None:
        if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
            raise ConfigError(
                f"{name}: key_env is the name of an environment variable, in capitals, such as"
                " OPENAI_API_KEY; the key itself stands nowhere but in that variable"
            )
    elif isinstance(value, Mapping):
        for inner, given in value.items():
            _check_no_secrets(name, given, str(inner))
    elif isinstance(value, list | tuple):
        for given in value:
            _check_no_secrets(name, given, key)
    elif isinstance(value, str) and value and _SECRET.fullmatch(key):
        raise ConfigError(
            f"{name}: {key} looks like a secret, and a spec is written into every result; set the"
            " key as an environment variable and name that variable: key_env='NAME'"
        )
    elif isinstance(value, str) and _ADDRESS_WITH_SECRET.match(value):
        raise ConfigError(
            f"{name}: {key} is an address with a user name, a password or a query, and a spec is"
            " written into every result; give the address beside it (--base-url), or the key by"
            " key_env='NAME'"
        )


def _check_text(text: str) -> None:
    """Refuse what can be neither the name of a file nor written into a result."""
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ConfigError(
            f"{text[:80]!r} is not a spec: it holds a NUL or half a surrogate pair"
        )


def with_value(text: str) -> tuple[Spec, str | None]:
    """A metric and one of its values: ``cider``, ``vcs(lct=1).las``.

    Raises:
        ConfigError: What stands before the value is not a spec.
    """
    name, dot, value = text.strip().rpartition(".")
    if dot and value.isidentifier():
        return parse(name), value
    return parse(text), None


def with_label(text: str) -> tuple[str | None, Spec]:
    """A spec that may have a label before it: ``openai:m``, ``first=openai:m``.

    Raises:
        ConfigError: What stands behind the label is not a spec.
    """
    named = _NAMED.fullmatch(text)
    return (named[1], parse(named[2])) if named else (None, parse(text))


def _specs_in(value: Any) -> Iterator[Spec]:
    if isinstance(value, Spec):
        yield value
    elif isinstance(value, list | tuple | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _specs_in(inner)


def _written(value: Any) -> str:
    if isinstance(value, Spec):
        return value.called()
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_written, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_written(v)}' for key, v in value.items())}}}"
    return repr(value)


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def whole(self, name: str = "", argument: str | None = None) -> Spec:
        """The text as one spec with brackets, or as the options in brackets of a named one."""
        found = self._call(name, argument) if name else self._spec(colon=False)
        self._space()
        if self._at < len(self._text):
            raise self._error("expected the end")
        return found

    def _spec(self, *, colon: bool = True) -> Spec:
        name = self._take(_NAME)
        if name is None:
            raise self._error("expected a name")
        argument = None
        if colon and self._next(":"):
            argument = self._take(_BARE_ARGUMENT)
            if argument is None:
                raise self._error("nothing stands after the colon")
        return (
            self._call(name, argument)
            if self._peek("(")
            else Spec(name, argument)
        )

    def _call(self, name: str, argument: str | None) -> Spec:
        options: dict[str, Any] = {}
        members: list[Spec] = []
        for _ in self._items("(", ")"):
            key = self._key()
            value = self._value()
            if key is not None:
                if key in options:
                    raise self._error(f"{key} stands twice")
                options[key] = value
            elif isinstance(value, Spec):
                members.append(value)
            elif (
                isinstance(value, str)
                and argument is None
                and not options
                and not members
            ):
                argument = value
            else:
                raise self._error("arguments must be named, as in lct=1")
        if members and "members" in options:
            raise self._error("members stands twice")
        return Spec(
            name, argument, options | ({"members": members} if members else {})
        )

    def _key(self) -> str | None:
        found = self._take(_KEY)
        return found and found[:-1].rstrip()

    def _value(self) -> Any:
        if self._peek("["):
            return [self._value() for _ in self._items("[", "]")]
        if self._peek("("):
            start = self._at
            values = [self._value() for _ in self._items("(", ")")]
            grouped = len(values) == 1 and not re.search(
                r",\s*\)$", self._text[start : self._at]
            )
            return values[0] if grouped else tuple(values)
        if self._peek("{"):
            return dict(self._pair() for _ in self._items("{", "}"))
        found = self._take(_TEXT) or self._take(_NUMBER)
        if found is not None:
            return self._literal(found)
        before = self._at
        word = self._take(_NAME)
        if word in _CONSTANTS:
            return _CONSTANTS[word]
        if word is None:
            raise self._error(
                "expected a value; it is not a literal and not a spec"
            )
        self._at = before
        return self._spec()

    def _pair(self) -> tuple[Any, Any]:
        key = self._value()
        if isinstance(key, Spec | list | tuple | dict):
            raise self._error("keys must be texts or numbers")
        if not self._next(":"):
            raise self._error("expected ':'")
        return key, self._value()

    def _items(self, opening: str, closing: str) -> Iterator[None]:
        """Stops at each item between brackets; the caller reads it."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(
                f"more than {MAX_DEPTH} brackets inside each other"
            )
        self._next(opening)
        while not self._next(closing):
            yield
            if not self._next(",") and not self._peek(closing):
                raise self._error(f"expected ',' or {closing!r}")
        self._depth -= 1

    def _literal(self, found: str) -> Any:
        try:
            value = ast.literal_eval(found)
        except (SyntaxError, ValueError) as error:
            raise self._error(f"{found[:80]} is not a literal") from error
        if isinstance(value, str):
            _check_text(value)  # what an escape stands for
        return value

    def _peek(self, sign: str) -> bool:
        self._space()
        return self._text.startswith(sign, self._at)

    def _next(self, sign: str) -> bool:
        if not self._peek(sign):
            return False
        self._at += len(sign)
        return True

    def _take(self, pattern: re.Pattern[str]) -> str | None:
        self._space()
        found = pattern.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found[0]

    def _space(self) -> None:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _error(self, reason: str) -> ConfigError:
        rest = self._text[self._at : self._at + 40]
        place = f"at {rest!r}" if rest else "at its end"
        shown = (
            self._text if len(self._text) <= 200 else f"{self._text[:200]}..."
        )
        return ConfigError(f"{shown!r} is not a spec: {reason}, {place}")
