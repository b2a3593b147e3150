"""Shared fixtures."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Generator, Iterator
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from uuid import uuid4

import pytest

sys.path.insert(
    0, str(Path(__file__).parent)
)  # worker processes inherit it and find `toy`

from servers import postgres

if TYPE_CHECKING:
    from toy.command import Cli

if find_spec(
    "hypothesis"
):  # environments of real engines have no property tests
    from hypothesis import settings

    # No deadline: a busy machine is no failure. In CI each property gets the same examples every time,
    # so that a change fails on its own account; elsewhere every run tries new ones.
    settings.register_profile("suite", deadline=None)
    settings.register_profile(
        "suite-ci", deadline=None, derandomize=True, print_blob=True
    )
    settings.load_profile("suite-ci" if os.environ.get("CI") else "suite")


@pytest.hookimpl(optionalhook=True)  # some environments have no xdist
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: tests wait for files and processes a third of the time."""
    return (os.cpu_count() or 1) + 1


def may_be_slow(path: Path) -> bool:
    """Return whether a file of tests names the marker or the server that makes tests slow."""
    text = path.read_text("utf-8")
    return "slow" in text or "postgres" in text


def pytest_ignore_collect(
    collection_path: Path, config: pytest.Config
) -> bool | None:
    """Skip files without slow tests where only those run: importing all takes longer than some."""
    only_slow = config.getoption("markexpr").split()[:1] == ["slow"]
    is_file = collection_path.suffix == ".py"
    return (
        True
        if only_slow and is_file and not may_be_slow(collection_path)
        else None
    )


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of a database server as slow: few machines have one."""
    for item in items:
        if "postgres_server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
    unnamed = {
        item.path
        for item in items
        if item.get_closest_marker("slow") and not may_be_slow(item.path)
    }
    if unnamed:
        raise pytest.UsageError(
            f"slow tests in files that do not say so: {sorted(map(str, unnamed))}"
        )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Take what is collected out of searches for garbage: it lives until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


collect_ignore = [
    "outside/seen-colours"
]  # as a package of its own: test_outside_metrics.py


@pytest.fixture
def cli(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    """Runs a command in a folder of its own, in 200 columns; gives exit code, stdout and stderr."""
    from toy.command import runner  # loads the whole command line

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return runner(monkeypatch, capsys)


@pytest.fixture
def own_operations() -> Iterator[None]:
    """Operations that a test defines are forgotten after it."""
    from beholder.judges.operations import OPERATIONS
    from beholder.judges.templates import OF_CLASSES

    with patch.dict(OPERATIONS), patch.dict(OF_CLASSES):
        yield


SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def shared_data() -> Path:
    """Data that may be measured with but not passed on, beside the checkout of those who have it.

    Nothing that can be proved without them asks for this folder: see ``tests/vectors``.
    """
    if not SHARED.is_dir():
        pytest.skip(
            "Flickr8k (non-commercial) and ROGER (no licence) cannot be shipped with tests"
        )
    return SHARED


@pytest.fixture(scope="module", autouse=True)
def cache_of_the_module(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """Fixtures of a module have a cache of their own; see ``clean_environment``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "BEHOLDER_CACHE", str(tmp_path_factory.getbasetemp() / uuid4().hex)
        )
        yield


@pytest.fixture(autouse=True)
def clean_environment(
    cache_of_the_module: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """No variable of the developer's shell and no earlier test changes a result.

    Each test has a cache of its own: servers of two tests may get the same port, and a cache
    remembers which model answers at an address.
    """
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(
        "BEHOLDER_CACHE", str(tmp_path_factory.getbasetemp() / uuid4().hex)
    )


@pytest.fixture
def two_sources_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals of two sources and more, for tests whose resamples are enumerated by hand."""
    from beholder.stats import bootstrap

    monkeypatch.setattr(bootstrap, "LEAST_SOURCES", 2)


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """50 resamples instead of 1000 for intervals that a test makes but does not look at.

    Narrative studies and agreement tables hold hundreds of intervals; their values are tested in
    ``tests/stats``.
    """
    from beholder.stats import agreement, bootstrap, correlation, significance

    usual = (
        agreement,
        correlation,
        significance,
    )  # loaded here, so that they take part
    assert all(
        vars(module)["interval_or_reason"] is bootstrap.interval_or_reason
        for module in usual
    )
    few_by_name = {
        name: with_few_resamples(vars(bootstrap)[name])
        for name in (
            "interval_or_reason",
            "cluster_bootstrap",
            "cluster_replicates",
        )
    }
    for module_name, module in list(sys.modules.items()):
        # Where it is defined it stays: a module that is imported during the test keeps what
        # it finds.
        if module_name.startswith("beholder.") and module is not bootstrap:
            names = vars(module)
            for name, few in few_by_name.items():
                if names.get(name) is few.__wrapped__:
                    monkeypatch.setattr(module, name, few)


def with_few_resamples(whole: Any) -> Any:
    @wraps(whole)
    def few(*arguments: Any, n_resamples: int = 1000, **options: Any) -> Any:
        return whole(*arguments, n_resamples=min(n_resamples, 50), **options)

    return few


_BLANK = {
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"></svg>\n',
    "png": bytes.fromhex(  # 1 x 1, white
        "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49"
        "444154789c63f80f0001010100b138f6140000000049454e44ae426082"
    ),
    "pdf": b"%PDF-1.4\n%%EOF\n",
}


@pytest.fixture(autouse=True)
def blank_figures(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures are made but not drawn, unless the test has the marker ``save_figure``.

    Drawing takes most of the time of a small run.
    """
    if (
        request.node.get_closest_marker("drawn")
        or find_spec("matplotlib") is None
    ):
        return
    from matplotlib.figure import Figure

    save_figure = Figure.savefig

    def savefig(
        self: Any, target: Any, *, format: str | None = None, **options: Any
    ) -> None:
        if isinstance(target, str | Path):
            Path(target).write_bytes(_BLANK[format or Path(target).suffix[1:]])
        elif hasattr(target, "write"):
            target.write(_BLANK[format or "png"])
        else:  # a page of matplotlib's PdfPages
            save_figure(self, target, format=format, **options)

    monkeypatch.setattr(Figure, "savefig", savefig)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server]:
    """A real PostgreSQL server."""
    pytest.importorskip("pg8000", reason="needs the extra postgres")
    programs = postgres.programs()
    if programs is None:
        pytest.skip(
            "there is no PostgreSQL server here (apt-get install postgresql)"
        )
    with postgres.running(programs) as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: postgres.Server) -> Iterator[str]:
    """The address of a new, empty database, with its password."""
    yield postgres_server.new_url()
    with (
        warnings.catch_warnings()
    ):  # the driver leaves sockets open that the server has closed
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
