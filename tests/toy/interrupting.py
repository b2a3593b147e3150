"""The command line in a process that interrupts itself, as Ctrl-C does, when so many answers came."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

AT, KEPT_FILE = "BEHOLDER_TEST_INTERRUPT_AT", "BEHOLDER_TEST_KEPT"


class Ended(NamedTuple):
    """What a process leaves: exit code, stderr, and the keys of the answers that it was given."""

    code: int
    err: str
    keys: list[str]


def command(*arguments: str, at: int = 0, folder: Path) -> Ended:
    """Run ``beholder ARGUMENTS`` in a process of its own.

    Args:
        arguments: What follows ``beholder`` on the command line.
        at: After how many answers it gets SIGINT, with all processes that it started, as a
            terminal does it; 0 for never.
        folder: Where it runs.
    """
    tests = str(Path(__file__).parents[1])
    kept_path = folder / "kept.jsonl"
    kept_path.unlink(missing_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([tests, *sys.path]),
        "BEHOLDER_CACHE": "off",
        AT: str(at),
        KEPT_FILE: str(kept_path),
    }
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=900,
        start_new_session=True,
    )
    lines = (
        kept_path.read_text("utf-8").splitlines() if kept_path.exists() else []
    )
    return Ended(
        done.returncode, done.stderr, [json.loads(line) for line in lines]
    )


def _main() -> None:
    from beholder.cli.main import main
    from beholder.judges.answer_file import AnswerFile
    from beholder.judges.answers import Record

    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # some runners ignore it
    put_answer = AnswerFile.put_answer
    at, n_kept = int(os.environ[AT]), 0

    def counted(self: AnswerFile, record: Record) -> None:
        nonlocal n_kept
        put_answer(self, record)
        n_kept += 1
        with Path(os.environ[KEPT_FILE]).open("a", encoding="utf-8") as log:
            log.write(json.dumps(record.key) + "\n")
        if n_kept == at:
            os.killpg(os.getpgrp(), signal.SIGINT)

    AnswerFile.put_answer = counted  # type: ignore[method-assign, assignment]
    main()


if (
    __name__ == "__main__"
):  # vLLM imports this file again in processes of its own
    _main()
