"""Runs that earlier releases began: read by any later one, and continued where they mean the same.

``at_996dc83`` and ``at_74262a5`` hold runs over the first two texts of ``tests/values``, written by
beholder 0.1.0 at these commits, the older one in format 1.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from beholder import releases
from beholder.api import Run
from beholder.errors import RunError
from beholder.judges import judge, templates
from beholder.judges.templates import Templates
from beholder.kinds.scores.door import score
from beholder.report import draw
from beholder.run.compare import compare
from beholder.run.session import Quiet
from beholder.run.store import Store
from toy import recorded

ASSESSED = "direct_assessment(judge='oracle:model')"
TEXTS = (recorded.FOLDER / "texts.jsonl").read_text("utf-8").splitlines()
ROWS: list[dict[str, Any]] = [json.loads(line) for line in TEXTS]
HERE = Path(__file__).parent


class Counted(Quiet):
    reused = n_done = 0

    def start(self, total: int, reused: int) -> None:
        self.reused = reused

    def advance(self, n_scored: int, n_failed: int) -> None:
        self.n_done += n_scored + n_failed


@pytest.fixture(params=["at_996dc83", "at_74262a5"])
def any_run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(HERE / request.param, tmp_path / "run"))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(HERE / "at_996dc83", tmp_path / "run"))


def test_an_earlier_run_is_read_drawn_and_compared(any_run: Path) -> None:
    found = Run(any_run)
    assert found.manifest["versions"]["beholder"] == "0.1.0"
    assert len(list(found.outcomes("bleu"))) == 2
    assert "v:0.1.0" in draw(any_run).read_text("utf-8")
    with Store.read(any_run) as a, Store.read(any_run) as b:
        assert compare(a, b)


def test_it_is_continued_where_it_means_the_same(run: Path, tmp_path: Path) -> None:
    specs = ["bleu", ASSESSED]
    continued = score(ROWS, specs, out=run, progress=(heard := Counted()))
    assert (heard.reused, heard.n_done) == (4, 8)  # two metrics on two texts, and on four more
    fresh = score(ROWS, specs, out=tmp_path / "fresh")
    assert continued.summary == fresh.summary
    assert "0.1.0" not in str(continued.summary[ASSESSED].signature)


def test_numbers_that_may_differ_are_not_mixed_and_the_message_says_what_to_do(
    run: Path,
) -> None:
    said = (
        r"run holds scores of cosine made by beholder 0\.1\.0, and this is beholder .*, whose"
        r" numbers may differ \(.*v was 0\.1\.0, now .*\); scores made in two ways are not"
        r" mixed\. .*-o: .*install beholder 0\.1\.0\. 'beholder report .*run' .* still read it"
    )
    with pytest.raises(RunError, match=said):
        score(ROWS, ["cosine"], out=run)


def test_a_run_of_format_1_is_read_and_not_continued(tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "at_74262a5", tmp_path / "run")
    with pytest.raises(RunError, match=r"format 1, which is read .* -o"):
        score(ROWS, ["bleu"], out=folder)


def test_a_prompt_of_its_own_that_changed_since_is_refused(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "assess.v9.txt").write_text("[system]\nJudge.\n[user]\n$candidate", "utf-8")
    changed = dict(templates._shipped()) | {"assess": Templates(own)["assess"]}
    monkeypatch.setattr(templates, "_shipped", lambda: changed)
    with pytest.raises(RunError, match="prompts@a5834983"):
        score(ROWS, [ASSESSED], out=run)


def test_a_prompt_of_another_operation_does_not_matter(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "verify.v9.txt").write_text("[system]\nJudge.\n[user]\n$statements", "utf-8")
    verify = Templates(own)["verify"]
    changed = dict(templates._shipped()) | {"verify": verify, "mood": verify}
    monkeypatch.setattr(templates, "_shipped", lambda: changed)
    score(ROWS, [ASSESSED], out=run, progress=(heard := Counted()))
    assert (heard.reused, heard.n_done) == (2, 4)


def test_the_hash_over_all_prompts_is_that_of_each_release() -> None:
    # as that code printed Templates().digest and Templates(None, "certainty").digest at the commit
    one = judge("oracle:model")
    sure = judge("oracle:model", scale="certainty")
    with releases.written_by(releases.EARLIER[0]):
        assert "prompts@a5834983" in one.identity_for(["verify"])
        assert "prompts@c2833cb1" in sure.identity_for(["verify"])
        assert "prompts@a5834983" in one.identity_for(["perplexity"])
    assert "prompts@a5834983" not in one.identity_for(["verify"])
