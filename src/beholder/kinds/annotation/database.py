"""The tables of studies, in SQLite or PostgreSQL: acts are only ever added."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.errors import RunError
from beholder.optional import require
from beholder.postgres import Address, engine
from beholder.sqlite_file import keep_private

if TYPE_CHECKING:
    from sqlalchemy import Engine, MetaData

FILE_NAME = "study.sqlite"
_WAIT_MS = 30_000
_PURPOSE = "keeping a study"


def sql() -> Any:
    """SQLAlchemy, which the extra ``web`` brings."""
    return require("sqlalchemy", extra="web", purpose=_PURPOSE)


def tables() -> MetaData:
    """Studies, their units and annotators, who sees what, and what they did."""
    sa = sql()
    meta: MetaData = sa.MetaData()
    study = ("study", sa.String(64))
    who = ("annotator", sa.String(200))
    sa.Table(
        "beholder_studies",
        meta,
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("task", sa.String(32), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("token", sa.String(64), nullable=False, unique=True),
    )
    sa.Table(
        "beholder_units",
        meta,
        sa.Column(*study, primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    sa.Table(
        "beholder_annotators",
        meta,
        sa.Column(*study, primary_key=True),
        sa.Column(*who, primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("token", sa.String(64), nullable=False, unique=True),
    )
    sa.Table(
        "beholder_assignments",
        meta,
        sa.Column(*study, primary_key=True),
        sa.Column(*who, primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("unit", sa.Integer, nullable=False),
    )
    sa.Table(
        "beholder_acts",
        meta,
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column(*study, nullable=False),
        sa.Column(*who, nullable=False),
        sa.Column("unit", sa.Integer, nullable=False),
        sa.Column("client", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("part", sa.String(64)),
        sa.Column("value", sa.Text),
        sa.Column("saved_at", sa.DateTime, nullable=False, server_default=sa.func.now()),
        sa.UniqueConstraint("study", "annotator", "client", "number"),
        sa.Index("beholder_acts_of_unit", "study", "annotator", "unit", "id"),
    )
    return meta


def engine_of(folder: Path, database: str | None) -> Engine:
    """The database of a study; its tables are made where there are none.

    Args:
        folder: The study's folder, which holds the SQLite file where no database is named.
        database: ``postgresql://USER@HOST/NAME``; the password may come from ``PGPASSWORD``.

    Raises:
        ConfigError: The URL is of another kind.
        RunError: The database cannot be reached or used.
        MissingExtraError: A package is not installed.
    """
    sa = sql()
    made: Engine
    if database is None:
        where = str(folder / FILE_NAME)
        try:
            keep_private(folder / FILE_NAME)  # it holds the links of all
        except OSError as error:
            raise RunError(f"{where} cannot be used: {error.strerror or error}") from error
        made = sa.create_engine(f"sqlite:///{where}", connect_args={"timeout": _WAIT_MS / 1000})
        sa.event.listen(made, "connect", _settle_sqlite)
    else:
        address = Address.read(database)
        where = str(address)
        # Tried before each use: a server that was restarted costs nobody an act.
        made = engine(address, pool_size=20, max_overflow=10, pool_pre_ping=True)
    try:
        tables().create_all(made)
    except sa.exc.SQLAlchemyError as error:
        made.dispose()
        raise RunError(
            f"{where} cannot be used: {getattr(error, 'orig', None) or error}; look whether it"
            " runs, and whether name and password are right"
        ) from error
    return made


def _settle_sqlite(connection: Any, _: Any) -> None:
    """Readers beside the one writer; what was said to be saved is on the disk."""
    cursor = connection.cursor()
    for setting in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={_WAIT_MS}"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()
