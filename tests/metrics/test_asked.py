"""Checklists and questions with a planted judge; expected values are calculated by hand."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beholder.backends import Request, Scripted
from beholder.data import read_items
from beholder.errors import ConfigError
from beholder.judges import LLMJudge, Tally
from beholder.judges.operations import (
    AnswerQuestions,
    CheckCriteria,
    TextAnswer,
    TextQuestion,
)
from beholder.judges.operations.quotes import locate
from beholder.judges.reading import BadAnswer
from beholder.metrics import Metric, Tools, metric
from beholder.options import DataOptions
from beholder.records import Item, ItemFailure, ItemScore
from beholder.run.summary import corpus_estimates
from servers.faults import FaultServer, completion, probe_answer, serving
from toy.cases import each_case
from toy.tools import OneJudge

TEXT = "A grey cat sits on a chair. The door is red."
CRITERIA: list[dict[str, Any]] = [
    {"id": "a", "text": "A cat sits.", "weight": 3, "dimension": "event"},
    {
        "id": "b",
        "text": "The door is blue.",
        "weight": 2,
        "dimension": "colour",
    },
    {"id": "c", "text": "A dog barks.", "weight": 1, "dimension": "event"},
    {
        "id": "d",
        "text": "The cat is grey.",
        "weight": 1,
        "dimension": "colour",
    },
    {"id": "e", "text": "There is a chair.", "weight": 2},
]
STATES: Mapping[str, tuple[str, str | None]] = {
    "A cat sits.": ("met", "cat sits"),
    "The door is blue.": ("contradicted", "door is red"),
    "A dog barks.": ("not mentioned", None),
    "The cat is grey.": ("met", "grey  CAT"),
    "There is a chair.": ("met", "a chair"),
}
_ITEM = re.compile(r'<item id="(\d+)">(.*?)</item>', re.DOTALL)
_OPEN_ANSWER = re.compile(r"Right answer: (.*)\nGiven answer: (.*)")
Row = dict[str, Any]


class Planted:
    """A model with planted rows; ``answers`` gives the row of an item's first line and the try."""

    def __init__(self, answer: Callable[[list[str], int], Row | None]) -> None:
        self._answer = answer
        self.backend = Scripted(self._reply)
        self.tries: dict[str, int] = {}
        self.shown: list[list[str]] = []

    def tools(self) -> Tools:
        return OneJudge(LLMJudge(self.backend))

    def _reply(self, request: Request) -> str:
        prompt = request.messages[-1].text
        rows = []
        for number, text in _ITEM.findall(prompt):
            lines = text.split("\n")
            if open_answer := _OPEN_ANSWER.search(
                text
            ):  # open answers: the same words, or half as good
                same = open_answer[1] == open_answer[2]
                rows.append(
                    {
                        "id": int(number),
                        "same": same,
                        "grade": 5 if same else 2,
                    }
                )
                continue
            self.tries[lines[0]] = self.tries.get(lines[0], 0) + 1
            self.shown.append(lines)
            row = self._answer(lines, self.tries[lines[0]])
            if row is not None:
                rows.append({"id": int(number), **row})
        return json.dumps({"rows": rows})


def by_states(lines: list[str], _: int) -> Row:
    state, quote = STATES[lines[0]]
    return {"state": state, "quote": quote}


def outcome(
    built: Metric[Any], model: Planted, **meta: Any
) -> ItemScore | ItemFailure:
    item = Item("one", meta.pop("candidate", TEXT), meta=meta)
    return built.score([item], tools=model.tools())[0]


def scored(built: Metric[Any], model: Planted, **meta: Any) -> ItemScore:
    item_score = outcome(built, model, **meta)
    assert isinstance(item_score, ItemScore), item_score
    return item_score


