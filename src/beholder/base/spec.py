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
_LABELLED = re.compile(r"\s*([\w.-]+)=(.+)", re.DOTALL)


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
        # The short form only where it is read again as the same spec.
        bare = self.argument if not self.options else None
        if (
            bare
            and bare == bare.strip()
            and not _OPTIONS_AT_END.fullmatch(bare)
        ):
            return f"{self.name}:{bare}"
        return self.call_text()

    def call_text(self) -> str:
        """The text with brackets instead of a colon, as it stands inside another spec."""
        parts = [] if self.argument is None else [repr(self.argument)]
        parts += [
            f"{key}={_format_value(value)}"
            for key, value in self.options.items()
        ]
        return f"{self.name}({', '.join(parts)})" if parts else self.name

    def literals(self) -> Mapping[str, Any]:
        """Return the options as values, for objects that take no specs.

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
                    f"{self}: {key}={_format_value(value)} is not a literal; quote text as"
                    f" {str(inner)!r}"
                )
        return dict(self.options)


def parse_spec(text: str) -> Spec:
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
    # Up to the first bracket or colon is the name; a colon makes all behind it the argument.
    _check_characters(text)
    bare = text.strip()
    name = _NAME.match(bare)
    if name is None:
        raise ConfigError(
            f"{text!r} is not a spec: expected a name such as vcs or vcs(lct=1)"
        )
    remainder = bare[name.end() :].lstrip()
    if remainder and remainder[0] not in "(:":
        raise ConfigError(
            f"{text!r} is not a spec: expected '(' or ':' after {name[0]!r}"
        )
    if not remainder.startswith(":"):
        return _Parser(bare).parse_all()
    argument = remainder[1:].strip()
    if not argument:
        raise ConfigError(
            f"{text!r} is not a spec: the name after the colon is missing"
        )
    # Other brackets belong to the argument, as in the name of a file.
    match = _OPTIONS_AT_END.fullmatch(argument)
    return (
        _Parser(match[2]).parse_all(name[0], match[1])
        if match
        else Spec(name[0], argument)
    )


def split_specs(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts of specs that were given one by one or with commas between them."""
    # Commas may be inside a spec, so the parser splits: as members of one spec.
    specs: list[str] = []
    for text in texts:
        try:
            members = (
                parse_spec(f"list({text})").options.get("members", [])
                if "," in text
                else []
            )
        except ConfigError:
            # The caller that parses the text reports the error.
            members = []
        specs += (
            [str(member) for member in members] if len(members) > 1 else [text]
        )
    return tuple(specs)


