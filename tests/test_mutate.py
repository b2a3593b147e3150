"""What `make mutate` reads: tests of each file, and lines where no change can be seen."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tools import mirrors
from tools.mirrors import ELSEWHERE, MIRRORS, PACKAGES
from tools.mutate import EQUIVALENT, draw

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "beholder"


def test_every_named_package_and_file_exists() -> None:
    names = {*PACKAGES, *MIRRORS}
    assert not [name for name in names if not any(SOURCE.glob(f"{name}*"))]
    assert all(any(SOURCE.glob(f"{name}*")) for name in ELSEWHERE)


def test_every_named_test_exists() -> None:
    words = {
        word
        for groups in map(mirrors.tests_of, MIRRORS)
        for group in groups
        for word in group
    }
    paths = {word for word in words if word.startswith("tests/")}
    assert len(paths) > 50
    assert not [path for path in paths if not (ROOT / path).exists()]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_of_a_package_has_tests(package: str) -> None:
    for file in (SOURCE / package).rglob("*.py"):
        near, far = mirrors.tests_of(file.relative_to(SOURCE).as_posix())
        assert near
        assert far


def test_every_line_that_is_not_drawn_is_in_its_file() -> None:
    for entry in tomllib.loads(EQUIVALENT.read_text("utf-8"))["line"]:
        lines = (SOURCE / entry["file"]).read_text("utf-8").splitlines()
        assert entry["text"] in map(str.strip, lines), entry
        assert entry["reason"]


def test_a_seed_draws_the_same_changes_from_each_package() -> None:
    some = PACKAGES[:3]
    sample = draw(some, 6, seed=1)
    assert sample == draw(some, 6, seed=1)
    assert sample != draw(some, 6, seed=2)
    assert {mutant.package for mutant in sample} == set(some)
