"""The public function over ready embeddings: what it returns and what it refuses."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import beholder
from beholder import VCS
from beholder.errors import ConfigError, ItemError
from beholder.metrics.vcs import chunk_verdicts
from toy.cases import each_case

EYE = np.eye(4)
WHOLE = np.ones(4) / 2


def test_values_stand_in_order_with_the_headline_first() -> None:
    score = VCS().score_embeddings(EYE, EYE, WHOLE, WHOLE)
    assert list(score.values) == [info.name for info in VCS.values]
    assert next(iter(score.values)) == "vcs"
    assert all(type(value) is float for value in score.values.values())


def test_detail_names_windows_and_matches_of_both_directions() -> None:
    reference, candidate = EYE, EYE[[0, 3, 2]]
    detail = VCS().score_embeddings(reference, candidate, WHOLE, WHOLE).detail
    assert detail["view"] == "alignment"
    assert detail["reference_index"] == 0
    assert np.array_equal(detail["similarity"], reference @ candidate.T)
    # Ratio 4/3: windows of height 2 from 0, 1, 2.
    assert detail["windows"]["precision"].tolist() == [[0, 2], [1, 3], [2, 4]]
    assert detail["windows"]["recall"].tolist() == [
        [0, 1],
        [0, 2],
        [1, 3],
        [2, 3],
    ]
    assert detail["matches"]["precision"].tolist() == [0, 3, 2]
    # Reference chunk 1 is like none: all tie at 0, and the first place in its window is taken.
    assert detail["matches"]["recall"].tolist() == [0, 0, 2, 1]


def test_verdicts_say_what_is_out_of_place_and_what_has_no_counterpart() -> (
    None
):
    reference, candidate = EYE, EYE[[0, 3, 2]]
    metric = VCS(lct=0)
    detail = metric.score_embeddings(reference, candidate, WHOLE, WHOLE).detail
    verdicts = chunk_verdicts(detail, metric.setting)
    assert verdicts["candidate"] == ["match", "out_of_order", "match"]
    assert verdicts["reference"] == [
        "match",
        "unmatched",
        "match",
        "out_of_order",
    ]
    tolerant = chunk_verdicts(detail, VCS(lct=1).setting)
    assert tolerant["candidate"] == ["match", "match", "match"]


def test_lists_and_whole_numbers_are_taken_as_float64() -> None:
    score = VCS().score_embeddings(
        [[1, 0], [0, 1]], [[1, 0], [0, 1]], [1, 0], [1, 0]
    )
    assert score.values["vcs"] == 1
    assert score.detail["similarity"].dtype == np.float64


def test_float32_is_kept() -> None:
    chunks, whole = EYE.astype(np.float32), WHOLE.astype(np.float32)
    score = VCS().score_embeddings(chunks, chunks, whole, whole)
    assert score.detail["similarity"].dtype == np.float32


def test_zero_vectors_score_zero_and_not_nan() -> None:
    nothing = np.zeros((3, 4))
    score = VCS().score_embeddings(nothing, nothing, nothing[0], nothing[0])
    assert score.values["gas"] == 0
    assert score.values["vcs"] == 0


@each_case(
    ("change", "message"),
    [
        ({"reference_chunks": np.empty((0, 4))}, "the reference has no chunk"),
        ({"candidate_chunks": np.empty((0, 4))}, "the candidate has no chunk"),
        (
            {"reference_chunks": WHOLE},
            r"reference_chunks: expected .* got \(4,\)",
        ),
        ({"candidate_text": EYE}, r"candidate_text: expected .* got \(4, 4\)"),
        ({"candidate_chunks": np.eye(5)}, "different widths: 4 and 5"),
        ({"candidate_text": np.ones(5)}, "different lengths: 4 and 5"),
        (
            {"candidate_chunks": np.full((2, 4), np.nan)},
            "chunk 0 and candidate chunk 0 is nan",
        ),
        (
            {"candidate_chunks": np.full((2, 4), np.inf)},
            "candidate chunk 0 is",
        ),
        ({"candidate_text": np.full(4, np.nan)}, "whole texts is nan"),
        (
            {"candidate_chunks": [["a", "b"]]},
            "candidate_chunks: expected an array of numbers",
        ),
    ],
)
def test_unusable_embeddings_are_refused_with_the_place(
    change: dict[str, Any], message: str
) -> None:
    arrays: dict[str, Any] = {
        "reference_chunks": EYE,
        "candidate_chunks": EYE,
        "reference_text": WHOLE,
        "candidate_text": WHOLE,
    }
    with pytest.raises(ItemError, match=message):
        VCS().score_embeddings(**arrays | change)


@each_case(
    ("options", "message"),
    [
        (
            {"rules": "papers"},
            "rules='papers': expected one of 'fixed', 'paper'",
        ),
        ({"lct": -1}, "lct=-1: expected a number from 0"),
        ({"lct": True}, "lct=True"),
        ({"lct": float("nan")}, "lct=nan"),
        ({"chunk_size": 0}, "chunk_size=0: expected a whole number from 1"),
        ({"chunk_size": 1.5}, "chunk_size=1.5"),
        (
            {"context_cutoff": 1.2},
            "context_cutoff=1.2: expected a number from 0 to 1",
        ),
        (
            {"context_window_control": 0},
            "context_window_control=0: expected a number above 0",
        ),
        ({"rules": "head", "nas_blend_factor": -2}, "nas_blend_factor=-2"),
        ({"rules": "head", "nas_coverage_cutoff": 0}, "nas_coverage_cutoff=0"),
        ({"nas_blend_factor": 0.5}, "has no effect under rules='fixed'"),
        ({"rules": "package", "nas_coverage_cutoff": 0.3}, "set rules='head'"),
        (
            {"references": "worst"},
            "references='worst': expected one of 'best', 'mean'",
        ),
    ],
)
def test_bad_parameters_are_refused_when_the_metric_is_made(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        VCS(**options)


def test_the_text_form_makes_the_same_metric() -> None:
    metric = beholder.metric("vcs(rules='paper', lct=1)")
    assert metric == VCS(rules="paper", lct=1)
    assert metric.name == "vcs(rules='paper', lct=1)"
    assert "rules:paper|lct:1|chunk_size:1" in metric.signature()


def test_tolerance_is_one_in_the_mended_rules_and_none_in_the_published_ones() -> (
    None
):
    reversed_chunks = EYE[::-1]

    def nas_d(**options: Any) -> float:
        score = VCS(**options).score_embeddings(
            EYE, reversed_chunks, WHOLE, WHOLE
        )
        return score.values["nas_d"]

    # Four chunks reversed lie 3, 1, 1, 3 off; the most possible is 3 + 2 + 2 + 3.
    assert nas_d(lct=0) == pytest.approx(1 - 8 / 10)
    assert nas_d() == nas_d(lct=1) == pytest.approx(1 - (2 + 0 + 0 + 2) / 10)
    for rules in ("paper", "package", "head"):
        assert nas_d(rules=rules) == pytest.approx(1 - 8 / 10)
    assert "|lct:1|" in VCS().signature()
    assert "|lct:0|" in VCS(rules="package").signature()
    assert VCS().name == "vcs"


def test_metric_and_score_pickle() -> None:
    metric = VCS(lct=1)
    score = metric.score_embeddings(EYE, EYE, WHOLE, WHOLE)
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert pickle.loads(pickle.dumps(score)).values == score.values
