"""Blocks of subjects: encoded where they are scored, the same by every door."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from beholder.metrics import Tools
from beholder.records import Item
from beholder.run import codec
from beholder.run.execute import Scorer, Task, Work
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from toy.metric import WordCount

ITEMS = [
    Item("a", "one two"),
    Item("b", "FAIL"),
    Item("c", "LATER"),
    Item("d", "x"),
]
COUNTS = (WordCount(), WordCount(factor=10))


def _tasks() -> list[Task]:
    return [(position, item, (0, 1)) for position, item in enumerate(ITEMS)]


def test_a_block_gives_a_row_per_subject_and_asker() -> None:
    encoded = Scorer(COUNTS, ITEM)(_tasks())
    assert [
        (asker, position, numbers)
        for asker, position, _, numbers, *_ in encoded.scores
    ] == [
        ("word_count", 0, '{"words": 2.0}'),
        ("word_count(factor=10)", 0, '{"words": 20}'),
        ("word_count", 3, '{"words": 1.0}'),
        ("word_count(factor=10)", 3, '{"words": 10}'),
    ]
    assert [row[:-1] for row in encoded.failures] == [
        ("word_count", 1, "ItemError", "the candidate says FAIL", False),
        (
            "word_count(factor=10)",
            1,
            "ItemError",
            "the candidate says FAIL",
            False,
        ),
        ("word_count", 2, "TransientError", "the candidate says LATER", True),
        (
            "word_count(factor=10)",
            2,
            "TransientError",
            "the candidate says LATER",
            True,
        ),
    ]
    _, _, signature, _, units, detail, unfinished = encoded.scores[0]
    assert codec.decode_detail(detail) == {"n": 2}
    assert codec.decode_units(units)[0].text == "o"
    assert signature == WordCount().signature()
    assert not unfinished


def test_only_open_askers_are_asked() -> None:
    scorer = Scorer(COUNTS, ITEM)
    encoded = scorer([(7, ITEMS[0], (1,)), (9, ITEMS[3], (0, 1))])
    assert [row[:2] for row in encoded.scores] == [
        ("word_count(factor=10)", 7),
        ("word_count", 9),
        ("word_count(factor=10)", 9),
    ]
    assert len(scorer([])) == 0


def test_a_pickle_gives_the_same_outcomes_and_holds_no_tools() -> None:
    scorer = Scorer(COUNTS, ITEM)
    before = len(pickle.dumps(scorer))
    first = scorer(_tasks())
    assert len(pickle.dumps(scorer)) == before
    assert pickle.loads(pickle.dumps(scorer))(_tasks()) == first


def test_tools_are_made_once() -> None:
    calls = []

    def make() -> Tools:
        calls.append(1)
        return Tools()

    scorer = Scorer(COUNTS, ITEM, make)
    assert not calls
    scorer(_tasks())
    scorer(_tasks())
    assert calls == [1]


@pytest.mark.parametrize(
    ("n", "workers", "size"),
    [(100, 2, 16), (3_200, 2, 50), (10_000, 64, 16), (10**6, 2, 64)],
)
def test_blocks_grow_with_the_run_and_hold_what_is_open(
    tmp_path: Path, n: int, workers: int, size: int
) -> None:
    open_ = np.zeros((2, n + 5), dtype=np.bool_)
    open_[0, :n] = True
    open_[1, 3] = True
    with Store.open(tmp_path) as store:
        work = Work(Scorer(COUNTS, ITEM), open_, store, Tools())
        blocks = list(work.blocks(work.size_for(workers)))
    assert len(blocks[0].positions) == size
    assert np.concatenate(
        [block.positions for block in blocks]
    ).tolist() == list(range(n))
    assert blocks[0].open[:, :4].tolist() == [
        [True] * 4,
        [False, False, False, True],
    ]
    assert not any(block.open[1].any() for block in blocks[1:])


WARM = """
if __name__ == "__main__":  # a worker imports this file, too, and finds nothing outside this block
    from concurrent.futures import ProcessPoolExecutor
    import beholder.run.execute
    from beholder.base.processes import worker_context

    with ProcessPoolExecutor(1, mp_context=worker_context()) as pool:
        print(pool.submit(eval, "'beholder.run.execute' in __import__('sys').modules").result())
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="workers are copies on Linux alone"
)
@pytest.mark.slow
def test_workers_have_our_modules_when_they_start(tmp_path: Path) -> None:
    # In a process of its own: the server of workers is one for a process, and another test's may run.
    (tmp_path / "warm.py").write_text(WARM)
    done = subprocess.run(
        [sys.executable, tmp_path / "warm.py"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "True"
