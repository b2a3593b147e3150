"""Write the version of a release, or of the development after it, where it is said.

    make release VERSION=0.3.0       # cuts the release, then builds and tries it
    make next VERSION=0.4.0          # afterwards: 0.4.0.dev0

A release changes ``_version.py``, ``CITATION.cff`` (with its date) and the heading of the
changelog, whose section it checks: it is there and at most ``LONGEST_SECTION`` lines long.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION_FILE = "src/beholder/_version.py"
CITATION, CHANGELOG = "CITATION.cff", "CHANGELOG.md"
LONGEST_SECTION = 40
_RELEASE = re.compile(r"\d+\.\d+\.\d+")
_ASSIGNED = re.compile(r'(?m)^(__version__ = ")([^"]+)(")')
_CITED = re.compile(r"(?m)^version: \S+\n(?:date-released: \S+\n)?")


def cut(texts: dict[str, str], version: str, date: str) -> dict[str, str]:
    """Return the changed texts of a release.

    Args:
        texts: Content of ``VERSION_FILE``, ``CITATION`` and ``CHANGELOG``, by their names.
        version: Three numbers; the present one is this one's development version.
        date: YYYY-MM-DD.

    Raises:
        ValueError: The version is none, or not the one under development; or its section of the
            changelog is missing or too long.
    """
    changed = _with_version(texts, version)
    present = _present(texts)
    if present != f"{version}.dev0":
        raise ValueError(
            f"{VERSION_FILE} has {present}, not {version}.dev0; run make next VERSION={version}"
        )
    heading = f"## Unreleased ({version})\n"
    before, heading_there, after = texts[CHANGELOG].partition(heading)
    if not heading_there:
        raise ValueError(
            f"{CHANGELOG} has no heading {heading.strip()!r}; write the section first"
        )
    n_lines = after.partition("\n## ")[0].strip().count("\n") + 1
    if n_lines > LONGEST_SECTION:
        raise ValueError(
            f"{CHANGELOG}: the section of {version} has {n_lines} lines; shorten it to at most"
            f" {LONGEST_SECTION}"
        )
    changed[CHANGELOG] = f"{before}## {version} ({date})\n{after}"
    changed[CITATION] = _CITED.sub(
        f"version: {version}\ndate-released: {date}\n",
        texts[CITATION],
        count=1,
    )
    return changed


def begin_next(texts: dict[str, str], version: str) -> dict[str, str]:
    """Return the changed texts of the development of a version after a release.

    Raises:
        ValueError: The version is not three numbers, or the present one is not released.
    """
    present = _present(texts)
    if not _RELEASE.fullmatch(present):
        raise ValueError(
            f"{VERSION_FILE} has {present}, which is not released; run make release"
            f" VERSION={present.partition('.dev')[0]} first"
        )
    changed = _with_version(texts, version, ".dev0")
    changed[CITATION] = _CITED.sub(
        f"version: {version}.dev0\n", texts[CITATION], count=1
    )
    changed[CHANGELOG] = texts[CHANGELOG].replace(
        "\n## ", f"\n## Unreleased ({version})\n\n## ", 1
    )
    return changed


def _present(texts: dict[str, str]) -> str:
    match = _ASSIGNED.search(texts[VERSION_FILE])
    if match is None:
        raise ValueError(f"{VERSION_FILE} assigns no __version__")
    return match[2]


def _with_version(
    texts: dict[str, str], version: str, suffix: str = ""
) -> dict[str, str]:
    if not _RELEASE.fullmatch(version):
        raise ValueError(
            f"version {version!r} is not three numbers, such as 0.3.0"
        )
    return {
        **texts,
        VERSION_FILE: _ASSIGNED.sub(
            rf"\g<1>{version}{suffix}\g<3>", texts[VERSION_FILE]
        ),
    }


def main() -> int:
    """Change the three files; return 2 and say why if one of them does not allow it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    parser.add_argument("--next", action="store_true")
    settings = parser.parse_args()
    names = (VERSION_FILE, CITATION, CHANGELOG)
    texts = {name: (ROOT / name).read_text("utf-8") for name in names}
    try:
        if settings.next:
            changed = begin_next(texts, settings.version)
        else:
            today = datetime.datetime.now(datetime.UTC).date().isoformat()
            changed = cut(texts, settings.version, today)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    for name, text in changed.items():
        if text != texts[name]:
            (ROOT / name).write_text(text, "utf-8")
            print(f"changed {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
