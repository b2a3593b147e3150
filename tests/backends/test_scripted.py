"""Backends without a model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from beholder import judges
from beholder.backends import Message, Replay, Request, Scripted, backend
from beholder.errors import ConfigError, ItemError, UnknownNameError
from beholder.judges import AnswerFile, Answers, LLMJudge
from beholder.judges.answers import export_answers
from beholder.judges.operations import Rewrite


def ask(text: str) -> Request:
    return Request((Message("user", (text,)),))


def test_first_rule_that_fits_answers(tmp_path: Path) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text(
        '{"contains": "cat", "answer": "meow"}\n\n{"contains": "a", "answer": {"x": [1]}}\n'
    )
    scripted = backend("scripted", str(rules))
    assert asyncio.run(scripted.chat(ask("a cat"))).text == "meow"
    assert json.loads(asyncio.run(scripted.chat(ask("a dog"))).text) == {
        "x": [1]
    }
    with pytest.raises(
        ItemError, match=r"no rule of .* fits the request that ends 'xyz'"
    ):
        asyncio.run(scripted.chat(ask("xyz")))


@pytest.mark.parametrize(
    "line", ["{}", "[]", "x", '{"contains": 1, "answer": ""}']
)
def test_broken_rules_are_named_with_their_line(
    tmp_path: Path, line: str
) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text(f'{{"contains": "a", "answer": ""}}\n{line}\n')
    with pytest.raises(ConfigError, match=r"rules\.jsonl:2: "):
        Scripted(str(rules))


def test_recorded_run_is_replayed_without_the_model(tmp_path: Path) -> None:
    file = AnswerFile(tmp_path / "run.sqlite")
    live = LLMJudge(
        Scripted(lambda request: f"the {len(request.messages)}"),
        answers=Answers(file),
    )
    answers = [asyncio.run(live.ask(Rewrite(text))) for text in ("one", "two")]
    exported = tmp_path / "answers.jsonl"
    assert export_answers(file, exported) == 2
    file.close()
    replayed = judges.judge(f"replay:{exported}")
    assert [
        asyncio.run(replayed.ask(Rewrite(text))) for text in ("one", "two")
    ] == answers
    with pytest.raises(ItemError, match="no answer to this request"):
        asyncio.run(replayed.ask(Rewrite("three")))


def test_separators_in_an_answer_do_not_break_the_line_of_a_recording(
    tmp_path: Path,
) -> None:
    answer = "a\u2028b\u2029c\u0085d\x1ce"
    file = AnswerFile(tmp_path / "run.sqlite")
    live = LLMJudge(Scripted(lambda request: answer), answers=Answers(file))
    assert asyncio.run(live.ask(Rewrite("one"))) == answer
    exported = tmp_path / "answers.jsonl"
    export_answers(file, exported)
    file.close()
    assert (
        asyncio.run(judges.judge(f"replay:{exported}").ask(Rewrite("one")))
        == answer
    )
    rules = tmp_path / "rules.jsonl"
    rules.write_bytes('{"contains": "a\u2028b", "answer": "yes"}\r\n'.encode())
    assert (
        asyncio.run(Scripted(str(rules)).chat(ask("a\u2028b"))).text == "yes"
    )


def test_replay_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"request": "x"}\n')
    with pytest.raises(
        ConfigError, match=r"answers\.jsonl:1: not an exported answer"
    ):
        Replay(str(path))
    path.write_text("")
    with pytest.raises(ConfigError, match="contains no answers"):
        Replay(str(path))
    with pytest.raises(ConfigError, match="cannot be read"):
        Replay(str(tmp_path / "none"))


def test_unknown_backend_is_named() -> None:
    with pytest.raises(
        UnknownNameError, match=r"no backend is called 'x'.*openai"
    ):
        backend("x", "m")
