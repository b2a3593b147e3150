"""Findings of an alignment about each chunk: its match, and whether that is in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray
from beholder.metrics.vcs import order
from beholder.metrics.vcs.order import IntArray, Windows, mapping_windows
from beholder.metrics.vcs.scoring import (
    ChunkAlignment,
    Setting,
    if_no_penalty,
    regularizer_of,
)
from beholder.records import Side

Verdict: TypeAlias = Literal["match", "out_of_order", "unmatched"]


def alignment_detail(
    alignment: ChunkAlignment, reference_index: int = 0
) -> dict[str, object]:
    """Return ``ItemScore.detail`` of VCS: all that a drawing of the alignment needs.

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
    """Return one word per chunk of each side.

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
    # Made again from the lengths, since a stored detail has ranges alone.
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
    # A chunk is unmatched only if the other side does not choose it, either.
    weak = similarity.max(axis=1) < setting.context_cutoff
    weak[matches_back] = False
    strayed = windows.distances(matches) > setting.lct * windows.unit
    verdicts: list[Verdict] = []
    for is_weak, is_strayed in zip(weak, strayed, strict=True):
        verdict: Verdict = "out_of_order" if is_strayed else "match"
        verdicts.append("unmatched" if is_weak else verdict)
    return verdicts


_CURVE = 120
"""Points of the regularizer's curve at most."""


@dataclass(frozen=True, eq=False)
class DirectionSteps:
    """One direction of an alignment: each source chunk is matched in the target text.

    Attributes:
        name: ``precision`` or ``recall``.
        source: The text whose chunks are matched: ``candidate`` or ``reference``.
        target: The other text.
        windows: Mapping window of each of the n source chunks.
        similarity: (n, targets).
        candidates: True for target chunks within the band of the best match, (n, targets).
        matches: The match of each source chunk, (n,).
        distances: Distance of each match from its window, (n,).
        penalties: The part of it that counts, (n,).
        nas_d: The distance score.
        line: Target place of each source chunk on the line, (n,).
        credits: Credit of each step of the line, (n - 1,).
        credit: Name of that number.
        ideals: Shortest and longest ideal line by name, where the rules draw them.
        line_note: Explanation of how the line score follows from its steps.
        nas_l: The line score.
    """

    name: str
    source: str
    target: str
    windows: Windows
    similarity: FloatArray
    candidates: npt.NDArray[np.bool_]
    matches: IntArray
    distances: IntArray
    penalties: npt.NDArray[np.number]
    nas_d: float
    line: order.Positions
    credits: FloatArray
    credit: str
    ideals: Mapping[str, IntArray]
    line_note: str
    nas_l: float


@dataclass(frozen=True, eq=False)
class RegularizerStep:
    """The regularizer for unequal lengths.

    Attributes:
        lengths: Chunks of the shorter text, for a curve.
        curve: The regularizer at each of them, the longer text as it is.
        shorter: Chunks of the shorter text.
        longer: Chunks of the longer text.
        value: The regularizer.
        values: All values of the score by name.
    """

    lengths: Sequence[int]
    curve: Sequence[float]
    shorter: int
    longer: int
    value: float
    values: Mapping[str, float]


def direction_steps(
    detail: Mapping[str, Any], setting: Setting
) -> tuple[DirectionSteps, DirectionSteps]:
    """Return the steps of precision and recall of an alignment.

    Args:
        detail: As ``alignment_detail`` makes it, fresh or read back from a run.
        setting: Parameters of the score.
    """
    similarity = np.asarray(detail["similarity"])
    precision, recall = mapping_windows(
        *similarity.shape, exact=setting.rules == "fixed"
    )
    return (
        _steps("precision", similarity.T, precision, detail, setting),
        _steps("recall", similarity, recall, detail, setting),
    )


def regularizer_step(
    detail: Mapping[str, Any], values: Mapping[str, float], setting: Setting
) -> RegularizerStep:
    """Return the regularizer of an alignment, with its curve over lengths of the shorter text."""
    n_reference, n_candidate = np.shape(detail["similarity"])
    shorter, longer = sorted((n_reference, n_candidate))
    lengths = sorted(
        {*range(1, longer + 1, max(1, longer // _CURVE)), shorter, longer}
    )
    curve = [regularizer_of(longer, length, setting) for length in lengths]
    value = regularizer_of(n_reference, n_candidate, setting)
    return RegularizerStep(lengths, curve, shorter, longer, value, values)


def _steps(
    name: str,
    similarity: FloatArray,
    windows: Windows,
    detail: Mapping[str, Any],
    setting: Setting,
) -> DirectionSteps:
    matches = line = np.asarray(detail["matches"][name])
    ideals: dict[str, IntArray] = {}
    # Each rule set has its own penalties and line; the drawing shows what was
    # scored.
    if setting.rules == "fixed":
        line = order.pull_to_windows(matches, windows, setting.lct)
        penalties = order.corrected_penalties(line, windows)
        nas_l = order.corrected_line(line, windows, setting.lct)
        counted = order.corrected_steps(line, windows, setting.lct)
        credit = "credit of a step"
        note = f"mean credit of {len(counted)} steps"
    else:
        penalties = order.published_penalties(matches, windows, setting.lct)
        nas_l = order.published_line(matches, windows, setting.lct)
        counted = np.empty(0)
        if windows.n_source > 1:
            counted = order.published_steps(matches, windows, setting.lct)
            ideals = {
                "shortest ideal": windows.floor_path,
                "longest ideal": windows.ceil_path,
            }
        credit = "counted length"
        note = f"length {counted.sum():.2f}, ideal {windows.floor:.2f} to {windows.ceil:.2f}"
    least = order.similarity_band(
        similarity.max(axis=1),
        setting.context_cutoff,
        setting.context_window_control,
    )
    sides = ("candidate", "reference")
    return DirectionSteps(
        name,
        *(sides if name == "precision" else sides[::-1]),
        windows=windows,
        similarity=similarity,
        candidates=similarity >= least[:, None],
        matches=matches,
        distances=windows.distances(matches),
        penalties=penalties,
        nas_d=order.distance_score(penalties, windows, if_no_penalty(setting)),
        line=line,
        credits=counted,
        credit=credit,
        ideals=ideals,
        line_note=note,
        nas_l=nas_l,
    )
