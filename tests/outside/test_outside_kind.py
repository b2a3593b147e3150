"""A kind of work of an outside package is a kind like ours: one folder and one entry point."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import beholder
from beholder.run.kind import kind_named, kinds, plan, run
from beholder.run.session import OneMachine, Quiet
from beholder.web import Settings
from beholder.web.viewer import Viewer, make_viewer
from toy.command import Cli

HERE = Path(__file__).parent


class Heard(Quiet):
    """Progress that notes how much a run has to do."""

    def start(self, total: int, reused: int) -> None:
        self.total, self.reused = total, reused


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder ``moods`` and the metadata of a package that names its kind."""
    site = tmp_path / "site"
    shutil.copytree(HERE / "moods", site / "moods")
    info = site / "moods-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: moods\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(
        "[beholder.kinds]\nmoods = moods.kind:KIND\n"
    )
    monkeypatch.syspath_prepend(str(site))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Three texts with 0, 1 and 2 exclamation marks."""
    path = tmp_path / "texts.jsonl"
    rows = [{"id": f"t{n}", "candidate": "A cat" + "!" * n} for n in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


pytestmark = pytest.mark.usefixtures("installed")


def test_the_registry_finds_it() -> None:
    assert kind_named("moods").commands[0].name == "moods"
    assert [kind.name for kind in kinds()][-1] == "moods"


def test_its_command_runs_and_is_listed(
    cli: Cli, data: Path, tmp_path: Path
) -> None:
    assert "moods" in cli("--help").out
    planned = cli(
        "moods", str(data), "--out", str(tmp_path / "run"), "--dry-run"
    )
    assert "gladness: 3 to score" in planned.out
    done = cli("moods", str(data), "--out", str(tmp_path / "run"))
    assert (done.code, done.out) == (0, f"run: {tmp_path / 'run'}\n")


def test_python_runs_it_and_reads_it(data: Path, tmp_path: Path) -> None:
    mood_run = beholder.moods(str(data), tmp_path / "run")  # type: ignore[attr-defined]
    assert mood_run.kind == "moods"
    assert (
        mood_run.summary["gladness"].values["marks"].mean == 1.0
    )  # (0 + 1 + 2) / 3
    config = kind_config(str(data), tmp_path / "other")
    assert plan("moods", config).askers[0].n_to_ask == 3
    run("moods", config, Quiet())
    assert beholder.Run(tmp_path / "other").summary == mood_run.summary


def test_a_run_is_resumed(data: Path, tmp_path: Path) -> None:
    beholder.moods(str(data), tmp_path / "run")  # type: ignore[attr-defined]
    config = kind_config(str(data), tmp_path / "run")
    assert plan("moods", config).askers[0].n_done == 3
    assert run("moods", config, heard := Heard()) == []
    assert (heard.total, heard.reused) == (3, 3)


def test_an_engine_is_refused_by_a_kind_of_one_machine(
    data: Path, tmp_path: Path
) -> None:
    config = kind_config(str(data), tmp_path / "run")
    with pytest.raises(
        beholder.ConfigError, match="'moods' work on this machine only"
    ):
        run("moods", config, Quiet(), engine=OneMachine())
    assert not (tmp_path / "run").exists()


def test_report_compare_and_leaderboard_read_it(
    cli: Cli, data: Path, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        beholder.moods(str(data), tmp_path / name)  # type: ignore[attr-defined]
    assert cli("report", str(tmp_path / "a")).code == 0
    assert "<p>1.0" in (tmp_path / "a" / "report.html").read_text()
    compared = cli("compare", str(tmp_path / "a"), str(tmp_path / "b"))
    assert "Moods side by side" in compared.out
    board = cli(
        "leaderboard", str(tmp_path / "a"), str(tmp_path / "b"), "--json"
    )
    assert board.code == 0
    assert [
        standing["mean"] for standing in json.loads(board.out)[0]["standings"]
    ] == [
        1.0,
        1.0,
    ]


def test_the_viewer_draws_its_subjects(data: Path, tmp_path: Path) -> None:
    beholder.moods(str(data), tmp_path / "run")  # type: ignore[attr-defined]
    viewer = Viewer([tmp_path / "run"])
    viewer.runs[0].refresh()
    app = make_viewer(viewer, Settings(rate=1e6, burst=10_000))
    with TestClient(
        app, base_url="http://127.0.0.1", client=("127.0.0.1", 50000)
    ) as client:
        page = client.get("/runs/0/item/1")
    assert '<p id="mood">mood of t1</p>' in page.text


def test_a_run_of_a_kind_that_is_not_installed_is_refused(
    cli: Cli, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beholder.moods(str(data), tmp_path / "run")  # type: ignore[attr-defined]
    monkeypatch.undo()
    with pytest.raises(
        beholder.RunError, match="no kind of run 'moods'; there are: scores"
    ):
        beholder.Run(tmp_path / "run").report()


def kind_config(data: str, out: Path) -> object:
    config: object = import_module("moods.work").MoodConfig(data, out)
    return config
