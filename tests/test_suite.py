"""Rules of the tests themselves."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest
from hypothesis import settings

from toy.cases import each_case

TESTS = Path(__file__).parent
OURS = ("beholder", "benchmarks", "tools", "training")
PRIVATE = {
    "kinds/bidirectional/test_bidirectional_tables.py": "the names of raters, of which a study tells the number",
    "language/test_language_dialects.py": "where trees end cannot be seen in the trees",
    "language/test_language_network.py": "where words of texts are, for a graph of random weights",
    "kinds/narratives/test_narrative_parts.py": "a flow by hand, which the program would have to find",
    "text/test_word_order.py": "the stored ratios, by which the mean is calculated by hand",
}
"""Files that import a private name of ours, and why no public name does."""

PRIVATE_USES = {
    "embed/test_entailment.py": 2,
    "embed/test_minilm.py": 3,
    "judges/builtin/test_relevance.py": 1,
    "kinds/narratives/test_extraction.py": 2,
    "language/test_certainty.py": 1,
    "language/test_language_captions.py": 4,
    "language/test_language_decoding.py": 1,
    "lint/test_odd_pages.py": 5,
    "metrics/posh/test_posh_lexical_alignment.py": 1,
    "outside/test_outside_metrics.py": 2,
    "outside/test_outside_task.py": 2,
    "servers/ledger.py": 2,
    "test_fingerprint.py": 1,
    "text/test_languages.py": 3,
    "kinds/scores/test_trying.py": 2,
    "web/test_viewer.py": 1,
}
"""Uses of private names by file, from before this was a rule: a number may only become smaller."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def private_imports(tree: ast.Module) -> set[str]:
    """Private names, and names of private modules, that a file imports from our packages."""
    private_names = set[str]()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").split(".")[0] in OURS
        ):
            inside = any(map(is_private, (node.module or "").split(".")))
            names = [
                alias.name
                for alias in node.names
                if not alias.name.startswith("__")
            ]
            private_names |= {
                name for name in names if inside or is_private(name)
            }
        elif isinstance(node, ast.Import):
            parts = [
                alias.name
                for alias in node.names
                if alias.name.split(".")[0] in OURS
            ]
            private_names |= {
                name for name in parts if any(map(is_private, name.split(".")))
            }
    return private_names


def _our_names(tree: ast.Module) -> set[str]:
    """Names that a file binds to our packages, modules and what is in them."""
    names = set[str]()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").split(".")[0] in OURS
        ):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            parts = [
                alias
                for alias in node.names
                if alias.name.split(".")[0] in OURS
            ]
            names |= {
                alias.asname or alias.name.split(".")[0] for alias in parts
            }
    return names


def private_uses(tree: ast.Module) -> list[str]:
    """Private names that a file takes from our modules by a dot, or replaces by ``setattr``.

    ``self._name`` of a test's own class and the names of other packages are none of these.
    """
    ours = _our_names(tree)
    offenders = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            root = node.value
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in ours:
                offenders.append(node.attr)
        elif isinstance(node, ast.Call):
            called = node.func
            name = (
                called.attr
                if isinstance(called, ast.Attribute)
                else getattr(called, "id", "")
            )
            texts = [
                part.value.rpartition(".")[2]
                for part in node.args[:2]
                if isinstance(part, ast.Constant)
                and isinstance(part.value, str)
                and part.value.split(".")[0] in (*OURS, part.value)
            ]
            if name in ("setattr", "delattr", "getattr"):
                offenders += [text for text in texts if is_private(text)]
    return offenders


@pytest.fixture(scope="module")
def names_by_file() -> dict[str, tuple[set[str], list[str]]]:
    """Private names that each file of tests imports, and those that it uses."""
    names = {}
    for path in TESTS.rglob("*.py"):
        tree = ast.parse(path.read_bytes())
        file = path.relative_to(TESTS).as_posix()
        names[file] = (private_imports(tree), private_uses(tree))
    return names


def test_uses_of_private_names_may_only_become_fewer(
    names_by_file: dict[str, tuple[set[str], list[str]]],
) -> None:
    counts = {file: len(uses) for file, (_, uses) in names_by_file.items()}
    more = {
        file: n for file, n in counts.items() if n > PRIVATE_USES.get(file, 0)
    }
    assert more == {}, "test by public names"
    fewer = {
        file: counts.get(file, 0)
        for file, n in PRIVATE_USES.items()
        if counts.get(file, 0) < n
    }
    assert fewer == {}, "lower the allowance"


def test_private_uses_are_found() -> None:
    ours = "from beholder.stats import ties\nimport beholder\nimport numpy\n"
    assert private_uses(ast.parse(f"{ours}ties._count(1)")) == ["_count"]
    assert private_uses(ast.parse(f"{ours}beholder.stats.ties._count")) == [
        "_count"
    ]
    assert private_uses(
        ast.parse(f"{ours}patch.setattr(ties, '_MOST', 3)")
    ) == ["_MOST"]
    assert private_uses(
        ast.parse(f"{ours}patch.setattr('beholder.stats.ties._MOST', 3)")
    ) == ["_MOST"]
    assert (
        private_uses(ast.parse("patch.setattr('rich.console._MOST', 3)")) == []
    )
    assert (
        private_uses(
            ast.parse(
                f"{ours}numpy._core, self._own, ties.__name__, ties.count"
            )
        )
        == []
    )


def test_tests_prove_behaviour_and_not_private_names(
    names_by_file: dict[str, tuple[set[str], list[str]]],
) -> None:
    offenders = {
        file for file, (imports, _) in names_by_file.items() if imports
    }
    assert offenders - PRIVATE.keys() == set()
    assert PRIVATE.keys() - offenders == set(), (
        "an allowance that nothing needs"
    )


def test_private_imports_are_found() -> None:
    assert private_imports(
        ast.parse("from beholder.stats.ties import _count, ties")
    ) == {"_count"}
    assert private_imports(ast.parse("from beholder._made import thing")) == {
        "thing"
    }
    assert private_imports(ast.parse("import beholder._version")) == {
        "beholder._version"
    }
    assert not private_imports(
        ast.parse("from beholder._version import __version__")
    )
    assert not private_imports(ast.parse("from numpy import _core"))


def test_no_property_fails_because_a_machine_is_busy() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None


def test_each_case_is_checked_and_named_where_it_fails() -> None:
    seen = []

    @each_case(("word", "length"), [("a", 1), ("b", 3), ("c", 1), ("d", 0)])
    @each_case("times", [1, 2])
    def check(start: str, word: str, length: int, times: int) -> None:
        seen.append(f"{start}{word}{times}")
        if word == "d":
            pytest.fail("no error was raised")
        assert len(word) == length

    assert list(inspect.signature(check).parameters) == ["start"]
    with pytest.raises(BaseExceptionGroup) as failure:
        check(start="-")
    assert seen == ["-a1", "-a2", "-b1", "-b2", "-c1", "-c2", "-d1", "-d2"]
    lines = str(failure.value).splitlines()
    assert lines[:3] == [
        "2 of 4 cases fail:",
        "{'word': 'b', 'length': 3}",
        "{'word': 'd', 'length': 0} (2 sub-exceptions)",
    ]
    assert len(failure.value.exceptions) == 2
