"""The shape of the code: one class name has one meaning, and no function takes a heap of parameters."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

SRC = Path(__file__).parents[1] / "src" / "beholder"
MOST_PARAMETERS = 10
PUBLIC = {
    "backends/decisions/backend.py:__init__",
    "judges/operations/base.py:rows",
    "kinds/agreement/door.py:agree",
    "kinds/narratives/door.py:compare",
}
"""Functions that people call with keywords; each option is documented there."""


@cache
def parse_source() -> dict[str, ast.Module]:
    """Return the tree of each file by its path; parsed when a test of this file runs."""
    return {
        path.relative_to(SRC).as_posix(): ast.parse(
            path.read_text(encoding="utf-8")
        )
        for path in sorted(SRC.rglob("*.py"))
    }


def test_a_class_name_stands_once() -> None:
    places = defaultdict(list)
    for file, tree in parse_source().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(file)
    assert {
        name: files for name, files in places.items() if len(files) > 1
    } == {}


def test_no_function_takes_more_than_ten_parameters() -> None:
    wide = set()
    for file, tree in parse_source().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = [
                    argument.arg
                    for argument in (*node.args.args, *node.args.kwonlyargs)
                ]
                if (
                    len(
                        [name for name in names if name not in ("self", "cls")]
                    )
                    > MOST_PARAMETERS
                ):
                    wide.add(f"{file}:{node.name}")
    assert wide == PUBLIC


def test_no_function_hands_on_its_locals() -> None:
    calls = {
        file
        for file, tree in parse_source().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "locals"
    }
    assert calls == set()
