"""A difference of rates is tested by Tango's interval; figures of an independent program."""

from __future__ import annotations

from pathlib import Path

from beholder.records import Item, ItemScore
from beholder.run.compare import compare, inferiority_reason
from beholder.run.store import Store
from toy.runs import write_run


def test_rates_of_pairs_need_enough_pairs(tmp_path: Path) -> None:
    # 236 pictures; on 5 only the second text is wrong, on 4 only the first.
    items = [
        Item(f"p{n}", "a boat", ("a boat",), (f"{n}.jpg",)) for n in range(236)
    ]
    runs = []
    for name, wrong in (("a", range(5, 9)), ("b", range(5))):
        scores = [
            ItemScore({"good": float(n not in wrong)}, (), "toy|v:1", {})
            for n in range(236)
        ]
        runs.append(write_run(tmp_path / name, items, {"toy": scores}))
    with Store.read(runs[0]) as first, Store.read(runs[1]) as second:
        (difference,) = compare(first, second).differences
        reason = inferiority_reason(first, second, difference, 0.03)
        assert "difference -0.0042 [-0.0340, 0.0245]" in reason
        assert inferiority_reason(first, second, difference, 0.04) == ""
