"""The box plots of a study of both directions: what is drawn as a box, and what as dots."""

from __future__ import annotations

import pytest

from beholder.kinds.bidirectional.plots import Box, boxes_figure


@pytest.mark.drawn
def test_few_different_values_are_dots_with_their_numbers() -> None:
    figure = boxes_figure(
        [
            (
                "HAR",
                [
                    Box("two", [0.0, 0.0, 0.0, 1.0]),
                    Box("five", [0.1, 0.2, 0.3, 0.4, 0.5]),
                    Box("none", []),
                ],
            )
        ],
        "F1",
    )
    (axes,) = figure.axes
    assert len(axes.patches) == 1  # the box of five values
    assert [text.get_text() for text in axes.texts] == ["3×", "no data"]
    dots = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
        for line in axes.lines
        if line.get_marker() in ("o", "D") and line.get_xdata()[0] < 0.5
    }
    assert dots == {(0.0, 0.0), (0.0, 1.0), (0.18, 0.25)}  # and the mean
