"""Servers that speak Anthropic's and Google's forms, made of those that speak OpenAI's.

The forms are those of the vendors' documentation; ``test_vendors.py`` holds the names of the
fields against the types of their SDKs.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, ClassVar

from servers.batches import BatchServer
from servers.faults import FaultServer, Reply, body_of, completion, send_answer

Whole = dict[str, Any]
PICTURE = 85
"""Prompt tokens of a picture."""


def _turn(role: str, parts: list[Whole]) -> Whole:
    """A turn in OpenAI's form."""
    content = [
        {"type": "text", "text": part["text"]}
        if "text" in part
        else {"type": "image_url", "image_url": {"url": json.dumps(part)}}
        for part in parts
    ]
    return {"role": role, "content": content}


def _from_anthropic(body: Whole) -> Whole:
    turns = (
        [_turn("system", body.get("system", []))] if "system" in body else []
    )
    turns += [
        _turn(turn["role"], turn["content"]) for turn in body["messages"]
    ]
    request = {"messages": turns, "max_tokens": body["max_tokens"]}
    schema = body.get("output_config") or body.get("tools")
    return {**request, "response_format": schema} if schema else request


def _from_gemini(body: Whole) -> Whole:
    config = body["generationConfig"]
    system = body.get("systemInstruction")
    turns = [_turn("system", system["parts"])] if system else []
    turns += [_turn(turn["role"], turn["parts"]) for turn in body["contents"]]
    request: Whole = {
        "messages": turns,
        "max_tokens": config["maxOutputTokens"],
    }
    if "candidateCount" in config:
        request["n"] = config["candidateCount"]
    if "responseLogprobs" in config:
        request["logprobs"] = True
    if "responseJsonSchema" in config:
        request["response_format"] = config["responseJsonSchema"]
    return request


def _to_anthropic(reply: Whole) -> Whole:
    choice, usage = reply["choices"][0], reply["usage"]
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    stops = {"stop": "end_turn", "length": "max_tokens"}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": reply["model"],
        "content": [{"type": "text", "text": choice["message"]["content"]}],
        "stop_reason": stops[choice["finish_reason"]],
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage["prompt_tokens"] - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": usage["completion_tokens"],
        },
    }


def _to_gemini(reply: Whole) -> Whole:
    usage = reply["usage"]
    prompt, answer = usage["prompt_tokens"], usage["completion_tokens"]
    stops = {"stop": "STOP", "length": "MAX_TOKENS"}
    candidates = []
    for i, choice in enumerate(reply["choices"]):
        parts = [{"text": choice["message"]["content"]}]
        candidate: Whole = {
            "index": i,
            "content": {"role": "model", "parts": parts},
            "finishReason": stops[choice["finish_reason"]],
        }
        if choice.get("logprobs"):
            top = [
                {
                    "token": row["token"],
                    "tokenId": 1,
                    "logProbability": row["logprob"],
                }
                for row in choice["logprobs"]["content"][0]["top_logprobs"]
            ]
            candidate["logprobsResult"] = {
                "topCandidates": [{"candidates": top}]
            }
        candidates.append(candidate)
    return {
        "candidates": candidates,
        "modelVersion": reply["model"],
        "responseId": "r",
        "usageMetadata": {
            "promptTokenCount": prompt,
            "cachedContentTokenCount": usage["prompt_tokens_details"][
                "cached_tokens"
            ],
            "candidatesTokenCount": answer,
            "totalTokenCount": prompt + answer,
        },
    }


FORMS: dict[str, tuple[Callable[[Whole], Whole], Callable[[Whole], Whole]]] = {
    "anthropic": (_from_anthropic, _to_anthropic),
    "gemini": (_from_gemini, _to_gemini),
}


def spoken(vendor: str, reply: Reply) -> Reply:
    """A reply in OpenAI's form, spoken in a vendor's."""
    read_request, write = FORMS[vendor]

    def answer(body: Whole) -> Whole:
        request = read_request(body)
        answer = copy.deepcopy(reply(request))
        answer["usage"]["prompt_tokens"] += PICTURE * json.dumps(
            request
        ).count('"image_url": {')
        return write(answer)

    return answer


class VendorServer(FaultServer):
    """A server in a vendor's form, with faults.

    Attributes:
        headers: The headers of every request.
    """

    def __init__(self, vendor: str, reply: Reply, **options: Any) -> None:
        super().__init__(spoken(vendor, reply), **options)
        self.vendor = vendor
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.headers.append(
            {name.decode(): value.decode() for name, value in scope["headers"]}
        )
        self.paths.append(scope["path"])
        await super().__call__(scope, receive, send)

    @property
    def base(self) -> str:
        """Its address, as the vendor's own is written."""
        return self.url.removesuffix("/v1")


