"""Each public name, as users write it: type checkers know all that works, and all that is listed.

``make check`` runs mypy on this file: a name that the stub lacks is an error there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import beholder
from beholder.errors import ConfigError
from beholder.run.kind import builtin_features

NAMES = {
    "BadRowError": beholder.BadRowError,
    "BeholderError": beholder.BeholderError,
    "BudgetError": beholder.BudgetError,
    "ConfigError": beholder.ConfigError,
    "DCScore": beholder.DCScore,
    "DataError": beholder.DataError,
    "Frame": beholder.Frame,
    "Item": beholder.Item,
    "ItemError": beholder.ItemError,
    "ItemFailure": beholder.ItemFailure,
    "ItemScore": beholder.ItemScore,
    "Metric": beholder.Metric,
    "MetricResult": beholder.MetricResult,
    "MissingExtraError": beholder.MissingExtraError,
    "ModelChangedError": beholder.ModelChangedError,
    "OutputError": beholder.OutputError,
    "NarrativesRun": beholder.NarrativesRun,
    "PoSh": beholder.PoSh,
    "RankingRun": beholder.RankingRun,
    "Reviews": beholder.Reviews,
    "Run": beholder.Run,
    "RunError": beholder.RunError,
    "Storyline": beholder.Storyline,
    "StreamingMetric": beholder.StreamingMetric,
    "Tools": beholder.Tools,
    "TransientError": beholder.TransientError,
    "Unit": beholder.Unit,
    "UnknownNameError": beholder.UnknownNameError,
    "VCS": beholder.VCS,
    "VCSShort": beholder.VCSShort,
    "__version__": beholder.__version__,
    "accept": beholder.accept,
    "agree": beholder.agree,
    "audit": beholder.audit,
    "bidirectional": beholder.bidirectional,
    "filter": beholder.filter,
    "choose": beholder.choose,
    "judge": beholder.judge,
    "metric": beholder.metric,
    "narrate": beholder.narrate,
    "rank": beholder.rank,
    "revise": beholder.revise,
    "score": beholder.score,
    "show": beholder.show,
    "stats": beholder.stats,
    "watch": beholder.watch,
}


def test_all_public_names_are_listed_and_typed() -> None:
    assert set(beholder.__all__) == set(NAMES)
    assert dir(beholder) == sorted(beholder.__all__)


def test_features_of_this_package_list_no_function_again() -> None:
    assert [
        feature.name for feature in builtin_features() if feature.functions
    ] == []


def _score_as_users_write(
    references: Sequence[str],
) -> list[beholder.ItemScore]:
    rouge = beholder.metric("rouge")
    return [
        rouge.score_text("A dog runs.", "A dog."),
        rouge.score_text("A dog runs.", references),
        rouge.score_text("A dog runs.", references, images=["a.png"]),
    ]


def test_a_checker_of_types_refuses_a_third_value() -> None:
    assert len(_score_as_users_write(["A dog.", "A wolf."])) == 3
    with pytest.raises(ConfigError):
        beholder.metric("rouge").score_text("A dog.", "A cat.", "A dog.")  # type: ignore[arg-type]


def test_audit_and_revise_are_functions_of_the_package(tmp_path: Path) -> None:
    missing = tmp_path / "missing.jsonl"
    with pytest.raises(beholder.BeholderError):
        beholder.audit(missing, judge="builtin", out=tmp_path / "audit")
    with pytest.raises(beholder.BeholderError):
        beholder.revise(missing, out=tmp_path / "revised.jsonl")
