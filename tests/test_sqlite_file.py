"""SQLite files that another process has locked, and who may read new ones."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from beholder.base import sqlite_file
from beholder.errors import RunError
from beholder.judges import AnswerFile
from beholder.run.answers import open_cache
from beholder.run.store import Store
from beholder.run.store_file import FILE_NAME


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "SILENT_WAIT", 0.05)
    monkeypatch.setattr(sqlite_file, "LONGEST_WAIT", 0.2)


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """A file that a stranger writes."""
    path = tmp_path / FILE_NAME
    AnswerFile(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as stranger:
        stranger.execute("BEGIN EXCLUSIVE")
        yield path


def test_a_locked_file_is_reported_before_the_end_of_the_wait(
    impatient: None, locked: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(RunError, match="locked"):
        AnswerFile(locked).put_charge(1.0)
    with pytest.raises(RunError, match="locked"), Store.open(locked.parent):
        pass
    lines = [record.getMessage() for record in caplog.records]
    assert (
        lines
        == [
            f"{locked} is locked by another process; waiting for it, and giving up in 0 s"
        ]
        * 2
    )
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_work_goes_on_when_the_lock_is_gone(
    monkeypatch: pytest.MonkeyPatch,
    locked: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(sqlite_file, "SILENT_WAIT", 0.05)
    with closing(
        sqlite3.connect(locked.parent / "other", isolation_level=None)
    ) as stranger:
        file = AnswerFile(locked.parent / "other")
        stranger.execute("BEGIN IMMEDIATE")

        class Ends(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                stranger.execute("COMMIT")

        handler = Ends()
        logging.getLogger("beholder.waiting").addHandler(handler)
        file.put_charge(1.5)
        file.put_charge(1.5)
        logging.getLogger("beholder.waiting").removeHandler(handler)
        assert file.cost() == 3.0
        assert len(caplog.records) == 1
        file.close()


def test_a_new_cache_is_its_owner_s_alone_and_an_old_one_keeps_its_rights(
    tmp_path: Path,
) -> None:
    new, old = (
        tmp_path / "new" / "answers.sqlite",
        tmp_path / "old" / "answers.sqlite",
    )
    old.parent.mkdir(mode=0o755)
    AnswerFile(old).close()
    old.chmod(0o664)
    for path in (new, old):
        cache = open_cache(path)
        cache.put_fact("a", "b")
        rights = {
            file.stat().st_mode & 0o777 for file in path.parent.iterdir()
        }
        assert rights == ({0o600} if path == new else {0o664})
        cache.close()
    assert (
        new.parent.stat().st_mode & 0o777,
        old.parent.stat().st_mode & 0o777,
    ) == (0o700, 0o755)