def _odd_change(*path: Any, **fields: Any) -> Callable[[Whole], None]:
    """Changes fields of what is found by names and places; ``...`` removes one."""

    def change(whole: Whole) -> None:
        part: Any = whole
        for name in path:
            part = part[name]
        for name, value in fields.items():
            if value is ...:
                part.pop(name)
            else:
                part[name] = value

    return change


def _only(**fields: Any) -> Callable[[Whole], None]:
    def change(whole: Whole) -> None:
        whole.clear()
        whole.update(fields)

    return change


def _tool(*names: str, reply_input: Any = None) -> Callable[[Whole], None]:
    calls = [
        {"type": "tool_use", "id": "t", "name": name, "input": reply_input}
        for name in names
    ]
    return _odd_change(content=calls, stop_reason="tool_use")


_top = _odd_change
_HALF = "half a pair: \ud83d"
_OPENAI = completion("a phrase")

ODD: dict[str, dict[str, Callable[[Whole], None]]] = {
    "anthropic": {
        "refusal": _top(
            content=[], stop_reason="refusal", stop_details={"type": "refusal", "category": "bio"}
        ),
        "refusal with text": _top(stop_reason="refusal", stop_details=None),
        "empty": _top(content=[]),
        "thinking only": _top(content=[{"type": "thinking", "thinking": "hm"}]),
        "thinking, then text": _top(
            content=[{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a phrase"}]
        ),
        "text in two blocks": _top(
            content=[{"type": "text", "text": "a "}, {"type": "text", "text": "phrase"}]
        ),
        "max_tokens": _top(stop_reason="max_tokens"),
        "no room": _top(stop_reason="model_context_window_exceeded"),
        "pause": _top(stop_reason="pause_turn"),
        "stop null": _top(stop_reason=None),
        "stop missing": _top(stop_reason=...),
        "stop unknown": _top(stop_reason="whatever"),
        "stop list": _top(stop_reason=["end_turn"]),
        "tool unasked": _tool("search"),
        "tools, two": _tool("answer", "answer"),
        "content null": _top(content=None),
        "content text": _top(content="a phrase"),
        "content numbers": _top(content=[5]),
        "content without type": _top(content=[{"text": "a phrase"}]),
        "text number": _top(content=[{"type": "text", "text": 5}]),
        "text half a pair": _top(content=[{"type": "text", "text": _HALF}]),
        "model number": _top(model=5),
        "model half a pair": _top(model=_HALF),
        "details text": _top(stop_reason="refusal", stop_details="no"),
        "usage missing": _top(usage=...),
        "usage null": _top(usage=None),
        "usage text": _top(usage="many"),
        "usage negative": _top("usage", input_tokens=-5),
        "usage text count": _top("usage", input_tokens="many"),
        "usage huge": _top("usage", cache_read_input_tokens=10**15),
        "usage all cached": _top("usage", input_tokens=0, cache_read_input_tokens=40_000),
        "usage details text": _top("usage", output_tokens_details="some"),
        "error overloaded": _only(
            type="error", error={"type": "overloaded_error", "message": "Overloaded"}
        ),
        "another form": _only(**_OPENAI),
    },
    "gemini": {
        "no candidates": _top(candidates=...),
        "empty candidates": _top(candidates=[]),
        "candidates null": _top(candidates=None),
        "candidates numbers": _top(candidates=[5]),
        "prompt blocked": _top(candidates=..., promptFeedback={"blockReason": "SAFETY"}),
        "safety": _top(
            "candidates", 0,
            content=..., finishReason="SAFETY",
            safetyRatings=[{"category": "HARM_CATEGORY_HARASSMENT", "blocked": True}],
        ),
        "safety with text": _top("candidates", 0, finishReason="SAFETY"),
        "recitation": _top("candidates", 0, finishReason="RECITATION"),
        "prohibited": _top("candidates", 0, finishReason="PROHIBITED_CONTENT"),
        "max_tokens": _top("candidates", 0, finishReason="MAX_TOKENS"),
        "thought to the end": _top(
            "candidates", 0, finishReason="MAX_TOKENS", content={"role": "model"}
        ),
        "other": _top("candidates", 0, finishReason="OTHER"),
        "malformed call": _top("candidates", 0, finishReason="MALFORMED_FUNCTION_CALL"),
        "continuation": _top("candidates", 0, finishReason="CONTINUATION"),
        "finish missing": _top("candidates", 0, finishReason=...),
        "finish list": _top("candidates", 0, finishReason=["STOP"]),
        "no parts": _top("candidates", 0, content={"role": "model"}),
        "no content": _top("candidates", 0, content=...),
        "parts text": _top("candidates", 0, content={"parts": "a phrase"}),
        "parts null": _top("candidates", 0, content={"parts": [None]}),
        "thoughts only": _top(
            "candidates", 0, content={"parts": [{"text": "hm", "thought": True}]}
        ),
        "thoughts, then text": _top(
            "candidates", 0, content={"parts": [{"text": "hm", "thought": True}, {"text": "a phrase"}]}
        ),
        "text number": _top("candidates", 0, content={"parts": [{"text": 5}]}),
        "text half a pair": _top("candidates", 0, content={"parts": [{"text": _HALF}]}),
        "model number": _top(modelVersion=5),
        "model half a pair": _top(modelVersion=_HALF),
        "usage missing": _top(usageMetadata=...),
        "usage null": _top(usageMetadata=None),
        "usage text": _top(usageMetadata="many"),
        "usage negative": _top("usageMetadata", promptTokenCount=-5),
        "usage more cached than sent": _top("usageMetadata", cachedContentTokenCount=10**9),
        "usage huge": _top("usageMetadata", totalTokenCount=10**15),
        "logprobs text": _top("candidates", 0, logprobsResult={"topCandidates": "none"}),
        "logprob 1000": _top(
            "candidates", 0,
            logprobsResult={
                "topCandidates": [{"candidates": [{"token": "a", "logProbability": 1000}]}]
            },
        ),
        "error 503": _only(error={"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}),
        "another form": _only(**_OPENAI),
    },
}  # fmt: skip
"""Bodies of status 200 that are not as they should be, and what has to be read of them."""


class OddVendorServer(VendorServer):
    """A vendor's server of which some answers are odd: kinds of ``ODD``, and of ``odd.SENT``."""

    async def _fail(self, fault: str, body: Whole, send: Any) -> None:
        from servers.odd import SENT

        good = self.reply(body)
        headers = [(b"content-type", b"application/json")]
        if fault in SENT:
            status, headers, content = SENT[fault](json.dumps(good).encode())
            await send_answer(send, status, content, headers)
        elif fault in ODD[self.vendor]:
            ODD[self.vendor][fault](good)
            await send_answer(send, 200, json.dumps(good).encode(), headers)
        else:
            await super()._fail(fault, body, send)


class VendorBatchServer(BatchServer):
    """Batches as a vendor keeps them; requests as in ``BatchServer``.

    Attributes:
        lose_ids: Batches that are made and whose id does not arrive.
    """

    vendor: str

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.lose_ids = 0
        self.reply = spoken(self.vendor, lambda body: completion("a phrase"))

    @property
    def base(self) -> str:
        """Its address, as the vendor's own is written."""
        return self.url.removesuffix("/v1")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw = await body_of(receive)
        headers = [(b"content-type", b"application/json")]
        response = self.route(scope["method"], scope["path"], raw)
        makes = scope["path"].endswith(("/batches", ":batchGenerateContent"))
        if scope["method"] == "POST" and makes and self.lose_ids:
            self.lose_ids -= 1
            start = {"type": "http.response.start", "status": 200}
            await send(
                {**start, "headers": [(b"content-length", b"1000"), *headers]}
            )
            raise ConnectionResetError("planned")
        body = (
            response.encode()
            if isinstance(response, str)
            else json.dumps(response).encode()
        )
        await send_answer(send, 200, body, headers)


class AnthropicBatchServer(VendorBatchServer):
    """Message Batches."""

    vendor = "anthropic"

    def route(self, method: str, path: str, raw: bytes) -> Any:
        path = path.removeprefix("/v1/messages")
        name = path.removesuffix("/results").rpartition("/")[2]
        if not path:
            self.n_probes += 1
            return self.reply(json.loads(raw))
        if method == "POST":
            return self.make(json.loads(raw))
        if path.endswith("/results"):
            rows = reversed(self.batches[name]["rows"])  # in any order
            return "\n".join(
                json.dumps({"custom_id": key, "result": self.result(body)})
                for key, body in rows
            )
        for key, batch in self.batches.items():
            batch["looks"] += name in (key, "batches")
        if name == "batches":
            return {
                "data": [
                    self.batch_status(name) for name in reversed(self.batches)
                ]
            }
        return self.batch_status(name)

    def make(self, request: Whole) -> Whole:
        """Keep a new batch."""
        name = f"batch-{len(self.batches)}"
        rows = [
            (row["custom_id"], row["params"]) for row in request["requests"]
        ]
        self.batches[name] = {"rows": rows, "looks": 0}
        self.files[name] = "\n".join(
            json.dumps({"custom_id": key}) for key, _ in rows
        )
        return self.batch_status(name)

    def batch_status(self, name: str) -> Whole:
        """Return the status of a batch."""
        batch = self.batches[name]
        ended = batch["looks"] >= self.looks
        n = len(batch["rows"])
        counts = {
            "processing": 0 if ended else n,
            "succeeded": n if ended else 0,
        }
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {
                **counts,
                "errored": 0,
                "canceled": 0,
                "expired": 0,
            },
            "results_url": None,
        }

    def result(self, body: Whole) -> Whole:
        """The result of one request in a batch, without its name."""
        if "refuse me" in json.dumps(body):
            error = {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": "no"},
            }
            return {"type": "errored", "error": error}
        if self.final in ("canceled", "expired"):
            return {"type": self.final}
        return {"type": "succeeded", "message": self.reply(body)}


class GeminiBatchServer(VendorBatchServer):
    """Batches of generateContent whose requests are a file; one batch a page."""

    vendor = "gemini"

    def route(self, method: str, path: str, raw: bytes) -> Any:
        if path == "/upload/v1beta/files":
            name = f"files/{len(self.files)}"
            self.files[name] = (
                raw.decode().split("\r\n\r\n")[2].partition("\r\n--")[0]
            )
            return {"file": {"name": name, "mimeType": "application/jsonl"}}
        if path.endswith(":generateContent"):
            self.n_probes += 1
            return self.reply(json.loads(raw))
        if path.endswith(":batchGenerateContent"):
            return self.make(path, json.loads(raw)["batch"])
        if path == "/v1beta/batches":
            names = sorted(self.batches, reverse=True)
            at = int(self.page or 0)
            more = (
                {"nextPageToken": str(at + 1)} if at + 1 < len(names) else {}
            )
            return {
                "operations": [
                    self.batch_status(name) for name in names[at : at + 1]
                ],
                **more,
            }
        if path.startswith("/download/"):
            return self.files[
                path.removeprefix("/download/v1beta/").removesuffix(
                    ":download"
                )
            ]
        name = path.removeprefix("/v1beta/")
        self.batches[name]["looks"] += 1
        return self.batch_status(name)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.page = scope["query_string"].decode().partition("pageToken=")[2]
        await super().__call__(scope, receive, send)

    def make(self, path: str, batch: Whole) -> Whole:
        """Keep a new batch."""
        assert path == "/v1beta/models/m:batchGenerateContent"
        name = f"batches/{len(self.batches)}"
        lines = self.files[batch["inputConfig"]["fileName"]].splitlines()
        rows = [(row["key"], row["request"]) for row in map(json.loads, lines)]
        self.batches[name] = {
            "rows": rows,
            "digest": batch["displayName"],
            "looks": 0,
        }
        return self.batch_status(name)

    def batch_status(self, name: str) -> Whole:
        """Return the status of a batch."""
        batch = self.batches[name]
        about = {
            "displayName": batch["digest"],
            "state": "BATCH_STATE_RUNNING",
        }
        if batch["looks"] < self.looks:
            return {"name": name, "metadata": about}
        about["state"] = (
            f"BATCH_STATE_{self.states.get(self.final, self.final.upper())}"
        )
        rows = reversed(batch["rows"]) if self.final == "completed" else ()
        self.files[f"files/of-{name[8:]}"] = "\n".join(
            self.row(key, body) for key, body in rows
        )
        output = {"responsesFile": f"files/of-{name[8:]}"}
        return {
            "name": name,
            "metadata": {**about, "output": output},
            "done": True,
        }

    states: ClassVar = {"completed": "SUCCEEDED"}

    def row(self, key: str, body: Whole) -> str:
        """A line of the results."""
        return json.dumps({"key": key, **self.result(body)})

    def result(self, body: Whole) -> Whole:
        """The result of one request in a batch, without its name."""
        if "refuse me" in json.dumps(body):
            return {
                "error": {
                    "code": 3,
                    "message": "no",
                    "status": "INVALID_ARGUMENT",
                }
            }
        return {"response": self.reply(body)}


BATCHES = {
    kind.vendor: kind for kind in (AnthropicBatchServer, GeminiBatchServer)
}
