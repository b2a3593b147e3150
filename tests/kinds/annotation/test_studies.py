"""Acts are kept once, in order, in either database; nothing that was saved is lost."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

from annotating import finish, study_of
from beholder.base.postgres import Address
from beholder.errors import ConfigError, ItemError, RunError
from beholder.kinds.annotation.assignment import AnnotationDesign, order_of
from beholder.kinds.annotation.database import SharedCommits, engine_of
from beholder.kinds.annotation.exchange import export_rows
from beholder.kinds.annotation.records import Act, State, state_of
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import task_named
from servers.postgres import Server
from toy.cases import each_case

UNIT = "harbour-north/candidate"


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
)
def database(request: pytest.FixtureRequest) -> str | None:
    """URL of the study's database; None for a SQLite file."""
    return (
        None
        if request.param == "sqlite"
        else request.getfixturevalue("postgres_url")
    )


def test_undo_takes_back_what_still_stands() -> None:
    def acts(*acts_from_first: Any) -> State:
        return state_of(
            {"a": 0},
            [
                Act("c", n, *part_and_value)
                for n, part_and_value in enumerate(acts_from_first, start=1)
            ],
        )

    assert acts() == {"a": 0}
    assert acts(("a", 1), ("b", 2)) == {"a": 1, "b": 2}
    assert acts(("a", 1), ("b", 2), ()) == {"a": 1}
    assert acts(("a", 1), ("b", 2), (), ()) == {"a": 0}
    assert acts(("a", 1), (), (), (), ("b", 3)) == {"a": 0, "b": 3}
    assert acts(("a", None)) == {}
    assert acts(("a", None), ()) == {"a": 0}


def test_a_repeated_act_is_saved_once(
    tmp_path: Path, database: str | None
) -> None:
    study = study_of(tmp_path, "ratings", database=database)
    at = study.positions()[UNIT]
    assert study.save("anna", at, Act("c1", 1, "rating", 7)).state == {
        "rating": 7
    }
    assert study.save("anna", at, Act("c1", 2, "rating", 8)).state == {
        "rating": 8
    }
    again = study.save("anna", at, Act("c1", 1, "rating", 7))
    assert (again.accepted, again.last, again.state) == (
        True,
        2,
        {"rating": 8},
    )
    # an undo that is sent twice takes one act back, not two
    for _ in range(2):
        assert study.save("anna", at, Act("c1", 3)).state == {"rating": 7}
    gap = study.save("anna", at, Act("c1", 5, "rating", 1))
    assert (gap.accepted, gap.last, gap.state) == (False, 3, {"rating": 7})
    assert study.save("anna", at, Act("c2", 1, "remark", "odd")).last == 1
    assert study.state("ben", at) == {}
    study.close()


def test_an_act_that_is_not_valid_is_refused_and_not_saved(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, "ratings")
    at = study.positions()[UNIT]
    for part, value in (
        ("rating", 11),
        ("rating", "7"),
        ("grade", 3),
        ("done", 1),
    ):
        with pytest.raises(ItemError):
            study.save("anna", at, Act("c1", 1, part, value))
    with pytest.raises(ItemError, match="not rated"):
        study.save("anna", at, Act("c1", 1, "done", True))
    for client, number in (("", 1), ("c" * 65, 1), ("c/1", 1), ("c1", 0)):
        with pytest.raises(ItemError, match="client"):
            study.save("anna", at, Act(client, number, "rating", 7))
    assert study.last("anna", "c1") == 0
    assert study.state("anna", at) == {}


def test_a_study_is_resumed_where_it_was(
    tmp_path: Path, database: str | None
) -> None:
    study = study_of(tmp_path, "ratings", database=database)
    finish(study, "anna", UNIT, {"rating": 7})
    tokens = study.annotators()
    study.close()
    again = study_of(tmp_path, "ratings", database=database)
    assert again.id == study.id
    assert again.annotators() == tokens
    assert [
        (progress.annotator, progress.done, progress.assigned)
        for progress in again.progress()
    ] == [
        ("anna", 1, 9),
        ("ben", 0, 9),
    ]
    (judged,) = again.judged()
    assert (judged.unit.id, dict(judged.by)) == (
        UNIT,
        {"anna": {"rating": 7, "done": True}},
    )
    again.close()
    with pytest.raises(RunError, match="another folder"):
        study_of(tmp_path, "ratings", ("anna", "cleo"), database=database)
    with pytest.raises(RunError, match="another folder"):
        study_of(tmp_path, "pairs", database=database)


