"""What is released: the source archive, the wheel that is built from it, and what describes them."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import beholder
from beholder.cli.main import app

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))[
    "project"
]
OF_THE_CHECKOUT = {".ci/run"}
"""What a source archive leaves out: it is no checkout."""
URLS: dict[str, str] = PROJECT["urls"]


def _built(kind: str, source: Path, folder: Path) -> Path:
    subprocess.run(
        [
            sys.executable,
            "-m",
            "hatchling",
            "build",
            "-t",
            kind,
            "-d",
            str(folder),
        ],
        cwd=source,
        check=True,
        capture_output=True,
    )
    [archive] = folder.iterdir()
    return archive


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, laid out as one who got it does."""
    sdist_archive = _built("sdist", ROOT, tmp_path_factory.mktemp("sdist"))
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist_archive) as archive:
        archive.extractall(folder, filter="data")
    return folder / sdist_archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(
    unpacked: Path, tmp_path_factory: pytest.TempPathFactory
) -> zipfile.ZipFile:
    """The wheel that the source archive gives."""
    return zipfile.ZipFile(
        _built("wheel", unpacked, tmp_path_factory.mktemp("wheel"))
    )


@pytest.mark.slow  # builds the archives
def test_the_source_archive_holds_the_whole_tree(unpacked: Path) -> None:
    names = {
        str(path.relative_to(unpacked))
        for path in unpacked.rglob("*")
        if path.is_file()
    }
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        there = {
            name
            for name in listed.stdout.splitlines()
            if (ROOT / name).is_file()
        }
        assert there - names == OF_THE_CHECKOUT
    assert {
        "tests/conftest.py",
        "uv.lock",
        "docs/beholder.1",
        "PKG-INFO",
    } <= names
    private = re.compile(r"/__pycache__/|\.pyc$|^\.venv|^dist/|^runs/")
    assert not [name for name in names if private.search(name)]


@pytest.mark.slow  # builds the archives
def test_the_wheel_holds_the_package_and_nothing_else(
    wheel: zipfile.ZipFile,
) -> None:
    source = ROOT / "src"
    ours = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and ".egg-info" not in str(path)
    }
    packed = {
        name for name in wheel.namelist() if not name.startswith("beholder-")
    }
    assert packed == ours
    assert len(ours) > 400


@pytest.mark.slow
def test_the_manifest_of_the_wheel_is_that_of_its_code(
    wheel: zipfile.ZipFile,
) -> None:
    manifest = json.loads(wheel.read("beholder/fingerprints.json"))
    rules = b"".join(
        wheel.read(f"beholder/base/{name}.py")
        for name in ("fingerprint", "code_digest")
    )
    assert manifest["rules"] == hashlib.sha256(rules).hexdigest()
    for name, (raw, *_) in manifest["code"].items():
        assert (
            hashlib.sha256(wheel.read(f"beholder/{name}")).hexdigest() == raw
        ), name
    for name, digest in manifest["data"].items():
        assert (
            hashlib.sha256(wheel.read(f"beholder/{name}")).hexdigest()
            == digest
        ), name
    assert len(manifest["code"]) > 200


@pytest.mark.slow
def test_the_wheel_brings_every_licence_and_the_manual_page(
    wheel: zipfile.ZipFile,
) -> None:
    licences = {
        name.partition("/licenses/")[2]: wheel.read(name)
        for name in wheel.namelist()
        if "/licenses/" in name
    }
    notices = re.compile(r"LICENSE|NOTICE")
    carried = {
        path.relative_to(ROOT).as_posix()
        for path in (*ROOT.iterdir(), *(ROOT / "src").rglob("*"))
        if path.is_file() and notices.search(path.name)
    }
    assert set(licences) == carried | {"src/beholder/language/english.md"}
    assert all(
        content == (ROOT / name).read_bytes()
        for name, content in licences.items()
    )
    [page] = [
        name
        for name in wheel.namelist()
        if name.endswith("share/man/man1/beholder.1")
    ]
    assert wheel.read(page) == (ROOT / "docs" / "beholder.1").read_bytes()


@pytest.mark.slow
def test_the_metadata_say_what_it_is(wheel: zipfile.ZipFile) -> None:
    [name] = [
        name
        for name in wheel.namelist()
        if name.endswith(".dist-info/METADATA")
    ]
    metadata = Parser().parsestr(wheel.read(name).decode())
    assert (metadata["Name"], metadata["Version"]) == (
        "beholder",
        beholder.__version__,
    )
    assert (
        metadata["License-Expression"]
        == "Apache-2.0 AND 0BSD AND MIT AND LicenseRef-WordNet-3.0"
    )
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert (
        sum(
            classifier.startswith("Topic ::")
            for classifier in metadata.get_all("Classifier", [])
        )
        >= 3
    )
    assert set(metadata.get_all("Provides-Extra", [])) == set(
        PROJECT["optional-dependencies"]
    )


