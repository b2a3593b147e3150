"""``beholder doctor``: what is installed, what is missing, and how to get it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, metadata, version
from typing import Annotated

import typer
from packaging.requirements import Requirement
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from beholder._version import __version__
from beholder.cli.judge_check import print_diagnosis

_KEYS = ("OPENAI_API_KEY",)


def doctor(
    judge: Annotated[
        str | None, typer.Option(help="Also ask this judge a dozen questions with known answers.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Endpoint of an OpenAI-compatible server.")
    ] = None,
) -> None:
    """Say what is installed, what is missing and how to get it.

    Sends nothing anywhere unless a judge is named.

    Example: [bold]beholder doctor --judge openai:gpt-4.1-mini[/bold]
    """
    typer.echo(f"beholder {__version__}, Python {platform.python_version()}")
    table = Table("for", "package", "installed", "to get it")
    for need in map(Requirement, metadata("beholder").get_all("Requires-Dist") or []):
        extra = _extra(need)
        found = _installed(need)
        hint = (
            "" if found else f"pip install 'beholder[{extra}]'" if extra else "reinstall beholder"
        )
        table.add_row(extra or "base", need.name, found or "no", escape(hint))
    Console().print(table)
    _check_embedder()
    for key in _KEYS:
        typer.echo(f"{key}: {'set' if os.environ.get(key) else 'not set'}")
    if judge is not None and not print_diagnosis(judge, base_url):
        raise typer.Exit(1)


def _extra(need: Requirement) -> str | None:
    if need.marker is None:
        return None
    for extra in metadata("beholder").get_all("Provides-Extra") or []:
        if need.marker.evaluate({"extra": extra}) and not need.marker.evaluate({"extra": ""}):
            return str(extra)
    return None


def _installed(need: Requirement) -> str | None:
    try:
        return version(need.name)
    except PackageNotFoundError:
        return None


def _check_embedder() -> None:
    from beholder.metrics import Tools

    typer.echo(f"built-in embedder: {Tools().identity('embedder', 'static')}")
