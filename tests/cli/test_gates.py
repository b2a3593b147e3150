"""Gates are read as people write them."""

from __future__ import annotations

import pytest

from beholder.cli.gates import Gate, check, missed, parse_gate
from beholder.errors import ConfigError
from beholder.records import MetricResult


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("vcs=0.6", Gate("vcs", None, 0.6)),
        ("vcs.las=0.5", Gate("vcs", "las", 0.5)),
        ("vcs(lct=1)=0.6", Gate("vcs(lct=1)", None, 0.6)),
        ("vcs(lct=0.5).las=0.6", Gate("vcs(lct=0.5)", "las", 0.6)),
    ],
)
def test_a_gate_is_read(text: str, gate: Gate) -> None:
    assert parse_gate(text) == gate


@pytest.mark.parametrize("text", ["vcs", "vcs=", "=0.6", "vcs=high", "vcs=nan"])
def test_what_is_no_gate_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--fail-under"):
        parse_gate(text)


def test_nothing_scored_misses_every_gate() -> None:
    summary = {"vcs": MetricResult("vcs", {}, 0, 3, "")}
    assert missed(check([Gate("vcs", None, 0.0)], summary)) == [
        "vcs: nothing was scored, so the gate is missed"
    ]
