"""What tests of served pages share: a client that needs no port, a server, and a real browser."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from beholder.web import Settings
from beholder.web.app import server_config
from toy.watched import Watched

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture
def client() -> Iterator[Callable[[ASGIApp], TestClient]]:
    """Makes a client of an application, as a browser on this machine would come."""
    clients: list[TestClient] = []

    def make(app: ASGIApp) -> TestClient:
        test_client = TestClient(
            app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000)
        )
        clients.append(test_client)
        return test_client

    yield make
    for test_client in clients:
        test_client.close()


@contextmanager
def served(app: ASGIApp, settings: Settings | None = None) -> Iterator[str]:
    """The address of an application that listens on a free port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # who comes before the server runs waits
        options: dict[str, Any] = {
            "lifespan": "off",
            "timeout_graceful_shutdown": 3,
        }
        server = uvicorn.Server(
            server_config(app, settings or Settings(), **options)
        )
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.fixture
def server() -> Callable[[ASGIApp], AbstractContextManager[str]]:
    """Serves an application: ``with server(app) as address``."""
    return served


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's chromium under Playwright; `make test-web` needs it, elsewhere its tests skip."""
    if "BEHOLDER_TEST_BROWSER" not in os.environ:
        pytest.importorskip(
            "playwright", reason="needs Playwright: make test-web"
        )
        if CHROMIUM is None:
            pytest.skip("needs Chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(
        timeout=60_000
    )  # a page tries again ever later while its server restarts

    assert CHROMIUM, "make test-web needs the package chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture
def watch(chromium: Any) -> Iterator[Callable[[], Watched]]:
    """Pages of different people: each call gives one in a browser of its own."""
    contexts = []

    def fresh() -> Watched:
        context = chromium.new_context(viewport={"width": 1200, "height": 900})
        context.set_default_timeout(60_000)
        contexts.append(context)
        return Watched(context.new_page())

    yield fresh
    for context in contexts:
        context.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Watched]:
    """A fresh page, wide as a desk's screen."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    yield Watched(context.new_page())
    context.close()
