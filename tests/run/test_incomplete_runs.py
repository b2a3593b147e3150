"""A run that is not complete is said to be so, with n of m, wherever it is read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from beholder.errors import ConfigError
from beholder.kinds.scores.page import write_report
from beholder.records import Item, ItemFailure, ItemScore
from beholder.report.comparison import differences
from beholder.report.study_tables import as_text, html, latex
from beholder.report.tables import leaderboard_tables, systems_by_metric
from beholder.run.compare import compare
from beholder.run.leaderboard import leaderboard
from beholder.run.reading import describe_incomplete, incomplete_runs
from beholder.run.store import Store
from toy.runs import write_run


def _run(folder: Path, n_done: int, status: str) -> Path:
    items = [Item(f"i{n}", "x", ("r",), (f"{n}.jpg",)) for n in range(6)]
    done = [ItemScore({"f1": n / 8}) for n in range(n_done - 1)] + [
        ItemFailure("E", "no")
    ]
    return write_run(
        folder, items, {"m": [*done, *[None] * (6 - n_done)]}, status=status
    )


@pytest.mark.parametrize("status", ["interrupted", "running"])
def test_how_much_of_a_run_there_is_is_stated(
    tmp_path: Path, status: str
) -> None:
    part = _run(tmp_path / "part", 4, status)
    with Store.read(part) as store:
        caution = describe_incomplete(store)
    # three scores and a failure, which is finished too
    assert (
        f"part is not complete (status: {status}): 4 of 6 finished by m"
        in caution
    )
    whole = _run(tmp_path / "whole", 6, "complete")
    assert incomplete_runs(whole, part, tmp_path / "no run") == [caution]


def test_readers_of_runs_say_that_one_is_not_complete(tmp_path: Path) -> None:
    words = "4 of 6 finished by m"
    folders = (
        _run(tmp_path / "whole", 6, "complete"),
        _run(tmp_path / "part", 4, "interrupted"),
    )
    with Store.read(folders[0]) as whole, Store.read(folders[1]) as part:
        boards = leaderboard([whole, part])
        comparison = compare(whole, part)
        (alone,) = leaderboard([whole])
        assert alone.cautions == ()
        assert compare(whole, whole).cautions == ()
    (table,) = leaderboard_tables(boards)
    tables = [
        table,
        systems_by_metric(boards),
        differences(comparison, "a", "b"),
    ]
    assert [words in " ".join(table.notes) for table in tables] == [True] * 3
    assert words in latex(tables[1])
    assert words in json.dumps(asdict(comparison))
    assert words in json.dumps(asdict(boards[0]))
    assert words in write_report(folders[1]).read_text("utf-8")
    assert words not in write_report(folders[0]).read_text("utf-8")


def test_chosen_values_are_compared_alone_and_corrected_for_their_number(
    tmp_path: Path,
) -> None:
    items = [Item(f"i{n}", "x", ("r",), (f"{n}.jpg",)) for n in range(6)]
    values = [{"f1": n / 8, "recall": n / 7} for n in range(6)]
    better = [{"f1": n / 8 + 0.1, "recall": n / 7 + 0.1} for n in range(6)]
    folders = [
        write_run(tmp_path / name, items, {"m": map(ItemScore, of)})
        for name, of in (("a", values), ("b", better))
    ]
    with Store.read(folders[0]) as a, Store.read(folders[1]) as b:
        assert [
            difference.value for difference in compare(a, b).differences
        ] == [
            "f1",
            "recall",
        ]
        for name in ("recall", "m.recall"):
            (difference,) = compare(a, b, values=[name]).differences
            # All six differences are positive: 2 of 64 sign patterns, and nothing to correct for.
            assert (
                difference.value,
                difference.paired.p_value,
                difference.p_holm,
            ) == (
                "recall",
                2 / 64,
                2 / 64,
            )
        with pytest.raises(
            ConfigError, match=r"--value bleu: .* they have: m\.f1, m\.recall"
        ):
            compare(a, b, values=["bleu"])


def test_few_sources_are_said_alike_by_every_table(tmp_path: Path) -> None:
    sentence = "too few sources for an interval: 3, at least 5 are needed."
    items = [Item(f"i{n}", "x", ("r",), (f"{n}.jpg",)) for n in range(3)]
    folders = [
        write_run(
            tmp_path / name,
            items,
            {"m": [ItemScore({"f1": n / 8}) for n in range(3)]},
        )
        for name in ("a", "b")
    ]
    with Store.read(folders[0]) as a, Store.read(folders[1]) as b:
        boards = leaderboard([a, b])
        tables = [*leaderboard_tables(boards), systems_by_metric(boards)]
        tables.append(differences(compare(a, b), "a", "b"))
    for table in tables:
        assert table.shown_notes().count(sentence) == 1
        assert sentence in latex(table)
        assert sentence in as_text([table]).replace("\n", " ")
        assert sentence in html(table)
        assert not any(
            value
            for row in table.rows
            for key, value in row.items()
            if "_low" in key
        )
