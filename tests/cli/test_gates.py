"""Gates are read as people write them, against the metrics of the run."""

from __future__ import annotations

from typing import Any

import pytest

from beholder import metrics
from beholder.errors import ConfigError
from beholder.kinds.scores.gates import (
    Gate,
    PassedGate,
    check,
    gates_table,
    missed,
    parse_gate,
)
from beholder.metrics import Metric
from beholder.records import Estimate, Interval, MetricResult
from toy.cases import each_case


def _metrics(*specs: str) -> list[Metric[Any]]:
    return [metrics.metric(spec) for spec in specs]


@each_case(
    ("text", "gate"),
    [
        ("vcs=0.6", Gate("vcs", "vcs", 0.6)),
        ("vcs.las=0.5", Gate("vcs", "las", 0.5)),
        ("vcs(lct=1)=0.6", Gate("vcs(lct=1)", "vcs", 0.6)),
        ("vcs( lct = 1 )=0.6", Gate("vcs(lct=1)", "vcs", 0.6)),
        ("vcs(lct=1).las=0.6", Gate("vcs(lct=1)", "las", 0.6)),
        ("headline=0.6", Gate("accord", "accord", 0.6)),
        ("headline.f1=0.6", Gate("accord", "f1", 0.6)),
        ("bleu.corpus_bleu=0.1", Gate("bleu", "corpus_bleu", 0.1)),
    ],
)
def test_a_gate_is_read(text: str, gate: Gate) -> None:
    assert (
        parse_gate(text, _metrics("vcs", "vcs(lct=1)", "accord", "bleu"))
        == gate
    )


def test_a_gate_is_built_with_the_tools_of_the_run() -> None:
    tools: dict[str, Any] = {"judge": "openai:some-model"}
    posh = metrics.metric("posh", **tools)
    assert parse_gate("posh=0.5", [posh], **tools) == Gate(
        posh.name, "f1", 0.5
    )


@pytest.mark.parametrize(
    "text", ["vcs", "vcs=", "=0.6", "vcs=high", "vcs=nan"]
)
def test_what_is_no_gate_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--fail-under"):
        parse_gate(text, _metrics("vcs"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ter=0.6", "lower ter.ter is better"),
        ("bleu=0.6", "the run has no metric 'bleu'; it has: vcs, ter"),
        ("vcs.f1=0.6", "vcs has no value 'f1'"),
        ("nothing=0.6", "nothing"),
    ],
)
def test_a_gate_that_cannot_be_checked_is_refused(
    text: str, reason: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_gate(text, _metrics("vcs", "ter"))
    assert str(raised.value).startswith(f"--fail-under {text!r}: ")
    assert reason in str(raised.value)


def test_a_gate_is_on_its_own_value_wherever_that_stands_in_the_summary() -> (
    None
):
    values = {
        "las": Estimate(0.1, None, 2),
        "vcs": Estimate(0.9, Interval(0.6, 1.0), 2),
    }
    outcomes = check(
        [Gate("vcs", "vcs", 0.5)],
        {"vcs": MetricResult("vcs", values, 2, 0, "")},
    )
    assert outcomes == [PassedGate(Gate("vcs", "vcs", 0.5), 0.9, 0.6)]
    assert not missed(outcomes)
    assert gates_table(outcomes).rows[0]["gate"] == "vcs.vcs"


def test_nothing_scored_misses_every_gate() -> None:
    summary = {"vcs": MetricResult("vcs", {}, 0, 3, "")}
    assert missed(check([Gate("vcs", "vcs", 0.0)], summary)) == [
        "vcs.vcs: no item has a value, so the gate is missed"
    ]


@pytest.mark.parametrize(
    ("interval", "on", "passed"),
    [
        (Interval(0.4, 0.9), "interval", False),
        (Interval(0.4, 0.9), "mean", True),
        (Interval(0.5, 0.9), "interval", True),
        (None, "interval", False),
        (None, "mean", True),
    ],
)
def test_the_lower_end_counts_unless_the_mean_is_asked_for(
    interval: Interval | None, on: Any, passed: bool
) -> None:
    summary = {
        "vcs": MetricResult(
            "vcs", {"vcs": Estimate(0.6, interval, 5)}, 5, 0, ""
        )
    }
    (outcome,) = check([Gate("vcs", "vcs", 0.5, on)], summary)
    assert outcome.passed == passed
    assert bool(missed([outcome])) != passed
