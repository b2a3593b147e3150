"""What a release is made of, as CycloneDX 1.6 JSON: ``python -m tools.sbom > FILE``.

Packages stand as the lock file pins them (``requirements/base.txt``: name, version, the hashes of
the files that may be installed), and what the wheel carries of others stands inside beholder
itself, with its licence. The same sources give the same bytes: no time, no random serial number.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beholder._version import __version__

LOCK = Path(__file__).parents[1] / "requirements" / "base.txt"
_PINNED = re.compile(r"([\w.-]+)==([^ ;]+)(?: ; ([^\\]*?))?((?:\s+--hash=sha256:[0-9a-f]{64})+)")
_OF_THE_BUILD = {"hatchling", "editables", "pathspec", "pluggy", "trove-classifiers"}

CARRIED = (
    ("file", "src/beholder/text/wordnet", "WordNet", "3.0", {"name": "WordNet 3.0 license"}),
    ("file", "src/beholder/web/static/htmx.min.js", "htmx", "2.0.11", {"id": "0BSD"}),
    (
        "machine-learning-model",
        "src/beholder/embed/static_model",
        "beholder static embedding",
        __version__,
        {"id": "Apache-2.0"},
    ),
    (
        "machine-learning-model",
        "src/beholder/embed/minilm_model",
        "all-MiniLM-L6-v2 with few bits a weight",
        __version__,
        {"id": "Apache-2.0"},
    ),
    (
        "machine-learning-model",
        "src/beholder/language/english.safetensors",
        "beholder English pipeline",
        __version__,
        {"id": "Apache-2.0"},
    ),
)
"""What the wheel carries that others made or that was learned, with its version and licence."""


def bill() -> dict[str, Any]:
    """The bill of materials of this version."""
    packages = list(_packages(LOCK.read_text("utf-8")))
    itself = f"pkg:pypi/beholder@{__version__}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": itself,
                "name": "beholder",
                "version": __version__,
                "purl": itself,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "components": [_carried(*each) for each in CARRIED],
            }
        },
        "components": packages,
        "dependencies": [{"ref": itself, "dependsOn": [each["bom-ref"] for each in packages]}],
    }


def _packages(lock: str) -> Iterator[dict[str, Any]]:
    """The packages of a lock file that an installed beholder may import."""
    for name, version, marker, hashes in _PINNED.findall(lock.replace("\\\n", " ")):
        if name in _OF_THE_BUILD:
            continue
        purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
        made: dict[str, Any] = {
            "type": "library",
            "bom-ref": purl,
            "name": name,
            "version": version,
            "purl": purl,
            "hashes": [
                {"alg": "SHA-256", "content": found} for found in re.findall("[0-9a-f]{64}", hashes)
            ],
        }
        if marker:
            made["properties"] = [{"name": "beholder:marker", "value": marker.strip()}]
        yield made


def _carried(
    kind: str, place: str, name: str, version: str, licence: dict[str, str]
) -> dict[str, Any]:
    return {
        "type": kind,
        "bom-ref": place,
        "name": name,
        "version": version,
        "licenses": [{"license": licence}],
        "properties": [{"name": "beholder:place", "value": place}],
    }


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=1)
    sys.stdout.write("\n")
