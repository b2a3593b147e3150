"""What is sent to OpenAI-compatible servers and how their words are read; written from the protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from beholder.backends import Image, Message, Request, Sampling, Usage
from beholder.backends.calls import CallFailed, Forbidden, Refused
from beholder.backends.openai import (
    PromptToken,
    fields,
    perplexities,
    read_logprobs,
)
from beholder.backends.openai_http import Connection, NotThere, public_address
from beholder.backends.openai_probe import (
    THINKING_TOKENS,
    probe_drawing,
    probe_images,
    probe_model,
    probe_structure,
)
from beholder.backends.openai_wire import (
    Completion,
    Dialect,
    read_completion,
    read_usage,
    to_body,
)
from beholder.errors import ConfigError, ItemError, RunError, TransientError
from toy.cases import each_case

SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
}
PICTURE = Image(b"x", "image/png")


def request(**more: Any) -> Request:
    messages = (
        Message("system", ("Be brief.",)),
        Message("user", ("Hello.",)),
    )
    return Request(messages, Sampling(max_tokens=10, **more))


def test_body_of_a_plain_question() -> None:
    assert to_body("m", request(), Dialect(model="m")) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello."},
        ],
        "max_tokens": 10,
        "temperature": 0.0,
    }


def test_body_in_the_words_of_the_server() -> None:
    dialect = Dialect(
        model="m", token_field="max_completion_tokens", temperature=False, seed=False,
        system=False, thinking=100,
    )  # fmt: skip
    assert to_body("m", request(), dialect) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Be brief.\n\nHello."}],
        "max_completion_tokens": 110,
    }


@pytest.mark.parametrize(
    ("n_wanted", "n_reported", "sent"),
    [(20, 5, 5), (3, 5, 3), (20, 0, 0), (0, 5, 0)],
)
def test_no_more_log_probabilities_are_asked_for_than_the_server_tells(
    n_wanted: int, n_reported: int, sent: int
) -> None:
    body = to_body(
        "m",
        request(top_logprobs=n_wanted),
        Dialect(model="m", top_logprobs=n_reported),
    )
    assert body.get("top_logprobs", 0) == sent
    assert body.get("logprobs", False) is (sent > 0)


def test_number_of_answers_and_replicates() -> None:
    dialect = Dialect(model="m")
    assert "n" not in to_body("m", request(n=1), dialect)
    assert to_body("m", request(n=2), dialect)["n"] == 2
    drawn_request = replace(request(temperature=0.7, seed=3), replicate=4)
    assert to_body("m", drawn_request, dialect)["seed"] == 7
    assert "seed" not in to_body(
        "m", drawn_request, replace(dialect, seed=False)
    )
    assert "seed" not in to_body(
        "m", replace(request(seed=3), replicate=4), dialect
    )


def test_schema_as_servers_take_it() -> None:
    schema_request = replace(request(), schema=SCHEMA)
    body: dict[str, Any] = to_body(
        "m", schema_request, Dialect(model="m", structure="schema")
    )
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert body["response_format"]["json_schema"]["strict"] is True
    tool: dict[str, Any] = to_body(
        "m", schema_request, Dialect(model="m", structure="tool")
    )
    name = tool["tool_choice"]["function"]["name"]
    assert tool["tools"][0]["function"]["name"] == name
    assert tool["tools"][0]["function"]["parameters"] == SCHEMA
    tag = to_body("m", schema_request, Dialect(model="m", structure="tag"))[
        "response_format"
    ]
    assert tag == {
        "type": "structural_tag",
        "format": {
            "type": "json_schema",
            "json_schema": SCHEMA,
            "max_whitespace_cnt": 1,
        },
    }
    plain = to_body(
        "m", schema_request, Dialect(model="m", structure="object")
    )
    assert plain["response_format"] == {
        "type": "json_object",
        "schema": SCHEMA,
    }
    guided = to_body(
        "m", schema_request, Dialect(model="m", structure="guided")
    )
    assert guided["guided_json"] == SCHEMA
    words = to_body("m", schema_request, Dialect(model="m", structure="text"))
    assert words == to_body("m", request(), Dialect(model="m"))


def test_a_schema_without_bounds_for_servers_that_know_none() -> None:
    row = {
        "type": "array",
        "items": {"type": "string", "maxLength": 9},
        "minItems": 1,
    }
    bounded = {
        "type": "object",
        "properties": {"maxItems": row},
        "required": ["maxItems"],
    }
    bounded_request = replace(request(), schema=bounded)
    no_bounds = Dialect(model="m", structure="object", bounds=False)
    body: dict[str, Any] = to_body("m", bounded_request, no_bounds)
    assert body["response_format"]["schema"] == {
        "type": "object",
        "properties": {
            "maxItems": {"type": "array", "items": {"type": "string"}}
        },
        "required": ["maxItems"],
    }


def test_joined_turns_keep_their_pictures() -> None:
    turns = (
        Message("user", (PICTURE, "What is it?")),
        Message("user", ("Say.",)),
    )
    two_turns, dialect = (
        Request(turns, Sampling(max_tokens=1)),
        Dialect(model="m", system=False),
    )
    sent: dict[str, Any] = to_body("m", two_turns, dialect)
    (turn,) = sent["messages"]
    assert [part["type"] for part in turn["content"]] == [
        "image_url",
        "text",
        "text",
    ]
    assert (
        turn["content"][0]["image_url"]["url"] == "data:image/png;base64,eA=="
    )


def chat_response(**choice: Any) -> dict[str, Any]:
    return {
        "choices": [
            {"message": {"content": "yes"}, "finish_reason": "stop"} | choice
        ]
    }


def test_answers_as_servers_write_them() -> None:
    (plain,) = read_completion(chat_response()).samples
    assert (plain.text, plain.finish, plain.first) == ("yes", "stop", None)
    call = {
        "tool_calls": [{"function": {"arguments": "{}"}}],
        "content": "aside",
    }
    (tool,) = read_completion(
        chat_response(message=call, finish_reason="tool_calls")
    ).samples
    assert (tool.text, tool.finish) == ("{}", "stop")
    (cut,) = read_completion(
        chat_response(finish_reason="length", message={"content": None})
    ).samples
    assert (cut.text, cut.finish) == ("", "length")
    (unsaid,) = read_completion(chat_response(finish_reason=None)).samples
    assert unsaid.finish == "stop"


def test_parts_of_a_message_are_joined_and_thoughts_among_them_left_out() -> (
    None
):
    # The form of models that think in the open, as their makers document it.
    thought = {
        "type": "thinking",
        "thinking": [{"type": "text", "text": "Let me see: 1?"}],
    }
    parts = [
        thought,
        {"type": "text", "text": "4"},
        {"type": "text", "text": "."},
    ]
    parsed = read_completion(chat_response(message={"content": parts}))
    assert parsed.samples[0].text == "4."
    assert parsed.thought
    assert not read_completion(
        chat_response(message={"content": parts[1:]})
    ).thought


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_thoughts_beside_an_answer_are_seen(name: str) -> None:
    assert read_completion(
        chat_response(message={"content": "4", name: "Hm."})
    ).thought
    assert not read_completion(
        chat_response(message={"content": "4", name: None})
    ).thought


@pytest.mark.parametrize(
    ("n", "thought"), [(12, True), (0, False), (None, False)]
)
def test_thoughts_that_are_only_counted_are_seen(
    n: int | None, thought: bool
) -> None:
    usage = {
        "prompt_tokens": 5,
        "completion_tokens_details": {"reasoning_tokens": n},
    }
    assert (
        read_completion({**chat_response(), "usage": usage}).thought is thought
    )


def test_first_token_is_read_without_what_has_no_probability() -> None:
    top = [
        {"token": "3", "logprob": -0.5},
        {"token": "4", "logprob": float("-inf")},
    ]
    (sample,) = read_completion(
        chat_response(logprobs={"content": [{"top_logprobs": top}, {}]})
    ).samples
    assert sample.first == (("3", -0.5),)
    silent: list[Any] = [
        None,
        {},
        {"content": []},
        {"content": [{"top_logprobs": top[1:]}]},
    ]
    for nothing in silent:
        (sample,) = read_completion(chat_response(logprobs=nothing)).samples
        assert sample.first is None


@each_case(
    "data", [[], "x", {}, {"choices": []}, {"choices": 3}, {"choices": [{}]}]
)
def test_what_is_no_answer_may_be_asked_again(data: object) -> None:
    with pytest.raises(CallFailed):
        read_completion(data)


def test_tokens_that_are_not_told_are_not_known() -> None:
    details = {"cached_tokens": 3, "image_tokens": 4}
    counted = {
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "prompt_tokens_details": details,
    }
    assert read_usage({"usage": counted}) == Usage(
        prompt=10, cached=3, completion=2, image=4
    )
    assert read_usage({}) is read_usage({"usage": None}) is None
    assert read_usage({"usage": {"prompt_tokens": None}}) is None


@each_case(
    ("total", "thoughts", "completion"),
    [
        (
            1026,
            1000,
            1005,
        ),  # the answer's 5 and the thoughts' 1000, as Gemini's gateway tells
        (26, 3, 5),  # thoughts are among the 5
        (10, 3, 5),  # a total that is none
        ("many", 3, 5),
        (None, 3, 5),
        (
            1026,
            0,
            5,
        ),  # no thoughts: whatever the total counts, it is no answer
    ],
)
def test_thoughts_are_counted_where_only_the_total_has_them(
    total: Any, thoughts: int, completion: int
) -> None:
    details = {"reasoning_tokens": thoughts}
    usage = {
        "prompt_tokens": 21,
        "completion_tokens": 5,
        "completion_tokens_details": details,
    }
    usage_read = read_usage({"usage": {**usage, "total_tokens": total}})
    assert usage_read == Usage(prompt=21, completion=completion)


def post(
    answer: Callable[[dict[str, Any]], dict[str, Any]],
    log: list[dict[str, Any]],
) -> Any:
    async def send(body: dict[str, Any]) -> dict[str, Any]:
        log.append(body)
        return answer(body)

    return send


def ask(
    answer: Callable[[dict[str, Any]], dict[str, Any]],
    log: list[dict[str, Any]],
) -> Callable[[Request, Dialect], Awaitable[Completion]]:
    send = post(answer, log)

    async def ask_once(question: Request, dialect: Dialect) -> Completion:
        return read_completion(await send(to_body("m", question, dialect)))

    return ask_once


def probed(
    answer: Callable[[dict[str, Any]], dict[str, Any]],
) -> tuple[Dialect, int]:
    log: list[dict[str, Any]] = []
    return asyncio.run(
        probe_model(Dialect(model="m", top_logprobs=20), ask(answer, log))
    ), len(log)


def response_with_logprobs(
    text: str = "ready", finish: str = "stop"
) -> dict[str, Any]:
    top = {
        "content": [{"top_logprobs": [{"token": "ready", "logprob": -0.1}]}]
    }
    return chat_response(
        message={"content": text}, finish_reason=finish, logprobs=top
    )


def test_a_server_that_takes_all_is_asked_once() -> None:
    dialect, n_asked = probed(
        lambda body: {**response_with_logprobs(), "model": "m-2026"}
    )
    assert n_asked == 1
    assert dialect == Dialect(model="m-2026", top_logprobs=20)


@pytest.mark.parametrize("served", [None, ""])
def test_a_server_that_does_not_name_its_model_serves_what_was_asked(
    served: object,
) -> None:
    assert (
        probed(lambda body: {**response_with_logprobs(), "model": served})[
            0
        ].model
        == "m"
    )


def test_what_a_server_refuses_is_left_out_one_by_one() -> None:
    def strict(body: dict[str, Any]) -> dict[str, Any]:
        if "max_tokens" in body:
            raise Refused("use max_completion_tokens instead")
        if "temperature" in body:
            raise Refused("temperature is not supported")
        if body["messages"][0]["role"] == "system":
            raise Refused("System role not supported")
        if "seed" in body:
            raise Refused("unknown field: seed")
        if body.get("top_logprobs", 0) > 5:
            raise Refused("at most 5")
        return response_with_logprobs()

    dialect, n_asked = probed(strict)
    assert n_asked == 6
    assert dialect == Dialect(
        model="m", token_field="max_completion_tokens", temperature=False, system=False,
        seed=False, top_logprobs=5,
    )  # fmt: skip


def test_log_probabilities_are_given_up_last_and_a_plain_question_must_be_taken() -> (
    None
):
    def never(body: dict[str, Any]) -> dict[str, Any]:
        raise Refused("no")

    log: list[dict[str, Any]] = []
    with pytest.raises(
        ConfigError, match="the server says no to a plain question to m: no"
    ):
        asyncio.run(
            probe_model(Dialect(model="m", top_logprobs=20), ask(never, log))
        )
    assert [(len(body["messages"]), body.get("top_logprobs", 0)) for body in log] == [
        (2, 20), (2, 5), (2, 0), (1, 20), (1, 0),
    ]  # fmt: skip


def test_a_server_that_breaks_down_at_everything_is_in_trouble() -> None:
    def never(body: dict[str, Any]) -> dict[str, Any]:
        raise Refused("HTTP 500: oh", broke=True)

    with pytest.raises(
        TransientError, match="breaks down to a plain question to m: HTTP 500"
    ):
        probed(never)


def test_a_chat_template_that_breaks_at_a_system_message_keeps_its_log_probabilities() -> (
    None
):
    def breaks(body: dict[str, Any]) -> dict[str, Any]:
        if body["messages"][0]["role"] == "system":
            raise Refused("HTTP 500: TemplateError", broke=True)
        return response_with_logprobs()

    dialect, _ = probed(breaks)
    assert dialect == Dialect(model="m", system=False, top_logprobs=20)


def test_roles_that_must_take_turns_leave_no_place_for_the_system() -> None:
    def takes_turns(body: dict[str, Any]) -> dict[str, Any]:
        if body["messages"][0]["role"] == "system":
            raise Refused(
                "Conversation roles must alternate user/assistant/user/assistant/..."
            )
        return response_with_logprobs()

    dialect, n_asked = probed(takes_turns)
    assert n_asked == 2
    assert dialect == Dialect(model="m", system=False, top_logprobs=20)


def test_log_probabilities_that_are_forbidden_are_done_without() -> None:
    def forbids(body: dict[str, Any]) -> dict[str, Any]:
        if "logprobs" in body:
            raise Forbidden(
                "You are not allowed to request logprobs from this model"
            )
        return response_with_logprobs()

    assert probed(forbids)[0].top_logprobs == 0

    def forbids_all(body: dict[str, Any]) -> dict[str, Any]:
        raise Forbidden("refused the key")

    with pytest.raises(Forbidden, match="refused the key"):
        probed(forbids_all)


def probe_draws(*texts: str, refuse_n: bool = False) -> tuple[Dialect, int]:
    """Probe a server that draws these texts, one per choice; return dialect and calls."""
    log: list[dict[str, Any]] = []
    rest = iter(texts)

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        if refuse_n and "n" in body:
            raise Refused("n must be exactly 1")
        return chat_response(message={"content": next(rest)})

    return asyncio.run(
        probe_drawing(Dialect(model="m"), ask(answer, log))
    ), len(log)


def test_answers_that_come_one_by_one_and_differ() -> None:
    assert probe_draws("a", "b", "a") == (
        Dialect(model="m", many=False, copies=False),
        3,
    )
    assert probe_draws("a", "b", "a", refuse_n=True) == (
        Dialect(model="m", many=False, copies=False),
        4,
    )


def test_answers_that_are_copies_whatever_the_temperature() -> None:
    assert probe_draws("a", "a", "a")[0] == Dialect(
        model="m", many=False, copies=True
    )


def test_answers_that_come_at_once() -> None:
    log: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        return {
            "choices": [
                chat_response(message={"content": t})["choices"][0]
                for t in "aab"
            ]
        }

    dialect = asyncio.run(probe_drawing(Dialect(model="m"), ask(answer, log)))
    assert dialect == Dialect(model="m", many=True, copies=False)
    assert [(body["n"], body["temperature"]) for body in log] == [(3, 1.0)]


def test_a_server_that_tells_no_log_probabilities_has_none() -> None:
    assert (
        probed(lambda body: chat_response(message={"content": "ready"}))[
            0
        ].top_logprobs
        == 0
    )


@each_case(
    ("text", "finish", "thinks"),
    [
        ("<think>hm</think>ready", "stop", True),
        ("\n<think>hm", "length", True),
        ("", "length", True),
        ("", "stop", False),
        ("ready", "length", False),
        ("Okay, the user wants\n</think>\n\nready", "stop", True),
    ],
)
def test_a_model_that_thinks_gets_room_and_its_first_token_is_not_read(
    text: str, finish: str, thinks: bool
) -> None:
    dialect, _ = probed(lambda body: response_with_logprobs(text, finish))
    assert dialect.thinking == (THINKING_TOKENS if thinks else 0)
    assert dialect.top_logprobs == (0 if thinks else 20)


def test_what_a_server_lacks_is_told_with_what_is_done_instead() -> None:
    assert Dialect("m", 20, "schema", True).shortcomings() == []
    lacking = Dialect(
        "m", 0, "object", None, 100, system=False, temperature=False, seed=False, many=False,
        copies=True, bounds=False,
    )  # fmt: skip
    shortcomings = dict(lacking.shortcomings())
    assert set(shortcomings) == {
        "system message", "temperature", "seed", "several answers at once", "drawing",
        "json_schema", "bounds in schemas", "answers at once",
    }  # fmt: skip
    assert "json_object" in shortcomings["json_schema"]
    assert "100 tokens" in shortcomings["answers at once"]


SCHEMA_ANSWER = '{"k7": [417, 417], "note": "-"}'


def structured(
    answers: dict[str, str | Exception], fingerprint: str | None = None
) -> tuple[Dialect, list[str]]:
    """Probe a server that answers some ways and refuses the others; return the ways tried."""
    tried = []

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        way = next(iter({"tools", "guided_json"} & set(body)), "plain")
        if "response_format" in body:
            way = body["response_format"]["type"]
            schema = (
                body["response_format"]
                .get("json_schema", {})
                .get("schema", {})
            )
            way += (
                " without bounds"
                if schema and "minItems" not in str(schema)
                else ""
            )
        tried.append(way)
        reply = answers.get(way, Refused("no"))
        if isinstance(reply, Exception):
            raise reply
        return {
            **chat_response(message={"content": reply}),
            "system_fingerprint": fingerprint,
        }

    return asyncio.run(
        probe_structure(Dialect(model="m"), ask(answer, []))
    ), tried


@each_case(
    ("answers", "structure"),
    [
        ({"json_schema": SCHEMA_ANSWER}, "schema"),
        ({"json_object": SCHEMA_ANSWER}, "object"),
        ({"guided_json": SCHEMA_ANSWER}, "guided"),
        ({"tools": SCHEMA_ANSWER}, "tool"),
        ({"json_schema": '{"ready": true}', "tools": SCHEMA_ANSWER}, "tool"),
        ({"json_schema": '{"k7": [416, 417], "note": ""}'}, "text"),
        ({"json_schema": '{"k7": [], "note": ""}'}, "text"),
        (
            {"json_schema": "[417]", "json_object": "417", "tools": "{}"},
            "text",
        ),
        ({}, "text"),
        (
            {
                "json_schema": Refused("HTTP 500", broke=True),
                "json_object": SCHEMA_ANSWER,
            },
            "object",
        ),
    ],
)
def test_structure_is_the_first_way_that_gives_what_nobody_guesses(
    answers: dict[str, str | Exception], structure: str
) -> None:
    assert structured(answers)[0] == Dialect(model="m", structure=structure)  # type: ignore[arg-type]


VLLM = "vllm-0.32.0-d8299775"


LOST = '{"k7"' + "\n" * 60
"""What a small model says that may put any number of blanks."""


@each_case(
    ("fingerprint", "plain", "tag", "structure"),
    [
        (VLLM, SCHEMA_ANSWER, SCHEMA_ANSWER, "tag"),
        (VLLM, LOST, SCHEMA_ANSWER, "tag"),
        (VLLM, SCHEMA_ANSWER, LOST, "schema"),
        (
            VLLM,
            SCHEMA_ANSWER,
            Refused("unknown type structural_tag"),
            "schema",
        ),
        ("fp_a7d06e42a7", SCHEMA_ANSWER, SCHEMA_ANSWER, "schema"),
        (None, SCHEMA_ANSWER, SCHEMA_ANSWER, "schema"),
        (None, LOST, SCHEMA_ANSWER, "text"),
    ],
)
def test_vllm_is_asked_to_bound_white_space(
    fingerprint: str | None, plain: str, tag: str | Exception, structure: str
) -> None:
    dialect, tried = structured(
        {"json_schema": plain, "structural_tag": tag}, fingerprint
    )
    assert dialect == Dialect(model="m", structure=structure)  # type: ignore[arg-type]
    assert tried[0] == "json_schema"
    assert ("structural_tag" in tried) == (fingerprint == VLLM)


def test_bounds_are_left_out_only_where_they_are_refused() -> None:
    dialect, tried = structured({"json_schema without bounds": SCHEMA_ANSWER})
    assert dialect == Dialect(model="m", structure="schema", bounds=False)
    assert tried == ["json_schema", "json_schema without bounds"]
    _, tried = structured({"json_schema": "{}"})
    assert tried == ["json_schema", "json_object", "guided_json", "tools"]


def test_a_server_that_breaks_down_at_schemas_alone_is_asked_in_words() -> (
    None
):
    broken = Refused("HTTP 500", broke=True)
    ways = (
        "json_schema",
        "json_schema without bounds",
        "json_object",
        "guided_json",
        "tools",
    )
    dialect, tried = structured(
        {**dict.fromkeys(ways, broken), "plain": "ready"}
    )
    assert dialect.structure == "text"
    assert tried[-1] == "plain"
    with pytest.raises(TransientError, match="at everything: HTTP 500"):
        structured({**dict.fromkeys(ways, broken), "plain": broken})


def probe_squares(red: Any, blue: Any, blind: Any = "never asked") -> bool:
    """Return the result of the picture probe; an answer is a text with its prompt's tokens."""

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        content = body["messages"][0]["content"]
        urls = (
            []
            if isinstance(content, str)
            else [p["image_url"]["url"] for p in content[:1]]
        )
        reply = {0: blind, 1: red}[len(urls)]
        if urls and first_urls.setdefault("first", urls[0]) != urls[0]:
            reply = blue
        if isinstance(reply, Exception):
            raise reply
        text, tokens = reply
        return {
            **chat_response(message={"content": text}),
            "usage": {"prompt_tokens": tokens, "completion_tokens": 1},
        }

    first_urls: dict[str, str] = {}
    return asyncio.run(probe_images(Dialect(model="m"), ask(answer, [])))


