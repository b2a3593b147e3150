"""What comes from others: packages by one lock, weights by the source that loads them."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import beholder

SOURCE = Path(beholder.__file__).parent
ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
GROUPS: dict[str, list[Any]] = PROJECT["dependency-groups"]
_LOCK = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
[ITSELF] = [
    package for package in _LOCK["package"] if package["name"] == "beholder"
]
LOCKED: list[dict[str, Any]] = [
    package for package in _LOCK["package"] if package is not ITSELF
]
NEEDS = {
    "": PROJECT["project"]["dependencies"],
    **EXTRAS,
    **{
        name: [need for need in needs if isinstance(need, str)]
        for name, needs in GROUPS.items()
    },
}
"""Requirements of beholder itself (''), of each extra and of each group."""
CODE = {"AutoConfig", "AutoTokenizer", "AutoProcessor", "CLIPImageProcessor"}
"""Loaders of what holds no weights."""
TWO_VERSIONS = {
    "cuda-bindings", "cuda-python", "fastapi", "llvmlite", "numba", "numpy", "setuptools", "transformers",
}  # fmt: skip
"""What vLLM asks for at an older version than everything else."""


def versions(package: str) -> set[str]:
    """The versions of a package in the lock."""
    return {
        locked_package["version"]
        for locked_package in LOCKED
        if locked_package["name"] == canonicalize_name(package)
    }


def reached(*packages: str) -> set[str]:
    """Names of packages that some packages bring, by the lock."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for package in LOCKED:
        by_name.setdefault(package["name"], []).append(package)
    waiting, closure = (
        [canonicalize_name(package) for package in packages],
        set[str](),
    )
    while waiting:
        name = waiting.pop()
        if name not in closure:
            closure.add(name)
            waiting += [
                need["name"]
                for requirement in by_name[name]
                for need in requirement.get("dependencies", [])
            ]
    return closure


def test_every_file_in_the_lock_has_a_hash_and_comes_from_the_public_index() -> (
    None
):
    files = [
        file
        for package in LOCKED
        for file in [
            *package.get("wheels", []),
            *([package["sdist"]] if "sdist" in package else []),
        ]
    ]
    assert len(files) > 2000
    for file in files:
        assert re.fullmatch("sha256:[0-9a-f]{64}", file["hash"]), file
        assert file["url"].startswith("https://files.pythonhosted.org/"), file
    assert ITSELF["source"] == {"editable": "."}
    assert all(
        package["source"] == {"registry": "https://pypi.org/simple"}
        for package in LOCKED
    )


@pytest.mark.parametrize("name", NEEDS)
def test_the_lock_holds_what_each_extra_and_group_needs(name: str) -> None:
    parts = {
        "": ITSELF["dependencies"],
        **ITSELF["optional-dependencies"],
        **ITSELF["dev-dependencies"],
    }
    direct = {dependency["name"] for dependency in parts[name]}
    for needed in map(Requirement, NEEDS[name]):
        assert canonicalize_name(needed.name) in direct, (
            f"run `make lock`: {needed} is new"
        )
        locked = versions(needed.name)
        assert locked, f"uv.lock lacks {needed}; run `make lock`"
        # Where vLLM asks for an older version, one of the two fits.
        assert any(needed.specifier.contains(version) for version in locked), (
            needed
        )


def test_one_version_of_each_package_but_for_vllm() -> None:
    assert {
        package["name"]
        for package in LOCKED
        if len(versions(package["name"])) > 1
    } <= TWO_VERSIONS


def test_the_extras_bring_nothing_into_the_base() -> None:
    base = reached(
        *(
            Requirement(requirement).name
            for requirement in PROJECT["project"]["dependencies"]
        )
    )
    names = {
        canonicalize_name(need.name)
        for needs in EXTRAS.values()
        for need in map(Requirement, needs)
    }
    assert {"torch", "matplotlib", "pandas", "starlette"} <= names
    assert {"numpy", "scipy", "markupsafe"} <= base
    assert not (names | {"openai", "fonttools"}) & base


def test_the_page_of_installing_names_every_extra() -> None:
    page = (ROOT / "docs" / "install.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(
        EXTRAS
    )


def test_uv_is_installed_as_the_lock_has_it() -> None:
    text = (ROOT / "requirements" / "uv.txt").read_text("utf-8")
    [locked] = [package for package in LOCKED if package["name"] == "uv"]
    hashes = {file["hash"] for file in [*locked["wheels"], locked["sdist"]]}
    assert text.startswith(f"uv=={locked['version']} ")
    required_hashes = set(re.findall("--hash=(sha256:[0-9a-f]{64})", text))
    assert required_hashes
    assert required_hashes <= hashes


def test_torch_for_the_cpu_is_the_version_of_the_lock_and_has_a_hash() -> None:
    text = (ROOT / "requirements" / "torch.txt").read_text("utf-8")
    [line] = [
        line for line in text.splitlines() if line and not line.startswith("#")
    ]
    pinned = re.fullmatch(
        r"torch==([\d.]+)\+cpu --hash=sha256:[0-9a-f]{64}", line
    )
    assert pinned
    assert versions("torch") == {pinned[1]}


def test_the_lock_waits_for_new_versions() -> None:
    assert PROJECT["tool"]["uv"]["exclude-newer"] == "7 days"
    assert _LOCK["options"]["exclude-newer-span"] == "P7D"


def test_nothing_is_installed_without_a_version_and_a_hash() -> None:
    """Each line that installs: from the lock, or from files with hashes."""
    files = [
        ROOT / name
        for name in ("Makefile", "tools/release.sh", "Containerfile")
    ]
    text = "".join(file.read_text("utf-8") for file in files).replace(
        "\\\n", " "
    )
    lines = [
        line
        for line in text.splitlines()
        if re.search(r"\binstall\b|\buv\b\"? sync|UV\) sync", line)
    ]
    assert len(lines) >= 8
    for line in lines:
        match = re.search(
            r"-e \.|dist/\*\.whl", line
        )  # what was built here has no hash yet
        allowed = (
            "--no-deps" in line
            if match
            else re.search("--require-hashes|sync .*--frozen|call sync,", line)
        )
        assert allowed, line


def loaders() -> list[tuple[str, ast.Call]]:
    """Every call that loads something of a model, with what it is called on."""
    offenders = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(
                node.func, ast.Attribute
            ):
                if node.func.attr == "from_pretrained":
                    offenders.append(
                        (ast.unparse(node.func.value).rpartition(".")[2], node)
                    )
                elif node.func.attr == "_load" and path.parent.name == "embed":
                    offenders.append(
                        (ast.unparse(node.args[0]).strip("'"), node)
                    )
                elif node.func.attr == "SentenceTransformer":
                    offenders.append(("SentenceTransformer", node))
    return offenders


@pytest.mark.slow
def test_weights_are_read_as_safetensors_and_at_a_revision() -> None:
    assert len(loaders()) >= 10
    for name, call in loaders():
        text = ast.unparse(call)
        if name == "loader":  # of the hf judge: its options stand above it
            text += (SOURCE / "backends" / "hf_model.py").read_text("utf-8")
        if "._load(" not in text:  # HubModel._load adds the revision
            assert "revision" in text, text
        if (
            name != "model_class"
        ):  # in HubModel._load: whoever calls it says so
            assert name in CODE or "use_safetensors" in text, text


def test_code_of_a_model_runs_nowhere_but_by_the_users_own_word() -> None:
    naming = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "trust_remote_code" in path.read_text("utf-8")
    }
    assert naming == {"backends/vllm.py"}
