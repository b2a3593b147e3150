"""What a release is made of, as CycloneDX 1.6 JSON: ``python -m tools.sbom > FILE``.

Packages are those that ``uv.lock`` pins for an installation without extras on any platform that it
covers: name, version, the hashes of the files that may be installed. What the wheel carries of
others is inside beholder itself, with its licence. The same sources give the same bytes: no time,
no random serial number. ``uv export --format cyclonedx1.5`` writes both, and neither licences nor
what the wheel carries, so it is not used.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from packaging.markers import Marker

from beholder._version import __version__

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = (
    ("linux", "Linux", "x86_64"),
    ("linux", "Linux", "aarch64"),
    ("darwin", "Darwin", "arm64"),
    ("win32", "Windows", "AMD64"),
)
"""What ``uv.lock`` covers (``tool.uv.environments``)."""

CARRIED = (
    (
        "file",
        "src/beholder/text/wordnet",
        "WordNet",
        "3.0",
        {"name": "WordNet 3.0 license"},
    ),
    (
        "file",
        "src/beholder/web/static/htmx.min.js",
        "htmx",
        "2.0.11",
        {"id": "0BSD"},
    ),
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
        "src/beholder/language/english.onnx",
        "beholder English pipeline",
        __version__,
        {"id": "Apache-2.0"},
    ),
)
"""What the wheel carries that others made or that was learned, with its version and licence."""

REFERENCES = {
    "Homepage": "website",
    "Repository": "vcs",
    "Issues": "issue-tracker",
    "Security": "security-contact",
}
"""CycloneDX's kind of each of the project's addresses."""


def bill() -> dict[str, Any]:
    """Return the bill of materials of this version."""
    packages = _packages(tomllib.loads((ROOT / "uv.lock").read_text("utf-8")))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]
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
                "externalReferences": [
                    {"type": kind, "url": project["urls"][name]}
                    for name, kind in REFERENCES.items()
                ],
                "components": [_carried(*each) for each in CARRIED],
            }
        },
        "components": packages,
        "dependencies": [
            {
                "ref": itself,
                "dependsOn": [each["bom-ref"] for each in packages],
            }
        ],
    }


def _packages(lock: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the packages that an installed beholder may import, by name and version."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for package in lock["package"]:
        by_name.setdefault(package["name"], []).append(package)
    where: dict[tuple[str, str], set[str]] = {}
    for platform in PLATFORMS:
        for python in PYTHONS:
            for pinned in _installed(by_name, _environment(python, *platform)):
                where.setdefault(pinned, set()).add(platform[0])
    pins = {
        (package["name"], package.get("version", "")): package
        for package in lock["package"]
    }
    return [
        _component(pins[pinned], where[pinned]) for pinned in sorted(where)
    ]


def _installed(
    by_name: dict[str, list[dict[str, Any]]], environment: dict[str, str]
) -> set[tuple[str, str]]:
    """Name and version of what beholder brings into one environment."""
    pins: set[tuple[str, str]] = set()
    waiting = list(by_name["beholder"][0]["dependencies"])
    while waiting:
        need = waiting.pop()
        if "marker" in need and not Marker(need["marker"]).evaluate(
            environment
        ):
            continue
        [package] = [
            candidate
            for candidate in by_name[need["name"]]
            if need.get("version") in (None, candidate["version"])
        ]
        pinned = (package["name"], package["version"])
        if pinned not in pins:
            pins.add(pinned)
            waiting += package.get("dependencies", [])
        for extra in need.get("extra", []):
            waiting += package["optional-dependencies"][extra]
    return pins


def _environment(
    python: str, sys_platform: str, system: str, machine: str
) -> dict[str, str]:
    """Variables of markers, for CPython without any extra."""
    return {
        "extra": "",
        "implementation_name": "cpython",
        "implementation_version": f"{python}.0",
        "os_name": "nt" if system == "Windows" else "posix",
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": system,
        "platform_version": "",
        "python_full_version": f"{python}.0",
        "python_version": python,
        "sys_platform": sys_platform,
    }


def _component(package: dict[str, Any], platforms: set[str]) -> dict[str, Any]:
    purl = f"pkg:pypi/{package['name']}@{package['version']}"
    files = [
        *package.get("wheels", []),
        *([package["sdist"]] if "sdist" in package else []),
    ]
    hashes = sorted(file["hash"].removeprefix("sha256:") for file in files)
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": package["name"],
        "version": package["version"],
        "purl": purl,
        "hashes": [
            {"alg": "SHA-256", "content": hash_value} for hash_value in hashes
        ],
    }
    if len(platforms) < len({platform for platform, *_ in PLATFORMS}):
        component["properties"] = [
            {
                "name": "beholder:platforms",
                "value": " ".join(sorted(platforms)),
            }
        ]
    return component


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