@each_case(
    ("red", "blue", "blind", "takes"),
    [
        (("red", 70), ("blue", 70), "never asked", True),
        (("grey", 70), ("grey", 70), ("grey", 12), True),  # sees it, and badly
        (
            ("grey", 12),
            ("grey", 12),
            ("grey", 12),
            False,
        ),  # dropped without a word
        (("grey", None), ("grey", None), ("grey", None), False),
        (Refused("no pictures"), None, "never asked", False),
        (
            Refused("HTTP 500: can only concatenate str", broke=True),
            None,
            ("ready", 9),
            False,
        ),
    ],
)
def test_whether_pictures_reach_the_model(
    red: Any, blue: Any, blind: Any, takes: bool
) -> None:
    assert probe_squares(red, blue, blind) is takes


def test_a_server_in_trouble_says_nothing_about_pictures() -> None:
    with pytest.raises(TransientError, match="busy"):
        probe_squares(TransientError("HTTP 503: busy"), None)
    broken = Refused("HTTP 500", broke=True)
    with pytest.raises(TransientError, match="at everything"):
        probe_squares(broken, None, broken)


def test_perplexity_is_that_of_the_texts_own_tokens() -> None:
    # Four tokens before the answer, then one per word, -1, -2, -3 ...
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        rows: list[Any] = [None, *[{"1": {"logprob": -0.5}}] * 3]
        if body["messages"][-1]["role"] == "assistant":
            content = body["messages"][-1]["content"]
            if content.startswith(
                "\n"
            ):  # one token of the template's line break and the text's
                rows[-1] = {"2": {"logprob": -0.5}}
            words = content.split()
            rows += [
                {"1": {"logprob": -float(i)}}
                for i, _ in enumerate(words, start=1)
            ]
        return {"prompt_logprobs": rows}

    log: list[dict[str, Any]] = []
    send = post(answer, log)

    async def ask_logprobs(
        question: Request, dialect: Dialect
    ) -> list[PromptToken | None]:
        return read_logprobs(
            await send(to_body("m", question, dialect) | fields(question))
        )

    surprisals = asyncio.run(
        perplexities("m", ask_logprobs, ["a b c", "d"], "Describe.", ())
    )
    assert [(p.nll, p.n_tokens, p.n_characters) for p in surprisals] == [
        (6.0, 3, 5),
        (1.0, 1, 1),
    ]
    assert [body["max_tokens"] for body in log] == [
        1,
        1,
        1,
    ]  # nothing has to be said
    assert [body["prompt_logprobs"] for body in log] == [0, 0, 0]
    continued = [
        (b["add_generation_prompt"], b["continue_final_message"]) for b in log
    ]
    assert continued == [(True, False), (False, True), (False, True)]
    with pytest.raises(ItemError, match="empty text"):
        asyncio.run(perplexities("m", ask_logprobs, [""], "Describe.", ()))
    with pytest.raises(
        ItemError, match="makes one token of the end of the prompt and"
    ):
        asyncio.run(
            perplexities("m", ask_logprobs, ["\na b"], "Describe.", ())
        )


