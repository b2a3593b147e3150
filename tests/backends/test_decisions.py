"""Decision models behind an address: bodies, answers, errors, keys, pictures, tokens.

Bodies and answers are the examples of the vendors' documentation, in OpenAI's, System One's and
Google's form.
"""

from __future__ import annotations

import asyncio
import base64
import copy
import io
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jevcompat.mock
import pytest
from PIL import Image as Pixels

from beholder.backends import BACKENDS, Image, backend
from beholder.backends.decisions import (
    ChoiceQuestion,
    Decision,
    DecisionCall,
    PredicateQuestion,
    ScoreQuestion,
    decode_decisions,
)
from beholder.backends.decisions.backend import Decisions, fit_sides
from beholder.backends.decisions.forms import FORMS, read_usage
from beholder.backends.decisions.servers import server_at
from beholder.backends.money import Account, Budget, Usage
from beholder.errors import (
    BeholderError,
    ConfigError,
    ItemError,
    RunError,
    TransientError,
)
from beholder.judges import AnswerFile
from servers.decisions import Call, DecisionServer
from servers.faults import serving
from toy.cases import each_case

STATE = {"description": "A cat sleeps on a red sofa."}
STATE_TEXT = '{"description": "A cat sleeps on a red sofa."}'
SOFA = "The description says that there is a sofa."
COLOUR = "Which colour does the sofa have?"
CAT = "How clearly is a cat mentioned?"
LEVELS = ("not mentioned", "in part", "stated outright")
OPTIONS = (
    ("red", None),
    ("blue", None),
    ("not said", "the text gives no colour"),
)
QUESTIONS = (
    PredicateQuestion(SOFA),
    ChoiceQuestion(COLOUR, OPTIONS),
    ScoreQuestion(CAT, LEVELS),
)
CALL = DecisionCall(STATE, QUESTIONS)

BODY_A = {
    "model": "gpt-6-luna",
    "input": [
        {
            "role": "user",
            "content": [{"type": "input_text", "text": STATE_TEXT}],
        }
    ],
    "questions": [
        {"type": "predicate", "name": "q0", "instructions": SOFA},
        {
            "type": "choice",
            "name": "q1",
            "instructions": COLOUR,
            "choices": [
                {"value": "red"},
                {"value": "blue"},
                {
                    "value": "not said",
                    "description": "the text gives no colour",
                },
            ],
        },
        {
            "type": "score",
            "name": "q2",
            "instructions": CAT,
            "levels": [{"label": level} for level in LEVELS],
        },
    ],
}
BODY_B = {
    "model": "jev-1.14.0",
    "state": STATE,
    "questions": {
        "q0": {"type": "noul", "instructions": SOFA},
        "q1": {
            "type": "choice",
            "instructions": COLOUR,
            "criteria": {
                "red": None,
                "blue": None,
                "not said": "the text gives no colour",
            },
        },
        "q2": {
            "type": "score",
            "instructions": CAT,
            "criteria": list(LEVELS),
        },
    },
}
BODY_C = {
    "model": "gemini-decision-1",
    "input": [{"type": "text", "text": STATE_TEXT}],
    "questions": {
        **BODY_B["questions"],  # type: ignore[dict-item]
        "q1": {
            "type": "choice",
            "instructions": COLOUR,
            "criteria": {
                "red": "",
                "blue": "",
                "not said": "the text gives no colour",
            },
        },
    },
}
RESPONSE_A = {
    "model": "gpt-6-luna",
    "answers": [
        {"type": "predicate", "name": "q0", "probability": 0.97},
        {
            "type": "choice",
            "name": "q1",
            "choice": "red",
            "confidence": 0.94,
            "probabilities": [
                {"value": "red", "probability": 0.95},
                {"value": "blue", "probability": 0.01},
                {"value": "not said", "probability": 0.04},
            ],
        },
        {
            "type": "score",
            "name": "q2",
            "score": 1.9,
            "confidence": 0.9,
            "probabilities": [
                {"value": 0, "label": "not mentioned", "probability": 0.02},
                {"value": 1, "label": "in part", "probability": 0.06},
                {"value": 2, "label": "stated outright", "probability": 0.92},
            ],
        },
    ],
    "usage": {
        "input_tokens": 412,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 412,
    },
}
RESPONSE_B = {
    "model": "jev-1.14.0",
    "answers": {
        "q0": {"type": "noul", "noul": 0.97},
        "q1": {
            "type": "choice",
            "choice": "red",
            "confidence": 0.92,
            "probabilities": {"red": 0.95, "blue": 0.01, "not said": 0.04},
        },
        "q2": {
            "type": "score",
            "score": 1.9,
            "confidence": 0.85,
            "legend": {
                "0": "not mentioned",
                "1": "in part",
                "2": "stated outright",
            },
            "probabilities": {"0": 0.02, "1": 0.06, "2": 0.92},
        },
    },
    "usage": {"input_tokens": 320, "output_tokens": 3},
}
RESPONSES: dict[str, Any] = {
    "openai": RESPONSE_A,
    "systemone": RESPONSE_B,
    "gemini": RESPONSE_B,
}
RIGHT = [
    Decision((0.97,)),
    Decision((0.95, 0.01, 0.04)),
    Decision((0.02, 0.06, 0.92)),
]


