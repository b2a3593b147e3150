"""Print the signs of readable code, and what breaks them: ``python -m tools.signs src tests``.

Five signs are counted in each folder (docs/style.md): names that are a bare participle or pronoun,
docstrings of functions that begin with a clause, functions named by a participle, comment lines,
and tokens per line. ``tests/test_signs.py`` keeps them within ``LIMITS``.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

BARE_WORDS = frozenset(
    re.findall(
        r"\w+",
        "apart asked beside drawn found given held kept known left lies made most named one other"
        " others own put read said seen shown stands taken theirs told wanted",
    )
)
"""Words that say what happened to a thing, or point at it, without naming it."""

CLAUSE = re.compile(
    r"(What|Whether|How|Who|Where|Which|That|With what|By what|So)\b"
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LAYOUT = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)


@dataclass
class Signs:
    """Counts of one or more files.

    Attributes:
        names: Names that are assigned, and parameters.
        docstrings: Docstrings of functions.
        comments: Lines that hold a comment alone.
        lines: Lines with a token that is no comment and no docstring.
        tokens: Names, operators and numbers.
        bare_names: ``file:line: name`` of each bare name.
        clauses: The same of each docstring that begins with a clause.
        bare_functions: The same of each function or class named by a bare word, or ``of``.
    """

    names: int = 0
    docstrings: int = 0
    comments: int = 0
    lines: int = 0
    tokens: int = 0
    bare_names: list[str] = field(default_factory=list)
    clauses: list[str] = field(default_factory=list)
    bare_functions: list[str] = field(default_factory=list)

    def ratios(self) -> dict[str, float]:
        """Return the signs by name, in the units of ``LIMITS``."""
        return {
            "bare names": len(self.bare_names) / max(self.names, 1),
            "docstrings that begin with a clause": len(self.clauses)
            / max(self.docstrings, 1),
            "functions named by a participle": len(self.bare_functions),
            "comment lines per 1,000": 1000
            * self.comments
            / max(self.lines, 1),
            "tokens per line": self.tokens / max(self.lines, 1),
        }


LIMITS: dict[str, tuple[float, float]] = {
    "bare names": (0, 0.01),
    "docstrings that begin with a clause": (0, 0.03),
    "functions named by a participle": (0, 10),
    "comment lines per 1,000": (25, 1000),
    "tokens per line": (0, 7.5),
}
"""Lowest and highest value of each sign in ``src``."""


def read_signs(folder: Path, *, only_names: bool = False) -> Signs:
    """Count the signs of all Python files below a folder, or of one file.

    Args:
        folder: The folder or file.
        only_names: Leave out comments, lines and tokens, which take half of the time.
    """
    signs = Signs()
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    for path in files:
        source = path.read_bytes()
        _count_names(ast.parse(source), path, signs)
        if not only_names:
            _count_tokens(source, signs)
    return signs


def _count_names(tree: ast.Module, path: Path, signs: Signs) -> None:
    for node in ast.walk(tree):
        name = _assigned_name(node)
        if name is not None:
            signs.names += 1
            if _is_bare(name):
                signs.bare_names.append(_place(path, node, name))
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and (
            _is_bare(node.name) or node.name == "of"
        ):
            signs.bare_functions.append(_place(path, node, node.name))
        if isinstance(node, FUNCTIONS) and (text := ast.get_docstring(node)):
            signs.docstrings += 1
            if CLAUSE.match(text):
                first_line = text.partition("\n")[0]
                signs.clauses.append(_place(path, node, first_line))


def _assigned_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.arg) and node.arg not in {"self", "cls"}:
        return node.arg
    return None


def _is_bare(name: str) -> bool:
    return name.strip("_").lower() in BARE_WORDS


def _place(path: Path, node: ast.AST, text: str) -> str:
    return f"{path}:{getattr(node, 'lineno', 0)}: {text}"


def _count_tokens(source: bytes, signs: Signs) -> None:
    lines: set[int] = set()
    for token, is_docstring in _tokens(source):
        if token.type == tokenize.COMMENT:
            signs.comments += not token.line[: token.start[1]].strip()
        if token.type in LAYOUT or is_docstring:
            continue
        signs.tokens += token.type in {
            tokenize.NAME,
            tokenize.OP,
            tokenize.NUMBER,
        }
        lines.update(range(token.start[0], token.end[0] + 1))
    signs.lines += len(lines)


def _tokens(source: bytes) -> Iterator[tuple[tokenize.TokenInfo, bool]]:
    """Yield each token and whether it is a string that stands alone: a docstring."""
    before = None
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        begins = before is None or before.type in LAYOUT
        yield token, token.type == tokenize.STRING and begins
        before = token


def main() -> None:
    """Print the signs of each folder and, with ``--list``, every offender."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    for path in options.paths:
        signs = read_signs(path)
        if options.list:
            offenders = [
                *signs.bare_names,
                *signs.clauses,
                *signs.bare_functions,
            ]
            sys.stdout.writelines(f"{line}\n" for line in offenders)
        values = ", ".join(f"{n} {v:.3f}" for n, v in signs.ratios().items())
        print(f"{path}: {signs.lines} lines, {signs.tokens} tokens, {values}")


if __name__ == "__main__":
    main()
