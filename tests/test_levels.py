"""Imports go downward only; the levels are those of docs/architecture.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "beholder"

LEVELS = [
    {
        "errors",
        "dates",
        "records",
        "registry",
        "spec",
        "options",
        "optional",
        "aio",
        "files",
        "_version",
    },
    {"stats", "text", "media", "data", "plots"},
    {"language", "embed", "backends"},
    {"judges"},
    {"metrics", "narratives"},
    {"benchmarks", "run"},
    {"report"},
    {"api"},
    {"cli", "__main__"},
]
LEVEL_OF = {part: level for level, parts in enumerate(LEVELS) for part in parts}

# A score can show itself; drawing lies above the records, so the name is looked up when it is used.
UPWARD_ON_USE = {("records", "report")}


def _part(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def _imported_parts(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            assert node.level == 0, f"{path}: relative import"
        else:
            continue
        for name in names:
            pieces = name.split(".")
            if pieces[0] == "beholder" and len(pieces) > 1 and pieces[1] in LEVEL_OF:
                found.add(pieces[1])
    return found


FILES = sorted(path for path in SRC.rglob("*.py") if path.parent != SRC or path.stem != "__init__")


def test_every_part_has_a_level() -> None:
    parts = {_part(path) for path in FILES} - {"samples"}
    assert parts <= set(LEVEL_OF), f"name a level for {parts - set(LEVEL_OF)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_imports_go_downward_only(path: Path) -> None:
    own = _part(path)
    if own == "samples":
        return
    for other in _imported_parts(path) - {own}:
        if (own, other) in UPWARD_ON_USE:
            continue
        assert LEVEL_OF[other] < LEVEL_OF[own] or LEVELS[LEVEL_OF[own]] >= {own, other}, (
            f"{own} (level {LEVEL_OF[own]}) imports {other} (level {LEVEL_OF[other]})"
        )