def test_checklist_values_follow_from_planted_states() -> None:
    item_score = scored(
        metric("checklist(judge='scripted:x')"),
        Planted(by_states),
        criteria=CRITERIA,
    )
    # Weights: met 3 + 1 + 2 = 6, contradicted 2, not mentioned 1.
    assert item_score.values == pytest.approx(
        {"accuracy": 6 / 9, "coverage": 8 / 9, "precision": 6 / 8, "f1": 12 / 17, "hit": 4 / 5,
         "wrong": 2 / 9, "weighted": 6 / 9, "unread": 0.0}
    )  # fmt: skip
    assert item_score.detail["by_dimension"]["event"]["accuracy"] == 3 / 4
    assert item_score.detail["by_dimension"]["colour"][
        "precision"
    ] == pytest.approx(1 / 3)
    places = [[TEXT[a:b] for a, b in unit.spans] for unit in item_score.units]
    assert places == [
        ["cat sits"],
        ["door is red"],
        [],
        ["grey cat"],
        ["a chair"],
    ]
    verdicts = [unit.verdict for unit in item_score.units]
    assert verdicts == ["met", "contradicted", "not_mentioned", "met", "met"]


def test_checklist_parts_are_asked_apart_and_published_rules_ignore_weights() -> (
    None
):
    model = Planted(by_states)
    built = metric(
        "checklist(judge='scripted:x', rules='capricorn', at_once=2)"
    )
    item_score = scored(
        built, model, criteria=[*CRITERIA, {"id": "z", "text": "A cat sits."}]
    )
    assert len(model.backend.requests) == 3  # 5 distinct texts, two a call
    assert item_score.values["accuracy"] == 3 / 5
    assert item_score.values["coverage"] == 4 / 5
    silent = Planted(
        lambda lines, _: {"state": "not mentioned", "quote": None}
    )
    zero = scored(metric("checklist(judge='scripted:x', rules='capability')"), silent,
                  criteria=["A dog barks."])  # fmt: skip
    assert zero.values["precision"] == zero.values["f1"] == 0.0
    own_rules = scored(
        metric("checklist(judge='scripted:x')"),
        silent,
        criteria=["A dog barks."],
    )
    assert "precision" not in own_rules.values


def test_the_two_numbers_of_capeval_are_pooled_over_the_set(
    tmp_path: Path,
) -> None:
    states = {
        "a cat": ("met", "cat"),
        "a red door": ("contradicted", "door"),
        "a dog": ("not mentioned", None),
        "a chair": ("met", "words of no text"),  # refused: it stays unread
        "a tree": ("met", "tree"),
    }
    checklists = {
        "SO901.jpg": ["a cat", "a red door", "a dog", "a chair"],
        "DK902.png": ["a tree", "a dog"],
    }
    published = tmp_path / "checklist.jsonl"
    lines = [
        {
            "id": name[:5],
            "img_path": name,
            "instance_checklist": [
                {"Tags": "object", "Question": f"Does the text name {what}?"}
                for what in things
            ],
        }
        for name, things in checklists.items()
    ]
    published.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    captions = tmp_path / "captions.json"
    captions.write_text(
        json.dumps(
            {"SO901.jpg": "A cat. A blue door.", "DK902.png": "A tree."}
        ),
        "utf-8",
    )

    def answer(lines: list[str], _: int) -> Row:
        what = lines[0].removeprefix("Does the text name ").rstrip("?")
        state, quote = states[what]
        return {"state": state, "quote": quote}

    items = [
        item
        for item in read_items(
            captions, DataOptions(references_from=published)
        )
        if isinstance(item, Item)
    ]
    assert [item.id for item in items] == ["SO901.jpg", "DK902.png"]
    built = metric("checklist(judge='scripted:x', rules='capeval')")
    outcomes = built.score(items, tools=Planted(answer).tools())
    item_scores = [each for each in outcomes if isinstance(each, ItemScore)]
    first, second = item_scores
    # First: 1 yes, 1 no of 4. Second: 1 yes of 2. Of the set: (2 + 1) / 6 and 2 / 3, where the
    # mean of the two texts would be 1/2 and 3/4.
    assert (first.values["coverage"], first.values["precision"]) == (0.5, 0.5)
    assert (second.values["coverage"], second.values["precision"]) == (0.5, 1)
    assert first.values["unread"] == 0.25
    statistics = np.array([each.detail["statistics"] for each in item_scores])
    assert built.corpus(statistics.sum(axis=0)) == {
        "coverage_pooled": 3 / 6,
        "precision_pooled": pytest.approx(2 / 3),
    }
    # The published code has 0 where nothing is mentioned.
    assert built.corpus(np.array([0.0, 0.0, 5.0]))["precision_pooled"] == 0.0


