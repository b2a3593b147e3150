"""What is asked of a judge in many ways, and what a model answers to it in turn.

``golden/requests.json`` holds for each case what went out and what was kept, recorded at commit
74262a5, captions and ratings of sequences and steps when their second prompts came;
``test_requests.py`` compares.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from beholder.backends import Answer, Image, Sample
from beholder.judges.operations import (
    OPERATIONS,
    JudgedFrame,
    OpenAnswer,
    Operation,
    Question,
    TextMark,
    TextQuestion,
)

RED, BLUE = Image(b"red", "image/png"), Image(b"blue", "image/jpeg")

ENTITY = ("Question", "entity", "the tall man")
DENIED = ("Question", "entity", "no <dog>", "", "", (3, 9))
ATTRIBUTE = ("Question", "attribute", "red", "the cup")
RELATION = ("Question", "relation", "stands on", "the cup", "the table")
UNITS = [ENTITY, DENIED, ATTRIBUTE, RELATION]

SEEN_FRAMES = [
    ("JudgedFrame", RED, None, "june"),
    ("JudgedFrame", BLUE, "A boat.", None),
]
TOLD_FRAMES = [
    ("JudgedFrame", None, "A <harbour>.", None),
    ("JudgedFrame", None, "A boat.", "place: Oslo"),
]

KINDS = ["objective and reasonable", "subjective and unreasonable"]
TREES = {"nature": "Plants and land.", "trade": "Shops."}
HINDI = "यहाँ एक कुत्ता है, और वहाँ एक बिल्ली सोती है"


def first(*tokens: tuple[str, float]) -> Answer:
    """An answer with the probabilities of its first token."""
    probabilities = tuple((token, math.log(share)) for token, share in tokens)
    return Answer((Sample(tokens[0][0], "length", probabilities),), "scripted")


def answer_of_samples(*texts: str) -> Answer:
    """An answer of several samples."""
    return Answer(tuple(Sample(text, "stop") for text in texts), "scripted")


@dataclass(frozen=True)
class Case:
    """One question to a judge.

    Attributes:
        operation: Name of the operation.
        fields: What is asked, by field.
        says: What the model answers in turn; the last one again and again.
        replicate: Index of the repeat.
        temperature: Instead of the judge's own.
        judge: Options of the judge.
        logprobs: First-token log-probabilities that the server tells.
        structure: How the server gives JSON.
        seats: Members of a panel, all the same model; 1 for no panel.
    """

    operation: str
    fields: dict[str, Any]
    says: tuple[Any, ...]
    replicate: int = 0
    temperature: float | None = None
    judge: dict[str, Any] = field(default_factory=dict)
    logprobs: int = 0
    structure: str = "schema"
    seats: int = 1

    def answers(self) -> list[str | Answer]:
        """Return the replies; values are written as JSON."""
        return [
            reply
            if isinstance(reply, str | Answer)
            else json.dumps(reply, ensure_ascii=False)
            for reply in self.says
        ]

    def build(self) -> Operation[Any]:
        """The operation; tuples that begin with the name of a record are made such records."""
        kind: Any = OPERATIONS[self.operation]
        return kind(  # type: ignore[no-any-return]
            **{
                name: _build_value(value)
                for name, value in self.fields.items()
            }
        )


def _build_value(value: Any) -> Any:
    records = (OpenAnswer, JudgedFrame, TextMark, Question, TextQuestion)
    kinds = {kind.__name__: kind for kind in records}
    if isinstance(value, tuple) and value and value[0] in kinds:
        return kinds[value[0]](*value[1:])
    return (
        [_build_value(element) for element in value]
        if isinstance(value, list)
        else value
    )


def _rows(name: str, **values: Any) -> dict[str, Any]:
    key, column = next(iter(values.items()))
    return {name: [{"id": i, key: value} for i, value in enumerate(column)]}


FOUR = first(("4", 0.5), ("5", 0.25), ("The", 0.25))
NO_DIGIT = first(("The", 0.9), ("A", 0.1))
STATED = {
    "statements": [
        {"text": " A cat. ", "subject": "cat_0", "relevant": True},
        {"text": "It is sad.", "subject": None, "relevant": False},
        {"text": "It sleeps.", "subject": 0},
        {"text": "It is old.", "subject": 7, "relevant": "FALSE"},
    ]
}
RATED = {"reason": " clear ", "score": 7}
FAIR, UNFAIR = "A clear view of a cat.", "The cat has no bicycle."

CASES: dict[str, Case] = {
    # presence
    "presence: log-probabilities": Case(
        "presence",
        {"questions": UNITS, "target": "A man & a <cup>."},
        (FOUR,),
        logprobs=20,
    ),
    "presence: source is not sent": Case(
        "presence",
        {"questions": [ENTITY], "target": "A man.", "source": "A tall man."},
        (FOUR,),
        logprobs=5,
    ),
    "presence: samples": Case(
        "presence",
        {"questions": [ATTRIBUTE, RELATION], "target": "A cup."},
        (answer_of_samples("4", "5", "<think>1</think>3", "good", "2"),),
    ),
    "presence: three samples, warm, replicate": Case(
        "presence",
        {"questions": [ENTITY], "target": "A man."},
        (answer_of_samples("4", "5", "3"),),
        replicate=2,
        temperature=0.7,
        judge={"samples": 3},
    ),
    "presence: log-probabilities, own temperature": Case(
        "presence",
        {"questions": [ENTITY], "target": "A man."},
        (FOUR,),
        judge={"temperature": 0.3},
        logprobs=20,
    ),
    "presence: repair": Case(
        "presence",
        {"questions": [ENTITY], "target": "A."},
        (NO_DIGIT, FOUR),
        logprobs=20,
    ),
    "presence: repair fails": Case(
        "presence",
        {"questions": [ENTITY], "target": "A."},
        (NO_DIGIT,),
        logprobs=20,
    ),
    "presence: samples that are no grades": Case(
        "presence",
        {"questions": [ENTITY], "target": "A."},
        (answer_of_samples("a", "b", "3", "c", "d"),),
    ),
    "presence: nothing asked": Case(
        "presence", {"questions": [], "target": "A."}, ("",)
    ),
    "presence: panel": Case(
        "presence",
        {"questions": UNITS, "target": "A cup."},
        (FOUR, first(("1", 1.0))),
        replicate=1,
        logprobs=20,
        seats=2,
    ),
    # contradict
    "contradict": Case(
        "contradict",
        {"questions": UNITS, "target": "A short man beside a  blue <cup>."},
        (_rows("rows", instead=["Short man", None, "a blue", "a table"]),),
    ),
    "contradict: left out": Case(
        "contradict",
        {"questions": UNITS[:3], "target": "A blue cup."},
        (
            _rows("rows", instead=[None]),
            {"rows": [{"id": 2, "instead": "blue"}]},
        ),
    ),
    "contradict: nothing": Case(
        "contradict", {"questions": [], "target": "A cup."}, ("",)
    ),
    "contradict: panel": Case(
        "contradict",
        {"questions": UNITS[:2], "target": "A blue cup."},
        (
            _rows("rows", instead=["blue cup", "blue"]),
            _rows("rows", instead=["blue", None]),
            _rows("rows", instead=[None, None]),
        ),
        seats=3,
        replicate=1,
    ),
    # presence_list
    "presence_list": Case(
        "presence_list",
        {"questions": [("Question", "entity", "cup")], "target": "A <cup>."},
        ({"rows": [{"id": 0, "grade": 5, "quote": "cup"}]},),
    ),
    # check_criteria, answer_questions
    "check_criteria": Case(
        "check_criteria",
        {
            "criteria": ["A cup.", "A dog.", "It is short."],
            "text": "A  blue <cup>.",
            "demands": frozenset([2]),
        },
        (
            _rows("rows", state=["met", "not mentioned", "met"]),
            {"rows": [{"id": 0, "state": "met", "quote": "a blue ‹cup›"}]},
        ),
    ),
    # revise_text
    "revise_text": Case(
        "revise_text",
        {
            "text": "A blue <cup>. A cat sleeps.",
            "marks": [("TextMark", "mistake", "blue", (2, 6), "red")],
            "most": 100,
        },
        ("A red <cup>. A dog sleeps.", "A red <cup>. A cat sleeps."),
    ),
    "revise_text: new word": Case(
        "revise_text",
        {
            "text": "A cup.",
            "marks": [("TextMark", "omission", "table", None, "On a table.")],
            "most": 99,
        },
        ("A golden cup on a table.",),
        seats=2,
    ),
    "revise_text: nothing": Case(
        "revise_text", {"text": "A.", "marks": [], "most": 9}, ("",)
    ),
    # place_text, assess_in_context
    "place_text": Case(
        "place_text",
        {
            "text": "A cup.",
            "context": {"page": "A blue <cup>.", "link": "/cups"},
            "images": [RED],
        },
        (
            {
                "rows": [
                    {
                        "id": 0,
                        "answer": "no",
                        "evidence": "none",
                        "quote": None,
                    },
                    {
                        "id": 1,
                        "answer": "yes",
                        "evidence": "link",
                        "quote": "/cups",
                    },
                    {
                        "id": 2,
                        "answer": "yes",
                        "evidence": "page",
                        "quote": "blue",
                    },
                    {
                        "id": 3,
                        "answer": "no",
                        "evidence": "picture",
                        "quote": "CUP",
                    },
                ]
            },
            {
                "rows": [
                    {
                        "id": 2,
                        "answer": "simple",
                        "evidence": "page",
                        "quote": "green",
                    }
                ]
            },
        ),
    ),
    "place_text: panel": Case(
        "place_text",
        {"text": "", "context": {"caption": "Ada"}, "language": "German"},
        (
            {
                "rows": [
                    {
                        "id": i,
                        "answer": "unclear",
                        "evidence": "none",
                        "quote": None,
                    }
                    for i in range(4)
                ]
            },
        ),
        seats=2,
    ),
    "assess_in_context": Case(
        "assess_in_context",
        {
            "candidate": "A <cup>.",
            "aspects": ["overall"],
            "images": [RED],
            "context": {"caption": "A cup"},
        },
        ({"reason": "It is.", "overall": 4},),
    ),
    "answer_from_pictures": Case(
        "answer_from_pictures",
        {
            "questions": [("TextQuestion", "Colour?", ("red", "blue"))],
            "images": [RED],
        },
        ({"rows": [{"id": 0, "choice": "A", "quote": None}]},),
    ),
    "write_criteria": Case(
        "write_criteria",
        {"images": [RED], "n": 2},
        ({"criteria": [{"text": "A cup.", "dimension": "thing"}]},),
    ),
    "write_questions": Case(
        "write_questions",
        {"text": "A <cup>.", "language": "Hindi"},
        (
            {
                "questions": [
                    {"question": "q", "answer": "a", "wrong": ["b", "c", "d"]}
                ]
            },
        ),
    ),
    "answer_questions": Case(
        "answer_questions",
        {
            "questions": [
                ("TextQuestion", "Colour?", ("red", "blue")),
                ("TextQuestion", "What?", (), False),
            ],
            "text": "A blue cup.",
        },
        (
            {
                "rows": [
                    {"id": 0, "choice": "B", "quote": "blue"},
                    {"id": 1, "choice": "a cup", "quote": None},
                ]
            },
        ),
    ),
    "match_answers": Case(
        "match_answers",
        {
            "answers": [
                ("OpenAnswer", "Colour?", "red", "a <red>"),
                ("OpenAnswer", "Who?", "a", "b"),
            ]
        },
        (
            {"rows": [{"id": 0, "same": True, "grade": "4"}]},
            {"rows": [{"id": 1, "same": "false", "grade": 0}]},
        ),
    ),
    "match_answers: left out twice": Case(
        "match_answers",
        {"answers": [("OpenAnswer", "q?", "a", "b")], "language": "Hindi"},
        ({"rows": []},),
    ),
    "match_answers: nothing": Case("match_answers", {"answers": []}, ("",)),
    "name_subjects": Case(
        "name_subjects",
        {
            "mentions": [["<man 1>", "A man runs."], ["<dog>", "It barks."]],
            "text": "A  man <runs>.",
        },
        (
            {
                "rows": [
                    {"id": 0, "entity": " The  Runner", "quote": "a man"},
                    {"id": 1, "entity": None, "quote": None},
                ]
            },
        ),
    ),
    # rewrite
    "rewrite": Case(
        "rewrite", {"phrase": "man holds <cup>"}, ('"the man holding a cup."',)
    ),
    "rewrite: replicate": Case(
        "rewrite", {"phrase": "a"}, ("the a",), replicate=3, temperature=1.5
    ),
    "rewrite: repair": Case(
        "rewrite", {"phrase": "a"}, ("Sure!\nthe a", "the a")
    ),
    "rewrite: repair fails": Case("rewrite", {"phrase": "a"}, ("word " * 21,)),
    "rewrite: no word": Case("rewrite", {"phrase": "a"}, ("...", "", "the a")),
    "rewrite: reasoning only": Case(
        "rewrite", {"phrase": "a"}, ("<think>hm", "the a")
    ),
    "rewrite: cut off": Case(
        "rewrite",
        {"phrase": "a"},
        (Answer((Sample("the", "length"),), "scripted"),),
    ),
    "rewrite: refused": Case(
        "rewrite",
        {"phrase": "a"},
        (Answer((Sample("", "content_filter"),), "scripted"),),
    ),
    "rewrite: panel": Case(
        "rewrite", {"phrase": "a"}, ("the a", "the b"), replicate=2, seats=3
    ),
    # vary
    "vary": Case(
        "vary",
        {"text": "A <dog> barks.", "manner": "tense"},
        ("A dog barked.",),
    ),
    "vary: as it was": Case(
        "vary",
        {"text": "A dog.", "manner": "paraphrase"},
        ("A dog. ", "...", "A hound."),
    ),
    "vary: empty": Case("vary", {"text": " ", "manner": "summary"}, ("",)),
    # decompose
    "decompose": Case(
        "decompose", {"text": "A cat sleeps <here>."}, (STATED,)
    ),
    "decompose: language": Case(
        "decompose",
        {"text": HINDI, "language": "Hindi"},
        (STATED["statements"],),
        replicate=1,
    ),
    "decompose: in words": Case(
        "decompose", {"text": "A."}, (STATED,), structure="text"
    ),
    "decompose: by tool": Case(
        "decompose", {"text": "A."}, (STATED,), structure="tool"
    ),
    "decompose: in a fence": Case(
        "decompose",
        {"text": "A."},
        (f"Here:\n```json\n{json.dumps(STATED)}\n```",),
    ),
    "decompose: none": Case(
        "decompose", {"text": "Hm."}, ({"statements": []},)
    ),
    "decompose: single quotes": Case(
        "decompose",
        {"text": "A."},
        ("{'statements': [{'text': 'A.', 'relevant': True,}]}",),
    ),
    "decompose: panel": Case(
        "decompose",
        {"text": "A."},
        (STATED, {"statements": []}),
        replicate=1,
        seats=2,
    ),
    # match
    "match": Case(
        "match",
        {"claims": list("abcdefgh"), "references": ["x", "<y>"]},
        (
            _rows(
                "matches",
                reference=["1", None, "None", -1, 2, [1, 0], [], " 0 "],
            ),
        ),
    ),
    "match: language": Case(
        "match",
        {"claims": ["a"], "references": ["x"], "language": "Hindi"},
        (_rows("matches", reference=[0]),),
        replicate=1,
        temperature=1.0,
    ),
    "match nearest": Case(
        "match_nearest",
        {"claims": ["a", "b"], "references": ["x"], "language": "Hindi"},
        (_rows("matches", reference=[0, None]),),
    ),
    "match: rows alone": Case(
        "match",
        {"claims": ["a"], "references": ["x"]},
        (_rows("m", reference=[0])["m"],),
    ),
    "match: left out": Case(
        "match",
        {"claims": ["a", "b", "c"], "references": ["x", "y"]},
        (
            _rows("matches", reference=[1]),
            {"matches": [{"id": 2, "reference": 0}]},
        ),
    ),
    "match: left out, then an id that was not asked": Case(
        "match",
        {"claims": ["a", "b", "c"], "references": ["x", "y"]},
        (
            {"matches": [{"id": 1, "reference": 0}]},
            {"matches": [{"id": 1, "reference": 0}]},
            {
                "matches": [
                    {"id": 0, "reference": 0},
                    {"id": 2, "reference": 1},
                ]
            },
        ),
    ),
    "match: empty sides": Case(
        "match", {"claims": ["a"], "references": []}, ("",)
    ),
    "match: nothing": Case(
        "match", {"claims": [], "references": ["x"]}, ("",)
    ),
    "match: panel": Case(
        "match",
        {"claims": ["a", "b"], "references": ["x", "y", "z"]},
        (
            _rows("matches", reference=[0, 1]),
            _rows("matches", reference=[0, 2]),
            _rows("matches", reference=[2, 0]),
        ),
        replicate=1,
        seats=3,
    ),
    # verify
    "verify: picture": Case(
        "verify",
        {"claims": ["a", "b"], "images": [RED]},
        (_rows("rows", supported=[1, "0"]),),
    ),
    "verify: reference": Case(
        "verify",
        {"claims": ["a", "a"], "reference": "R <i>"},
        (_rows("rows", supported=[True, " False "]),),
        temperature=0.3,
        replicate=4,
    ),
    "verify: both, language": Case(
        "verify",
        {
            "claims": ["a"],
            "images": [RED, BLUE],
            "reference": "R",
            "language": "Hindi",
        },
        (_rows("rows", supported=[1.0]),),
    ),
    "verify: empty reference": Case(
        "verify",
        {"claims": ["a"], "reference": ""},
        (_rows("rows", supported=[False]),),
    ),
    "verify: left out": Case(
        "verify",
        {"claims": list("abc"), "reference": "R"},
        (
            {
                "rows": [
                    {"id": 2, "supported": True},
                    {"id": 0, "supported": False},
                ]
            },
            {"rows": [{"id": 1, "supported": True}]},
        ),
    ),
    "verify: left out twice": Case(
        "verify",
        {"claims": ["a", "b"], "reference": "R"},
        (_rows("rows", supported=[True]), {"rows": []}),
    ),
    "verify: the same row twice": Case(
        "verify",
        {"claims": ["a"], "reference": "R"},
        ({"rows": [{"id": 0, "supported": True}] * 2},),
    ),
    "verify: no evidence": Case("verify", {"claims": ["a"]}, ("",)),
    "verify: nothing": Case("verify", {"claims": [], "reference": "R"}, ("",)),
    "verify: panel": Case(
        "verify",
        {"claims": ["a", "b"], "images": [RED], "reference": "R"},
        (
            _rows("rows", supported=[True, True]),
            _rows("rows", supported=[True, False]),
            _rows("rows", supported=[False, False]),
        ),
        temperature=0.3,
        seats=3,
    ),
    # caption
    "caption": Case("caption", {"images": [RED]}, (" A cat. ",)),
    "caption: all": Case(
        "caption",
        {
            "images": [RED, BLUE],
            "language": "German",
            "words": (150, 200),
            "context": "Old photographs.",
            "note": "june <1928>",
        },
        ("Ein Hafen.",),
        replicate=1,
        temperature=0.9,
    ),
    "caption: empty": Case("caption", {"images": [RED]}, (" ", "A cat.")),
    "caption: no picture": Case("caption", {"images": []}, ("",)),
    "caption: panel": Case(
        "caption", {"images": [RED]}, ("A cat.", "A dog."), seats=2
    ),
    "caption again": Case(
        "caption_again",
        {"images": [RED], "earlier": "A <long> text.", "words": (1, 2)},
        (" A cat. ",),
    ),
    # review
    "review": Case(
        "review",
        {"images": [RED], "kinds": KINDS},
        ({"reviews": [FAIR, f" {UNFAIR}"]},),
    ),
    "review: all": Case(
        "review",
        {
            "images": [RED, BLUE],
            "kinds": KINDS,
            "language": "Japanese",
            "n_words": 60,
        },
        ({"reviews": [FAIR, UNFAIR]},),
        temperature=1.0,
        replicate=1,
    ),
    "review: no picture": Case(
        "review", {"images": [], "kinds": KINDS}, ("",)
    ),
    # ratings
    "rate_sequence: pictures": Case(
        "rate_sequence",
        {"frames": SEEN_FRAMES, "context": "Old.", "anchors": True},
        (RATED,),
    ),
    "rate_sequence: words": Case(
        "rate_sequence", {"frames": TOLD_FRAMES}, ({"score": "7"},)
    ),
    "rate_sequence: replicate": Case(
        "rate_sequence",
        {"frames": TOLD_FRAMES, "context": "Old."},
        ({"reason": None, "score": 3.0},),
        replicate=2,
        temperature=0.7,
    ),
    "rate_sequence: mixed": Case(
        "rate_sequence", {"frames": [SEEN_FRAMES[0], TOLD_FRAMES[0]]}, (RATED,)
    ),
    "rate_sequence: no words": Case(
        "rate_sequence",
        {"frames": [TOLD_FRAMES[0], ("JudgedFrame",)]},
        (RATED,),
    ),
    "rate_sequence: panel": Case(
        "rate_sequence",
        {"frames": SEEN_FRAMES},
        ({"reason": "x", "score": 4}, {"reason": "y", "score": 9}),
        replicate=1,
        temperature=0.7,
        seats=2,
    ),
    "rate_transition: pictures": Case(
        "rate_transition",
        {"first": SEEN_FRAMES[0], "second": SEEN_FRAMES[1], "context": "Old."},
        (RATED,),
    ),
    "rate_transition: words": Case(
        "rate_transition",
        {"first": TOLD_FRAMES[0], "second": TOLD_FRAMES[1]},
        (RATED,),
        replicate=1,
    ),
    "rate_transition: breaks": Case(
        "rate_transition",
        {"first": TOLD_FRAMES[0], "second": TOLD_FRAMES[1]},
        (
            {
                "reason": "x",
                "score": 2,
                "breaks": ["people", "place", "people"],
            },
        ),
    ),
    "rate_transition: no words": Case(
        "rate_transition",
        {"first": TOLD_FRAMES[0], "second": ("JudgedFrame",)},
        (RATED,),
    ),
    "rate_transition: panel": Case(
        "rate_transition",
        {"first": TOLD_FRAMES[0], "second": TOLD_FRAMES[1]},
        ({"reason": "x", "score": 5}, {"reason": "y", "score": 8}),
        seats=2,
    ),
    # compare
    "compare": Case(
        "compare",
        {"first": "A cup.", "second": "A <dog>.", "images": [RED]},
        ({"reason": "No dog.", "better": "first"},),
    ),
    "compare: equal texts": Case(
        "compare",
        {"first": "A  cup.", "second": "A cup.", "images": [RED]},
        ("",),
    ),
    "compare: panel": Case(
        "compare",
        {"first": "A", "second": "B", "images": [RED], "language": "German"},
        (
            {"reason": "a", "better": "first"},
            {"reason": "b", "better": "second"},
        ),
        replicate=1,
        seats=2,
    ),
    # rank
    "rank: pictures": Case(
        "rank",
        {"texts": ["good", "<bad>"], "images": [RED], "language": "Japanese"},
        ({"ranks": ["2", 1.0]},),
    ),
    "rank: words": Case(
        "rank",
        {"texts": ["a", "b", "c"]},
        ({"ranks": [2, 3, 1]},),
        replicate=1,
        temperature=0.5,
    ),
    "rank: one text": Case("rank", {"texts": ["a"]}, ("",)),
    "rank: panel": Case(
        "rank",
        {"texts": ["a", "b", "c"], "images": [BLUE]},
        ({"ranks": [1, 2, 3]}, {"ranks": [3, 1, 2]}),
        replicate=1,
        seats=2,
    ),
    # perplexity
    "perplexity": Case(
        "perplexity",
        {"texts": ["one", "two", "one"], "prompt": "Say.", "images": [RED]},
        ("",),
    ),
    "perplexity: words": Case(
        "perplexity", {"texts": ["one"], "prompt": "Say."}, ("",)
    ),
    "perplexity: panel": Case(
        "perplexity", {"texts": ["one"], "prompt": "Say."}, ("",), seats=2
    ),
    # classify
    "classify: pictures": Case(
        "classify",
        {"categories": TREES, "images": [RED]},
        (
            {
                "categories": [
                    {"name": "nature", "rating": "High"},
                    {"name": "trade", "rating": "Low"},
                ]
            },
        ),
    ),
    "classify: text": Case(
        "classify",
        {"categories": TREES, "text": "A <tree>."},
        ({"categories": []},),
        replicate=1,
        temperature=0.2,
    ),
    "classify: empty text": Case(
        "classify", {"categories": TREES, "text": ""}, ({"categories": []},)
    ),
    "classify: nothing to sort": Case(
        "classify", {"categories": TREES}, ("",)
    ),
    "classify: both": Case(
        "classify", {"categories": TREES, "images": [RED], "text": "A."}, ("",)
    ),
    "classify: no categories": Case(
        "classify", {"categories": {}, "text": "A."}, ("",)
    ),
    "classify: panel": Case(
        "classify",
        {"categories": TREES, "text": "A."},
        ({"categories": []},),
        seats=2,
    ),
    # translate
    "translate": Case(
        "translate",
        {"text": "Ein <Hund> b", "source": "German", "target": "English"},
        (
            {
                "clauses": [
                    {"source": "Ein ‹Hund›", "translation": "A dog"},
                    {"source": "b", "translation": "c"},
                ]
            },
        ),
    ),
    "translate: left out": Case(
        "translate",
        {"text": HINDI, "source": "Hindi", "target": "English"},
        (
            {"clauses": [{"source": "यहाँ एक कुत्ता है", "translation": "x"}]},
            {"clauses": [{"source": HINDI, "translation": "x"}]},
        ),
        replicate=1,
        temperature=0.1,
    ),
    "translate: empty": Case(
        "translate",
        {"text": "", "source": "a", "target": "b"},
        ({"clauses": []},),
    ),
    # assess
    "assess: references": Case(
        "assess",
        {
            "candidate": "A <cat>.",
            "aspects": ("overall", "mistakes", "omissions"),
            "references": ["A cat.", "A tabby."],
        },
        ({"reason": " r ", "overall": 3, "mistakes": "5", "omissions": 1.0},),
    ),
    "assess: both, plain": Case(
        "assess",
        {
            "candidate": "A cat.",
            "aspects": ("mistakes",),
            "references": ["A cat."],
            "images": [RED],
            "high": 10,
            "rubric": False,
        },
        ({"mistakes": 10},),
        replicate=1,
        temperature=0.4,
    ),
    "assess: picture": Case(
        "assess",
        {"candidate": "A cat.", "aspects": ("overall",), "images": [RED]},
        ({"reason": "r", "overall": 5},),
    ),
    "assess: same picture": Case(
        "assess",
        {
            "candidate": "A cat.",
            "aspects": ("same_picture",),
            "references": ["A cat."],
            "low": 0,
            "high": 100,
        },
        ({"reason": "r", "same_picture": 40},),
    ),
    "assess: too high": Case(
        "assess",
        {
            "candidate": "A cat.",
            "aspects": ("mistakes", "overall"),
            "references": ["A cat."],
        },
        ({"reason": "r", "mistakes": 6, "overall": "x"}, {"mistakes": 5}),
    ),
    "assess: no evidence": Case(
        "assess", {"candidate": "A.", "aspects": ("overall",)}, ("",)
    ),
    "assess: no aspect": Case(
        "assess",
        {"candidate": "A.", "aspects": (), "references": ["A."]},
        ("",),
    ),
    "assess: unknown aspect": Case(
        "assess",
        {"candidate": "A.", "aspects": ("style",), "references": ["A."]},
        ("",),
    ),
    "assess: panel": Case(
        "assess",
        {
            "candidate": "A cat.",
            "aspects": ("overall", "mistakes"),
            "references": ["A cat."],
            "images": [RED],
        },
        (
            {"reason": "a", "overall": 2, "mistakes": 5},
            {"reason": "b", "overall": 5, "mistakes": 5},
        ),
        replicate=1,
        temperature=0.5,
        seats=2,
    ),
    # grade
    "grade: log-probabilities": Case(
        "grade",
        {"candidate": "A <cat>.", "images": [RED]},
        (first(("10", 0.5), ("7", 0.25), ("3", 0.25)),),
        logprobs=20,
    ),
    "grade: samples, references": Case(
        "grade",
        {
            "candidate": "A cat.",
            "images": [RED, BLUE],
            "references": ["A cat."],
        },
        (answer_of_samples("9", "8", "0", "9", "x"),),
        replicate=1,
        temperature=0.4,
    ),
    "grade: no picture": Case(
        "grade", {"candidate": "A.", "images": []}, ("",)
    ),
    "grade: panel": Case(
        "grade",
        {"candidate": "A.", "images": [RED], "references": ["B."]},
        (first(("7", 1.0)), first(("3", 0.5), ("x", 0.5))),
        replicate=1,
        logprobs=20,
        seats=2,
    ),
}
"""By name. A name says what is special about the case."""

# Answers that cannot be used: what the judge is told about them is part of the second question.
_BAD: dict[str, tuple[Case, tuple[Any, ...]]] = {
    "decompose": (
        CASES["decompose"],
        (
            "not JSON",
            "7",
            {"facts": []},
            {"statements": {"text": "A."}},
            {"statements": ["A cat."]},
            {"statements": [{"subject": None}]},
            {"statements": [{"text": " "}]},
            {"statements": [{"text": 5}]},
            {"statements": [{"text": "A.", "relevant": "maybe"}]},
            "```json\n{}\n```\n```json\n{}\n```",
        ),
    ),
    "match": (
        CASES["match: language"],
        (
            {"matches": [{"id": 0}]},
            {"matches": [{"reference": 0}]},
            {"matches": [{"id": 1, "reference": 0}]},
            {"matches": [{"id": 0, "reference": "the first"}]},
            {"matches": [{"id": 0, "reference": True}]},
            {
                "matches": [
                    {"id": 0, "reference": 0},
                    {"id": 0, "reference": None},
                    "x",
                ]
            },
            {"matches": 3},
            [5],
        ),
    ),
    "verify": (
        CASES["verify: picture"],
        (
            {
                "rows": [
                    {"id": 0, "supported": True},
                    {"id": 0, "supported": False},
                    {"id": 9},
                ]
            },
            {"rows": [{"id": 5, "supported": True}]},
            {"rows": [{"id": 0, "supported": "yes"}]},
            {"rows": [{"id": 0, "supported": 2}]},
            {"rows": [{"id": "one", "supported": True}]},
            {"0": True},
        ),
    ),
    "review": (
        CASES["review"],
        (
            {"reviews": [FAIR]},
            {"reviews": [FAIR, 3]},
            {"reviews": [FAIR, " "]},
            {"reviews": [FAIR, FAIR]},
            {"reviews": [FAIR, "- A cat, sitting still."]},
            {"reviews": [FAIR, 2 * UNFAIR]},
            {"reviews": FAIR},
            [FAIR, UNFAIR],
        ),
    ),
    "rate_sequence": (
        CASES["rate_sequence: words"],
        (
            {"reason": "r"},
            {"reason": "r", "score": 11},
            {"reason": "r", "score": 5.5},
            {"reason": "r", "score": True},
            {"reason": "r", "score": "a long answer " * 9},
            [7],
        ),
    ),
    "rate_transition": (
        CASES["rate_transition: words"],
        (
            {"score": 0},
            {"score": 1, "breaks": ["mood"]},
            {"score": 1, "breaks": "place"},
        ),
    ),
    "compare": (
        CASES["compare"],
        (
            {"reason": "x", "better": "both"},
            {"reason": "x"},
            {"better": None, "reason": "x"},
            "first",
        ),
    ),
    "rank": (
        CASES["rank: words"],
        (
            {"ranks": [1, 1, 2]},
            {"ranks": [1, 2]},
            {"ranks": [0, 1, 2]},
            {"ranks": [1, 2, "third"]},
            {"ranks": "1, 2, 3"},
            {"rank": [1, 2, 3]},
        ),
    ),
    "classify": (
        CASES["classify: text"],
        (
            {"categories": [{"name": "war", "rating": "Low"}, {"name": 5}]},
            {"categories": [{"name": "war"}]},
            {"categories": [{"name": "nature", "rating": "high"}]},
            {"categories": [{"name": "nature", "rating": "Low"}] * 2},
            {"categories": [{"name": n, "rating": "High"} for n in TREES]},
            {"categories": ["nature"]},
            {"categories": None},
        ),
    ),
    "translate": (
        CASES["translate"],
        (
            {"clauses": []},
            {"clauses": [{"source": "Ein", "translation": "A"}]},
            {"clauses": [{"source": "Ein", "translation": ""}]},
            {"clauses": [{"translation": "A"}]},
            {"clauses": [[]]},
        ),
    ),
    "assess": (
        CASES["assess: references"],
        (
            {"overall": 3, "mistakes": 0, "omissions": 9},
            {"mistakes": 3},
            {"overall": [3], "mistakes": 3, "omissions": 3},
            [],
        ),
    ),
    "grade": (
        CASES["grade: log-probabilities"],
        (NO_DIGIT, answer_of_samples("7")),
    ),
}

for _name, (_case, _answers) in _BAD.items():
    for _number, _bad in enumerate(_answers):
        CASES[f"{_name}: bad {_number}"] = Case(
            **{**_case.__dict__, "says": (_bad, *_case.says)},
        )
        CASES[f"{_name}: bad {_number} twice"] = Case(
            **{**_case.__dict__, "says": (_bad, _bad)}
        )
