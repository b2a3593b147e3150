"""Questions answered by a judge that writes whatever the schema of its request lets through.

It says null wherever it may, the option that says so where there is one, and its likeliest guess
where an answer is required. All expected values are computed here from what was planted.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

import beholder
from beholder.backends import Scripted
from beholder.judges import LLMJudge
from beholder.records import Item, ItemScore
from servers.faults import FaultServer, completion, probe_answer, serving
from toy.tools import OneJudge

pytestmark = pytest.mark.usefixtures("few_resamples")
N_PICTURES, N_QUESTIONS = 23, 5
CANNOT = "The description does not say."
_ITEM = re.compile(r'<item id="(\d+)">(.*?)</item>', re.DOTALL)


@dataclass
class Planted:
    """115 questions about 23 pictures, with what a text is made to say about each.

    Attributes:
        items: The texts with their questions.
        choices: What a text says to a question: an option, words, or None for nothing.
        says_null: Whether the judge says null also where an option says so: it is held to no schema.
    """

    open_questions: bool
    says_null: bool = False
    items: list[Item] = field(default_factory=list)
    choices: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        draw = random.Random(11)
        for picture in range(N_PICTURES):
            rows = [
                self._question(draw, f"{picture}.{k}")
                for k in range(N_QUESTIONS)
            ]
            text = f"Text {picture} tells of a lamp."
            self.items.append(
                Item(f"p{picture}", text, meta={"questions": rows})
            )

    def _question(self, draw: random.Random, name: str) -> dict[str, Any]:
        beginning = draw.choice(("What", "Where", "Is", "Which"))
        question = f"{beginning} about {name}?"
        options = [
            f"option {name} {letter}"
            for letter in "abcde"[: draw.randint(2, 5)]
        ]
        self.choices[question] = draw.choice((options[0], options[-1], None))
        if self.open_questions:
            return {"question": question, "answer": options[0]}
        return {"question": question, "options": options, "answer": options[0]}

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        """Answer a request as its schema demands."""
        if probed := probe_answer(body):
            return probed
        item_ids = _ITEM.findall(body["messages"][-1]["content"])
        if not item_ids:
            return completion("ready")
        schema = body["response_format"]["json_schema"]["schema"]
        row = schema["properties"]["rows"]["items"]
        forms = row.get("anyOf", [row])
        rows = [
            {"id": int(i), **self._row(int(i), text, forms)}
            for i, text in item_ids
        ]
        return completion(json.dumps({"rows": rows}))

    def _row(
        self, index: int, text: str, forms: list[Any]
    ) -> Mapping[str, Any]:
        if text.startswith("Question: "):
            _, right_answer, given_answer = (
                line.partition(": ")[2] for line in text.split("\n")
            )
            return {
                "same": right_answer == given_answer,
                "grade": 5 if right_answer == given_answer else 1,
            }
        line, *lines = text.split("\n")
        letters = {option[3:]: option[0] for option in lines}
        choice = self.choices[line.removesuffix(" (an answer is required)")]
        if choice is not None:
            return {"choice": letters.get(choice, choice), "quote": "a lamp"}
        allowed = [
            f["properties"]
            for f in forms
            if index in f["properties"]["id"]["enum"]
        ]
        may_be_null = any(
            "null" in fields["choice"]["type"] for fields in allowed
        )
        if may_be_null or (self.says_null and CANNOT in letters):
            return {"choice": None, "quote": None}
        guess = (
            letters[min(letters)] if letters else "a guess"
        )  # "option ... a" is the right one
        return {"choice": letters.get(CANNOT, guess), "quote": None}


def score(planted: Planted, spec: str) -> tuple[dict[str, float], list[float]]:
    """The means and pooled values, and the share of each text that was not read."""
    with serving(FaultServer(planted)) as server:
        options: dict[str, Any] = {"judge": "openai:m", "base_url": server.url}
        run = beholder.score(planted.items, metrics=[spec], **options)
        ((name, result),) = run.summary.items()
        outcomes = [outcome for _, outcome in run.outcomes(name)]
    means = {value: estimate.mean for value, estimate in result.values.items()}
    scores = [
        outcome for outcome in outcomes if isinstance(outcome, ItemScore)
    ]
    assert len(scores) == len(outcomes)
    return means, [score.values["unread"] for score in scores]


@pytest.mark.parametrize("says_null", [False, True])
def test_captionqa_counts_every_silent_answer(says_null: bool) -> None:
    planted = Planted(open_questions=False, says_null=says_null)
    values, unread = score(planted, "qa(rules='captionqa', at_once=3)")
    rows = [row for item in planted.items for row in item.meta["questions"]]
    # CaptionQA guesses from "Is" that a question is one of yes or no: it has no third option, and
    # the judge must guess; its guess is right.
    offered = [row for row in rows if not row["question"].startswith("Is")]
    states = [planted.choices[row["question"]] for row in offered]
    silent = [
        row
        for row, state in zip(offered, states, strict=True)
        if state is None
    ]
    assert len(silent) > 20
    assert unread == [0.0] * N_PICTURES
    assert values["cannot_pooled"] == pytest.approx(len(silent) / 115)
    n_right = sum(
        state == row["answer"]
        for row, state in zip(offered, states, strict=True)
    )
    yes_no_rows = [row for row in rows if row["question"].startswith("Is")]
    n_right += sum(
        planted.choices[row["question"]] in (row["answer"], None)
        for row in yes_no_rows
    )
    assert values["accuracy_pooled"] == pytest.approx(n_right / 115)
    credit = sum(1 / len(row["options"]) + 0.05 for row in silent)
    assert values["captionqa_pooled"] == pytest.approx(
        (n_right + credit) / 115
    )


def test_own_rules_keep_silence_apart() -> None:
    planted = Planted(open_questions=False)
    values, unread = score(planted, "qa")
    rows = [row for item in planted.items for row in item.meta["questions"]]
    states = [planted.choices[row["question"]] for row in rows]
    assert unread == [0.0] * N_PICTURES
    # Five questions a picture: the mean of the pictures is the share of all questions.
    right = sum(
        choice == row["answer"]
        for row, choice in zip(rows, states, strict=True)
    )
    assert values["accuracy"] == pytest.approx(right / 115)
    assert values["answered"] == pytest.approx(1 - states.count(None) / 115)


def test_vdc_leaves_no_film_out() -> None:
    planted = Planted(open_questions=True)
    values, unread = score(planted, "qa(rules='vdc')")
    rows = [row for item in planted.items for row in item.meta["questions"]]
    right = sum(
        planted.choices[row["question"]] == row["answer"] for row in rows
    )
    assert unread == [0.0] * N_PICTURES
    assert values["vdc"] == pytest.approx(right / 115)
    assert values["vdc_score"] == pytest.approx(
        (5 * right + (115 - right)) / 115
    )


@pytest.mark.parametrize(
    ("answer", "state"),
    [("Not stated", "right"), ("red", "not said"), ("blue", "not said")],
)
@pytest.mark.parametrize("choice", [None, "B"])
def test_an_option_of_the_data_that_says_so_takes_the_place_of_silence(
    answer: str, state: str, choice: str | None
) -> None:
    def reply(request: Any) -> str:
        options_by_letter = dict(
            line.split(") ")
            for line in re.findall(
                r"^[A-C]\) .+$", request.messages[-1].text, re.M
            )
        )
        letter = next(
            key
            for key, option in options_by_letter.items()
            if option.startswith("Not stated")
        )
        chosen_letter = None if choice is None else letter
        return json.dumps(
            {"rows": [{"id": 0, "choice": chosen_letter, "quote": None}]}
        )

    row = {
        "question": "Colour?",
        "options": ["red", "blue", "Not stated"],
        "answer": answer,
    }
    item = Item("one", "A door.", meta={"questions": [row]})
    for rules in ("own", "captionqa"):
        built = beholder.metric(f"qa(judge='scripted:x', rules={rules!r})")
        (item_score,) = built.score(
            [item], tools=OneJudge(LLMJudge(Scripted(reply)))
        )
        assert item_score.units[0].verdict == state.replace(" ", "_"), (  # type: ignore[union-attr]
            item_score
        )
        if rules == "captionqa":  # two options besides the one that says so
            expected = 1.0 if state == "right" else 1 / 2 + 0.05
            assert item_score.values["captionqa"] == expected  # type: ignore[union-attr]