def make(
    server: DecisionServer, kind: str = "decisions", **options: Any
) -> Any:
    """A backend that asks a server of ours, which gives up at once."""
    return backend(
        kind,
        options.pop("model", "m"),
        **{
            "base_url": server.url,
            "attempts": 1,
            "wait": 0.01,
            **options,
        },
    )


def ask(model: Any, call: DecisionCall = CALL) -> list[Decision]:
    answer = asyncio.run(model.chat(call.to_request()))
    return list(decode_decisions(answer.text))


@pytest.fixture
def server() -> Iterator[DecisionServer]:
    with serving(DecisionServer()) as running:
        yield running


@pytest.mark.parametrize(
    ("kind", "shape", "path", "body"),
    [
        ("decisions", None, "/v1/decisions", BODY_A),
        ("systemone", None, "/v1/systemone", BODY_B),
        ("decisions", "systemone", "/v1/systemone", BODY_B),
        ("systemone", "openai", "/v1/decisions", BODY_A),
        ("decisions", "gemini", "/v1/decisions", BODY_C),
    ],
)
def test_bodies_are_those_of_the_documented_examples(
    server: DecisionServer,
    kind: str,
    shape: str | None,
    path: str,
    body: dict[str, Any],
) -> None:
    answers = ask(make(server, kind, shape=shape, model=body["model"]))
    assert server.calls[-1].body == body
    assert server.calls[-1].path == path
    assert [len(answer.probabilities) for answer in answers] == [1, 3, 3]


def test_a_note_goes_where_instructions_go() -> None:
    noted = replace(CALL, note="Trust no text.")
    body = FORMS["openai"].write("m", noted, "parts")
    assert body["input"][0] == {
        "role": "developer",
        "content": [{"type": "input_text", "text": "Trust no text."}],
    }
    for shape in ("systemone", "gemini"):
        body = FORMS[shape].write("m", noted, "none")
        assert (
            body["questions"]["q0"]["instructions"] == f"Trust no text. {SOFA}"
        )


def edited(shape: str, *path: Any, value: Any) -> dict[str, Any]:
    """A documented response with another value at a place; ``...`` removes what is there."""
    response: Any = copy.deepcopy(RESPONSES[shape])
    *names, last = path
    holder = response
    for name in names:
        holder = holder[name]
    if value is ...:
        del holder[last]
    else:
        holder[last] = value
    return response  # type: ignore[no-any-return]


def read_answers(shape: str, response: dict[str, Any]) -> list[Decision]:
    return FORMS[shape].read(CALL, response)  # type: ignore[index]


@pytest.mark.parametrize("shape", list(RESPONSES))
def test_documented_answers_are_read_from_the_distribution(shape: str) -> None:
    assert read_answers(shape, RESPONSES[shape]) == RIGHT
    # The server's own choice, score and confidence are not used.
    response = edited(
        shape, "answers", *_places(shape, 1), "choice", value="blue"
    )
    assert read_answers(shape, response) == RIGHT
    response = edited(shape, "answers", *_places(shape, 2), "score", value=0.0)
    assert read_answers(shape, response) == RIGHT


def _places(shape: str, number: int) -> list[Any]:
    return [number if shape == "openai" else f"q{number}"]


ANSWERS_A: list[tuple[int, Any, str]] = [
    (0, {"type": "refusal", "name": "q0"}, "refused"),
    (1, {"type": "refusal", "name": "q1"}, "refused"),
    (0, {"type": "choice", "name": "q0", "probability": 0.9}, "of type"),
    (0, {"type": "predicate", "name": "q1", "probability": 0.9}, "name of"),
    (0, {"type": "predicate", "name": "q0"}, "not a number"),
    (
        0,
        {"type": "predicate", "name": "q0", "probability": "0.9"},
        "not a num",
    ),
    (0, {"type": "predicate", "name": "q0", "probability": True}, "not a num"),
    (0, {"type": "predicate", "name": "q0", "probability": 1.01}, "not a num"),
    (0, {"type": "predicate", "name": "q0", "probability": -0.1}, "not a num"),
    (
        0,
        {"type": "predicate", "name": "q0", "probability": math.nan},
        "not a n",
    ),
    (
        0,
        {"type": "predicate", "name": "q0", "probability": math.inf},
        "not a n",
    ),
    (
        0,
        {"type": "predicate", "name": "q0", "probability": 10**400},
        "not a n",
    ),
    (0, None, "not an object"),
    (0, [0.9], "not an object"),
]


@each_case(("number", "answer", "reason"), ANSWERS_A)
def test_what_is_no_answer_has_a_reason_and_the_others_count(
    number: int, answer: Any, reason: str
) -> None:
    decisions = read_answers(
        "openai", edited("openai", "answers", number, value=answer)
    )
    assert reason in decisions[number].reason
    assert decisions[number].probabilities == ()
    del decisions[number]
    right = [*RIGHT]
    del right[number]
    assert decisions == right


def rows(*pairs: tuple[Any, Any]) -> list[dict[str, Any]]:
    return [{"value": value, "probability": p} for value, p in pairs]


