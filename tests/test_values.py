"""A change of any number is a new version: values are held against the recorded ones of this one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tools import record_values

from beholder import releases
from beholder._version import __version__
from beholder.metrics import METRICS
from toy import recorded

LAST = 1.5 * 10**-recorded.DIGITS
"""Recorded values are rounded; a processor may round the last digit to the other side."""


def _read(version: str) -> dict[str, dict[str, Any]]:
    file = recorded.file(version)
    assert file.is_file(), f"no values are recorded for {version}: run make values"
    found: dict[str, dict[str, Any]] = json.loads(file.read_text("utf-8"))
    return found


def _same(now: Any, then: Any) -> bool:
    if isinstance(now, dict) and isinstance(then, dict):
        return now.keys() == then.keys() and all(_same(now[key], then[key]) for key in now)
    if isinstance(now, str) or isinstance(then, str):
        return bool(now == then)
    return math.isclose(now, then, rel_tol=1e-6, abs_tol=LAST)


SETTINGS = list(dict.fromkeys(recorded.settings()))


def test_every_metric_is_recorded_or_says_why_not() -> None:
    named = {spec.partition("(")[0] for spec in SETTINGS}
    assert named | set(recorded.NOT_RECORDED) == set(METRICS.builtin())
    assert not named & set(recorded.NOT_RECORDED)


def test_the_table_of_this_version_has_no_others() -> None:
    assert set(_read(__version__)) <= set(SETTINGS)


@pytest.mark.parametrize("spec", SETTINGS)
def test_values_are_those_of_this_version(spec: str, tmp_path: Path) -> None:
    then = _read(__version__).get(spec)
    now = recorded.values(spec, tmp_path)
    assert now is None or _same(now, then), (
        f"values changed: bump __version__ in src/beholder/_version.py (it is {__version__}) and"
        f" record them with make values; {spec} gave {then}, now {now}"
    )


@pytest.mark.parametrize("name", ["same", "same_by_model"])
def test_what_continues_runs_of_0_1_0_has_the_values_of_0_1_0(name: str) -> None:
    before, now = _read("0.1.0"), _read(__version__)
    metrics = getattr(releases.EARLIER[0], name) & set(METRICS.builtin())
    assert metrics
    for spec, then in before.items():
        by_model = "oracle" in spec
        if spec.partition("(")[0] in metrics and by_model == (name == "same_by_model"):
            assert _same(now[spec], then), (
                f"{spec} has other values than 0.1.0: take it from {name} in"
                " src/beholder/releases.py, so that runs of 0.1.0 are not continued with it"
            )


class TestRecorder:
    """A table that exists is not written again with other values."""

    @pytest.fixture(autouse=True)
    def table(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(recorded, "FOLDER", tmp_path)
        monkeypatch.setattr(recorded, "table", lambda folder: {"length": {"a": {"words": 2.0}}})
        self.file = recorded.file(__version__)

    def test_a_new_version_is_recorded_and_may_be_again(self) -> None:
        assert record_values.main([]) == 0
        assert json.loads(self.file.read_text("utf-8")) == {"length": {"a": {"words": 2.0}}}
        assert record_values.main([]) == 0

    def test_other_values_are_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.file.write_text("{}\n", "utf-8")
        assert record_values.main([]) == 1
        assert "values changed" in capsys.readouterr().err
        assert self.file.read_text("utf-8") == "{}\n"

    def test_a_version_that_is_not_out_yet_may_be_written_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.file.write_text("{}\n", "utf-8")
        monkeypatch.setattr(record_values, "is_tagged", lambda version: True)
        assert record_values.main(["--unreleased"]) == 1
        monkeypatch.setattr(record_values, "is_tagged", lambda version: False)
        assert record_values.main(["--unreleased"]) == 0
        assert self.file.read_text("utf-8") != "{}\n"
