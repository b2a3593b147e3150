"""Record the values of this version, which ``tests/test_values.py`` holds all later values against.

    make values                # writes tests/values/VERSION.json
    make values UNRELEASED=1   # writes it again, as long as this version has no tag

A change of any value is a new version: the table of a version that exists is not written again with
other values.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from beholder._version import __version__
from toy import recorded

ROOT = Path(__file__).parents[1]


def main(arguments: list[str] | None = None) -> int:
    """Record the table; 1 where that is refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unreleased", action="store_true", help="this version is not out yet")
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        found = recorded.table(Path(folder))
    file = recorded.file(__version__)
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    if file.is_file() and file.read_text("utf-8") != text:
        if is_tagged(__version__):
            return _refuse(f"{__version__} is released (tag v{__version__})")
        if not given.unreleased:
            return _refuse(
                f"{file.name} has other values; if {__version__} is not released yet, run"
                " make values UNRELEASED=1"
            )
    file.write_text(text, "utf-8")
    print(f"{file}: {len(found)} settings of metrics")
    return 0


def is_tagged(version: str) -> bool:
    """Whether the checkout has a tag of a version."""
    command = ["git", "tag", "--list", f"v{version}"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return bool(done.stdout.strip())


def _refuse(why: str) -> int:
    print(f"values changed: {why}. Else bump src/beholder/_version.py and record.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
