"""Prompt, schema and reading of an operation agree.

Each answer that a schema lets through has one reading, or a refusal that names a rule which no
schema can state; and what a prompt forbids does not pass its schema.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import jsonschema
import pytest

from beholder.backends import Image, Request, Scripted
from beholder.errors import ConfigError, ItemError
from beholder.judges import LLMJudge
from beholder.judges.operations import (
    AnswerFromPictures,
    AnswerQuestions,
    Assess,
    CheckCriteria,
    Classify,
    Decompose,
    JudgedFrame,
    MatchAnswers,
    MatchStatements,
    NameSubjects,
    OpenAnswer,
    Operation,
    PlaceText,
    PresenceList,
    Question,
    Rank,
    RateSequence,
    RateTransition,
    TextQuestion,
    Translate,
    WriteCriteria,
    WriteQuestions,
)
from beholder.judges.operations.answer import FromText
from toy.cases import each_case
from toy.request_cases import CASES

PICTURE = Image(b"", "image/png")
TEXT = "A grey cat sits on a chair."
SILENT = "The description does not say."
MOST_ROWS = 40
"""Combinations of extreme values that are tried of one object."""

# Further variants of prompts and rows than tests of requests have.
VARIANTS: dict[str, Operation[Any]] = {
    "options": AnswerQuestions([TextQuestion("q?", ("a", "b", "c"))], TEXT),
    "options, required": AnswerQuestions(
        [TextQuestion("q?", ("a", "b"), False)], TEXT
    ),
    "options with one that says so": AnswerQuestions(
        [
            TextQuestion("q?", ("a", SILENT, "b"), False),
            TextQuestion("r?", ("a", "unknown")),
        ],
        TEXT,
    ),
    "open": AnswerQuestions([TextQuestion("q?")], TEXT),
    "open, required": AnswerQuestions([TextQuestion("q?", (), False)], TEXT),
    "all kinds of questions": AnswerQuestions(
        [
            TextQuestion("q?", ("a", "b")),
            TextQuestion("r?", (), False),
            TextQuestion("s?"),
        ],
        TEXT,
    ),
    "no text": AnswerQuestions([TextQuestion("q?", ("a", "b"), False)], ""),
    "pictures": AnswerFromPictures(
        [
            TextQuestion("q?", ("a", "b")),
            TextQuestion("r?", ("a", "b"), False),
        ],
        images=[PICTURE],
    ),
    "criteria": CheckCriteria(["a", "b"], TEXT, frozenset([1])),
    "facts": WriteCriteria(text="A cat.", n=1),
    "events": WriteCriteria(text="A cat.", kind="events"),
    "place, unseen": PlaceText(
        "A cup", {"page": "A cup of tea", "caption": TEXT}
    ),
    "aspects": Assess(
        "A cat.", ("overall", "mistakes"), references=["A cat."], low=0, high=3
    ),
}

UNSTATABLE = {
    "rank": "must hold each of 1 to",
    "classify": "each only once|at most one category may be rated High",
    "review": "must hold|are the same|has a list|at most 1.5 times",
    "translate": "leave out|must be a text",
    "decompose": "must be a text",
    "write_criteria": "must be a text",
    "write_questions": "must be a text|must all differ",
    "verify": "gave it rows that differ",
    "match_answers": "gave it rows that differ",
    "presence_list": "gave it rows that differ",
}
"""Rules that no schema states, by operation, as the refusal of an answer names them. Rows that
contradict one another are one: each operation else has an unread state for them."""


def operations() -> dict[str, Operation[Any]]:
    """Every operation with every set of fields that tests of requests ask, and the variants."""
    operations_by_name = dict(VARIANTS)
    for name, case in CASES.items():
        with suppress(ItemError):  # a question that makes no sense
            operation = case.build()
            if operation not in operations_by_name.values():
                operations_by_name[name] = operation
    return operations_by_name


OPERATION_BY_NAME = operations()


def words_of(operation: Operation[Any]) -> str:
    """A word of the text under judgment, for quotes that are there."""
    text = (
        getattr(operation, "text", "")
        or getattr(operation, "target", "")
        or "cat"
    )
    return str(text).split()[0] if str(text).split() else "cat"


def extremes(schema: Mapping[str, Any], word: str) -> list[Any]:
    """Values at the edges of a schema."""
    if "anyOf" in schema:
        return [
            value
            for option in schema["anyOf"]
            for value in extremes(option, word)
        ]
    if "enum" in schema:
        return list(schema["enum"])
    kind = schema["type"]
    if isinstance(kind, list):
        return [
            value
            for type_name in kind
            for value in extremes({**schema, "type": type_name}, word)
        ]
    if kind == "object":
        fields = schema["properties"]
        values = [extremes(inner, word) for inner in fields.values()]
        combinations = list(itertools.product(*values))
        step = 1 + len(combinations) // MOST_ROWS
        return [
            dict(zip(fields, row, strict=True)) for row in combinations[::step]
        ]
    if kind == "array":
        return list(lists(schema, word))
    longest = min(schema.get("maxLength", 60), 60)
    plain = {
        "string": [word, "", " ", "z" * longest],
        "boolean": [True, False],
        "null": [None],
    }
    return plain.get(kind, [0, -1, 10**6])


@cache
def known_extremes(schema: str, word: str) -> list[Any]:
    return extremes(json.loads(schema), word)


@cache
def validator(schema: str) -> Any:
    """The validator of a schema, which is checked once."""
    kind = jsonschema.validators.validator_for(json.loads(schema))
    kind.check_schema(json.loads(schema))
    return kind(json.loads(schema))


def lists(schema: Mapping[str, Any], word: str) -> Iterator[list[Any]]:
    """Shortest and longest lists of equal and of different values; rows with and without ids."""
    low, high = schema.get("minItems", 0), schema.get("maxItems", 3)
    items = extremes(schema["items"], word)
    if low == 0:
        yield []
    if isinstance(items[0], dict) and "id" in items[0]:
        ids = sorted({row["id"] for row in items})
        by_id = [
            extremes_of_row(schema["items"], index, word) for index in ids
        ]
        for place in range(max(map(len, by_id))):
            yield [rows[place % len(rows)] for rows in by_id]
        first = by_id[0]
        yield [first[0]] * high  # all about one item
        yield [first[place % len(first)] for place in range(high)]
        return
    for value in items:
        yield [value] * max(low, 1)
    for place in range(len(items)):
        yield [
            items[(place + step) % len(items)] for step in range(min(high, 12))
        ]


def extremes_of_row(
    schema: Mapping[str, Any], index: int, word: str
) -> list[Any]:
    """The extreme rows of one item, of each form that it may have."""
    values = []
    for form in schema.get("anyOf", [schema]):
        if index in form["properties"]["id"]["enum"]:
            fields = {
                **form["properties"],
                "id": {"type": "integer", "enum": [index]},
            }
            values += extremes({**form, "properties": fields}, word)
    return values


def schema_of(operation: Operation[Any]) -> Mapping[str, Any] | None:
    """The schema of the first request; None if it asks for no JSON, or nobody."""
    backend = Scripted(lambda request: "not JSON")
    with suppress(
        ItemError, ConfigError
    ):  # a scripted model does not measure perplexity
        asyncio.run(LLMJudge(backend).ask(operation))
    return backend.requests[0].schema if backend.requests else None


def reading(
    operation: Operation[Any], place: int, *, turned: bool = False
) -> tuple[str, Any]:
    """Read the extreme answer at a place, for any rows that are asked about."""
    word = words_of(operation)

    def answer(request: Request) -> str:
        assert request.schema is not None
        written = json.dumps(request.schema)
        values = known_extremes(written, word)
        value = values[place % len(values)]
        validator(written).validate(value)
        if turned:
            value = {name: rows[::-1] for name, rows in value.items()}
        return json.dumps(value)

    try:
        return "value", asyncio.run(LLMJudge(Scripted(answer)).ask(operation))
    except ItemError as error:
        return "refusal", str(error)


@pytest.mark.parametrize(
    "name",
    [n for n, o in OPERATION_BY_NAME.items() if isinstance(o, FromText)],
)
def test_an_answer_with_words_of_the_text_or_with_none_where_none_are_due_is_never_unread(
    name: str,
) -> None:
    operation = OPERATION_BY_NAME[name]
    word, schema = words_of(operation), schema_of(operation)
    if schema is None or isinstance(
        operation, PlaceText
    ):  # evidence is in parts of a page
        return
    for place, value in enumerate(extremes(schema, word)):
        _, outcome = reading(operation, place)
        by_id = {row["id"]: row for row in value["rows"]}
        if len(by_id) < len(value["rows"]):
            continue  # some rows were left out
        for index, row in by_id.items():
            answer = next(
                v for column, v in row.items() if column not in ("id", "quote")
            )
            is_blank = isinstance(answer, str) and not answer.strip()
            if row["quote"] in (word, None) and not is_blank:
                assert not outcome[index].unread, row


def is_of_rows(schema: Mapping[str, Any]) -> bool:
    (only, *further) = schema["properties"].values()
    row = only.get("items", {})
    return not further and "id" in row.get("anyOf", [row])[0].get(
        "properties", {}
    )


@pytest.mark.parametrize("name", OPERATION_BY_NAME)
def test_whatever_passes_the_schema_is_read_or_refused_by_a_rule_no_schema_can_state(
    name: str,
) -> None:
    operation = OPERATION_BY_NAME[name]
    schema = schema_of(operation)
    if schema is None:
        return  # an answer in words, or none
    refusable = UNSTATABLE.get(operation.name)
    for place in range(len(extremes(schema, words_of(operation)))):
        kind, outcome = reading(operation, place)
        if kind == "refusal":
            assert refusable is not None, outcome
            assert any(rule in outcome for rule in refusable.split("|")), (
                outcome
            )
        if is_of_rows(schema):  # the order of rows says nothing
            turned_kind, turned = reading(operation, place, turned=True)
            assert turned_kind == kind
            assert kind == "refusal" or turned == outcome


def rows(*values: Mapping[str, Any]) -> dict[str, Any]:
    return {"rows": [{"id": i, **row} for i, row in enumerate(values)]}


def answered(choice: object, quote: object = "cat") -> dict[str, Any]:
    return rows({"choice": choice, "quote": quote})


STEP = RateTransition(JudgedFrame(caption="a"), JudgedFrame(caption="b"))
STORY = RateSequence([JudgedFrame(caption="a"), JudgedFrame(caption="b")])
UNITS = PresenceList([Question("entity", "cat")], TEXT)

# The prompt says: a letter that is shown; an answer where one is required; words as evidence of an
# answer, and none of silence; a demand is met or not; each question of a page has its own answers.
FORBIDDEN: list[tuple[Operation[Any], object]] = [
    (VARIANTS["options"], answered("D")),
    (VARIANTS["options"], answered("a")),
    (VARIANTS["options"], answered("")),
    (VARIANTS["options"], answered("A", None)),
    (VARIANTS["options"], answered(None, "cat")),
    (VARIANTS["options"], {"rows": []}),
    (VARIANTS["options, required"], answered(None, None)),
    (VARIANTS["options, required"], answered("not said", None)),
    (VARIANTS["options with one that says so"],
     rows({"choice": None, "quote": None}, {"choice": "A", "quote": "cat"})),
    (VARIANTS["options with one that says so"],
     rows({"choice": "A", "quote": None}, {"choice": None, "quote": None})),
    (VARIANTS["options with one that says so"],
     rows({"choice": "A", "quote": None}, {"choice": "A", "quote": None})),
    (VARIANTS["open"], answered("a cat", None)),
    (VARIANTS["open, required"], answered(None, None)),
    (VARIANTS["no text"], answered(None, None)),
    (VARIANTS["pictures"],
     rows({"choice": None, "quote": None}, {"choice": None, "quote": None})),
    (VARIANTS["criteria"],
     rows({"state": "met", "quote": None}, {"state": "met", "quote": None})),
    (VARIANTS["criteria"],
     rows({"state": "not mentioned", "quote": "cat"}, {"state": "met", "quote": None})),
    (VARIANTS["criteria"],
     rows({"state": "met", "quote": "cat"}, {"state": "not mentioned", "quote": None})),
    (NameSubjects([("<a>", "A cat sits.")], TEXT), rows({"entity": "x", "quote": None})),
    (NameSubjects([("<a>", "A cat sits.")], TEXT), rows({"entity": None, "quote": "cat"})),
    *[
        (
            VARIANTS["place, unseen"],
            rows(*({"answer": answer, "evidence": "none", "quote": None} for answer in answers)),
        )
        for answers in (
            ("yes", "no", "no", "no"),
            ("no", "effect", "no", "no"),
            ("no", "no", "yes", "no"),
            ("no", "no", "no", "simple"),
        )
    ],
    (VARIANTS["place, unseen"],
     rows(*[{"answer": "no", "evidence": "picture", "quote": None}] * 4)),
    (VARIANTS["aspects"], {"reason": "", "overall": 4, "mistakes": 0}),
    (VARIANTS["aspects"], {"reason": "", "overall": 3}),
    (VARIANTS["facts"], {"criteria": [{"text": "a", "dimension": "b"}] * 2}),
    (WriteQuestions(text="A."), {"questions": [{"question": "q", "answer": "a", "wrong": ["b"]}]}),
    (Translate("A.", "English", "Hindi"), {"clauses": []}),
    (Rank(["a", "b"]), {"ranks": [1]}),
    (Rank(["a", "b"]), {"ranks": [0, 1]}),
    (Classify({"a": "b"}, text="t"), {"categories": [{"name": "c", "rating": "Low"}]}),
    (Classify({"a": "b"}, text="t"), {"categories": [{"name": "a", "rating": "low"}]}),
    (STORY, {"reason": "", "score": 11}),
    (STORY, {"reason": "", "score": None}),
    (STEP, {"reason": "", "score": 5, "breaks": ["mood"]}),
    (UNITS, rows({"grade": 0, "quote": None})),
    (MatchAnswers([OpenAnswer("q?", "a", "b")]), rows({"same": None, "grade": 5})),
    (MatchAnswers([OpenAnswer("q?", "a", "b")]), rows({"same": True, "grade": 6})),
    (MatchStatements(["a"], ["x"]), {"matches": [{"id": 0, "reference": 1}]}),
    (MatchStatements(["a"], ["x"]), {"matches": [{"id": 1, "reference": 0}]}),
    (Decompose("A."), {"statements": [{"text": "A.", "subject": None, "relevant": None}]}),
]  # fmt: skip


@each_case("place", range(len(FORBIDDEN)))
def test_answers_that_the_prompt_forbids_do_not_pass_the_schema(
    place: int,
) -> None:
    operation, answer = FORBIDDEN[place]
    schema = schema_of(operation)
    assert schema is not None
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(answer, schema)


# Beside each question the words that the judge may use: an option that says that the text does not
# answer stands in the place of null, with and without a schema.
@each_case(
    ("option", "is_silent"),
    [
        (SILENT, True),
        ("The text doesn’t say", True),
        (
            "The image does not show it.",
            False,
        ),  # of the picture, not of the text
        ("Cannot be answered from the caption", True),
        ("cannot be determined", True),
        ("Can't tell", True),
        ("not mentioned in the text", True),
        ("Not enough information", True),
        ("Unknown", True),
        ("none", False),
        ("no", False),
        ("nothing", False),
        ("an unknown man", False),
        ("not a dog", False),
        ("unclear water", False),
    ],
)
def test_null_is_the_option_that_says_that_the_text_does_not_answer(
    option: str, is_silent: bool
) -> None:
    for third in (True, False):
        operation = AnswerQuestions(
            [TextQuestion("q?", ("a", option), third)], TEXT
        )
        backend = Scripted(lambda request: json.dumps(answered(None, None)))
        (answer,) = asyncio.run(LLMJudge(backend).ask(operation))
        prompt = backend.requests[0].messages[-1].text
        marked = "(an answer is required)" in prompt
        assert marked == (not third and not is_silent)
        if is_silent:
            assert answer.state == option
        else:
            assert answer.state is None
            assert bool(answer.unread) == (not third)