DISTRIBUTIONS: list[tuple[int, list[tuple[Any, Any]], Any]] = [
    # question, outcomes with probabilities, decision or reason
    (1, [("red", 0.9), ("blue", 0.05)], "outcomes differ"),
    (1, [("red", 0.9), ("blue", 0), ("not said", 0), ("x", 0)], "'x'"),
    (1, [("Red", 0.9), ("blue", 0.05), ("not said", 0.05)], "outcomes differ"),
    (1, [("red", 0.8), ("blue", 0.2), ("not said", 0.2)], "sum to 1.2"),
    (1, [("red", 0.4), ("blue", 0.2), ("not said", 0.2)], "sum to 0.8"),
    (1, [("red", 0), ("blue", 0), ("not said", 0)], "sum to 0"),
    (1, [("red", math.nan), ("blue", 0), ("not said", 1)], "not a number"),
    (1, [("red", 1.2), ("blue", 0), ("not said", -0.2)], "not a number"),
    (1, [("red", None), ("blue", 0), ("not said", 1)], "not a number"),
    (1, [("red", 0.33), ("blue", 0.33), ("not said", 0.33)], (1 / 3,) * 3),
    (1, [("not said", 0), ("blue", 0.25), ("red", 0.75)], (0.75, 0.25, 0.0)),
    (2, [(0, 0.25), (1, 0.25), (2, 0.5)], (0.25, 0.25, 0.5)),
    (2, [(1, 0.25), (2, 0.25), (3, 0.5)], "outcomes differ"),
    (2, [(0, 0.25), (1, 0.75)], "outcomes differ"),
    (2, [(0, 1.0), (1, 0.5), (2, 0.5)], "sum to 2"),
]


@each_case("shape", ["openai", "systemone"])
@each_case(("number", "pairs", "expected"), DISTRIBUTIONS)
def test_a_distribution_is_whole_or_no_answer(
    shape: str, number: int, pairs: list[tuple[Any, Any]], expected: Any
) -> None:
    values: Any = rows(*pairs)
    if shape == "systemone":
        values = {str(name): value for name, value in pairs}
    path = ["answers", *_places(shape, number), "probabilities"]
    decision = read_answers(shape, edited(shape, *path, value=values))[number]
    if isinstance(expected, str):
        assert expected in decision.reason
        assert not decision.probabilities
    else:
        assert decision.probabilities == pytest.approx(expected)
        assert math.fsum(decision.probabilities) == pytest.approx(1, abs=1e-12)


@each_case(
    ("values", "reason"),
    [
        ("red", "no list"),
        (None, "no list"),
        ({"red": 1}, "no list"),
        ([{"value": "red"}], "no value"),
        (["red"], "no value"),
        ([{"value": ["red"], "probability": 1}], "no value"),
        (rows(("red", 0.5), ("red", 0.5), ("blue", 0)), "two probabilities"),
        (rows((True, 0.5), ("blue", 0.5), ("not said", 0)), "type"),
    ],
)
def test_lists_of_probabilities_that_are_none(
    values: Any, reason: str
) -> None:
    response = edited("openai", "answers", 1, "probabilities", value=values)
    assert reason in read_answers("openai", response)[1].reason


def test_truth_values_and_floats_are_no_levels() -> None:
    for values in ((False, True, 2), (0.0, 1.0, 2.0), ("0", "1", "2")):
        levels = rows(*((value, 1 / 3) for value in values))
        response = edited(
            "openai", "answers", 2, "probabilities", value=levels
        )
        assert read_answers("openai", response)[2].reason


ANSWERS_B: list[tuple[str, Any, Any]] = [
    ("q0", ..., "left the question out"),
    ("q0", None, "left the question out"),
    ("q0", 0.97, "not an object"),
    ("q0", {"type": "refusal"}, "refused"),
    ("q0", {"type": "boolean", "noul": 0.97}, "of type 'boolean'"),
    ("q0", {"type": "score", "noul": 0.97}, "of type 'score'"),
    ("q0", {"type": "noul", "noul": 1.97}, "not a number"),
    ("q0", {"type": "noul", "noul": "yes"}, "not a number"),
    ("q0", {"type": "noul"}, "not a number"),
    ("q0", {"noul": 0.5}, (0.5,)),
    # Databricks calls it a probability.
    ("q0", {"type": "noul", "probability": 0.25}, (0.25,)),
    ("q0", {"type": "noul", "noul": 0.5, "x_label_mass": 0.04}, "0.04 of the"),
    ("q0", {"type": "noul", "noul": 0.5, "x_label_mass": math.nan}, "nan of"),
    ("q0", {"type": "noul", "noul": 0.5, "x_label_mass": "1"}, "not a number"),
    (
        "q0",
        {"type": "noul", "noul": 0.5, "diagnostics": {"label_mass": 0.01}},
        "0.01 of the",
    ),
    ("q1", {"type": "choice", "choice": "red"}, "no object of prob"),
    ("q1", {"type": "choice", "probabilities": [1, 0, 0]}, "no object of"),
]


@each_case(("name", "answer", "expected"), ANSWERS_B)
def test_answers_by_id_that_are_none_have_a_reason(
    name: str, answer: Any, expected: Any
) -> None:
    response = edited("systemone", "answers", name, value=answer)
    decision = read_answers("systemone", response)[int(name[1])]
    if isinstance(expected, str):
        assert expected in decision.reason
        assert not decision.probabilities
    else:
        assert decision == Decision(expected)


def test_ids_that_were_not_asked_and_their_order_do_not_matter() -> None:
    answers = dict(reversed(RESPONSE_B["answers"].items()))  # type: ignore[attr-defined]
    answers["q9"] = {"type": "noul", "noul": 0.5}
    assert (
        read_answers("systemone", {**RESPONSE_B, "answers": answers}) == RIGHT
    )


