"""What an alignment says about each chunk: its match, and whether it stands where it should."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from beholder.embed.base import FloatArray
from beholder.metrics.vcs.scoring import ChunkAlignment
from beholder.metrics.vcs.setting import Setting
from beholder.metrics.vcs.windows import IntArray, Windows, mapping_windows
from beholder.records import Side, Span, Unit

Verdict: TypeAlias = Literal["match", "out_of_order", "unmatched"]


def alignment_detail(alignment: ChunkAlignment, reference_index: int = 0) -> dict[str, object]:
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
        "windows": {"precision": precision.windows.ranges, "recall": recall.windows.ranges},
        "matches": {"precision": precision.matches, "recall": recall.matches},
    }


def chunk_verdicts(detail: Mapping[str, Any], setting: Setting) -> dict[Side, list[Verdict]]:
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
    precision_windows, recall_windows = mapping_windows(*similarity.shape, setting.rules == "fixed")
    return {
        "candidate": _verdicts(similarity.T, precision_windows, precision, recall, setting),
        "reference": _verdicts(similarity, recall_windows, recall, precision, setting),
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
        for is_weak, is_strayed in zip(weak.tolist(), strayed.tolist(), strict=True)
    ]


def chunk_units(
    alignment: ChunkAlignment,
    verdicts: Mapping[Side, Sequence[Verdict]],
    texts: Mapping[Side, str],
    spans: Mapping[Side, Sequence[Span]],
    reference_index: int,
    kind: str = "chunk",
) -> tuple[Unit, ...]:
    """One unit per chunk, candidate side first.

    Its score is the similarity of its match; its detail names the ``match`` (a chunk index of the
    other side), the mapping ``window`` (half-open) and the ``distance`` between the two.
    """
    units: list[Unit] = []
    sides: tuple[Side, Side] = ("candidate", "reference")
    for side, direction in zip(sides, (alignment.precision, alignment.recall), strict=True):
        distances = direction.windows.distances(direction.matches)
        for index, (start, end) in enumerate(spans[side]):
            units.append(
                Unit(
                    kind=kind,
                    text=texts[side][start:end],
                    side=side,
                    spans=((start, end),),
                    score=float(direction.similarities[index]),
                    verdict=verdicts[side][index],
                    reference_index=reference_index if side == "reference" else None,
                    detail={
                        "match": int(direction.matches[index]),
                        "window": direction.windows.ranges[index].tolist(),
                        "distance": int(distances[index]),
                    },
                )
            )
    return tuple(units)
