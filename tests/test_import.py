"""``import beholder`` is light, and its public names are what ``__all__`` says."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import beholder

HEAVY = [
    "numpy",
    "scipy",
    "pyarrow",
    "matplotlib",
    "model2vec",
    "tokenizers",
    "httpx2",
    "rich",
]


def _printed_by(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def _loaded_after(statement: str) -> set[str]:
    return set(
        _printed_by(
            f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
        ).split()
    )


def test_import_beholder_loads_no_heavy_module() -> None:
    assert not _loaded_after("import beholder") & set(HEAVY)


def test_building_a_metric_loads_no_model_and_no_plotting() -> None:
    loaded = _loaded_after("import beholder; beholder.VCS()")
    assert not loaded & {
        "scipy",
        "pyarrow",
        "matplotlib",
        "model2vec",
        "httpx2",
        "torch",
    }


def test_listing_the_metrics_loads_no_store_and_no_pages() -> None:
    code = (
        "import sys; from beholder.cli.main import main; sys.argv = ['beholder', 'metrics']\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "print(*sys.modules)"
    )
    listed = _printed_by(code)
    assert "posh" in listed
    loaded = set(listed.splitlines()[-1].split())
    assert not loaded & {
        "scipy",
        "pyarrow",
        "jinja2",
        "spacy",
        "PIL",
        "beholder.run.store",
    }


def test_pages_of_runs_without_human_ratings_load_no_scipy() -> None:
    loaded = _loaded_after("import beholder.kinds.agreement.people")
    assert "scipy" not in loaded


def test_scoring_loads_no_statistics_before_a_gate_or_labels_ask_for_one() -> (
    None
):
    loaded = _loaded_after(
        "from beholder.kinds.scores import gates, gate_reports, page"
    )
    assert not loaded & {"scipy.stats", "scipy.optimize", "matplotlib"}


EXTRAS = (
    "matplotlib", "sklearn", "skimage", "sqlalchemy", "starlette", "uvicorn", "torch", "transformers",
    "sentence_transformers", "ray", "datasets", "networkx", "pandas", "av", "umap", "inspect_ai",
    "mcp",
)  # fmt: skip
NEED_EXTRAS = (
    "beholder.backends.hf_",
    "beholder.harness.inspect_scorers",
    "beholder.harness.mcp_server",
    "beholder.kinds.annotation.pages",
    "beholder.kinds.scores.trying",
    "beholder.web",
)
"""Modules, by the beginnings of their names, that a plain installation cannot import; so are all
modules called ``plots``."""
IMPORT_ALL = """
import importlib, pkgutil, sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {extras}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hidden())
import beholder
for found in pkgutil.walk_packages(beholder.__path__, "beholder.", onerror=lambda name: None):
    if not found.name.endswith("__main__"):
        try:
            importlib.import_module(found.name)
        except ImportError as error:
            print(found.name)
"""


@pytest.mark.slow
def test_without_extras_only_what_needs_them_cannot_be_imported() -> None:
    failed = _printed_by(IMPORT_ALL.format(extras=EXTRAS)).split()
    assert "beholder.kinds.ranking.plots" in failed  # the packages are hidden
    assert [
        name
        for name in failed
        if not name.startswith(NEED_EXTRAS) and not name.endswith(".plots")
    ] == []


def test_a_score_draws_itself_in_a_notebook() -> None:
    html = _printed_by(
        "from beholder import ItemScore; print(ItemScore({'f1': 0.25})._repr_html_())"
    )
    assert html.startswith("<div")
    assert "0.25" in html


def test_every_public_name_can_be_had() -> None:
    assert [
        name for name in dir(beholder) if getattr(beholder, name, None) is None
    ] == []


def test_the_names_for_types_are_those_that_load() -> None:
    tree = ast.parse(
        Path(beholder.__file__).with_suffix(".pyi").read_text("utf-8")
    )
    names = {
        str(alias.asname): (statement.module or "", alias.name)
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
        if alias.asname
    }
    names["narrate"] = ("kinds.narratives", "door")
    assert sorted(names) == dir(beholder) == sorted(set(dir(beholder)))
    for name, (module, original) in names.items():
        home = f"beholder.{module}" if module else "beholder"
        assert getattr(beholder, name) is _find_object(home, original)


def _find_object(module: str, name: str) -> object:
    loaded = importlib.import_module(module)
    return (
        getattr(loaded, name)
        if hasattr(loaded, name)
        else importlib.import_module(f"{module}.{name}")
    )


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'vcs2'"):
        _ = beholder.vcs2  # type: ignore[attr-defined]


def test_no_module_hides_the_name_it_offers() -> None:
    # Importing a submodule sets its name on the package, in place of a function that is called so.
    for package in (
        "beholder.kinds.narratives.storylines",
        "beholder.report",
        "beholder.stats",
    ):
        module = importlib.import_module(package)
        submodules = {
            submodule.name
            for submodule in pkgutil.iter_modules(module.__path__)
        }
        assert not submodules & set(module.__all__), package


def test_the_list_of_commands_loads_nothing_and_has_every_command() -> None:
    code = (
        "import sys; sys.argv = ['beholder', '--help']\n"
        "from beholder.__main__ import main; main(); print(*sys.modules)"
    )
    *lines, modules = _printed_by(code).splitlines()
    assert not set(modules.split()) & {
        "cyclopts",
        "numpy",
        "rich",
        "msgspec",
        "beholder.cli",
    }
    from beholder.cli.main import app

    assert {line.split()[0] for line in lines if line[:3].strip()} >= {
        *app
    } - {"-h"}
