"""Statements of references with what they rest on, checked in the candidate; values by hand."""

from __future__ import annotations

import json
import re

import pytest

from beholder.backends import Request, Scripted
from beholder.errors import ConfigError
from beholder.judges import LLMJudge
from beholder.language.statements import Statement
from beholder.metrics import metric
from beholder.metrics.judged.audit import mark_supported
from beholder.records import Item, ItemFailure, ItemScore
from toy.tools import OneJudge


def statement(kind: str, *entities: int, polarity: bool = True) -> Statement:
    return Statement("s", kind, (), 0, entities, polarity)  # type: ignore[arg-type]


STATEMENTS = [
    statement("existence", 0),
    statement("attribute", 0),
    statement("existence", 1),
    statement("relation", 0, 1),
    statement(
        "relation", 0, 2
    ),  # nothing says that the third exists: it rests on the first alone
]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("yyyyy", "yyyyy"),
        ("nyyyy", "nnynn"),
        ("yynyy", "yynny"),
        ("ynyny", "ynyny"),
        ("nnnnn", "nnnnn"),
    ],
)
def test_what_rests_on_an_absent_thing_does_not_hold(
    answers: str, expected: str
) -> None:
    supported = mark_supported(
        STATEMENTS, [answer == "y" for answer in answers]
    )
    assert "".join("y" if yes else "n" for yes in supported) == expected


def test_that_there_is_none_rests_on_nothing() -> None:
    denied = [
        statement("existence", 0, polarity=False),
        statement("attribute", 0),
    ]
    assert mark_supported(denied, [False, True]) == [False, True]


def judge_with(*absent: str) -> tuple[LLMJudge, Scripted]:
    """A judge that finds every statement but those with one of these words."""

    def answer(request: Request) -> str:
        statements = re.findall(
            r'<statement id="(\d+)">(.*?)</statement>',
            request.messages[-1].text,
        )
        rows = [
            {
                "id": int(i),
                "supported": not any(word in text for word in absent),
            }
            for i, text in statements
        ]
        return json.dumps({"rows": rows})

    backend = Scripted(answer)
    return LLMJudge(backend), backend


def scored(references: tuple[str, ...], *absent: str) -> ItemScore:
    judge, backend = judge_with(*absent)
    (item_score,) = metric("dsg", judge="given").score(
        [Item("a", "Some text.", references)], tools=OneJudge(judge)
    )
    assert isinstance(item_score, ItemScore), item_score
    assert len(backend.requests) == len(references)
    assert all("Some text." in r.messages[-1].text for r in backend.requests)
    return item_score


def test_the_value_is_the_mean_share_over_references_and_follows_from_the_units() -> (
    None
):
    item_score = scored(
        ("A man holds a cup. The cup is red.", "A dog."), "dog"
    )
    shares = [
        [u.score for u in item_score.units if u.reference_index == place]
        for place in range(2)
    ]
    assert shares[0] == [1.0] * len(shares[0]) != []
    assert shares[1] == [0.0]
    assert item_score.values == {"dsg": 0.5}
    (dog,) = (u for u in item_score.units if u.verdict == "omission")
    assert dog.spans == ((2, 5),)


def test_references_that_state_nothing_are_passed_over() -> None:
    judge, _ = judge_with()
    (item_score,) = metric("dsg", judge="given").score(
        [Item("a", "Some text.", ("A dog.", "Hello."))], tools=OneJudge(judge)
    )
    assert isinstance(item_score, ItemScore)
    assert item_score.values == {"dsg": 1.0}


def test_a_yes_about_an_absent_thing_is_told_and_does_not_count() -> None:
    item_score = scored(("There is a cup. The cup is red.",), "There is a cup")
    assert [(u.detail["answer"], u.score) for u in item_score.units] == [
        (False, 0.0),
        (True, 0.0),
    ]
    assert item_score.values == {"dsg": 0.0}


def test_references_that_state_nothing_are_a_failure_and_the_judge_must_be_able() -> (
    None
):
    judge, backend = judge_with()
    (item_score,) = metric("dsg", judge="given").score(
        [Item("a", "A dog.", ("Hello.",))], tools=OneJudge(judge)
    )
    assert isinstance(item_score, ItemFailure)
    assert "states anything" in item_score.message
    assert backend.requests == []
    with pytest.raises(ConfigError, match="no judge is called 'nobody'"):
        metric("dsg(judge='nobody')").score_text("A dog.", "A dog.")
