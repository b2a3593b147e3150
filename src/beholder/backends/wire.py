"""The form in which a kind of server is asked and answers, as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from beholder.backends.base import Request, Structure
from beholder.backends.money import Usage
from beholder.backends.openai_http import Connection
from beholder.backends.openai_probe import WAYS
from beholder.backends.openai_wire import Completion, Dialect


@dataclass(frozen=True)
class Wire:
    """How a kind of server is asked.

    Attributes:
        home: The vendor's own address, and the variable of its key.
        path: Where questions go, with the name of the model in place of ``{}``.
        first: What is taken for granted before the server was asked anything.
        write: Makes the body of a question to a model.
        read: The answers in a response; raises ``CallFailed`` if there are none.
        usage: The tokens of a response, or None if they are missing or make no sense.
        ways: In which it may hold answers to a schema, each with or without bounds of lengths.
        connection: How it is reached.
        package: The module of the vendor's SDK, and the extra that installs it.
    """

    home: tuple[str, str]
    path: str
    first: Dialect
    write: Callable[[str, Request, Dialect], dict[str, object]]
    read: Callable[[object], Completion]
    usage: Callable[[object], Usage | None]
    ways: tuple[tuple[Structure, bool], ...] = WAYS
    connection: type[Connection] = Connection
    package: tuple[str, str] | None = None