_FILM = "A grey cat walks. A dog barks. The camera pans."
_ELEMENTS = [
    {
        "text": "The camera pans.",
        "dimension": "camera",
        "weight": 1,
        "event": "A cat comes.",
    },
    {
        "text": "A cat walks.",
        "dimension": "action",
        "weight": 3,
        "event": "A cat comes.",
    },
    {
        "text": "The cat is black.",
        "dimension": "attribute",
        "weight": 2,
        "event": "A cat comes.",
    },
    {
        "text": "A dog barks.",
        "dimension": "action",
        "weight": 2,
        "event": "A dog barks.",
    },
    {
        "text": "It is a street.",
        "dimension": "scene",
        "weight": 1,
        "event": "A dog barks.",
    },
]
_CAMERA_ANSWERS = {"The camera pans.": ("met", "camera pans"), "A cat walks.": ("met", "cat walks"),
         "The cat is black.": ("contradicted", "grey cat"), "A dog barks.": ("met", "dog barks")}  # fmt: skip


@pytest.mark.parametrize(
    ("matches", "met", "contradicted", "camera"),
    [
        # Two series without a step back are equally long; the first one counts.
        ([0, 1, 0], 3 + 2, 2, []),
        ([0, None, 0], 1 + 3, 2, [(35, 46)]),
        ([None, 1, None], 2, 0, []),
        ([None, None, None], 0, 0, []),
    ],
)
def test_tuna_checks_elements_against_the_sentences_of_their_event(
    matches: list[int | None],
    met: int,
    contradicted: int,
    camera: list[tuple[int, int]],
) -> None:
    def reply(request: Request) -> str:
        prompt = request.messages[-1].text
        if "<statement" in prompt:
            match_rows = [
                {"id": i, "reference": match}
                for i, match in enumerate(matches)
            ]
            return json.dumps({"matches": match_rows})
        text = prompt.partition("Criteria:")[0]
        rows = []
        for number, criterion in _ITEM.findall(prompt):
            state, quote = _CAMERA_ANSWERS.get(
                criterion, ("not mentioned", None)
            )
            is_stated = quote is not None and quote in text
            rows.append({"id": int(number), "state": state if is_stated else "not mentioned",
                         "quote": quote if is_stated else None})  # fmt: skip
        return json.dumps({"rows": rows})

    built = metric("checklist(judge='scripted:x', rules='tuna')")
    item = Item("one", _FILM, meta={"criteria": _ELEMENTS})
    (item_score,) = built.score(
        [item], tools=OneJudge(LLMJudge(Scripted(reply)))
    )
    assert isinstance(item_score, ItemScore), item_score
    # Weights: all 9. P = E / (E + C), R = E / all, F1 = 2 E / (E + C + all); 0 where undefined.
    assert next(iter(built.values)).name == "f1"
    covered = met + contradicted
    assert item_score.values["precision"] == pytest.approx(
        met / covered if covered else 0
    )
    assert item_score.values["accuracy"] == pytest.approx(met / 9)
    assert item_score.values["f1"] == pytest.approx(2 * met / (covered + 9))
    action = sum(
        weight for place, weight in ((0, 3), (1, 2)) if place in matches
    )
    assert item_score.values["action_accuracy"] == pytest.approx(action / 5)
    assert (
        item_score.values["attribute_precision"]
        == item_score.values["scene_f1"]
        == 0.0
    )
    assert list(item_score.units[0].spans) == camera


def test_tuna_needs_the_events() -> None:
    failed = outcome(
        metric("checklist(rules='tuna')"),
        Planted(by_states),
        criteria=["A cat."],
    )
    assert isinstance(failed, ItemFailure)
    assert "'event' of each criterion" in failed.message


def test_consistency_is_missing_where_nobody_names_the_subjects() -> None:
    rows = [
        {"text": text, "subjects": ["<a>"]}
        for text in ("A cat sits.", "The cat is grey.")
    ]

    def answer(quote: str) -> Callable[[list[str], int], Row]:
        def row(lines: list[str], tries: int) -> Row:
            if " in the statement: " in lines[0]:
                return {"entity": "the cat", "quote": quote}
            return by_states(lines, tries)

        return row

    built = metric("checklist(judge='scripted:x', rules='capricorn')")
    with_names = scored(built, Planted(answer("grey cat")), criteria=rows)
    assert with_names.values["reference_consistency"] == 1.0
    unread = scored(built, Planted(answer("a purple cat")), criteria=rows)
    assert "reference_consistency" not in unread.values
    (builtin,) = metric("checklist(rules='capricorn')").score(
        [Item("one", TEXT, meta={"criteria": rows})]
    )
    assert isinstance(builtin, ItemScore)
    assert "reference_consistency" not in builtin.values
    empty = scored(built, Planted(by_states), candidate=" ", criteria=rows)
    assert empty.values["reference_consistency"] == 0.0


