"""Systems by metric: ranks by hand, and what must not be compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from beholder.errors import ConfigError, RunError
from beholder.kinds.scores.door import score
from beholder.records import Item, ItemFailure, ItemScore
from beholder.report.standing_figure import (
    standing_figure,
    write_standing_figure,
)
from beholder.report.study_tables import latex
from beholder.report.tables import leaderboard_tables
from beholder.run import manifest
from beholder.run.compare import compare
from beholder.run.leaderboard import Board, leaderboard
from beholder.run.store import Store
from toy.metric import WordCount
from toy.runs import write_run


def _run(
    folder: Path, scores: Mapping[str, float | None], system: str | None = None
) -> Path:
    """A run with a text per picture and its score; None is a failure."""
    group = {} if system is None else {"system": system}
    items = [
        Item(f"{name}-{system}", "x", images=(name,), group=group)
        for name in scores
    ]
    item_scores = [
        ItemFailure("ItemError", "no")
        if score is None
        else ItemScore({"f1": score})
        for score in scores.values()
    ]
    return write_run(folder, items, {"m": item_scores})


def _board(*folders: Path) -> Board:
    with ExitStack() as stack:
        (board,) = leaderboard(
            [stack.enter_context(Store.read(run)) for run in folders]
        )
    return board


def test_systems_of_one_run_and_of_several(tmp_path: Path) -> None:
    def texts(system: str, words: int) -> list[Item]:
        return [Item(f"{system}{i}", "w " * (words + i % 2), images=(f"{i}",),
                     group={"system": system}) for i in range(10)]  # fmt: skip

    score(
        [*texts("b", 2), *texts("a", 4)],
        [WordCount()],
        out=tmp_path / "one",
        workers=1,
    )
    with Store.read(tmp_path / "one") as store:
        (board,) = leaderboard([store])
    assert [s.system for s in board.standings] == ["a", "b"]
    assert [
        (s.mean, s.rank, s.best_rank, s.worst_rank) for s in board.standings
    ] == [
        (4.5, 1, 1, 1),
        (2.5, 2, 2, 2),
    ]
    plain = [Item(f"{i}", "w w", images=(f"{i}",)) for i in range(3)]
    for name in ("x", "y"):
        score(plain, [WordCount()], out=tmp_path / name, workers=1)
    with Store.read(tmp_path / "x") as x, Store.read(tmp_path / "y") as y:
        (board,) = leaderboard([x, y])
    assert [(s.system, s.rank) for s in board.standings] == [
        ("x", 1),
        ("y", 1),
    ]


def test_runs_made_differently_are_refused(tmp_path: Path) -> None:
    for name, text in (("x", "a dog"), ("y", "a cat")):
        items = [Item("1", "a", (text,)), Item("2", "b", ("b",))]
        score(items, ["cider"], out=tmp_path / name, workers=1)
    with (
        Store.read(tmp_path / "x") as x,
        Store.read(tmp_path / "y") as y,
        pytest.raises(ConfigError, match="made in different ways"),
    ):
        leaderboard([x, y])


def test_no_system_gains_by_failing_on_a_hard_picture(tmp_path: Path) -> None:
    complete_run = _run(tmp_path / "whole", {"hard": 0.25, "easy": 1.0})
    part = _run(tmp_path / "part", {"hard": None, "easy": 0.75})
    board = _board(complete_run, part)
    assert [(s.system, s.mean, s.rank, s.n, s.n_failed) for s in board.standings] == [
        ("whole", 1.0, 1, 1, 0), ("part", 0.75, 2, 1, 1),
    ]  # fmt: skip
    assert (board.n_sources, board.n_all_sources) == (1, 2)
    assert {s.best_rank for s in board.standings} == {
        None
    }  # one source: nothing to resample
    (table,) = leaderboard_tables([board])
    assert (
        "means over the 1 of 2 sources (pictures, videos) that all systems scored."
        in table.notes
    )


@pytest.mark.parametrize(
    ("texts", "means"),
    [
        # (0 + 1/2 + 3/4) / 3
        ([("ppq", (0.0, 0.5, 0.75))], [1.25 / 3]),
        # As many texts of both systems: the means of their texts.
        (
            [("ppq", (0.0, 0.5, 0.75)), ("pqp", (0.25, 1.0, 0.25))],
            [1.25 / 3, 1.5 / 3],
        ),
        # p has 3 and 1 texts, so weighs 2; q has 1 and 1: (2 * 0.5 + 0.75) / 3, (2 * 0 + 1) / 3.
        (
            [("pppq", (0.0, 0.5, 1.0, 0.75)), ("pq", (0.0, 1.0))],
            [1.75 / 3, 1 / 3],
        ),
    ],
)
def test_texts_count_alike_and_sources_the_same_in_all_systems(
    tmp_path: Path,
    texts: list[tuple[str, tuple[float, ...]]],
    means: list[float],
) -> None:
    folders = []
    for name, (pictures, values) in zip("abc", texts, strict=False):
        items = [
            Item(f"{n}", "x", images=(picture,))
            for n, picture in enumerate(pictures)
        ]
        scores = [ItemScore({"f1": value}) for value in values]
        folders.append(write_run(tmp_path / name, items, {"m": scores}))
    standings = {s.system: s.mean for s in _board(*folders).standings}
    assert [standings[folder.name] for folder in folders] == pytest.approx(
        means
    )


def test_a_mean_is_that_of_compare_where_pictures_have_several_texts(
    tmp_path: Path,
) -> None:
    pictures = [n * 7 % 9 for n in range(24)]
    folders = []
    for step, name in enumerate("ab", 3):
        items = [
            Item(f"{n}", "x", images=(f"{picture}",))
            for n, picture in enumerate(pictures)
        ]
        scores = [ItemScore({"f1": n * step % 11 / 11}) for n in range(24)]
        folders.append(write_run(tmp_path / name, items, {"m": scores}))
    board = _board(*folders)
    with Store.read(folders[0]) as a, Store.read(folders[1]) as b:
        (difference,) = compare(a, b).differences
    standings = {s.system: s for s in board.standings}
    assert standings["a"].mean == pytest.approx(difference.mean_a)
    assert standings["b"].mean == pytest.approx(difference.mean_b)
    (p_value,) = (s.p for s in board.standings if s.p is not None)
    assert p_value == pytest.approx(difference.paired.p_value)


def test_folders_of_one_name_are_two_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [
        _run(tmp_path / name / "run", {"p": n, "q": n})
        for n, name in enumerate("ab")
    ]
    assert [(s.system, s.mean) for s in _board(*runs).standings] == [
        ("b/run", 1.0), ("a/run", 0.0),
    ]  # fmt: skip
    monkeypatch.chdir(runs[0])
    assert [s.system for s in _board(Path()).standings] == ["run"]
    named_run = _run(tmp_path / "c", {"p": 0.5, "q": 0.5}, system="run")
    assert [s.system for s in _board(runs[1], named_run).standings] == [
        "b/run",
        "run",
    ]
    with pytest.raises(ConfigError, match="is given twice"):
        _board(Path(), runs[0])


def test_a_system_that_failed_everywhere_is_ranked_last(
    tmp_path: Path,
) -> None:
    good = _run(tmp_path / "good", {"p": 0.5, "q": 1.0})
    failed_run = _run(tmp_path / "bad", {"p": None, "q": None})
    first, last = _board(good, failed_run).standings
    assert (first.system, first.mean, first.rank) == ("good", 0.75, 1)
    assert (last.system, last.mean, last.rank, last.n, last.n_failed) == (
        "bad",
        None,
        None,
        0,
        2,
    )
    assert [s.mean for s in _board(failed_run).standings] == [None]


def test_systems_without_a_common_picture_are_refused(tmp_path: Path) -> None:
    runs = [_run(tmp_path / name, {name: 1.0}) for name in "ab"]
    with pytest.raises(
        ConfigError, match=r"no picture .* scored sources: a 1, b 1"
    ):
        _board(*runs)


def test_runs_of_another_kind_are_refused(tmp_path: Path) -> None:
    runs = [_run(tmp_path / name, {"p": 1.0}) for name in "ab"]
    manifest.write(
        runs[1], structs.replace(manifest.read_log(runs[1]), kind="ranking")
    )
    with pytest.raises(
        RunError, match="b holds a run of the kind 'ranking', not 'scores'"
    ):
        _board(*runs)


def test_a_count_ranks_nobody(tmp_path: Path) -> None:
    for name, words in (("x", "w"), ("y", "w w")):
        items = [Item(f"{n}", words, images=(f"{n}",)) for n in range(3)]
        score(items, ["length"], out=tmp_path / name, workers=1)
    board = _board(tmp_path / "x", tmp_path / "y")
    assert [(s.system, s.mean, s.rank, s.best_rank) for s in board.standings] == [
        ("x", 1.0, None, None), ("y", 2.0, None, None),
    ]  # fmt: skip
    (table,) = leaderboard_tables([board])
    assert table.title == "length.words, neither end is better"
    assert "rank" not in [column.key for column in table.shown_columns()]


def _three(tmp_path: Path) -> list[Path]:
    """Eight pictures: "low" is .5 below "top" on all, "once" is below it on one alone."""
    names = [str(n) for n in range(8)]
    return [
        _run(tmp_path / "top", dict.fromkeys(names, 0.75)),
        _run(tmp_path / "low", dict.fromkeys(names, 0.25)),
        _run(tmp_path / "once", {**dict.fromkeys(names, 0.75), "3": 0.25}),
    ]


def test_a_system_is_below_the_best_by_a_test_of_all_patterns_of_signs(
    tmp_path: Path,
) -> None:
    board = _board(*_three(tmp_path))
    # All 8 differences alike: 2 of 2**8 patterns; one difference: every pattern. Holm doubles the
    # smaller.
    assert {standing.system: standing.p for standing in board.standings} == {
        "top": None,
        "low": 4 / 256,
        "once": 1,
    }
    (table,) = leaderboard_tables([board])
    marks = {
        row["system"]: (row["mean_best"], row["mean_below"])
        for row in table.rows
    }
    assert marks == {
        "top": (True, False),
        "low": (False, True),
        "once": (False, False),
    }


def test_systems_by_metrics_are_a_table_for_a_paper(tmp_path: Path) -> None:
    board = _board(*_three(tmp_path))
    flipped = replace(board, metric="loss", higher_is_better=None)
    tables = leaderboard_tables([board, flipped])
    assert [table.name for table in tables] == [
        "leaderboard",
        "leaderboard-m",
        "leaderboard-loss",
    ]
    lines = latex(tables[0]).splitlines()
    assert r"system & m.f1 $\uparrow$ & loss.f1 \\" in lines
    (top,) = [line for line in lines if line.startswith("top")]
    (low,) = [line for line in lines if line.startswith("low")]
    assert top.startswith(r"top & \textbf{0.750}")
    assert low.startswith(r"low & 0.250$^{\dagger}$")
    assert r"\toprule" in lines
    assert "★" not in latex(tables[0])


@pytest.mark.usefixtures("two_sources_are_enough")
def test_a_figure_shows_systems_with_their_intervals(tmp_path: Path) -> None:
    good = _run(tmp_path / "good", {"a": 0.5, "b": 1.0})
    poor = _run(tmp_path / "poor", {"a": 0.25, "b": 0.5})
    failed_run = _run(tmp_path / "no$core$", {"a": None, "b": None})
    figure = standing_figure([_board(poor, good, failed_run)])
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "good",
        "poor",
    ]
    line_points = [
        np.asarray(line.get_xydata()).tolist() for line in axes.get_lines()
    ]
    # The best on top: its mean 0.75, and the ends of a bootstrap of two pictures.
    assert line_points == [
        [[0.5, 0], [1.0, 0]], [[0.75, 0]], [[0.25, 1], [0.5, 1]], [[0.375, 1]],
    ]  # fmt: skip
    path = tmp_path / "figures" / "systems.svg"
    write_standing_figure([_board(poor, good)], path)
    assert "<svg" in path.read_text("utf-8")
    assert [file.name for file in path.parent.iterdir()] == ["systems.svg"]
    with pytest.raises(
        ConfigError, match=r"expected a file that ends in svg, png, pdf"
    ):
        write_standing_figure([_board(poor, good)], tmp_path / "systems.txt")
    with pytest.raises(ConfigError, match="no system has a score to draw"):
        write_standing_figure([_board(failed_run)], path)


def test_equal_means_are_both_the_best(tmp_path: Path) -> None:
    # 0.1 + 0.2 + 0.3 is 0.6000000000000001 in this order and 0.6 in the other: both means are 0.2.
    board = _board(
        _run(tmp_path / "a", {"p": 0.1, "q": 0.2, "r": 0.3}),
        _run(tmp_path / "b", {"p": 0.3, "q": 0.2, "r": 0.1 + 0.0}),
        _run(tmp_path / "c", {"p": 0.2, "q": 0.3 - 0.1, "r": 0.2}),
    )
    assert {standing.rank for standing in board.standings} == {1}
    (table,) = leaderboard_tables([board])
    assert [row["mean_best"] for row in table.rows] == [True] * 3


def test_a_mean_has_the_interval_that_score_prints(tmp_path: Path) -> None:
    items = [
        Item(f"{i}", "w " * (i * 7 % 11), images=(f"{i}",)) for i in range(40)
    ]
    summary = score(
        items, [WordCount()], out=tmp_path / "a", workers=1
    ).summary
    (standing,) = _board(tmp_path / "a").standings
    (summary_value,) = [
        values_of_metric.values["words"]
        for values_of_metric in summary.values()
    ]
    assert standing.interval is not None
    assert summary_value.interval is not None
    assert standing.mean == pytest.approx(summary_value.mean)
    assert (standing.interval.low, standing.interval.high) == pytest.approx(
        (summary_value.interval.low, summary_value.interval.high)
    )


def _bleu_runs(tmp_path: Path) -> list[Path]:
    """Two systems about twelve pictures; one copies the reference, the other a part of it."""
    texts = [
        f"a dog number {i} runs over the green grass of the park"
        for i in range(12)
    ]
    folders = []
    for name, n_words in (("whole", 12), ("part", 8)):
        items = [
            Item(
                f"{i}",
                " ".join(text.split()[:n_words]),
                (text,),
                (f"{i}.jpg",),
            )
            for i, text in enumerate(texts)
        ]
        score(items, ["bleu"], out=tmp_path / name, workers=1)
        folders.append(tmp_path / name)
    return folders


def _boards(folders: list[Path], *values: str) -> list[Board]:
    with ExitStack() as stack:
        return leaderboard(
            [stack.enter_context(Store.read(run)) for run in folders], values
        )


def test_a_value_of_the_set_is_ranked(tmp_path: Path) -> None:
    folders = _bleu_runs(tmp_path)
    boards = _boards(folders)
    assert [board.value for board in boards] == ["bleu", "corpus_bleu"]
    # All n-grams of both are in the references; the part has 8 of 12 words, so that its BLEU is
    # its brevity penalty, exp(1 - 12 / 8).
    standings = {standing.system: standing for standing in boards[1].standings}
    assert standings["whole"].mean == pytest.approx(1.0)
    assert standings["part"].mean == pytest.approx(math.exp(1 - 12 / 8))
    # Every picture is alike, so that each resample gives the same value.
    ends = standings["part"].interval
    assert ends is not None
    assert [ends.low, ends.high] == pytest.approx([standings["part"].mean] * 2)
    assert standings["part"].p is not None
    assert (
        standings["part"].p < 0.05
    )  # of 2**12 patterns of swaps 2 are as extreme
    assert (standings["whole"].rank, standings["part"].rank) == (1, 2)
    tables = leaderboard_tables(boards)
    assert [table.name for table in tables] == [
        "leaderboard", "leaderboard-bleu", "leaderboard-bleu-corpus_bleu",
    ]  # fmt: skip
    assert r"bleu.corpus\_bleu" in latex(tables[0])
    assert "Means over 12 sources" in " ".join(tables[0].notes)
    with Store.read(folders[0]) as a, Store.read(folders[1]) as b:
        difference = {
            value_difference.value: value_difference
            for value_difference in compare(a, b).differences
        }["corpus_bleu"]
    assert difference.paired.mean == pytest.approx(math.exp(1 - 12 / 8) - 1)
    assert (difference.paired.n, difference.paired.n_units) == (12, 12)
    assert difference.paired.p_value < 0.05


@pytest.mark.parametrize("name", ["corpus_bleu", "bleu.corpus_bleu"])
def test_a_value_is_chosen_by_name(tmp_path: Path, name: str) -> None:
    folders = _bleu_runs(tmp_path)
    assert [board.value for board in _boards(folders, name, "bleu_1")] == [
        "bleu_1",
        "corpus_bleu",
    ][::-1]
    with pytest.raises(
        ConfigError,
        match=r"--value bleu_9: .*they have: bleu\.bleu, .*corpus_bleu",
    ):
        _boards(folders, "bleu_9")


def test_the_caption_explains_a_star_only_if_there_is_one(
    tmp_path: Path,
) -> None:
    board = _board(*_three(tmp_path))
    unranked = replace(
        board,
        higher_is_better=None,
        standings=tuple(
            replace(standing, rank=None, p=None)
            for standing in board.standings
        ),
    )
    assert "★" not in "".join(
        leaderboard_tables([unranked, unranked])[0].notes
    )