def failure(status: int, body: object, **headers: str) -> Exception:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    response = httpx2.Response(status, content=content, headers=headers)
    return Connection("here", "http://x/v1/", "NO_SUCH_KEY", 1.0)._failure(
        response.status_code, response.headers, content
    )


@each_case(
    ("status", "kind"),
    [
        (400, Refused), (413, Refused), (422, Refused), (401, ConfigError), (403, Forbidden),
        (404, NotThere), (402, RunError), (408, CallFailed), (409, CallFailed),
        (425, CallFailed), (429, CallFailed), (500, CallFailed), (503, CallFailed),
    ],
)  # fmt: skip
def test_what_each_status_means(status: int, kind: type[Exception]) -> None:
    error = failure(
        status, {"error": {"message": "why", "type": "t", "code": "c"}}
    )
    assert type(error) is kind
    assert "why (t, c)" in str(error)
    if isinstance(error, CallFailed):
        assert error.strain is (status in (408, 429))


@each_case(
    ("status", "error_text", "kind"),
    [
        (500, "This model's maximum context length is 4096 tokens", Refused),
        (500, "the request exceeds the available context size", Refused),
        (500, "prompt is too long: 9000 tokens", Refused),
        (500, "CUDA error in context 0", CallFailed),
        (500, "took too long", CallFailed),
        (429, "maximum tokens a minute", CallFailed),
    ],
)
def test_too_long_may_be_said_as_an_error_of_the_server(
    status: int, error_text: str, kind: type[Exception]
) -> None:
    assert type(failure(status, {"error": error_text})) is kind