def test_a_judgment_counts_when_it_is_done_and_whole(tmp_path: Path) -> None:
    study = study_of(tmp_path, "ratings")
    at = study.positions()[UNIT]
    study.save("anna", at, Act("c0", 1, "rating", 7))
    assert study.done("anna") == set()
    assert study.judged() == []
    finish(study, "anna", UNIT, {"rating": 7})
    assert study.done("anna") == {at}
    study.save("anna", at, Act("c1", 1, "rating", None))
    assert study.done("anna") == set()
    assert study.judged() == []
    assert (study.progress()[0].begun, study.progress()[0].done) == (1, 0)
    study.save("anna", at, Act("c1", 2))
    assert study.done("anna") == {at}


def test_acts_saved_at_the_same_time_are_all_stored(
    tmp_path: Path, database: str | None
) -> None:
    names = [f"person {n}" for n in range(8)]
    study = study_of(tmp_path, "ratings", names, database=database)
    problems: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number, rating in enumerate((3, 5, 8, 2, 9, 4), start=1):
                study.save(name, 0, Act("c1", number, "rating", rating))
        except BaseException as error:  # shown by the assertion below
            problems.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert [study.last(name, "c1") for name in names] == [6] * 8
    assert [study.state(name, 0) for name in names] == [{"rating": 4}] * 8
    study.close()


def test_the_same_act_at_once_is_one_act(
    tmp_path: Path, database: str | None
) -> None:
    study = study_of(tmp_path, "ratings", database=database)
    together = threading.Barrier(6)
    saved_acts: list[Any] = []

    def work() -> None:
        together.wait()
        saved_acts.append(study.save("anna", 0, Act("c1", 1, "rating", 6)))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [
        (saved_act.accepted, saved_act.last) for saved_act in saved_acts
    ] == [(True, 1)] * 6
    assert (
        study.save("anna", 0, Act("c1", 2)).state == {}
    )  # saved_act undo takes the saved_act act back
    study.close()


def test_errors_show_a_url_without_its_password(tmp_path: Path) -> None:
    secret = "hunter2hunter2"
    with pytest.raises(RunError) as refused_connection:
        study_of(
            tmp_path,
            "ratings",
            database=f"postgresql://me:{secret}@127.0.0.1:9/none",
        )
    assert secret not in str(refused_connection.value)
    with pytest.raises(ConfigError, match="postgresql://USER") as wrong_scheme:
        study_of(
            tmp_path, "ratings", database=f"mysql://me:{secret}@127.0.0.1/none"
        )
    assert secret not in str(wrong_scheme.value)


