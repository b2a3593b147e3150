"""The OpenAI-compatible embedder against a real HTTP server in this process."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from beholder.backends.openai_http import NotThere
from beholder.embed import embedder
from beholder.errors import (
    BeholderError,
    ConfigError,
    ItemError,
    RunError,
    TransientError,
)

Reply = tuple[int, str, str]
"""Status, content type, body."""


class Server:
    """Answers each request by ``reply`` and writes down what it was asked."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.reply: Callable[[list[str]], Reply] = vectors
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(
                    self.rfile.read(int(self.headers["Content-Length"]))
                )
                server.requests.append({"path": self.path, **body})
                server.keys.append(self.headers["Authorization"])
                status, kind, text = server.reply(body["input"])
                data = text.encode()
                with suppress(
                    ConnectionError
                ):  # the client may have stopped waiting
                    self.send_response(status)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(data)))
                    if status == 307:
                        self.send_header("Location", text)
                    self.end_headers()
                    self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        self.thread = threading.Thread(
            target=self.http.serve_forever, args=(0.01,)
        )
        self.thread.start()

    def close(self) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def answer(rows: list[Any], indices: list[int] | None = None) -> Reply:
    data = [
        {"object": "embedding", "index": i, "embedding": row}
        for i, row in zip(indices or range(len(rows)), rows, strict=True)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    body = {"object": "list", "data": data, "model": "m", "usage": usage}
    return 200, "application/json", json.dumps(body)


def vectors(texts: list[str]) -> Reply:
    return answer([[3.0, 4.0 * len(text)] for text in texts])


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def test_vectors_have_length_one_and_follow_the_index(server: Server) -> None:
    server.reply = lambda texts: answer(
        [[0.0, 5.0], [3.0, 4.0]], indices=[1, 0]
    )
    rows = asyncio.run(
        embedder("openai:m", base_url=server.url).embed(["a", "b"])
    )
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 1.0]], rtol=1e-6)


def test_the_request_names_model_texts_and_dimensions(server: Server) -> None:
    openai_embedder = embedder(
        "openai:org/m",
        base_url=server.url,
        api_key="k1",
        dimensions=2,
    )
    asyncio.run(openai_embedder.embed(["a", "b"]))
    (request,) = server.requests
    assert request["path"] == "/v1/embeddings"
    assert request["model"] == "org/m"
    assert request["input"] == ["a", "b"]
    assert request["dimensions"] == 2
    assert server.keys == ["Bearer k1"]


def test_one_embedder_serves_several_event_loops_and_many_calls(
    server: Server,
) -> None:
    openai_embedder = embedder("openai:m", base_url=server.url)

    async def many() -> None:
        await asyncio.gather(
            *(openai_embedder.embed([str(i)]) for i in range(5))
        )

    asyncio.run(many())
    asyncio.run(many())
    assert len(server.requests) == 10


@pytest.mark.parametrize(
    ("reply", "error", "message"),
    [
        (
            (500, "application/json", '{"error": {"message": "boom"}}'),
            TransientError,
            "HTTP 500: boom",
        ),
        ((429, "application/json", "{}"), TransientError, "HTTP 429"),
        ((503, "text/html", "<h1>busy</h1>"), TransientError, "HTTP 503"),
        (
            (400, "application/json", '{"error": {"message": "too long"}}'),
            ItemError,
            "too long",
        ),
        (
            (401, "application/json", "{}"),
            ConfigError,
            "needs a key, and none is sent",
        ),
        ((404, "application/json", "{}"), NotThere, "is not there"),
        ((200, "text/html", "<h1>hi</h1>"), TransientError, "not JSON"),
        ((200, "application/json", "{"), TransientError, "not JSON"),
        (
            (200, "application/json", "{}"),
            TransientError,
            "no list of embeddings",
        ),
        (answer([[1.0, 2.0]]), ItemError, "asked for 2 embeddings, got 1"),
        (
            answer([[1.0], [2.0]], indices=[0, 0]),
            ItemError,
            "asked for 2 embeddings",
        ),
        (answer([[1.0, 2.0], [1.0]]), ItemError, "not lists of numbers"),
        (answer([["x"], ["y"]]), ItemError, "not lists of numbers"),
        (answer([[float("nan")], [1.0]]), ItemError, "finite"),
        (answer([[], []]), ItemError, "finite"),
        (answer([[10**400], [1]]), ItemError, "not lists of numbers"),
        (
            (200, "application/json", '{"data": [{"index": [0]}, 7]}'),
            ItemError,
            "asked for 2",
        ),
        ((200, "application/json", "[" * 100_000), TransientError, "not JSON"),
        (
            (402, "application/json", '{"error": "paid"}'),
            RunError,
            "no quota left: paid",
        ),
    ],
)
def test_a_bad_answer_is_one_clear_error_after_one_attempt(
    server: Server,
    reply: Reply,
    error: type[BeholderError],
    message: str,
) -> None:
    server.reply = lambda texts: reply
    with pytest.raises(error, match=message) as caught:
        asyncio.run(
            embedder("openai:m", base_url=server.url).embed(["a", "b"])
        )
    assert type(caught.value) is error
    assert "'m' at 127.0.0.1" in str(caught.value)
    assert len(server.requests) == 1


