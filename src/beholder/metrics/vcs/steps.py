"""An alignment step by step, as it is drawn: what ``scoring`` adds up, kept apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from beholder.embed.base import FloatArray
from beholder.metrics.vcs import order
from beholder.metrics.vcs.band import ideal_bands
from beholder.metrics.vcs.matching import candidates
from beholder.metrics.vcs.scoring import regularizer_of
from beholder.metrics.vcs.setting import Setting
from beholder.metrics.vcs.windows import IntArray, Windows, mapping_windows

if TYPE_CHECKING:
    from beholder.plots.alignment_steps import DirectionSteps, RegularizerStep

_CURVE = 120
"""Points of the regularizer's curve at most."""


def direction_steps(
    detail: Mapping[str, Any], setting: Setting
) -> tuple[DirectionSteps, DirectionSteps]:
    """Precision and recall of an alignment.

    Args:
        detail: As ``alignment_detail`` makes it, fresh or read back from a run.
        setting: Parameters of the score.
    """
    similarity = np.asarray(detail["similarity"])
    precision, recall = mapping_windows(*similarity.shape, setting.rules == "fixed")
    matches = {name: np.asarray(detail["matches"][name]) for name in ("precision", "recall")}
    return (
        _steps("precision", similarity.T, precision, matches["precision"], setting),
        _steps("recall", similarity, recall, matches["recall"], setting),
    )


def regularizer_step(
    detail: Mapping[str, Any], values: Mapping[str, float], setting: Setting
) -> RegularizerStep:
    """What unequal lengths take off, here and for other lengths of the shorter text."""
    from beholder.plots.alignment_steps import RegularizerStep  # matplotlib loads slowly

    n_reference, n_candidate = np.asarray(detail["similarity"]).shape
    shorter, longer = sorted((n_reference, n_candidate))
    lengths = sorted({*range(1, longer + 1, max(1, longer // _CURVE)), shorter, longer})
    return RegularizerStep(
        lengths,
        [regularizer_of(longer, length, setting) for length in lengths],
        shorter,
        longer,
        regularizer_of(n_reference, n_candidate, setting),
        values,
    )


def _steps(
    name: str, similarity: FloatArray, windows: Windows, matches: IntArray, setting: Setting
) -> DirectionSteps:
    from beholder.plots.alignment_steps import DirectionSteps  # matplotlib loads slowly

    fixed = setting.rules == "fixed"
    if fixed:
        line = order.pull_to_windows(matches, windows, setting.lct)
        penalties = order.corrected_penalties(line, windows)
        nas_l = order.corrected_line(line, windows, setting.lct)
        counted = order.corrected_steps(line, windows, setting.lct)
        credit, note = "credit of a step", f"mean credit of {len(counted)} steps"
        ideals: dict[str, IntArray] = {}
    else:
        band = ideal_bands(*_sizes(name, similarity))[name == "recall"]
        line = matches
        penalties = order.published_penalties(matches, windows, setting.lct)
        nas_l = order.published_line(matches, windows, band, setting.lct)
        single = windows.n_source < 2
        counted = (
            np.empty(0) if single else order.published_steps(matches, windows, band, setting.lct)
        )
        credit = "counted length"
        note = f"length {counted.sum():.2f}, ideal {band.floor:.2f} to {band.ceil:.2f}"
        ideals = (
            {} if single else {"shortest ideal": band.floor_path, "longest ideal": band.ceil_path}
        )
    if_none = 0.0 if setting.rules in ("package", "head") else 1.0
    return DirectionSteps(
        name=name,
        source="candidate" if name == "precision" else "reference",
        target="reference" if name == "precision" else "candidate",
        starts=windows.starts,
        ends=windows.ends,
        similarity=similarity,
        candidates=candidates(similarity, setting.context_cutoff, setting.context_window_control),
        matches=matches,
        distances=windows.distances(matches),
        penalties=np.asarray(penalties, dtype=np.float64),
        max_penalty=windows.max_penalty,
        nas_d=order.distance_score(penalties, windows, if_none),
        line=np.asarray(line, dtype=np.float64),
        credits=counted,
        credit=credit,
        ideals=ideals,
        line_note=note,
        nas_l=nas_l,
    )


def _sizes(name: str, similarity: FloatArray) -> tuple[int, int]:
    """Chunks of the reference and of the candidate."""
    n_source, n_target = similarity.shape
    return (n_target, n_source) if name == "precision" else (n_source, n_target)
