"""Rules of the tests themselves."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import settings

TESTS = Path(__file__).parent
OURS = ("beholder", "benchmarks", "tools", "training")
PRIVATE = {
    "kinds/bidirectional/test_bidirectional_tables.py": "the names of raters, of which a study tells the number",
    "language/test_language_dialects.py": "where trees end cannot be seen in the trees",
    "language/test_language_network.py": "blocks of random weights, held against the formulas",
    "kinds/narratives/test_narrative_parts.py": "a flow by hand, which the program would have to find",
    "report/test_report_graphs.py": "wrapping and grouping by hand; a drawing shows pixels",
    "text/test_word_order.py": "the stored ratios, by which the mean is calculated by hand",
}
"""Files that import a private name of ours, and why no public name does."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def private_imports(source: str) -> set[str]:
    """Private names, and names of private modules, that a file imports from our packages."""
    found = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            inside = any(map(is_private, (node.module or "").split(".")))
            names = [one.name for one in node.names if not one.name.startswith("__")]
            found |= {name for name in names if inside or is_private(name)}
        elif isinstance(node, ast.Import):
            parts = [one.name for one in node.names if one.name.split(".")[0] in OURS]
            found |= {name for name in parts if any(map(is_private, name.split(".")))}
    return found


def test_tests_prove_behaviour_and_not_private_names() -> None:
    found = {
        path.relative_to(TESTS).as_posix()
        for path in TESTS.rglob("*.py")
        if private_imports(path.read_text("utf-8"))
    }
    assert found - PRIVATE.keys() == set()
    assert PRIVATE.keys() - found == set(), "an allowance that nothing needs"


def test_private_imports_are_found() -> None:
    assert private_imports("from beholder.stats.ties import _count, ties") == {"_count"}
    assert private_imports("from beholder._made import thing") == {"thing"}
    assert private_imports("import beholder._version") == {"beholder._version"}
    assert not private_imports("from beholder._version import __version__")
    assert not private_imports("from numpy import _core")


def test_no_property_fails_because_a_machine_is_busy() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
