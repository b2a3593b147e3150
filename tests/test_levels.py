"""Imports go downward only; the levels are those of docs/architecture.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "beholder"

# Each part may import those to its left and those above.
LEVELS = [
    level.split()
    for level in (
        "_version errors base aio options records",
        "stats tables text media data",
        "backends embed language",
        "judges",
        "asking",
        "metrics",
        "run",
        "report",
        "web terminal",
        "api",
        "lint kinds rewards",
        "ray harness",
        "cli __main__",
    )
]
PARTS = [part for level in LEVELS for part in level]

# Packages of ``kinds``: features may import kinds of run, and neither imports another of its own.
RUN_KINDS = {"scores", "generation", "ranking", "narratives"}
FEATURES = {
    "accept",
    "agreement",
    "bidirectional",
    "choose",
    "annotation",
    "audit",
    "filtering",
    "revise",
    "watch",
}


def _module(path: Path) -> str:
    pieces = ("beholder", *path.relative_to(SRC).with_suffix("").parts)
    return ".".join(pieces[:-1] if pieces[-1] == "__init__" else pieces)


# The package itself is left out: it names things of all levels, which load on use.
MODULES = {
    _module(path): path
    for path in sorted(SRC.rglob("*.py"))
    if path != SRC / "__init__.py" and "samples" not in path.parts
}


def _imported(module: str) -> Iterator[str]:
    """Our modules that a module names in imports, wherever they stand: in functions, for types."""
    for node in ast.walk(
        ast.parse(MODULES[module].read_text(encoding="utf-8"))
    ):
        if isinstance(node, ast.Import):
            yield from (
                alias.name for alias in node.names if alias.name in MODULES
            )
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{module}: relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                target = whole if whole in MODULES else node.module
                if target in MODULES:
                    yield target


def _part(module: str) -> str:
    return module.split(".")[1]


def test_every_part_has_a_place() -> None:
    assert sorted(PARTS) == sorted({_part(module) for module in MODULES})


def _kind(module: str) -> str:
    """The package of a kind of work that a module is in; empty for other modules."""
    return module.split(".")[2] if module.startswith("beholder.kinds.") else ""


@pytest.fixture(scope="module")
def imports() -> dict[str, list[str]]:
    """Our modules that each module imports."""
    return {module: list(_imported(module)) for module in MODULES}


def test_imports_go_downward_only(imports: dict[str, list[str]]) -> None:
    upward = [
        f"{module} imports {name}"
        for module, names in imports.items()
        for name in names
        if PARTS.index(_part(name)) > PARTS.index(_part(module))
    ]
    assert upward == [], (
        "LEVELS places the importing part before the imported part"
    )


def test_every_kind_of_work_has_a_place() -> None:
    assert {_kind(module) for module in MODULES} - {""} == RUN_KINDS | FEATURES


def test_kinds_of_work_import_only_kinds_of_run_below_them(
    imports: dict[str, list[str]],
) -> None:
    sideward = []
    for module, names in imports.items():
        own_kind = _kind(module)
        allowed = {"", own_kind} | (
            RUN_KINDS if own_kind in FEATURES else set()
        )
        sideward += [
            f"{module} imports {name}"
            for name in names
            if own_kind and _kind(name) not in allowed
        ]
    assert sideward == [], "move what both need below kinds"


def test_an_import_is_read_wherever_it_stands(
    imports: dict[str, list[str]],
) -> None:
    # By reading: the command imports its outputs in a function, and its rules at the top.
    assert {"beholder.lint.outputs", "beholder.lint.rules"} <= set(
        imports["beholder.lint.command"]
    )


def test_no_modules_import_each_other(imports: dict[str, list[str]]) -> None:
    graph = {
        module: set(names) - {module} for module, names in imports.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"imports go in a circle: {' <- '.join(error.args[1])}")
