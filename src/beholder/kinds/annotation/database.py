"""The database of studies, SQLite or PostgreSQL: tables, connections, writes, new studies."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from beholder.base.files import json_digest
from beholder.base.optional import require
from beholder.base.postgres import TABLES_LOCK, Address, create_engine
from beholder.base.sqlite_file import create_private
from beholder.errors import ConfigError, ItemError, RunError
from beholder.kinds.annotation.assignment import AnnotationDesign, Assignment
from beholder.kinds.annotation.records import AnnotationUnit
from beholder.kinds.annotation.tasks import Task

if TYPE_CHECKING:
    from sqlalchemy import Engine, MetaData

T = TypeVar("T")
_Job: TypeAlias = tuple[Callable[[Any], T], "Future[T]"]

FILE_NAME = "study.sqlite"
TASK_LENGTH = 32
"""Characters of the name of a task."""

# How long a write waits for another process that writes to the same SQLite file.
_WAIT_MS = 30_000


def sql() -> Any:
    """Import SQLAlchemy, which is part of the extra ``web``.

    Raises:
        MissingExtraError: The extra is not installed.
    """
    return require("sqlalchemy", extra="web", purpose="a study")


def tables() -> MetaData:
    """Return the tables of studies, units, annotators, participants, assignments and acts.

    Acts are only added: an undo is an act, too, so that no judgment is ever lost.
    """
    sa = sql()
    meta: MetaData = sa.MetaData()
    text, number = sa.Text(), sa.Integer()
    short, name = sa.String(64), sa.String(200)

    # Three helpers keep each column on a line: a primary key, a required column, a table.
    def key(column: str, kind: Any = short) -> Any:
        return sa.Column(column, kind, primary_key=True)

    def needed(column: str, kind: Any = short, **options: Any) -> Any:
        return sa.Column(column, kind, nullable=False, **options)

    def table(table: str, *columns: Any) -> None:
        sa.Table(f"beholder_{table}", meta, *columns)

    table(
        "studies",
        key("id"),
        needed("task", sa.String(TASK_LENGTH)),
        needed("digest"),
        needed("settings", text),
        needed("secret"),
        needed("token", unique=True),
    )
    table(
        "units",
        key("study"),
        key("position", number),
        needed("id", text),
        needed("body", text),
    )
    table(
        "annotators",
        key("study"),
        key("annotator", name),
        needed("place", number),
        needed("token", unique=True),
    )
    table(
        "participants",
        key("study"),
        key("participant"),
        needed("annotator", name),
        sa.UniqueConstraint("study", "annotator"),
    )
    table(
        "assignments",
        key("study"),
        key("annotator", name),
        key("place", number),
        needed("unit", number),
    )
    table(
        "acts",
        key("id", number),
        needed("study"),
        needed("annotator", name),
        needed("unit", number),
        # Client and number identify an act: a browser that sends one twice saves it once.
        needed("client"),
        needed("number", number),
        sa.Column("part", short),
        sa.Column("value", text),
        needed("saved_at", sa.DateTime(), server_default=sa.func.now()),
        sa.UniqueConstraint("study", "annotator", "client", "number"),
        sa.Index("beholder_acts_of_unit", "study", "annotator", "unit", "id"),
    )
    return meta


def engine_of(folder: Path, database: str | None) -> Engine:
    """Return the engine of a study's database; missing tables are created.

    Args:
        folder: The study's folder, which has the SQLite file if no database is named.
        database: ``postgresql://USER@HOST/NAME``; the password may come from ``PGPASSWORD``.

    Raises:
        ConfigError: The URL is of another kind.
        RunError: The database cannot be reached or used.
        MissingExtraError: A package is not installed.
    """
    sa = sql()
    study_engine: Engine
    if database is None:
        where = str(folder / FILE_NAME)
        try:
            # The file contains the personal links of all annotators.
            create_private(folder / FILE_NAME)
        except OSError as error:
            raise RunError(
                f"{where} cannot be used: {error.strerror or error}"
            ) from error
        study_engine = sa.create_engine(
            f"sqlite:///{where}", connect_args={"timeout": _WAIT_MS / 1000}
        )
        sa.event.listen(study_engine, "connect", _settle_sqlite)
    else:
        address = Address.parse(database)
        where = str(address)
        # Tested before each use, so that a restart of the server loses no act.
        study_engine = create_engine(
            address, pool_size=20, max_overflow=10, pool_pre_ping=True
        )
    try:
        with study_engine.begin() as db:
            # Two commands that begin together would both create the tables.
            if database is not None:
                db.execute(sa.text(TABLES_LOCK))
            tables().create_all(db)
    except sa.exc.SQLAlchemyError as error:
        study_engine.dispose()
        raise RunError(
            f"{where} cannot be used: {getattr(error, 'orig', None) or error}; check that it runs,"
            " and its name and password"
        ) from error
    return study_engine


def _settle_sqlite(connection: Any, _: Any) -> None:
    """Configure a new connection: readers do not wait for the writer, commits reach the disk."""
    cursor = connection.cursor()
    for setting in (
        "journal_mode=WAL",
        "synchronous=FULL",
        f"busy_timeout={_WAIT_MS}",
    ):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


class SharedCommits(Generic[T]):
    """Group commit for SQLite, which allows one writer: one transaction for all waiting threads.

    On a slow disk each thread waits for the current transaction and for its own, not for those of
    all threads before it.

    Args:
        begin: Opens a transaction; it is committed unless the block raises.
        of_all: Error of a database that accepts no writes now; it concerns all waiting threads.
    """

    def __init__(
        self, begin: Callable[[], Any], of_all: type[Exception]
    ) -> None:
        self._begin = begin
        self._of_all = of_all
        self._waiting: list[_Job[T]] = []
        self._list, self._turn = Lock(), Lock()

    def do(self, work: Callable[[Any], T]) -> T:
        """Run work in a shared transaction; return its result once that is on disk.

        Args:
            work: Receives the connection. It raises ItemError before it has written anything.

        Raises:
            ItemError: The work raised it; the transaction of the others is written.
            Exception: The transaction was not written.
        """
        # Threads queue here while one of them writes. The next to get the turn writes the work of
        # all that came meanwhile, and those find their result when their turn comes.
        result: Future[T] = Future()
        with self._list:
            self._waiting.append((work, result))
        with self._turn:
            if not result.done():  # else an earlier thread wrote it
                with self._list:
                    batch, self._waiting = self._waiting, []
                self._write(batch)
        return result.result()

    def _write(self, batch: list[_Job[T]]) -> None:
        """Run a batch in one transaction and settle its futures; each alone if one breaks it."""
        # Futures are settled after the commit: no one may learn of an act that is not on disk.
        settlers: list[Callable[[], None]] = []
        try:
            with self._begin() as db:
                for work, result in batch:
                    try:
                        settlers.append(partial(result.set_result, work(db)))
                    except ItemError as error:
                        settlers.append(partial(result.set_exception, error))
        except BaseException as error:
            concerns_all = isinstance(error, self._of_all) or not isinstance(
                error, Exception
            )
            for job in batch:
                if concerns_all or len(batch) == 1:
                    job[1].set_exception(error)
                else:
                    # The rollback dropped the work of all: each is tried again by itself, so that
                    # only the one that fails sees the error.
                    self._write([job])
        else:
            for settle in settlers:
                settle()


_OPTIONAL_FIELDS = (
    "gold",
    "fps",
    "adjudicator",
    "participants",
    "completion_code",
    "instructions",
    "iiif",
)
"""Fields that the digest contains only if they are set, so that older studies keep their digest."""


def check_units(task: Task, units: Sequence[AnnotationUnit]) -> None:
    """Check that a study can store the units.

    Raises:
        ConfigError: The name of the task is too long, or two units have the same id.
    """
    if len(task.full_name) > TASK_LENGTH:
        raise ConfigError(
            f"the name {task.full_name!r} of the task has more than {TASK_LENGTH} characters;"
            " give its package or its entry point a shorter one"
        )
    for name, n in Counter(unit.id for unit in units).most_common(1):
        if n > 1:
            raise ConfigError(
                f"two units of the study have the id {name!r}; ids must differ"
            )


def digest_of(
    task: Task, units: Sequence[AnnotationUnit], design: AnnotationDesign
) -> str:
    """Return the SHA-256 of the task, the units and the design, in hexadecimal digits."""
    value = [
        task.full_name,
        [_digest_fields(unit) for unit in units],
        _digest_fields(design),
    ]
    return json_digest(value)


def _digest_fields(record: Any) -> Mapping[str, object]:
    """Return the fields of a record, without later ones that are not set."""
    return {
        name: value
        for name, value in asdict(record).items()
        if value or name not in _OPTIONAL_FIELDS
    }


def insert_study(
    db: Any,
    task: Task,
    units: Sequence[AnnotationUnit],
    design: AnnotationDesign,
    assignment: Assignment,
    digest: str,
    unshown: Mapping[str, int],
) -> str:
    """Insert a new study within an open transaction and return its id."""
    study = secrets.token_hex(16)
    settings = {
        **_digest_fields(design),
        "n_seen_twice": assignment.n_seen_twice,
    }
    # Counts of what is missing are stored only where something is.
    if assignment.n_short_of_readers:
        settings["n_short_of_readers"] = assignment.n_short_of_readers
    if unshown:
        settings["unshown"] = dict(unshown)
    row = {
        "id": study,
        "task": task.full_name,
        "digest": digest,
        "settings": json.dumps(settings),
        "secret": secrets.token_hex(32),
        "token": _token(),
    }
    _insert(db, "studies", [row])
    rows = [
        {
            "study": study,
            "position": position,
            "id": json.dumps(unit.id),  # PostgreSQL rejects texts with a NUL
            "body": json.dumps(_digest_fields(unit), ensure_ascii=False),
        }
        for position, unit in enumerate(units)
    ]
    _insert(db, "units", rows)
    shares = dict(zip(design.annotators, assignment.shares, strict=True))
    if design.adjudicator is not None:
        # Units are assigned when judgments differ; the link exists from the beginning.
        shares[design.adjudicator] = ()
    for place, (name, share) in enumerate(shares.items()):
        insert_annotator(db, study, name, place)
        assign_further(db, study, name, share, 0)
    return study


def insert_annotator(db: Any, study: str, name: str, place: int) -> None:
    """Insert an annotator with the token of a new personal link."""
    row = {
        "study": study,
        "annotator": name,
        "place": place,
        "token": _token(),
    }
    _insert(db, "annotators", [row])


def assign_further(
    db: Any, study: str, name: str, units: Sequence[int], first: int
) -> None:
    """Append units to the share of an annotator, whose next place is ``first``."""
    owner_columns = {"study": study, "annotator": name}
    rows = [
        {**owner_columns, "place": place, "unit": unit}
        for place, unit in enumerate(units, start=first)
    ]
    _insert(db, "assignments", rows)


def _token() -> str:
    return secrets.token_urlsafe(24)


def _insert(db: Any, table: str, rows: Sequence[Mapping[str, object]]) -> None:
    if rows:
        db.execute(tables().tables[f"beholder_{table}"].insert(), list(rows))
