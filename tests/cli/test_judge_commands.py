"""``judge-check`` and ``cache`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beholder.backends import Answer, Sample, Usage
from beholder.judges import Judge
from beholder.judges.answer_file import AnswerFile
from beholder.judges.answers import Record
from beholder.judges.decisions.judge import DecisionJudge
from beholder.kinds.agreement import judge_check
from beholder.terminal.groups import find_cache
from toy.command import Cli
from toy.planted_decisions import PlantedDecisions


@pytest.fixture
def place(tmp_path: Path) -> Path:
    file = AnswerFile(tmp_path / "answers.sqlite")
    answer = Answer((Sample("5", "stop"),), "m-1", usage=Usage(1200, 0, 3))
    file.put_answer(
        Record(
            "digest",
            "presence",
            "presence.v1@x",
            "openai:m",
            "m-1",
            0,
            answer,
            0.5,
        )
    )
    file.close()
    return tmp_path


def test_cache_commands_count_export_and_prune(
    cli: Cli, place: Path, tmp_path: Path
) -> None:
    stats = cli("cache", "stats", "--cache", str(place))
    assert stats.code == 0
    assert "presence" in stats.out
    assert "1,200" in stats.out
    out = tmp_path / "answers.jsonl"
    assert cli("cache", "export", str(out), "--cache", str(place)).code == 0
    assert json.loads(out.read_text())["request"] == "digest"
    pruned = cli("cache", "prune", "--days", "0", "--cache", str(place))
    assert "1 answers removed" in pruned.out


def test_what_is_no_cache_and_what_is_no_run_is_told(
    cli: Cli, tmp_path: Path
) -> None:
    nowhere = str(tmp_path / "none")
    done = cli("cache", "stats", "--cache", nowhere)
    assert done.code == 2
    assert f"there is no cache at {nowhere}" in done.err
    done = cli("cache", "export", "out.jsonl", "--run", nowhere)
    assert done.code == 2
    assert f"{nowhere} is not a run directory" in done.err


def test_cache_place_is_the_option_then_the_variable_then_the_platform(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BEHOLDER_CACHE", "/somewhere")
    assert find_cache("elsewhere") == Path("elsewhere/answers.sqlite")
    assert find_cache(None) == Path("/somewhere/answers.sqlite")
    assert find_cache("off") is None
    monkeypatch.delenv("BEHOLDER_CACHE")
    path = find_cache(None)
    assert isinstance(path, Path)
    assert path.name == "answers.sqlite"
    assert "beholder" in str(path)


def rules(folder: Path) -> str:
    """A judge that says 4 to everything and ranks by place."""
    path = folder / "rules.jsonl"
    rows = [
        {"contains": "single digit", "answer": "4"},
        {"contains": '"ranks"', "answer": {"ranks": [1, 2, 3, 4]}},
        {"contains": "", "answer": {"statements": []}},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return f"scripted:{path}"


def test_judge_check_prints_consistency_and_bias(
    cli: Cli, tmp_path: Path
) -> None:
    done = cli("judge-check", rules(tmp_path))
    assert done.code == 1, done.err  # as a gate: this judge is unfit
    assert (
        "undefined" in done.out
    )  # a judge that always says the same has no reliability
    assert "-3.00" in done.out
    assert "unfit" in done.out
    assert "0.50" in done.out  # and it is at chance
    assert (
        "0.33 at 2.00" in done.out
    )  # half are there: F1 2/3 of these, 0 of the others


def test_judge_check_of_a_judge_with_probabilities_adds_its_traps(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_judge = judge_check.build_judge

    def build_planted(judge: str, *args: Any, **options: Any) -> Judge:
        if judge != "planted":
            return build_judge(judge, *args, **options)
        backend = PlantedDecisions(
            lambda call: [0.75] * len(call.questions),
            count_tokens=lambda call: 600 + 10 * len(call.questions),
        )
        return DecisionJudge(backend, answers=options["answers"])

    monkeypatch.setattr(judge_check, "build_judge", build_planted)
    monkeypatch.setenv("COLUMNS", "200")
    done = cli("judge-check", "planted", rules(tmp_path))
    lines = {
        cells[0].strip(): [cell.strip() for cell in cells[1:]]
        for cells in (
            line.strip("│").split("│") for line in done.out.splitlines()
        )
        if len(cells) == 4
    }
    # Half of the units are stated: (.25 ** 2 + .75 ** 2) / 2, and |.75 - .5|.
    assert lines["Brier score"][0] == "0.313 [0.313 to 0.313], n 200"
    assert lines["calibration error"][0] == "0.250 [0.250 to 0.250], n 200"
    assert lines["order of options"][0].startswith("+1.00 [+0.84 to +1.00]")
    assert lines["order of options"][1] == "gives no probabilities"
    assert lines["refusals"][0].startswith("+0.00 [")
    assert lines["smallest step"][0].startswith("0.01, n ")
    assert lines["the state counts once"][0] == "yes: 610; 1,240 with 64"
    assert "says yes to what no text states" in lines["last sentence"][0]
    assert "draws no answers" in lines["bias: repeats"][0]

    done = cli("judge-check", "planted", "--json")
    [report] = json.loads(done.out)
    assert report["verdict"] == "unfit"
    assert report["fit"]["brier"]["mean"] == pytest.approx(0.3125)
    traps = report["decisions"]["traps"]
    assert traps["state_count"]["tokens_of_all"] == 1240
    names = [bias["name"] for bias in traps["biases"]]
    assert names[:2] == ["order of options", "names of options"]


def test_dry_judge_check_counts_calls_and_asks_nothing(cli: Cli) -> None:
    done = cli("judge-check", "decisions:gpt-6-luna", "--dry-run")
    assert done.code == 0
    assert "decisions:gpt-6-luna: about 186 calls" in done.out


def test_judge_check_without_a_usable_answer_shows_one_and_the_next_step(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "chat.jsonl").write_text(
        '{"contains": "", "answer": "I think so, yes."}'
    )
    chat = f"scripted:{tmp_path}/chat.jsonl"
    done = cli("judge-check", chat)
    assert done.code == 1
    assert "verdict" not in done.out
    assert done.err.count("it said 'I think so, yes.'") == 1
    message = f"{chat}: no answer to the 200 questions was usable, so the judge is unfit and was asked"
    assert message in done.err
    assert f"{chat}: 400 answers, " in done.out, (
        "each probe and its repair, and nothing after that"
    )
    assert (
        f"beholder doctor --judge {chat}; beholder show presence" in done.err
    )
    comparison = cli("judge-check", chat, rules(tmp_path))
    assert comparison.code == 1
    assert "nan" not in comparison.out
    assert "undefined at" not in comparison.out
    assert "0.33 at 2.00" in comparison.out
    assert "bias: length" in comparison.out
    assert f"{chat}: no answer to the 200 questions" in comparison.err


def test_judge_check_is_held_against_own_answers(
    cli: Cli, tmp_path: Path
) -> None:
    row = {
        "kind": "entity",
        "text": "dog",
        "target": "A dog.",
        "side": "candidate",
    }
    path = tmp_path / "answers.jsonl"
    path.write_text(
        "".join(
            json.dumps({**row, "present": answer}) + "\n"
            for answer in (True, False)
        )
    )
    done = cli("judge-check", rules(tmp_path), "--answers", str(path))
    assert done.code == 0, done.err
    assert "mistakes" in done.out
    assert "omissions" not in done.out
    assert "0.33" in done.out


def test_graph_check_prints_the_shares(cli: Cli, tmp_path: Path) -> None:
    dog = {
        "head": "dog",
        "heads": ["dog"],
        "attributes": [],
        "attribute_sentence_idxs": {},
    }
    graph = {"entities": [{**dog, "text_spans": [[2, 5]]}], "relations": []}
    path = tmp_path / "graphs.jsonl"
    path.write_text(json.dumps({"text": "A dog.", "graph": graph}))
    done = cli("graph-check", str(path), "--json")
    assert done.code == 0, done.err
    diagnosis = json.loads(done.out)
    assert diagnosis["entity"] == {
        "precision": 1,
        "recall": 1,
        "f1": 1,
        "shares": {"coref": 1},
    }
    assert diagnosis["relation"]["f1"] is None
    assert "1 texts" in cli("graph-check", str(path)).out


def test_doctor_says_what_is_wrong_with_a_bad_judge(
    cli: Cli, tmp_path: Path
) -> None:
    done = cli("doctor", "--judge", rules(tmp_path))
    assert done.code == 1
    assert "6 of 12 right" in done.out
