"""The comparison of BLAS kernels: what it finds, and that there is nothing to find."""

from __future__ import annotations

import platform
from dataclasses import replace

import pytest
from tools import kernels
from tools.kernels import TOLERANCE, Outcome, golden_verdicts, list_differences

from toy.cases import each_case

BASELINE = Outcome("One", {"a dog": True, "A dog.": "[0, 0]"}, {"accord": 0.5})


@each_case(
    ("changes", "expected"),
    [
        ({}, 0),
        ({"decisions": {"a dog": False, "A dog.": "[0, 0]"}}, 1),
        ({"decisions": {"a dog": True, "A dog.": "[1, 1]"}}, 1),
        ({"decisions": {}}, 2),
        ({"values": {"accord": 0.5 + TOLERANCE / 2}}, 0),
        ({"values": {"accord": 0.5 + TOLERANCE * 2}}, 1),
        ({"values": {}}, 1),
        ({"values": {"accord": float("nan")}}, 1),
    ],
)
def test_each_difference_is_a_line(
    changes: dict[str, dict[str, object]], expected: int
) -> None:
    messages = list_differences(
        BASELINE,
        replace(BASELINE, kernel="Other", **changes),  # type: ignore[arg-type]
    )
    assert len(messages) == expected
    assert all("One" in line and "Other" in line for line in messages)


def test_a_difference_and_too_few_kernels_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcomes = {name: replace(BASELINE, kernel=name) for name in "abc"}
    monkeypatch.setattr(kernels, "kernel", lambda: "a")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(
        kernels, "run", lambda _: (outcomes, {"d": "does not run"})
    )
    assert kernels.main([]) == 0
    outcomes["c"] = replace(outcomes["c"], decisions={"a dog": False})
    assert kernels.main([]) == 1
    del outcomes["c"]
    assert kernels.main([]) == 1


def test_a_numpy_without_openblas_has_nothing_to_compare(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernels, "kernel", lambda: None)
    assert kernels.main([]) == 0
    assert "no OpenBLAS" in capsys.readouterr().out


def test_the_golden_verdicts_are_read() -> None:
    first = next(golden_verdicts())
    assert first.statement == "There is a cup."
    assert first.text.startswith("A red cup is on the shelf.")
    assert first.true
