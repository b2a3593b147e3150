"""From a similarity matrix to the values of VCS, under one of its rule sets. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from beholder.base.ranges import check_number
from beholder.embed.base import FloatArray
from beholder.errors import ConfigError, ItemError
from beholder.metrics.base import f1
from beholder.metrics.vcs import order


def semantic(global_alignment: float, local_alignment: float) -> float:
    """Return SAS: global alignment scaled by local alignment, ``(GAS - (1 - LAS)) / LAS``.

    0 when LAS or the numerator is not positive.
    """
    numerator = global_alignment - (1 - local_alignment)
    return (
        numerator / local_alignment
        if local_alignment > 0 and numerator > 0
        else 0.0
    )


def comprehension(
    semantic_alignment: float, narrative_alignment: float
) -> float:
    """Return VCS: ``(SAS + NAS - 1) / max(SAS, NAS)``; 0 when the numerator is not positive.

    So it is above 0 only if SAS + NAS > 1.
    """
    s, n = semantic_alignment, narrative_alignment
    # Both cases are one formula, with the larger of the two as denominator.
    numerator, denominator = (s - (1 - n), n) if s < n else (n - (1 - s), s)
    return (
        numerator / denominator if numerator > 0 and denominator != 0 else 0.0
    )


def clip(value: float) -> float:
    """Return the value limited to 0..1."""
    return min(1.0, max(0.0, value))


def best_reference(
    values: Sequence[Mapping[str, float]], texts: Sequence[str]
) -> int:
    """Return the index of the reference with the highest VCS, in any order of the references.

    Of several with the same VCS, the one with the highest SAS, then GAS, LAS and NAS, then the rest
    of the values in their order; if all values are the same, the first text in code points.

    Args:
        values: All values of the candidate against each reference.
        texts: The references.
    """

    def key(place: int) -> tuple[list[float], str]:
        reference_values = values[place]
        first = [
            reference_values[name]
            for name in ("vcs", "sas", "gas", "las", "nas")
        ]
        return [
            -value for value in (*first, *reference_values.values())
        ], texts[place]

    return min(range(len(values)), key=key)


def mean_values(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each value over the references, exact to the last digit in any order."""
    return {
        name: math.fsum(reference_values[name] for reference_values in values)
        / len(values)
        for name in values[0]
    }


Rules: TypeAlias = Literal["fixed", "paper", "package", "head"]


_BOUNDS: Mapping[str, dict[str, Any]] = {
    "lct": {"low": 0},
    "context_cutoff": {"low": 0, "high": 1},
    "context_window_control": {"low": 0, "above": True},
    "nas_blend_factor": {"low": -1, "high": 1},
    "nas_coverage_cutoff": {"low": 0, "high": 1, "above": True},
}
"""Range of each number, as ``check_number`` takes it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Parameters of scoring, under the names the metrics give them; checked when made.

    Attributes:
        rules: Rule set: ``fixed``, ``paper``, ``package`` (1.0.0) or ``head`` (of its repository).
        lct: Local chronology tolerance in window units, 0 or more; 0 is strict.
        context_cutoff: Best similarity, 0..1, from which near-best matches are considered.
        context_window_control: Above 0; larger leaves fewer near-best matches.
        nas_blend_factor: -1..1, of the head rules alone.
        nas_coverage_cutoff: Above 0 and up to 1, of the head rules alone.
    """

    rules: Rules = "fixed"
    lct: float = 0
    context_cutoff: float = 0.6
    context_window_control: float = 4.0
    nas_blend_factor: float = 0.0
    nas_coverage_cutoff: float = 0.5

    def __post_init__(self) -> None:
        for name, bounds in _BOUNDS.items():
            value = getattr(self, name)
            check_number(name, value, **bounds)
            of_head = name.startswith("nas_") and self.rules != "head"
            # The class has the defaults.
            if (
                of_head
                and value != type(self).__dataclass_fields__[name].default
            ):
                raise ConfigError(
                    f"{name}={value!r} has no effect under rules={self.rules!r}: leave it out, or"
                    " set rules='head'"
                )


@dataclass(frozen=True, slots=True)
class Direction:
    """The matches of one direction with their windows.

    Attributes:
        windows: Mapping windows, one per source chunk.
        matches: Target position of each source chunk's match, (n_source,).
        similarities: Similarity of each match, (n_source,).
    """

    windows: order.Windows
    matches: order.IntArray
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
    if np.count_nonzero(np.isfinite(similarity)) < similarity.size:
        row, column = np.argwhere(~np.isfinite(similarity))[0]
        raise ItemError(
            f"the similarity of reference chunk {row} and candidate chunk {column} is "
            f"{similarity[row, column]}: check the embeddings for NaN and infinite values"
        )
    # Both directions match within windows of their own.
    precision, recall = order.mapping_windows(
        n_reference, n_candidate, exact=setting.rules == "fixed"
    )
    forward, backward = order.best_matches(
        similarity,
        precision,
        recall,
        setting.context_cutoff,
        setting.context_window_control,
    )
    return ChunkAlignment(
        similarity,
        Direction(precision, forward, similarity[forward, precision.index]),
        Direction(recall, backward, similarity[recall.index, backward]),
    )


def cosine(a: FloatArray, b: FloatArray) -> float:
    """Return GAS, the cosine of whole texts; norms below 1e-8 count as 1e-8, so zero gives 0.

    Raises:
        ItemError: It is not finite.
    """
    a, b = a.astype(np.float64), b.astype(np.float64)
    norm_a, norm_b = (
        math.sqrt(np.add.reduce(a * a)),
        math.sqrt(np.add.reduce(b * b)),
    )
    gas = float(np.add.reduce(a * b)) / (max(norm_a, 1e-8) * max(norm_b, 1e-8))
    if not math.isfinite(gas):
        raise ItemError(
            f"the cosine of the whole texts is {gas}: "
            "check the embeddings for NaN and infinite values"
        )
    return gas


