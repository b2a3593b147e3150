"""The table of agreement between raters: who rated, and a warning if they share few items."""

from __future__ import annotations

import pytest

from beholder.report.reliability import reliability_table
from beholder.run.reliability import Coefficient, Reliability


@pytest.mark.parametrize(("n_items", "warned"), [(4, True), (19, True), (20, False)])
def test_few_items_are_announced(n_items: int, warned: bool) -> None:
    found = Reliability("rating", ("anna", "ben"), n_items, 0, (Coefficient("alpha", 0.1, None),))
    notes = reliability_table(found).notes
    assert notes[0] == "raters: anna, ben"
    assert any("fewer than 20 items" in note for note in notes) == warned
