"""Write the manifest of the built-in judge; ``make identity`` runs it, a test compares.

The manifest names each file that can change an answer, with a digest: the code that the judge is
made of and the data that this code opens. A digest of code is over its syntax tree without
docstrings and annotations, so that words about the code are no new judge.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1] / "src" / "beholder"
MANIFEST = PACKAGE / "judges" / "builtin" / "manifest.json"
START = "beholder.judges.builtin"
OWN = ("beholder.judges.builtin", "beholder.judges.grades", "beholder.language", "beholder.text",
       "beholder.embed")  # fmt: skip
"""Where code lies that can change an answer; what else is imported are records and errors."""
_WORDS_ONLY = {"annotation", "returns", "type_comment", "kind", "ctx", "type_ignores"}


def manifest() -> dict[str, dict[str, str]]:
    """Digest by file, relative to the package: of ``code`` and of ``data``."""
    code: dict[Path, ast.Module] = {}
    waiting = [START]
    while waiting:
        path = _file(waiting.pop())
        if path is None or path in code:
            continue
        code[path] = ast.parse(path.read_text(encoding="utf-8"))
        waiting += [name for name in _imported(code[path]) if name.startswith(OWN)]
    named = {text for tree in code.values() for text in _texts(tree)}
    folders = {path.parent for path in code}
    data = {
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.name in named and path.is_file() and path.suffix != ".py" and path != MANIFEST
    }
    return {
        "code": {_name(path): digest_of_code(code[path]) for path in sorted(code)},
        "data": {_name(path): _digest(path.read_bytes()) for path in sorted(data)},
    }


def as_text(found: dict[str, dict[str, str]]) -> str:
    """The manifest as it is written."""
    return json.dumps(found, indent=1) + "\n"


def digest_of_code(tree: ast.Module) -> str:
    """SHA-256 of what a module does, as hex: docstrings, comments and annotations do nothing."""
    return _digest(_written(tree).encode("utf-8"))


def _file(module: str) -> Path | None:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None  # a name in a module, and no module


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [name for name in inside if _file(name)]
            yield from modules
            if len(modules) < len(inside):
                yield node.module


def _texts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _written(node: Any) -> str:
    """A syntax tree as text, the same in every version of Python (``ast.dump`` is not)."""
    if isinstance(node, list):
        return f"[{','.join(_written(one) for one in node if not _is_docstring(one))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = (
        f"{name}={_written(value)}"
        for name, value in ast.iter_fields(node)
        if name not in _WORDS_ONLY and value is not None and value != []
    )
    return f"{type(node).__name__}({','.join(fields)})"


def _is_docstring(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


if __name__ == "__main__":
    MANIFEST.write_text(as_text(manifest()), encoding="utf-8", newline="\n")