def canonical_spec(spec: str | Spec) -> Spec:
    """The canonical spec of a tool, such as a judge: equal tools have equal specs.

    The free argument may be written ``model=``, members as texts, options in any order::

        openai:m  ==  openai('m')  ==  openai(model='m')

    Raises:
        ConfigError: The text is not a spec, names its model twice, or holds a secret.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
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
        options["members"] = [canonical_spec(member) for member in members]
    if isinstance(options.get("writer"), str | Spec):
        options["writer"] = canonical_spec(options["writer"])
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
    """Refuse secrets: a spec is part of names, signatures, tables and reports.

    Messages name the option and never the value.
    """
    if key == "key_env" and value is not None:
        if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
            raise ConfigError(
                f"{name}: key_env is the name of an environment variable, in capitals, such as"
                " OPENAI_API_KEY; put the key itself into that variable only"
            )
    elif isinstance(value, Mapping):
        for inner, option in value.items():
            _check_no_secrets(name, option, str(inner))
    elif isinstance(value, list | tuple):
        for option in value:
            _check_no_secrets(name, option, key)
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


def _check_characters(text: str) -> None:
    """Refuse what can be neither the name of a file nor written into a result."""
    if "\0" in text or any(
        "\ud800" <= character <= "\udfff" for character in text
    ):
        raise ConfigError(
            f"{text[:80]!r} is not a spec: it holds a NUL or half a surrogate pair"
        )


def parse_with_value(text: str) -> tuple[Spec, str | None]:
    """A metric and one of its values: ``cider``, ``vcs(lct=1).las``.

    Raises:
        ConfigError: The part before the value is not a spec.
    """
    name, dot, value = text.strip().rpartition(".")
    # ``process:chrf.toml`` names a file.
    if dot and value.isidentifier() and value != "toml":
        return parse_spec(name), value
    return parse_spec(text), None


def parse_with_label(text: str) -> tuple[str | None, Spec]:
    """A spec that may have a label before it: ``openai:m``, ``first=openai:m``.

    Raises:
        ConfigError: The part after the label is not a spec.
    """
    match = _LABELLED.fullmatch(text)
    return (
        (match[1], parse_spec(match[2])) if match else (None, parse_spec(text))
    )


def _specs_in(value: Any) -> Iterator[Spec]:
    if isinstance(value, Spec):
        yield value
    elif isinstance(value, list | tuple | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _specs_in(inner)


def _format_value(value: Any) -> str:
    if isinstance(value, Spec):
        return value.call_text()
    if isinstance(value, list):
        return f"[{', '.join(map(_format_value, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_format_value, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        fields = (
            f"{key!r}: {_format_value(inner)}" for key, inner in value.items()
        )
        return f"{{{', '.join(fields)}}}"
    return repr(value)


class _Parser:
    """A recursive-descent parser of one text, a method for each rule of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._depth = 0

    def parse_all(self, name: str = "", argument: str | None = None) -> Spec:
        """The text as one spec with brackets, or as the options in brackets of a named one."""
        spec = (
            self._parse_arguments(name, argument)
            if name
            else self._parse_spec(colon=False)
        )
        self._skip_space()
        if self._position < len(self._text):
            raise self._error("expected the end")
        return spec

    def _parse_spec(self, *, colon: bool = True) -> Spec:
        name = self._match(_NAME)
        if name is None:
            raise self._error("expected a name")
        argument = None
        if colon and self._skip(":"):
            argument = self._match(_BARE_ARGUMENT)
            if argument is None:
                raise self._error("the name after the colon is missing")
        return (
            self._parse_arguments(name, argument)
            if self._peek("(")
            else Spec(name, argument)
        )

    def _parse_arguments(self, name: str, argument: str | None) -> Spec:
        options: dict[str, Any] = {}
        members: list[Spec] = []
        for _ in self._each_item("(", ")"):
            key = self._parse_key()
            value = self._parse_value()
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

    def _parse_key(self) -> str | None:
        key = self._match(_KEY)
        return key and key[:-1].rstrip()

    def _parse_value(self) -> Any:
        if self._peek("["):
            return [self._parse_value() for _ in self._each_item("[", "]")]
        if self._peek("("):
            start = self._position
            values = [self._parse_value() for _ in self._each_item("(", ")")]
            # As in Python, (1) is a value in brackets and (1,) a tuple.
            is_group = len(values) == 1 and not re.search(
                r",\s*\)$", self._text[start : self._position]
            )
            return values[0] if is_group else tuple(values)
        if self._peek("{"):
            return dict(self._parse_pair() for _ in self._each_item("{", "}"))
        token = self._match(_TEXT) or self._match(_NUMBER)
        if token is not None:
            return self._parse_literal(token)
        start_of_word = self._position
        word = self._match(_NAME)
        if word in _CONSTANTS:
            return _CONSTANTS[word]
        if word is None:
            raise self._error(
                "expected a value; it is not a literal and not a spec"
            )
        self._position = start_of_word
        return self._parse_spec()

    def _parse_pair(self) -> tuple[Any, Any]:
        key = self._parse_value()
        if isinstance(key, Spec | list | tuple | dict):
            raise self._error("keys must be texts or numbers")
        if not self._skip(":"):
            raise self._error("expected ':'")
        return key, self._parse_value()

    def _each_item(self, opening: str, closing: str) -> Iterator[None]:
        """Yield before each item between brackets; the caller parses the item."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(
                f"more than {MAX_DEPTH} brackets inside each other"
            )
        self._skip(opening)
        while not self._skip(closing):
            yield
            if not self._skip(",") and not self._peek(closing):
                raise self._error(f"expected ',' or {closing!r}")
        self._depth -= 1

    def _parse_literal(self, token: str) -> Any:
        try:
            value = ast.literal_eval(token)
        except (SyntaxError, ValueError) as error:
            raise self._error(f"{token[:80]} is not a literal") from error
        if isinstance(value, str):
            _check_characters(value)  # what an escape stands for
        return value

    def _peek(self, sign: str) -> bool:
        self._skip_space()
        return self._text.startswith(sign, self._position)

    def _skip(self, sign: str) -> bool:
        if not self._peek(sign):
            return False
        self._position += len(sign)
        return True

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        self._skip_space()
        match = pattern.match(self._text, self._position)
        if match is None:
            return None
        self._position = match.end()
        return match[0]

    def _skip_space(self) -> None:
        match = _SPACE.match(self._text, self._position)
        self._position = match.end() if match else self._position

    def _error(self, reason: str) -> ConfigError:
        remainder = self._text[self._position : self._position + 40]
        place = f"at {remainder!r}" if remainder else "at its end"
        excerpt = (
            self._text if len(self._text) <= 200 else f"{self._text[:200]}..."
        )
        return ConfigError(f"{excerpt!r} is not a spec: {reason}, {place}")