@each_case(
    ("error_text", "kind"),
    [
        (
            "Your chosen model requires moderation and your input was flagged",
            Refused,
        ),
        (
            'm requires moderation. Your input was flagged for "violence"',
            Refused,
        ),
        ("Request not allowed by our content policy", Refused),
        ("The prompt has been flagged", Refused),
        ("You are not allowed to sample from this model", Forbidden),
        ("Your account was flagged; write to support", Forbidden),
        ("This key has no access to the model", Forbidden),
    ],
)
def test_a_forbidden_text_is_told_from_a_forbidden_key(
    error_text: str, kind: type[Exception]
) -> None:
    assert (
        type(failure(403, {"error": {"message": error_text, "code": 403}}))
        is kind
    )


@pytest.mark.parametrize(
    ("code", "kind"),
    [(400, Refused), (402, RunError), (502, CallFailed), ("x", CallFailed)],
)
def test_an_error_that_comes_with_success_is_read_as_what_it_is(
    code: object, kind: type[Exception]
) -> None:
    # As go-betweens send it: HTTP 200 and the error of the model's own server.
    error = Connection("here", "http://x/v1", None, 1.0)._wrapped(
        {"code": code, "message": "Provider returned error"}
    )
    assert type(error) is kind
    assert "Provider returned error" in str(error)


