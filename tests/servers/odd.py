"""Odd answers: everything that a server may send with a straight face, one fault each."""

from __future__ import annotations

import copy
import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any, TypeAlias

from servers.faults import FaultServer, send_answer

Whole: TypeAlias = dict[str, Any]
Raw: TypeAlias = tuple[int, list[tuple[bytes, bytes]], bytes]

NAN, INFINITE = float("nan"), float("inf")
HALF = "half a pair: \ud83d"
DEEP = "[" * 100_000


def _choice(**fields: Any) -> Callable[[Whole], None]:
    return lambda whole: whole["choices"][0].update(fields)


def _message(**fields: Any) -> Callable[[Whole], None]:
    return lambda whole: whole["choices"][0]["message"].update(fields)


def _top(**fields: Any) -> Callable[[Whole], None]:
    return lambda whole: whole.update(fields)


def _only(**fields: Any) -> Callable[[Whole], None]:
    def change(whole: Whole) -> None:
        whole.clear()
        whole.update(fields)

    return change


def _without(*names: str) -> Callable[[Whole], None]:
    def change(whole: Whole) -> None:
        for name in names:
            del whole[name]

    return change


def _token(**fields: Any) -> Callable[[Whole], None]:
    """A first token that is told as it should be, but for some fields."""
    row = {"token": "5", "logprob": -0.1, **fields}
    return _choice(logprobs={"content": [{**row, "top_logprobs": [row]}]})


def _usage(**fields: Any) -> Callable[[Whole], None]:
    return lambda whole: whole["usage"].update(fields)


def _call(arguments: Any) -> Callable[[Whole], None]:
    call = {"function": {"name": "answer", "arguments": arguments}}
    return _message(content=None, tool_calls=[call])


CHANGED: dict[str, Callable[[Whole], None]] = {
    "content: parts": _message(content=[{"type": "text", "text": "a phrase"}]),
    "content: texts": _message(content=["a phrase"]),
    "content: number": _message(content=5),
    "content: true": _message(content=True),
    "content: object": _message(content={"text": "a phrase"}),
    "content: null": _message(content=None),
    "content: empty": _message(content=""),
    "content: blanks": _message(content=" \n\t"),
    "content: half a pair": _message(content=HALF),
    "content: zero byte": _message(content="\0"),
    "content: nested": _message(content=DEEP),
    "content: nested object": _message(content='{"a":' * 50_000),
    "content: long": _message(content="word " * 20_000),
    "content: separators": _message(content="a\u2028b\u0085c\x0bd"),
    "content: thinking only": _message(content="<think>hm"),
    "content: missing": lambda whole: whole["choices"][0]["message"].pop("content"),
    "finish: list": _choice(finish_reason=["stop"]),
    "finish: object": _choice(finish_reason={"reason": "stop"}),
    "finish: number": _choice(finish_reason=1),
    "finish: true": _choice(finish_reason=True),
    "finish: null": _choice(finish_reason=None),
    "finish: empty": _choice(finish_reason=""),
    "finish: unknown": _choice(finish_reason="whatever"),
    "finish: half a pair": _choice(finish_reason=HALF),
    "finish: length": _choice(finish_reason="length"),
    "finish: filtered": _choice(finish_reason="content_filter"),
    "tool: object": _call({"ready": True}),
    "tool: number": _call(5),
    "tool: half a pair": _call(HALF),
    "tool: text": _message(tool_calls="answer"),
    "tool: null": _message(tool_calls=[None]),
    "tool: no function": _message(tool_calls=[{}]),
    "tool: function null": _message(tool_calls=[{"function": None}]),
    "logprobs: list": _choice(logprobs=[1]),
    "logprobs: text": _choice(logprobs="none"),
    "logprobs: content text": _choice(logprobs={"content": "none"}),
    "logprobs: content null": _choice(logprobs={"content": [None]}),
    "logprobs: top object": _choice(logprobs={"content": [{"top_logprobs": {"5": -0.1}}]}),
    "logprobs: top empty": _choice(logprobs={"content": [{"top_logprobs": []}]}),
    "logprob: 1000": _token(logprob=1000),
    "logprob: huge integer": _token(logprob=10**400),
    "logprob: NaN": _token(logprob=NAN),
    "logprob: infinite": _token(logprob=INFINITE),
    "logprob: minus infinite": _token(logprob=-INFINITE),
    "logprob: text": _token(logprob="-0.1"),
    "logprob: null": _token(logprob=None),
    "logprob: true": _token(logprob=True),
    "token: number": _token(token=5),
    "token: half a pair": _token(token=HALF),
    "token: null": _token(token=None),
    "usage: missing": _without("usage"),
    "usage: null": _top(usage=None),
    "usage: text": _top(usage="many"),
    "usage: list": _top(usage=[1]),
    "usage: prompt text": _usage(prompt_tokens="many"),
    "usage: prompt NaN": _usage(prompt_tokens=NAN),
    "usage: prompt infinite": _usage(prompt_tokens=INFINITE),
    "usage: prompt negative": _usage(prompt_tokens=-5),
    "usage: prompt huge": _usage(prompt_tokens=10**40),
    "usage: prompt true": _usage(prompt_tokens=True),
    "usage: completion text": _usage(completion_tokens="few"),
    "usage: completion NaN": _usage(completion_tokens=NAN),
    "usage: details list": _usage(prompt_tokens_details=[1]),
    "usage: details text": _usage(prompt_tokens_details="some"),
    "usage: more cached than sent": _usage(prompt_tokens_details={"cached_tokens": 10**9}),
    "fingerprint: NaN": _top(system_fingerprint=NAN),
    "fingerprint: list": _top(system_fingerprint=["fp"]),
    "fingerprint: half a pair": _top(system_fingerprint=HALF),
    "model: number": _top(model=5),
    "model: list": _top(model=["m"]),
    "model: half a pair": _top(model=HALF),
    "model: null": _top(model=None),
    "model: missing": _without("model"),
    "choices: missing": _without("choices"),
    "choices: null": _top(choices=None),
    "choices: empty": _top(choices=[]),
    "choices: object": _top(choices={"0": {}}),
    "choices: nulls": _top(choices=[None]),
    "choices: texts": _top(choices=["a phrase"]),
    "message: missing": lambda whole: whole["choices"][0].pop("message"),
    "message: null": _choice(message=None),
    "message: text": _choice(message="a phrase"),
    "message: list": _choice(message=["a phrase"]),
    "error with 200": _only(error={"message": "no"}),
}  # fmt: skip

