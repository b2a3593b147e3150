"""Parts of runs, by hand: what is written to the store, means and intervals, differences."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from beholder.errors import ConfigError, RunError
from beholder.records import Interval, Item, ItemFailure, ItemScore, Unit
from beholder.report.comparison import moved_tables
from beholder.run import manifest
from beholder.run.codec import (
    decode_detail,
    decode_units,
    encode_detail,
    encode_units,
)
from beholder.run.compare import SubjectCounts, compare
from beholder.run.store import Store
from toy.runs import write_run


def test_units_come_back_as_they_were() -> None:
    units = (
        Unit(
            "entity",
            "dog",
            "candidate",
            ((0, 3), (8, 11)),
            1 / 3,
            "match",
            None,
            {"a": [1]},
        ),
        Unit("statement", "é ✓", "reference", (), None, None, 2, {}),
    )
    assert decode_units(encode_units(units)) == units


def test_details_keep_numbers_and_give_arrays_in_half_precision() -> None:
    third = np.array([[1 / 3, 2.0], [0.0, -1.5]])
    detail = {
        "matrix": third,
        "whole": np.array([1, 70_000]),
        "one": np.float64(1 / 3),
        "t": "x",
    }
    decoded = decode_detail(encode_detail(detail))
    assert decoded["matrix"].dtype == np.float32
    assert decoded["matrix"].shape == (2, 2)
    assert decoded["matrix"] == pytest.approx(third, rel=2**-11)
    assert decoded["matrix"][0, 0] != np.float32(1 / 3)  # eleven bits are kept
    assert (decoded["whole"], decoded["one"], decoded["t"]) == (
        [1, 70_000],
        1 / 3,
        "x",
    )
    with pytest.raises(TypeError, match="a metric put set into a score"):
        encode_detail({"bad": {1}})
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode_detail({"bad": float("nan")})


def scores(*values: float) -> list[Any]:
    return [
        ItemScore(values={"v": value}, signature="m|v:1") for value in values
    ]


def run(folder: Path, ids: str, outcomes: list[Any]) -> Path:
    items = [
        Item(name, f"text {name}", images=(f"{name}.jpg",)) for name in ids
    ]
    return write_run(folder, items, {"m": outcomes})


def test_runs_are_compared_by_id_over_what_both_scored(tmp_path: Path) -> None:
    first = run(
        tmp_path / "a",
        "abcd",
        [*scores(1, 2, 3), ItemFailure("item", "broken")],
    )
    second = run(tmp_path / "b", "dcbax", scores(9, 5, 4, 2, 7))
    with Store.open(first) as a, Store.open(second) as b:
        comparison = compare(a, b)
    assert comparison.counts == (SubjectCounts("items", 4, 0, 1),)
    (difference,) = comparison.differences
    # a: 1 and 2; b: 2 and 4; c: 3 and 5; d failed in the first.
    assert (difference.metric, difference.value) == ("m", "v")
    assert difference.mean_a == 2.0
    assert difference.mean_b == pytest.approx(11 / 3)
    assert difference.paired.mean == pytest.approx(5 / 3)  # second minus first
    assert difference.paired.n == 3
    assert difference.paired.p_value == 2 / 8  # all three are positive


def test_runs_without_a_common_id_or_metric_are_not_compared(
    tmp_path: Path,
) -> None:
    first, second = (
        run(tmp_path / "a", "ab", scores(1, 2)),
        run(tmp_path / "b", "cd", scores(1, 2)),
    )
    with (
        Store.open(first) as a,
        Store.open(second) as b,
        pytest.raises(ConfigError, match="share no item id"),
    ):
        compare(a, b)
    alone = write_run(tmp_path / "c", [Item("a", "x")], {"other": scores(1)})
    with (
        Store.open(first) as a,
        Store.open(alone) as b,
        pytest.raises(ConfigError, match="share no metric: m against other"),
    ):
        compare(a, b)


def test_other_settings_of_a_metric_are_compared_if_allowed(
    tmp_path: Path,
) -> None:
    items = [Item("a", "x"), Item("b", "y")]
    first = write_run(tmp_path / "a", items, {"m": scores(1, 2)})
    second = write_run(
        tmp_path / "b", items, {"m(k=2)": scores(2, 5), "n": scores(1, 1)}
    )
    with Store.open(first) as a, Store.open(second) as b:
        with pytest.raises(
            ConfigError, match=r"m against m\(k=2\); .*--allow-different"
        ):
            compare(a, b)
        (value_difference,) = compare(a, b, allow_different=True).differences
        assert (value_difference.metric, value_difference.other) == (
            "m",
            "m(k=2)",
        )
        assert (value_difference.mean_a, value_difference.mean_b) == (1.5, 3.5)
        [fallen] = moved_tables(b, a, compare(b, a, allow_different=True))
        assert [(row["id"], row["difference"]) for row in fallen.rows] == [
            ("b", -3.0),
            ("a", -1.0),
        ]


@pytest.mark.usefixtures("two_sources_are_enough")
def test_a_run_log_gives_its_results_back(tmp_path: Path) -> None:
    folder = run(
        tmp_path / "a",
        "abcd",
        [*scores(1, 2, 3), ItemFailure("item", "broken")],
    )
    result = manifest.results(manifest.read_log(folder))["m"]
    assert (result.n_scored, result.n_failed) == (3, 1)
    assert dict(result.failures) == {"broken": 1}
    estimate = result.values["v"]
    assert (estimate.mean, estimate.n) == (2.0, 3)
    assert isinstance(estimate.interval, Interval)
    (again,) = manifest.summary_rows({"m": result})
    assert again == manifest.read_log(folder).summary[0]


def test_a_value_without_an_interval_has_none_in_the_log(
    tmp_path: Path,
) -> None:
    folder = run(tmp_path / "a", "a", scores(4))
    result = manifest.results(manifest.read_log(folder))["m"]
    assert (result.values["v"].mean, result.values["v"].interval) == (
        4.0,
        None,
    )


def test_a_folder_of_another_kind_is_named(tmp_path: Path) -> None:
    folder = run(tmp_path / "a", "a", scores(4))
    kind = manifest.kind_of(folder)
    manifest.check_kind(folder, kind)
    manifest.check_kind(folder, "another", kind)
    manifest.check_kind(tmp_path / "new", "another")  # nothing is there yet
    with pytest.raises(
        RunError, match=rf"holds a run of the kind '{kind}', not 'x' or 'y'"
    ):
        manifest.check_kind(folder, "x", "y")


def test_a_run_is_closed_with_its_own_log_whatever_its_summary(
    tmp_path: Path,
) -> None:
    folder = run(tmp_path / "a", "a", scores(4))
    log = manifest.read_log(folder)
    assert manifest.is_closed(folder, structs.replace(log, summary=()))
    assert not manifest.is_closed(folder, structs.replace(log, status="other"))
    assert not manifest.is_closed(tmp_path / "new", log)


def test_what_unpacks_to_more_than_the_limit_is_refused() -> None:
    packer = zlib.compressobj(1)
    mebibyte = b" " * 2**20
    bomb = b"".join(
        [*(packer.compress(mebibyte) for _ in range(257)), packer.flush()]
    )
    with pytest.raises(ValueError, match="256 MiB"):
        decode_detail(bomb)
