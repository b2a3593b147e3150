import json
from pathlib import Path

from seen_colours.colours import Colours
from seen_colours.supported import Supported
from seen_colours.vivid import RateVividness, Vivid

from beholder.aio import run_sync
from beholder.backends import Scripted
from beholder.judges import LLMJudge


def test_colours_are_counted_once() -> None:
    score = Colours().score_text("A red dog and a red cat on blue grass.", ())
    assert score.values == {"colours": 2}


def test_a_sentence_that_the_reference_denies_is_not_supported() -> None:
    score = Supported().score_text(
        "A dog sleeps. The dog is black.", "A white dog sleeps."
    )
    assert score.values == {"precision": 0.5}


def test_the_grade_is_brought_to_0_to_1(tmp_path: Path) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text(
        json.dumps({"contains": "A red dog.", "answer": {"grade": 4}})
    )
    score = Vivid(judge=f"scripted:{rules}").score_text("A red dog.", ())
    assert score.values == {"vividness": 0.75}


def test_the_prompt_shows_the_text() -> None:
    model = Scripted(lambda request: '{"grade": 4}')
    assert run_sync(LLMJudge(model).ask(RateVividness("A red dog."))) == 4
    system, user = model.requests[0].messages
    assert system.text.startswith("You judge descriptions of pictures.")
    assert "<text>\nA red dog.\n</text>" in user.text
