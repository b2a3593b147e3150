"""Real engines over real weights: inside this process, or servers of their own on free ports.

Everything lies in one folder that ``make test-models`` prepares: ``weights`` (see
``tools/model_weights.py``) and the environments ``engines`` (vLLM, transformers) and ``llama``.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beholder.backends import BACKENDS, Backend

ROOM = 4096
"""Tokens that fit into every engine."""

STARTS_WITHIN = 600.0
"""Seconds in which a server must answer."""

_OPTIONS: dict[str, dict[str, Any]] = {
    "vllm": {
        "dtype": "float32", "max_model_len": ROOM, "enforce_eager": True, "max_num_seqs": 32,
    },
    "hf": {"dtype": "float32"},
}  # fmt: skip
INSIDE = tuple(_OPTIONS)
SERVERS = ("vllm-server", "transformers-server", "llama-server")
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",  # two threads on a busy machine wait for each other most of the time
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_NUM_OF_RESERVED_CPU": "0",  # else one of two cores stays idle
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
}

_backends: dict[str, Backend] = {}


@BACKENDS.register("kept")
class SharedEngine(Backend):
    """``kept:NAME``: an engine in this process that was made once, for as many runs as like it."""

    def __new__(cls, name: str) -> Any:
        """Return the shared engine itself, which is not a ``SharedEngine``."""
        return _backends[name]


@dataclass(frozen=True)
class Server:
    """A server that was started here.

    Attributes:
        address: Where it answers, up to ``/v1``.
        process: It, with a session of its own.
    """

    address: str
    process: subprocess.Popen[bytes]


class Engines:
    """Starts engines when they are asked for; ``close`` ends the servers.

    Args:
        folder: The prepared folder.
        names: Which engines may be used.
    """

    def __init__(self, folder: Path, names: tuple[str, ...]) -> None:
        unknown = set(names) - set(INSIDE) - set(SERVERS)
        assert not unknown, (
            f"no engine is called {unknown}; there are {(*INSIDE, *SERVERS)}"
        )
        self.names = names
        self.weights = folder / "weights"
        self.model = self.weights / "smollm2"
        self._folder = folder
        self._servers: dict[str, Server] = {}
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)

    def spec(self, name: str, model: Path | None = None) -> str:
        """Return the judge of an engine, as a user would name it."""
        if name in INSIDE:
            self._make(name)
            return f"kept:{name}"
        served = (
            str(model or self.model)
            if name == "transformers-server"
            else "smollm2"
        )
        address = self.server(name).address
        return f"openai({served!r}, base_url={address!r}, timeout=300, attempts=2)"

    def own_spec(self, name: str) -> str:
        """Return an engine of ``INSIDE``, for a process of its own that makes it anew."""
        options = "".join(
            f", {key}={value!r}" for key, value in _OPTIONS[name].items()
        )
        return f"{name}({str(self.model)!r}{options})"

    def server(self, name: str) -> Server:
        """Return a server, started if need be."""
        if name not in self._servers:
            self._servers[name] = self._start(name)
        return self._servers[name]

    def close(self) -> None:
        """End all servers, with the processes that they started."""
        for server in self._servers.values():
            os.killpg(server.process.pid, signal.SIGTERM)
        for server in self._servers.values():
            try:
                server.process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(server.process.pid, signal.SIGKILL)
                server.process.wait(20)
        self._servers.clear()

    def _make(self, name: str) -> None:
        from beholder.backends.hf import HF
        from beholder.backends.vllm import VLLM

        if name not in _backends:
            make = {"hf": HF, "vllm": VLLM}[name]
            _backends[name] = make(str(self.model), **_OPTIONS[name])

    def _start(self, name: str) -> Server:
        port = _free_port()
        commands = {
            "vllm-server": [
                sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", self.model,
                "--served-model-name", "smollm2", "--dtype", "float32", "--max-model-len", ROOM,
                "--enforce-eager", "--max-num-seqs", "32", "--enable-prompt-tokens-details",
            ],
            "transformers-server": [
                Path(sys.executable).parent / "transformers", "serve", "--device", "cpu",
                "--dtype", "float32",
            ],
            **{
                f"llama-{kind}server": [
                    self._folder / "llama/bin/python", "-m", "llama_cpp.server",
                    "--model", self.weights / weights, "--model_alias", "smollm2",
                    "--n_ctx", ROOM,
                ]
                for kind, weights in (("", "smollm2.gguf"), ("f32-", "smollm2-f32.gguf"))
            },
        }  # fmt: skip
        command = [
            *map(str, commands[name]),
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
        log = self._folder / f"{name}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        server = Server(f"http://127.0.0.1:{port}/v1", process)
        _wait(server, log)
        return server


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


def _wait(server: Server, log: Path) -> None:
    """Wait until a server answers at all, whatever it says."""
    end = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < end and server.process.poll() is None:
        try:
            urllib.request.urlopen(
                f"{server.address}/models", timeout=10
            ).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.5)
    if server.process.poll() is None:
        os.killpg(server.process.pid, signal.SIGKILL)
    end_of_log = log.read_text(errors="replace")[-2000:]
    raise AssertionError(
        f"{log.stem} did not start; the end of {log}:\n{end_of_log}"
    )
