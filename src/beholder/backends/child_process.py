"""A program in an environment of its own that answers by JSON lines over pipes.

A TOML file names the program; ``docs/start/process.md`` has an example. The child gets one object a
line, ``{"id": 1, "candidate": "..."}``, and answers each with one line: ``{"id": 1, "values":
{"NAME": 0.5}}`` or ``{"id": 1, "error": "..."}``. It ends when its input does.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import signal
import subprocess
import threading
import tomllib
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Annotated, Literal

import msgspec

from beholder.base.files import decode_json, open_regular
from beholder.base.visible import for_terminal
from beholder.errors import ConfigError, ItemError, RunError, TransientError

MAX_SETTINGS_BYTES = 64 << 10
"""Bytes of a TOML file."""

MAX_ANSWER_BYTES = 1 << 20
"""Bytes of one answer."""

TAIL_BYTES = 2_000
"""Bytes of the child's error output that a failure shows."""

MOST_ENDS = 3
"""Times in a row that the child may end before the run does."""

_DIGITS = 12
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_VALUE_NAME = re.compile(r"[a-z][a-z0-9_]*")


class DeclaredValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value that the program gives: meaning, range and direction."""

    help: str
    low: float
    high: float
    better: Literal["higher", "lower", "neither"]


Input = Literal["candidate", "references", "images", "language"]


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the TOML file.

    Attributes:
        about: What it measures, in one line.
        command: Program and arguments; a path is relative to the file.
        inputs: Fields of a row that are sent.
        lock: File that pins the environment.
        values: Values by name; the first is the headline.
        files: Further files that the values depend on, such as modules and weights.
        keep_env: Variables with a secret that the program gets; it gets all others.
        timeout: Seconds for one row.
        per_worker: Whether each worker process starts a child; otherwise a run has one.
    """

    about: str
    command: Annotated[list[str], msgspec.Meta(min_length=1)]
    inputs: Annotated[list[Input], msgspec.Meta(min_length=1)]
    lock: str
    values: Annotated[dict[str, DeclaredValue], msgspec.Meta(min_length=1)]
    files: list[str] = []
    keep_env: list[str] = []
    timeout: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 600.0
    per_worker: bool = False


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    id: int
    values: dict[str, float | None] | None = None
    error: str | None = None


def read_program(file: Path) -> tuple[Program, str]:
    """Return the program of a TOML file, and its identity for signatures.

    The identity has a digest of the TOML file, of the lock file, and of all files in the folder
    that the command names, with those of ``files``.

    Raises:
        ConfigError: A file is missing, or the TOML file is not valid; names the key.
    """
    content = _read_file(file, file, MAX_SETTINGS_BYTES)
    try:
        program = msgspec.convert(
            tomllib.loads(content.decode("utf-8")), Program, strict=True
        )
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: {error}") from error
    if "candidate" not in program.inputs:
        raise ConfigError(f"{file}: inputs must have 'candidate'")
    for name, value in program.values.items():
        if not _VALUE_NAME.fullmatch(name):
            raise ConfigError(
                f"{file}: the value {name!r} needs a name of a-z, 0-9 and _, such as"
                " 'precision'"
            )
        if not value.low < value.high:
            raise ConfigError(
                f"{file}: the value {name!r} has low={value.low:g}, which is not below"
                f" high={value.high:g}"
            )
    folder = file.parent
    # The interpreter of an environment is most often a link that leads out of the folder.
    words = [
        word
        for word in program.command
        if (folder / word).is_file() and _is_inside(folder, word)
    ]
    code = hashlib.sha256()
    for word in (*words, *program.files):
        digest = hashlib.sha256(_read_file(folder / word, file)).hexdigest()
        code.update(f"{word}:{digest}\n".encode())
    parts = {
        "toml": hashlib.sha256(content),
        "lock": hashlib.sha256(_read_file(folder / program.lock, file)),
        "code": code,
    }
    return program, "+".join(
        f"{name}@{digest.hexdigest()[:_DIGITS]}"
        for name, digest in parts.items()
    )


