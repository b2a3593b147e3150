"""What is told instead of a unit that the other text contradicts, by hand."""

from __future__ import annotations

import pytest

from beholder.judges.builtin.findings import find
from beholder.judges.builtin.reading import analysed


@pytest.mark.parametrize(
    ("source", "target", "unit", "told"),
    [
        ("A red cup.", "A blue cup.", "red", "blue"),
        ("Three dogs sleep.", "Two dogs sleep.", "three", "two"),
        ("One player falls.", "The players fall.", "one", "players"),
        ("Three dogs sleep.", "One dog sleeps.", "three", "one"),
        ("A metal bench.", "A wooden bench.", "metal", "wooden"),
        ("A woman sits on the left.", "A woman sits on the right.", "on the left", "on the right"),
        ("A red cup.", "A cup.", "red", ""),
        ("One dog sleeps.", "A dog sleeps.", "one", ""),
    ],
)
def test_what_stands_there_instead(source: str, target: str, unit: str, told: str) -> None:
    read = analysed(source)
    found = dict(zip((u.text for u in read.units), find(read, analysed(target)), strict=True))
    assert found[unit].contradiction == told
