"""A headless Chromium spoken to over its debugging pipe, for what only a browser can tell."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EXECUTABLE = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip

# The browser reads commands from file 3 and answers on file 4.
_PLACE_PIPES = (
    "import os, sys; pipes = [os.dup(int(sys.argv[i])) for i in (1, 2)]; "
    "os.dup2(pipes[0], 3); os.dup2(pipes[1], 4); "
    "os.set_inheritable(3, True); os.set_inheritable(4, True); os.execv(sys.argv[3], sys.argv[3:])"
)


class Page:
    """One tab. Everything the page asks for, logs or violates is kept."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._out, self._in = to_browser, from_browser
        self._buffer = b""
        self._last_id = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.problems: list[str] = []

    def attach(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")[
            "targetId"
        ]
        attached = self.call(
            "Target.attachToTarget", targetId=target, flatten=True
        )
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def open(
        self, address: str, *, width: int = 1400, height: int = 1000
    ) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        self._loaded = False
        self.call("Page.navigate", url=address)
        while not self._loaded:
            self._handle(self._receive())
        self.evaluate("new Promise(done => setTimeout(done, 100))")

    def evaluate(self, expression: str) -> Any:
        answer = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        text = key if len(key) == 1 else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def point_at(self, selector: str, nth: int = 0) -> None:
        x, y = self.evaluate(
            f"(() => {{ const e = document.querySelectorAll({selector!r})[{nth}];"
            " e.scrollIntoView({block: 'center'}); const b = e.getClientRects()[0];"
            " return [b.left + b.width / 2, b.top + b.height / 2]; })()"
        )
        self.evaluate("new Promise(done => setTimeout(done, 100))")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path: Path) -> None:
        answer = self.call("Page.captureScreenshot")
        path.write_bytes(base64.b64decode(answer["data"]))

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._last_id += 1
        message: dict[str, Any] = {
            "id": self._last_id,
            "method": method,
            "params": params,
        }
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last_id:
                assert "error" not in answer, answer
                return answer["result"]  # type: ignore[no-any-return]
            self._handle(answer)

    def _handle(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.problems.append(params["entry"]["text"])
        elif method == "Page.loadEventFired":
            self._loaded = True

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            chunk = os.read(self._in, 1 << 20)
            assert chunk, "the browser closed its pipe"
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)  # type: ignore[no-any-return]


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A fresh browser with its profile in ``folder``."""
    assert EXECUTABLE
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()

    process = subprocess.Popen(
        [sys.executable, "-c", _PLACE_PIPES, str(to_read), str(from_write),
         EXECUTABLE, *_FLAGS, f"--user-data-dir={folder}", "about:blank"],
        pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(to_read)
    os.close(from_write)
    try:
        page = Page(to_write, from_read)
        page.attach()
        yield page
    finally:
        process.terminate()
        process.wait(timeout=20)
        os.close(to_write)
        os.close(from_read)
