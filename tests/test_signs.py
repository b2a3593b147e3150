"""Signs of readable code stay within their limits; docs/style.md says why each is counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.signs import LIMITS, read_signs

ROOT = Path(__file__).parents[1]
NAMING = (
    "bare names",
    "docstrings that begin with a clause",
    "functions named by a participle",
)
"""Signs that hold outside ``src``, too."""

SAMPLE = '''
def told(found):
    """What was found."""
    # Counted from zero, as the file does.
    one = found + 1
    return one


def add_one(number):
    """Return the next number."""
    return number + 1
'''


@pytest.mark.parametrize("folder", ["src", "tests", "training"])
def test_signs_are_within_their_limits(folder: str) -> None:
    names = LIMITS if folder == "src" else NAMING
    signs = read_signs(ROOT / folder, only_names=names is NAMING)
    values = signs.ratios()
    outside = {
        name: values[name]
        for name in names
        if not LIMITS[name][0] <= values[name] <= LIMITS[name][1]
    }
    offenders = [*signs.bare_names, *signs.clauses, *signs.bare_functions]
    assert not outside, "\n".join(offenders)


def test_each_sign_is_counted(tmp_path: Path) -> None:
    # Counted by hand: names found, one, number; two docstrings; five lines of code.
    path = tmp_path / "sample.py"
    path.write_text(SAMPLE)
    signs = read_signs(path)
    assert (signs.names, signs.docstrings, signs.comments) == (3, 2, 1)
    assert signs.bare_names == [f"{path}:2: found", f"{path}:5: one"]
    assert signs.clauses == [f"{path}:2: What was found."]
    assert signs.bare_functions == [f"{path}:2: told"]
    assert signs.lines == 5
    # def told ( found ) : / one = found + 1 / return one / def add_one ( number ) : / return number + 1
    assert signs.tokens == 6 + 5 + 2 + 6 + 4
