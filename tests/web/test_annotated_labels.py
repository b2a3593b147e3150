"""From the browser to a corrected mean: sixty texts rated over HTTP, exported, and used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from annotated_data import write_rows
from beholder.kinds.annotation.assignment import AnnotationDesign
from beholder.kinds.annotation.load import units_of
from beholder.kinds.annotation.pages import (
    PAGE_KEY,
    study_routes,
    study_settings,
)
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import task_named
from beholder.metrics import METRICS
from beholder.options import DataOptions
from beholder.web import make_app
from beholder.web.guard import HEADER
from toy.command import runner
from toy.metric import WordCount

if "word_count" not in METRICS.names():
    METRICS.register("word_count")(WordCount)


@pytest.mark.slow
def test_sixty_ratings_from_the_browser_correct_a_run(
    tmp_path: Path,
    client: Callable[[ASGIApp], TestClient],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    counts = [3 + i * 7 % 5 for i in range(90)]
    rows = [
        {
            "id": f"t{i}",
            "video": f"{i}.mp4",
            "candidate": " ".join(["word"] * n),
        }
        for i, n in enumerate(counts)
    ]
    write_rows(Path("data.jsonl"), rows)
    sample = [row for i, row in enumerate(rows) if i % 3]
    write_rows(Path("sample.jsonl"), sample)
    task = task_named("ratings")
    units, _ = units_of(task, "sample.jsonl", DataOptions())
    study = AnnotationStudy.make(
        Path("study"), task, units, AnnotationDesign(("anna",))
    )
    app = make_app(study_routes(study), study_settings(study, "127.0.0.1", 0))
    anna = client(app)
    assert (
        anna.get("/", params={"token": study.annotators()["anna"]}).status_code
        == 200
    )
    words = {row["id"]: len(str(row["candidate"]).split()) for row in sample}
    for place, position in enumerate(study.assigned("anna"), start=1):
        page = anna.get(f"/units/{place}").text
        marks = [
            page.split(f'data-{name}="')[1].split('"')[0]
            for name in ("csrf", "key")
        ]
        headers = dict(zip((HEADER, PAGE_KEY), marks, strict=True))
        # People give two less than the words, and one more to every other text.
        rating = words[str(study.unit(position).row["id"])] - 2 + place % 2
        acts = [("rating", rating), ("done", True)]
        for number, (part, value) in enumerate(acts, start=1):
            act = {
                "client": f"c{place}",
                "number": number,
                "part": part,
                "value": value,
            }
            assert (
                anna.post(
                    f"/units/{place}/acts", json=act, headers=headers
                ).status_code
                == 200
            )
    maker = client(app)
    maker.get("/", params={"token": study.token})
    exported = maker.get("/export/results")
    study.close()
    assert len(exported.text.splitlines()) == 60
    Path("labels.jsonl").write_text(exported.text, encoding="utf-8")

    cli = runner(monkeypatch, capsys)
    done = cli(
        "score", "data.jsonl", "-m", "word_count", "-o", "run", "--no-report"
    )
    assert done.code == 0, done.err
    done = cli("leaderboard", "run", "--labels", "labels.jsonl", "--json")
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["corrected"]
    truth = 5 - 1.5  # words 3, 5, 7, 4, 6 in turn: mean 5
    assert row["judge"] == pytest.approx(5)
    assert row["labels"] == pytest.approx(truth, abs=0.01)
    assert row["corrected"] == pytest.approx(truth, abs=0.1)
    assert row["corrected_low"] < truth < row["corrected_high"]
    assert (
        row["corrected_high"] - row["corrected_low"]
        < row["labels_high"] - row["labels_low"]
    )
    assert (row["n"], row["n_labels"]) == (90, 60)
    assert row["effective"] > 60
