"""The box plots of a study of both directions: what is drawn as a box, and what as dots."""

from __future__ import annotations

import numpy as np
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
    lines = [
        np.asarray(line.get_data(), dtype=float).T.tolist()
        for line in axes.lines
        if line.get_marker() in ("o", "D")
    ]
    # Both values, and the mean beside them; then the mean of the five.
    assert lines == [[[0.0, 0.0]], [[0.0, 1.0]], [[0.18, 0.25]], [[1.0, 0.3]]]