def test_a_file_of_a_study_holds_no_password(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = Address.parse(postgres_url).password
    assert secret
    study = study_of(tmp_path, "ratings", database=postgres_url)
    study.close()
    monkeypatch.setenv("PGPASSWORD", secret)
    assert secret not in (tmp_path / "study" / "study.json").read_text()
    again = AnnotationStudy.open(tmp_path / "study")
    assert again.id == study.id
    again.close()


def test_a_folder_that_is_not_a_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is not a study"):
        AnnotationStudy.open(tmp_path)


@each_case(
    ("annotators", "overlap", "words"),
    [
        ((), None, "needs an annotator"),
        (("anna", "anna"), None, "twice"),
        (("anna", " "), None, "printable"),
        (("anna\n",), None, "printable"),
        (("a" * 101,), None, "printable"),
        (("anna",), 0, "overlap"),
    ],
)
def test_designs_that_are_not_possible_are_refused(
    annotators: tuple[str, ...], overlap: int | None, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        AnnotationDesign(annotators, overlap)


def test_too_large_an_overlap_is_refused_before_anything_is_made(
    tmp_path: Path,
) -> None:
    with pytest.raises(ConfigError, match="overlap=3"):
        study_of(tmp_path, "ratings", overlap=3)
    assert not (tmp_path / "study").exists()


def test_each_picture_goes_to_as_many_annotators_as_the_overlap(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, "ratings", ("a", "b", "c"), overlap=2)
    people_by_unit: dict[str, set[str]] = {}
    for name in ("a", "b", "c"):
        for at in study.assigned(name):
            unit = study.unit(at)
            people_by_unit.setdefault(unit.id, set()).add(name)
    assert len(people_by_unit) == 9
    assert {len(people) for people in people_by_unit.values()} == {2}
    # all texts of a picture go to the same two
    for picture in ("harbour", "street", "field"):
        assert (
            len(
                {
                    frozenset(v)
                    for k, v in people_by_unit.items()
                    if k.startswith(picture)
                }
            )
            == 1
        )
    assert sorted(len(study.assigned(name)) for name in "abc") == [6, 6, 6]
    reseeded = study_of(
        tmp_path / "b", "ratings", ("a", "b", "c"), overlap=2, seed=1
    )
    orders = [
        design.assigned(name) for design in (study, reseeded) for name in "abc"
    ]
    assert len({tuple(order) for order in orders}) == 6


def test_nobody_sees_a_text_in_two_pairs_if_that_is_possible(
    tmp_path: Path,
) -> None:
    # Two systems: one pair a picture, so nobody meets a text again.
    study = study_of(tmp_path, "pairs", ("a", "b"), overlap=1)
    assert study.design.n_seen_twice == 0
    # Three systems make three pairs of three texts: one annotator sees each text twice, three
    # annotators none.
    rows = [
        {
            "id": f"{p}{s}",
            "candidate": f"{p} {s}",
            "images": [f"{p}.jpg"],
            "group": {"system": s},
        }
        for p in "xyz"
        for s in "ABC"
    ]
    from beholder.data.row import from_row
    from beholder.kinds.annotation.assignment import assign_units

    task = task_named("pairs")
    units = task.units([from_row(row) for row in rows])
    assert len(units) == 9
    assert (
        assign_units(task, units, AnnotationDesign(("a",))).n_seen_twice == 9
    )
    dealt = assign_units(task, units, AnnotationDesign(("a", "b", "c"), 1))
    assert dealt.n_seen_twice == 0
    assert sorted(at for share in dealt.shares for at in share) == list(
        range(9)
    )
    assert {len(share) for share in dealt.shares} == {3}


def test_orders_of_texts_differ_between_annotators_and_stay_the_same() -> None:
    orders = {tuple(order_of(2, 0, f"p{n}", "unit")) for n in range(20)}
    assert orders == {(0, 1), (1, 0)}
    assert order_of(5, 0, "anna", "unit") == order_of(5, 0, "anna", "unit")
    assert sorted(order_of(5, 3, "anna", "unit")) == [0, 1, 2, 3, 4]
    assert any(
        order_of(5, 0, "anna", f"u{n}") != [0, 1, 2, 3, 4] for n in range(3)
    )


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:hidden@db.example:6543/studies?sslmode=verify-full",
        "postgresql://me%40home:hidden@[::1]:5432/a%20b",
        "postgresql://me:hidden@/d?host=/run/pg",
        "postgres://db.example/d",
    ],
)
def test_an_address_without_its_password_leads_to_the_same_place(
    text: str,
) -> None:
    written = str(Address.parse(text))
    assert "hidden" not in written
    assert Address.parse(written) == replace(
        Address.parse(text), password=None
    )


def test_a_restart_of_the_database_loses_no_act(
    tmp_path: Path, postgres_url: str, postgres_server: Server
) -> None:
    study = study_of(tmp_path, "ratings", database=postgres_url)
    study.save("anna", 0, Act("c1", 1, "rating", 3))
    postgres_server.control("stop", "-m", "immediate")
    with pytest.raises(
        DBAPIError
    ):  # an error of the server to the page, which sends it again
        study.save("anna", 0, Act("c1", 2, "rating", 4))
    postgres_server.start()
    assert study.save("anna", 0, Act("c1", 2, "rating", 4)).state == {
        "rating": 4
    }
    assert study.save("anna", 0, Act("c1", 3)).state == {"rating": 3}
    study.close()


@contextmanager
def one_write(began: list[int]) -> Iterator[list[str]]:
    """A transaction of a disk that has no room for what is broken."""
    began.append(len(began))
    written: list[str] = []
    yield written
    if "broken" in written:
        raise OSError("the disk is full")


def keep(name: str) -> Callable[[list[str]], str]:
    def work(written: list[str]) -> str:
        if name == "refused":
            raise ItemError("not this one")
        written.append(name)
        return name

    return work


def test_saves_that_wait_together_are_written_together() -> None:
    began: list[int] = []
    commits = SharedCommits[str](lambda: one_write(began), OSError)
    holds = threading.Event()
    results: dict[str, str | Exception] = {}

    def slow(written: list[str]) -> str:
        assert holds.wait(20)
        return "slow"

    def save(name: str, work: Callable[[list[str]], str]) -> None:
        try:
            results[name] = commits.do(work)
        except ItemError as error:
            results[name] = error

    names = [*(f"s{n}" for n in range(7)), "refused"]
    threads = [threading.Thread(target=save, args=("slow", slow))]
    threads += [
        threading.Thread(target=save, args=(name, keep(name)))
        for name in names
    ]
    threads[0].start()
    while (
        not began
    ):  # the first has its turn, all others come to stand behind it
        pass
    for thread in threads[1:]:
        thread.start()
    while len(commits._waiting) < len(names):
        pass
    holds.set()
    for thread in threads:
        thread.join()
    assert len(began) == 2
    assert str(results.pop("refused")) == "not this one"
    assert results == {name: name for name in ("slow", *names[:-1])}


