"""Connections to a server: reuse, proxies, encryption, packed and early answers, bounds of time."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from beholder.backends import http_client
from beholder.backends.calls import CallFailed, Refused
from beholder.backends.openai_http import Connection
from beholder.errors import ConfigError

CERTIFICATE = Path(__file__).parents[1] / "servers" / "localhost.pem"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
BODY = b'{"choices": []}'


def response(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    head = [
        f"HTTP/1.1 {status}",
        f"content-length: {len(body)}",
        *headers,
        "",
        "",
    ]
    return "\r\n".join(head).encode() + body


class Server:
    """Answers each path in its way, and keeps the heads of all requests."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.n_connections = 0

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.n_connections += 1
        try:
            while await self.answer(reader, writer):
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer a request; return whether another may follow on this connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        path = head.split()[1].rpartition("/")[2]
        if path == "early":
            writer.write(
                response(b'{"error": "too large"}', status="413 Too Large")
            )
            return False
        length = (
            head.lower().partition("content-length: ")[2].partition("\r")[0]
        )
        body = await reader.readexactly(int(length))
        if path == "slow":
            await asyncio.Event().wait()
        if path == "gzip":
            writer.write(
                response(gzip.compress(body * 1000), "content-encoding: gzip")
            )
        elif path == "deflate":
            writer.write(
                response(
                    zlib.compress(body * 1000), "content-encoding: deflate"
                )
            )
        else:
            writer.write(response(body))
        return path != "ends"


