"""Figure of a ranking run: images and correlations over the threshold of agreement."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from beholder.kinds.ranking.results import AtThreshold
from beholder.kinds.ranking.tables import ANY

# After Okabe and Ito, "Color Universal Design" (2008): apart for colour-blind readers.
_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#aa5090",
    "#c88a00",
    "#3aa0d8",
    "#5f7a2a",
)
_MARKERS = "os^DvPX"
_BARS, _PEOPLE, _PROMPT = "#dfe3e6", "#1b1f23", "#7d8790"


def threshold_figure(
    rows: Sequence[AtThreshold], labels: Sequence[str]
) -> Figure:
    """Draw remaining images as bars and correlations as lines, over the threshold of agreement.

    Lines: people (the best pair itself), the order of the prompt if it is known, each scorer.
    Undefined values have no point.

    Args:
        rows: A row per threshold.
        labels: Labels of the scorers, in their order.
    """
    figure = Figure(figsize=(8.2, 4.4), layout="constrained", dpi=120)
    # Two axes over the same places: counts on the left, correlations on the right.
    bars = figure.add_subplot()
    lines = bars.twinx()
    places = range(len(rows))
    bars.bar(places, [row.n for row in rows], width=0.62, color=_BARS)
    bars.set_ylabel("images left (bars)", fontsize=9)
    bars.yaxis.set_major_locator(MaxNLocator(integer=True))
    bars.set_xlabel(
        "lowest agreement of an image's two most similar annotators (correlation)",
        fontsize=9,
    )
    limits = [row.threshold for row in rows]
    bars.set_xticks(
        places, [ANY if limit is None else f"{limit:g}" for limit in limits]
    )
    means = {
        ("people", _PEOPLE, "o-"): [row.human.mean for row in rows],
        ("prompt order", _PROMPT, "s:"): [row.prompt.mean for row in rows],
    }
    for number, label in enumerate(labels):
        colour = _COLOURS[number % len(_COLOURS)]
        style = f"{_MARKERS[number % len(_MARKERS)]}--"
        means[label, colour, style] = [
            row.scorers[number].mean for row in rows
        ]
    for (label, colour, style), values in means.items():
        # Lines are moved apart a little: equal values of several are all seen.
        shift = 0.06 * len(lines.get_lines())
        points = [
            (place + shift, value)
            for place, value in enumerate(values)
            if value is not None
        ]
        # Few data contain the prompt's order; a scorer without a point stays in the legend.
        if points or label != "prompt order":
            x, y = [place for place, _ in points], [v for _, v in points]
            lines.plot(
                x,
                y,
                style,
                label=label,
                color=colour,
                linewidth=1.5,
                markersize=5,
            )
    lines.set_ylabel("mean correlation (lines)", fontsize=9)
    lines.axhline(0.0, color=_PROMPT, linewidth=0.6)
    for axes in (bars, lines):
        axes.spines["top"].set_visible(False)
        axes.tick_params(labelsize=8)
    figure.legend(
        loc="outside lower center", ncols=5, frameon=False, fontsize=8.5
    )
    return figure
