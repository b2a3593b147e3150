from __future__ import annotations

import importlib.machinery
import sys
from types import ModuleType

import pytest

from beholder.errors import ItemError, MissingExtraError
from beholder.text import Segment, splitter


class StubSaT:
    """Cuts after each full stop and keeps the space, as wtpsplit does."""

    def __init__(self, name: str) -> None:
        self.name = name

    def split(self, text: str) -> list[str]:
        if self.name == "changes-the-text":
            return [text.upper()]
        return [part + "." for part in text.split(".") if part] + [" "]


@pytest.fixture
def _wtpsplit(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("wtpsplit")
    module.__spec__ = importlib.machinery.ModuleSpec("wtpsplit", loader=None)
    module.SaT = StubSaT  # type: ignore[attr-defined]
    module.__version__ = "2.1.6"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wtpsplit", module)


@pytest.mark.usefixtures("_wtpsplit")
def test_sentences_of_the_model_become_spans_of_the_text() -> None:
    sat = splitter("sat:sat-3l-sm")
    assert sat.split(" A cup. A cup.") == [Segment(1, 7), Segment(8, 14)]
    assert sat.split("") == []
    assert sat.identity == "sat:sat-3l-sm@wtpsplit-2.1.6"


@pytest.mark.usefixtures("_wtpsplit")
def test_a_model_that_changes_the_text_is_refused() -> None:
    with pytest.raises(ItemError, match="not in the text: 'A CUP'"):
        splitter("sat:changes-the-text").split("a cup")


def test_a_missing_package_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        MissingExtraError, match=r"pip install 'beholder\[sat\]'"
    ):
        splitter("sat:sat-3l-sm")