def test_a_rule_enters_the_weighted_score_alone_and_needs_no_quote() -> None:
    def answer(lines: list[str], _: int) -> Row:
        met = lines[0].startswith("Demand")
        return {"state": "met", "quote": None if met else "cat sits"}

    rows = [
        "A cat sits.",
        {"text": "It guesses.", "kind": "rule", "weight": -0.25},
    ]
    item_score = scored(
        metric("checklist(judge='scripted:x')"), Planted(answer), criteria=rows
    )
    assert item_score.values["accuracy"] == 1.0
    assert item_score.values["weighted"] == 0.75


def test_invented_quotes_and_missing_rows_are_asked_once_more_then_reported() -> (
    None
):
    def answer(lines: list[str], tries: int) -> Row | None:
        if lines[0] == "The cat is grey.":
            return {"state": "met", "quote": "a purple cat"}
        if lines[0] == "A cat sits." and tries == 1:
            return None
        return by_states(lines, tries)

    model = Planted(answer)
    item_score = scored(
        metric("checklist(judge='scripted:x')"), model, criteria=CRITERIA
    )
    assert len(model.backend.requests) == 2
    assert model.tries == {
        **dict.fromkeys(STATES, 1),
        "A cat sits.": 2,
        "The cat is grey.": 2,
    }
    reason = "the text does not have the words 'a purple cat'"
    assert item_score.detail["unread"] == {"d": reason}
    (unread,) = (u for u in item_score.units if u.verdict == "unread")
    assert unread.detail["reason"] == reason
    assert item_score.values["unread"] == 1 / 5
    assert item_score.values["accuracy"] == 5 / 8
    liar = Planted(lambda lines, _: {"state": "met", "quote": "not there"})
    failed = outcome(
        metric("checklist(judge='scripted:x')"), liar, criteria=["A cat sits."]
    )
    assert isinstance(failed, ItemFailure)
    assert "no usable answer to any of 1 criteria" in failed.message
    assert "the first: the text does not have the words" in failed.message
    assert len(liar.backend.requests) == 2


def test_quotes_are_found_whatever_case_blanks_and_signs() -> None:
    text = "The dog’s bowl — a big one — is full."
    assert locate('"the DOG\'s  bowl - a big"', text) == ((0, 22),)
    assert locate("the dog's bowl ... is full.", text) == ((0, 14), (29, 36))
    assert locate("is full ... the dog", text) == ()
    assert locate("a ‹red› cup", "It is a <red> cup.") == (
        (6, 17),
    )  # as prompts show it
    assert locate("og", text) == locate("...", text) == ()
    assert locate("座っている", "猫が座っている。") == ((2, 7),)


@each_case(
    ("criteria", "message"),
    [
        (None, "no criteria"),
        ([], "no criteria"),
        (["x", " "], r"criteria\[2\].*empty"),
        ([{"text": "x", "weight": -1}], "only a rule"),
        ([{"text": "x", "id": "2"}, "y"], "'2' is there twice"),
        ([{"txt": "x"}], r"criteria\[1\]"),
    ],
)
def test_bad_criteria_are_named(criteria: object, message: str) -> None:
    failure = outcome(
        metric("checklist(judge='scripted:x')"),
        Planted(by_states),
        criteria=criteria,
    )
    assert isinstance(failure, ItemFailure)
    assert re.search(message, failure.message)


def test_the_builtin_judge_keeps_three_states_apart_and_refuses_open_questions() -> (
    None
):
    built = metric("checklist")
    rows = ["The door is red.", "The door is blue.", "An elephant swims."]
    (item_score,) = built.score([Item("one", TEXT, meta={"criteria": rows})])
    assert isinstance(item_score, ItemScore)
    assert [u.verdict for u in item_score.units] == [
        "met",
        "contradicted",
        "not_mentioned",
    ]
    (refused,) = built.score(
        [Item("one", TEXT, meta={"criteria": ["What is red?"]})]
    )
    assert isinstance(refused, ItemFailure)
    assert "'What is red?' is a question" in refused.message
    with pytest.raises(ConfigError, match="answer_questions"):
        metric("qa(judge='builtin')").identities(Tools())


