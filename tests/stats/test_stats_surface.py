from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import beholder.stats

SOURCE = Path(beholder.stats.__file__)


def test_every_public_name_loads_and_is_imported_for_type_checkers() -> None:
    stub = SOURCE.with_name("__init__.pyi").read_text(encoding="utf-8")
    imported = [
        (node.module, alias.name, alias.asname)
        for node in ast.walk(ast.parse(stub))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(name for _, name, _ in imported) == dir(beholder.stats)
    for module, name, alias in imported:
        assert alias == name
        assert getattr(beholder.stats, name) is getattr(
            importlib.import_module(f"beholder.stats.{module}"), name
        )


def test_no_module_hides_a_public_name() -> None:
    # Importing the module would put it in place of the function of the same name.
    modules = {path.stem for path in SOURCE.parent.glob("*.py")}
    assert not modules & set(dir(beholder.stats))


def test_importing_the_package_loads_neither_numpy_nor_scipy() -> None:
    code = "import sys, beholder.stats; print({'numpy', 'scipy'} & set(sys.modules))"
    path = str(SOURCE.parents[2])
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {path!r}); {code}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "set()"


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="nope"):
        beholder.stats.nope  # type: ignore[attr-defined]  # noqa: B018
