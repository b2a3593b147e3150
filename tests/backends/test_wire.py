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
from beholder.backends.calls import CallFailed
from beholder.backends.openai_http import Connection, NotThere, public_address
from beholder.backends.openai_probe import (
    THINKING_TOKENS,
    Refused,
    probe_images,
    probe_model,
    probe_structure,
)
from beholder.backends.openai_wire import Completion, Dialect, read_completion, read_usage, to_body
from beholder.backends.prompt_logprobs import fields, perplexities, read_logprobs
from beholder.errors import ConfigError, ItemError, RunError, TransientError

SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
PICTURE = Image(b"x", "image/png")


def request(**more: Any) -> Request:
    messages = (Message("system", ("Be brief.",)), Message("user", ("Hello.",)))
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
        "seed": request().sampling.seed,
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


@pytest.mark.parametrize(("wanted", "told", "sent"), [(20, 5, 5), (3, 5, 3), (20, 0, 0), (0, 5, 0)])
def test_no_more_log_probabilities_are_asked_for_than_the_server_tells(
    wanted: int, told: int, sent: int
) -> None:
    body = to_body("m", request(top_logprobs=wanted), Dialect(model="m", top_logprobs=told))
    assert body.get("top_logprobs", 0) == sent
    assert body.get("logprobs", False) is (sent > 0)


def test_number_of_answers_and_replicates() -> None:
    dialect = Dialect(model="m")
    assert "n" not in to_body("m", request(n=1), dialect)
    assert to_body("m", request(n=2), dialect)["n"] == 2
    repeated = replace(request(), replicate=4)
    assert to_body("m", repeated, dialect)["seed"] == request().sampling.seed + 4


def test_schema_as_servers_take_it() -> None:
    asked = replace(request(), schema=SCHEMA)
    body = to_body("m", asked, Dialect(model="m", structure="schema"))
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert body["response_format"]["json_schema"]["strict"] is True
    tool = to_body("m", asked, Dialect(model="m", structure="tool"))
    name = tool["tool_choice"]["function"]["name"]
    assert tool["tools"][0]["function"]["name"] == name
    assert tool["tools"][0]["function"]["parameters"] == SCHEMA
    words = to_body("m", asked, Dialect(model="m", structure="text"))
    assert [turn["role"] for turn in words["messages"]] == ["system", "user"]
    assert words["messages"][1]["content"].startswith("Hello.\n\n")


def test_joined_turns_keep_their_pictures() -> None:
    turns = (Message("user", (PICTURE, "What is it?")), Message("user", ("Say.",)))
    sent = to_body("m", Request(turns, Sampling(max_tokens=1)), Dialect(model="m", system=False))
    (turn,) = sent["messages"]
    assert [part["type"] for part in turn["content"]] == ["image_url", "text", "text"]
    assert turn["content"][0]["image_url"]["url"] == "data:image/png;base64,eA=="


