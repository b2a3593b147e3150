"""A real PostgreSQL server, on a socket in a folder of its own; its databases are thrown away."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

OWNER = "beholder"


def programs() -> Path | None:
    """The folder of ``initdb`` and ``pg_ctl``, which Debian keeps out of PATH; None without."""
    program = shutil.which("initdb")
    if program:
        return Path(program).resolve().parent
    installed = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max((path.parent for path in installed), key=_version, default=None)


def _version(programs: Path) -> int:
    return int(programs.parent.name)


@dataclass
class Server:
    """A server that is running.

    Attributes:
        programs: Where its programs lie.
        folder: Its socket, beside its data.
        password: Of the user ``OWNER``, who may do everything.
    """

    programs: Path
    folder: Path
    password: str = field(repr=False)
    _n_made: int = 0

    def new_url(self) -> str:
        """The address of a new, empty database."""
        self._n_made += 1
        name = f"d{self._n_made}"
        subprocess.run(
            [self.programs / "createdb", "-h", self.folder, "-U", OWNER, name],
            env={**os.environ, "PGPASSWORD": self.password},
            check=True,
        )
        return (
            f"postgresql://{OWNER}:{self.password}@/{name}?host={self.folder}"
        )

    def control(self, *arguments: str) -> None:
        """Call ``pg_ctl``, such as ``stop -m immediate``; waits until it is done."""
        _run_as_nobody(
            self.folder,
            [
                self.programs / "pg_ctl",
                "-D",
                self.folder / "data",
                "-w",
                *arguments,
            ],
        )

    def start(self) -> None:
        """Start the server; nothing but its socket listens."""
        options = f"-k {self.folder} -c listen_addresses= -c fsync=off"
        self.control("start", "-l", str(self.folder / "log"), "-o", options)


@contextmanager
def running(programs: Path) -> Iterator[Server]:
    """A server that runs meanwhile.

    Args:
        programs: The folder of its programs.
    """
    # Not below pytest's folder: the path of a socket has room for 100 characters.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    server = Server(programs, folder, secrets.token_hex(8))
    try:
        password_file = folder / "password"
        password_file.write_text(server.password)
        if os.geteuid() == 0:
            for path in (folder, password_file):
                shutil.chown(path, _unprivileged())
        options = f"-U {OWNER} -A scram-sha-256 -E UTF8 --no-sync --pwfile={password_file}".split()
        _run_as_nobody(
            folder, [programs / "initdb", "-D", folder / "data", *options]
        )
        server.start()
        try:
            yield server
        finally:
            server.control("stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder)


def _unprivileged() -> str:
    """A user who is not root, as whom the server insists to run."""
    import pwd  # not on Windows

    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _run_as_nobody(folder: Path, command: list[str | Path]) -> None:
    as_root = os.geteuid() == 0
    message = (
        folder / "said"
    )  # no pipe: the server that is started would keep it open
    with message.open("ab") as out:
        done = subprocess.run(
            command,
            cwd=folder,
            user=_unprivileged() if as_root else None,
            extra_groups=[] if as_root else None,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    assert done.returncode == 0, message.read_text(errors="replace")[-2000:]