def test_the_mass_on_the_outcomes_is_kept() -> None:
    answer = {"type": "noul", "noul": 0.5, "x_label_mass": 0.5}
    response = edited("systemone", "answers", "q0", value=answer)
    assert read_answers("systemone", response)[0] == Decision((0.5,), 0.5)


def test_a_blocked_input_refuses_every_question() -> None:
    feedback = {"prompt_feedback": {"block_reason": "safety"}, "answers": {}}
    decisions = read_answers("gemini", feedback)
    assert [d.reason for d in decisions] == ["refused: safety"] * 3


@pytest.mark.parametrize(
    ("shape", "answers"),
    [
        ("openai", RESPONSE_A["answers"][:2]),  # type: ignore[index]
        ("openai", [*RESPONSE_A["answers"], None]),
        ("openai", RESPONSE_B["answers"]),
        ("openai", None),
        ("systemone", RESPONSE_A["answers"]),
        ("systemone", None),
        ("systemone", ...),
    ],
)
def test_answers_that_cannot_be_assigned_fail_the_call(
    server: DecisionServer, shape: str, answers: Any
) -> None:
    model = make(server, shape=shape, attempts=2)
    asyncio.run(model.capabilities())
    server.edit = lambda response: (
        {**response, "answers": answers}
        if answers is not ...
        else {"model": "decider-1"}
    )
    with pytest.raises(TransientError, match=r"answers.*tried 2 times"):
        ask(model)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda r: {"result": r, "success": True, "errors": [], "messages": []},
        lambda r: {"response": r},
        lambda r: {**r, "latency_ms": 1, "x_debug": math.nan},
        lambda r: {**r, "error": None},
    ],
    ids=["Cloudflare", "Databricks", "further fields", "null error"],
)
def test_envelopes_are_opened(server: DecisionServer, wrap: Any) -> None:
    server.edit = wrap
    answers = ask(make(server, "systemone"))
    assert answers[0] == Decision((0.75,))


def _cloudflare(code: int) -> dict[str, Any]:
    errors = [{"code": code, "message": "words"}]
    return {"result": None, "success": False, "errors": errors}


STATUSES: list[tuple[int, Any, type[BeholderError], int]] = [
    # status, body, error, calls with two attempts
    (402, "pay", RunError, 1),
    (429, _cloudflare(3036), RunError, 1),
    (429, _cloudflare(3040), TransientError, 2),
    (200, _cloudflare(3040), TransientError, 2),
    (200, _cloudflare(3036), RunError, 1),
    (400, _cloudflare(5006), ItemError, 1),
    (401, {"detail": {"error_type": "a", "message": "key"}}, ConfigError, 1),
    (403, {"detail": {"error_type": "a", "message": "key"}}, ConfigError, 1),
    (404, {"detail": "no route"}, ConfigError, 1),
    (408, "slow", TransientError, 2),
    (409, "busy", TransientError, 2),
    (425, "early", TransientError, 2),
    (429, {"error": {"message": "slow down"}}, TransientError, 2),
    (500, "broken", TransientError, 2),
    (529, {"detail": {"error_type": "overloaded"}}, TransientError, 2),
    (400, {"error": {"message": "unknown field"}}, ItemError, 1),
    (422, {"detail": [{"loc": ["a"], "msg": "no string"}]}, ItemError, 1),
    (200, [1], TransientError, 2),
    (200, "not JSON", TransientError, 2),
    (200, "[" * 100_000, TransientError, 2),
]


@pytest.mark.parametrize(("status", "body", "error", "n_calls"), STATUSES)
def test_statuses_stop_wait_or_refuse(
    server: DecisionServer,
    status: int,
    body: Any,
    error: type[BeholderError],
    n_calls: int,
) -> None:
    model = make(server, attempts=2)
    asyncio.run(model.capabilities())
    server.calls.clear()
    server.reply = lambda call: (status, body)
    with pytest.raises(error) as caught:
        ask(model)
    assert isinstance(caught.value, error)
    assert len(server.calls) == n_calls


SIZES: list[tuple[int, Any]] = [
    (413, "no"),
    (413, ""),
    (400, {"detail": {"error_type": "max_tokens_exceeded"}}),
    (400, {"error": {"message": "at most 2 questions"}}),
    (422, {"detail": [{"msg": "Dictionary should have at most 2 items"}]}),
    (400, {"error": {"message": "input longer than the context"}}),
]


@pytest.mark.parametrize(("status", "body"), SIZES)
def test_a_call_that_is_too_large_is_halved_down_to_one_question(
    server: DecisionServer, status: int, body: Any
) -> None:
    model = make(server, attempts=1)
    asyncio.run(model.capabilities())
    server.calls.clear()
    most = 2
    server.reply = lambda call: (
        (status, body) if len(call.questions) > most else None
    )
    server.knows = lambda words, outcomes, state: [int(words) / 8]
    call = DecisionCall(
        STATE, tuple(PredicateQuestion(str(i)) for i in range(7))
    )
    # 7 questions as 4 and 3, those as 2 and 2, 2 and 1.
    assert ask(model, call) == [Decision((i / 8,)) for i in range(7)]
    sizes = [len(call.questions) for call in server.calls]
    assert sizes == [7, 4, 2, 2, 3, 2, 1]
    most = 0
    with pytest.raises(ItemError, match=r"one question.*Nothing is cut"):
        ask(model, call)