def said(**choice: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"} | choice]}


def test_answers_as_servers_write_them() -> None:
    (plain,) = read_completion(said()).samples
    assert (plain.text, plain.finish, plain.first) == ("yes", "stop", None)
    call = {"tool_calls": [{"function": {"arguments": "{}"}}], "content": "aside"}
    (tool,) = read_completion(said(message=call, finish_reason="tool_calls")).samples
    assert (tool.text, tool.finish) == ("{}", "stop")
    (cut,) = read_completion(said(finish_reason="length", message={"content": None})).samples
    assert (cut.text, cut.finish) == ("", "length")
    (unsaid,) = read_completion(said(finish_reason=None)).samples
    assert unsaid.finish == "stop"


def test_first_token_is_read_without_what_has_no_probability() -> None:
    top = [{"token": "3", "logprob": -0.5}, {"token": "4", "logprob": float("-inf")}]
    (sample,) = read_completion(said(logprobs={"content": [{"top_logprobs": top}, {}]})).samples
    assert sample.first == (("3", -0.5),)
    silent: list[Any] = [None, {}, {"content": []}, {"content": [{"top_logprobs": top[1:]}]}]
    for nothing in silent:
        (sample,) = read_completion(said(logprobs=nothing)).samples
        assert sample.first is None


@pytest.mark.parametrize("data", [[], "x", {}, {"choices": []}, {"choices": 3}, {"choices": [{}]}])
def test_what_is_no_answer_may_be_asked_again(data: object) -> None:
    with pytest.raises(CallFailed):
        read_completion(data)


def test_tokens_that_are_not_told_are_not_known() -> None:
    details = {"cached_tokens": 3, "image_tokens": 4}
    counted = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": details}
    assert read_usage({"usage": counted}) == Usage(prompt=10, cached=3, completion=2, image=4)
    assert read_usage({}) is read_usage({"usage": None}) is None
    assert read_usage({"usage": {"prompt_tokens": None}}) is None


def post(answer: Callable[[dict[str, Any]], dict[str, Any]], log: list[dict[str, Any]]) -> Any:
    async def send(body: dict[str, Any]) -> dict[str, Any]:
        log.append(body)
        return answer(body)

    return send


def ask(
    answer: Callable[[dict[str, Any]], dict[str, Any]], log: list[dict[str, Any]]
) -> Callable[[Request, Dialect], Awaitable[Completion]]:
    send = post(answer, log)

    async def one(question: Request, dialect: Dialect) -> Completion:
        return read_completion(await send(to_body("m", question, dialect)))

    return one


def probed(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> tuple[Dialect, int]:
    log: list[dict[str, Any]] = []
    return asyncio.run(probe_model("m", ask(answer, log))), len(log)


def told(text: str = "ready", finish: str = "stop") -> dict[str, Any]:
    top = {"content": [{"top_logprobs": [{"token": "ready", "logprob": -0.1}]}]}
    return said(message={"content": text}, finish_reason=finish, logprobs=top)


def test_a_server_that_takes_all_is_asked_once() -> None:
    dialect, asked = probed(lambda body: {**told(), "model": "m-2026"})
    assert asked == 1
    assert dialect == Dialect(model="m-2026", top_logprobs=20)


@pytest.mark.parametrize("served", [None, ""])
def test_a_server_that_does_not_name_its_model_serves_what_was_asked(served: object) -> None:
    assert probed(lambda body: {**told(), "model": served})[0].model == "m"


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
        return told()

    dialect, asked = probed(strict)
    assert asked == 6
    assert dialect == Dialect(
        model="m", token_field="max_completion_tokens", temperature=False, system=False,
        seed=False, top_logprobs=5,
    )  # fmt: skip


def test_log_probabilities_are_given_up_last_and_a_plain_question_must_be_taken() -> None:
    def never(body: dict[str, Any]) -> dict[str, Any]:
        raise Refused("no")

    log: list[dict[str, Any]] = []
    with pytest.raises(ConfigError, match="refuses a plain question to m: no"):
        asyncio.run(probe_model("m", ask(never, log)))
    assert [body.get("top_logprobs", 0) for body in log] == [20, 5, 0]


def test_a_server_that_tells_no_log_probabilities_has_none() -> None:
    assert probed(lambda body: said(message={"content": "ready"}))[0].top_logprobs == 0


@pytest.mark.parametrize(
    ("text", "finish", "thinks"),
    [
        ("<think>hm</think>ready", "stop", True),
        ("\n<think>hm", "length", True),
        ("", "length", True),
        ("", "stop", False),
        ("ready", "length", False),
    ],
)
def test_a_model_that_thinks_gets_room_and_its_first_token_is_not_read(
    text: str, finish: str, thinks: bool
) -> None:
    dialect, _ = probed(lambda body: told(text, finish))
    assert dialect.thinking == (THINKING_TOKENS if thinks else 0)
    assert dialect.top_logprobs == (0 if thinks else 20)


def structured(answers: dict[str, str | Exception]) -> str:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        kind = "schema" if "response_format" in body else "tool"
        given = answers[kind]
        if isinstance(given, Exception):
            raise given
        return said(message={"content": given})

    return asyncio.run(probe_structure(Dialect(model="m"), ask(answer, [])))


@pytest.mark.parametrize(
    ("schema", "tool", "found"),
    [
        ('{"ready": true}', "", "schema"),
        (Refused("no"), '{"ready": false}', "tool"),
        ("ready", '{"ready": true}', "tool"),
        ('{"ready": "yes"}', "[]", "text"),
        ("[true]", Refused("no"), "text"),
        ("{}", "{}", "text"),
    ],
)
def test_structure_is_the_first_way_that_gives_the_wanted_object(
    schema: str | Exception, tool: str | Exception, found: str
) -> None:
    assert structured({"schema": schema, "tool": tool}) == found


@pytest.mark.parametrize(
    ("error", "takes"),
    [
        (None, True),
        (Refused("no pictures"), False),
        (TransientError("HTTP 500: this is no Vision model"), False),
        (TransientError("HTTP 500: image input"), False),
    ],
)
def test_whether_a_server_takes_pictures(error: Exception | None, takes: bool) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        if error is not None:
            raise error
        return told()

    assert asyncio.run(probe_images(Dialect(model="m"), ask(answer, []))) is takes


def test_a_server_in_trouble_says_nothing_about_pictures() -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        raise TransientError("HTTP 503: busy")

    with pytest.raises(TransientError, match="busy"):
        asyncio.run(probe_images(Dialect(model="m"), ask(answer, [])))


def test_perplexity_is_that_of_the_texts_own_tokens() -> None:
    # Four tokens before the answer, then one per word, -1, -2, -3 ...
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        rows: list[Any] = [None, *[{"1": {"logprob": -0.5}}] * 3]
        if body["messages"][-1]["role"] == "assistant":
            words = body["messages"][-1]["content"].split()
            rows += [{"1": {"logprob": -float(i)}} for i, _ in enumerate(words, start=1)]
        return {"prompt_logprobs": rows}

    log: list[dict[str, Any]] = []
    send = post(answer, log)

    async def ask_logprobs(question: Request, dialect: Dialect) -> list[float | None]:
        return read_logprobs(await send(to_body("m", question, dialect) | fields(question)))

    found = asyncio.run(perplexities("m", ask_logprobs, ["a b c", "d"], "Describe.", ()))
    assert [(p.nll, p.n_tokens, p.n_characters) for p in found] == [(6.0, 3, 5), (1.0, 1, 1)]
    assert [body["max_tokens"] for body in log] == [1, 1, 1]  # nothing has to be said
    assert [body["prompt_logprobs"] for body in log] == [0, 0, 0]
    continued = [(b["add_generation_prompt"], b["continue_final_message"]) for b in log]
    assert continued == [(True, False), (False, True), (False, True)]
    with pytest.raises(ItemError, match="empty text"):
        asyncio.run(perplexities("m", ask_logprobs, [""], "Describe.", ()))


def failure(status: int, body: object, **headers: str) -> Exception:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    response = httpx2.Response(status, content=content, headers=headers)
    return Connection("here", "http://x/v1/", "NO_SUCH_KEY", 1.0)._failure(
        response.status_code, response.headers, content
    )


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Refused), (413, Refused), (422, Refused), (401, ConfigError), (403, ConfigError),
        (404, NotThere), (402, RunError), (408, CallFailed), (409, CallFailed),
        (425, CallFailed), (429, CallFailed), (500, CallFailed), (503, CallFailed),
    ],
)  # fmt: skip
def test_what_each_status_means(status: int, kind: type[Exception]) -> None:
    error = failure(status, {"error": {"message": "why", "type": "t", "code": "c"}})
    assert type(error) is kind
    assert "why (t, c)" in str(error)
    if isinstance(error, CallFailed):
        assert error.strain is (status in (408, 429))


def test_no_quota_ends_the_run_and_too_many_requests_do_not() -> None:
    assert isinstance(failure(429, {"error": {"code": "insufficient_quota"}}), RunError)
    waits = failure(429, {"error": "slow down"}, **{"retry-after": "2.5"})
    assert isinstance(waits, CallFailed)
    assert waits.retry_after == 2.5


@pytest.mark.parametrize(
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


def test_reasons_are_cut_and_hold_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(str(failure(400, b"x" * 900))) == 500
    monkeypatch.setenv("NO_SUCH_KEY", "sk-secret")
    assert str(failure(400, b"bad sk-secret here")) == "bad [key] here"


def test_addresses_are_shown_without_a_password() -> None:
    assert public_address("http://user:word@host:80/v1/?a=b") == "http://host:80/v1/"
    assert public_address("http://host/v1/") == "http://host/v1"
