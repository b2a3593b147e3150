"""The command line as a test runs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from beholder.cli.main import main


class Done(NamedTuple):
    """What a command leaves: exit code, stdout and stderr."""

    code: int
    out: str
    err: str


Cli = Callable[..., Done]


def runner(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *before: str,
) -> Cli:
    """Runs ``beholder`` with these arguments before those that a test gives."""

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["beholder", *before, *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        captured = capsys.readouterr()
        code = exit_.value.code
        return Done(
            code if isinstance(code, int) else 0, captured.out, captured.err
        )

    return run
