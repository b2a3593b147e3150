"""The openai backend against a real HTTP server, with and without faults."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder import judges
from beholder.backends import Message, Request, Sampling
from beholder.backends.openai import OpenAI
from beholder.backends.openai_http import retry_after
from beholder.errors import (
    ConfigError,
    ItemError,
    ModelChangedError,
    RunError,
    TransientError,
)
from beholder.judges import AnswerFile, Answers, Budget, Draw
from beholder.judges.operations import (
    Decompose,
    MeasureSurprisal,
    Presence,
    Question,
    Rewrite,
)
from servers.faults import (
    FaultServer,
    Refusal,
    completion,
    probe_answer,
    run_beside,
    send_answer,
    serving,
)
from toy import clock

HURRY: dict[str, Any] = {"wait": 0.01, "max_wait": 0.2, "timeout": 1.5}


def plain_request(text: str = "hello", **sampling: Any) -> Request:
    return Request((Message("user", (text,)),), Sampling(**sampling))


def grade_of(text: str) -> int:
    """A grade from 1 to 5 that depends on the whole prompt."""
    return hashlib.sha256(text.encode()).digest()[0] % 5 + 1


def clever(body: dict[str, Any]) -> dict[str, Any]:
    """A model that does all it is asked to: probes, grades and statements."""
    last = body["messages"][-1]["content"]
    if "response_format" in body:
        if probed := probe_answer(body):
            return probed
        rows = [
            {
                "text": f"fact {grade_of(last)}",
                "subject": None,
                "relevant": True,
            }
        ]
        return completion(json.dumps({"statements": rows}))
    if body.get("logprobs"):
        grade = grade_of(last)
        next_grade = grade % 5 + 1
        return completion(
            str(grade),
            first={str(grade): math.log(0.9), str(next_grade): math.log(0.1)},
        )
    return completion("ready")


async def ask_items(judge: judges.Judge, n: int) -> list[tuple[float, str]]:
    """Two operations per item: a grade and a decomposition."""

    async def grade_item(i: int) -> tuple[float, str]:
        grades = await judge.ask(
            Presence([Question("entity", f"thing {i}")], f"text {i}")
        )
        statements = await judge.ask(Decompose(f"text {i}"))
        return grades[0].value, statements[0].text

    return list(await asyncio.gather(*(grade_item(i) for i in range(n))))


@pytest.mark.slow  # 500 items, thousands of tries
def test_500_items_with_30_percent_faults_are_complete_equal_and_paid_once() -> (
    None
):
    with serving(FaultServer(clever)) as calm:
        judge = judges.judge("openai:m", base_url=calm.url)
        expected = asyncio.run(ask_items(judge, 500))
    with serving(FaultServer(clever, fault_rate=0.3)) as stormy:
        judge = judges.judge("openai:m", base_url=stormy.url, **HURRY)
        grades = run_beside(stormy, ask_items(judge, 500))
    assert grades == expected
    assert len(stormy.paid) >= 1000
    assert set(stormy.paid.values()) == {1}
    assert min(stormy.shown[fault] for fault in stormy.faults) >= 5, (
        "each kind of fault was met"
    )


def test_wrong_schema_gets_one_repair_that_says_what_was_wrong() -> None:
    def stubborn_once(body: dict[str, Any]) -> dict[str, Any]:
        if "response_format" in body and len(body["messages"]) == 2:
            return completion('{"facts": []}')
        return clever(body)

    with serving(FaultServer(stubborn_once)) as server:
        judge = judges.judge("openai:m", base_url=server.url)
        statements = asyncio.run(judge.ask(Decompose("A cat.")))
    assert len(statements) == 1
    repair = server.bodies[-1]["messages"]
    assert [m["role"] for m in repair] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert "the field 'statements' is missing" in repair[-1]["content"]


def test_wrong_schema_twice_is_a_failure_that_keeps_the_raw_answer(
    tmp_path: Path,
) -> None:
    def stubborn(body: dict[str, Any]) -> dict[str, Any]:
        schema = (
            body.get("response_format", {})
            .get("json_schema", {})
            .get("schema", {})
        )
        return (
            completion('{"facts": 7}')
            if "statements" in str(schema)
            else clever(body)
        )

    file = AnswerFile(tmp_path / "a.sqlite")
    with serving(FaultServer(stubborn)) as server:
        judge = judges.judge(
            "openai:m", base_url=server.url, answers=Answers(file)
        )
        with pytest.raises(
            ItemError,
            match=r"no usable answer to decompose.*'\{\"facts\": 7\}'",
        ):
            asyncio.run(judge.ask(Decompose("A cat.")))
    texts = [
        r.answer.text for r in file.records() if r.operation == "decompose"
    ]
    file.close()
    assert texts == ['{"facts": 7}', '{"facts": 7}']


def test_answer_cut_by_length_is_a_failure_and_not_repaired() -> None:
    def cut(body: dict[str, Any]) -> dict[str, Any]:
        if body["messages"][0]["content"].startswith("You take"):
            return completion('{"statements": [{"text": "a', finish="length")
        return clever(body)

    with serving(FaultServer(cut)) as server:
        judge = judges.judge("openai:m", base_url=server.url)
        with pytest.raises(
            ItemError, match="cut off in its answer to decompose after"
        ):
            asyncio.run(judge.ask(Decompose("A cat.")))
        n_asked = sum(
            "You take" in b["messages"][0]["content"] for b in server.bodies
        )
    assert n_asked == 1


def test_a_model_that_refuses_is_not_asked_again() -> None:
    """The hosted API tells a refusal apart from the text, which is null then."""

    def unwilling(body: dict[str, Any]) -> dict[str, Any]:
        if body["messages"][0]["content"].startswith("You take"):
            return completion(None, refusal="I cannot help with that.")
        return clever(body)

    with serving(FaultServer(unwilling)) as server:
        judge = judges.judge("openai:m", base_url=server.url)
        with pytest.raises(
            ItemError,
            match=r"refused to answer decompose: 'I cannot help with that\.'",
        ):
            asyncio.run(judge.ask(Decompose("A cat.")))
        n_asked = sum(
            "You take" in b["messages"][0]["content"] for b in server.bodies
        )
    assert n_asked == 1


def test_equal_questions_in_flight_are_asked_once_and_replicates_apart() -> (
    None
):
    async def ask(judge: judges.Judge) -> None:
        question = [Question("entity", "a cat")]
        await asyncio.gather(
            *(judge.ask(Presence(question, "A cat.")) for _ in range(10))
        )
        await asyncio.gather(
            *(
                judge.ask(Presence(question, "A cat."), Draw(r))
                for r in range(3)
            )
        )

    with serving(FaultServer(clever)) as server:
        asyncio.run(ask(judges.judge("openai:m", base_url=server.url)))
    bodies = [
        b for b in server.bodies if "a cat" in b["messages"][-1]["content"]
    ]
    assert len(bodies) == 3


def test_a_model_that_two_judges_name_in_two_ways_is_asked_once() -> None:
    answers = Answers()

    async def ask(*members: judges.Judge) -> None:
        question = [Question("entity", "a cat")]
        await asyncio.gather(
            *(judge.ask(Presence(question, "A cat.")) for judge in members)
        )

    with serving(FaultServer(clever)) as server:
        spelled = ("openai:m", "openai('m', concurrency=8)")
        asyncio.run(
            ask(
                *(
                    judges.judge(s, answers=answers, base_url=server.url)
                    for s in spelled
                )
            )
        )
        bodies = [
            b for b in server.bodies if "a cat" in b["messages"][-1]["content"]
        ]
        assert len(bodies) == 1


def test_a_panel_of_one_model_twice_keeps_what_it_paid_for() -> None:
    """The first answers of the seats are used again at every later start."""
    grades = iter("52")

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        is_question = "a cat" in str(body["messages"][-1]["content"])
        return completion(next(grades)) if is_question else completion("ready")

    answers = Answers()
    with serving(FaultServer(reply)) as server:
        values = []
        for _ in range(2):
            panel = judges.judge(
                "panel(openai:m, openai:m)",
                answers=answers,
                base_url=server.url,
                samples=1,
            )
            grade = asyncio.run(
                panel.ask(Presence([Question("entity", "a cat")], "A cat."))
            )[0]
            values.append(grade.value)
    assert values == [3.5, 3.5]


def test_the_password_of_an_address_reaches_the_server_and_no_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is quoted in the address is sent as it is; it goes before a key."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_KEY", "key-0123456789")
    with serving(FaultServer(clever)) as server:
        address = server.url.replace(
            "http://", "http://us%40er:p%2Fw-planted@"
        )
        for key_env in (None, "MY_KEY"):
            backend = OpenAI("m", base_url=address, key_env=key_env)
            asyncio.run(backend.chat(plain_request()))
    # base64 of us@er:p/w-planted, with the command line's tool
    assert server.keys == {"Basic dXNAZXI6cC93LXBsYW50ZWQ="}
    assert "/v1/chat/completions" in caplog.text, (
        "the log tells requests at all"
    )
    assert "planted" not in caplog.text


def test_second_run_with_the_cache_costs_no_call_and_is_complete_alone(
    tmp_path: Path,
) -> None:
    shared = AnswerFile(tmp_path / "cache.sqlite")
    first = AnswerFile(tmp_path / "first.sqlite")
    second = AnswerFile(tmp_path / "second.sqlite")
    with serving(FaultServer(clever)) as server:
        judge = judges.judge(
            "openai:m", base_url=server.url, answers=Answers(first, shared)
        )
        expected = asyncio.run(ask_items(judge, 5))
        n_calls = len(server.bodies)
        judge = judges.judge(
            "openai:m", base_url=server.url, answers=Answers(second, shared)
        )
        assert asyncio.run(ask_items(judge, 5)) == expected
        assert len(server.bodies) == n_calls
        judge = judges.judge(
            "openai:m", base_url=server.url, answers=Answers(second)
        )
        assert asyncio.run(ask_items(judge, 5)) == expected
        assert len(server.bodies) == n_calls
    for file in (shared, first, second):
        file.close()


def test_extra_fields_are_sent_and_are_part_of_key_and_identity() -> None:
    answers = Answers()
    with serving(FaultServer(clever)) as server:
        plain = judges.judge("openai:m", base_url=server.url, answers=answers)
        extra = {"chat_template_kwargs": {"enable_thinking": False}}
        extended = judges.judge(
            "openai:m", base_url=server.url, answers=answers, extra=extra
        )
        for judge in (plain, extended, extended):
            asyncio.run(judge.ask(Rewrite("man holds cup")))
        sent = [
            b for b in server.bodies if "noun phrase" in str(b["messages"])
        ]
        assert [b.get("chat_template_kwargs") for b in sent] == [
            None,
            {"enable_thinking": False},
        ]
        assert plain.identity != extended.identity


def test_a_field_that_is_none_is_left_out_of_every_body() -> None:
    with serving(FaultServer(clever)) as server:
        backend = OpenAI(
            "m", base_url=server.url, extra={"seed": None, "top_k": 3}
        )
        asyncio.run(backend.chat(plain_request(temperature=0.7)))
    assert ["seed" in body for body in server.bodies] == [False] * 2
    assert [body["top_k"] for body in server.bodies] == [3] * 2


def test_another_loop_per_call_works_and_remembers() -> None:
    with serving(FaultServer(clever)) as server:
        judge = judges.judge(
            "openai:m", base_url=server.url, requests_per_minute=60000
        )
        values = [
            asyncio.run(
                judge.ask(Presence([Question("entity", "a cat")], "A cat."))
            )[0].value
            for _ in range(3)
        ]
    assert len(set(values)) == 1
    assert len(server.bodies) == 2  # the probe and the question


def test_retry_after_is_waited_for() -> None:
    async def seconds(backend: OpenAI) -> float:
        await backend.capabilities()
        return clock.now()

    server = FaultServer(
        clever, fault_rate=1.0, faults=("429-later",), most_in_a_row=1
    )
    with serving(server):
        backend = OpenAI("m", base_url=server.url, wait=0.001, max_wait=1.0)
        assert 0.05 <= run_beside(server, seconds(backend)) < 0.06
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("0.5", 0.5),
        ("-1", 0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 90),
        ("Wed, 21 Oct 2015 07:26:29 GMT", 0),  # a second ago: at once
        ("soon", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(
    header: str, seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime(2015, 10, 21, 7, 26, 30, tzinfo=UTC).timestamp()
    monkeypatch.setattr("time.time", lambda: now)
    assert retry_after({"retry-after": header}) == seconds


def test_server_that_always_fails_is_a_transient_error_with_the_reason() -> (
    None
):
    server = FaultServer(
        clever, fault_rate=1.0, faults=("500",), most_in_a_row=99
    )
    with serving(server):
        backend = OpenAI("m", base_url=server.url, wait=0.001, attempts=3)
        with pytest.raises(
            TransientError, match=r"breaks down .* HTTP 500: planned 500"
        ):
            asyncio.run(backend.capabilities())
        server.fault_rate = 0.0
        asyncio.run(backend.capabilities())
        server.fault_rate, n_before = 1.0, len(server.bodies)
        with pytest.raises(
            TransientError, match=r"HTTP 500: .*planned 500.*\(tried 3 times\)"
        ):
            asyncio.run(backend.chat(plain_request()))
    assert len(server.bodies) == n_before + 3


def test_nobody_listening_at_the_start_is_told_at_once_with_the_address() -> (
    None
):
    backend = OpenAI("m", base_url="http://user:secret@127.0.0.1:9/v1")
    with pytest.raises(
        ConfigError, match=r"is http://127\.0\.0\.1:9/v1 its address"
    ) as caught:
        asyncio.run(backend.chat(plain_request()))
    assert "secret" not in str(caught.value)


def test_server_that_goes_away_is_a_transient_failure() -> None:
    with serving(FaultServer(clever)) as server:
        backend = OpenAI("m", base_url=server.url, wait=0.001, attempts=2)
        asyncio.run(backend.capabilities())
    with pytest.raises(
        TransientError, match=r"no connection .*\(tried 2 times\)"
    ):
        asyncio.run(backend.chat(plain_request()))


def test_a_text_that_is_flagged_fails_alone() -> None:
    def strict(body: dict[str, Any]) -> dict[str, Any]:
        if "a knife" in body["messages"][-1]["content"]:
            raise Refusal(
                403, "m requires moderation, and your input was flagged"
            )
        return clever(body)

    async def ask(judge: judges.Judge) -> list[Any]:
        questions = (
            judge.ask(Rewrite(f"man holds {thing}"))
            for thing in ("a knife", "a cup")
        )
        return list(await asyncio.gather(*questions, return_exceptions=True))

    with serving(FaultServer(strict)) as server:
        refused, rewritten = asyncio.run(
            ask(judges.judge("openai:m", base_url=server.url))
        )
    assert isinstance(refused, ItemError)
    assert "your input was flagged" in str(refused)
    assert isinstance(rewritten, str)


@pytest.mark.parametrize(
    ("status", "message", "code", "error"),
    [
        (401, "bad key", None, ConfigError),
        (404, "no such model", None, ConfigError),
        (429, "You exceeded your quota", "insufficient_quota", RunError),
        (402, "no credit", None, RunError),
    ],
)
def test_errors_that_concern_all_calls_end_the_run(
    status: int, message: str, code: str | None, error: type[Exception]
) -> None:
    def refuse(body: dict[str, Any]) -> dict[str, Any]:
        raise Refusal(status, message, code)

    with serving(FaultServer(refuse)) as server:
        with pytest.raises(error, match=message):
            asyncio.run(OpenAI("m", base_url=server.url).chat(plain_request()))
        assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("models", "address", "hint"),
    [
        (
            {"data": [{"id": "qwen3-14b"}, {"id": "llama"}]},
            "",
            "the server has qwen3-14b, llama$",
        ),
        (None, "", "no such model$"),
        (None, "bare", r"most addresses end in /v1: http://\S+/v1$"),
        ({"data": "odd"}, "", "no such model$"),
    ],
)
def test_an_unknown_model_or_address_gets_a_suggestion(
    models: Any, address: str, hint: str
) -> None:
    def refuse(body: dict[str, Any]) -> dict[str, Any]:
        raise Refusal(404, "no such model")

    with serving(FaultServer(refuse, models=models)) as server:
        url = server.url.removesuffix("/v1") if address else server.url
        with pytest.raises(ConfigError, match=hint):
            asyncio.run(OpenAI("qwen3", base_url=url).chat(plain_request()))


def test_a_named_variable_without_a_key_is_reported_before_any_request() -> (
    None
):
    with serving(FaultServer(clever)) as server:
        backend = OpenAI("m", base_url=server.url, key_env="NO_SUCH_VARIABLE")
        with pytest.raises(
            ConfigError, match="set the environment variable NO_SUCH_VARIABLE"
        ):
            asyncio.run(backend.chat(plain_request()))
        assert server.bodies == []


def test_an_unknown_option_is_named_with_those_there_are() -> None:
    with pytest.raises(
        ConfigError,
        match=r"no option 'timeot'; did you mean 'timeout'\?.*prices",
    ):
        OpenAI("m", timeot=3)


def short_of_room(body: dict[str, Any]) -> dict[str, Any]:
    """A server whose model has little room."""
    if len(body["messages"][-1]["content"]) > 1000:
        raise Refusal(
            400, "This model's maximum context length is 100 tokens."
        )
    return clever(body)


@pytest.mark.parametrize(
    ("models", "takes"),
    [
        (
            {"data": [{"id": "m", "max_model_len": 100}]},
            "takes 100",
        ),  # as vLLM and SGLang tell it
        (
            {"data": [{"id": "other"}, {"id": "m", "context_length": 100}]},
            "takes 100",
        ),
        ({"data": [{"id": "m"}]}, "takes fewer"),
        (None, "takes fewer"),
    ],
)
def test_prompt_too_long_for_the_server_is_a_failure_that_tells_length_and_room(
    models: dict[str, Any] | None, takes: str
) -> None:
    with serving(FaultServer(short_of_room, models=models)) as server:
        backend = OpenAI("m", base_url=server.url)
        # 2000 bytes and 12 for the turn, 3 to a token, and 48 tokens for the answer
        pattern = rf"with its answer it has about 718 tokens, and openai:m@.* {takes}\. It is not cut"
        with pytest.raises(
            ItemError, match=rf"{pattern}.*maximum context length is 100"
        ) as caught:
            asyncio.run(backend.chat(plain_request("x" * 2000, max_tokens=48)))
        assert "shorten the text or use a judge with more room" in str(
            caught.value
        )
        sent = [b["messages"][-1]["content"] for b in server.bodies]
        assert sent[1:] == ["x" * 2000], "sent once, whole"


def test_prompt_beyond_the_room_that_the_user_told_is_never_sent() -> None:
    with serving(FaultServer(clever)) as server:
        backend = OpenAI("m", base_url=server.url, context=300)
        with pytest.raises(
            ItemError, match=r"about 314 tokens, and openai:m@.* takes 300\."
        ):
            asyncio.run(backend.chat(plain_request("x" * 900, max_tokens=10)))
        assert len(server.bodies) == 1, "only the probe was sent"


@pytest.mark.parametrize(
    "message",
    [
        "the request exceeds the available context size, try increasing it",  # llama.cpp
        "Prompt contains 33000 tokens, too large for model with 32768 maximum context length",
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",  # TGI
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
def test_every_servers_way_to_say_too_long_is_understood(message: str) -> None:
    def refuse(body: dict[str, Any]) -> dict[str, Any]:
        if "hello" in str(body["messages"]):
            raise Refusal(400, message)
        return clever(body)

    with (
        serving(FaultServer(refuse)) as server,
        pytest.raises(ItemError, match="the prompt does not fit"),
    ):
        asyncio.run(OpenAI("m", base_url=server.url).chat(plain_request()))


def test_parameters_that_the_server_does_not_know_are_left_out() -> None:
    def fussy(body: dict[str, Any]) -> dict[str, Any]:
        for field, message in (
            (
                "max_tokens",
                "Unsupported parameter: use 'max_completion_tokens' instead.",
            ),
            ("temperature", "Unsupported value: 'temperature'"),
            ("seed", "Unknown field seed"),
            ("logprobs", "this model does not do that"),
        ):
            if field in body:
                raise Refusal(400, message)
        if any(m["role"] == "system" for m in body["messages"]):
            raise Refusal(400, "System role not supported")
        return completion("ready")

    with serving(FaultServer(fussy)) as server:
        backend = OpenAI("m", base_url=server.url)
        request = Request(
            (Message("system", ("Be brief.",)), Message("user", ("Hi",)))
        )
        answer = asyncio.run(backend.chat(request))
    assert answer.text == "ready"
    last = server.bodies[-1]
    assert set(last) == {"model", "messages", "max_completion_tokens"}
    assert last["messages"] == [{"role": "user", "content": "Be brief.\n\nHi"}]


@pytest.mark.parametrize("structure", ["tool", "text"])
def test_server_without_schemas_is_asked_by_tool_or_in_words(
    structure: str,
) -> None:
    def limited(body: dict[str, Any]) -> dict[str, Any]:
        if "response_format" in body or (
            "tools" in body and structure == "text"
        ):
            raise Refusal(400, "not supported")
        if "tools" in body:
            probed = probe_answer(body) or completion('{"statements": []}')
            arguments = probed["choices"][0]["message"]["content"]
            call = {"function": {"name": "answer", "arguments": arguments}}
            return completion(None, finish="tool_calls", tool_calls=[call])
        if '"statements": [{"text": "..."' in body["messages"][-1]["content"]:
            return completion('Here it is:\n```json\n{"statements": []}\n```')
        return completion("ready")

    with serving(FaultServer(limited)) as server:
        backend = OpenAI("m", base_url=server.url)
        judge = judges.LLMJudge(backend)
        assert asyncio.run(judge.ask(Decompose("A cat."))) == []
        assert (
            asyncio.run(backend.capabilities(schema=True)).structure
            == structure
        )


def test_without_logprobs_grades_are_the_mean_of_samples_and_the_identity_says_so() -> (
    None
):
    digits = iter("44535")

    def mute(body: dict[str, Any]) -> dict[str, Any]:
        # Takes n and gives one choice each, as many servers do.
        words = "word and any number" in str(body["messages"])
        if words:
            return completion(next(replies))
        return completion(
            next(digits) if "cat" in str(body["messages"]) else "ready"
        )

    replies = iter(["tree 1", "tree 1", "sea 2"])
    with serving(FaultServer(mute)) as server:
        judge = judges.judge("openai:m", base_url=server.url)
        grade = asyncio.run(
            judge.ask(Presence([Question("entity", "a cat")], "A cat."))
        )[0]
        identity = judge.identity
    assert grade.value == pytest.approx((4 + 4 + 5 + 3 + 5) / 5)
    assert grade.read == "samples"
    assert "served-1(mean of 5," in identity


def test_copies_of_one_answer_are_asked_for_once() -> None:
    def copies(body: dict[str, Any]) -> dict[str, Any]:
        return completion(
            "**4**." if "cat" in str(body["messages"]) else "ready"
        )

    with serving(FaultServer(copies)) as server:
        judge = judges.judge("openai:m", base_url=server.url)
        questions = [
            Question("entity", "a cat"),
            Question("entity", "two cats"),
        ]
        grades = asyncio.run(judge.ask(Presence(questions, "A cat.")))
    assert [grade.value for grade in grades] == [4.0, 4.0]
    bodies = [body for body in server.bodies if "cat" in str(body["messages"])]
    assert [body.get("n", 1) for body in bodies] == [1, 1]


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_a_server_that_answers_500_to_schemas_is_asked_in_the_form_it_knows(
    attempts: int,
) -> None:
    # llama-cpp-python 0.3.36: json_schema is HTTP 500, json_object with a schema is taken.
    def llama_cpp(body: dict[str, Any]) -> dict[str, Any]:
        if body.get("response_format", {}).get("type") == "json_schema":
            raise Refusal(500, "Input should be 'text' or 'json_object'")
        if "response_format" in body and not probe_answer(body):
            return completion(
                '{"statements": [{"text": "a cat", "relevant": true}]}'
            )
        return probe_answer(body) or completion("ready", first={"ready": -0.1})

    with serving(FaultServer(llama_cpp)) as server:
        judge = judges.judge(
            "openai:m", base_url=server.url, **{**HURRY, "attempts": attempts}
        )
        statements = run_beside(server, judge.ask(Decompose("A cat.")))
    assert [statement.text for statement in statements] == ["a cat"]
    assert server.bodies[-1]["response_format"]["type"] == "json_object"


def test_an_error_within_a_success_is_told_in_the_servers_words() -> None:
    def wraps(body: dict[str, Any]) -> dict[str, Any]:
        if "wrong" in str(body["messages"]):
            return {"error": {"code": 400, "message": "moderation flagged it"}}
        return clever(body)

    with serving(FaultServer(wraps)) as server:
        backend = OpenAI("m", base_url=server.url)
        with pytest.raises(
            ItemError, match="refused the request: moderation flagged it"
        ):
            asyncio.run(backend.chat(plain_request("wrong")))


def test_no_key_goes_to_an_address_of_ones_own_unless_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    with serving(FaultServer(clever)) as server:
        asyncio.run(OpenAI("m", base_url=server.url).chat(plain_request()))
        assert server.keys <= {"", None}

    def wants_key(body: dict[str, Any]) -> dict[str, Any]:
        raise Refusal(401, "who are you")

    pattern = r"none is sent .* unless .* key_env='NAME'"
    with (
        serving(FaultServer(wants_key)) as server,
        pytest.raises(ConfigError, match=pattern),
    ):
        asyncio.run(OpenAI("m", base_url=server.url).chat(plain_request()))


def test_key_env_sends_its_key_for_a_run_with_other_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-planted-0123456789")
    rows = [{"candidate": "a dog", "references": ["the dog"]}]
    with serving(FaultServer(clever)) as server:
        run = beholder.score(
            rows, ["clair", "cosine"], judge="openai:m", embedder="static", base_url=server.url,
            key_env="MY_KEY", out=tmp_path / "run",
        )  # fmt: skip
        assert server.keys == {"Bearer sk-planted-0123456789"}
    assert "sk-planted" not in (run.path / "run.json").read_text("utf-8")


def test_thinking_model_gets_room_and_its_thoughts_are_not_read() -> None:
    def thinker(body: dict[str, Any]) -> dict[str, Any]:
        if body["max_tokens"] < 100:
            return completion("", finish="length")
        if "cat" in str(body["messages"]):
            return completion("<think>It is 1. No, 2.</think>\n5")
        return completion("<think>hm</think>ready")

    with serving(FaultServer(thinker)) as server:
        judge = judges.judge("openai:m", base_url=server.url, samples=2)
        grade = asyncio.run(
            judge.ask(Presence([Question("entity", "a cat")], "A cat."))
        )[0]
    assert grade.value == 5.0


def test_moved_model_alias_ends_the_run_before_answers_mix() -> None:
    served = iter(["snapshot-1", "snapshot-1", "snapshot-2"])

    def moving(body: dict[str, Any]) -> dict[str, Any]:
        return completion("a phrase", model=next(served))

    with serving(FaultServer(moving)) as server:
        judge = judges.judge("openai:m", base_url=server.url)
        assert asyncio.run(judge.ask(Rewrite("cat black"))) == "a phrase"
        with pytest.raises(
            ModelChangedError, match=r"'snapshot-2'.*'snapshot-1'"
        ):
            asyncio.run(judge.ask(Rewrite("dog red")))


def test_a_new_run_after_a_model_alias_moved_begins_with_the_new_model(
    tmp_path: Path,
) -> None:
    """The facts in the cache are of the old model; the old run still refuses."""
    model = "snapshot-1"
    cache = AnswerFile(tmp_path / "cache.sqlite")
    runs = [AnswerFile(tmp_path / f"run-{i}.sqlite") for i in range(2)]

    def served(body: dict[str, Any]) -> dict[str, Any]:
        return completion("a phrase", model=model)

    with serving(FaultServer(served)) as server:

        def ask_rewrite(run: AnswerFile, thing: str) -> str:
            answers = Answers(run, cache)
            judge = judges.judge(
                "openai:m", answers=answers, base_url=server.url
            )
            return asyncio.run(judge.ask(Rewrite(thing)))

        assert ask_rewrite(runs[0], "cat black") == "a phrase"
        model = "snapshot-2"
        with pytest.raises(
            ModelChangedError, match=r"'snapshot-2'.*'snapshot-1'"
        ):
            ask_rewrite(runs[0], "dog red")
        assert ask_rewrite(runs[1], "dog red") == "a phrase"
        with pytest.raises(ModelChangedError, match="begin a new run"):
            ask_rewrite(runs[0], "bird blue")
    assert [record.model for record in runs[1].records()] == ["snapshot-2"]
    for file in (cache, *runs):
        file.close()


def test_max_cost_stops_before_the_call_that_would_pass_it_and_the_rest_resumes(
    tmp_path: Path,
) -> None:
    prices = tmp_path / "prices.json"
    # The server counts 100 prompt (20 cached) and 10 answer tokens per call.
    prices.write_text(
        '{"models": {"served-1": {"input": 100, "cached": 50, "output": 1000}}}'
    )
    each = (80 * 100 + 20 * 50 + 10 * 1000) / 1e6
    file = AnswerFile(tmp_path / "run.sqlite")
    texts = [f"thing {i}" for i in range(40)]

    async def ask_all(judge: judges.Judge) -> None:
        await asyncio.gather(*(judge.ask(Rewrite(text)) for text in texts))

    with serving(FaultServer(lambda body: completion("a phrase"))) as server:
        options: dict[str, Any] = {
            "base_url": server.url,
            "prices": str(prices),
        }
        budget = Budget(max_cost=0.5)
        judge = judges.judge(
            "openai:m", answers=Answers(file), budget=budget, **options
        )
        with pytest.raises(
            RunError, match=r"pass --max-cost 0.5 .*higher --max-cost"
        ):
            asyncio.run(ask_all(judge))
        assert file.cost() == pytest.approx(budget.spent)
        n_bought = round(
            budget.spent / each
        )  # the question what the server can do is one of them
        assert 0.4 < budget.spent <= 0.5
        assert len(server.bodies) == n_bought, (
            "every call that was made is counted"
        )
        budget = Budget(max_cost=2.0, spent=file.cost())
        judge = judges.judge(
            "openai:m", answers=Answers(file), budget=budget, **options
        )
        asyncio.run(ask_all(judge))
        assert len(server.bodies) == 1 + len(texts)
    file.close()


def test_max_cost_without_a_known_price_is_refused() -> None:
    with serving(FaultServer(clever)) as server:
        judge = judges.judge(
            "openai:m", base_url=server.url, budget=Budget(max_cost=1.0)
        )
        with pytest.raises(ConfigError, match="no known price"):
            asyncio.run(judge.ask(Rewrite("cat black")))
        assert len(server.bodies) == 1, (
            "the server may answer as a model with a price"
        )


def test_concurrency_stays_below_its_ceiling_and_is_used() -> None:
    class Crowded(FaultServer):
        """After the first 20 answers gives none until 12 requests wait for theirs."""

        full = asyncio.Event()

        async def before_answer(self) -> None:
            if len(self.bodies) > 20 and self.in_flight >= 12:
                self.full.set()
            if len(self.bodies) > 20:
                await self.full.wait()

    with serving(Crowded(clever)) as server:
        judge = judges.judge("openai:m", base_url=server.url, concurrency=12)
        asyncio.run(ask_items(judge, 100))
    assert server.most_in_flight == 12


def test_request_rate_is_kept() -> None:
    ends: list[float] = []

    async def send(backend: OpenAI, i: int) -> None:
        await backend.chat(plain_request(str(i)))
        ends.append(clock.now())

    async def ask(backend: OpenAI) -> None:
        await asyncio.gather(*(send(backend, i) for i in range(60)))

    with serving(FaultServer(clever)) as server:
        # 240 a minute: a bucket of 20, of which the probe takes one, then 4 a second.
        backend = OpenAI("m", base_url=server.url, requests_per_minute=240)
        run_beside(server, ask(backend))
    expected = [0.0] * 19 + [n / 4 for n in range(1, 42)]
    assert ends == pytest.approx(expected, abs=0.01)


def test_the_key_reaches_the_server_and_no_file_or_message(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    planted = "sk-planted-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", planted)
    messages = []

    def leaky(body: dict[str, Any]) -> dict[str, Any]:
        if "zebra" in str(body["messages"]):
            raise Refusal(400, f"request with key {planted} refused")
        return clever(body)

    with serving(FaultServer(leaky, fault_rate=0.3)) as server:
        file = AnswerFile(tmp_path / "run.sqlite")
        judge = judges.judge(
            "openai:m",
            base_url=server.url,
            key_env="OPENAI_API_KEY",
            answers=Answers(file),
            **HURRY,
        )
        run_beside(server, ask_items(judge, 20))
        with pytest.raises(ItemError, match="refused") as caught:
            run_beside(server, judge.ask(Rewrite("zebra red")))
        messages = [
            str(caught.value),
            judge.identity,
            repr(judge),
            caplog.text,
        ]
        assert server.keys == {f"Bearer {planted}"}
        written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        file.close()
    assert len(written) > 1000
    assert planted.encode() not in written
    assert not any(planted in message for message in messages)


def test_hosted_model_without_a_key_says_which_variable_to_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        asyncio.run(OpenAI("gpt-4.1").capabilities())


def test_perplexity_reads_the_log_probabilities_of_the_text_alone() -> None:
    def vllm(body: dict[str, Any]) -> dict[str, Any]:
        rows: list[dict[str, Any] | None] = [None, {"5": {"logprob": -9.0}}]
        if body.get("continue_final_message"):
            rows += [{"7": {"logprob": -1.5}}, {"8": {"logprob": -0.25}}]
        return {**completion("x"), "prompt_logprobs": rows}

    with serving(FaultServer(vllm)) as server:
        judge = judges.judge("openai:m", base_url=server.url)
        surprisals = asyncio.run(
            judge.ask(MeasureSurprisal(["Good."], prompt="Review it."))
        )
    assert surprisals[0].nll == pytest.approx(1.75)
    assert (surprisals[0].n_tokens, surprisals[0].n_characters) == (2, 5)


def test_server_that_refuses_prompt_logprobs_is_named_with_the_way_out() -> (
    None
):
    # transformers serve 5.19
    def strict(body: dict[str, Any]) -> dict[str, Any]:
        if "prompt_logprobs" in body:
            raise Refusal(
                422, "Unexpected fields in the request: {'prompt_logprobs'}"
            )
        return clever(body)

    with serving(FaultServer(strict)) as server:
        judge = judges.judge("openai:m", base_url=server.url)
        with pytest.raises(ConfigError, match="use a vLLM server, or hf:NAME"):
            asyncio.run(
                judge.ask(MeasureSurprisal(["Good."], prompt="Review it."))
            )


def test_server_that_tells_no_prompt_logprobs_is_named_with_the_way_out() -> (
    None
):
    with serving(FaultServer(clever)) as server:
        judge = judges.judge("openai:m", base_url=server.url)
        with pytest.raises(ConfigError, match="use a vLLM server, or hf:NAME"):
            asyncio.run(
                judge.ask(MeasureSurprisal(["Good."], prompt="Review it."))
            )


class Elsewhere(FaultServer):
    """Sends every request on to another address, from some request on."""

    def __init__(self, where: str, n_good: int = 0) -> None:
        super().__init__(clever)
        self.where = where
        self.n_good = n_good
        self.n_redirected = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self.n_good:
            self.n_good -= 1
            await super().__call__(scope, receive, send)
            return
        self.n_redirected += 1
        headers = [(b"location", self.where.encode())]
        await send_answer(send, 307, b"", headers)


def test_a_redirect_carries_no_text_to_another_host() -> None:
    with serving(FaultServer(clever)) as elsewhere:
        where = f"{elsewhere.url}/chat/completions"
        with serving(Elsewhere(where)) as server:
            backend = OpenAI("m", base_url=server.url)
            with pytest.raises(
                ConfigError,
                match=r"sends everything on to .*name that address",
            ):
                asyncio.run(backend.chat(plain_request()))
        with serving(Elsewhere(where, n_good=1)) as server:
            backend = OpenAI("m", base_url=server.url, attempts=2, wait=0.01)
            with pytest.raises(
                TransientError,
                match=r"HTTP 307: a redirect to .*no text is sent$",
            ):
                asyncio.run(backend.chat(plain_request()))
            assert server.n_redirected == 1, "it is not tried again"
        assert elsewhere.bodies == []


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_without_end_is_cut_off_by_its_size(status: int) -> None:
    class Endless(FaultServer):
        n_parts = 0

        async def _answer(
            self, raw: bytes, scope: Any, receive: Any, send: Any
        ) -> None:
            if b"ready" in raw:
                await super()._answer(raw, scope, receive, send)
                return
            await send(
                {
                    "type": "http.response.start",
                    "status": status,
                    "headers": [],
                }
            )
            gone = asyncio.ensure_future(receive())
            while not gone.done():
                self.n_parts += 1
                await send(
                    {
                        "type": "http.response.body",
                        "body": bytes(100_000),
                        "more_body": True,
                    }
                )
                await asyncio.sleep(0)

    with serving(Endless(clever)) as server:
        backend = OpenAI("m", base_url=server.url, attempts=1)
        with pytest.raises(
            TransientError, match=r"more than 8000000 bytes|HTTP 500"
        ):
            asyncio.run(backend.chat(plain_request()))
    assert server.n_parts < 400, (
        "8 MB are read, and what lies in buffers on the way"
    )


def test_a_key_that_the_server_repeats_is_masked_in_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = "sk-planted/0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", planted)

    def leaky(body: dict[str, Any]) -> dict[str, Any]:
        if "thing" not in str(body["messages"]):
            return completion("ready")
        first = {f"{planted} it": -0.1}
        return {
            **completion(f"my {planted}", first=first),
            "system_fingerprint": f"f {planted}",
        }

    with serving(FaultServer(leaky)) as server:
        file = AnswerFile(tmp_path / "run.sqlite")
        judge = judges.judge(
            "openai:m",
            base_url=server.url,
            key_env="OPENAI_API_KEY",
            answers=Answers(file),
        )
        assert asyncio.run(judge.ask(Rewrite("thing"))) == "my [key]"
        written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        file.close()
    assert b"[key]" in written
    assert b"sk-planted" not in written


@pytest.mark.parametrize(
    "key", ["sk-0123456789abcdef\n", "sk-ünï-0123456789", "two words 0123456"]
)
def test_a_key_that_can_be_none_is_told_at_once_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with serving(FaultServer(clever)) as server:
        backend = OpenAI("m", base_url=server.url, key_env="OPENAI_API_KEY")
        with pytest.raises(
            ConfigError, match="OPENAI_API_KEY holds a blank"
        ) as caught:
            asyncio.run(backend.chat(plain_request()))
        assert server.bodies == []
    assert key[:6] not in str(caught.value)


@pytest.mark.parametrize(
    "key_env", ["sk-0123456789abcdef", "sk_live_0123", "", "A B", 5]
)
def test_key_env_must_look_like_the_name_of_a_variable(key_env: Any) -> None:
    with pytest.raises(
        ConfigError, match="key_env is the name of an environment variable"
    ) as error:
        OpenAI("m", key_env=key_env)
    assert not key_env or str(key_env) not in str(error.value)


@pytest.mark.parametrize(
    "address", ["http://[::1", 5, "localhost:8000", "ftp://host/v1", "http://"]
)
def test_an_address_that_is_none_is_told_at_once(address: Any) -> None:
    with pytest.raises(
        ConfigError, match=r"base_url: .* is not an address such as"
    ):
        OpenAI("m", base_url=address)


@pytest.mark.parametrize(
    "note", ["junk", "[]", "null", '{"model": 5}', '{"top_logprobs": "many"}']
)
def test_a_note_about_the_server_that_cannot_be_read_is_found_out_again(
    note: str,
) -> None:
    answers = Answers()
    with serving(FaultServer(clever)) as server:
        address = server.url
        answers.put_fact(f"dialect of openai:m@{address}", note)
        backend = OpenAI("m", base_url=address, facts=answers)
        assert asyncio.run(backend.chat(plain_request())).model == "served-1"
