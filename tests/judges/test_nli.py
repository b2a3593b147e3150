"""``nli:MODEL`` without a model: labels, and what the judge makes of given probabilities."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from beholder.embed.base import FloatArray
from beholder.embed.entailment import classes_of
from beholder.errors import ConfigError, ItemError
from beholder.judges import judge, nli
from beholder.judges.operations import (
    CheckCriteria,
    Decompose,
    MatchNearest,
    MatchStatements,
    Presence,
    Question,
    TextAnswer,
    Verify,
)
from beholder.metrics import metric

TEXT = "A dog sleeps on a blue rug. A cat sits beside it."


class Known:
    """An entailment model that knows its answers by hypothesis; all else is neutral."""

    identity = "m@r1,float32,entailment,neutral,contradiction"
    said: dict[str, list[float]] = {}
    asked: list[tuple[str, str]] = []

    def __init__(self, name: str, **options: object) -> None:
        pass

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        self.asked += pairs
        rows = [
            self.said.get(hypothesis, [0.1, 0.8, 0.1])
            for _, hypothesis in pairs
        ]
        return np.array(rows, np.float32).reshape(-1, 3)


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nli, "HFEntailment", Known)
    monkeypatch.setattr(Known, "said", {})
    monkeypatch.setattr(Known, "asked", [])


def asked(operation: Any) -> Any:
    return asyncio.run(judge("nli:m").ask(operation))


@pytest.mark.parametrize(
    ("found", "stated", "expected"),
    [
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], None, (2, 1, 0)),
        (["entailment", "neutral", "contradiction"], None, (0, 1, 2)),
        (["entailment", "not_entailment"], None, (0, 1)),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], None, (0, 2, 1)),
        (["LABEL_0", "LABEL_1"], "not-entailment, entailment", (1, 0)),
        (
            ["entailment", "contradiction", "neutral"],
            "contradiction,neutral,entailment",
            (2, 1, 0),
        ),
    ],
)
def test_labels_say_what_each_output_means(
    found: list[str], stated: str | None, expected: tuple[int, ...]
) -> None:
    assert classes_of(found, stated, "nli:m") == expected


@pytest.mark.parametrize(
    ("found", "stated"),
    [
        (["LABEL_0", "LABEL_1", "LABEL_2"], None),
        (["entailment"], None),
        (["neutral", "contradiction"], None),
        (["entailment", "neutral", "entails"], None),
        (["LABEL_0", "LABEL_1", "LABEL_2"], "entailment,neutral"),
        (["LABEL_0", "LABEL_1"], "entailment,maybe"),
        (["LABEL_0", "LABEL_1"], "entailment,neutral,contradiction"),
    ],
)
def test_labels_that_say_nothing_are_refused_by_name(
    found: list[str], stated: str | None
) -> None:
    with pytest.raises(
        ConfigError, match=f"'{found[0]}'.*labels='contradiction,entailment"
    ):
        classes_of(found, stated, "nli:m")


def test_a_claim_is_supported_if_the_model_entails_it() -> None:
    Known.said = {
        "A dog rests.": [0.6, 0.3, 0.1],
        "A cat rests.": [0.4, 0.5, 0.1],
    }
    assert asked(Verify(["A dog rests.", "A cat rests."], reference=TEXT)) == [
        True,
        False,
    ]
    # The nearest sentence, and both in the order of the text.
    assert ("A dog sleeps on a blue rug.", "A dog rests.") in Known.asked
    assert (TEXT, "A cat rests.") in Known.asked


def test_a_unit_is_worded_and_graded_by_its_probability() -> None:
    Known.said = {
        "There is a dog.": [0.75, 0.2, 0.05],
        "The rug is red.": [0.05, 0.15, 0.8],
    }
    about = "A dog sleeps on a red rug."
    questions = [
        Question("entity", "dog", place=(2,)),
        Question("attribute", "red", "rug", place=(18, 22)),
    ]
    dog, red = asked(Presence(questions, TEXT, about))
    assert dog.value == pytest.approx(1 + 4 * 0.75)
    assert dog.contradiction == ""
    assert red.value == pytest.approx(1 + 4 * 0.05)
    assert red.contradiction == "A dog sleeps on a blue rug."
    assert red.where == ((0, 27),)


def test_a_question_without_a_place_is_worded_from_its_own_words() -> None:
    Known.said = {"The man holds the cup.": [0.9, 0.1, 0.0]}
    question = Question("relation", "holds", "man", "cup")
    assert asked(Presence([question], TEXT))[0].value == pytest.approx(
        1 + 4 * 0.9
    )


def test_criteria_are_met_contradicted_or_not_mentioned() -> None:
    Known.said = {
        "The rug is blue.": [0.9, 0.1, 0.0],
        "The rug is red.": [0.0, 0.2, 0.8],
    }
    criteria = ["The rug is blue.", "The rug is red.", "It rains."]
    assert asked(CheckCriteria(criteria, TEXT)) == [
        TextAnswer("met", ((0, 27),)),
        TextAnswer("contradicted", ((0, 27),)),
        TextAnswer("not mentioned", ()),
    ]
    with pytest.raises(ItemError, match=r"'Is it red\?' is a question"):
        asked(CheckCriteria(["Is it red?"], TEXT))


def test_a_claim_matches_the_statement_that_entails_it_most() -> None:
    claims = ["The dog is asleep.", "A plane lands."]
    references = [
        "The dog is old.",
        "The dog is asleep on the rug.",
        "The dog sleeps.",
    ]
    Known.said = {claims[0]: [0.9, 0.1, 0.0]}
    found = asked(MatchStatements(claims, references))
    assert found[0] is not None
    assert found[1] is None
    Known.said = {}
    assert asked(MatchStatements(claims, references)) == [None, None]
    nearest = asked(MatchNearest(claims, references))
    assert nearest[0] is not None  # whatever the model says


def test_a_model_of_two_classes_contradicts_nothing() -> None:
    Known.said = {"The rug is red.": [0.1, 0.9, 0.0]}
    assert asked(CheckCriteria(["The rug is red."], TEXT)) == [
        TextAnswer("not mentioned", ())
    ]


def test_statements_are_made_as_by_the_built_in_judge() -> None:
    text = "A dog sleeps on a rug."
    made = asyncio.run(judge("builtin").ask(Decompose(text)))
    assert asked(Decompose(text)) == made
    assert Known.asked == []


def test_the_identity_names_model_labels_and_the_judge_that_reads() -> None:
    start = (
        "nli:m@r1(float32,entailment,neutral,contradiction)+"
        + judge("builtin").identity
    )
    identity = judge("nli:m").identity
    assert identity.startswith(start)
    # A digest of the code, and the library that cuts the words of its parser.
    assert re.fullmatch(
        r"\+[0-9a-f]{12}\+tokenizers@[\d.]+", identity.removeprefix(start)
    )


@pytest.mark.parametrize("name", ["posh", "dcscore"])
def test_metrics_run_on_it(name: str) -> None:
    made = metric(name, judge="nli:m")
    assert (
        made.score_text(TEXT, [TEXT]).values["f1"] < 0.5
    )  # the model entails nothing here
    Known.said = {hypothesis: [1.0, 0.0, 0.0] for _, hypothesis in Known.asked}
    assert made.score_text(TEXT, [TEXT]).values["f1"] == pytest.approx(
        1.0, abs=1e-6
    )
