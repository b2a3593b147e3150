"""Values are compared with the recorded ones, and recorded ones of a release never change."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tools import record_values

from beholder._version import __version__
from beholder.metrics import METRICS
from toy import recorded

LAST = 1.5 * 10**-recorded.DIGITS
"""Recorded values are rounded; a processor may round the last digit to the other side."""


def _read_values(version: str) -> dict[str, dict[str, Any]]:
    file = recorded.file(version)
    assert file.is_file(), (
        f"no values are recorded for {version}: run make values"
    )
    values: dict[str, dict[str, Any]] = json.loads(file.read_text("utf-8"))
    return values


def _same(now: Any, then: Any) -> bool:
    if isinstance(now, dict) and isinstance(then, dict):
        return now.keys() == then.keys() and all(
            _same(now[key], then[key]) for key in now
        )
    if isinstance(now, str) or isinstance(then, str):
        return bool(now == then)
    return math.isclose(now, then, rel_tol=1e-6, abs_tol=LAST)


SETTINGS = list(dict.fromkeys(recorded.settings()))


def test_every_metric_is_recorded_or_says_why_not() -> None:
    names = {spec.partition("(")[0] for spec in SETTINGS}
    assert names | set(recorded.NOT_RECORDED) == set(METRICS.builtin())
    assert not names & set(recorded.NOT_RECORDED)


def test_the_table_of_this_version_has_no_others() -> None:
    assert set(_read_values(__version__)) <= set(SETTINGS)


@pytest.mark.parametrize("spec", SETTINGS)
def test_values_are_those_of_this_version(spec: str, tmp_path: Path) -> None:
    then = _read_values(__version__).get(spec)
    now = recorded.values(spec, tmp_path)
    assert now is None or _same(now, then), (
        f"values of {__version__} changed: {spec} gave {then}, now {now}; if that is intended, run"
        " make values and write both into the changelog (a released version needs a new one first)"
    )


def test_tables_of_released_versions_are_as_released() -> None:
    assert record_values.changed_tables() == []


class TestRecorder:
    """A planted folder of tables, in which 1.0 is released."""

    @pytest.fixture(autouse=True)
    def plant(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(recorded, "FOLDER", tmp_path)
        monkeypatch.setattr(
            recorded, "table", lambda folder: {"length": {"a": {"words": 2.0}}}
        )
        (tmp_path / "released.json").write_text("{}", "utf-8")
        (tmp_path / "development.json").write_text("{}", "utf-8")
        assert record_values.main("1.0") == 0
        self.folder = tmp_path

    def test_a_release_is_recorded_with_its_digest(self) -> None:
        assert json.loads((self.folder / "1.0.json").read_text("utf-8")) == {
            "length": {"a": {"words": 2.0}}
        }
        assert set(record_values.released()) == {"1.0"}
        assert record_values.changed_tables() == []

    def test_a_released_version_is_not_recorded_again(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (self.folder / "1.0.json").write_text("{}\n", "utf-8")
        assert record_values.main("1.0") == 1
        assert "the values of 1.0 are released" in capsys.readouterr().err
        assert (self.folder / "1.0.json").read_text("utf-8") == "{}\n"

    @pytest.mark.parametrize("version", ["1.1.dev0", "2.0.dev1"])
    def test_development_renews_its_table_and_releases_nothing(
        self, version: str
    ) -> None:
        assert record_values.main(version) == 0
        assert "length" in (self.folder / "development.json").read_text(
            "utf-8"
        )
        assert set(record_values.released()) == {"1.0"}

    def test_a_changed_missing_or_unlisted_table_is_reported(self) -> None:
        table = self.folder / "1.0.json"
        table.write_text(
            table.read_text("utf-8").replace("2.0", "2.1"), "utf-8"
        )
        assert record_values.changed_tables() == ["1.0"]
        table.unlink()
        assert record_values.changed_tables() == ["1.0"]
        (self.folder / "0.9.json").write_text("{}", "utf-8")
        assert record_values.changed_tables() == ["1.0", "0.9"]
