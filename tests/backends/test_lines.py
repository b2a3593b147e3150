"""Connections to a server: reuse, proxies, encryption, packed and early answers, bounds of time."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from beholder.backends import lines
from beholder.backends.calls import CallFailed, Refused
from beholder.backends.openai_http import JSON, Connection
from beholder.errors import ConfigError

CERTIFICATE = Path(__file__).parents[1] / "servers" / "localhost.pem"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
BODY = b'{"choices": []}'


def response(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    head = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", ""]
    return "\r\n".join(head).encode() + body


class Server:
    """Answers each path in its way, and keeps the heads of all requests."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.n_connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.n_connections += 1
        try:
            while await self.answer(reader, writer):
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether more may follow."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        path = head.split()[1].rpartition("/")[2]
        if path == "early":
            writer.write(response(b'{"error": "too large"}', status="413 Too Large"))
            return False
        length = head.partition("Content-Length: ")[2].partition("\r")[0]
        body = await reader.readexactly(int(length))
        if path == "slow":
            await asyncio.Event().wait()
        if path == "gzip":
            writer.write(response(gzip.compress(body * 1000), "content-encoding: gzip"))
        elif path == "deflate":
            writer.write(response(zlib.compress(body * 1000), "content-encoding: deflate"))
        else:
            writer.write(response(body))
        return path != "ends"