def test_a_server_that_needs_descriptions_gets_empty_ones(
    server: DecisionServer,
) -> None:
    server.reply = lambda call: (
        (422, {"detail": [{"loc": ["criteria", "red"], "msg": "a string"}]})
        if "null" in json.dumps(call.body)
        else None
    )
    model = make(server, "systemone")
    for n_calls in (2, 1):  # remembered
        asyncio.run(model.capabilities())
        server.calls.clear()
        assert [len(d.probabilities) for d in ask(model)] == [1, 3, 3]
        assert len(server.calls) == n_calls
        sent = server.calls[-1].questions[1]["criteria"]
        assert sent == {"red": "", "blue": "", "not said": OPTIONS[2][1]}
    # Another refusal stays the first one.
    server.reply = lambda call: (422, "no choices here")
    with pytest.raises(ItemError, match="no choices here"):
        ask(make_ready(server))


def make_ready(server: DecisionServer) -> Any:
    reply, server.reply = server.reply, lambda call: None
    model = make(server, "systemone")
    asyncio.run(model.capabilities())
    server.reply = reply
    return model


def test_google_is_asked_at_its_other_path_if_it_moved(
    server: DecisionServer, tmp_path: Path
) -> None:
    server.reply = lambda call: (
        (404, "no such path") if "v1beta" in call.path else None
    )
    base = server.url.removesuffix("/v1")
    file = AnswerFile(tmp_path / "run.sqlite")
    for _ in range(2):  # the second run knows the server and not the path
        model = make(server, base_url=base, shape="gemini", facts=file)
        assert ask(model)[0] == Decision((0.75,))
        assert server.calls[-1].path == "/v1/decisions"
    file.close()
    server.reply = lambda call: (404, "no such path")
    with pytest.raises(ConfigError, match="not there"):
        ask(backend("decisions", "m", base_url=base, shape="gemini"))


KNOWN: list[tuple[str, str, str, str, dict[str, str]]] = [
    # kind, address, shape, path, headers
    (
        "decisions",
        "https://api.openai.com/v1",
        "openai",
        "/decisions",
        {"authorization": "Bearer K"},
    ),
    (
        "decisions",
        "https://mine.openai.azure.com/openai/v1",
        "openai",
        "/decisions",
        {"api-key": "K"},
    ),
    (
        "decisions",
        "https://generativelanguage.googleapis.com",
        "gemini",
        "/v1beta/decisions",
        {"x-goog-api-key": "K"},
    ),
    (
        "decisions",
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini",
        "/decisions",
        {"x-goog-api-key": "K"},
    ),
    (
        "systemone",
        "https://api.typesafe.ai/v1",
        "systemone",
        "/systemone",
        {
            "authorization": "Bearer K",
            "typesafe-danger-zone-images": "true",
        },
    ),
    (
        "systemone",
        "https://openrouter.ai/api/alpha",
        "systemone",
        "/decisions",
        {"authorization": "Bearer K"},
    ),
    (
        "systemone",
        "https://api.perplexity.ai/v1",
        "systemone",
        "/decisions",
        {"authorization": "Bearer K"},
    ),
    (
        "systemone",
        "https://api.cloudflare.com/client/v4/accounts/ID/ai/run",
        "systemone",
        "/@cf/cloudflare/clef",
        {"authorization": "Bearer K"},
    ),
    (
        "systemone",
        "https://api.parallel.ai/v1",
        "systemone",
        "/decisions",
        {"x-api-key": "K"},
    ),
    (
        "decisions",
        "https://api.fireworks.ai/inference/v1",
        "openai",
        "/decisions",
        {"authorization": "Bearer K"},
    ),
    (
        "systemone",
        "https://api.fireworks.ai/inference/v1",
        "systemone",
        "/systemone",
        {"authorization": "Bearer K"},
    ),
    (
        "systemone",
        "https://api.openai.com.example/v1",
        "systemone",
        "/systemone",
        {"authorization": "Bearer K"},
    ),
]


@each_case(("kind", "address", "shape", "path", "headers"), KNOWN)
def test_known_addresses(
    kind: str, address: str, shape: str, path: str, headers: dict[str, str]
) -> None:
    model: Any = backend(kind, "@cf/cloudflare/clef", base_url=address)
    assert model.shape == shape
    assert model._path() == path
    assert model._http._key_headers("K") == headers


def test_the_limits_of_known_addresses_are_those_of_their_documentation() -> (
    None
):
    # questions, options, tokens
    table = {
        "https://api.openai.com/v1": (400, 255, 272_000),
        "https://api.typesafe.ai/v1": (400, 255, 32_000),
        "https://generativelanguage.googleapis.com": (1000, 255, 262_144),
        "https://api.perplexity.ai/v1": (128, 255, 262_144),
        "https://api.cloudflare.com/client": (64, 255, 65_536),
        "http://localhost:8000/v1": (64, 26, 32_000),
    }
    for address, known in table.items():
        limits = server_at(address, "systemone").limits
        assert known == (
            limits.max_questions,
            limits.max_options,
            limits.window,
        ), address


def test_a_key_goes_to_no_other_address_unless_it_is_named(
    server: DecisionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "TYPESAFE_API_KEY", "MY_KEY"):
        monkeypatch.setenv(name, "Pl4nted-0123456789")
    for kind in ("decisions", "systemone"):
        ask(make(server, kind))
        assert "Pl4nted" not in str(server.calls[-1].headers)
        ask(make(server, kind, key_env="MY_KEY"))
        sent = server.calls[-1].headers["authorization"]
        assert sent == "Bearer Pl4nted-0123456789"


