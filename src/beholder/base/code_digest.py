"""Digests of code by what it computes: without docstrings, comments, annotations and their imports.

They are the same in every version of Python.
"""

from __future__ import annotations

import ast
import hashlib
import types
from collections.abc import Iterator
from typing import Any, TypeGuard

_INERT_FIELDS = {
    "annotation",
    "returns",
    "type_comment",
    "kind",
    "ctx",
    "type_ignores",
}
_TYPING_MODULES = ("__future__", "collections.abc", "typing")
"""Modules whose names are for annotations; used otherwise, a name is in the digest where it is."""
_CONSTANT_TYPES = (bool, int, float, complex, str, bytes, type(None))


def digest_code(tree: ast.Module) -> str:
    """Return the SHA-256 of a module without docstrings, comments and annotations, as hex.

    Args:
        tree: The module; changed by the call.
    """
    return digest_bytes(_dump_tree(_RemoveInert().visit(tree)).encode("utf-8"))


def imported_names(tree: ast.Module) -> Iterator[str]:
    """Yield the dotted names that a module imports, those for a type checker alone left out."""
    for node in _walk_runtime(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            between = "" if module.endswith(".") else "."
            yield from (
                f"{module}{between}{alias.name}" for alias in node.names
            )


def _walk_runtime(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker sees."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            if not (_is_for_types(node) and child in node.body):
                pending.append(child)


def _is_for_types(node: ast.AST) -> TypeGuard[ast.If]:
    test = node.test if isinstance(node, ast.If) else None
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


class _RemoveInert(ast.NodeTransformer):
    """Removes code without effect: docstrings, annotations, and imports that only these need."""

    def __init__(self) -> None:
        self._in_class = False

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._visit_body(node, in_class=True)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._visit_body(node, in_class=False)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._visit_body(node, in_class=False)

    def _visit_body(self, node: ast.AST, *, in_class: bool) -> ast.AST:
        outer, self._in_class = self._in_class, in_class
        self.generic_visit(node)
        self._in_class = outer
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return (
            None
            if isinstance(node.value, ast.Constant)
            else self.generic_visit(node)
        )

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        # In a class, an annotation can make a field of a name: the statement stays another one.
        self.generic_visit(node)
        if self._in_class:
            return node
        return node.value and ast.Assign([node.target], node.value)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        return node.orelse if _is_for_types(node) else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return (
            None if node.module in _TYPING_MODULES and not node.level else node
        )

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        # Python 3.12 ends some formats with an empty text, which others leave out.
        self.generic_visit(node)
        node.values = [
            part
            for part in node.values
            if not (isinstance(part, ast.Constant) and not part.value)
        ]
        return node


def _dump_tree(node: Any) -> str:
    """A syntax tree as text, the same in every version of Python (``ast.dump`` is not)."""
    if isinstance(node, list):
        return f"[{','.join(map(_dump_tree, node))}]"
    if not isinstance(node, ast.AST):
        # ``repr`` escapes other characters with another version of Unicode.
        return ascii(node)
    fields = (
        f"{name}={_dump_tree(value)}"
        for name, value in ast.iter_fields(node)
        if name not in _INERT_FIELDS and value is not None and value != []
    )
    return f"{type(node).__name__}({','.join(fields)})"


def digest_members(cls: type[Any]) -> str:
    """Digest of a class without a file, as in a notebook: of its members and what they name."""
    return digest_bytes("\n".join(_describe_code(cls, set())).encode("utf-8"))


def _describe_code(value: object, visited: set[int]) -> Iterator[str]:
    """The text of a constant, or the code of a function or class and of what it names."""
    # Functions and classes are followed once each: they may name one another.
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    if isinstance(value, _CONSTANT_TYPES):
        yield repr(value)
    elif isinstance(value, tuple | list):
        yield from (
            line for each in value for line in _describe_code(each, visited)
        )
    elif isinstance(value, set | frozenset):
        yield from sorted(
            line for each in value for line in _describe_code(each, visited)
        )
    elif isinstance(value, types.CodeType):
        yield f"{value.co_code.hex()} {value.co_names}"
        yield from _describe_code(value.co_consts, visited)
    elif (
        isinstance(value, types.FunctionType | type)
        and id(value) not in visited
    ):
        visited.add(id(value))
        for name, member in _members(value):
            yield name
            yield from _describe_code(member, visited)


def _members(value: types.FunctionType | type) -> Iterator[tuple[str, object]]:
    """Members of a class, or the code of a function and what it names in its own module."""
    if isinstance(value, type):
        skipped = ("__doc__", "__firstlineno__")
        yield from (
            (name, member)
            for name, member in sorted(vars(value).items())
            if name not in skipped
        )
        return
    yield "", value.__code__
    for name in value.__code__.co_names:
        global_value = value.__globals__.get(name)
        if (
            getattr(global_value, "__module__", value.__module__)
            == value.__module__
        ):
            yield name, global_value


def digest_bytes(content: bytes) -> str:
    """SHA-256 as hex."""
    return hashlib.sha256(content).hexdigest()
