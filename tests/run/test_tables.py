"""The tables of a run, by hand: what stands in them, in which order, whatever is cut where."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from beholder.asking.asker import Asker
from beholder.records import Item, ItemFailure, ItemScore, Unit
from beholder.run import export
from beholder.run.store import Store
from beholder.run.subjects import ITEM, ScheduledAsker

ITEMS = [
    Item("a", "x"),
    Item("b", "x", group={"system": "s"}),
    Item("c", "x", group={"system": "t", "set": "u"}),
    Item("d", "x"),
    Item("e", "x"),
]


class NamedAsker:
    """What an export asks of an asker."""

    def __init__(self, name: str) -> None:
        self.name = name


def _schedule(name: str, n: int) -> ScheduledAsker:
    asker: Asker[Any] = NamedAsker(name)  # type: ignore[assignment]
    return ScheduledAsker(asker, ITEM, n, f"{name}|v:1", n)


def _unit(text: str, *spans: tuple[int, int], **fields: Any) -> Unit:
    return Unit("word", text, "candidate", spans, **fields)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.open(tmp_path) as open_store:
        open_store.sync(ITEM, ITEMS)
        for name in ("m", "k"):
            open_store.add_asker(name, ITEM, {}, f"{name}|v:1")
        open_store.put_outcome(
            "m",
            0,
            ItemScore({"f": 0.5}, (_unit("x", (0, 1), (2, 4)), _unit("y"))),
        )
        open_store.put_outcome("m", 1, ItemFailure("ItemError", "broken"))
        open_store.put_outcome("m", 2, ItemScore({"f": 1, "p": 0.25}))
        open_store.put_outcome(
            "m", 4, ItemScore({"p": 0.75}, (_unit("beyond"),))
        )
        detail = {"of": "é", "n": [1, None]}
        open_store.put_outcome(
            "k",
            3,
            ItemScore({}, (_unit("z", (1, 2), score=0.1, detail=detail),)),
        )
        open_store.put_outcome("k", 0, ItemFailure("ItemError", "first"))
        yield open_store


@pytest.mark.parametrize("at_once", [1, 2, 1000])
def test_rows_stand_in_order_of_askers_subjects_and_values(
    store: Store, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "SUBJECTS_AT_ONCE", at_once)
    monkeypatch.setattr(export, "UNITS_AT_ONCE", at_once)
    export.export(store, [_schedule("m", 4), _schedule("k", 4)])
    scores = pq.read_table(store.folder / export.SCORES)
    assert scores.column_names[6:] == ["group.set", "group.system"]
    assert [tuple(row.values()) for row in scores.to_pylist()] == [
        ("a", "m", "f", 0.5, "scored", None, None, None),
        ("b", "m", None, None, "failed", "broken", None, "s"),
        ("c", "m", "f", 1.0, "scored", None, "u", "t"),
        ("c", "m", "p", 0.25, "scored", None, "u", "t"),
        ("a", "k", None, None, "failed", "first", None, None),
    ]
    units = pq.read_table(store.folder / export.UNITS)
    assert units.schema == export.UNIT_SCHEMA
    assert [tuple(row.values()) for row in units.to_pylist()] == [
        ("a", "m", "candidate", None, "word", "x", [[0, 1], [2, 4]], None, None, "{}"),
        ("a", "m", "candidate", None, "word", "y", [], None, None, "{}"),
        ("d", "k", "candidate", None, "word", "z", [[1, 2]], 0.1, None,
         '{"of": "é", "n": [1, null]}'),
    ]  # fmt: skip


def test_a_run_without_outcomes_has_empty_tables(tmp_path: Path) -> None:
    with Store.open(tmp_path) as open_store:
        open_store.sync(ITEM, ITEMS)
        open_store.add_asker("m", ITEM, {}, "m|v:1")
        export.export(open_store, [_schedule("m", 5)])
    assert export.are_tables_readable(tmp_path)
    assert len(pq.read_table(tmp_path / export.SCORES)) == 0


@pytest.mark.parametrize("looks", [True, False])
def test_the_collector_is_left_as_it_was(store: Store, looks: bool) -> None:
    before = gc.isenabled()
    (gc.enable if looks else gc.disable)()
    try:
        export.export(store, [_schedule("m", 4)])
        assert gc.isenabled() == looks
    finally:
        (gc.enable if before else gc.disable)()