@each_case(
    ("address", "variable"),
    [
        ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("https://eu.api.openai.com/v1", "OPENAI_API_KEY"),
        ("http://api.openai.com/v1", ""),
        ("https://api.openai.com.example.org/v1", ""),
        ("https://myapi.openai.com/v1", ""),
        ("http://localhost:8000/v1", ""),
    ],
)
def test_the_key_goes_to_its_own_address_unless_it_is_named(
    address: str, variable: str
) -> None:
    assert Connection("here", address, None, 1.0).key_env == variable
    assert Connection("here", address, "MY_KEY", 1.0).key_env == "MY_KEY"


def test_no_quota_ends_the_run_and_too_many_requests_do_not() -> None:
    assert isinstance(
        failure(429, {"error": {"code": "insufficient_quota"}}), RunError
    )
    waits = failure(429, {"error": "slow down"}, **{"retry-after": "2.5"})
    assert isinstance(waits, CallFailed)
    assert waits.retry_after == 2.5


@each_case(
    ("body", "reason"),
    [
        (b"plain words", "plain words"),
        ({"error": "words"}, "words"),
        ({"detail": "words"}, "words"),
        ({"error": {"message": "words"}}, "words"),
        ({"error": {"message": "words", "code": 7}}, "words (7)"),
        (["a"], "['a']"),
    ],
)
def test_the_servers_own_words_are_told(body: object, reason: str) -> None:
    assert str(failure(400, body)) == reason


def test_reasons_are_cut_and_hold_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert len(str(failure(400, b"x" * 900))) == 500
    monkeypatch.setenv("NO_SUCH_KEY", "sk-secret")
    assert str(failure(400, b"bad sk-secret here")) == "bad [key] here"


def test_addresses_are_shown_without_a_password() -> None:
    assert (
        public_address("http://user:word@host:80/v1/?a=b")
        == "http://host:80/v1/"
    )
    assert public_address("http://host/v1/") == "http://host/v1"


def test_a_server_that_thinks_says_so_from_the_first_token_of_room() -> None:
    names = {name for name, _ in Dialect(model="m", thinking=1).shortcomings()}
    assert "answers at once" in names
    assert "answers at once" not in {
        name for name, _ in Dialect(model="m").shortcomings()
    }
