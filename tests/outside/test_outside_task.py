"""A task of annotation of an outside package is a task like ours: one folder and one entry point."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotating import finish
from beholder.errors import ConfigError, UnknownNameError
from beholder.kinds.annotation.pages import (
    PAGE_KEY,
    study_routes,
    study_settings,
)
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import TASKS, task_named
from beholder.web import make_app
from beholder.web.guard import HEADER
from toy.command import Cli

HERE = Path(__file__).parent
TEXTS = ("A cat sleeps.", "What a lovely cat!", "Oh great, another cat.")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder ``tones`` and the metadata of a package that names its task."""
    site = tmp_path / "site"
    shutil.copytree(HERE / "tones", site / "tones")
    info = site / "tones-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: tones\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(
        "[beholder.annotation_tasks]\ntone = tones.task:ToneTask\n"
    )
    monkeypatch.syspath_prepend(str(site))
    yield site
    TASKS._classes.pop("tones/tone", None)
    for name in [
        name for name in sys.modules if name.partition(".")[0] == "tones"
    ]:
        del sys.modules[name]


@pytest.fixture
def cli(cli: Cli, tmp_path: Path) -> Cli:
    rows = [{"id": f"t{n}", "candidate": text} for n, text in enumerate(TEXTS)]
    (tmp_path / "texts.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    return cli


@pytest.fixture
def study(site: Path, cli: Cli, tmp_path: Path) -> Iterator[AnnotationStudy]:
    """The study of two annotators that the command made."""
    assert create(cli).code == 0
    opened = AnnotationStudy.open(tmp_path / "study")
    yield opened
    opened.close()


def create(cli: Cli) -> Any:
    return cli(
        "annotate", "tones/tone", "texts.jsonl", "-o", "study", "--annotators", "anna,ben",
        "--prepare",
    )  # fmt: skip


def test_the_command_lists_it(site: Path, cli: Cli) -> None:
    assert (
        "tones/tone: rows: the tone of each description"
        in cli("annotate", "tasks").out
    )
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from beholder.cli.main import main; "
    code += "sys.argv = ['beholder', 'annotate', '--help']; main()"
    process = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "tones/tone" in process.stdout


def test_an_unknown_task_is_refused_with_all_names(
    site: Path, cli: Cli
) -> None:
    with pytest.raises(
        UnknownNameError, match=r"marks, .*, revisions, reading, tones/tone"
    ):
        task_named("tone")
    done = cli("annotate", "tones/ton", "texts.jsonl", "-o", "study")
    assert done.code == 2
    assert "did you mean 'tones/tone'?" in done.err


def test_its_page_is_served_and_answers_are_checked_and_saved(
    study: AnnotationStudy,
) -> None:
    app = make_app(study_routes(study), study_settings(study, "127.0.0.1", 0))
    with TestClient(
        app, base_url="http://127.0.0.1", client=("127.0.0.1", 50000)
    ) as client:
        assert (
            client.get(
                "/", params={"token": study.annotators()["anna"]}
            ).status_code
            == 200
        )
        start = client.get("/").text
        assert "Choose the tone that fits most of the text." in start
        page = client.get("/units/1").text
        assert "Which tone does it have?" in page
        assert study.unit(study.assigned("anna")[0]).texts[0] in page
        assert 'src="/task/tone.js"' in page
        assert "no tone yet" in client.get("/task/tone.js").text
        csrf, key = (
            page.split(f'data-{name}="')[1].split('"')[0]
            for name in ("csrf", "key")
        )
        headers = {HEADER: csrf, PAGE_KEY: key}

        def send(number: int, part: str, value: object) -> Any:
            act = {
                "client": "c",
                "number": number,
                "part": part,
                "value": value,
            }
            return client.post("/units/1/acts", json=act, headers=headers)

        early = send(1, "done", True)
        assert (early.status_code, early.json()["error"]) == (
            422,
            "not answered: the tone",
        )
        for part, value in (
            ("tone", "sad"),
            ("tone", 1),
            ("tone", ["warm"]),
            ("mood", "warm"),
        ):
            assert send(1, part, value).status_code == 422
        assert (
            "Invalid enum value 'sad'"
            in send(1, "tone", "sad").json()["error"]
        )
        assert study.state("anna", study.assigned("anna")[0]) == {}
        assert send(1, "tone", "warm").json() == {
            "last": 1,
            "state": {"tone": "warm"},
        }
        assert send(2, "done", True).status_code == 200
    assert study.state("anna", study.assigned("anna")[0]) == {
        "tone": "warm",
        "done": True,
    }


def test_it_resumes_exports_and_measures_agreement(
    study: AnnotationStudy, cli: Cli, tmp_path: Path
) -> None:
    answers = {
        "anna": ("neutral", "warm", "ironic"),
        "ben": ("neutral", "warm", "warm"),
    }
    for who, tones in answers.items():
        for n, tone in enumerate(tones):
            finish(study, who, f"t{n}", {"tone": tone})
    tokens = study.annotators()
    again = create(cli)
    assert again.code == 0
    assert all(token in again.out for token in tokens.values())
    agreement = json.loads(cli("annotate", "agreement", "study", "--json").out)
    assert [progress["done"] for progress in agreement["progress"]] == [3, 3]
    values = {
        coefficient["name"]: coefficient["value"]
        for coefficient in agreement["agreement"][0]["coefficients"]
    }
    # Agreement 2/3; by chance (1 * 1 + 1 * 2 + 1 * 0) / 9 = 1/3.
    assert values["Cohen kappa"] == pytest.approx(0.5)
    exported = cli("annotate", "export", "study", "-o", "toned.jsonl")
    assert (
        "next: beholder agree toned.jsonl --label warm -m length"
        in exported.err
    )
    rows = [
        json.loads(line)
        for line in (tmp_path / "toned.jsonl").read_text().splitlines()
    ]
    assert [row["judgments"]["warm"] for row in rows] == [0.0, 1.0, 0.5]
    agreed = cli(
        "agree", "toned.jsonl", "--label", "warm", "-m", "length", "--resamples", "0",
        "--no-figures",
    )  # fmt: skip
    assert agreed.code == 0, agreed.err


def test_its_judgments_leave_and_come_back(
    study: AnnotationStudy, cli: Cli, tmp_path: Path
) -> None:
    finish(study, "anna", "t1", {"tone": "warm"})
    file = "out.jsonl"
    exported = cli(
        "annotate", "export", "study", "-o", file, "--format", "judgments"
    )
    assert exported.code == 0
    process = cli(
        "annotate", "tones/tone", "texts.jsonl", "-o", "other", "--prepare"
    )
    assert process.code == 0
    assert cli("annotate", "import", "other", file).code == 0
    other_study = AnnotationStudy.open(tmp_path / "other")
    (judged,) = other_study.judged()
    assert dict(judged.by) == {"anna": {"tone": "warm", "done": True}}
    other_study.close()


def test_a_study_of_a_task_that_is_not_installed_is_refused(
    study: AnnotationStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    TASKS._classes.pop("tones/tone")
    with pytest.raises(
        UnknownNameError, match="no annotation task is called 'tones/tone'"
    ):
        AnnotationStudy.open(tmp_path / "study")


def test_an_entry_point_that_is_no_task_is_refused(site: Path) -> None:
    points = site / "tones-1.0.dist-info" / "entry_points.txt"
    points.write_text(
        "[beholder.annotation_tasks]\nwrong = tones.task:TONES\n"
    )
    with pytest.raises(ConfigError, match="annotation task 'tones/wrong'"):
        task_named("tones/wrong")
