"""The figures of a score: the same for VCS and VCS-short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beholder.errors import ConfigError
from beholder.metrics.vcs.findings import chunk_verdicts
from beholder.metrics.vcs.setting import Setting
from beholder.metrics.vcs.steps import direction_steps, regularizer_step
from beholder.records import ItemScore
from beholder.rounding import fixed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def score_figure(score: ItemScore, setting: Setting) -> Figure:
    """Draw the alignment in a score, with its values for a title.

    Raises:
        ConfigError: The score has no alignment.
    """
    from beholder.plots.alignment import alignment_figure  # matplotlib loads slowly

    _check(score)
    parts = ("sas", "nas", "gas", "las", "nas_d", "nas_l")
    named = [f"{name.upper().replace('_', '-')} {fixed(score.values[name], 2)}" for name in parts]
    title = f"VCS {fixed(score.values['vcs'], 2)}\n" + "   ".join(named)
    return alignment_figure(score.detail, chunk_verdicts(score.detail, setting), title)


def score_steps(score: ItemScore, setting: Setting) -> dict[str, Figure]:
    """Draw all steps from an alignment to its values, page by page, the alignment itself first.

    Raises:
        ConfigError: The score has no alignment.
    """
    from beholder.plots.alignment_steps import step_figures  # matplotlib loads slowly

    pages = {"alignment": score_figure(score, setting)}
    directions = direction_steps(score.detail, setting)
    return pages | step_figures(directions, regularizer_step(score.detail, score.values, setting))


def _check(score: ItemScore) -> None:
    if score.detail.get("view") != "alignment":
        raise ConfigError(
            "this score has no alignment to draw: figure() takes a score of VCS, "
            f"and this one has the values {', '.join(score.values)}"
        )
