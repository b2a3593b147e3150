"""Digests of the code and data that compute a number, for signatures.

The digest of a class is taken over the modules that its modules import, directly or not, as far as
they compute anything, and over the data files that this code names. It is taken from the files as
they are, so that an edited module or word list gives another digest without any further step.

Parsing all modules would take a second, so ``fingerprints.json`` stores the result for each file
under the hash of its bytes. An entry whose hash differs is not used: its module is parsed. If the
rules (``digest_rules``) have changed since, no entry is used. A stale manifest therefore costs time
and never gives a wrong digest; ``make identity`` renews it.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from beholder.base import code_digest
from beholder.base.code_digest import (
    digest_bytes,
    digest_code,
    digest_members,
    imported_names,
)

PACKAGE = Path(__file__).parent.parent
MANIFEST = PACKAGE / "fingerprints.json"

COMPUTING_PACKAGES = tuple(
    f"beholder.{part}"
    for part in (
        "asking",
        "base.archival_dates",
        "base.date_words",
        "base.dates",
        "base.edtf",
        "base.grouping",
        "base.rounding",
        "embed",
        "judges",
        "kinds",
        "language",
        "media",
        "metrics",
        "stats",
        "text",
    )
)
"""Packages whose modules can change a number; the others read, store, send and print."""

FACADES = frozenset(
    f"beholder.{name}"
    for name in (
        "embed",
        "judges",
        "judges.operations",
        "language",
        "metrics",
        "text",
    )
)
"""Packages that re-export: an import from one leads to the module that defines the name."""

FRAME_MODULES = frozenset(
    f"beholder.asking.{name}" for name in ("asker", "params", "tools")
)
"""Modules that name and make the tools of all metrics. Except for pictures, their imports are not
followed: a metric computes with the tools that its parameters name, and these have identities."""

LIBRARIES = ("py3langid", "tokenizers")
"""Modules of other packages whose version can change a number and that no field states."""

_FILE_NAME = re.compile(r"[\w .+-]+(/[\w .+-]+)*\.\w+(\.\w+)?")


class Module(NamedTuple):
    """The contribution of one module to a digest.

    Attributes:
        raw: Hash of its bytes.
        code: Digest of its syntax tree, without docstrings, comments and annotations.
        imports: Dotted names that it imports.
        data: Names of files among its texts, without folders.
    """

    raw: str
    code: str
    imports: tuple[str, ...]
    data: tuple[str, ...]


class ModuleSource(NamedTuple):
    """A module below the folder that its imports are looked up in.

    Attributes:
        root: The folder; of ours, the one that contains the package.
        name: Dotted name.
        path: Its file.
    """

    root: Path
    name: str
    path: Path

    @property
    def is_ours(self) -> bool:
        """Return whether it belongs to this package."""
        return self.root == PACKAGE.parent

    @property
    def is_installed(self) -> bool:
        """Return whether it is in an installed copy of a package, which its version identifies."""
        return not self.is_ours and self.root.name in (
            "site-packages",
            "dist-packages",
        )


@cache
def digest_classes(*classes: type[Any]) -> str:
    """Twelve hexadecimal digits for all code and data that classes compute with.

    An installed copy of another package is identified by its version, so its own files are not in
    the digest; those of an editable installation, of a script and of a notebook are.

    Args:
        classes: Classes of this or another package, of a script or of a notebook.
    """
    # The digest is over the files of all base classes; a class that has no file (of a notebook or
    # of ``exec``) is described by its members.
    bases = [base for cls in classes for base in cls.__mro__]
    digests = {
        _portable_name(path): digest
        for path, digest in file_digests(*_module_names(bases)).items()
    }
    for base in bases:
        if not _is_library(base.__module__) and not _has_file(base.__module__):
            digests[f"{base.__module__}.{base.__qualname__}"] = digest_members(
                base
            )
    return _combine_digests(digests)


@cache
def digest_modules(*modules: str) -> str:
    """Twelve hexadecimal digits for all code and data that modules of ours compute with."""
    return _combine_digests(
        {
            _portable_name(path): digest
            for path, digest in file_digests(*modules).items()
        }
    )


def file_digests(*modules: str) -> Mapping[Path, str]:
    """The files of code and data that modules compute with, each with its digest.

    Args:
        modules: Dotted names; those of libraries are left out.
    """
    # First the code that is reached by imports, then the data files that this code names.
    sources = _import_closure(_find_sources(modules))
    digests = {}
    folders: set[Path] = set()
    names: set[str] = set()
    for source in sources:
        module = read_module(source.path)
        if source.is_ours:
            folders.add(source.path.parent)
            names.update(module.data)
        elif not source.is_installed:
            data_paths = (source.path.parent / name for name in module.data)
            digests.update(
                {
                    path: digest_data_file(path)
                    for path in data_paths
                    if path.is_file()
                }
            )
        if not source.is_installed:
            digests[source.path] = module.code
    # Code of ours names files of other folders, too: the word lists of ``language``, say.
    for path in _data_files():
        if path.name in names and not folders.isdisjoint(path.parents):
            digests[path] = digest_data_file(path)
    return digests


@cache
def library_versions(*classes: type[Any]) -> str:
    """Name and version of each of ``LIBRARIES`` that classes compute with: "+NAME@VERSION"."""
    modules = _module_names(base for cls in classes for base in cls.__mro__)
    sources = _import_closure(_find_sources(modules))
    imported = {
        dotted.partition(".")[0]
        for source in sources
        for dotted in read_module(source.path).imports
    }
    return "".join(
        f"+{name}@{version(name)}" for name in LIBRARIES if name in imported
    )


def read_module(path: Path) -> Module:
    """Parse a module, or take its entry of the manifest if that is of the same bytes."""
    # A module of someone else may be edited and loaded again in the same process.
    return (
        _read_module_once(path)
        if path.is_relative_to(PACKAGE)
        else _read_module(path)
    )


def digest_data_file(path: Path) -> str:
    """SHA-256 of a file of data, as hex."""
    return (
        _digest_once(path)
        if path.is_relative_to(PACKAGE)
        else digest_bytes(path.read_bytes())
    )


@cache
def _read_module_once(path: Path) -> Module:
    return _read_module(path)


@cache
def _digest_once(path: Path) -> str:
    return digest_bytes(path.read_bytes())


def _read_module(path: Path) -> Module:
    # A text of the module that has the form of a file name counts as one; those that are no file
    # are ignored later.
    content = path.read_bytes()
    raw = digest_bytes(content)
    entry = _load_manifest().get(_portable_name(path))
    if entry is not None and entry.raw == raw:
        return entry
    tree = ast.parse(content)
    constants = (
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
    )
    texts = {value for value in constants if isinstance(value, str)}
    names = sorted(
        {Path(text).name for text in texts if _FILE_NAME.fullmatch(text)}
    )
    imports = tuple(sorted(set(imported_names(tree))))
    # The manifest keeps what is followed: other libraries cannot change a digest.
    if path.is_relative_to(PACKAGE):
        imports = tuple(
            name
            for name in imports
            if name.partition(".")[0] in ("beholder", *LIBRARIES)
        )
    return Module(raw, digest_code(tree), imports, tuple(names))


def clear_caches() -> None:
    """Read all files again at the next call; for tests that change them."""
    for function in (
        *(
            digest_classes,
            digest_modules,
            library_versions,
            _read_module_once,
            _digest_once,
        ),
        *(_load_manifest, _data_files, _cached_import_targets, _find_ours),
    ):
        function.cache_clear()


@cache
def _load_manifest() -> Mapping[str, Module]:
    if not MANIFEST.is_file():
        # It is being written for the first time.
        return {}
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    if manifest.get("rules") != digest_rules():
        # Another version of this module wrote it, perhaps by other rules.
        return {}
    return {
        name: Module(raw, code, tuple(imports), tuple(data))
        for name, (raw, code, imports, data) in manifest["code"].items()
    }


def digest_rules() -> str:
    """SHA-256 of the rules by which the manifest was written: this module, and digests of code."""
    paths = (__file__, code_digest.__file__)
    return digest_bytes(b"".join(Path(path).read_bytes() for path in paths))


@cache
def _data_files() -> tuple[Path, ...]:
    """All files of the package that are not code."""
    paths = (
        Path(folder, name)
        for folder, _, names in os.walk(PACKAGE)
        for name in names
    )
    return tuple(
        sorted(
            path
            for path in paths
            if path.suffix not in (".py", ".pyc") and path != MANIFEST
        )
    )


def _import_closure(starts: Iterable[ModuleSource]) -> list[ModuleSource]:
    """Modules that are reached from some by imports, in the order of their files."""
    sources: dict[Path, ModuleSource] = {}
    pending = list(starts)
    while pending:
        source = pending.pop()
        if source.path in sources:
            continue
        sources[source.path] = source
        pending += (
            _cached_import_targets(source)
            if source.is_ours
            else _import_targets(source)
        )
    return [sources[path] for path in sorted(sources)]


@cache
def _cached_import_targets(source: ModuleSource) -> tuple[ModuleSource, ...]:
    return _import_targets(source)


def _import_targets(source: ModuleSource) -> tuple[ModuleSource, ...]:
    """The modules that the imports of a module lead to."""
    targets = (
        _resolve_import(source, dotted)
        for dotted in read_module(source.path).imports
    )
    return tuple(
        dict.fromkeys(target for target in targets if target is not None)
    )


def _resolve_import(source: ModuleSource, dotted: str) -> ModuleSource | None:
    """The module that an import leads to; None if nothing is computed there."""
    if dotted.startswith("."):
        dotted = _absolute_name(source, dotted)
    if not dotted.startswith("beholder."):
        # A module beside a script can change its numbers; a library has a version of its own.
        same_package = (
            dotted.partition(".")[0] == source.name.partition(".")[0]
        )
        if source.is_ours or (source.is_installed and not same_package):
            return None
        return _find_module(source.root, dotted)
    target = _find_module(PACKAGE.parent, dotted)
    if target is None or not target.name.startswith(COMPUTING_PACKAGES):
        return None
    # Followed, the frame would put all tools into the digest of every metric.
    if source.name in FRAME_MODULES and not target.name.startswith(
        "beholder.media"
    ):
        return None
    # The whole facade would bring all that it re-exports, so the module behind the name is taken.
    if target.name in FACADES and dotted != target.name:
        suffix = f".{dotted.rpartition('.')[2]}"
        for inner in read_module(target.path).imports:
            if inner.endswith(suffix):
                return _resolve_import(target, inner)
    return target


def _absolute_name(source: ModuleSource, dotted: str) -> str:
    """A relative import as an absolute one."""
    n_dots = len(dotted) - len(dotted.lstrip("."))
    pieces = source.name.split(".")
    is_package = source.path.name == "__init__.py"
    package = pieces[: len(pieces) - n_dots + is_package]
    return ".".join([*package, dotted.lstrip(".")]).rstrip(".")


def _find_module(root: Path, dotted: str) -> ModuleSource | None:
    """The module of a dotted name, which may end with a name in it."""
    # Modules of others may be written and edited in the same process, as in a notebook.
    return (
        _find_ours(dotted) if root == PACKAGE.parent else _find(root, dotted)
    )


@cache
def _find_ours(dotted: str) -> ModuleSource | None:
    return _find(PACKAGE.parent, dotted)


def _find(root: Path, dotted: str) -> ModuleSource | None:
    # The last piece may be a name in the module, as in ``from package.module import name``.
    pieces = dotted.split(".")
    for end in (len(pieces), len(pieces) - 1):
        folder = root.joinpath(*pieces[:end])
        for path in (folder.with_suffix(".py"), folder / "__init__.py"):
            if end and path.is_file():
                return ModuleSource(root, ".".join(pieces[:end]), path)
    return None


def _find_source(module: str) -> ModuleSource | None:
    """The file of a module that is loaded or ours; None of libraries and of what has no file."""
    if module == "beholder" or module.startswith("beholder."):
        return _find_module(PACKAGE.parent, module)
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or _is_library(module) or not file.endswith(".py"):
        return None
    path = Path(file).resolve()
    # A module in a zip archive has a path that is not a file.
    if not path.is_file():
        return None
    pieces = module.split(".")
    if path.name == "__init__.py":
        return ModuleSource(path.parents[len(pieces)], module, path)
    # The module of a script is called __main__, so the file gives its name.
    if path.stem != pieces[-1]:
        return ModuleSource(path.parent, path.stem, path)
    return ModuleSource(path.parents[len(pieces) - 1], module, path)


def _find_sources(modules: Iterable[str]) -> Iterator[ModuleSource]:
    for name in modules:
        source = _find_source(name)
        if source is not None:
            yield source


def _has_file(module: str) -> bool:
    return _find_source(module) is not None


def _is_library(module: str) -> bool:
    return (
        module.partition(".")[0] in sys.stdlib_module_names
        and module != "__main__"
    )


def _module_names(classes: Iterable[type[Any]]) -> list[str]:
    return list(dict.fromkeys(cls.__module__ for cls in classes))


def _combine_digests(digests: Mapping[str, str]) -> str:
    return digest_bytes(json.dumps(sorted(digests.items())).encode("utf-8"))[
        :12
    ]


def _portable_name(path: Path) -> str:
    """A file as digests and the manifest name it: the same on every machine."""
    inside = path.is_relative_to(PACKAGE)
    return (
        path.relative_to(PACKAGE).as_posix() if inside else f"../{path.name}"
    )
