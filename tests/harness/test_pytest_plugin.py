"""The fixture ``beholder_gate``: bounds, messages, and what pytest loads without it."""

from __future__ import annotations

from typing import Any

import pytest

from beholder.errors import ConfigError, DataError
from beholder.harness.testing import assert_mean
from toy.metric import WordCount

pytest_plugins = ["pytester"]

TEXTS = ["a", "a b", "a b c", "a b c d", "a b c d e"]
WORDS = WordCount()


def test_a_mean_within_bounds_gives_its_result() -> None:
    result = assert_mean(TEXTS, of=WORDS, at_least=1, at_most=5)
    assert (result.values["words"].mean, result.values["words"].n) == (3, 5)
    # The mean alone needs no interval.
    assert_mean(TEXTS[:1], of=WORDS, at_least=1, at_most=1, on="mean")


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (
            TEXTS,
            {"at_least": 2.9},
            r"^word_count\.words is 3\.000 \[[12]\.\d+, 4\.\d+\], n = 5:"
            r" its interval begins at [12]\.\d+, below 2\.9\n"
            r"  1: 1\.000 a\n  2: 2\.000 a b$",
        ),
        (
            TEXTS,
            {"at_most": 3.1},
            r"its interval ends at 4\.\d+, above 3\.1\n  5: 5\.000 a b c d e\n",
        ),
        (TEXTS, {"at_least": 3.1, "on": "mean"}, r": the mean is 3\.000, below"),
        (
            TEXTS[:2],
            {"at_least": 1},
            r"is 1\.500 without an interval, n = 2, so no end of it can be"
            r" compared \(too few sources .*on='mean'",
        ),
        (
            ["", *TEXTS],
            {"at_least": 0},
            r"1 of 6 texts have no score\n  1: the candidate is empty$",
        ),
        ([], {"at_least": 0}, "no text has a value"),
    ],
)  # fmt: skip
def test_a_missed_bound_says_value_interval_bound_and_the_worst(
    texts: list[str], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        assert_mean(texts, of=WORDS, **options)


def test_the_worst_texts_are_shown_with_what_is_wrong() -> None:
    texts = ["A red dog sleeps.\x1b[2J", *["A brown dog sleeps."] * 5]
    with pytest.raises(
        AssertionError, match=r"(?s)1: [^\x1b]*\n    contradicted: .*red"
    ):
        assert_mean(
            texts,
            [f"A brown dog sleeps. {number}" for number in range(6)],
            of="posh",
            at_least=0.99,
        )


def test_wrong_arguments_are_refused() -> None:
    wrong: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (ConfigError, "needs a bound", {}),
        (ConfigError, "expected 'interval' or", {"at_least": 1, "on": "low"}),
        (ConfigError, "no value 'f1'", {"at_least": 1, "value": "f1"}),
        (DataError, "'x'", {"at_least": 1, "ids": ["x", "x"]}),
    ]
    for error, message, options in wrong:
        with pytest.raises(error, match=message):
            assert_mean(["a", "b"], of=WORDS, **options)


@pytest.mark.slow
def test_the_plugin_loads_nothing_before_the_fixture_is_used(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(
        test_plain="""
        import sys
        def test_plain():
            loaded = {name.partition(".")[0] for name in sys.modules}
            assert "beholder" in loaded
            assert not loaded & {"numpy", "scipy", "PIL", "onnxruntime", "rich"}
            assert "beholder.harness.testing" not in sys.modules
        """,
        test_with_gate="""
        TEXTS = [f"A brown dog sleeps in house {number}." for number in range(6)]
        def test_passes(beholder_gate):
            assert beholder_gate(TEXTS, TEXTS, of="rouge", at_least=0.9).n_scored == 6
        def test_fails(beholder_gate):
            beholder_gate(TEXTS, ["A cat."] * 6, of="rouge", at_least=0.9, on="mean")
        """,
    )
    # The entry point of the installed package loads the plugin; others would load modules, too.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    by_point = ["-p", "beholder", "-p", "no:cacheprovider"]
    result = pytester.runpytest_subprocess(*by_point)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*AssertionError: rouge.rouge_l is *below 0.9",
            "E *1: 0.*A brown dog*",
        ]
    )
    # The traceback ends at the line of the test.
    result.stdout.no_fnmatch_line("*testing.py*")