def test_the_citation_is_of_this_version_and_names_the_papers() -> None:
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    cited = yaml.safe_load(text)
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(
        cited
    )  # what the format requires
    assert cited["version"] == beholder.__version__
    assert ("date-released" in cited) == (".dev" not in beholder.__version__)
    assert cited["license"] in PROJECT["license"]
    page = " ".join((ROOT / "docs" / "papers.md").read_text("utf-8").split())
    for paper in cited["references"]:
        assert {"type", "title", "authors"} <= set(paper)
        assert paper["title"] in page
        assert paper["authors"]
    assert len(cited["references"]) == 5


@pytest.mark.slow
def test_the_manual_page_is_fresh() -> None:
    from tools import man_page

    assert man_page.PAGE.read_text("utf-8") == man_page.page(), (
        "run `make docs`"
    )
    assert man_page.LIST.read_text("utf-8") == man_page.commands(), (
        "run `make docs`"
    )


def test_the_manual_page_has_every_command_with_its_options() -> None:
    page = (
        (ROOT / "docs" / "beholder.1").read_text("utf-8").replace("\\-", "-")
    )
    names = [name for name in app if not name.startswith("-")]
    headings = re.findall(r"^\.S[HS] beholder (.+)$", page, re.MULTILINE)
    assert set(names) <= set(headings)
    assert {"narrate extract", "cache prune", "annotate export"} <= set(
        headings
    )
    score = page.partition(".SH beholder score\n")[2].partition(".SH ")[0]
    assert (
        "\n\\fB--fail-under STR...\\fR\nExit with 1 if a mean is lower: accord=0.6"
        in score
    )
    assert (
        "Example: \\fBbeholder score descriptions.jsonl -m headline" in score
    )
    # A line that starts with a dot or a quote is a request: none but those of man(7) may.
    requests = {
        line.split()[0]
        for line in page.splitlines()
        if line.startswith((".", "'"))
    }
    assert requests == {'.\\"', ".TH", ".SH", ".SS", ".B", ".PP", ".TP"}
    assert "\n\n" not in page


def _installed_for(root: str) -> dict[str, str]:
    """Name and version of each installed package that another one needs."""
    licenses: dict[str, str] = {}
    waiting = [Requirement(root)]
    visited: set[str] = set()
    while waiting:
        need = waiting.pop()
        if str(need) in visited:
            continue
        visited.add(str(need))
        name = canonicalize_name(need.name)
        if name != root:
            licenses[name] = metadata.version(name)
        for text in metadata.requires(name) or []:
            inner = Requirement(text)
            extras = ["", *need.extras]
            if not inner.marker or any(
                inner.marker.evaluate({"extra": extra}) for extra in extras
            ):
                inner.marker = None
                waiting.append(inner)
    return licenses


def test_the_addresses_are_those_of_the_project_file() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (cited["url"], cited["repository-code"]) == (
        URLS["Homepage"],
        URLS["Repository"],
    )
    policy = (ROOT / "SECURITY.md").read_text("utf-8")
    assert URLS["Security"] in policy
    base = URLS["Homepage"].partition("://")[2]
    written = re.compile(re.escape(base) + r"[\w./-]*")
    for path in [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src").rglob("*.py"),
    ]:
        urls = {
            f"https://{url}"
            for url in written.findall(path.read_text("utf-8"))
        }
        assert {url.rstrip(".") for url in urls} <= set(URLS.values()), path


def test_the_bill_of_materials_names_what_is_locked_and_what_is_carried() -> (
    None
):
    done = subprocess.run(
        [sys.executable, "-m", "tools.sbom"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    bill = json.loads(done.stdout)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    packages = {
        (each["name"], each["version"]): each for each in bill["components"]
    }
    assert len(packages) == len(bill["components"]) > 40
    needed = _installed_for("beholder")
    for (
        name,
        version,
    ) in needed.items():  # by the metadata of what is installed here
        assert (name, version) in packages
    elsewhere = {
        name
        for (name, _), each in packages.items()
        if "beholder:platforms" in str(each)
    }
    assert {name for name, _ in packages} - set(needed) <= elsewhere
    for (name, version), each in packages.items():
        assert each["purl"] == f"pkg:pypi/{name}@{version}"
        assert each["hashes"]
    for each in bill["metadata"]["component"]["components"]:
        assert (ROOT / each["bom-ref"]).exists()
    references = bill["metadata"]["component"]["externalReferences"]
    assert {reference["url"] for reference in references} == set(URLS.values())
    refs = bill["dependencies"][0]["dependsOn"]
    assert len(refs) == len(set(refs)) == len(packages)