def vcs_values(
    alignment: ChunkAlignment, gas: float, setting: Setting
) -> dict[str, float]:
    """Return all values of VCS by name, headline first.

    Args:
        alignment: Matches of both directions.
        gas: Cosine of the whole texts.
        setting: Parameters.
    """
    # Published rules leave values outside 0..1 as they are.
    bounded = clip if setting.rules == "fixed" else float
    n_reference, n_candidate = alignment.similarity.shape
    gas = bounded(gas)
    las_precision = bounded(_mean(alignment.precision.similarities))
    las_recall = bounded(_mean(alignment.recall.similarities))
    las = local(las_precision, las_recall, setting)
    d_precision, l_precision = narrative(alignment.precision, setting)
    d_recall, l_recall = narrative(alignment.recall, setting)
    nas_d, nas_l = f1(d_precision, d_recall), f1(l_precision, l_recall)
    nas_f1 = f1(nas_d, nas_l)
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
    """Return LAS, the harmonic mean; the paper makes it 0 unless the two sum to more than 0."""
    if setting.rules == "paper" and precision + recall <= 0:
        return 0.0
    return f1(precision, recall)


def _mean(similarities: FloatArray) -> float:
    return float(np.add.reduce(similarities)) / len(similarities)


def narrative(direction: Direction, setting: Setting) -> tuple[float, float]:
    """Return NAS-D and NAS-L of one direction."""
    windows, matches = direction.windows, direction.matches
    penalties: npt.NDArray[np.number]
    if setting.rules == "fixed":
        # The corrected rules apply the tolerance to the matches, the published
        # ones to each score.
        pulled = order.pull_to_windows(matches, windows, setting.lct)
        penalties = order.corrected_penalties(pulled, windows)
        nas_l = order.corrected_line(pulled, windows, setting.lct)
    else:
        penalties = order.published_penalties(matches, windows, setting.lct)
        nas_l = order.published_line(matches, windows, setting.lct)
    nas_d = order.distance_score(penalties, windows, if_no_penalty(setting))
    return nas_d, nas_l


def if_no_penalty(setting: Setting) -> float:
    """Return NAS-D of a text for which no penalty is possible."""
    return 0.0 if setting.rules in ("package", "head") else 1.0


def regularizer_of(
    n_reference: int, n_candidate: int, setting: Setting
) -> float:
    """Return the regularizer of the rule set."""
    if setting.rules == "fixed":
        return squared_imbalance(n_reference, n_candidate)
    if setting.rules == "head":
        return length_regularizer(
            n_reference,
            n_candidate,
            setting.nas_blend_factor,
            setting.nas_coverage_cutoff,
        )
    undefined = 0.0 if setting.rules == "paper" else 1.0
    return window_regularizer(n_reference, n_candidate, undefined)


def regularize(nas_f1: float, regularizer: float) -> float:
    """Return NAS: the narrative score with the regularizer taken off."""
    return (
        (nas_f1 - regularizer) / (1 - regularizer)
        if nas_f1 > regularizer
        else 0.0
    )


def _coverage(n_reference: int, n_candidate: int) -> tuple[float, float]:
    """Return the share of the timeline in the direct windows, and the least share possible."""
    longer, shorter = (
        max(n_reference, n_candidate),
        min(n_reference, n_candidate),
    )
    # Each of the shorter side's windows is the ratio of lengths high, rounded
    # up.
    area = shorter * -(-longer // shorter)
    return area / (n_reference * n_candidate), 1 / longer


def window_regularizer(
    n_reference: int, n_candidate: int, undefined: float
) -> float:
    """Return the rise of window coverage from its least towards one half (paper, package 1.0.0).

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


def length_regularizer(
    n_reference: int, n_candidate: int, blend: float, cutoff: float
) -> float:
    """Return a blend of window coverage and length imbalance (head of the repository).

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
    # The larger of both counts in full, the smaller one for what is left.
    high, low = max(window, imbalance), min(window, imbalance)
    joined = high * high + low * (1 - high)
    if joined >= 1 - 1e-12:
        return 1.0
    weight = _weight_of_imbalance(joined, window, imbalance)
    weight = (
        (1 - blend) * weight if blend >= 0 else weight + (1 - weight) * -blend
    )
    value: float = 1 - (1 - imbalance) ** weight * (1 - window) ** (1 - weight)
    return min(1.0, max(0.0, value))


def _weight_of_imbalance(
    joined: float, window: float, imbalance: float
) -> float:
    """Return the weight at which the weighted geometric mean of both is the joined penalty."""
    log_imbalance = math.log(max(1 - imbalance, 1e-12))
    log_window = math.log(max(1 - window, 1e-12))
    # Equal penalties are their own mean at any weight.
    if abs(log_imbalance - log_window) < 1e-12:
        return 0.5
    weight = (math.log(max(1 - joined, 1e-12)) - log_window) / (
        log_imbalance - log_window
    )
    return min(1.0, max(0.0, weight))


def length_imbalance(n_reference: int, n_candidate: int) -> float:
    """Return 1 - shorter/longer: 0 for equal lengths, towards 1 for very unequal ones."""
    return 1 - min(n_reference, n_candidate) / max(n_reference, n_candidate)


def squared_imbalance(n_reference: int, n_candidate: int) -> float:
    """Return the square of the length imbalance (corrected rules).

    It equals the length regularizer where windows are narrow, without the term in window
    coverage, which jumps when one chunk is added and is 1 for every text of one or two chunks.
    """
    return length_imbalance(n_reference, n_candidate) ** 2
