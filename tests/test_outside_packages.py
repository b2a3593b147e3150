"""What other distributions offer: signatures name the distribution and its version."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from beholder._version import __version__
from beholder.base import registry
from beholder.cli.main import app
from beholder.errors import RunError
from beholder.judges import JUDGES
from beholder.kinds.scores.door import score
from beholder.language.links import COREFERENCES
from beholder.metrics import METRICS, Tools, metric
from beholder.records import Item
from beholder.report.drawing import draw

COLOURS = '''
from dataclasses import dataclass
from beholder.metrics import Metric, ValueInfo, param
from beholder.records import ItemScore

@dataclass(frozen=True)
class Colours(Metric[float]):
    """Colours of the candidate."""

    registered_name = "colours"
    values = (ValueInfo("recall", "colours", high=9.0),)
    required_fields = frozenset()
    names: str = param("red", "names")

    async def gather(self, item, tools):
        return FACTOR * item.candidate.split().count("red")

    def score_item(self, item, evidence):
        return ItemScore({"recall": evidence}, signature=self.signature())
'''
TOOLS = """
import numpy as np
from beholder.embed import Embedder
from beholder.judges import Judge
from beholder.language.links import Coreference
from beholder.text import Segment, Splitter

class Lengths(Embedder):
    identity = "lengths"
    async def embed(self, texts):
        return np.array([[1.0, 0.0] for _ in texts], dtype=np.float32)

class Whole(Splitter):
    identity = "whole"
    def split(self, text):
        return [Segment(0, len(text))]

class Nobody(Judge):
    identity = "nobody"
    def can(self, kind):
        return True
    async def ask(self, operation, draw=None):
        return None

class Apart(Coreference):
    def clusters(self, text):
        return []
"""
ENTRIES = """
[beholder.metrics]
colours = {module}.colours:Colours
[beholder.embedders]
lengths = {module}.tools:Lengths
[beholder.splitters]
whole = {module}.tools:Whole
[beholder.judges]
nobody = {module}:Nobody
[beholder.coreferences]
apart = {module}.tools:Apart
"""

Install = Callable[..., None]


@pytest.fixture
def install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Install]:
    """Installs a distribution in a version; a second call replaces the first."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def install(name: str, version: str, factor: float = 1.0) -> None:
        module = name.replace("-", "_")
        for info in site.glob(f"{module}-*.dist-info"):
            for file in info.iterdir():
                file.unlink()
            info.rmdir()
        info = site / f"{module}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        (info / "entry_points.txt").write_text(ENTRIES.format(module=module))
        (info / "top_level.txt").write_text(f"{module}\n")
        # A file of equal size in the same second would be taken for the compiled one.
        shutil.rmtree(site / module, ignore_errors=True)
        (site / module).mkdir()
        (site / module / "__init__.py").write_text(
            "from .tools import Nobody\n"
        )
        (site / module / "colours.py").write_text(
            f"FACTOR = {factor}\n{COLOURS}"
        )
        (site / module / "tools.py").write_text(TOOLS)
        _forget(module)

    yield install
    for module in ("mypkg", "other_pkg"):
        _forget(module)


def _forget(module: str) -> None:
    """As in a new process."""
    importlib.invalidate_caches()
    for name in [
        module_name
        for module_name in sys.modules
        if module_name.partition(".")[0] == module
    ]:
        del sys.modules[name]
    for each_registry in (METRICS, JUDGES, COREFERENCES):
        for name in [
            entry for entry in each_registry._classes if "/" in entry
        ]:
            del each_registry._classes[name]
    registry.find_origin.cache_clear()
    registry.distributions_by_module.cache_clear()


ITEMS = [Item("a", "a red car"), Item("b", "a dog")]


def test_a_metric_names_its_package_and_version(install: Install) -> None:
    install("mypkg", "0.2")
    built = metric("mypkg/colours(names='red')")
    assert built.name == "mypkg/colours"
    assert (
        metric("mypkg/colours(names='blue')").name
        == "mypkg/colours(names='blue')"
    )
    assert re.fullmatch(
        rf"mypkg/colours\|names:red\|mypkg:0\.2\|code:\w{{12}}\|v:{__version__}",
        built.signature(),
    )
    assert (
        type(built)().signature() == built.signature()
    )  # by the class, without a spec


