"""The distribution of a score as a figure."""

from __future__ import annotations

import pytest

from beholder.report.figures import distribution_figure


def test_histogram_counts_every_score_and_marks_mean_and_median() -> None:
    axes = distribution_figure(
        [0.0, 0.1, 0.8], name="$x^{ <f1>", low=0.0, high=1.0
    ).axes[0]
    assert sum(bar.get_height() for bar in axes.patches) == 3  # type: ignore[attr-defined]
    mean, median = (line.get_xdata()[0] for line in axes.lines)  # type: ignore[index]
    assert mean == pytest.approx(0.3)
    assert median == pytest.approx(0.1)


@pytest.mark.drawn
def test_equal_scores_and_names_that_look_like_formulas_are_drawn() -> None:
    for low in (None, 0.5):
        figure = distribution_figure(
            [0.5, 0.5], name="$\\frac{", low=low, high=low
        )
        figure.canvas.draw()
        assert sum(bar.get_height() for bar in figure.axes[0].patches) == 2  # type: ignore[attr-defined]
