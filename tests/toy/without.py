"""A machine that lacks a package, played by this one."""

from __future__ import annotations

import sys

import pytest

PLOTS = (
    "beholder.plots",
    *(
        f"beholder.kinds.{kind}.plots"
        for kind in ("agreement", "bidirectional", "narratives", "ranking")
    ),
)
"""Where figures are drawn."""


def without(
    monkeypatch: pytest.MonkeyPatch, package: str, *users: str
) -> None:
    """Hide a package until the end of the test, and forget those of our packages that use it."""
    for name in list(sys.modules):
        if any(
            name == each or name.startswith(f"{each}.")
            for each in (package, *users)
        ):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