def test_an_act_that_cannot_be_written_does_not_affect_its_transaction() -> (
    None
):
    began: list[int] = []
    commits = SharedCommits[str](lambda: one_write(began), OSError)
    holds = threading.Event()
    results: dict[str, str | Exception] = {}

    def slow(written: list[str]) -> str:
        assert holds.wait(20)
        return "slow"

    def odd(written: list[str]) -> str:
        raise UnicodeError("surrogates not allowed")

    def save(name: str, work: Callable[[list[str]], str]) -> None:
        try:
            results[name] = commits.do(work)
        except UnicodeError as error:
            results[name] = error

    works = {"s1": keep("s1"), "odd": odd, "s2": keep("s2")}
    threads = [threading.Thread(target=save, args=("slow", slow))]
    threads += [
        threading.Thread(target=save, args=pair) for pair in works.items()
    ]
    threads[0].start()
    while not began:
        pass
    for thread in threads[1:]:
        thread.start()
    while len(commits._waiting) < len(works):
        pass
    holds.set()
    for thread in threads:
        thread.join()
    assert isinstance(results.pop("odd"), UnicodeError)
    assert results == {"slow": "slow", "s1": "s1", "s2": "s2"}


def test_a_failed_write_is_an_error_and_the_next_succeeds() -> None:
    began: list[int] = []
    commits = SharedCommits[str](lambda: one_write(began), OSError)
    with pytest.raises(OSError, match="disk is full"):
        commits.do(keep("broken"))
    assert commits.do(keep("after")) == "after"


def test_a_study_of_an_earlier_version_is_read_and_resumed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "study.sqlite")) as db:
        db.executescript(
            Path(__file__)
            .with_name("old_study.sql")
            .read_text(encoding="utf-8")
        )
    about = {"format": 1, "study": "0" * 32, "media": None, "database": None}
    (folder / "study.json").write_text(json.dumps(about))
    study = study_of(
        tmp_path, "steps"
    )  # refused if the hash of the same data has changed
    assert (study.id, study.token, study.annotators()) == (
        "0" * 32,
        "owner",
        {"anna": "anna", "ben": "ben"},
    )
    assert [unit.id for unit in map(study.unit, range(3))] == [
        "walk",
        "trip",
        "mix",
    ]
    # as text: the order of the parts counts
    assert json.dumps(export_rows(study, "judgments")[0]) == (
        '{"task": "steps", "unit": "walk", "annotator": "anna", "judgment":'
        ' {"1": {"rating": 2, "breaks": ["place", "people"]},'
        ' "0": {"breaks": [], "rating": 7}, "done": true}}'
    )
    study.close()


def test_tables_are_created_once_for_many_who_begin_together(
    tmp_path: Path, postgres_url: str
) -> None:
    together = threading.Barrier(6)
    problems: list[Exception] = []

    def work() -> None:
        together.wait()
        try:
            engine_of(tmp_path, postgres_url).dispose()
        except RunError as error:
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_what_a_new_study_stores_is_what_earlier_versions_read(
    tmp_path: Path,
) -> None:
    study_of(tmp_path, "steps").close()
    with closing(sqlite3.connect(":memory:")) as old:
        old.executescript(
            Path(__file__)
            .with_name("old_study.sql")
            .read_text(encoding="utf-8")
        )
        with closing(
            sqlite3.connect(tmp_path / "study" / "study.sqlite")
        ) as new:
            for query in (
                "SELECT position, id, body FROM beholder_units ORDER BY position",
                "SELECT task, digest, settings FROM beholder_studies",
                "SELECT annotator, place, unit FROM beholder_assignments ORDER BY 1, 2",
            ):
                assert (
                    new.execute(query).fetchall()
                    == old.execute(query).fetchall()
                )


def test_a_damaged_unit_is_named_with_the_path(tmp_path: Path) -> None:
    study = study_of(tmp_path, "ratings")
    with closing(sqlite3.connect(tmp_path / "study" / "study.sqlite")) as db:
        body = '{"id": "a", "source": ["a"], "texts": [5]}'
        db.execute(
            "UPDATE beholder_units SET body = ? WHERE position = 0", (body,)
        )
        db.commit()
    with pytest.raises(
        ItemError,
        match=r"unit 0: Expected `str`, got `int` - at `\$.texts\[0\]`",
    ):
        study.unit(0)
    study.close()


def test_a_damaged_study_file_is_named_with_the_path(tmp_path: Path) -> None:
    study_of(tmp_path, "ratings").close()
    about = tmp_path / "study" / "study.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "media": 5}))
    with pytest.raises(
        RunError, match=r"study.json: Expected `str \| null`.*`\$.media`"
    ):
        AnnotationStudy.open(tmp_path / "study")