def test_a_panel_takes_the_majority_and_reports_ties() -> None:
    def one_panelist(*states: str) -> list[Any]:
        return [TextAnswer(state, ((0, 1),)) for state in states]

    operation = CheckCriteria(["a", "b", "c"], TEXT)
    merged = operation.merge([one_panelist("met", "met", "met"), one_panelist("met", "contradicted", "contradicted"),
                          one_panelist("contradicted", "not mentioned", "contradicted")])  # fmt: skip
    assert [(m.state, m.tied) for m in merged if m] == [
        ("met", False), ("not mentioned", True), ("contradicted", False)
    ]  # fmt: skip


# --- questions

QUESTIONS: list[Row] = [
    {"id": "1", "question": "Where?", "options": ["on a chair", "in a box", "out", "up"],
     "answer": 0, "category": ["place"]},
    {"id": "2", "question": "When?", "options": ["day", "dusk", "dawn", "night"], "answer": "day"},
    {"id": "3", "question": "Colour?", "options": ["red", "blue", "tan"], "answer": "blue"},
    {"id": "4", "question": "Is there a cat?", "answer": True},
    {"id": "5", "question": "Who?", "options": ["a", "b", "c", "d", "e"], "answer": "a"},
]  # fmt: skip
CHOSEN = {"Where?": "on a chair", "When?": None, "Colour?": "red", "Is there a cat?": "yes",
          "Who?": None}  # fmt: skip
QUOTES = {"Where?": "on a chair", "Colour?": "red", "Is there a cat?": "cat"}


def choose(lines: list[str], _: int) -> Row:
    question = lines[0].removesuffix(" (an answer is required)")
    choice = CHOSEN[question]
    options = {line[3:]: line[0] for line in lines[1:]}
    if choice is None:
        return {
            "choice": options.get("The description does not say."),
            "quote": None,
        }
    return {"choice": options[choice], "quote": QUOTES[question]}


def test_qa_values_follow_from_planted_answers() -> None:
    item_score = scored(
        metric("qa(judge='scripted:x')"), Planted(choose), questions=QUESTIONS
    )
    assert item_score.values == pytest.approx(
        {
            "accuracy": 2 / 5,
            "answered": 3 / 5,
            "wrong": 1 / 5,
            "precision": 2 / 3,
            "unread": 0,
        }
    )
    assert [u.verdict for u in item_score.units] == [
        "right",
        "not_said",
        "wrong",
        "right",
        "not_said",
    ]
    assert item_score.detail["by_category"]["place"]["accuracy"] == 1.0
    assert TEXT[slice(*item_score.units[0].spans[0])] == "on a chair"


@each_case(
    ("options", "third", "choice", "state"),
    [
        (
            ["B", "A"],
            True,
            "A",
            "B",
        ),  # the letter that was shown, and no option's text
        (["cat", "Dog"], True, "B) Dog", "Dog"),
        (["cat", "Dog"], True, "dog", "Dog"),
        (["one", "none"], True, "none", "none"),  # an option, not silence
        # A letter with other words than its option's names two options.
        (["on a chair", "on grass"], True, "B: on grass", "on grass"),
        (["on a chair", "on grass"], True, "(b) On  grass.", "on grass"),
        (["on a chair", "on grass"], True, "A: on grass", BadAnswer),
        (["on a chair", "on grass"], True, "B: on grass or so", BadAnswer),
        (["on a chair", "on grass"], True, "A, B", BadAnswer),
        (["on a chair", "on grass"], True, "A.B", BadAnswer),
        (["on a chair", "on grass"], True, "Answer: B", BadAnswer),
        (["on a chair", "on grass"], True, "C", BadAnswer),
        (["on a chair", "on grass"], True, "C: on grass", BadAnswer),
        (["A: in", "B: out"], True, "b: out", "B: out"),
        (["us", "US"], True, "US", "US"),
        (["us", "US"], True, "Us", BadAnswer),
        (["one", "two"], True, "Unknown.", None),
        (["one", "two"], True, "cannot be answered", None),
        (["one", "two"], False, "unknown", BadAnswer),
        (["one", "two"], True, "three", BadAnswer),
        ([], True, "not said", None),
        ([], False, "none", "none"),  # an answer is required: how many dogs?
        ([], False, None, BadAnswer),
    ],
)
def test_an_answer_is_a_letter_an_option_or_silence(
    options: list[str],
    third: bool,
    choice: str | None,
    state: str | type[Exception] | None,
) -> None:
    operation = AnswerQuestions(
        [TextQuestion("Which?", tuple(options), third)], TEXT
    )
    row = json.dumps({"rows": [{"id": 0, "choice": choice, "quote": "cat"}]})
    (answer,) = asyncio.run(LLMJudge(Scripted(lambda _: row)).ask(operation))
    if state is BadAnswer:
        assert answer.unread
    else:
        assert not answer.unread
        assert answer.state == state


