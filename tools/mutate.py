"""Would a test see it if the source were wrong?  One change at a time, each against its tests.

Every comparison, calculation, condition, number and flag of the packages is a place where the
source can be made wrong. A sample of them is drawn with a fixed seed; each is made alone, in a copy
of the source, and the tests of that place (``mirrors.py``) are run against the copy in a process of
its own. A change that a test sees is killed; one that no test sees survived, and is printed.

    make mutate N=150 SEED=1
    make mutate N=20 SEED=7 PACKAGE=stats

A change is undecided where the tests passed their time limit, or where the test that failed also
fails without the change. Lines where no change can be seen in a result are listed
in ``equivalent.toml`` with the reason, and are not drawn.

mutmut and cosmic-ray draw no seeded sample, run the whole suite for each change (minutes here
instead of seconds) and know no list of equivalent changes, so they are not used.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import copy
import importlib
import importlib.util
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product, repeat, zip_longest
from pathlib import Path
from typing import Literal

import pytest

from tools.mirrors import ELSEWHERE, PACKAGES, tests_of

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
SECONDS = 120
"""How long the tests of one change may take on a busy machine before it counts as undecided."""

OTHER_MODULES = (
    *(
        "numpy",
        "scipy.stats",
        "scipy.optimize",
        "scipy.sparse",
        "hypothesis",
        "pydantic",
        "PIL",
    ),
    *("pyarrow.parquet", "cyclopts", "jinja2", "httpx", "sqlalchemy"),
)
"""Packages of others that are loaded once, before the tests of each change start from there."""

Outcome = Literal["killed", "survived", "undecided"]

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
CALCULATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
OPPOSITE_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of the source: ``start`` to ``end`` (bytes) of ``file`` become ``text``."""

    package: str
    file: str
    """Below ``src/beholder``."""
    line: int
    start: int
    end: int
    text: str
    before: str
    line_text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before}  ->  {self.text}"