def test_vectors_of_another_length_than_before_are_refused(
    server: Server,
) -> None:
    openai_embedder = embedder("openai:m", base_url=server.url)
    asyncio.run(openai_embedder.embed(["a"]))
    server.reply = lambda texts: answer([[1.0, 2.0, 3.0]])
    with pytest.raises(
        ItemError, match=r"expected vectors of 2 .* shape \(1, 3\)"
    ):
        asyncio.run(openai_embedder.embed(["b"]))


def test_a_server_that_ignores_the_dimensions_is_refused(
    server: Server,
) -> None:
    openai_embedder = embedder("openai:m", base_url=server.url, dimensions=7)
    with pytest.raises(ItemError, match="expected vectors of 7"):
        asyncio.run(openai_embedder.embed(["a"]))


def test_no_connection_at_all_is_told_before_any_work() -> None:
    server = Server()
    server.close()
    with pytest.raises(
        ConfigError, match=r"'m' at 127\.0\.0\.1:\d+ cannot be reached"
    ):
        asyncio.run(embedder("openai:m", base_url=server.url).embed(["a"]))


def test_an_answer_with_too_many_bytes_is_refused(server: Server) -> None:
    status, kind, body = vectors(["a", "b"])
    openai_embedder = embedder("openai:m", base_url=server.url)
    server.reply = lambda texts: (
        status,
        kind,
        body + " " * (664_000 - len(body)),
    )
    asyncio.run(openai_embedder.embed(["a", "b"]))
    server.reply = lambda texts: (
        status,
        kind,
        body + " " * (664_001 - len(body)),
    )
    with pytest.raises(TransientError, match="more than 664000 bytes"):
        asyncio.run(openai_embedder.embed(["a", "b"]))


def test_a_key_that_a_server_repeats_is_told_to_nobody(server: Server) -> None:
    key = "sk-planted-0123456789"
    server.reply = lambda texts: (
        400,
        "application/json",
        f'{{"error": "no {key}"}}',
    )
    with pytest.raises(ItemError) as caught:
        asyncio.run(
            embedder("openai:m", base_url=server.url, api_key=key).embed(["a"])
        )
    assert "no [key]" in str(caught.value)
    assert key not in repr(caught.value) + str(caught.value.__cause__)


def test_a_slow_server_is_transient(server: Server) -> None:
    release = threading.Event()

    def wait(texts: list[str]) -> Reply:
        release.wait(10)
        return vectors(texts)

    server.reply = wait
    with pytest.raises(TransientError, match="took too long"):
        asyncio.run(
            embedder("openai:m", base_url=server.url, timeout=0.2).embed(["a"])
        )
    release.set()


def test_identity_names_model_host_and_dimensions_but_no_secret() -> None:
    openai_embedder = embedder(
        "openai:m",
        base_url="http://me:pw@host:8000/v1",
        api_key="k",
        dimensions=3,
    )
    assert openai_embedder.identity == "openai:m@host:8000/3"


def test_a_missing_key_is_reported_before_any_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="set OPENAI_API_KEY"):
        embedder("openai:text-embedding-3-small")


def test_an_address_that_is_not_valid_is_reported() -> None:
    with pytest.raises(ConfigError, match="base_url: 'localhost:8000'"):
        embedder("openai:m", base_url="localhost:8000")


def test_a_redirect_carries_no_text_to_another_address(server: Server) -> None:
    elsewhere = Server()
    try:
        server.reply = lambda texts: (
            307,
            "text/plain",
            f"{elsewhere.url}/embeddings",
        )
        with pytest.raises(BeholderError, match="sends everything on to"):
            asyncio.run(
                embedder("openai:m", base_url=server.url).embed(
                    ["a private text"]
                )
            )
        assert len(server.requests) == 1
        assert elsewhere.requests == []
    finally:
        elsewhere.close()