def test_other_words_for_silence_are_the_third_state() -> None:
    model = Planted(lambda lines, _: {"state": "unknown", "quote": None})
    item_score = scored(
        metric("checklist(judge='scripted:x')"),
        model,
        criteria=["A dog barks."],
    )
    assert item_score.values["coverage"] == 0.0
    assert item_score.values["unread"] == 0.0
    assert len(model.backend.requests) == 1


def test_captionqa_credits_silence_and_pools_questions() -> None:
    built = metric("qa(judge='scripted:x', rules='captionqa')")
    item_score = scored(built, Planted(choose), questions=QUESTIONS)
    # 1 + (1/4 + .05) + 0 + 1 + (1/5 + .05) = 2.55 of 5.
    assert item_score.values["captionqa"] == pytest.approx(0.51)
    assert built.values[0].name == "captionqa"
    assert built.corpus(item_score.detail["statistics"]) == pytest.approx(
        {
            "captionqa_pooled": 0.51,
            "accuracy_pooled": 2 / 5,
            "cannot_pooled": 2 / 5,
        }
    )


def test_vcapsbench_counts_yes_no_questions_alone() -> None:
    choices = {"A?": "yes", "B?": "yes", "C?": None, "D?": "no"}

    def answer(lines: list[str], _: int) -> Row:
        letters = {line[3:]: line[0] for line in lines[1:]}
        choice = choices[lines[0]]
        return {
            "choice": letters[choice] if choice else "Not said",
            "quote": "cat",
        }

    rows = [{"question": q, "answer": a} for q, a in
            [("A?", True), ("B?", False), ("C?", True), ("D?", False)]]  # fmt: skip
    built = metric("qa(judge='scripted:x', rules='vcapsbench')")
    item_score = scored(
        built, Planted(answer), questions=[*rows, {**QUESTIONS[0], "id": "x"}]
    )
    assert item_score.values["ar"] == 2 / 4
    assert item_score.values["ir"] == pytest.approx(1 / 3)
    assert item_score.values["cr"] == 3 / 4
    assert item_score.detail["left_out"] == 1


@pytest.mark.usefixtures("two_sources_are_enough")
def test_a_resample_without_answers_has_no_share_of_wrong_ones() -> None:
    # Right, wrong and silent of two films; where only the second is drawn there is no IR, and all
    # other draws have 1 wrong of 2, or 2 of 4.
    built = metric("qa(judge='scripted:x', rules='vcapsbench')")
    estimates = corpus_estimates(
        built, np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]]), ["a", "b"]
    )
    ir = estimates["ir_pooled"]
    assert ir.interval is not None
    assert (ir.mean, ir.interval.low, ir.interval.high) == (0.5, 0.5, 0.5)
    assert estimates["cr_pooled"].interval != ir.interval


