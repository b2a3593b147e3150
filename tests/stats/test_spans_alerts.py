from __future__ import annotations

import math

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.stats import (
    alert_f1,
    held_out_alert_f1,
    relaxed_f1,
    token_labels,
    token_scores,
)
from beholder.stats.alerts import Macro, best_threshold


def test_half_of_a_spans_own_tokens_is_a_match() -> None:
    # predicted 0-4 shares 2 of its 4 tokens: match; gold 2-10 shares 2 of its 8: none
    result = relaxed_f1([[(0, 4)]], [[(2, 10)]])
    assert (result.precision, result.recall, result.f1) == (1.0, 0.0, 0.0)
    inside = relaxed_f1([[(2, 4)], [(0, 4)]], [[(2, 5)], [(0, 4)]])
    assert (inside.precision, inside.recall, inside.f1) == (1.0, 1.0, 1.0)


def test_share_of_the_longer_or_of_the_union_is_stricter() -> None:
    predicted, gold = [[(0, 4)]], [[(2, 6)]]  # 2 shared of 4 and 4, union 6
    assert relaxed_f1(predicted, gold, of="own").f1 == 1.0
    assert relaxed_f1(predicted, gold, of="longer").f1 == 1.0
    assert relaxed_f1(predicted, gold, of="union").f1 == 0.0
    assert relaxed_f1(predicted, gold, overlap=0.75).f1 == 0.0


def test_spans_are_pooled_over_documents() -> None:
    result = relaxed_f1(
        [[(0, 2), (5, 6)], [(0, 1)]], [[(0, 2)], [(3, 4), (7, 9)]]
    )
    # precision 1/3, recall 1/3
    assert result.f1 == pytest.approx(1 / 3)
    assert (result.n_documents, result.n_predicted, result.n_gold) == (2, 3, 3)


def test_absent_spans_have_a_stated_result() -> None:
    none = relaxed_f1([[]], [[]])
    assert (none.f1, none.reason) == (None, "neither side has a span")
    missed = relaxed_f1([[]], [[(0, 1)]])
    assert (missed.precision, missed.recall, missed.f1) == (None, 0.0, 0.0)
    assert relaxed_f1([], []).f1 is None


def test_bad_spans_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"gold\[0\]"):
        relaxed_f1([[]], [[(3, 3)]])
    with pytest.raises(ConfigError, match="overlap"):
        relaxed_f1([[]], [[]], overlap=50)
    with pytest.raises(ConfigError, match="within 3 tokens"):
        token_labels(3, [(1, 4)])


def test_token_scores_of_overlapping_spans() -> None:
    spans = [(0, 3, 0.2), (2, 4, 0.6)]
    inf = math.inf
    assert token_scores(5, spans).tolist() == [0.2, 0.2, 0.2, 0.6, inf]
    assert token_scores(5, spans, several="highest").tolist() == [
        0.2,
        0.2,
        0.6,
        0.6,
        inf,
    ]
    assert token_scores(5, spans, several="mean").tolist() == [
        0.2,
        0.2,
        0.4,
        0.6,
        inf,
    ]
    assert token_labels(5, [(1, 3)]).tolist() == [0, 1, 1, 0, 0]


def test_alert_f1_by_hand() -> None:
    scores = [[0.1, 0.4, 0.8, math.inf]]
    labels = [[1, 0, 1, 0]]
    at = alert_f1(scores, labels, threshold=0.5)
    # alerts: tokens 0 and 1. Errors: 1 true, 1 false, 1 missed: F1 1/2. Others: the same.
    assert at.f1 == pytest.approx(0.5)
    assert at.chosen == "given"
    best = alert_f1(scores, labels)
    # above 0.8: alerts 0, 1, 2: errors 4/5, others 2/3; above 0.1 and up to 0.4: 2/3 and 4/5
    assert best.f1 == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert best.threshold == 0.4
    assert (best.n_tokens, best.n_gold, best.chosen) == (4, 2, "maximum")


def slow_macro_f1(
    scores: list[np.ndarray],
    labels: list[np.ndarray],
    threshold: float,
    macro: str,
) -> float:
    def f1(predicted: np.ndarray, gold: np.ndarray) -> float:
        whole = predicted.sum() + gold.sum()
        return float(2 * (predicted & gold).sum() / whole) if whole else 1.0

    if macro == "documents":
        return float(
            np.mean(
                [
                    f1(s < threshold, g == 1)
                    for s, g in zip(scores, labels, strict=True)
                ]
            )
        )
    s = np.concatenate(scores)
    g = np.concatenate(labels)
    return (f1(s < threshold, g == 1) + f1(s >= threshold, g == 0)) / 2


@pytest.mark.parametrize("macro", ["classes", "documents"])
def test_best_threshold_matches_trying_all(macro: Macro) -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        sizes = rng.integers(1, 12, 4)
        scores = [np.round(rng.random(n), 1) for n in sizes]
        labels = [(rng.random(n) < 0.4).astype(np.int64) for n in sizes]
        labels[0][0], labels[1][0] = 0, 1  # both classes occur
        tried = [
            slow_macro_f1(scores, labels, t, macro)
            for t in [*np.unique(np.concatenate(scores)), 2]
        ]
        result = alert_f1(scores, labels, macro=macro, n_resamples=10)
        assert result.f1 == pytest.approx(max(tried))
        used = best_threshold(scores, labels, macro)
        assert slow_macro_f1(scores, labels, used, macro) == pytest.approx(
            max(tried)
        )


def test_held_out_threshold_is_no_better_than_the_maximum_on_noise() -> None:
    rng = np.random.default_rng(1)
    scores = [rng.random(20) for _ in range(20)]
    labels = [(rng.random(20) < 0.2).astype(int) for _ in range(20)]
    held_out = held_out_alert_f1(scores, labels, n_folds=5)
    best = alert_f1(scores, labels)
    assert held_out.f1 is not None
    assert best.f1 is not None
    assert held_out.f1 <= best.f1
    assert (held_out.threshold, held_out.chosen) == (None, "held-out")
    assert held_out == held_out_alert_f1(scores, labels, n_folds=5)


def test_held_out_threshold_of_clear_scores_is_right_everywhere() -> None:
    labels = [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]]
    scores = [[0.9 - 0.8 * x for x in row] for row in labels]
    assert held_out_alert_f1(scores, labels).f1 == 1.0


@pytest.mark.parametrize("label", [0, 1])
def test_gold_with_one_class_has_a_reason(label: int) -> None:
    result = alert_f1([[0.1, 0.9]], [[label, label]])
    assert result.f1 is None
    assert result.reason is not None
    assert "two classes" in result.reason


def test_a_metric_without_spans_predicts_no_error() -> None:
    # errors F1 0; others: 2 right, 1 missed error: 4/5
    result = alert_f1([[math.inf] * 3], [[1, 0, 0]])
    assert result.f1 == pytest.approx(0.4)


def test_unusable_documents_are_refused() -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        alert_f1([], [])
    with pytest.raises(ConfigError, match="document 0"):
        alert_f1([[0.1]], [[1, 0]])
    with pytest.raises(ConfigError, match="NaN"):
        alert_f1([[math.nan]], [[1]])
    with pytest.raises(ConfigError, match="labels are 0 or 1"):
        alert_f1([[0.5]], [[2]])
    with pytest.raises(ConfigError, match="n_folds"):
        held_out_alert_f1([[0.5]], [[1]])
