"""Scores held against yes-or-no labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.kinds.agreement.measure import (
    AgreementFigure,
    agreement,
    collect,
)
from beholder.kinds.agreement.protocols import generic
from beholder.records import Item

# Eight pictures with two texts each; figures computed outside this project.
HUMAN = "11 10 00 11 01 10 00 11"
VERDICT = "11 10 01 10 01 10 10 11"
GRADES = [.9, .8, .7, .2, .3, .6, .9, .4, .1, .7, .8, .4, .6, .2, .9, .7]  # fmt: skip


def found_of(
    labels: Sequence[Any],
    scores: Sequence[float],
    pictures: Sequence[int],
    n_resamples: int = 0,
) -> dict[str, AgreementFigure]:
    items = [
        Item(
            str(n),
            "a dog",
            ("a dog",),
            (f"{picture}.jpg",),
            judgments={"right": label},
        )
        for n, (label, picture) in enumerate(
            zip(labels, pictures, strict=True)
        )
    ]
    column = {str(n): score for n, score in enumerate(scores)}
    figures: dict[str, AgreementFigure] = {}
    for measure in generic(items, None, "verdicts"):
        data = collect(measure, items)
        figures[measure.kind] = agreement(
            data, data.scores(column), n_resamples=n_resamples, seed=1
        )
    return figures


def worked(
    scores: Sequence[float], n_resamples: int = 0
) -> dict[str, AgreementFigure]:
    labels = [digit == "1" for digit in HUMAN.replace(" ", "")]
    return found_of(labels, scores, [n // 2 for n in range(16)], n_resamples)


def test_figures_are_those_of_the_worked_example() -> None:
    figures = worked([float(digit) for digit in VERDICT.replace(" ", "")])
    assert figures["kappa"].value == pytest.approx(0.612903, abs=1e-6)
    assert figures["recall of yes"].value == pytest.approx(0.888889, abs=1e-6)
    assert figures["recall of no"].value == pytest.approx(0.714286, abs=1e-6)
    assert figures["balanced accuracy"].value == pytest.approx(
        (8 / 9 + 5 / 7) / 2
    )
    assert figures["precision of no"].value == pytest.approx(5 / 6)
    assert worked(GRADES)["auc"].value == pytest.approx(0.960317, abs=1e-6)


def test_few_labels_of_a_verdict_have_no_interval() -> None:
    figure = worked(GRADES, n_resamples=200)["auc"]
    assert figure.interval is None
    assert (
        figure.reason == "only 7 labels of one verdict; an interval needs 10"
    )


def test_thresholds_do_not_come_from_the_labels_that_they_are_measured_on() -> (
    None
):
    rng = np.random.default_rng(3)
    kappas = []
    for _ in range(60):
        labels = rng.integers(0, 2, 40).tolist()
        figures = found_of(labels, rng.random(40).tolist(), range(40))
        kappas.append(figures["kappa"].value)
    assert (
        abs(np.mean(np.array(kappas, dtype=float))) < 0.06
    )  # the best threshold: 0.17


def test_intervals_resample_pictures() -> None:
    labels = [n // 4 % 3 > 0 for n in range(120)]
    rng = np.random.default_rng(1)
    scores = np.repeat(rng.random(30), 4) + 0.3 * np.array(labels)
    wide, narrow = (
        found_of(labels, scores.tolist(), pictures, 400)["auc"].interval
        for pictures in ([n // 4 for n in range(120)], range(120))
    )
    assert wide is not None
    assert narrow is not None
    assert wide.high - wide.low > 1.2 * (narrow.high - narrow.low)
    assert wide.low <= worked_auc(labels, scores.tolist()) <= wide.high


def worked_auc(labels: Sequence[bool], scores: Sequence[float]) -> float:
    """The share of pairs of a yes and a no that the scores order, by counting."""
    pairs = [
        (a > b) + (a == b) / 2
        for a, is_yes in zip(scores, labels, strict=True)
        for b, is_other_yes in zip(scores, labels, strict=True)
        if is_yes and not is_other_yes
    ]
    return float(np.mean(pairs))


def test_labels_of_several_people_are_data_each() -> None:
    figures = found_of(
        [[1, 0], [1, 1], True, [0, 0]], [0.9, 0.8, 0.1, 0.2], range(4)
    )
    assert figures["auc"].n == 7


@pytest.mark.parametrize(
    "labels", [[3, 1, 0], ["yes", "no", "no"], [0.5, 1, 0]]
)
def test_other_labels_are_refused(labels: list[Any]) -> None:
    with pytest.raises(
        ConfigError, match="the items have no yes-or-no judgments"
    ):
        found_of(labels, [0.1, 0.2, 0.3], range(3))


def worked_people() -> tuple[list[list[int]], list[float]]:
    """Labels of three people and scores of 36 texts, as the worked example states them."""
    gold = [n * 7 % 3 == 0 for n in range(36)]
    wrong = [
        (n % 6 == 0, n % 6 == 2, n % 4 == 1, n % 5 == 3) for n in range(36)
    ]
    labels = [
        [int(g != w) for w in ws[:3]]
        for g, ws in zip(gold, wrong, strict=True)
    ]
    return labels, [
        float(g != ws[3]) for g, ws in zip(gold, wrong, strict=True)
    ]


def replacements(
    labels: Sequence[Any], scores: Sequence[float]
) -> dict[str, AgreementFigure]:
    items = [
        Item(
            str(n),
            "a dog",
            ("a dog",),
            (f"{n}.jpg",),
            judgments={"right": label},
        )
        for n, label in enumerate(labels)
    ]
    column = {str(n): score for n, score in enumerate(scores)}
    figures: dict[str, AgreementFigure] = {}
    for measure in generic(items, None, "verdicts"):
        if measure.kind == "replaces":
            data = collect(measure, items)
            figures[measure.name] = agreement(
                data, data.scores(column), n_resamples=0, seed=1
            )
    return figures


def test_replacement_of_people_agrees_with_the_worked_example() -> None:
    figures = replacements(*worked_people())
    assert {name: figure.value for name, figure in figures.items()} == {
        "may replace experts (0.2), right": 1.0,
        "may replace trained (0.15), right": 1.0,
        "may replace crowd (0.1), right": 0.0,
    }
    assert (
        figures["may replace crowd (0.1), right"].reason
        == "of 3 people; 0.5 and more passes"
    )


def test_people_are_distinguished_only_by_lists_of_one_length() -> None:
    labels, scores = worked_people()
    assert not replacements(
        [labels_of_item[0] for labels_of_item in labels], scores
    )
    labels[3] = labels[3][:2]
    assert not replacements(labels, scores)


def test_few_labels_give_a_reason_instead() -> None:
    labels, scores = worked_people()
    figures = replacements(labels[:20], scores[:20])
    assert {figure.value for figure in figures.values()} == {None}
    assert "at least 2 are needed" in str(next(iter(figures.values())).reason)
