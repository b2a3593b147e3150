"""Blocks of subjects: encoded where they are scored, the same by every door."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from beholder.metrics import Tools
from beholder.records import Item
from beholder.run import codec
from beholder.run.batch import OUTCOMES, ROWS, Scorer
from beholder.run.execute import Work
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from toy.metric import WordCount

ITEMS = [Item("a", "one two"), Item("b", "FAIL"), Item("c", "LATER"), Item("d", "x")]
COUNTS = (WordCount(), WordCount(factor=10))


def test_a_table_of_rows_gives_a_row_per_subject_and_asker() -> None:
    scorer = Scorer(COUNTS, ITEM)
    found = scorer.table(scorer.rows(enumerate(ITEMS)))
    assert found.schema == OUTCOMES
    kept = found.select(["position", "id", "asker", "status", "numbers", "reason", "transient"])
    assert [tuple(row.values()) for row in kept.to_pylist()] == [
        (0, "a", "word_count", "scored", '{"words": 2.0}', None, None),
        (0, "a", "word_count(factor=10)", "scored", '{"words": 20}', None, None),
        (1, "b", "word_count", "failed", None, "the candidate says FAIL", False),
        (1, "b", "word_count(factor=10)", "failed", None, "the candidate says FAIL", False),
        (2, "c", "word_count", "failed", None, "the candidate says LATER", True),
        (2, "c", "word_count(factor=10)", "failed", None, "the candidate says LATER", True),
        (3, "d", "word_count", "scored", '{"words": 1.0}', None, None),
        (3, "d", "word_count(factor=10)", "scored", '{"words": 10}', None, None),
    ]
    first = found.to_pylist()[0]
    assert codec.decode_detail(first["detail"]) == {"n": 2}
    assert codec.decode_units(first["units"])[0].text == "o"
    assert first["signature"] == WordCount().signature()
    assert [row["error"] for row in found.to_pylist()[2:5:2]] == ["ItemError", "TransientError"]


def test_only_open_askers_are_asked() -> None:
    scorer = Scorer(COUNTS, ITEM)
    rows = pa.table([[7, 9], [ITEM.row(ITEMS[0]), ITEM.row(ITEMS[3])], [[1], None]], schema=ROWS)
    found = scorer.table(rows)
    assert found["position"].to_pylist() == [7, 9, 9]
    assert found["asker"].to_pylist()[0] == "word_count(factor=10)"
    assert len(scorer.table(rows.slice(0, 0))) == 0
    assert len(scorer.table(rows.drop_columns(["askers"]))) == 4


def test_a_pickle_gives_the_same_outcomes_and_holds_no_tools() -> None:
    scorer = Scorer(COUNTS, ITEM)
    rows = scorer.rows(enumerate(ITEMS))
    before = len(pickle.dumps(scorer))
    first = scorer.table(rows)
    assert len(pickle.dumps(scorer)) == before
    assert pickle.loads(pickle.dumps(scorer)).table(rows).equals(first)


def test_tools_are_made_once() -> None:
    made = []

    def make() -> Tools:
        made.append(1)
        return Tools()

    scorer = Scorer(COUNTS, ITEM, make)
    assert not made
    scorer.table(scorer.rows(enumerate(ITEMS)))
    scorer.table(scorer.rows(enumerate(ITEMS)))
    assert made == [1]


@pytest.mark.parametrize(
    ("n", "workers", "size"), [(100, 2, 16), (3_200, 2, 50), (10_000, 64, 16), (10**6, 2, 64)]
)
def test_blocks_grow_with_the_run_and_hold_what_is_open(
    tmp_path: Path, n: int, workers: int, size: int
) -> None:
    open_ = np.zeros((2, n + 5), dtype=np.bool_)
    open_[0, :n] = True
    open_[1, 3] = True
    with Store.open(tmp_path) as store:
        work = Work(Scorer(COUNTS, ITEM), open_, store, Tools())
        found = list(work.blocks(work.size_for(workers)))
    assert len(found[0].positions) == size
    assert np.concatenate([one.positions for one in found]).tolist() == list(range(n))
    assert found[0].open[:, :4].tolist() == [[True] * 4, [False, False, False, True]]
    assert not any(one.open[1].any() for one in found[1:])


WARM = """
if __name__ == "__main__":  # a worker imports this file, too, and finds nothing outside this block
    from concurrent.futures import ProcessPoolExecutor
    from beholder.run.batch import Scorer
    from beholder.run.execute import _context
    from beholder.run.subjects import ITEM
    from toy.metric import WordCount

    context = _context(Scorer((WordCount(),), ITEM))
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        print(pool.submit(eval, "'beholder.run.batch' in __import__('sys').modules").result())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="workers are copies on Linux alone")
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
