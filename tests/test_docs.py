"""Docs do not drift: their Python examples run, generated pages are fresh, links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


def _with_examples() -> list[Path]:
    return [page for page in PAGES if _BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", _with_examples(), ids=lambda page: page.name)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sample = ROOT / "src" / "beholder" / "samples" / "descriptions.jsonl"
    (tmp_path / "descriptions.jsonl").write_bytes(sample.read_bytes())
    names: dict[str, object] = {"__name__": "example"}
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        code = compile(block, str(page), "exec", dont_inherit=True)
        exec(code, names)  # the blocks of a page build on each other


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_metrics_page_is_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_page", ROOT / "docs/make_metrics_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), "run `make docs`"
