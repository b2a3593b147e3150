"""Write ``fingerprints.json``; ``make identity`` runs it, a test compares.

It has the result of parsing each module that computes numbers, so that signatures are quick, and
the SHA-256 of each file of data that this code names, which ``beholder doctor`` compares.
"""

from __future__ import annotations

import json
from typing import Any

from beholder.base import fingerprint


def manifest() -> dict[str, dict[str, Any]]:
    """Rows by file, relative to the package: of ``code`` and of ``data``."""
    package = fingerprint.PACKAGE
    folders = [
        package / name.partition(".")[2]
        for name in fingerprint.COMPUTING_PACKAGES
    ]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    paths += [
        path
        for folder in folders
        if (path := folder.with_suffix(".py")).is_file()
    ]
    paths += sorted(
        (package / "run").rglob("*.py")
    )  # captioners and the like begin there
    modules = {
        path.relative_to(package).as_posix(): fingerprint.read_module(path)
        for path in paths
    }
    names = [
        _dotted(name)
        for name in modules
        if not name.startswith(("kinds/", "run/"))
    ]
    data = {
        path.relative_to(package).as_posix(): digest
        for path, digest in fingerprint.file_digests(*names).items()
        if path.suffix != ".py"
    }
    return {
        "code": dict(sorted(modules.items())),
        "data": dict(sorted(data.items())),
    }


def _dotted(name: str) -> str:
    """Dotted name of a module's file."""
    return f"beholder.{name[:-3].replace('/', '.')}".removesuffix(".__init__")


def as_text(rows: dict[str, dict[str, Any]]) -> str:
    """Return the manifest as it is written: the digest of its rules, then a line for each file."""
    parts = [f' "rules": "{fingerprint.digest_rules()}"']
    for kind, by_file in rows.items():
        lines = [
            f"  {json.dumps(name)}: {json.dumps(row)}"
            for name, row in by_file.items()
        ]
        parts.append(f' "{kind}": {{\n' + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    fingerprint.MANIFEST.write_text(
        as_text(manifest()), encoding="utf-8", newline="\n"
    )