_JSON = (b"content-type", b"application/json")


def _body(
    body: bytes, status: int = 200, *headers: tuple[bytes, bytes]
) -> Callable[[bytes], Raw]:
    return lambda _: (status, [_JSON, *headers], body)


def _of(
    change: Callable[[bytes], bytes], *headers: tuple[bytes, bytes]
) -> Callable[[bytes], Raw]:
    return lambda good: (200, [_JSON, *headers], change(good))


SENT: dict[str, Callable[[bytes], Raw]] = {
    "body: empty": _body(b""),
    "body: null": _body(b"null"),
    "body: list": _body(b"[]"),
    "body: number": _body(b"5"),
    "body: text": _body(b'"a phrase"'),
    "body: web page": _body(b"<html><body>Bad gateway</body></html>"),
    "body: cut": _of(lambda good: good[: len(good) // 2]),
    "body: twice": _of(lambda good: good + good),
    "body: no UTF-8": _of(lambda good: good.replace(b"a phrase", b"\xff\xfe\xfa")),
    "body: nested": _body(DEEP.encode()),
    "body: nested objects": _body(b'{"a":' * 100_000),
    "body: 9 MB": _of(lambda good: b" " * 9_000_000 + good),
    "body: packed bomb": _of(
        lambda good: gzip.compress(bytes(50_000_000)), (b"content-encoding", b"gzip")
    ),
    "body: not packed as said": _of(lambda good: good, (b"content-encoding", b"gzip")),
    "body: packed unasked": _of(zlib.compress, (b"content-encoding", b"zstd")),
    "status: 204": _body(b"", 204),
    "status: 302": _body(b"", 302, (b"location", b"http://127.0.0.1:9/v1/chat/completions")),
    "status: 307": _body(b"", 307, (b"location", b"http://127.0.0.1:9/v1/chat/completions")),
    "status: 307 to nowhere": _body(b"", 307, (b"location", b"//[::1")),
    "status: 408": _body(b"{}", 408),
    "status: 409": _body(b"{}", 409),
    "status: 429, later": _body(b"{}", 429, (b"retry-after", b"inf")),
    "status: 502": _body(b"<html>Bad gateway</html>", 502),
    "status: 500, nested": _body(DEEP.encode(), 500),
    "status: 500, 9 MB": _body(b"x" * 9_000_000, 500),
}  # fmt: skip

KINDS = (*CHANGED, *SENT)


def sent(kind: str, good: Whole) -> Raw:
    """Return the response in place of a good answer: status, headers and body."""
    if kind in SENT:
        return SENT[kind](json.dumps(good).encode())
    changed = copy.deepcopy(good)
    CHANGED[kind](changed)
    return 200, [_JSON], json.dumps(changed).encode()


class OddServer(FaultServer):
    """A server of which some answers are odd: the faults are ``KINDS``.

    Attributes:
        charged: Requests that got an answer of status 200, as a provider would charge them.
    """

    charged: int = 0

    async def _fail(self, fault: str, body: dict[str, Any], send: Any) -> None:
        if fault not in KINDS:
            await super()._fail(fault, body, send)
            return
        status, headers, content = sent(fault, self.reply(body))
        self.charged += status == 200
        await send_answer(send, status, content, headers)
