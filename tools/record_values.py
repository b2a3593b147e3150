"""Record values of all metrics, which ``tests/test_values.py`` compares with those of the code.

    make values

While the version is one of development (``0.3.0.dev0``), this renews ``development.json``. At a
release, when the version in ``_version.py`` has become ``0.3.0``, it writes ``0.3.0.json`` and adds
the digest of that file to ``released.json``. A released table is never written again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from beholder._version import __version__
from toy import recorded


def main(version: str = __version__) -> int:
    """Record the table of a version; return 1 if it is released.

    Args:
        version: As in ``_version.py``.
    """
    digests = released()
    if version in digests:
        print(
            f"the values of {version} are released and stay as they are; set the version in"
            " src/beholder/_version.py to the next one with .dev0, then run make values",
            file=sys.stderr,
        )
        return 1
    with TemporaryDirectory() as folder:
        table = recorded.table(Path(folder))
    file = recorded.file(version)
    file.write_text(
        json.dumps(table, indent=1, ensure_ascii=False) + "\n", "utf-8"
    )
    print(f"{file}: {len(table)} settings of metrics")
    if not recorded.is_development(version):
        digests[version] = digest_of(file)
        recorded.released_file().write_text(
            json.dumps(digests, indent=1) + "\n", "utf-8"
        )
    return 0


def released() -> dict[str, str]:
    """Digest of the table of each released version, by version."""
    digests: dict[str, str] = json.loads(
        recorded.released_file().read_text("utf-8")
    )
    return digests


def changed_tables() -> list[str]:
    """Released versions whose table is missing or differs from its digest, and unlisted tables."""
    digests = released()
    listed = {
        recorded.file(version): digest for version, digest in digests.items()
    }
    changed = [
        version
        for version, digest in digests.items()
        if not recorded.file(version).is_file()
        or digest_of(recorded.file(version)) != digest
    ]
    renewable = {recorded.file("0.dev0"), recorded.released_file()}
    present = set(recorded.FOLDER.glob("*.json")) - renewable
    return sorted(changed) + sorted(
        file.stem for file in present - set(listed)
    )


def digest_of(file: Path) -> str:
    """SHA-256 of a table's rows, whatever the ends of its lines."""
    return hashlib.sha256(file.read_text("utf-8").encode("utf-8")).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
