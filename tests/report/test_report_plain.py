"""Tables as text and as HTML, made where a notebook looks on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

import pytest
from rich.table import Table

from beholder.report.study_tables import as_html, as_text


@pytest.mark.parametrize("make_report", [as_text, as_html])
def test_in_a_notebook_a_table_is_given_back_and_not_shown_as_well(
    make_report: Callable[[list[Table]], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    displayed: list[object] = []
    display = ModuleType("IPython.display")
    display.display = displayed.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    table = Table("value", "mean")
    table.add_row("accord", "0.674")
    assert "0.674" in make_report([table])
    assert displayed == []