@asynccontextmanager
async def listening(
    serve: Serve, context: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """The port at which a server listens."""
    tasks = []
    writers = []

    def begin(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
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


async def all_expired(to: Connection) -> Callable[[], bool]:
    """A check of httpx2's pool; it has no public name for it."""
    client = await to._clients.get()
    pool: Any = client._client._transport._pool  # type: ignore[attr-defined]
    return lambda: all(
        connection.has_expired() for connection in pool.connections
    )


def encrypted() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def connection(address: str, timeout: float = 20.0) -> Connection:
    return Connection("here", address, "", timeout, key="sk-planted-key-0000")


async def send_body(to: Connection, path: str, content: bytes = BODY) -> bytes:
    return await to.request(
        "POST",
        path,
        content=content,
        headers={"content-type": "application/json"},
    )


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.create_default_context(cafile=CERTIFICATE)
    monkeypatch.setattr(http_client, "trusted_certificates", lambda: context)


def test_requests_one_after_the_other_use_one_connection() -> None:
    async def check() -> None:
        server = Server()
        async with listening(server.serve) as port:
            to = connection(f"http://127.0.0.1:{port}/v1")
            assert [await send_body(to, f"/{n}") for n in range(3)] == [
                BODY
            ] * 3
            assert server.n_connections == 1
            head = server.heads[0].lower()
            assert head.startswith("post /v1/0 http/1.1\r\n")
            for header in (
                f"host: 127.0.0.1:{port}",
                "accept-encoding: gzip, deflate",
                f"user-agent: {http_client.AGENT}",
                "authorization: bearer sk-planted-key-0000",
                "content-type: application/json",
                f"content-length: {len(BODY)}",
            ):
                assert f"\r\n{header}\r\n" in head
            await asyncio.gather(send_body(to, "/a"), send_body(to, "/b"))
            assert server.n_connections == 2

    asyncio.run(check())


def test_a_connection_that_the_server_closed_costs_no_try() -> None:
    async def check() -> None:
        server = Server()
        async with listening(server.serve) as port:
            to = connection(f"http://localhost:{port}/v1")
            for _ in range(3):
                assert await send_body(to, "/ends") == BODY
                await until(await all_expired(to))
            assert server.n_connections == 3

    asyncio.run(check())


def test_a_connection_is_kept_for_some_seconds_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_client, "KEEPALIVE", 0.0)  # over when it begins

    async def check() -> None:
        server = Server()
        async with listening(server.serve) as port:
            to = connection(f"http://127.0.0.1:{port}")
            assert [await send_body(to, "/a"), await send_body(to, "/b")] == [
                BODY
            ] * 2
            assert server.n_connections == 2

    asyncio.run(check())


@pytest.mark.parametrize("path", ["/gzip", "/deflate"])
def test_packed_answers_are_unpacked(path: str) -> None:
    async def check() -> None:
        async with listening(Server().serve) as port:
            assert (
                await send_body(connection(f"http://127.0.0.1:{port}"), path)
                == BODY * 1000
            )

    asyncio.run(check())


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


# Bodies without a stated length end with the connection.
@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", _raw_deflate),
    ],
)
@pytest.mark.parametrize("n_cut", [0, 1, 8, 20])
def test_a_packed_body_without_its_end_is_no_response(
    encoding: str, pack: Callable[[bytes], bytes], n_cut: int
) -> None:
    packed = pack(BODY * 1000)

    async def serve(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        n_bytes = head.lower().partition(b"content-length: ")[2].split()[0]
        await reader.readexactly(int(n_bytes))
        writer.write(
            f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\n"
            "connection: close\r\n\r\n".encode()
        )
        cut = packed[: len(packed) - n_cut]
        for start in range(0, len(cut), 7):
            writer.write(cut[start : start + 7])
        writer.close()

    async def check() -> None:
        async with listening(serve) as port:
            to = connection(f"http://127.0.0.1:{port}")
            if n_cut == 0:
                assert await send_body(to, "/x") == BODY * 1000
            else:
                with pytest.raises(CallFailed) as caught:
                    await send_body(to, "/x")
                assert caught.value.charged

    asyncio.run(check())


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_long_body_arrives_whole_and_an_early_answer_to_it_is_read(
    scheme: str,
) -> None:
    long = b"y" * 7_000_000

    async def check() -> None:
        async with listening(
            Server().serve, encrypted() if scheme == "https" else None
        ) as port:
            to = connection(f"{scheme}://localhost:{port}")
            assert await send_body(to, "/long", long) == long
            with pytest.raises(Refused, match="too large"):
                await send_body(to, "/early", b"y" * 1000)
            # The server closes a connection that it did not read; over TLS that is seen by the
            # next request alone, which `Caller` sends again.
            with suppress(CallFailed):
                await send_body(to, "/then")
            assert await send_body(to, "/then") == BODY

    asyncio.run(check())


def test_a_server_that_does_not_read_or_answer_takes_too_long() -> None:
    async def silent(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await asyncio.Event().wait()

    async def check() -> None:
        async with (
            listening(Server().serve) as port,
            listening(silent) as silent_port,
        ):
            for to, path, body in [
                (connection(f"http://127.0.0.1:{port}", 0.2), "/slow", BODY),
                (
                    connection(f"http://127.0.0.1:{silent_port}", 0.2),
                    "/any",
                    b"y" * 50_000_000,
                ),
            ]:
                with pytest.raises(
                    CallFailed, match="took too long"
                ) as caught:
                    await send_body(to, path, body)
                assert (caught.value.strain, caught.value.charged) == (
                    True,
                    True,
                )

    asyncio.run(check())


def test_a_call_that_is_given_up_leaves_no_half_answer_to_the_next() -> None:
    async def check() -> None:
        server = Server()
        async with listening(server.serve) as port:
            to = connection(f"http://127.0.0.1:{port}")
            task = asyncio.ensure_future(send_body(to, "/slow"))
            await until(lambda: bool(server.heads))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await send_body(to, "/then") == BODY
            assert server.n_connections == 2

    asyncio.run(check())


def test_a_certificate_that_no_one_vouches_for_ends_the_run() -> None:
    async def check() -> None:
        async with listening(Server().serve, encrypted()) as port:
            with pytest.raises(ConfigError, match="CERTIFICATE_VERIFY_FAILED"):
                await send_body(connection(f"https://localhost:{port}"), "/a")

    asyncio.run(check())


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://127.0.0.1:9/v1", "All connection attempts failed"),
        ("http://no.such.host.invalid/v1", "getaddrinfo|[Nn]ame"),
    ],
)
def test_an_address_without_a_server_ends_the_run(
    address: str, why: str
) -> None:
    with pytest.raises(
        ConfigError, match=rf"here cannot be reached \(.*({why})"
    ):
        asyncio.run(send_body(connection(address), "/a"))


async def pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    finally:
        writer.close()