def test_open_answers_are_matched_in_one_more_call() -> None:
    def answer(lines: list[str], _: int) -> Row:
        choices = {"Colour?": "red", "Place?": "a shelf", "Time?": None}
        return {"choice": choices[lines[0].partition(" (")[0]], "quote": "red"}

    rows = [{"question": "Colour?", "answer": "red"}, {"question": "Place?", "answer": "a chair"},
            {"question": "Time?", "answer": "noon"}]  # fmt: skip
    model = Planted(answer)
    item_score = scored(
        metric("qa(judge='scripted:x')"), model, questions=rows
    )
    assert [unit.verdict for unit in item_score.units] == [
        "right",
        "wrong",
        "not_said",
    ]
    assert len(model.backend.requests) == 2
    assert item_score.values["grade"] == pytest.approx((5 + 2 + 0) / 3 / 5)
    vdc = scored(
        metric("qa(judge='scripted:x', rules='vdc')"),
        Planted(answer),
        questions=rows[:2],
    )
    assert (vdc.values["vdc"], vdc.values["vdc_score"]) == (1 / 2, 7 / 2)


def test_the_order_of_options_follows_the_seed_and_does_not_change_a_reader() -> (
    None
):
    orders, values = set(), set()
    for seed in range(6):
        model = Planted(choose)
        item_score = scored(
            metric(f"qa(judge='scripted:x', seed={seed})"),
            model,
            questions=QUESTIONS,
        )
        orders.add(tuple(tuple(lines) for lines in model.shown))
        values.add(tuple(item_score.values.items()))
    assert len(orders) == 6
    assert len(values) == 1


def test_an_empty_candidate_costs_no_call() -> None:
    for spec, meta in (
        ("checklist", {"criteria": CRITERIA}),
        ("qa", {"questions": QUESTIONS}),
    ):
        model = Planted(choose)
        item_score = scored(
            metric(f"{spec}(judge='scripted:x')"), model, candidate=" ", **meta
        )
        assert item_score.values["accuracy"] == 0.0
        assert "precision" not in item_score.values
        assert not model.backend.requests


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"question": "q", "options": ["a", "b"], "answer": "c"},
            "not among its options",
        ),
        (
            {"question": "q", "options": ["a", "a"], "answer": "a"},
            "distinct options",
        ),
        (
            {"question": "q", "options": ["a", "b"], "answer": 2},
            "not an index",
        ),
        (
            {"question": "q", "answer": "a", "weight": -1},
            "weight must be above 0",
        ),
    ],
)
def test_bad_questions_are_named(row: object, message: str) -> None:
    failure = outcome(
        metric("qa(judge='scripted:x')"), Planted(choose), questions=[row]
    )
    assert isinstance(failure, ItemFailure)
    assert message in failure.message


def test_a_dry_run_counts_the_calls_that_are_made() -> None:
    rows = [*QUESTIONS, {"id": "6", "question": "Open?", "answer": "red"}]

    def answer(lines: list[str], tries: int) -> Row:
        if lines[0] == "Open?":
            return {"choice": "red", "quote": "red"}
        return choose(lines, tries)

    for spec, meta, reply in (
        (
            "checklist(judge='scripted:x', at_once=2)",
            {"criteria": CRITERIA},
            by_states,
        ),
        ("qa(judge='scripted:x', at_once=4)", {"questions": rows}, answer),
    ):
        model, tally = Planted(reply), Tally()
        item = Item("one", TEXT, meta=meta)
        metric(spec).score(
            [item], tools=OneJudge(LLMJudge(model.backend, tally=tally))
        )
        assert not model.backend.requests
        scored(metric(spec), model, **meta)
        assert tally.n_calls == len(model.backend.requests) == 3


def test_both_metrics_work_over_http() -> None:
    def reply(body: dict[str, Any]) -> dict[str, Any]:
        if probed := probe_answer(body):
            return probed
        prompt = body["messages"][-1]["content"]
        answer_item = by_states if "Criteria:" in prompt else choose
        rows = [
            {"id": int(n), **answer_item(text.split("\n"), 1)}
            for n, text in _ITEM.findall(prompt)
        ]
        return completion(json.dumps({"rows": rows}))

    item = Item(
        "one", TEXT, meta={"criteria": CRITERIA, "questions": QUESTIONS}
    )
    with serving(FaultServer(reply)) as server:
        tools = Tools(options={"judge": {"base_url": server.url}})
        outcomes = [
            metric(f"{name}(judge='openai:m')").score([item], tools=tools)[0]
            for name in ("checklist", "qa")
        ]
    values = [
        outcome.values["accuracy"]
        for outcome in outcomes
        if isinstance(outcome, ItemScore)
    ]
    assert values == pytest.approx([6 / 9, 2 / 5])