def test_a_version_that_changed_is_refused_and_not_reused(
    install: Install, tmp_path: Path
) -> None:
    install("mypkg", "0.1", factor=0.0)
    run = score(ITEMS, ["mypkg/colours"], out=tmp_path / "run")
    assert run.summary["mypkg/colours"].values["recall"].mean == 0.0
    install("mypkg", "0.2", factor=1.0)
    with pytest.raises(RunError, match=r"mypkg was 0\.1, now 0\.2"):
        score(ITEMS, ["mypkg/colours"], out=tmp_path / "run")
    again = score(ITEMS, ["mypkg/colours"], out=tmp_path / "new")
    assert (
        again.summary["mypkg/colours"].values["recall"].mean == 0.5
    )  # one red in two texts


def test_code_that_changed_under_one_version_is_refused_and_not_reused(
    install: Install, tmp_path: Path
) -> None:
    install("mypkg", "0.1", factor=0.0)
    score(ITEMS, ["mypkg/colours"], out=tmp_path / "run")
    install("mypkg", "0.1", factor=1.0)
    with pytest.raises(RunError, match=r"code was \w+, now \w+"):
        score(ITEMS, ["mypkg/colours"], out=tmp_path / "run")
    again = score(ITEMS, ["mypkg/colours"], out=tmp_path / "new")
    assert (
        again.summary["mypkg/colours"].values["recall"].mean == 0.5
    )  # one red in two texts


def test_two_packages_with_one_short_name_stand_side_by_side(
    install: Install, tmp_path: Path
) -> None:
    install("mypkg", "1.0")
    install("other-pkg", "3.1", factor=2.0)
    both = ["mypkg/colours", "other-pkg/colours"]
    run = score(ITEMS, both, out=tmp_path / "run")
    means = {
        name: result.values["recall"].mean
        for name, result in run.summary.items()
    }
    assert means == {"mypkg/colours": 0.5, "other-pkg/colours": 1.0}
    signature = metric(both[1]).signature()
    assert signature.startswith(
        "other-pkg/colours|names:red|other-pkg:3.1|code:"
    )


def test_pages_and_help_show_the_full_name(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("mypkg", "1.0")
    score(ITEMS, ["mypkg/colours"], out=tmp_path / "run")
    assert "mypkg/colours" in draw(tmp_path / "run").read_text("utf-8")
    app(["show", "mypkg/colours"], result_action="return_value")
    output = capsys.readouterr().out
    assert output.split()[0] == "mypkg/colours"
    assert "mypkg/colours|names:red|mypkg:1.0|code:...|v:" in output


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        (
            "cosine(embedder='mypkg/lengths')",
            r"embedder:lengths@\w{12}\[mypkg:1\.0\]",
        ),
        (
            "vcs(splitter='mypkg/whole')",
            r"splitter:whole@\w{12}\[mypkg:1\.0\]",
        ),
        ("posh(judge='mypkg/nobody')", r"judge:nobody@\w{12}\[mypkg:1\.0\]"),
        (
            "posh(coref='mypkg/apart')",
            r"coref:mypkg/apart@\w{12}\[mypkg:1\.0\]",
        ),
    ],
)
def test_a_tool_names_its_package_and_version(
    install: Install, spec: str, part: str
) -> None:
    install("mypkg", "1.0")
    built = metric(spec)
    assert re.search(
        rf"\|{part}\|", built.signature(built.identities(Tools()))
    )


def test_ours_and_code_of_no_distribution_name_none() -> None:
    from toy.metric import WordCount

    assert registry.find_origin(type(metric("bleu"))) is None
    assert re.fullmatch(
        rf"word_count\|factor:1\.0\|code:\w{{12}}\|v:{__version__}",
        WordCount().signature(),
    )
