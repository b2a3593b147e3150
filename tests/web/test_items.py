"""What the viewer knows of a run, and how it finds subjects in it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from beholder.errors import ConfigError, RunError
from beholder.records import Item, ItemFailure, ItemScore, Unit
from beholder.run import manifest
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.web.items import RunView, Snapshot, Texts
from beholder.web.lists import (
    PAGE,
    Query,
    find_positions,
    group_counts,
    listing,
    pair,
    read_selection,
    verdict_counts,
    write_query,
)
from toy.runs import Outcome, write_run

SCORES = [0.5, 0.9, None, 0.1, 0.9]
"""The third failed."""


def _unit(verdict: str | None) -> Unit:
    # Every mistake is unsure; the text of other details only looks like that.
    detail = {"unsure": True} if verdict == "mistake" else {"why": '"unsure":'}
    return Unit(
        "entity", "x", "candidate", ((0, 1),), 0.5, verdict, detail=detail
    )


def _items() -> list[Item]:
    return [
        Item(f"id-{'ecadb'[n]}", f"Text number {n}. ÄPFEL" if n == 3 else f"text {n}",
             ("a reference",), group={"system": "ab"[n % 2]} if n else {})
        for n in range(5)
    ]  # fmt: skip


def _outcomes() -> list[Outcome | None]:
    return [
        ItemFailure("E", "no luck")
        if score is None
        else ItemScore(
            {"f1": score, "recall": 1 - score},
            tuple(
                _unit(v)
                for v in ["match"] * (n + 1) + ["mistake"] * (n % 3) + [None]
            ),
        )
        for n, score in enumerate(SCORES)
    ]


@pytest.fixture(params=["complete", "running"])
def view(
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> RunView:
    """A run of five items; its verdicts are read from its table, or from its store."""
    monkeypatch.setattr(
        "beholder.run.export.UNITS_AT_ONCE", 2
    )  # the table has several parts
    folder = write_run(
        tmp_path / "run", _items(), {"posh": _outcomes()}, status=request.param
    )
    if request.param == "complete":
        _export(folder)
    run_view = RunView(folder)
    run_view.refresh()
    return run_view


def _export(folder: Path) -> None:
    from beholder.metrics import metric
    from beholder.run.export import export
    from beholder.run.subjects import ScheduledAsker

    class NamedAsker(ScheduledAsker):
        name = "posh"

    with Store.open(folder) as store:
        export(store, [NamedAsker(metric("length"), ITEM, 5, "", 5)])


def _find(view: RunView, **parts: object) -> list[int]:
    parts = {"kind": "item", "asker": "posh", "value": "f1", **parts}
    return list(find_positions(view.snapshot, Query(**parts)).tolist())  # type: ignore[arg-type]


def test_filters_take_ranges_states_groups_verdicts_and_words(
    view: RunView,
) -> None:
    assert _find(view) == [0, 1, 2, 3, 4]
    assert _find(view, low=0.5) == [0, 1, 4]
    assert _find(view, high=0.5) == [0, 3]
    assert _find(view, low=0.5, high=0.5) == [0]
    assert _find(view, state="failed") == [2]
    assert _find(view, state="open") == []
    assert _find(view, groups=(("system", "a"),)) == [2, 4]
    assert _find(view, groups=(("system", "zzz"),)) == []
    assert _find(view, groups=(("nothing", "a"),)) == []
    assert _find(view, verdict="mistake") == [1, 4]
    assert _find(view, verdict="") == [0, 1, 3, 4]  # units without a verdict
    assert _find(view, verdict="omission") == []
    assert _find(view, words="äpfel") == [3]
    assert _find(view, words="TEXT NUMBER 3. äpf") == [3]
    assert _find(view, words="id-d") == [3]
    assert (
        _find(view, words="number 3\ntext") == []
    )  # never from one text into the next
    assert _find(view, words="text", groups=(("system", "b"),), low=0.5) == [1]


def test_lists_are_sorted_and_what_has_no_value_comes_last(
    view: RunView,
) -> None:
    assert _find(view, order="value") == [3, 0, 1, 4, 2]
    assert _find(view, order="value", down=True) == [1, 4, 0, 3, 2]
    assert _find(view, order="value", value="recall") == [1, 4, 0, 3, 2]
    assert _find(view, order="position", down=True) == [4, 3, 2, 1, 0]
    assert _find(view, order="id") == [2, 4, 1, 3, 0]
    assert _find(view, order="id", down=True) == [0, 3, 1, 4, 2]
    assert _find(view, order="verdict", verdict="match", down=True) == [
        4,
        3,
        1,
        0,
    ]


def test_counts_of_verdicts_and_groups(view: RunView) -> None:
    assert verdict_counts(view.snapshot.askers[0]) == [
        ("", 4),
        ("match", 4),
        ("mistake", 2),
    ]
    assert group_counts(view.snapshot.subjects["item"], "system") == [
        ("b", 2),
        ("a", 2),
    ]
    assert view.snapshot.askers[0].verdicts["match"].tolist() == [
        1,
        2,
        0,
        4,
        5,
    ]
    # The second and the last item have a mistake each.
    assert view.snapshot.askers[0].n_unsure == {"mistake": 2}


def test_a_table_of_units_with_unknown_items_is_an_error(
    tmp_path: Path,
) -> None:
    folder = write_run(tmp_path / "run", _items(), {"posh": _outcomes()})
    _export(folder)
    second_run = write_run(
        tmp_path / "other", [Item("else", "x", ("y",))], {"posh": [None]}
    )
    (folder / "units.parquet").rename(second_run / "units.parquet")
    view = RunView(second_run)
    with pytest.raises(RunError, match="contains"):
        view.refresh()
    view.try_refresh()
    assert "contains" in view.problem


def test_a_run_is_read_again_only_if_it_has_changed(
    tmp_path: Path,
) -> None:
    items = _items()
    done = _outcomes()
    folder = write_run(
        tmp_path / "run", items, {"posh": [done[0], None]}, status="running"
    )
    view = RunView(folder)
    assert view.refresh()
    assert not view.refresh()
    before = view.snapshot
    assert before.askers[0].state.tolist() == [1, 0, 0, 0, 0]
    with Store.open(folder) as store:
        for position in (1, 2):
            outcome = done[position]
            assert outcome is not None
            store.put_outcome("posh", position, outcome)
        assert view.refresh()  # while it is written
        assert view.snapshot.askers[0].state.tolist() == [1, 1, 2, 0, 0]
        assert view.snapshot.askers[0].verdicts["mistake"].tolist() == [
            0,
            1,
            0,
            0,
            0,
        ]
        assert view.snapshot.subjects["item"] is before.subjects["item"]


def test_a_run_made_again_with_as_many_items_is_read_anew(
    tmp_path: Path,
) -> None:
    folder = write_run(
        tmp_path / "run", _items(), {"posh": _outcomes()}, status="running"
    )
    view = RunView(folder)
    view.refresh()
    shutil.rmtree(folder)
    items = [
        Item(f"new-{n}", f"whale {n}", ("a reference",)) for n in range(5)
    ]
    omission = ItemScore({"f1": 1.0}, (_unit("omission"),))
    write_run(folder, items, {"posh": [omission] * 5}, status="running")
    assert view.refresh()
    assert view.snapshot.subjects["item"].ids[0] == "new-0"
    assert _find(view, words="whale") == [0, 1, 2, 3, 4]
    assert verdict_counts(view.snapshot.askers[0]) == [("omission", 5)]


def test_a_file_that_disappears_during_a_reading_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_run(
        tmp_path / "run", _items(), {"posh": _outcomes()}, status="running"
    )
    view = RunView(folder)
    look = Path.stat

    def stat(path: Path, **options: bool) -> os.stat_result:
        if path.name.endswith("-wal"):
            raise FileNotFoundError(path)
        if broken and path.name == "run.json":
            raise OSError("the disk is away")
        return look(path, **options)

    broken: list[bool] = []
    monkeypatch.setattr(Path, "stat", stat)
    view.try_refresh()
    assert view.problem == ""
    broken.append(True)
    view.try_refresh()
    assert view.problem == "the disk is away"
    broken.clear()
    view.try_refresh()
    assert view.problem == ""


def test_nothing_is_written_into_a_run(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", _items(), {"posh": _outcomes()})
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    view = RunView(folder)
    view.refresh()
    assert {
        path.name: path.read_bytes() for path in folder.iterdir()
    } == before


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        RunError, match=r"not a run directory, which has run\.json"
    ):
        RunView(tmp_path)


def test_words_are_found_in_any_script_and_case() -> None:
    rng = np.random.default_rng(5)
    words = ["ab", "bc", "über", "日本", "\x00", "Straße"]
    all_texts = [
        "".join(rng.choice(words, size=rng.integers(0, 60)))
        for _ in range(200)
    ]
    texts = Texts(all_texts)
    for sought in ("abbc", "ÜBER日", "STRASSE", "日本日本日本", "zz", "本ab"):
        expected = [
            n
            for n, text in enumerate(all_texts)
            if sought.casefold() in text.casefold()
        ]
        assert texts.having(sought).tolist() == expected, sought


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    items = [Item(str(n), "x", ("y",)) for n in range(PAGE + 1)]
    scores = [ItemScore({"f1": n / 100}) for n in range(PAGE + 1)]
    view = RunView(
        write_run(tmp_path / "many", items, {"posh": scores}, status="running")
    )
    view.refresh()
    return view.snapshot


def test_a_list_has_pages_and_neighbours(snapshot: Snapshot) -> None:
    first = listing(snapshot, {})
    assert (len(first.page_positions), first.n_pages) == (PAGE, 2)
    assert listing(snapshot, {"page": "1"}).page_positions == [PAGE]
    assert listing(snapshot, {"page": "99"}).page_positions == [PAGE]
    assert first.neighbours(0) == (0, None, 1)
    assert first.neighbours(PAGE) == (PAGE, PAGE - 1, None)
    assert listing(snapshot, {"high": "0.1"}).neighbours(PAGE) == (
        None,
        None,
        None,
    )
    assert listing(snapshot, {"q": "nowhere"}).n_pages == 1


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"low": "abc"}, "low: expected a number"),
        ({"high": "nan"}, "high: expected a number"),
        ({"low": "1e999"}, "low: expected a number"),
        ({"page": "-1"}, "page: expected a number"),
        ({"page": "²"}, "page: expected a number"),
        ({"sort": "x"}, "sort: expected position"),
        ({"state": "x"}, "state: expected open"),
        ({"kind": "x"}, "kind: expected item, got 'x'"),
        ({"by": pair("vcs", "")}, "by: expected posh, got 'vcs'"),
        (
            {"by": pair("posh", "recall")},
            "by: expected a value of posh (f1), got 'recall'",
        ),
        ({"by": "[1]"}, "by: expected two texts"),
        ({"by": "{"}, "by: expected two texts"),
        ({"by": "[" * 100_000}, "by: expected two texts"),
        ({"group": '["a"]'}, "group: expected two texts"),
        ({"verdict": "3"}, "verdict: expected a text"),
    ],
)
def test_a_query_that_is_not_valid_is_an_error_that_names_the_parameter(
    snapshot: Snapshot, query: dict[str, str], words: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        listing(snapshot, query)
    assert words in str(refused.value)


def test_a_query_is_changed_in_parts() -> None:
    assert (
        write_query({"q": "a b", "page": "3", "low": ""}, page=None) == "q=a+b"
    )
    assert write_query({"q": "ä"}, page=2) == "q=%C3%A4&page=2"


def test_the_headline_is_shown_by_default(snapshot: Snapshot) -> None:
    selection = read_selection(snapshot, {"by": pair("posh", ""), "q": "  x "})
    assert (selection.asker, selection.value, selection.words) == (
        "posh",
        "f1",
        "x",
    )


def test_a_log_of_an_unknown_format_is_reported(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", _items(), {"posh": _outcomes()})
    (folder / manifest.FILE_NAME).write_text("{")
    with pytest.raises(RunError):
        RunView(folder)
