"""A real PostgreSQL server: what is lost is done again, and no password is ever seen."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from beholder.base.postgres import RETRY_PAUSES, Address, Database
from beholder.errors import ConfigError, RunError
from servers.postgres import Server
from toy.cases import each_case

sa = pytest.importorskip("sqlalchemy", reason="needs the extra postgres")


def secret(url: str) -> str:
    return url.split(":")[2].split("@")[0]


def count(database: Database) -> int:
    return int(
        database.do(
            lambda c: c.execute(sa.text("SELECT count(*) FROM t")).scalar_one()
        )
    )


def add(database: Database, n: int) -> None:
    row = sa.text("INSERT INTO t VALUES (:n) ON CONFLICT DO NOTHING")
    database.do(lambda c: c.execute(row, {"n": n}))


@pytest.fixture
def table(postgres_url: str) -> Iterator[Database]:
    database = Database(Address.parse(postgres_url))
    database.do(
        lambda c: c.execute(sa.text("CREATE TABLE t (n INTEGER PRIMARY KEY)"))
    )
    yield database
    database.close()


def test_the_password_may_stand_beside_the_address(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = postgres_url.replace(f":{secret(postgres_url)}", "")
    monkeypatch.setenv("PGPASSWORD", secret(postgres_url))
    database = Database(Address.parse(bare))
    assert database.do(lambda c: c.execute(sa.text("SELECT 7")).scalar()) == 7
    database.close()
    monkeypatch.setenv("PGPASSWORD", "wrong-guess")
    with pytest.raises(
        RunError, match="password authentication failed"
    ) as refused:
        Database(Address.parse(bare), pause=lambda _: None).do(lambda c: None)
    assert "wrong-guess" not in str(refused.value)


def test_the_name_and_errors_show_no_password(
    postgres_url: str, table: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    assert table.name == postgres_url.replace(f":{secret(postgres_url)}", "")
    with pytest.raises(RunError, match=r"refuses: .*nowhere") as refused:
        table.do(lambda c: c.execute(sa.text("SELECT * FROM nowhere")))
    visible_text = f"{refused.value!r} {table.name} {table._engine!r} {table._engine.url!r} {caplog.text}"
    assert secret(postgres_url) not in visible_text
    assert refused.value.__cause__ is None


def test_an_address_is_read_and_shown_without_its_password() -> None:
    address = Address.parse(
        "postgresql://me%40home:p%2Fw%3A@db.example:6543/a%20b?sslmode=require"
    )
    assert (address.user, address.host, address.port) == (
        "me@home",
        "db.example",
        6543,
    )
    assert (address.password, address.database, address.sslmode) == (
        "p/w:",
        "a b",
        "require",
    )
    assert (
        str(address)
        == "postgresql://me%40home@db.example:6543/a%20b?sslmode=require"
    )
    assert "p/w" not in repr(address)
    here = Address.parse("postgres://me:pw@/d?host=/run/pg")
    assert (here.host, here.port, here.socket) == (None, 5432, "/run/pg")
    assert str(here) == "postgresql://me@/d?host=/run/pg"
    assert Address.parse("postgresql://h/d").password is None


@each_case(
    ("address", "said"),
    [
        (
            "postgresql://u:hidden@h/d?passwd=hidden2",
            "an option of an address that is not known",
        ),
        ("postgresql://u:hidden@h:port/d", "cannot be read"),
        ("postgresql://u:123/hidden@h/d", "cannot be read"),
        ("postgresql://u:hid#den@h/d", "no database|cannot be read"),
        ("postgresql://u:12/d#hidden@h", "cannot be read"),
        ("postgresql://u:hidden@h", "names no database"),
        ("mysql://u:hidden@h/d", "of another kind"),
        (
            "postgresql://u:hidden@h/d?sslmode=hidden",
            "another sslmode than disable, require",
        ),
    ],
)
def test_an_address_that_is_none_is_refused_and_not_repeated(
    address: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        Address.parse(address)
    visible_text = f"{refused.value!r} {refused.value.__cause__!r}"
    assert "hidden" not in visible_text
    assert "USER@HOST:PORT/NAME" in visible_text, "the way out"


@pytest.mark.slow  # restarts a database
def test_work_whose_connection_is_lost_is_done_again(
    table: Database, postgres_server: Server
) -> None:
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            postgres_server.start()

    table._pause = pause
    add(table, 1)
    postgres_server.control("stop", "-m", "immediate")
    add(table, 2)
    assert pauses == list(RETRY_PAUSES[:2])
    assert count(table) == 2


@pytest.mark.slow  # restarts a database
def test_a_connection_that_breaks_in_the_middle_of_work(
    table: Database, postgres_server: Server
) -> None:
    rounds: list[int] = []

    def work(connection: object) -> None:
        rounds.append(len(rounds))
        connection.execute(sa.text("INSERT INTO t VALUES (5)"))  # type: ignore[attr-defined]
        if len(rounds) == 1:
            postgres_server.control("restart", "-m", "immediate")
        connection.execute(sa.text("INSERT INTO t VALUES (6)"))  # type: ignore[attr-defined]

    table._pause = lambda _: None
    table.do(work)
    assert rounds == [0, 1]
    assert count(table) == 2, "the first round left nothing behind"


_LOST = """
import sys
from beholder.base.postgres import Address, Database
import sqlalchemy as sa

database = Database(Address.parse(sys.argv[1]), pause=lambda seconds: None)
rounds = []

def work(connection):
    rounds.append(1)
    number = connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
    if len(rounds) == 1:
        killer = sa.text("SELECT pg_terminate_backend(:number)")
        other.do(lambda another: another.execute(killer, {"number": number}))
    connection.execute(sa.text("SELECT 1"))

other = Database(Address.parse(sys.argv[1]))
database.do(work)
database.close(), other.close()
print(len(rounds))
"""


def test_a_lost_connection_prints_nothing(postgres_url: str) -> None:
    call = [sys.executable, "-c", _LOST, postgres_url]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_errors_of_the_net_that_the_driver_lets_through(
    table: Database,
) -> None:
    rounds: list[int] = []
    table._pause = lambda _: None

    def work(connection: object) -> int:
        rounds.append(len(rounds))
        if len(rounds) in broken:
            raise ConnectionResetError(104, "Connection reset by peer")
        return 7

    broken = [1, 2]
    assert table.do(work) == 7
    assert rounds == [0, 1, 2]
    broken = list(range(99))
    with pytest.raises(
        RunError, match=r"cannot be reached: .*Connection reset by peer"
    ):
        table.do(work)


def test_a_server_that_stays_away_is_told_in_words(tmp_path: Path) -> None:
    pytest.importorskip("pg8000", reason="needs the extra postgres")
    pauses: list[float] = []
    there = Address.parse(f"postgresql://me:hidden@/d?host={tmp_path}")
    away = Database(there, pause=pauses.append)
    with pytest.raises(
        RunError, match=r"cannot be reached: .*start the same command again"
    ) as refusal:
        away.do(lambda c: None)
    assert pauses == list(RETRY_PAUSES)
    assert "hidden" not in str(refusal.value)
