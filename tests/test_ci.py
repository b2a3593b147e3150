"""What CI reports about its tests, and that its first stage is the README's command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools import test_times

ROOT = Path(__file__).parents[1]
SUITE = """<testsuites><testsuite>
<testcase classname="tests.a" name="test_quick" time="0.010"/>
<testcase classname="tests.a" name="test_slow[x]" time="12.500"/>
<testcase classname="tests.a" name="test_wrong" time="0.2"><failure message="no">1</failure></testcase>
<testcase classname="tests.a" name="test_broken" time="0.1"><error message="no">1</error></testcase>
<testcase classname="tests.b" name="test_left_out" time="0.0">
  <skipped type="pytest.skip" message="needs Chromium"/></testcase>
<testcase classname="tests.b" name="test_left_out_too" time="0.0">
  <skipped type="pytest.skip" message="needs Chromium"/></testcase>
</testsuite></testsuites>"""


def test_the_summary_names_slow_and_skipped_tests(tmp_path: Path) -> None:
    (tmp_path / "test.xml").write_text(SUITE)
    (tmp_path / "site.xml").write_text(SUITE.replace("12.500", "20"))
    lines = test_times.summary(test_times.cases(tmp_path)).splitlines()
    assert lines[1:3] == [
        "   20.00 s  site: tests.a::test_slow[x]",
        "   12.50 s  test: tests.a::test_slow[x]",
    ]
    assert "       2    site: needs Chromium" in lines
    assert lines[-1] == "4 passed, 4 failed, 4 skipped"


def test_the_summary_is_of_the_30_slowest_tests() -> None:
    steps = [
        test_times.Case("test", f"t{i}", float(i), "passed", "")
        for i in range(40)
    ]
    lines = test_times.summary(steps).splitlines()
    assert lines[1].endswith("test: t39")
    assert lines[30].endswith("test: t10")
    assert lines[31:] == [
        "no test was skipped",
        "40 passed, 0 failed, 0 skipped",
    ]


def test_ci_runs_every_target_that_tests() -> None:
    script = ROOT / ".ci" / "run"
    if not script.exists():
        pytest.skip("a source archive holds no .ci/run")
    text = script.read_text("utf-8")
    rules = set(
        re.findall(
            r"^(test[\w-]*|check|site|release|kernels):",
            (ROOT / "Makefile").read_text(),
            re.M,
        )
    )
    assert {
        "test",
        "test-slow",
        "test-web",
        "check",
        "site",
        "release",
        "kernels",
    } <= set(rules)
    first = re.findall(r"^step .* make (\S+)", text, re.M)
    assert first == [".venv/.ready", "check", "test"]
    (lines,) = re.findall(r"^xargs .*<<END\n(.*?)^END$", text, re.M | re.S)
    # Real engines take gigabytes and minutes to install; the log of CI says that they did not run.
    assert "make test-models" in text.partition("not run here:")[2]
    assert sorted([*first[1:], *lines.split()]) == sorted(
        rules - {"test-models"}
    )