@asynccontextmanager
async def listening(serve: Serve, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The port at which a server listens."""
    tasks = []
    writers = []

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        tasks.append(asyncio.ensure_future(serve(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0)


async def until(reached: Callable[[], bool]) -> None:
    """Let the loop run until something is so."""
    while not reached():
        await asyncio.sleep(0)


def encrypted() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def connection(address: str, timeout: float = 20.0) -> Connection:
    return Connection("here", address, "", timeout, key="sk-planted-key-0000")


async def said(to: Connection, path: str, content: bytes = BODY) -> bytes:
    return await to.request("POST", path, content=content, headers=JSON)


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.create_default_context(cafile=CERTIFICATE)
    monkeypatch.setattr(lines, "_certificates", lambda: context)


def test_requests_one_after_the_other_use_one_connection() -> None:
    async def check() -> None:
        server = Server()
        async with listening(server.serve) as port:
            to = connection(f"http://127.0.0.1:{port}/v1")
            assert [await said(to, f"/{n}") for n in range(3)] == [BODY] * 3
            assert server.n_connections == 1
            assert server.heads[0].split("\r\n") == [
                "POST /v1/0 HTTP/1.1",
                f"Host: 127.0.0.1:{port}",
                "accept-encoding: gzip, deflate",
                f"user-agent: {lines.AGENT}",
                "authorization: Bearer sk-planted-key-0000",
                "content-type: application/json",
                f"Content-Length: {len(BODY)}",
                "",
                "",
            ]
            await asyncio.gather(said(to, "/a"), said(to, "/b"))
            assert server.n_connections == 2

    asyncio.run(check())


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_connection_that_the_server_closed_costs_no_try(scheme: str) -> None:
    async def check() -> None:
        server = Server()
        async with listening(server.serve, encrypted() if scheme == "https" else None) as port:
            to = connection(f"{scheme}://localhost:{port}/v1")
            for _ in range(3):
                assert await said(to, "/ends") == BODY
                kept = (await to._lines.get())._free[-1]
                await until(kept.has_expired)
            assert server.n_connections == 3

    asyncio.run(check())


def test_a_connection_is_kept_for_some_seconds_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_IDLE", -1.0)  # over when it begins

    async def check() -> None:
        server = Server()
        async with listening(server.serve) as port:
            to = connection(f"http://127.0.0.1:{port}")
            assert [await said(to, "/a"), await said(to, "/b")] == [BODY] * 2
            assert server.n_connections == 2

    asyncio.run(check())


@pytest.mark.parametrize("path", ["/gzip", "/deflate"])
def test_packed_answers_are_unpacked(path: str) -> None:
    async def check() -> None:
        async with listening(Server().serve) as port:
            assert await said(connection(f"http://127.0.0.1:{port}"), path) == BODY * 1000

    asyncio.run(check())


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_long_body_arrives_whole_and_an_early_answer_to_it_is_read(scheme: str) -> None:
    long = b"y" * 7_000_000

    async def check() -> None:
        async with listening(Server().serve, encrypted() if scheme == "https" else None) as port:
            to = connection(f"{scheme}://localhost:{port}")
            assert await said(to, "/long", long) == long
            with pytest.raises(Refused, match="too large"):
                await said(to, "/early", b"y" * 1000)
            assert await said(to, "/then") == BODY

    asyncio.run(check())


def test_a_server_that_does_not_read_or_answer_takes_too_long() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def check() -> None:
        async with listening(Server().serve) as port, listening(silent) as other:
            for to, path, body in [
                (connection(f"http://127.0.0.1:{port}", 0.2), "/slow", BODY),
                (connection(f"http://127.0.0.1:{other}", 0.2), "/any", b"y" * 50_000_000),
            ]:
                with pytest.raises(CallFailed, match="took too long") as caught:
                    await said(to, path, body)
                assert (caught.value.strain, caught.value.charged) == (True, True)

    asyncio.run(check())


def test_a_call_that_is_given_up_leaves_no_half_answer_to_the_next() -> None:
    async def check() -> None:
        server = Server()
        async with listening(server.serve) as port:
            to = connection(f"http://127.0.0.1:{port}")
            task = asyncio.ensure_future(said(to, "/slow"))
            await until(lambda: bool(server.heads))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await said(to, "/then") == BODY
            assert server.n_connections == 2

    asyncio.run(check())


def test_a_certificate_that_no_one_vouches_for_ends_the_run() -> None:
    async def check() -> None:
        async with listening(Server().serve, encrypted()) as port:
            with pytest.raises(ConfigError, match="CERTIFICATE_VERIFY_FAILED"):
                await said(connection(f"https://localhost:{port}"), "/a")

    asyncio.run(check())


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://127.0.0.1:9/v1", "All connection attempts failed"),
        ("http://no.such.host.invalid/v1", "getaddrinfo|[Nn]ame"),
    ],
)
def test_an_address_without_a_server_ends_the_run(address: str, why: str) -> None:
    with pytest.raises(ConfigError, match=rf"here cannot be reached \(.*({why})"):
        asyncio.run(said(connection(address), "/a"))


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    finally:
        writer.close()


async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Passes a tunnel on; answers other requests with their first line and their key."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    method, target, _ = head.split("\r\n")[0].split()
    if "Basic dXNlcjpwdw==" not in head:
        writer.write(response(b"", status="407 Who Are You"))
    elif method == "CONNECT":
        host, port = target.split(":")
        others = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(pump(reader, others[1]), pump(others[0], writer))
    else:
        writer.write(response(f"by proxy: {target}".encode()))
    writer.close()


@pytest.mark.usefixtures("trusted")
def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        server = Server()
        async with (
            listening(proxy) as at,
            listening(server.serve, encrypted()) as port,
        ):
            for name in ("http_proxy", "https_proxy"):
                monkeypatch.setenv(name, f"http://user:pw@127.0.0.1:{at}")
            monkeypatch.setenv("no_proxy", "")
            found = await said(connection("http://far.example/v1"), "/a")
            assert found == b"by proxy: http://far.example/v1/a"
            inside = connection(f"https://localhost:{port}")
            assert [await said(inside, "/a"), await said(inside, "/b")] == [BODY] * 2
            assert server.n_connections == 1
            assert "Basic" not in "".join(server.heads)
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{at}")
            with pytest.raises(CallFailed, match="407 Who Are You"):
                await said(connection(f"https://localhost:{port}"), "/a")

    asyncio.run(check())