def places(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes that may be changed: none of an annotation, a decorator or an f-string.

    ``A | B`` outside of functions is a name for a type, and is left alone too.
    """
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, called = waiting.pop()
        if isinstance(node, ast.JoinedStr):
            continue
        called |= isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        )
        if called or not (
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)
        ):
            yield node
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list"):
                children = value if isinstance(value, list) else [value]
                waiting += [
                    (child, called)
                    for child in children
                    if isinstance(child, ast.AST)
                ]


def opposite(condition: ast.expr) -> ast.expr:
    """Return the condition turned round."""
    if isinstance(condition, ast.UnaryOp) and isinstance(
        condition.op, ast.Not
    ):
        return condition.operand
    return ast.UnaryOp(ast.Not(), condition)


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Pairs of a node and what it may be changed into."""
    match node:
        case ast.Compare():
            for i, operator in enumerate(node.ops):
                changed_node = copy.deepcopy(node)
                changed_node.ops[i] = COMPARISONS[type(operator)]()
                yield node, changed_node
        case ast.BinOp() if type(node.op) in CALCULATIONS and not text_in(
            node
        ):
            yield (
                node,
                ast.BinOp(
                    node.left, CALCULATIONS[type(node.op)](), node.right
                ),
            )
        case ast.AugAssign() if type(node.op) in CALCULATIONS and not text_in(
            node
        ):
            yield (
                node,
                ast.AugAssign(
                    node.target, CALCULATIONS[type(node.op)](), node.value
                ),
            )
        case ast.BoolOp():
            turned = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield node, ast.BoolOp(turned, node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node, node.operand
        case ast.Call(func=ast.Name(id=name)) if name in OPPOSITE_CALLS:
            yield node.func, ast.Name(OPPOSITE_CALLS[name])
        case ast.Break():
            yield node, ast.Continue()
        case ast.Continue():
            yield node, ast.Break()
    yield from ((c, opposite(c)) for c in conditions(node))
    yield from changed_constants(node)


def conditions(node: ast.AST) -> list[ast.expr]:
    """Return the conditions that select the branch of a node."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return []
        case ast.If() | ast.While() | ast.IfExp():
            return [node.test]
        case ast.comprehension():
            return node.ifs
    return []


def changed_constants(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield a flag turned round, a number one larger."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield node, ast.Constant(not node.value)
        elif isinstance(node.value, int | float):
            yield node, ast.Constant(node.value + 1)


def text_in(node: ast.BinOp | ast.AugAssign) -> bool:
    """Is a side a text?  Texts that are subtracted end in an error, which proves nothing."""
    sides = (
        [node.left, node.right]
        if isinstance(node, ast.BinOp)
        else [node.value]
    )
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in sides
    )


def mutants(package: str, file: Path) -> list[Mutant]:
    """Return every single change of one source file, in the order of the file."""
    source = file.read_bytes()
    lines = source.splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    mutants: list[Mutant] = []
    for node in places(ast.parse(source)):
        for old, new in changes(node):
            assert isinstance(old, ast.expr | ast.stmt)
            assert old.end_lineno is not None
            assert old.end_col_offset is not None
            start = begins[old.lineno - 1] + old.col_offset
            end = begins[old.end_lineno - 1] + old.end_col_offset
            text = ast.unparse(new)
            if isinstance(new, ast.expr) and not isinstance(
                new, ast.Name | ast.Constant
            ):
                text = f"({text})"
            mutants.append(
                Mutant(
                    package=package,
                    file=file.relative_to(SOURCE / "beholder").as_posix(),
                    line=old.lineno,
                    start=start,
                    end=end,
                    text=text,
                    before=ast.unparse(old),
                    line_text=lines[old.lineno - 1].decode().strip(),
                )
            )
    return sorted(mutants, key=lambda m: (m.start, m.end, m.text))


def equivalent_lines() -> set[tuple[str, str]]:
    """File and text of the lines where no change can be seen."""
    listed = tomllib.loads(EQUIVALENT.read_text("utf-8"))["line"]
    return {(entry["file"], entry["text"]) for entry in listed}


def draw(
    packages: Sequence[str], n: int, seed: int, only: str = ""
) -> list[Mutant]:
    """``n`` changes, spread evenly over the packages, the same for the same seed and source."""
    skipped = equivalent_lines()
    drawn_mutants: list[list[Mutant]] = []
    for package in packages:
        files = sorted((SOURCE / "beholder" / package).rglob("*.py"))
        inner = [
            SOURCE / "beholder" / nested_package
            for nested_package in PACKAGES
            if nested_package.startswith(f"{package}/")
        ]
        files = [
            f
            for f in files
            if only in f.as_posix()
            and not any(f.is_relative_to(folder) for folder in inner)
        ]
        all_of_it = [
            mutant
            for file in files
            for mutant in mutants(package, file)
            if not mutant.file.startswith(ELSEWHERE)
            and (mutant.file, mutant.line_text) not in skipped
        ]
        random.Random(f"{seed} {package}").shuffle(all_of_it)
        drawn_mutants.append(all_of_it)
    in_turn = [
        m
        for round_ in zip_longest(*drawn_mutants)
        for m in round_
        if m is not None
    ]
    return in_turn[:n]


class Copy:
    """A copy of the source in which one change at a time is made and its tests are run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = folder / "src"
        shutil.copytree(
            SOURCE, self.source, ignore=shutil.ignore_patterns("__pycache__")
        )
        compileall.compile_dir(self.source, quiet=2)

    def tests(
        self, tests: Sequence[str], seconds: float, chosen: str = ""
    ) -> tuple[int | None, str]:
        """Exit status (None: out of time) and the name of the test that failed.

        Args:
            tests: Files or names of tests.
            seconds: The time limit.
            chosen: The marker expression, as pytest takes it.
        """
        output_file = self.folder / "said"
        process = multiprocessing.get_context("fork").Process(
            target=run_pytest,
            args=(self.source, output_file, ["-m", chosen, *tests]),
        )
        process.start()
        try:
            process.join(seconds)
            if process.is_alive():
                return None, ""
        finally:  # out of time, or we were told to stop: nothing is left running
            if process.is_alive():
                os.killpg(process.pid or 0, signal.SIGKILL)
                process.join()
        pattern = r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$"
        failed = re.findall(
            pattern,
            output_file.read_text("utf-8", errors="replace"),
            re.MULTILINE,
        )
        return process.exitcode, failed[0] if failed else ""

    def outcome(self, mutant: Mutant, seconds: float) -> tuple[Outcome, str]:
        """Run the tests against one change; return the outcome and the first test that failed."""
        file = self.source / "beholder" / mutant.file
        compiled = Path(importlib.util.cache_from_source(str(file)))
        as_it_was = file.read_bytes()
        changed = (
            as_it_was[: mutant.start]
            + mutant.text.encode()
            + as_it_was[mutant.end :]
        )
        compiled.unlink(
            missing_ok=True
        )  # a file of equal size and date would pass for compiled
        file.write_bytes(changed)
        try:
            for chosen, tests in product(
                ("not slow", "slow"), tests_of(mutant.file)
            ):
                status, failed = self.tests(tests, seconds, chosen)
                if status is None:
                    return "undecided", "out of time"
                if status not in (
                    pytest.ExitCode.OK,
                    pytest.ExitCode.NO_TESTS_COLLECTED,
                ):
                    return "killed", failed
            return "survived", ""
        finally:
            file.write_bytes(as_it_was)
            compiled.unlink(missing_ok=True)


def run_pytest(source: Path, output_file: Path, tests: list[str]) -> None:
    """The tests against one copy, in this process, which has loaded nothing of the source yet."""
    os.setsid()  # what the tests start ends with them
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.chdir(ROOT)
    with output_file.open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    source_paths = [str(source), str(ROOT / "tests"), str(ROOT)]
    sys.path[:] = [
        *source_paths,
        *(p for p in sys.path if p not in (str(SOURCE), "")),
    ]
    os.environ["PYTHONPATH"] = os.pathsep.join(source_paths)
    plain = [
        "-p",
        "no:randomly",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        "--assert=plain",
    ]
    status = pytest.main(["-x", "--tb=no", "-rfE", *plain, *tests])
    sys.stdout.flush()
    os._exit(int(status))


def preload() -> None:
    """Load once what every test needs of other packages."""
    for name in OTHER_MODULES:
        importlib.import_module(name)


def failing_without_a_change(where: Copy, names: set[str]) -> set[str]:
    """Those of the tests that fail on the unchanged source too, and so prove nothing."""
    waiting, failing = {name for name in names if "::" in name}, set[str]()
    while waiting:
        status, failed = where.tests(sorted(waiting), SECONDS * 5)
        if status == 0 or failed not in waiting:
            break
        failing.add(failed)
        waiting.discard(failed)
    return failing


def table(results: Sequence[tuple[Mutant, Outcome]]) -> str:
    """Package, killed, survived, undecided, share killed of those decided."""
    rows = [
        "| package | killed | survived | undecided | score |",
        "| --- | --- | --- | --- | --- |",
    ]
    packages = [p for p in PACKAGES if any(m.package == p for m, _ in results)]
    for package in [*packages, "all"]:
        of_it = Counter(o for m, o in results if package in (m.package, "all"))
        decided = of_it["killed"] + of_it["survived"]
        score = f"{100 * of_it['killed'] / decided:.0f} %" if decided else "-"
        counts = (
            f"{of_it['killed']} | {of_it['survived']} | {of_it['undecided']}"
        )
        rows.append(f"| {package} | {counts} | {score} |")
    return "\n".join(rows)


COPY: list[Copy] = []
"""The copy of this worker process."""


def use_copy(folder: str) -> None:
    """Give this worker process a copy of the source; told to end, it ends its tests first."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    COPY.append(Copy(Path(folder) / str(os.getpid())))


def attempt(mutant: Mutant, seconds: float) -> tuple[Outcome, str]:
    """One change, in the copy of this worker process."""
    return COPY[0].outcome(mutant, seconds)


def main() -> int:
    """Draw, try, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=150, help="changes to try")
    parser.add_argument(
        "--seed", type=int, default=1, help="another seed draws other changes"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count(),
        help="changes tried at a time",
    )
    parser.add_argument(
        "--package", choices=PACKAGES, action="append", help="only of these"
    )
    parser.add_argument(
        "--file", default="", help="only of files whose path has this text"
    )
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="limit of one change"
    )
    options = parser.parse_args()
    chosen = draw(
        options.package or PACKAGES, options.n, options.seed, options.file
    )
    preload()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(
            0o755
        )  # tests that give up their rights still read the source
        workers = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(
            options.jobs, workers, use_copy, (folder,)
        ) as pool:
            tried = []
            for mutant, (outcome, by) in zip(
                chosen,
                pool.map(attempt, chosen, repeat(options.seconds)),
                strict=True,
            ):
                print(f"{outcome:9} {mutant}  {by}", flush=True)
                tried.append((mutant, outcome, by))
        unchanged = Copy(Path(folder) / "unchanged")
        failing = failing_without_a_change(
            unchanged, {by for _, o, by in tried if o == "killed"}
        )
    results: list[tuple[Mutant, Outcome]] = [
        (m, "undecided" if o == "killed" and by in failing else o)
        for m, o, by in tried
    ]
    for name in sorted(failing):
        print(f"fails without a change: {name}")
    print("\n" + table(results))
    for mutant, outcome in results:
        if outcome == "survived":
            print(f"\nsurvived {mutant}\n    {mutant.line_text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
