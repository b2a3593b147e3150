"""Operations of other packages: their prompt stands in the class, and mistakes are named."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from beholder.backends import Scripted
from beholder.errors import ConfigError
from beholder.judges import LLMJudge
from beholder.judges.operations import OPERATIONS, ModelOperation, Respondent
from beholder.judges.templates import Templates

pytestmark = pytest.mark.usefixtures("own_operations")
PROMPT = "[system]\nYou name moods.\n[user]\nWhich mood?\n$text\n"


class Mood(ModelOperation[str]):
    """Base of the operations of these tests, which have no name of their own yet."""

    text = "A calm lake."

    async def ask_model(self, model: Respondent) -> str:
        return await model.text(
            model.render({"text": self.text}), str, max_tokens=8, typical="sad"
        )


def test_a_judge_made_before_puts_the_prompt_of_the_class() -> None:
    model = Scripted(lambda request: "calm")
    judge = LLMJudge(model)
    identity = judge.identity

    @dataclass(frozen=True)
    class MoodWithPrompt(Mood, name="toy_mood"):
        template = PROMPT

    assert asyncio.run(judge.ask(MoodWithPrompt())) == "calm"
    system, user = model.requests[0].messages
    assert system.text.startswith(
        "You name moods.\n\nEverything between markers"
    )
    assert user.text == "Which mood?\n<text>\nA calm lake.\n</text>"
    assert (
        judge.identity == identity
    )  # all prompts of beholder: packages change no signatures
    assert "prompts@" in judge.identity_for(["toy_mood"])


def test_another_prompt_of_the_class_changes_the_identity() -> None:
    identities = []
    for text in (PROMPT, PROMPT.replace("Which", "What")):
        type(
            "Named",
            (Mood,),
            {"template": text, "__module__": __name__},
            name="toy_mood",
        )
        identities.append(
            LLMJudge(Scripted(lambda request: "")).identity_for(["toy_mood"])
        )
    assert identities[0] != identities[1]


def test_a_folder_may_replace_it(tmp_path: Path) -> None:
    (tmp_path / "toy_mood.v3.txt").write_text("[system]\nS\n[user]\n$text\n")
    with pytest.raises(
        ConfigError, match="no operation uses a prompt called 'toy_mood'"
    ):
        Templates(tmp_path)
    type("Named", (Mood,), {"template": PROMPT}, name="toy_mood")
    assert Templates(tmp_path)["toy_mood"].version == 3
    assert Templates()["toy_mood"].version == 1


def test_a_name_that_is_taken_is_refused() -> None:
    verify = OPERATIONS["verify"]
    with pytest.raises(
        ConfigError, match=r"'verify' is taken by .*statements\.Verify; choose"
    ):
        type("Check", (Mood,), {}, name="verify")
    assert OPERATIONS["verify"] is verify


@pytest.mark.parametrize(
    ("attributes", "parameters", "message"),
    [
        (
            {"template": PROMPT},
            {},
            r"Wrong has a template and no name; write class Wrong\(\.\.\., name=",
        ),
        (
            {"template": "Which mood?"},
            {"name": "toy_mood"},
            r"'toy_mood': a prompt needs a section",
        ),
    ],
)
def test_a_class_that_cannot_be_put_is_refused(
    attributes: dict[str, str], parameters: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        type("Wrong", (Mood,), attributes, **parameters)


def test_an_operation_without_a_prompt_says_where_it_belongs() -> None:
    unprompted = type("Named", (Mood,), {}, name="toy_mood")
    with pytest.raises(
        ConfigError,
        match="'toy_mood' has no prompt; write it into the attribute",
    ):
        asyncio.run(LLMJudge(Scripted(lambda request: "")).ask(unprompted()))
