"""``anthropic`` and ``gemini``: what is sent, read, paid and refused; sums by hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from beholder import judges
from beholder.backends import (
    Answer,
    Image,
    Message,
    Request,
    Sampling,
    backend,
)
from beholder.backends.base import FilmPart
from beholder.backends.calls import CallFailed, Refused
from beholder.backends.money import Price, Usage
from beholder.errors import (
    BeholderError,
    ConfigError,
    ItemError,
    RunError,
    TransientError,
)
from beholder.judges import AnswerFile, Answers, Budget, Judge
from beholder.judges.operations import Rewrite, Verify
from servers.faults import (
    Refusal,
    completion,
    probe_answer,
    run_beside,
    serving,
)
from servers.odd import SENT
from servers.vendors import (
    BATCHES,
    ODD,
    GeminiBatchServer,
    OddVendorServer,
    VendorBatchServer,
    VendorServer,
)
from toy.cases import each_case

VENDORS = ("anthropic", "gemini")
PHRASE = "a phrase"
QUICK: dict[str, Any] = {
    "batch": True,
    "batch_quiet": 0.05,
    "batch_poll": 0.02,
}


def reply(body: dict[str, Any]) -> dict[str, Any]:
    return probe_answer(body) or completion(PHRASE)


def ask(text: str = "How many?", **sampling: Any) -> Request:
    return Request(
        (Message("system", ("Be brief.",)), Message("user", (text,))),
        Sampling(**sampling),
    )


async def outcome(judge: Judge, question: Rewrite) -> str | BeholderError:
    try:
        return await judge.ask(question)
    except BeholderError as error:
        return error


# What is sent, as the vendors document it.


def test_anthropic_gets_its_own_form() -> None:
    schema = {
        "type": "array",
        "items": {"type": "string", "maxLength": 9},
        "minItems": 2,
    }
    picture = Image(b"x", "image/png")
    request = Request(
        (
            Message("system", ("Be brief.",)),
            Message("user", (picture, "What?")),
        ),
        Sampling(max_tokens=7),
        schema,
    )

    def sees(body: dict[str, Any]) -> dict[str, Any]:
        return probe_answer(body) or completion(
            f"{hash(json.dumps(body)) % 1000}"
        )

    with serving(VendorServer("anthropic", sees)) as server:
        anthropic = backend("anthropic", "claude-x", base_url=server.base)
        asyncio.run(anthropic.chat(request))
        body = server.bodies[-1]
    assert server.paths[-1] == "/v1/messages"
    assert "anthropic-version" in server.headers[-1]
    assert body == {
        "model": "claude-x",
        "max_tokens": 7,
        "temperature": 0.0,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "image",
                        "source": {
                            "type": "base64",
                            "media_type": "image/png",
                            "data": "eA==",
                        },
                    },
                    {"type": "text", "text": "What?"},
                ],
            }
        ],
        # Bounds of lengths are not taken; the reader checks counts.
        "output_config": {
            "format": {
                "type": "json_schema",
                "schema": {"type": "array", "items": {"type": "string"}},
            }
        },
    }


def test_gemini_gets_its_own_form() -> None:
    schema = {"type": "array", "items": {"type": "string"}, "minItems": 2}
    request = Request(
        (
            Message("system", ("Be brief.",)),
            Message("user", (Image(b"x", "image/png"), "What?")),
            Message("assistant", ("No.",)),
            Message("user", ("Again.",)),
        ),
        Sampling(temperature=0.5, max_tokens=7, seed=3, n=2, top_logprobs=5),
        schema,
        replicate=4,
    )

    def sees(body: dict[str, Any]) -> dict[str, Any]:
        response = probe_answer(body) or completion(
            f"{hash(json.dumps(body)) % 1000}", first={"5": -1}
        )
        return {**response, "choices": response["choices"] * body.get("n", 1)}

    with serving(VendorServer("gemini", sees)) as server:
        extra = {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}
        gemini = backend(
            "gemini", "gemini-x", base_url=server.base, extra=extra
        )
        assert asyncio.run(gemini.draws_copies())
        asyncio.run(gemini.chat(request))
        body = server.bodies[-1]
    assert server.paths[-1] == "/v1beta/models/gemini-x:generateContent"
    filters = {
        row["category"]: row["threshold"] for row in body.pop("safetySettings")
    }
    assert set(filters.values()) == {"BLOCK_NONE"}
    assert len(filters) == 4
    picture = {"inlineData": {"mimeType": "image/png", "data": "eA=="}}
    assert body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [picture, {"text": "What?"}]},
            {"role": "model", "parts": [{"text": "No."}]},
            {"role": "user", "parts": [{"text": "Again."}]},
        ],
        "generationConfig": {
            "maxOutputTokens": 7,
            "temperature": 0.5,
            "seed": 7,
            "candidateCount": 2,
            "responseLogprobs": True,
            "logprobs": 5,
            "responseMimeType": "application/json",
            "responseJsonSchema": schema,
            "thinkingConfig": {"thinkingBudget": 0},
        },
    }


FILM = Image(b"x", "video/mp4", FilmPart(2, 3.5, 0.5))


def test_gemini_gets_films_with_their_frame_rate_and_offsets() -> None:
    def sees(body: dict[str, Any]) -> dict[str, Any]:
        return probe_answer(body) or completion(
            f"{hash(json.dumps(body)) % 1000}"
        )

    with serving(VendorServer("gemini", sees)) as server:
        gemini = backend("gemini", "gemini-x", base_url=server.base)
        asyncio.run(gemini.chat(Request((Message("user", (FILM, "What?")),))))
        body = server.bodies[-1]
    assert body["contents"][0]["parts"] == [
        {
            "inlineData": {"mimeType": "video/mp4", "data": "eA=="},
            "videoMetadata": {
                "startOffset": "2s",
                "endOffset": "3.5s",
                "fps": 0.5,
            },
        },
        {"text": "What?"},
    ]


def test_a_film_is_held_at_its_frames_and_its_sound() -> None:
    # 20 s at 0.5 a second: 10 frames of 258 and 7 for the time, 20 s of sound at 32; 4 for a turn.
    film = Image(b"x", "video/mp4", FilmPart(10, 30, 0.5))
    assert (
        Request((Message("user", (film,)),)).most_usage(0, 4_000).prompt
        == 4 + 2_650 + 640
    )


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_others_say_what_to_do_with_a_film(vendor: str) -> None:
    judge = judges.judge(f"{vendor}:m", base_url="http://127.0.0.1:9")
    with pytest.raises(ConfigError, match=r"takes no films; .* --frames N"):
        asyncio.run(judge.ask(Verify(["A cat."], images=[FILM])))


# Odd answers: each costs a try or an item.

REASONS = {
    "refusal": "refused to answer rewrite: 'bio'",
    "refusal with text": "refused to answer rewrite: 'no reason given'",
    "empty": "the answer is empty",
    "thinking only": "the answer is empty",
    "max_tokens": "cut off in its answer",
    "no room": "cut off in its answer",
    "prompt blocked": "refused to answer rewrite: 'prompt blocked: SAFETY'",
    "safety": "'SAFETY: HARM_CATEGORY_HARASSMENT'",
    "safety with text": "refused to answer rewrite: 'SAFETY'",
    "recitation": "refused to answer rewrite: 'RECITATION'",
    "prohibited": "refused to answer rewrite: 'PROHIBITED_CONTENT'",
    "thought to the end": "cut off in its answer",
    "thoughts only": "the answer is empty",
}
KINDS = [
    (vendor, kind) for vendor in VENDORS for kind in (*ODD[vendor], *SENT)
]


@pytest.fixture(scope="module")
def odd() -> Iterator[dict[str, OddVendorServer]]:
    servers = {v: OddVendorServer(v, reply, most_in_a_row=1) for v in VENDORS}
    with serving(servers["anthropic"]), serving(servers["gemini"]):
        yield servers


@pytest.mark.parametrize(("vendor", "kind"), KINDS)
def test_one_odd_answer_costs_one_try_or_one_item(
    odd: dict[str, OddVendorServer], vendor: str, kind: str, tmp_path: Path
) -> None:
    server = odd[vendor]
    file = AnswerFile(tmp_path / "run.sqlite")
    options: dict[str, Any] = {"base_url": server.base}
    server.faults, server.fault_rate = (kind,), 0.0
    judge = judges.judge(f"{vendor}:m", answers=Answers(file), **options)
    run_beside(server, judge.ask(Rewrite("probe first")))
    server.fault_rate = 1.0
    question = Rewrite(f"thing of {kind}")
    n_before = server.shown[kind]
    result = run_beside(server, outcome(judge, question))
    if kind in REASONS:
        assert type(result) is ItemError
        assert REASONS[kind] in str(result)
    elif kind in ("status: 302", "status: 307"):
        assert type(result) is TransientError
        assert "a redirect to http://127.0.0.1:9/" in str(result)
    else:
        assert result == PHRASE
    assert server.shown[kind] > n_before, "the odd answer was met"
    server.fault_rate = 0.0
    n_bodies = len(server.bodies)
    again = judges.judge(f"{vendor}:m", answers=Answers(file), **options)
    if kind not in ("status: 302", "status: 307"):
        assert str(run_beside(server, outcome(again, question))) == str(result)
        assert len(server.bodies) == n_bodies, "what was kept is found again"
    file.close()


def test_there_are_thirty_kinds_of_odd_answers_for_each() -> None:
    assert all(len(kinds) >= 30 for kinds in ODD.values())


@pytest.mark.slow  # hundreds of faults
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_third_of_all_kinds_mixed_ends_every_item_and_pays_once(
    vendor: str, tmp_path: Path
) -> None:
    async def all_of(judge: Judge) -> list[object]:
        questions = [judge.ask(Rewrite(f"thing {i}")) for i in range(150)]
        return list(await asyncio.gather(*questions, return_exceptions=True))

    file = AnswerFile(tmp_path / "run.sqlite")
    kinds = (*ODD[vendor], *SENT)
    with serving(
        OddVendorServer(vendor, reply, fault_rate=0.3, faults=kinds)
    ) as server:
        options: dict[str, Any] = {
            "base_url": server.base,
            "wait": 0.01,
            "max_wait": 0.2,
        }
        judge = judges.judge(f"{vendor}:m", answers=Answers(file), **options)
        outcomes = run_beside(server, all_of(judge))
        reasons = [
            outcome for outcome in outcomes if isinstance(outcome, Exception)
        ]
        assert all(isinstance(reason, ItemError) for reason in reasons), (
            reasons
        )
        assert len(reasons) < 50
        server.fault_rate = 0.0
        again = judges.judge(f"{vendor}:m", answers=Answers(file), **options)
        run_beside(server, all_of(again))
        assert max(server.paid.values()) == 1, (
            "no good answer is asked for twice"
        )
    file.close()


# What errors mean.


def failing(
    vendor: str, status: int, error: dict[str, Any]
) -> tuple[VendorServer, Any]:
    """A server that answers one error, and what a client makes of it."""

    class Failing(VendorServer):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            from servers.faults import body_of, send_answer

            await body_of(receive)
            headers = [
                (b"content-type", b"application/json"),
                *error.get("headers", []),
            ]
            await send_answer(
                send, status, json.dumps(error["body"]).encode(), headers
            )

    server = Failing(vendor, reply)
    with serving(server):
        client: Any = backend(vendor, "m", base_url=server.base, attempts=1)
        try:
            asyncio.run(
                client._http.post(
                    client._path(), {"contents": [], "model": "m"}
                )
            )
        except Exception as failure:
            return server, failure
    raise AssertionError("no failure")


def google(
    code: int, status: str, *details: dict[str, Any], message: str = "no"
) -> dict[str, Any]:
    error = {
        "code": code,
        "message": message,
        "status": status,
        "details": list(details),
    }
    return {"body": {"error": error}}


def anthropic(
    kind: str, message: str = "no", *headers: tuple[bytes, bytes]
) -> dict[str, Any]:
    error = {"type": kind, "message": message}
    return {
        "body": {"type": "error", "error": error},
        "headers": list(headers),
    }


RETRY = {
    "@type": "type.googleapis.com/google.rpc.RetryInfo",
    "retryDelay": "45.8s",
}
DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProject"}]}


@pytest.mark.parametrize(
    ("vendor", "status", "error", "kind", "wait", "strain"),
    [
        ("gemini", 429, google(429, "RESOURCE_EXHAUSTED", RETRY), CallFailed, 45.8, True),
        ("gemini", 429, google(429, "RESOURCE_EXHAUSTED", DAY), RunError, None, None),
        ("gemini", 400, google(400, "INVALID_ARGUMENT", {"reason": "API_KEY_INVALID"}), ConfigError, None, None),
        ("gemini", 400, google(400, "FAILED_PRECONDITION"), ConfigError, None, None),
        ("gemini", 503, google(503, "UNAVAILABLE"), CallFailed, None, False),
        ("gemini", 404, google(404, "NOT_FOUND"), ConfigError, None, None),
        ("anthropic", 429, anthropic("rate_limit_error", "slow", (b"retry-after", b"20")), CallFailed, 20.0, True),
        ("anthropic", 529, anthropic("overloaded_error"), CallFailed, None, True),
        ("anthropic", 500, anthropic("api_error", "no", (b"x-should-retry", b"false")), TransientError, None, None),
        ("anthropic", 402, anthropic("billing_error", "Your credit balance is too low"), RunError, None, None),
        ("anthropic", 401, anthropic("authentication_error"), ConfigError, None, None),
        ("anthropic", 200, anthropic("overloaded_error"), CallFailed, None, True),
        ("anthropic", 200, anthropic("authentication_error"), ConfigError, None, None),
    ],
)  # fmt: skip
def test_errors_mean_what_the_vendors_say(
    vendor: str,
    status: int,
    error: Any,
    kind: type,
    wait: float | None,
    strain: bool | None,
) -> None:
    _, failure = failing(vendor, status, error)
    assert type(failure) is kind or (
        kind is ConfigError and isinstance(failure, ConfigError)
    )
    if isinstance(failure, CallFailed):
        assert (failure.retry_after, failure.strain) == (wait, strain)


@pytest.mark.parametrize(
    "words",
    ["credit balance", "insufficient_quota", "GenerateRequestsPerDay", "API_KEY_INVALID",
     "API key not valid", '"reason": "API_KEY_INVALID"', '"retryDelay": "9999s"'],
)  # fmt: skip
@pytest.mark.parametrize("vendor", ["gemini", "anthropic"])
def test_words_of_a_text_that_an_error_repeats_decide_nothing_about_the_account(
    vendor: str, words: str
) -> None:
    message = f"the text is not allowed: a sign that says {words}"
    error = (
        google(400, "INVALID_ARGUMENT", message=message)
        if vendor == "gemini"
        else anthropic("invalid_request_error", message)
    )
    _, failure = failing(vendor, 400, error)
    assert type(failure) is Refused
    busy = (
        google(429, "RESOURCE_EXHAUSTED", message=message)
        if vendor == "gemini"
        else anthropic("rate_limit_error", message)
    )
    _, failure = failing(vendor, 429, busy)
    assert type(failure) is CallFailed
    assert failure.retry_after is None


@each_case("name", ["a/../../b", "..", "models/", "", "a//b", "./a"])
def test_a_name_of_a_model_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="name of a model"):
        backend("gemini", name)


def test_a_prompt_that_is_too_long_is_the_fault_of_the_item() -> None:
    def long(body: dict[str, Any]) -> dict[str, Any]:
        if len(str(body)) > 5_000:
            raise Refusal(
                400, "prompt is too long: 210000 tokens > 200000 maximum"
            )
        return reply(body)

    with serving(VendorServer("anthropic", long)) as server:
        anthropic = backend("anthropic", "m", base_url=server.base)
        with pytest.raises(ItemError, match="does not fit"):
            asyncio.run(anthropic.chat(ask("x" * 6_000)))


def test_a_temperature_that_is_refused_is_left_out() -> None:
    def fixed(body: dict[str, Any]) -> dict[str, Any]:
        return reply(body)

    class Fixed(VendorServer):
        async def _answer(
            self, raw: bytes, scope: Any, receive: Any, send: Any
        ) -> None:
            if "temperature" in json.loads(raw):
                self.reply = _refuse_temperature
            else:
                self.reply = spoken("anthropic", fixed)
            await super()._answer(raw, scope, receive, send)

    from servers.vendors import spoken

    def _refuse_temperature(body: dict[str, Any]) -> dict[str, Any]:
        raise Refusal(400, "`temperature` is deprecated for this model.")

    with serving(Fixed("anthropic", fixed)) as server:
        anthropic = backend("anthropic", "m", base_url=server.base)
        assert asyncio.run(anthropic.chat(ask())).text == PHRASE
    assert ["temperature" in body for body in server.bodies] == [
        True,
        False,
        False,
    ]


# Money.


@pytest.mark.parametrize(
    ("usage", "price", "dollars"),
    [
        # The examples of 120 + 4,000 read tokens at 5 and 0.5, 900 tokens of answer at 25.
        (Usage(4_120, 4_000, 900), Price(5, 25, 0.5), 0.0251),
        # 5,200 with 4,096 cached, 310 of answer and 700 of thoughts at 0.75, 0.075 and 3.75:
        # 1,104 x 0.75 + 4,096 x 0.075 + 1,010 x 3.75 = 828 + 307.2 + 3,787.5, a millionth of it.
        (Usage(5_200, 4_096, 1_010), Price(0.75, 3.75, 0.075), 0.0049227),
        # 1,000 of which 600 are written at 6.25: 400 x 5 + 600 x 6.25 = 5,750.
        (Usage(1_000, 0, 0, 0, 600), Price(5, 25, 0.5, written=6.25), 0.00575),
        # Above 200,000 tokens the whole call has other prices: 300,000 x 2.5 + 1,000 x 15.
        (
            Usage(300_000, completion=1_000),
            Price(1.25, 10, over=200_000, long=Price(2.5, 15)),
            0.765,
        ),
        (
            Usage(200_000),
            Price(1.25, 10, over=200_000, long=Price(2.5, 15)),
            0.25,
        ),
    ],
)
def test_what_a_call_costs(usage: Usage, price: Price, dollars: float) -> None:
    assert price.cost(usage) == pytest.approx(dollars, abs=1e-12)


def usage_from_counts(vendor: str, **counts: int) -> Usage:
    """Return the usage that is read from an answer with these counts."""

    class Telling(VendorServer):
        pass

    server = Telling(vendor, reply)
    good = server.reply

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        response = good(body)
        response["usage" if vendor == "anthropic" else "usageMetadata"] = (
            counts
        )
        return response

    server.reply = answer
    with serving(server):
        served_answer: Answer = asyncio.run(
            backend(vendor, "m", base_url=server.base).chat(ask())
        )
    return served_answer.usage


def test_tokens_add_up_as_each_vendor_tells_them() -> None:
    # Anthropic: the prompt is what was sent fresh, written to the cache and read from it.
    assert usage_from_counts(
        "anthropic",
        input_tokens=120,
        cache_creation_input_tokens=30,
        cache_read_input_tokens=4_000,
        output_tokens=900,
    ) == Usage(4_150, 4_000, 900, 0, 30)
    # Google: the prompt holds the cached part; thoughts are beside the answer.
    assert usage_from_counts(
        "gemini",
        promptTokenCount=5_200,
        cachedContentTokenCount=4_096,
        candidatesTokenCount=310,
        thoughtsTokenCount=700,
        totalTokenCount=6_210,
    ) == Usage(5_200, 4_096, 1_010)
    # What its total says beyond its parts is answer.
    assert usage_from_counts(
        "gemini",
        promptTokenCount=10,
        candidatesTokenCount=1,
        totalTokenCount=20,
    ) == Usage(10, 0, 10)


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    "faults", [(), ("body: cut", "body: 9 MB", "usage missing")]
)
def test_what_the_server_charges_never_passes_the_limit(
    tmp_path: Path, vendor: str, faults: tuple[str, ...]
) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(
        '{"models": {"served-1": {"input": 100, "output": 1000}}}'
    )
    charged = 0.0

    def counted(body: dict[str, Any]) -> dict[str, Any]:
        nonlocal charged
        charged += (100 * 100 + 10 * 1000) / 1e6
        return reply(body)

    async def many(judge: Judge) -> None:
        await asyncio.gather(
            *(judge.ask(Rewrite(f"thing {i}")) for i in range(200))
        )

    file = AnswerFile(tmp_path / "run.sqlite")
    server = OddVendorServer(
        vendor, counted, fault_rate=0.3 if faults else 0.0, faults=faults
    )
    with serving(server):
        budget = Budget(max_cost=2.0)
        options: dict[str, Any] = {
            "base_url": server.base,
            "prices": str(prices),
            "wait": 0.01,
        }
        judge = judges.judge(
            f"{vendor}:m", answers=Answers(file), budget=budget, **options
        )
        with pytest.raises(BeholderError, match="--max-cost 2"):
            run_beside(server, many(judge))
    assert 0.1 < charged <= budget.spent + 1e-9 <= 2.0 + 2e-9
    assert file.cost() == pytest.approx(budget.spent), (
        "and the next start knows it"
    )
    file.close()


def test_anthropic_is_told_to_cache_a_beginning_from_its_second_call_on(
    tmp_path: Path,
) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(
        '{"models": {"served-1": {"input": 5, "cached": 0.5, "written": 6.25, "output": 25,'
        ' "cache_minimum": 1024}}}'
    )
    long, short = "word " * 1_000, "word"
    with serving(VendorServer("anthropic", reply)) as server:
        anthropic = backend(
            "anthropic", "m", base_url=server.base, prices=str(prices)
        )

        async def all_of() -> None:
            for system in (long, short):
                for i in range(3):
                    parts = (
                        Message("system", (system,)),
                        Message("user", (f"{i}",)),
                    )
                    await anthropic.chat(Request(parts))

        asyncio.run(all_of())
    marks = [
        body["system"][0].get("cache_control") for body in server.bodies[-6:]
    ]
    mark = {"type": "ephemeral"}
    assert marks == [None, mark, mark, None, None, None]


# Keys.


@pytest.mark.parametrize(
    ("vendor", "variable"),
    [("anthropic", "ANTHROPIC_API_KEY"), ("gemini", "GEMINI_API_KEY")],
)
def test_a_key_goes_to_the_vendors_address_alone_and_into_no_store(
    vendor: str, variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = "sk-planted-0123456789"
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(
        ConfigError, match=f"set the environment variable {variable}"
    ):
        asyncio.run(backend(vendor, "m").chat(ask()))
    monkeypatch.setenv(variable, secret)
    monkeypatch.setenv("BEHOLDER_TEST_KEY", secret)

    def repeats(body: dict[str, Any]) -> dict[str, Any]:
        return completion(f"the key {secret}")

    path = tmp_path / "run.sqlite"
    with serving(VendorServer(vendor, repeats)) as server:
        asyncio.run(backend(vendor, "m", base_url=server.base).chat(ask()))
        assert secret not in json.dumps(server.headers)
        file = AnswerFile(path)
        judge = judges.judge(
            f"{vendor}:m",
            answers=Answers(file),
            base_url=server.base,
            key_env="BEHOLDER_TEST_KEY",
        )
        answer = asyncio.run(judge.ask(Rewrite("thing")))
        assert secret in json.dumps(server.headers[-1])
        file.close()
    assert answer == "the key [key]"
    assert secret.encode() not in b"".join(
        p.read_bytes() for p in tmp_path.iterdir()
    )


# Batches.


async def rewrite_all(judge: Judge, n: int) -> list[str]:
    return list(
        await asyncio.gather(
            *(judge.ask(Rewrite(f"thing {i}")) for i in range(n))
        )
    )


def batches_of(server: VendorBatchServer) -> list[str]:
    """Every request in every batch."""
    return [
        key for batch in server.batches.values() for key, _ in batch["rows"]
    ]


@pytest.fixture(params=VENDORS)
def batching(request: pytest.FixtureRequest) -> type[VendorBatchServer]:
    return BATCHES[request.param]


def test_requests_of_one_time_go_into_one_batch_at_half_the_price(
    tmp_path: Path, batching: type[VendorBatchServer]
) -> None:
    prices = tmp_path / "p.json"
    prices.write_text(
        '{"models": {"served-1": {"input": 1000, "cached": 1000, "output": 0}}}'
    )
    with serving(batching()) as server:
        budget = Budget()
        options: dict[str, Any] = {
            "base_url": server.base,
            "prices": str(prices),
            **QUICK,
        }
        judge = judges.judge(f"{server.vendor}:m", budget=budget, **options)
        assert run_beside(server, rewrite_all(judge, 30)) == [PHRASE] * 30
        assert len(server.batches) == 1
        probes = server.n_probes
    # 100 prompt tokens each at 1000 per million, half of it; and the probe, which is no batch.
    assert budget.spent == pytest.approx(30 * 0.05 + probes * 0.1)


def test_killed_run_finds_its_batch_again_and_sends_nothing_twice(
    tmp_path: Path, batching: type[VendorBatchServer]
) -> None:
    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(batching(looks=10_000)) as server:
        options: dict[str, Any] = {"base_url": server.base, **QUICK}
        judge = judges.judge(
            f"{server.vendor}:m", answers=Answers(file), **options
        )
        with pytest.raises(TimeoutError):
            run_beside(
                server, asyncio.wait_for(rewrite_all(judge, 10), timeout=1)
            )
        assert len(server.batches) == 1
        server.looks = 1
        again = judges.judge(
            f"{server.vendor}:m", answers=Answers(file), **options
        )
        assert run_beside(server, rewrite_all(again, 12)) == [PHRASE] * 12
        sent = batches_of(server)
        assert len(sent) == len(set(sent)) == 12
    file.close()


def test_a_batch_whose_id_was_lost_is_found_and_not_sent_twice(
    batching: type[VendorBatchServer],
) -> None:
    with serving(batching()) as server:
        # A batch of that size is somebody else's.
        body = {"messages": [], "max_tokens": 1}  # in both forms
        rows = [
            (
                "x",
                {
                    **body,
                    "contents": [],
                    "generationConfig": {"maxOutputTokens": 1},
                },
            )
        ] * 5
        server.batches["old"] = {
            "rows": rows,
            "digest": "x",
            "looks": 9,
            "input": "",
        }
        server.lose_ids = 1
        judge = judges.judge(
            f"{server.vendor}:m", base_url=server.base, wait=0.01, **QUICK
        )
        assert run_beside(server, rewrite_all(judge, 5)) == [PHRASE] * 5
        assert len(server.batches) == 2


def test_a_request_refused_in_a_batch_fails_alone(
    batching: type[VendorBatchServer],
) -> None:
    async def both(judge: Judge) -> list[Any]:
        questions = (
            judge.ask(Rewrite("thing")),
            judge.ask(Rewrite("refuse me")),
        )
        return list(await asyncio.gather(*questions, return_exceptions=True))

    with serving(batching()) as server:
        judge = judges.judge(
            f"{server.vendor}:m", base_url=server.base, **QUICK
        )
        good, bad = run_beside(server, both(judge))
    assert good == PHRASE
    assert type(bad) is ItemError
    assert "refused the request" in str(bad)


def test_what_expired_is_asked_again_by_the_next_start(
    batching: type[VendorBatchServer],
) -> None:
    with serving(batching(final="expired")) as server:
        judge = judges.judge(
            f"{server.vendor}:m", base_url=server.base, **QUICK
        )
        with pytest.raises(TransientError, match="expired"):
            run_beside(server, judge.ask(Rewrite("thing")))
        server.final = "completed"
        again = judges.judge(
            f"{server.vendor}:m", base_url=server.base, **QUICK
        )
        assert run_beside(server, again.ask(Rewrite("thing"))) == PHRASE


@pytest.mark.parametrize("n_kept", [0, 1, 7])
def test_killed_while_answers_of_a_batch_are_kept_sends_nothing_twice(
    tmp_path: Path, n_kept: int, batching: type[VendorBatchServer]
) -> None:
    class Killed(Exception):
        pass

    class Dying(Answers):
        n = 0

        def put_answer(self, record: Any) -> None:
            self.n += 1
            if self.n > n_kept:
                raise Killed
            super().put_answer(record)

    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(batching()) as server:
        options: dict[str, Any] = {"base_url": server.base, **QUICK}
        judge = judges.judge(
            f"{server.vendor}:m", answers=Dying(file), **options
        )
        with pytest.raises(Killed):
            run_beside(server, rewrite_all(judge, 10))
        assert sum(1 for _ in file.records()) == n_kept
        again = judges.judge(
            f"{server.vendor}:m", answers=Answers(file), **options
        )
        assert run_beside(server, rewrite_all(again, 10)) == [PHRASE] * 10
        assert len(batches_of(server)) == 10
    file.close()


async def all_of(judge: Judge) -> list[object]:
    questions = (judge.ask(Rewrite(f"thing {i}")) for i in range(6))
    return list(await asyncio.gather(*questions, return_exceptions=True))


_NO_ROW = ("not JSON", "[]", '{"key": 5, "response": {}}', "[" * 100_000)
ODD_ROWS: dict[str, Any] = {
    **{row[:20]: row for row in _NO_ROW},
    "error without words": {"error": {}},
    "error text": {"error": "no"},
    "internal": {"error": {"code": 13, "message": "no"}},
    "response list": {"response": []},
    "no answer": {"response": {"candidates": []}},
    "neither": {},
    "ended oddly": {"response": {"candidates": [{"finishReason": "OTHER"}]}},
}


@pytest.mark.parametrize("kind", ODD_ROWS)
def test_one_odd_row_of_a_gemini_batch_costs_one_item_and_is_asked_again(
    tmp_path: Path, kind: str
) -> None:
    class Odd(GeminiBatchServer):
        odd = True

        def row(self, key: str, body: dict[str, Any]) -> str:
            if not self.odd or "thing 3" not in str(body):
                return super().row(key, body)
            odd_row = ODD_ROWS[kind]
            return (
                odd_row
                if isinstance(odd_row, str)
                else json.dumps({"key": key, **odd_row})
            )

    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(Odd()) as server:
        options: dict[str, Any] = {"base_url": server.base, **QUICK}
        judge = judges.judge("gemini:m", answers=Answers(file), **options)
        outcomes = run_beside(server, all_of(judge))
        assert [outcome for i, outcome in enumerate(outcomes) if i != 3] == [
            PHRASE
        ] * 5
        assert isinstance(outcomes[3], TransientError)
        assert "batch" in str(outcomes[3]), "the reason names the cause"
        server.odd = False
        again = judges.judge("gemini:m", answers=Answers(file), **options)
        assert run_beside(server, all_of(again)) == [PHRASE] * 6
        assert len(batches_of(server)) == 7, "only the one row is sent again"
    file.close()


@pytest.mark.parametrize("state", ["PAUSED", "UNSPECIFIED", "", None, 5])
def test_a_state_of_a_gemini_batch_that_nobody_knows_ends_with_words(
    state: Any,
) -> None:
    class Strange(GeminiBatchServer):
        def batch_status(self, name: str) -> dict[str, Any]:
            return {
                "name": name,
                "metadata": {
                    "state": f"BATCH_STATE_{state}" if state else state
                },
            }

    with serving(Strange()) as server:
        judge = judges.judge(
            "gemini:m", base_url=server.base, attempts=2, **QUICK
        )
        with pytest.raises(TransientError, match="which is not known here"):
            run_beside(server, judge.ask(Rewrite("thing")))


def test_a_blocked_prompt_in_a_gemini_batch_is_paid_and_not_asked_again(
    tmp_path: Path,
) -> None:
    prices = tmp_path / "p.json"
    prices.write_text(
        '{"models": {"served-1": {"input": 1000, "cached": 1000, "output": 0}}}'
    )
    blocked = {
        "promptFeedback": {"blockReason": "SAFETY"},
        "modelVersion": "served-1",
    }

    class Blocking(GeminiBatchServer):
        def result(self, body: dict[str, Any]) -> dict[str, Any]:
            return {
                "response": {
                    **blocked,
                    "usageMetadata": {"promptTokenCount": 60},
                }
            }

    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(Blocking()) as server:
        options: dict[str, Any] = {
            "base_url": server.base,
            "prices": str(prices),
            **QUICK,
        }
        for _ in range(2):
            judge = judges.judge("gemini:m", answers=Answers(file), **options)
            with pytest.raises(ItemError, match="prompt blocked: SAFETY"):
                run_beside(server, judge.ask(Rewrite("thing")))
        assert len(batches_of(server)) == 1
        probes = server.n_probes
    # 60 tokens at half of 1000 per million; probes of 100 tokens at the whole price.
    assert file.cost() == pytest.approx(0.03 + probes * 0.1)
    file.close()
