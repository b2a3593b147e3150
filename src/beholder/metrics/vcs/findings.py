"""What an alignment says about each chunk: its match, and whether it stands where it should."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from beholder.embed.base import FloatArray
from beholder.metrics.vcs import order
from beholder.metrics.vcs.order import (
    IntArray,
    Windows,
    ideal_bands,
    mapping_windows,
)
from beholder.metrics.vcs.scoring import (
    ChunkAlignment,
    Setting,
    regularizer_of,
)
from beholder.records import Side

Verdict: TypeAlias = Literal["match", "out_of_order", "unmatched"]


def alignment_detail(
    alignment: ChunkAlignment, reference_index: int = 0
) -> dict[str, object]:
    """``ItemScore.detail`` of VCS: all that a drawing of the alignment needs.

    Returns:
        A dict with the keys

        - ``view``: ``"alignment"``.
        - ``reference_index``: which reference was aligned.
        - ``similarity``: array (R, G), reference chunks by candidate chunks.
        - ``windows``: under ``"precision"`` an array (G, 2), for each candidate chunk the half-open
          range of reference chunks where its match is expected; under ``"recall"`` an array (R, 2),
          for each reference chunk the range of candidate chunks.
        - ``matches``: under ``"precision"`` an array (G,), for each candidate chunk the index of
          its reference chunk; under ``"recall"`` an array (R,), for each reference chunk the
          index of its candidate chunk.
    """
    precision, recall = alignment.precision, alignment.recall
    return {
        "view": "alignment",
        "reference_index": reference_index,
        "similarity": alignment.similarity,
        "windows": {
            "precision": precision.windows.ranges,
            "recall": recall.windows.ranges,
        },
        "matches": {"precision": precision.matches, "recall": recall.matches},
    }


def chunk_verdicts(
    detail: Mapping[str, Any], setting: Setting
) -> dict[Side, list[Verdict]]:
    """One word per chunk of each side.

    - ``unmatched``: the best similarity of the chunk is below the context cutoff, and it is the
      match of no chunk of the other side: nothing there covers it.
    - ``out_of_order``: its match lies outside its mapping window by more than the tolerance.
    - ``match``: neither.

    Args:
        detail: As ``alignment_detail`` makes it, fresh or read back from a run.
        setting: Parameters of the score.
    """
    similarity = np.asarray(detail["similarity"])
    precision = np.asarray(detail["matches"]["precision"])
    recall = np.asarray(detail["matches"]["recall"])
    precision_windows, recall_windows = mapping_windows(
        *similarity.shape, exact=setting.rules == "fixed"
    )
    return {
        "candidate": _verdicts(
            similarity.T, precision_windows, precision, recall, setting
        ),
        "reference": _verdicts(
            similarity, recall_windows, recall, precision, setting
        ),
    }


def _verdicts(
    similarity: FloatArray,
    windows: Windows,
    matches: IntArray,
    matches_back: IntArray,
    setting: Setting,
) -> list[Verdict]:
    weak = similarity.max(axis=1) < setting.context_cutoff
    weak[matches_back] = False
    strayed = windows.distances(matches) > setting.lct * windows.unit
    return [
        "unmatched" if is_weak else "out_of_order" if is_strayed else "match"
        for is_weak, is_strayed in zip(
            weak.tolist(), strayed.tolist(), strict=True
        )
    ]


if TYPE_CHECKING:
    from beholder.metrics.vcs.plots import DirectionSteps, RegularizerStep

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
    precision, recall = mapping_windows(
        *similarity.shape, exact=setting.rules == "fixed"
    )
    matches = {
        name: np.asarray(detail["matches"][name])
        for name in ("precision", "recall")
    }
    return (
        _steps(
            "precision", similarity.T, precision, matches["precision"], setting
        ),
        _steps("recall", similarity, recall, matches["recall"], setting),
    )


def regularizer_step(
    detail: Mapping[str, Any], values: Mapping[str, float], setting: Setting
) -> RegularizerStep:
    """What unequal lengths take off, here and for other lengths of the shorter text."""
    from beholder.metrics.vcs.plots import (
        RegularizerStep,
    )  # matplotlib loads slowly

    n_reference, n_candidate = np.asarray(detail["similarity"]).shape
    shorter, longer = sorted((n_reference, n_candidate))
    lengths = sorted(
        {*range(1, longer + 1, max(1, longer // _CURVE)), shorter, longer}
    )
    curve = [regularizer_of(longer, length, setting) for length in lengths]
    own = regularizer_of(n_reference, n_candidate, setting)
    return RegularizerStep(lengths, curve, shorter, longer, own, values)


def _steps(
    name: str,
    similarity: FloatArray,
    windows: Windows,
    matches: IntArray,
    setting: Setting,
) -> DirectionSteps:
    from beholder.metrics.vcs.plots import (
        DirectionSteps,
    )  # matplotlib loads slowly

    if setting.rules == "fixed":
        line = order.pull_to_windows(matches, windows, setting.lct)
        penalties = order.corrected_penalties(line, windows)
        nas_l = order.corrected_line(line, windows, setting.lct)
        counted = order.corrected_steps(line, windows, setting.lct)
        credit, note = (
            "credit of a step",
            f"mean credit of {len(counted)} steps",
        )
        ideals: dict[str, IntArray] = {}
    else:
        sizes = (
            similarity.shape if name == "recall" else similarity.shape[::-1]
        )
        band = ideal_bands(*sizes)[name == "recall"]
        line = matches
        penalties = order.published_penalties(matches, windows, setting.lct)
        nas_l = order.published_line(matches, windows, band, setting.lct)
        single = windows.n_source < 2
        counted = (
            np.empty(0)
            if single
            else order.published_steps(matches, windows, band, setting.lct)
        )
        credit = "counted length"
        note = f"length {counted.sum():.2f}, ideal {band.floor:.2f} to {band.ceil:.2f}"
        ideals = (
            {}
            if single
            else {
                "shortest ideal": band.floor_path,
                "longest ideal": band.ceil_path,
            }
        )
    if_none = 0.0 if setting.rules in ("package", "head") else 1.0
    least = order.similarity_band(
        similarity.max(axis=1),
        setting.context_cutoff,
        setting.context_window_control,
    )
    sides = (
        ("candidate", "reference")
        if name == "precision"
        else ("reference", "candidate")
    )
    return DirectionSteps(
        name,
        *sides,
        starts=windows.starts,
        ends=windows.ends,
        similarity=similarity,
        candidates=similarity >= least[:, None],
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
