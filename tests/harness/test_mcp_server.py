"""The tools of ``beholder mcp``: in this process, and once by the package's client over stdio."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import mcp
import pytest
from PIL import Image

import beholder
from beholder.aio import run_sync
from beholder.errors import ConfigError
from beholder.harness.mcp_server import ServedTools
from beholder.kinds.scores.limits import MOST_WAITING
from toy.metric import WordCount

REFERENCE = "A brown dog sleeps on a sofa."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a picture, a run, and a link that leads out; beside it a secret picture."""
    folder = tmp_path / "served"
    folder.mkdir()
    Image.new("RGB", (8, 8), "red").save(folder / "red.png")
    Image.new("RGB", (8, 8), "blue").save(tmp_path / "secret.png")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    rows = [{"id": "first", "candidate": "one"}, {"candidate": "one two"}]
    beholder.score(rows, [WordCount()], out=folder / "runs" / "words")
    beholder.score(rows, [WordCount()], out=tmp_path / "other")
    verdicts = [{"id": n, "supported": n == 0} for n in range(2)]
    rule = {"contains": "", "answer": {"rows": verdicts}}
    (tmp_path / "rules.jsonl").write_text(json.dumps(rule) + "\n", "utf-8")
    return folder


def call(served: ServedTools | Any, name: str, **arguments: Any) -> Any:
    """Return the result of a call by a client: structured, or the message of an error."""

    async def ask() -> Any:
        server = served.server() if isinstance(served, ServedTools) else served
        async with mcp.Client(server) as client:
            result = await client.call_tool(name, arguments)
        if result.is_error:
            return result.content[0].model_dump()["text"]
        structured = result.structured_content
        return structured.get("result", structured)

    return run_sync(ask())


def test_tools_answer_with_values_findings_and_marks(folder: Path) -> None:
    served = ServedTools(folder)
    findings = call(
        served, "lint_texts", texts=["image of a dog", "A brown dog sleeps."]
    )
    assert [
        (finding["text"], finding["rule"], finding["span"])
        for finding in findings
    ] == [(1, "ALT104", [0, 8])]
    text, references = "A red dog sleeps on a sofa.", [REFERENCE]
    scored = call(served, "score_text", text=text, references=references)
    expected = beholder.metric("accord").score_text(text, references)
    assert {
        name: value["score"] for name, value in scored["values"].items()
    } == expected.values
    assert scored["signature"] == expected.signature
    edits = call(
        served, "score_text", text=text, references=references, metric="ter"
    )
    assert scored["values"]["accord"]["range"] == [0, 1]
    assert edits["values"]["ter"]["range"] == [0, None]
    assert "contradicted: red" in scored["findings"]
    marks = call(
        served,
        "explain_marks",
        text=text,
        references=references,
        metric="posh",
    )
    first = marks["marks"][0]
    assert (first["verdict"], first["side"]) == ("contradicted", "candidate")
    start, end = first["spans"][0]
    assert text[start:end] == "red"
    assert marks["n_not_listed"] == 0
    assert call(served, "look_at_run") == "runs/words"
    page = call(served, "look_at_run", run="runs/words")
    assert "word_count" in page
    assert "1.500" in page


def test_a_named_judge_is_asked_about_a_picture(folder: Path) -> None:
    judge = f"scripted:{folder.parent / 'rules.jsonl'}"
    answer = call(
        ServedTools(folder, judge),
        "ask_judge",
        picture="red.png",
        statements=["It is red.", "It is blue."],
    )
    assert [row["supported"] for row in answer["supported"]] == [True, False]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
        ("lint_texts", {"texts": []}, "at least 1"),
        ("lint_texts", {"texts": ["a"] * 201}, "at most 200"),
        ("lint_texts", {"texts": ["a" * 20_001]}, "20,001 characters"),
        ("score_text", {"text": "a " * 20_001, "references": ["a"]}, "20,000"),
        (
            "score_text",
            {"text": "dog, " * 1500, "references": ["a"]},
            "the longest sentence has 3,000 words and signs",
        ),
        ("score_text", {"text": "", "references": ["a"]}, "candidate is empty"),
        (
            "score_text",
            {"text": "a", "references": ["a"], "metric": "posh(judge='x')"},
            "expected a name without parameters: accord",
        ),
        ("explain_marks", {"text": "a", "references": []}, "at least 1"),
        ("look_at_run", {"run": "../other"}, "leads out of"),
        ("look_at_run", {"run": "{parent}/other"}, "lies outside"),
        ("look_at_run", {"run": "runs"}, "run"),
        ("look_at_run", {"run": "a\0b"}, "cannot be read"),
        ("ask_judge", {"picture": "../secret.png"}, "leads out of"),
        ("ask_judge", {"picture": "link.png"}, "leads out of"),
        ("ask_judge", {"picture": "{parent}/secret.png"}, "lies outside"),
        ("ask_judge", {"picture": "rules.jsonl"}, "rules.jsonl"),
]  # fmt: skip


def test_what_is_refused_is_a_message(folder: Path) -> None:
    served = ServedTools(folder, f"scripted:{folder.parent / 'rules.jsonl'}")
    for tool, arguments, message in REFUSED:
        given = {
            name: value.format(parent=folder.parent)
            if isinstance(value, str)
            else value
            for name, value in arguments.items()
        }
        if tool == "ask_judge":
            given["statements"] = ["It is red."]
        answer = call(served, tool, **given)
        assert isinstance(answer, str), (tool, arguments)
        assert message in answer


def test_the_built_in_judge_sees_no_pictures(folder: Path) -> None:
    answer = call(
        ServedTools(folder), "ask_judge", picture="red.png", statements=["x"]
    )
    assert "openai:MODEL" in answer
    with pytest.raises(ConfigError, match="is not a folder"):
        ServedTools(folder / "red.png")
    with pytest.raises(ConfigError, match="nobody"):
        ServedTools(folder, "nobody")


def test_calls_beyond_those_that_wait_are_refused(folder: Path) -> None:
    served = ServedTools(folder)
    server = served.server()
    waiting = threading.Thread(target=call, args=(server, "look_at_run"))
    with served._turn:
        waiting.start()
        while served._places._value == 1 + MOST_WAITING:
            pass
        for _ in range(MOST_WAITING):
            served._places.acquire()
        assert "calls wait already" in call(server, "look_at_run")
    waiting.join()


@pytest.mark.slow
def test_a_client_over_stdio_gets_what_this_process_computes(
    folder: Path,
) -> None:
    command = mcp.StdioServerParameters(
        command=sys.executable, args=["-m", "beholder", "mcp", str(folder)]
    )
    arguments = {"text": "A red dog sleeps.", "references": [REFERENCE]}
    over_stdio = call(command, "score_text", **arguments)
    assert over_stdio == call(ServedTools(folder), "score_text", **arguments)