async def proxy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Passes a tunnel on; answers other requests with their first line and their key."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    method, target, _ = head.split("\r\n")[0].split()
    if "Basic dXNlcjpwdw==" not in head:
        writer.write(response(b"", status="407 Who Are You"))
    elif method == "CONNECT":
        host, port = target.split(":")
        upstream = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(
            pump(reader, upstream[1]), pump(upstream[0], writer)
        )
    else:
        writer.write(response(f"by proxy: {target}".encode()))
    writer.close()


@pytest.mark.usefixtures("trusted")
def test_a_proxy_of_the_environment_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def check() -> None:
        server = Server()
        async with (
            listening(proxy) as at,
            listening(server.serve, encrypted()) as port,
        ):
            for name in ("http_proxy", "https_proxy"):
                monkeypatch.setenv(name, f"http://user:pw@127.0.0.1:{at}")
            monkeypatch.setenv("no_proxy", "")
            body = await send_body(connection("http://far.example/v1"), "/a")
            assert body == b"by proxy: http://far.example/v1/a"
            inside = connection(f"https://localhost:{port}")
            assert [
                await send_body(inside, "/a"),
                await send_body(inside, "/b"),
            ] == [BODY] * 2
            assert server.n_connections == 1
            assert "Basic" not in "".join(server.heads)
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{at}")
            with pytest.raises(
                ConfigError,
                match=rf"proxy http://127.0.0.1:{at} .*407 Who Are You",
            ):
                await send_body(connection(f"https://localhost:{port}"), "/a")

    asyncio.run(check())


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:70000/v1", "http://127.0.0.1:0/v1"]
)
def test_a_port_that_does_not_exist_is_refused_in_words(address: str) -> None:
    with pytest.raises(ConfigError, match="is not an address such as"):
        connection(address)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1080", "needs the package socksio"),
        ("http_proxy", "socks4://127.0.0.1:1080", "has the scheme 'socks4'"),
        ("http_proxy", "socks://127.0.0.1:1080", "has the scheme 'socks'"),
        ("http_proxy", "ftp://127.0.0.1:21", "has the scheme 'ftp'"),
        ("http_proxy", "http://user:pw@127.0.0.1:70000", "is not an address"),
        ("http_proxy", "http://", "is not an address"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_named_without_its_password(
    variable: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "find_spec", lambda name: None)
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=message) as caught:
        asyncio.run(send_body(connection("http://far.example/v1"), "/a"))
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("no_proxy", "is_direct"),
    [
        ("127.0.0.1", True),
        ("127.0.0.1:{port}", True),
        ("127.0.0.0/8", True),
        ("10.0.0.0/8, 127.0.0.1/32", True),
        ("*", True),
        ("127.0.0.2", False),
        ("10.0.0.0/8", False),
        ("127.0.0.1:1", False),
        ("", False),
    ],
)
def test_no_proxy_names_hosts_ports_and_networks(
    no_proxy: str, is_direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check() -> None:
        server = Server()
        async with (
            listening(proxy) as proxy_port,
            listening(server.serve) as port,
        ):
            monkeypatch.setenv(
                "http_proxy", f"http://user:pw@127.0.0.1:{proxy_port}"
            )
            monkeypatch.setenv("no_proxy", no_proxy.format(port=port))
            body = await send_body(
                connection(f"http://127.0.0.1:{port}"), "/a"
            )
            assert body == (
                BODY
                if is_direct
                else f"by proxy: http://127.0.0.1:{port}/a".encode()
            )
            assert len(server.heads) == is_direct

    asyncio.run(check())


@pytest.mark.parametrize("status", ["407 Who Are You", "502 Bad Gateway"])
def test_a_tunnel_that_the_proxy_refuses_is_not_charged(
    status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(response(b"", status=status))
        writer.close()

    async def check() -> None:
        async with listening(refuse) as port:
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
            through = connection("https://far.example")
            through._reached = True  # it answered before
            with pytest.raises(CallFailed, match=status) as caught:
                await send_body(through, "/a")
            assert not caught.value.charged

    asyncio.run(check())


@pytest.mark.parametrize(
    "body", [b"", b'{"choices": [', b"\xff", b"[" * 100_000]
)
def test_an_answer_that_cannot_be_read_was_charged(body: bytes) -> None:
    """The server took the request and answered it with 200: nobody gives the money back."""
    with pytest.raises(CallFailed, match="not JSON") as caught:
        connection("http://127.0.0.1:9").parse(body)
    assert caught.value.charged
