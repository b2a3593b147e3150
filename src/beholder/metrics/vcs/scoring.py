"""From a similarity matrix to the values of VCS, under one of its rule sets. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.metrics.vcs import order
from beholder.metrics.vcs.band import IdealBand, ideal_bands
from beholder.metrics.vcs.combine import clip, comprehension, harmonic, semantic
from beholder.metrics.vcs.matching import best_match
from beholder.metrics.vcs.setting import Setting
from beholder.metrics.vcs.windows import IntArray, Windows, mapping_windows


@dataclass(frozen=True, slots=True)
class Direction:
    """The matches of one direction with their windows.

    Attributes:
        windows: Mapping windows, one per source chunk.
        matches: Target position of each source chunk's match, (n_source,).
        similarities: Similarity of each match, (n_source,).
    """

    windows: Windows
    matches: IntArray
    similarities: FloatArray


@dataclass(frozen=True, slots=True)
class ChunkAlignment:
    """Both directions of one pair of texts.

    Attributes:
        similarity: (R, G): reference chunks by candidate chunks.
        precision: Candidate chunks looking into the reference.
        recall: Reference chunks looking into the candidate.
    """

    similarity: FloatArray
    precision: Direction
    recall: Direction


def align(similarity: FloatArray, setting: Setting) -> ChunkAlignment:
    """Find windows and best matches of both directions.

    Args:
        similarity: (R, G), finite.
        setting: Parameters.

    Raises:
        ItemError: A text has no chunk, or a similarity is not finite.
    """
    n_reference, n_candidate = similarity.shape
    if n_reference == 0 or n_candidate == 0:
        empty = "reference" if n_reference == 0 else "candidate"
        raise ItemError(f"the {empty} has no chunk: there is nothing to align")
    if not np.isfinite(similarity).all():
        row, column = np.argwhere(~np.isfinite(similarity))[0]
        raise ItemError(
            f"the similarity of reference chunk {row} and candidate chunk {column} is "
            f"{similarity[row, column]}: check the embeddings for NaN and infinite values"
        )
    precision, recall = mapping_windows(n_reference, n_candidate, setting.rules == "fixed")
    return ChunkAlignment(
        similarity,
        _direction(similarity.T, precision, setting),
        _direction(similarity, recall, setting),
    )


def _direction(similarity: FloatArray, windows: Windows, setting: Setting) -> Direction:
    matches = best_match(
        similarity, windows, setting.context_cutoff, setting.context_window_control
    )
    return Direction(windows, matches, similarity[windows.index, matches])


def cosine(a: FloatArray, b: FloatArray) -> float:
    """GAS: cosine of two whole-text vectors; norms below 1e-8 count as 1e-8, so zero gives 0.

    Raises:
        ItemError: It is not finite.
    """
    a, b = a.astype(np.float64), b.astype(np.float64)
    norm_a, norm_b = math.sqrt((a * a).sum()), math.sqrt((b * b).sum())
    gas = float((a * b).sum()) / (max(norm_a, 1e-8) * max(norm_b, 1e-8))
    if not math.isfinite(gas):
        raise ItemError(
            f"the cosine of the whole texts is {gas}: "
            "check the embeddings for NaN and infinite values"
        )
    return gas


def vcs_values(alignment: ChunkAlignment, gas: float, setting: Setting) -> dict[str, float]:
    """All values of VCS by name, headline first.

    Args:
        alignment: Matches of both directions.
        gas: Cosine of the whole texts.
        setting: Parameters.
    """
    bounded = clip if setting.rules == "fixed" else float
    n_reference, n_candidate = alignment.similarity.shape
    gas = bounded(gas)
    las_precision = bounded(_mean(alignment.precision.similarities))
    las_recall = bounded(_mean(alignment.recall.similarities))
    las = local(las_precision, las_recall, setting)
    (d_precision, l_precision), (d_recall, l_recall) = narrative(alignment, setting)
    nas_d, nas_l = harmonic(d_precision, d_recall), harmonic(l_precision, l_recall)
    nas_f1 = harmonic(nas_d, nas_l)
    regularizer = regularizer_of(n_reference, n_candidate, setting)
    nas = regularize(nas_f1, regularizer)
    sas = bounded(semantic(gas, las))
    return {
        "vcs": bounded(comprehension(sas, nas)),
        "sas": sas,
        "gas": gas,
        "las": las,
        "las_precision": las_precision,
        "las_recall": las_recall,
        "nas_d": nas_d,
        "nas_d_precision": d_precision,
        "nas_d_recall": d_recall,
        "nas_l": nas_l,
        "nas_l_precision": l_precision,
        "nas_l_recall": l_recall,
        "nas_f1": nas_f1,
        "regularizer": regularizer,
        "nas": nas,
    }


def local(precision: float, recall: float, setting: Setting) -> float:
    """LAS: harmonic mean; the paper makes it 0 unless the sum of the two is positive."""
    if setting.rules == "paper" and precision + recall <= 0:
        return 0.0
    return harmonic(precision, recall)


def _mean(similarities: FloatArray) -> float:
    return float(np.add.reduce(similarities)) / len(similarities)


def narrative(
    alignment: ChunkAlignment, setting: Setting
) -> tuple[tuple[float, float], tuple[float, float]]:
    """(NAS-D, NAS-L) of the precision direction, and of the recall direction."""
    if setting.rules == "fixed":
        return _mended(alignment.precision, setting), _mended(alignment.recall, setting)
    precision, recall = ideal_bands(*alignment.similarity.shape)
    return (
        _published(alignment.precision, precision, setting),
        _published(alignment.recall, recall, setting),
    )


def _mended(direction: Direction, setting: Setting) -> tuple[float, float]:
    windows = direction.windows
    pulled = order.pull_to_windows(direction.matches, windows, setting.lct)
    penalties = order.corrected_penalties(pulled, windows)
    return (
        order.distance_score(penalties, windows, if_none=1.0),
        order.corrected_line(pulled, windows, setting.lct),
    )


def _published(direction: Direction, band: IdealBand, setting: Setting) -> tuple[float, float]:
    windows = direction.windows
    penalties = order.published_penalties(direction.matches, windows, setting.lct)
    if_none = 1.0 if setting.rules == "paper" else 0.0
    return (
        order.distance_score(penalties, windows, if_none),
        order.published_line(direction.matches, windows, band, setting.lct),
    )


def regularizer_of(n_reference: int, n_candidate: int, setting: Setting) -> float:
    """The regularizer of the rule set."""
    if setting.rules == "fixed":
        return squared_imbalance(n_reference, n_candidate)
    if setting.rules == "head":
        return length_regularizer(
            n_reference, n_candidate, setting.nas_blend_factor, setting.nas_coverage_cutoff
        )
    undefined = 0.0 if setting.rules == "paper" else 1.0
    return window_regularizer(n_reference, n_candidate, undefined)


def regularize(nas_f1: float, regularizer: float) -> float:
    """NAS: the narrative score with the regularizer taken off."""
    return (nas_f1 - regularizer) / (1 - regularizer) if nas_f1 > regularizer else 0.0


def _coverage(n_reference: int, n_candidate: int) -> tuple[float, float]:
    """Share of the timeline that the direct windows cover, and the least share possible."""
    precision, recall = mapping_windows(n_reference, n_candidate, exact=False)
    direct = precision if n_reference >= n_candidate else recall
    area = int((direct.ends - direct.starts).sum())
    return area / (n_reference * n_candidate), 1 / max(n_reference, n_candidate)


def window_regularizer(n_reference: int, n_candidate: int, undefined: float) -> float:
    """Paper and package 1.0.0: how far window coverage rises from its least towards one half.

    Args:
        n_reference: Chunks of the reference.
        n_candidate: Chunks of the candidate.
        undefined: The value where the longer side has two chunks and the formula is 0/0. (Where it
            is x/0 the limit, 1, is taken.)
    """
    coverage, least = _coverage(n_reference, n_candidate)
    if least == 1:
        return 0.0
    if least == 0.5:
        return undefined if coverage == least else 1.0
    return min(1.0, max(0.0, (coverage - least) / (0.5 - least)))


def length_regularizer(n_reference: int, n_candidate: int, blend: float, cutoff: float) -> float:
    """Repository head: a blend of window coverage and length imbalance.

    Args:
        n_reference: Chunks of the reference.
        n_candidate: Chunks of the candidate.
        blend: 0 joins both; 1 leaves window coverage alone, -1 length imbalance alone.
        cutoff: Window coverage at which its penalty is 1.
    """
    coverage, least = _coverage(n_reference, n_candidate)
    if cutoff - least > 1e-9:
        window = min(1.0, max(0.0, (coverage - least) / (cutoff - least)))
    elif least >= cutoff:
        window = 0.0 if coverage <= least + 1e-9 else 1.0
    else:
        window = 0.0
    imbalance = length_imbalance(n_reference, n_candidate)
    high, low = max(window, imbalance), min(window, imbalance)
    joined = high * high + low * (1 - high)
    if joined >= 1 - 1e-12:
        return 1.0
    weight = _weight_of_imbalance(joined, window, imbalance)
    weight = (1 - blend) * weight if blend >= 0 else weight + (1 - weight) * -blend
    value: float = 1 - (1 - imbalance) ** weight * (1 - window) ** (1 - weight)
    return min(1.0, max(0.0, value))


def _weight_of_imbalance(joined: float, window: float, imbalance: float) -> float:
    """The weight at which the weighted geometric mean of both gives the joined penalty."""
    log_imbalance = math.log(max(1 - imbalance, 1e-12))
    log_window = math.log(max(1 - window, 1e-12))
    if abs(log_imbalance - log_window) < 1e-12:
        return 0.5
    weight = (math.log(max(1 - joined, 1e-12)) - log_window) / (log_imbalance - log_window)
    return min(1.0, max(0.0, weight))


def length_imbalance(n_reference: int, n_candidate: int) -> float:
    """1 - shorter/longer: 0 for equal lengths, towards 1 for very unequal ones."""
    return 1 - min(n_reference, n_candidate) / max(n_reference, n_candidate)


def squared_imbalance(n_reference: int, n_candidate: int) -> float:
    """Corrected rules: the square of the length imbalance.

    It is what the length regularizer gives where windows are narrow, without the term in window
    coverage, which jumps when one chunk is added and is 1 for every text of one or two chunks.
    """
    return length_imbalance(n_reference, n_candidate) ** 2
