"""Facts that hold for every pair of texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder import VCS
from beholder.metrics.vcs.scoring import squared_imbalance

sizes = st.integers(1, 12)
seeds = st.integers(0, 2**32 - 1)
lcts = st.sampled_from([0, 0.5, 1, 2, 7])
unhurried = settings(deadline=None)
rule_sets = st.sampled_from(["fixed", "paper", "package", "head"])


def text(rng: np.random.Generator, n: int, dim: int = 6) -> np.ndarray:
    """Chunks of few topics, so that ties, close matches and opposites all occur."""
    topics = rng.normal(size=(4, dim))
    noise = rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=(n, dim))
    return np.asarray(topics[rng.integers(4, size=n)] + noise)


def unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(
        vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    )


@unhurried
@given(sizes, sizes, seeds, lcts, st.floats(0.01, 100))
def test_every_value_of_the_default_rules_is_within_zero_and_one(
    n_reference: int, n_candidate: int, seed: int, lct: float, length: float
) -> None:
    rng = np.random.default_rng(seed)
    reference, candidate = (
        text(rng, n_reference) * length,
        text(rng, n_candidate),
    )
    values = (
        VCS(lct=lct)
        .score_embeddings(reference, candidate, reference[0], candidate[0])
        .values
    )
    assert all(0 <= value <= 1 for value in values.values()), values


@unhurried
@given(sizes, seeds, lcts)
def test_a_text_against_itself_scores_one(
    n: int, seed: int, lct: float
) -> None:
    rng = np.random.default_rng(seed)
    chunks = unit(text(rng, n))
    whole = unit(chunks.sum(axis=0))
    values = VCS(lct=lct).score_embeddings(chunks, chunks, whole, whole).values
    assert values["vcs"] == pytest.approx(1, abs=1e-12)
    assert values["nas"] == 1


@unhurried
@given(sizes, sizes, seeds, lcts, rule_sets)
def test_swapping_the_texts_swaps_precision_and_recall(
    n_reference: int, n_candidate: int, seed: int, lct: float, rules: str
) -> None:
    rng = np.random.default_rng(seed)
    reference, candidate = (
        unit(text(rng, n_reference)),
        unit(text(rng, n_candidate)),
    )
    metric = VCS(rules=rules, lct=lct)  # type: ignore[arg-type]
    forward = metric.score_embeddings(
        reference, candidate, reference[0], candidate[0]
    ).values
    backward = metric.score_embeddings(
        candidate, reference, candidate[0], reference[0]
    ).values
    for name, value in forward.items():
        swapped = {"precision": "recall", "recall": "precision"}
        stem, _, side = name.rpartition("_")
        partner = f"{stem}_{swapped[side]}" if side in swapped else name
        assert backward[partner] == pytest.approx(value, abs=1e-9), name


@unhurried
@given(sizes, sizes, seeds, rule_sets)
def test_turning_the_space_of_vectors_changes_nothing(
    n_reference: int, n_candidate: int, seed: int, rules: str
) -> None:
    rng = np.random.default_rng(seed)
    reference, candidate = text(rng, n_reference), text(rng, n_candidate)
    order = rng.permutation(reference.shape[1])
    # Whole numbers, so that the dot products are exact in any order of the dimensions.
    reference, candidate = np.rint(8 * reference), np.rint(8 * candidate)
    metric = VCS(rules=rules)  # type: ignore[arg-type]
    forward = metric.score_embeddings(
        reference, candidate, reference[0], candidate[0]
    ).values
    turned = metric.score_embeddings(
        reference[:, order],
        candidate[:, order],
        reference[0, order],
        candidate[0, order],
    ).values
    assert forward == turned


@unhurried
@given(sizes, sizes, seeds)
@pytest.mark.slow
def test_more_tolerance_never_lowers_the_distance_score(
    n_reference: int, n_candidate: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    reference, candidate = (
        unit(text(rng, n_reference)),
        unit(text(rng, n_candidate)),
    )
    scores = [
        VCS(lct=lct)
        .score_embeddings(reference, candidate, reference[0], candidate[0])
        .values
        for lct in (0, 0.5, 1, 2, 4)
    ]
    distances = [values["nas_d"] for values in scores]
    assert distances == sorted(distances)


@settings(deadline=None, max_examples=300)
@given(st.integers(1, 400), st.integers(1, 400))
def test_regularizer_grows_with_imbalance_and_never_reaches_one(
    n: int, more: int
) -> None:
    assert squared_imbalance(n, n) == 0
    assert (
        squared_imbalance(n, n + more) < squared_imbalance(n, n + more + 1) < 1
    )
    assert squared_imbalance(n + 1, n + 1 + more) < squared_imbalance(
        n, n + 1 + more
    )


@unhurried
@given(st.integers(3, 15), seeds)
def test_only_the_order_scores_see_a_shuffle(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    reference = np.eye(n)
    shuffled = reference[rng.permutation(n)]
    whole = np.ones(2)
    strict = VCS(lct=0)
    straight = strict.score_embeddings(
        reference, reference, whole, whole
    ).values
    mixed = strict.score_embeddings(reference, shuffled, whole, whole).values
    assert mixed["las"] == straight["las"]
    assert mixed["gas"] == straight["gas"]
    moved = not np.array_equal(reference, shuffled)
    assert (mixed["nas_d"] < 1) == moved
    assert (mixed["nas_l"] < 1) == moved