def _is_inside(folder: Path, name: str) -> bool:
    return (folder / name).resolve().is_relative_to(folder.resolve())


def _read_file(path: Path, file: Path, limit: int | None = None) -> bytes:
    try:
        with open_regular(path) as stream:
            content = stream.read(-1 if limit is None else limit + 1)
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(f"{file}: {path} cannot be read: {reason}") from None
    if limit is not None and len(content) > limit:
        raise ConfigError(f"{file} has more than {limit:,} bytes")
    return content


class ChildProcess:
    """The child of a TOML file, which is started at the first question and again when it ended.

    Args:
        file: The TOML file.

    Attributes:
        program: Content of the file.
        identity: Its identity, as signatures state it.
    """

    def __init__(self, file: str) -> None:
        self._file = Path(file)
        self.program, self.identity = read_program(self._file)
        # One thread: rows wait for each other here and hold no thread that pictures need.
        self._thread = ThreadPoolExecutor(1, "beholder-child")
        self._child: subprocess.Popen[bytes] | None = None
        self._tail = bytearray()
        self._reader = threading.Thread()
        self._n_asked = 0
        self._n_ends = 0

    @property
    def per_process(self) -> bool:
        """True if each worker process starts a child."""
        return self.program.per_worker

    def check(self) -> None:
        """Refuse a program that does not exist, without starting it.

        Raises:
            ConfigError: Names the program.
        """
        self._find_program()

    async def ask(
        self, fields: Mapping[str, object]
    ) -> Mapping[str, float | None]:
        """Return the values of a row.

        Raises:
            ItemError: The program refused the row.
            TransientError: It ended, took too long or gave another answer; the next row starts it
                again.
            RunError: It ended several times in a row.
            ConfigError: It cannot be started.
        """
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(
                self._thread, self._exchange, fields
            )
        except asyncio.CancelledError:
            # The thread reads from a child that may never answer.
            self._stop()
            raise

    def _exchange(
        self, fields: Mapping[str, object]
    ) -> Mapping[str, float | None]:
        child = self._child or self._start()
        self._n_asked += 1
        request = {"id": self._n_asked, **fields}
        has_expired = threading.Event()

        def expire() -> None:
            has_expired.set()
            _end(child)

        timer = threading.Timer(self.program.timeout, expire)
        timer.daemon = True
        timer.start()
        try:
            line = _converse(child, msgspec.json.encode(request) + b"\n")
        finally:
            timer.cancel()
        if has_expired.is_set():
            self._fail(f"gave no answer in {self.program.timeout:g} seconds")
        if not line:
            self._fail("ended")
        if len(line) > MAX_ANSWER_BYTES:
            self._fail(f"answered with more than {MAX_ANSWER_BYTES:,} bytes")
        answer = self._decode(line)
        self._n_ends = 0
        if answer.values is None:
            raise ItemError(
                f"{self._file.name}: {for_terminal(str(answer.error))[:TAIL_BYTES]}"
            )
        return answer.values

    def _decode(self, line: bytes) -> _Answer:
        try:
            answer = decode_json(line, _Answer)
            if answer.id != self._n_asked:
                raise ValueError(f"expected the id {self._n_asked}")
            if (answer.values is None) == (answer.error is None):
                raise ValueError("expected values or an error")
        except ValueError as error:
            # Later answers would belong to other rows.
            shown = for_terminal(line[:200].decode("utf-8", "replace").strip())
            self._fail(
                f"answered {shown!r} ({error}); its standard output is for answers alone,"
                " so print messages to standard error"
            )
        return answer

    def _fail(self, problem: str) -> None:
        """Stop the child and report a row that has no answer.

        Raises:
            TransientError: Says what happened, with the end of the error output.
            RunError: It happened several times in a row.
        """
        status = self._stop()
        self._reader.join(1)
        tail = bytes(self._tail).decode("utf-8", "replace").strip()
        how = f" (exit status {status})" if problem == "ended" else ""
        shown = f"; it wrote: {for_terminal(tail)}" if tail else ""
        message = f"{self._file.name}: the program {problem}{how}{shown}"
        self._n_ends += 1
        if self._n_ends >= MOST_ENDS:
            raise RunError(
                f"{message}\nThis happened {MOST_ENDS} times in a row, so the run stops; what was"
                " finished is kept. Run the command of the file by hand to see why"
            )
        raise TransientError(f"{message}\nThe next row starts it again")

    def _find_program(self) -> list[str]:
        folder = self._file.parent.resolve()
        name, *arguments = self.program.command
        # A bare name is looked up as a shell does; a path belongs to the folder of the file.
        path = shutil.which(str(folder / name) if "/" in name else name)
        if path is None:
            raise ConfigError(
                f"{self._file}: there is no program {name!r}; make the environment first, or"
                " write its path relative to this file"
            )
        return [path, *arguments]

    def _start(self) -> subprocess.Popen[bytes]:
        command = self._find_program()
        environment = {
            name: value
            for name, value in os.environ.items()
            if name in self.program.keep_env or not _SECRET.search(name)
        }
        try:
            # In a session of its own: Ctrl-C is for the run, which lets rows under way finish.
            child = subprocess.Popen(  # noqa: S603  # the user's own command, without a shell
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._file.parent.resolve(),
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            reason = error.strerror or error
            raise ConfigError(
                f"{self._file}: {command[0]} cannot be started: {reason}"
            ) from None
        assert child.stderr is not None
        self._tail = bytearray()
        self._reader = threading.Thread(
            target=_keep_tail, args=(child.stderr, self._tail), daemon=True
        )
        self._reader.start()
        self._child = child
        weakref.finalize(self, _end, child)
        return child

    def _stop(self) -> int | None:
        child, self._child = self._child, None
        return None if child is None else _end(child)


def _converse(child: subprocess.Popen[bytes], request: bytes) -> bytes:
    """Send a line and return the next one; empty if the child has ended."""
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(request)
        child.stdin.flush()
        return child.stdout.readline(MAX_ANSWER_BYTES + 1)
    # The pipe is closed, by the child or by the timer.
    except (OSError, ValueError):
        return b""


def _keep_tail(stream: IO[bytes], tail: bytearray) -> None:
    with stream:
        while chunk := stream.read1(TAIL_BYTES):  # type: ignore[attr-defined]
            tail += chunk
            del tail[:-TAIL_BYTES]


def _end(child: subprocess.Popen[bytes]) -> int:
    """Kill the child, with what it started, and return its exit status."""
    try:
        # A child that ended by itself keeps its own status.
        status = child.wait(0.05)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(child.pid, signal.SIGKILL)
            else:
                child.kill()
        status = child.wait()
    for pipe in (child.stdin, child.stdout):
        # What was not sent has no reader any more.
        with suppress(OSError):
            if pipe is not None:
                pipe.close()
    return status


def check_values(
    program: Program, values: Mapping[str, float | None], file: str
) -> dict[str, float]:
    """Return the values of a row in the order of the file, without those that are null.

    Raises:
        ItemError: A value is missing, unknown or outside its range; names it.
    """
    declared: Sequence[str] = list(program.values)
    if set(values) != set(declared):
        raise ItemError(
            f"{file}: the program gave {sorted(values)}, expected {sorted(declared)}; give null"
            " for a value that is not defined for this row"
        )
    checked = {}
    for name, info in program.values.items():
        value = values[name]
        if value is None:
            continue
        if not info.low <= value <= info.high:
            raise ItemError(
                f"{file}: {name} is {value:g}, which is outside {info.low:g} to {info.high:g}"
            )
        checked[name] = value
    return checked