@each_case(
    ("option", "value"),
    [
        ("shape", "other"),
        ("shape", 5),
        ("pictures", "other"),
        ("max_questions", 0),
        ("max_questions", -3),
        ("max_questions", True),
        ("max_questions", 2.5),
        ("max_options", 1),
        ("max_levels", 0),
        ("max_images", 0),
        ("context", 0),
        ("path", "decisions"),
        ("path", "/a b"),
        ("batch", True),
        ("temperature", 0.5),
        ("extra", {"questions": []}),
        ("extra", {"state": "x"}),
        ("extra", {"input": "x"}),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(
    option: str, value: Any
) -> None:
    with pytest.raises(ConfigError, match=f"(?s){option}"):
        backend("decisions", "m", **{option: value})


def test_what_leads_to_other_answers_is_in_the_variant() -> None:
    def variant(**options: Any) -> str:
        return backend("systemone", "m", **options).variant

    different = [
        variant(),
        variant(shape="openai"),
        variant(path="/permute"),
        variant(pictures="array"),
        variant(extra={"seed": 1}),
    ]
    assert len(set(different)) == len(different)
    assert variant(timeout=3.0, concurrency=2, context=9) == variant()


# Pictures


def picture(
    width: int, height: int, kind: str = "PNG", colour: str = "red"
) -> Image:
    data = io.BytesIO()
    Pixels.new("RGB", (width, height), colour).save(data, kind)
    return Image(data.getvalue(), f"image/{kind.lower()}")


@pytest.mark.parametrize(
    ("size", "kind", "expected"),
    [
        ((300, 400), "PNG", (300, 400)),
        ((280, 1568), "JPEG", (280, 1568)),
        ((3136, 1568), "PNG", (1568, 784)),
        ((100, 50), "PNG", (280, 280)),
        ((3136, 100), "JPEG", (1568, 280)),
        ((300, 400), "WEBP", (300, 400)),
        ((300, 400), "GIF", (300, 400)),
    ],
)
def test_pictures_are_scaled_and_padded_to_the_sides_a_server_takes(
    size: tuple[int, int], kind: str, expected: tuple[int, int]
) -> None:
    image = picture(*size, kind)
    fitted = fit_sides(image, 280, 1568)
    with Pixels.open(io.BytesIO(fitted.data)) as file:
        assert file.size == expected
        pixels = file.convert("RGB")
        inside: Any = pixels.getpixel((5, 5))
        corner: Any = pixels.getpixel((expected[0] - 1, expected[1] - 1))
    assert fitted.media_type in ("image/png", "image/jpeg")
    if size == expected and kind in ("PNG", "JPEG"):
        assert fitted is image
    assert inside[0] > 240 > 40 > inside[1]
    if min(size) * expected[0] // size[0] < 280:
        assert min(corner) > 240


RED, BLUE = picture(300, 300), picture(300, 300, colour="blue")
SEEN = DecisionCall(STATE, (PredicateQuestion("It is red."),), (RED, BLUE))


def url(image: Image) -> str:
    return "data:image/png;base64," + base64.b64encode(image.data).decode()


def test_the_ways_in_which_pictures_are_sent() -> None:
    write = FORMS["openai"].write
    parts = write("m", SEEN, "parts")["input"][0]["content"]
    assert parts[:2] == [
        {"type": "input_image", "image_url": url(i), "detail": "auto"}
        for i in (RED, BLUE)
    ]
    assert parts[2] == {"type": "input_text", "text": STATE_TEXT}
    parts = FORMS["gemini"].write("m", SEEN, "parts")["input"]
    assert parts[0] == {
        "type": "image",
        "data": base64.b64encode(RED.data).decode(),
        "mime_type": "image/png",
    }
    assert [part["type"] for part in parts] == ["image", "image", "text"]
    write = FORMS["systemone"].write
    body = write("m", SEEN, "images")
    assert body["images"] == [url(RED), url(BLUE)]
    assert body["state"] == STATE
    body = write("m", SEEN, "array")
    assert body["state"] == [
        {"type": "image_url", "image_url": {"url": url(RED)}},
        {"type": "image_url", "image_url": {"url": url(BLUE)}},
        STATE_TEXT,
    ]
    assert "images" not in body
    body = write("m", SEEN, "assets")
    names = body["state"]["pictures"]
    assert [body["assets"][name] for name in names] == [
        {
            "type": "image",
            "format": "png",
            "data_base64": base64.b64encode(image.data).decode(),
        }
        for image in (RED, BLUE)
    ]
    assert body["state"]["description"] == STATE["description"]
    assert all(len(name) > 32 for name in names)


def test_no_text_may_contain_the_name_of_a_picture() -> None:
    write = FORMS["systemone"].write
    name = write("m", SEEN, "assets")["state"]["pictures"][0]
    for torn in (
        replace(SEEN, state={"description": f"a {name} b"}),
        replace(SEEN, questions=(PredicateQuestion(f"It says {name}."),)),
        replace(
            SEEN, questions=(ChoiceQuestion("?", ((name, None), ("b", None))),)
        ),
        replace(SEEN, questions=(ScoreQuestion("?", ("low", name)),)),
    ):
        with pytest.raises(ItemError, match="stands for a picture"):
            write("m", torn, "assets")


def sees_colour(call: Call) -> bool:
    return url(RED)[-40:] in json.dumps(call.body)


def test_sight_is_tried_and_too_many_pictures_are_refused(
    server: DecisionServer,
) -> None:
    # The first picture of the probe is red, the second blue.
    def knows(words: str, outcomes: Any, state: str) -> list[float]:
        n_seen = sum("image" in json.dumps(c.body) for c in server.calls)
        return [0.9 if n_seen == 1 else 0.1]

    server.knows = knows
    model = make(server, max_images=2)
    assert asyncio.run(model.capabilities(images=True)).images is True
    with pytest.raises(ItemError, match="at most 2 pictures"):
        ask(model, replace(SEEN, images=(RED,) * 3))


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_server_that_ignores_or_refuses_pictures_is_blind(
    server: DecisionServer, is_refused: bool
) -> None:
    if is_refused:
        server.reply = lambda call: (
            (400, "no pictures") if "image" in json.dumps(call.body) else None
        )
    model = make(server)
    assert asyncio.run(model.capabilities(images=True)).images is False
    with pytest.raises(ConfigError, match="does not take pictures"):
        ask(model, SEEN)
    n_calls = len(server.calls)
    blind = make(server, pictures="none")
    assert asyncio.run(blind.capabilities(images=True)).images is False
    assert len(server.calls) == n_calls + 1  # the text alone is tried


# Tokens and money


@each_case(
    ("usage", "expected"),
    [
        (RESPONSE_A["usage"], Usage(412)),
        (RESPONSE_B["usage"], Usage(320, completion=3)),
        ({"prompt_tokens": 310, "total_tokens": 310}, Usage(310)),
        (
            {"total_input_tokens": 9, "total_cached_tokens": 4},
            Usage(9, cached=4),
        ),
        ({"input_tokens": 9, "cached_input_tokens": 4}, Usage(9, cached=4)),
        (
            {
                "input_tokens": 90,
                "input_tokens_details": {
                    "cached_tokens": 20,
                    "cache_write_tokens": 30,
                },
            },
            Usage(90, cached=20, written=30),
        ),
        (None, None),
        ({}, None),
        ({"input_tokens": 0}, None),
        ({"input_tokens": 12.0}, None),
        ({"input_tokens": -1}, None),
        ({"input_tokens": "12"}, None),
        ({"input_tokens": True}, None),
        ({"input_tokens": 3, "cached_input_tokens": 4}, None),
        ([12], None),
    ],
)
def test_forms_of_usage(usage: Any, expected: Usage | None) -> None:
    assert read_usage({"usage": usage}) == expected


def table(folder: Path, name: str, **price: float) -> str:
    path = folder / "prices.json"
    path.write_text(json.dumps({"models": {name: price}}), "utf-8")
    return str(path)


@pytest.mark.parametrize("kind", ["decisions", "systemone"])
@pytest.mark.parametrize("sums_state", [False, True])
@pytest.mark.parametrize("has_usage", [True, False])
def test_what_is_charged_never_passes_the_limit(
    tmp_path: Path, kind: str, sums_state: bool, has_usage: bool
) -> None:
    prices = table(tmp_path, "m", input=100, output=0)
    # A call of 25 questions costs about 0.08, or 1.1 with as many states.
    limit = 10.0 if sums_state or not has_usage else 1.0
    budget = Budget(max_cost=limit)
    server = DecisionServer(sums_state=sums_state)
    if not has_usage:
        server.edit = lambda r: {n: r[n] for n in ("model", "answers")}
    calls = [
        DecisionCall(
            {"description": f"{i} " + "A long text about nothing. " * 20},
            tuple(PredicateQuestion(f"It says {k}.") for k in range(25)),
        )
        for i in range(40)
    ]
    with serving(server):
        model = make(server, kind, prices=prices)
        model.account = Account(budget)

        async def ask_all() -> list[Any]:
            return await asyncio.gather(
                *(model.chat(call.to_request()) for call in calls),
                return_exceptions=True,
            )

        answers = asyncio.run(ask_all())
    n_answered = sum(not isinstance(a, BaseException) for a in answers)
    assert 0 < n_answered < len(calls)
    assert server.charged * 100 / 1e6 <= budget.spent + 1e-9
    assert budget.spent <= limit


def test_how_a_server_counts_is_remembered_by_later_runs(
    tmp_path: Path,
) -> None:
    call = DecisionCall(
        {"description": "A long text about nothing. " * 40},
        tuple(PredicateQuestion(f"It says {k}.") for k in range(25)),
    )
    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(DecisionServer(sums_state=True)) as server:
        model = make(server, facts=file)
        once = model.estimate_tokens(call.to_request())
        asyncio.run(model.capabilities())
        server.charged = 0
        ask(model, call)
        again = make(server, facts=file)
        again.remembered()
        assert once < server.charged < again.estimate_tokens(call.to_request())
        n_calls = len(server.calls)
        ask(again, call)
        assert len(server.calls) == n_calls + 1  # no second probe
    file.close()


@pytest.mark.parametrize(
    ("name", "model", "dollars"),
    [
        ("m", "m", 5.0),
        ("decisions/m", "m", 5.0),
        # A table of one's own is stronger than ours, whatever its names.
        ("gpt-6-luna", "gpt-6-luna", 5.0),
        ("decisions/gpt-6-luna", "gpt-6-luna", 5.0),
        ("other", "gpt-6-luna", 0.1),
        ("other", "jev-1.14.0", 0.042),
        ("other", "@cf/cloudflare/clef", 0.24),
        ("other", "unknown", None),
    ],
)
def test_prices_are_those_of_decisions(
    tmp_path: Path, name: str, model: str, dollars: float | None
) -> None:
    made = backend(
        "systemone", model, prices=table(tmp_path, name, input=5.0, output=0)
    )
    price = made.price()
    if dollars is None:
        assert price is None
    else:
        assert price is not None
        assert price.input == pytest.approx(dollars)


def test_an_alias_costs_as_the_model_that_answers(
    server: DecisionServer,
) -> None:
    server.edit = lambda response: {**response, "model": "jev-1.14.0"}
    model = make(server, "systemone", model="jev-latest")
    model.account = Account(Budget(max_cost=1.0))
    ask(model)
    price = model.price()
    assert price is not None
    assert price.input == pytest.approx(0.042)
    spent = model.account.budget.spent
    assert spent == pytest.approx(server.charged * 0.042 / 1e6)


# An independent server with faults


@pytest.fixture(scope="module")
def mock() -> Iterator[jevcompat.mock.Running]:
    config = jevcompat.mock.MockConfig()
    with jevcompat.mock.Running(config) as running:
        running.config = config
        yield running


MOCK_CALL = DecisionCall(
    {"description": "A Cat sleeps on a café's sofa."},
    (
        PredicateQuestion("There is a cat."),
        ChoiceQuestion(
            "Which?", (("Café", None), ("sofa", "a seat"), ("none", None))
        ),
        ScoreQuestion("How clearly?", ("not", "in part", "outright")),
    ),
)
PLANTED = ("", "", "")
"""All three answers are the planted ones."""
FAULTS: dict[str, tuple[str, str, str] | str] = {
    # a reason for each question, or the error of the call
    "wrong-route": "is not there",
    "xssi-200": "not JSON",
    "auth-rejects-header": "refused the key",
    "auth-x-api-key": "refused the key",
    "first-question-only": ("", "left the question out", "left the question"),
    "nfd-keys": ("", "outcomes differ", ""),
    "noul-range": ("not a number", "", ""),
    "boolean-type": ("of type 'boolean'", "", ""),
    "choice-key-case": ("", "outcomes differ", ""),
    "choice-sum": ("", "sum to 1.2", ""),
    "score-keys-1-based": ("", "", "outcomes differ"),
    "score-sum": ("", "", "sum to 0.8"),
}
LEAKS = ("id-leaks", "batch-leaks", "order-leaks")
"""Faults of the model itself: its answers are others, and no reader can see it."""
WITH_KEY = ("auth-x-api-key", "auth-rejects-header")


@pytest.mark.parametrize("fault", [None, *jevcompat.mock.FAULTS])
def test_every_fault_gives_the_planted_answer_a_reason_or_an_error(
    mock: Any, fault: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "a-key-of-mine")
    with_key = fault in WITH_KEY
    mock.config.faults = frozenset({fault} if fault else ())
    mock.config.key = "a-key-of-mine" if fault == "auth-x-api-key" else None
    model = backend(
        "systemone",
        "mock",
        base_url=f"{mock.url}/v1",
        attempts=1,
        key_env="MY_KEY" if with_key else None,
    )
    expected = FAULTS.get(fault or "", PLANTED)
    if isinstance(expected, str):
        with pytest.raises(BeholderError, match=expected):
            ask(model, MOCK_CALL)
        return
    decisions = ask(model, MOCK_CALL)
    clean = jevcompat.mock.MockConfig()
    body = FORMS["systemone"].write("mock", MOCK_CALL, "none")
    if fault == "no-null-description":
        body["questions"]["q1"]["criteria"] |= {"Café": "", "none": ""}
    right = FORMS["systemone"].read(
        MOCK_CALL, jevcompat.mock.respond(clean, body)
    )
    for decision, reason, planted in zip(
        decisions, expected, right, strict=True
    ):
        assert reason in decision.reason
        if reason:
            assert not decision.probabilities
        elif fault not in LEAKS:
            assert decision.probabilities == pytest.approx(
                planted.probabilities
            )


def test_a_busy_server_is_asked_again(mock: Any) -> None:
    mock.config.faults, mock.config.key = frozenset(), None
    mock.config.busy_every = 2
    model = backend(
        "systemone", "mock", base_url=f"{mock.url}/v1", attempts=3, wait=0.01
    )
    for _ in range(3):
        assert not any(d.reason for d in ask(model, MOCK_CALL))
    mock.config.busy_every = 0


@pytest.mark.parametrize(
    ("fault", "question"),
    [
        (
            "cap-64",
            ChoiceQuestion("?", tuple((f"o{i}", "x") for i in range(65))),
        ),
        ("cap-5-levels", ScoreQuestion("?", tuple(map(str, range(6))))),
    ],
)
def test_a_limit_of_outcomes_is_said(
    mock: Any, fault: str, question: Any
) -> None:
    mock.config.faults, mock.config.key = frozenset({fault}), None
    model = backend("systemone", "mock", base_url=f"{mock.url}/v1", attempts=1)
    call = DecisionCall({"a": "b"}, (PredicateQuestion("?"), question))
    with pytest.raises(ItemError, match=r"one question.*at most \d+ items"):
        ask(model, call)


def test_both_kinds_are_registered() -> None:
    for kind in ("decisions", "systemone"):
        assert issubclass(BACKENDS.get(kind), Decisions)
