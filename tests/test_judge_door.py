"""``beholder.judge``: what is made of a spec and options, asked in Python, and handed to doors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import beholder
from beholder.aio import run_sync
from beholder.backends import Scripted
from beholder.errors import ConfigError
from beholder.judges import Judge, LLMJudge
from beholder.judges.operations import Verify
from beholder.metrics.posh import PoSh
from toy.changing import changing

CLAIM = Verify(["A cat sleeps."], reference="A cat is asleep.")
ROW = {"candidate": "A cat sleeps.", "references": ["A cat is asleep."]}


def scripted(folder: Path, answer: object) -> str:
    rules = folder / "rules.jsonl"
    rules.write_text(json.dumps({"contains": "", "answer": answer}) + "\n")
    return changing(rules)


def test_the_builtin_judge_answers_without_a_run() -> None:
    assert run_sync(beholder.judge().ask(CLAIM)) == [True]


def test_options_beside_a_spec_stand_in_it_and_those_inside_go_first() -> None:
    judge = beholder.judge(
        "openai('m', timeout=9)", timeout=5, base_url="http://localhost:1/v1"
    )
    assert (
        judge.spec_text()
        == "openai('m', base_url='http://localhost:1/v1', timeout=9)"
    )
    panel = beholder.judge("panel(openai:a, openai:b)", temperature=0.5)
    members = "[openai('a', temperature=0.5), openai('b', temperature=0.5)]"
    assert panel.spec_text() == f"panel(members={members})"


def test_an_option_that_no_judge_takes_is_refused() -> None:
    with pytest.raises(ConfigError, match="base_url was given, and no judge"):
        beholder.judge("builtin", base_url="http://localhost:1/v1")


def test_metrics_and_doors_take_it_as_they_take_its_spec(
    tmp_path: Path,
) -> None:
    name = scripted(
        tmp_path,
        {"reason": "So it is.", "overall": 4, "mistakes": 4, "omissions": 5},
    )
    asked_judge = beholder.judge(name, temperature=0.25)
    assert PoSh(judge=asked_judge) == PoSh(judge=asked_judge.spec_text())  # type: ignore[arg-type]
    both: tuple[Judge | str, ...] = (asked_judge, asked_judge.spec_text())
    for number, judge in enumerate(both):
        out = tmp_path / str(number)
        beholder.score([ROW], ["direct_assessment"], judge=judge, out=out)
    logs = [
        json.loads((tmp_path / n / "run.json").read_text())["summary"]
        for n in "01"
    ]
    assert logs[0] == logs[1]
    assert logs[0][0]["n_failed"] == 0
    assert logs[0][0]["values"]["recall"]["mean"] == 1.0
    assert "temperature=0.25" in json.dumps(logs[0])


def test_a_judge_made_by_hand_has_no_name_for_a_run() -> None:
    with pytest.raises(ConfigError, match="made by hand"):
        PoSh(judge=LLMJudge(Scripted(lambda prompt: "")))  # type: ignore[arg-type]


def test_a_cache_answers_the_second_judge(tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    answers = {}
    for place in (cache, None):
        for answer in (True, False):
            name = scripted(
                tmp_path, {"rows": [{"id": 0, "supported": answer}]}
            )
            answers[place, answer] = run_sync(
                beholder.judge(name, cache=place).ask(CLAIM)
            )
    assert answers == {
        (cache, True): [True],
        (cache, False): [True],
        (None, True): [True],
        (None, False): [False],
    }
