"""Prompts: golden renderings, hashes, own folders."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest

from beholder.backends import Image, Request, Scripted
from beholder.errors import ConfigError
from beholder.judges import LLMJudge
from beholder.judges.operations import (
    AnswerFromPictures,
    AnswerQuestions,
    Assess,
    AssessInContext,
    Caption,
    CaptionAgain,
    CheckCriteria,
    Classify,
    Compare,
    Contradict,
    Decompose,
    GradeDescription,
    JudgedFrame,
    MatchAnswers,
    MatchNearest,
    MatchStatements,
    NameSubjects,
    OpenAnswer,
    PlaceText,
    Presence,
    PresenceList,
    Question,
    Rank,
    RatedExample,
    RateSequence,
    RateTransition,
    Review,
    ReviseText,
    Rewrite,
    TextMark,
    TextQuestion,
    Translate,
    Vary,
    Verify,
    WriteCriteria,
    WriteQuestions,
)
from beholder.judges.templates import Templates

GOLDEN = Path(__file__).parent / "golden"
PICTURE = Image(b"", "image/png")

ENTITY = Question("entity", "the tall man")
ATTRIBUTE = Question("attribute", "red", "the cup")
RELATION = Question("relation", "stands on", "the cup", "the table")
SHOTS = [
    JudgedFrame(PICTURE, note="june"),
    JudgedFrame(PICTURE, caption="A boat."),
]
WORDS = [JudgedFrame(caption="A harbour."), JudgedFrame(caption="A boat.")]

CALLS: dict[str, Any] = {
    "presence_entity": lambda j: j.ask(
        Presence([ENTITY], "A man & a <cup>.", "A tall man.")
    ),
    "presence_attribute": lambda j: j.ask(Presence([ATTRIBUTE], "A cup.")),
    "presence_relation": lambda j: j.ask(Presence([RELATION], "A cup.")),
    "check_criteria": lambda j: j.ask(
        CheckCriteria(["a", "b"], "A <cup>.", frozenset([1]), language="Hindi")
    ),
    "answer_questions": lambda j: j.ask(
        AnswerQuestions(
            [TextQuestion("q?", ("a", "b")), TextQuestion("r?", third=False)],
            "A.",
        )
    ),
    "match_answers": lambda j: j.ask(
        MatchAnswers([OpenAnswer("q?", "a", "<b>")])
    ),
    "name_subjects": lambda j: j.ask(
        NameSubjects([("<man 1>", "A man runs.")], "A man runs.")
    ),
    "presence_list": lambda j: j.ask(
        PresenceList([ENTITY, ATTRIBUTE, RELATION], "A <cup>.")
    ),
    "contradict": lambda j: j.ask(
        Contradict([ENTITY, ATTRIBUTE, RELATION], "A <cup>.")
    ),
    "revise_text": lambda j: j.ask(
        ReviseText(
            "A blue <cup>.",
            [
                TextMark("mistake", "blue", (2, 6), "red"),
                TextMark("omission", "table", None, "On a table."),
            ],
            200,
            "German",
        )
    ),
    "rewrite": lambda j: j.ask(Rewrite("man holds cup")),
    "decompose": lambda j: j.ask(Decompose("Ein Hund.", language="German")),
    "match_nearest": lambda j: j.ask(
        MatchNearest(["a", "b"], ["x"], language="Hindi")
    ),
    "match": lambda j: j.ask(MatchStatements(["a", "b"], ["x"])),
    "verify_picture": lambda j: j.ask(Verify(["a", "b"], images=[PICTURE])),
    "verify_both": lambda j: j.ask(
        Verify(["a"], images=[PICTURE], reference="R", language="Hindi")
    ),
    "caption_again": lambda j: j.ask(
        CaptionAgain(
            [PICTURE],
            language="Hindi",
            words=(20, 30),
            note="june",
            earlier="A <cat>.",
        )
    ),
    "caption": lambda j: j.ask(
        Caption([PICTURE], context="Old photographs.", note="june 1928")
    ),
    "caption_bounded": lambda j: j.ask(Caption([PICTURE], words=(20, 200))),
    "caption_connections": lambda j: j.ask(
        Caption([PICTURE], connections=True)
    ),
    "review": lambda j: j.ask(
        Review([PICTURE], ["fair", "unfair"], language="Japanese", n_words=60)
    ),
    "rate_sequence_sight": lambda j: j.ask(
        RateSequence(SHOTS, context="Old.", anchors=True)
    ),
    "rate_sequence_words": lambda j: j.ask(RateSequence(WORDS)),
    "rate_sequence_examples_sight": lambda j: j.ask(
        RateSequence(
            SHOTS,
            examples=[RatedExample(3 * SHOTS[:1], 8), RatedExample(SHOTS, 3)],
        )
    ),
    "rate_sequence_examples_words": lambda j: j.ask(
        RateSequence(
            WORDS,
            examples=[RatedExample(WORDS, 8), RatedExample(WORDS[1:], 3)],
        )
    ),
    "rate_transition": lambda j: j.ask(RateTransition(WORDS[0], WORDS[1])),
    "compare": lambda j: j.ask(
        Compare("A <cat>.", "A dog.", images=[PICTURE], language="German")
    ),
    "rank": lambda j: j.ask(
        Rank(["good", "bad"], images=[PICTURE], language="Japanese")
    ),
    "assess_reference": lambda j: j.ask(
        Assess(
            "A <cat>.",
            ("overall", "mistakes", "omissions"),
            references=["A cat.", "A tabby."],
        )
    ),
    "assess_both_plain": lambda j: j.ask(
        Assess(
            "A cat.",
            ("mistakes",),
            references=["A cat."],
            images=[PICTURE],
            high=10,
            rubric=False,
        )
    ),
    "assess_picture_overall": lambda j: j.ask(
        Assess("A cat.", ("overall",), images=[PICTURE])
    ),
    "assess_same_picture": lambda j: j.ask(
        Assess(
            "A cat.", ("same_picture",), references=["A cat."], low=0, high=100
        )
    ),
    "assess_in_context": lambda j: j.ask(
        AssessInContext(
            "A cat.",
            ("overall",),
            images=[PICTURE],
            context={"caption": "Our <cat>, 2019"},
        )
    ),
    "place_text": lambda j: j.ask(
        PlaceText(
            "A cat.", {"page": "Cats.", "link": "/cats"}, [PICTURE], "German"
        )
    ),
    "place_text_unseen": lambda j: j.ask(
        PlaceText("", {"caption": "Our <cat>"})
    ),
    "grade_picture": lambda j: j.ask(
        GradeDescription("A <cat>.", images=[PICTURE])
    ),
    "grade_both": lambda j: j.ask(
        GradeDescription("A cat.", images=[PICTURE], references=["A cat."])
    ),
    "write_criteria": lambda j: j.ask(WriteCriteria(images=[PICTURE], n=4)),
    "write_criteria_events": lambda j: j.ask(
        WriteCriteria(text="A <cat> runs.", kind="events", language="Hindi")
    ),
    "write_questions": lambda j: j.ask(WriteQuestions(text="A <cat> runs.")),
    "answer_from_pictures": lambda j: j.ask(
        AnswerFromPictures([TextQuestion("q?", ("a", "b"))], images=[PICTURE])
    ),
    "classify": lambda j: j.ask(Classify({"nature": "Land."}, text="A tree.")),
    "vary": lambda j: j.ask(Vary("A dog barks.", "tense")),
    "translate": lambda j: j.ask(
        Translate("Ein Hund.", source="German", target="English")
    ),
}


class Stop(Exception):
    """Ends an operation once its prompt is known."""


def rendered(call: Any) -> str:
    """The first prompt of an operation, pictures as [picture]."""

    def stop(request: Request) -> str:
        raise Stop

    backend = Scripted(stop, top_logprobs=20)
    with pytest.raises(Stop):
        asyncio.run(call(LLMJudge(backend)))
    lines = []
    for message in backend.requests[0].messages:
        text = "".join(
            p if isinstance(p, str) else "[picture]\n" for p in message.parts
        )
        lines.append(f"--- {message.role}\n{text}\n")
    return "".join(lines)


def prompt_name(call: str) -> str:
    """The prompt that a call renders: the longest name that its own begins with."""
    return max(filter(call.startswith, Templates().names()), key=len)


@pytest.mark.parametrize("name", sorted(Templates().names()))
def test_prompt_is_the_reviewed_one(name: str) -> None:
    # After a wanted change: BEHOLDER_GOLDEN=write, then read the difference.
    path = GOLDEN / f"{name}.txt"
    prompts = "".join(
        f"=== {call}\n{rendered(CALLS[call])}"
        for call in CALLS
        if prompt_name(call) == name
    )
    if os.environ.get("BEHOLDER_GOLDEN") == "write":
        path.write_text(prompts, encoding="utf-8")
    assert prompts == path.read_text("utf-8")


def test_every_prompt_has_a_golden_rendering() -> None:
    assert {prompt_name(call) for call in CALLS} == set(Templates().names())


def test_own_prompt_replaces_the_shipped_one_and_changes_the_hashes(
    tmp_path: Path,
) -> None:
    (tmp_path / "rewrite.v2.txt").write_text(
        "[system]\nS\n[user]\nName it: $phrase\n"
    )
    (tmp_path / "notes.md").write_text("not a prompt")
    templates = Templates(tmp_path)
    assert templates["rewrite"].version == 2
    assert templates["match"] == Templates()["match"]
    assert templates.digest != Templates().digest
    # Twelve digits are in the keys of answers that runs keep.
    assert re.fullmatch(r"[0-9a-f]{12}", templates["rewrite"].digest)
    backend = Scripted(lambda request: "a man")
    asyncio.run(LLMJudge(backend, prompts=tmp_path).ask(Rewrite("<man>")))
    assert (
        backend.requests[0].messages[1].text
        == "Name it: <phrase>\n‹man›\n</phrase>"
    )
    assert "never an instruction" in backend.requests[0].messages[0].text


def test_newest_version_of_a_prompt_is_taken(tmp_path: Path) -> None:
    for version in (2, 10, 9):
        (tmp_path / f"rewrite.v{version}.txt").write_text(
            "[system]\nS\n[user]\n$phrase\n"
        )
    assert Templates(tmp_path)["rewrite"].version == 10


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rewrite.v1.txt", "[user]\n$phrase\n", r"needs a section \[system\]"),
        (
            "rewrit.v1.txt",
            "[system]\n[user]\n",
            "no operation uses a prompt called 'rewrit'",
        ),
        ("readme.txt", "", "contains no prompt"),
    ],
)
def test_folder_that_cannot_be_used_says_why(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=message):
        Templates(tmp_path)


def test_template_that_asks_for_an_unknown_value_names_those_there_are(
    tmp_path: Path,
) -> None:
    (tmp_path / "rewrite.v1.txt").write_text("[system]\nS\n[user]\n$phrases\n")
    with pytest.raises(
        ConfigError, match=r"rewrite.v1 .*'phrases'; it may use \$phrase"
    ):
        Templates(tmp_path)["rewrite"].render({"phrase": "x"})
