"""The figure of a score: the same for VCS and VCS-short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beholder.errors import ConfigError
from beholder.metrics.vcs.findings import chunk_verdicts
from beholder.metrics.vcs.setting import Setting
from beholder.records import ItemScore

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def score_figure(score: ItemScore, setting: Setting) -> Figure:
    """Draw the alignment in a score, with its values for a title.

    Raises:
        ConfigError: The score has no alignment.
    """
    from beholder.plots.alignment import alignment_figure  # matplotlib loads slowly

    if score.detail.get("view") != "alignment":
        raise ConfigError(
            "this score has no alignment to draw: figure() takes a score of VCS, "
            f"and this one has the values {', '.join(score.values)}"
        )
    parts = ("sas", "nas", "gas", "las", "nas_d", "nas_l")
    named = [f"{name.upper().replace('_', '-')} {score.values[name]:.2f}" for name in parts]
    title = f"VCS {score.values['vcs']:.2f}\n" + "   ".join(named)
    return alignment_figure(score.detail, chunk_verdicts(score.detail, setting), title)
