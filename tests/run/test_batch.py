"""Blocks of subjects: encoded where they are scored, the same by every door."""

from __future__ import annotations

import pickle

import pyarrow as pa

from beholder.metrics import Tools
from beholder.records import Item
from beholder.run import codec
from beholder.run.batch import OUTCOMES, ROWS, Scorer
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
