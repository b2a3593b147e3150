"""Theta, coherence and DTW by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.kinds.narratives.storylines import Space, coherence, dtw
from beholder.kinds.narratives.storylines.strength import coherence_of
from toy.cases import each_case

TURN = [
    [1.0, 0.0],
    [0.0, 1.0],
    [0.0, -1.0],
    [0.0, -5.0],
]  # angles 90, 180, 0 degrees


def test_theta_is_the_root_of_the_angular_similarity() -> None:
    story = coherence(TURN)
    assert story.steps == pytest.approx((math.sqrt(0.5), 0.0, 1.0))
    assert (story.minimum, story.weakest) == (0.0, 1)
    assert story.mean == pytest.approx((math.sqrt(0.5) + 1.0) / 3)
    assert story.geometric_mean == 0.0


@pytest.mark.parametrize(
    ("jsd", "base", "topic"),
    [
        (
            "divergence",
            2.0,
            0.0,
        ),  # disjoint distributions: JSD is 1 bit, or ln 2
        ("distance", 2.0, 0.0),
        ("divergence", math.e, 1 - math.log(2)),
        ("distance", math.e, 1 - math.sqrt(math.log(2))),
        ("distance", "e", 1 - math.sqrt(math.log(2))),
    ],
)
def test_disjoint_topics_in_each_reading(
    jsd: Any, base: Any, topic: float
) -> None:
    story = coherence(
        [[1.0, 0.0]] * 2, [[1.0, 0.0], [0.0, 3.0]], jsd=jsd, base=base
    )
    assert story.minimum == pytest.approx(math.sqrt(topic), abs=1e-7)


def test_equal_vectors_are_exactly_coherent_even_in_long_sums() -> None:
    row = np.random.default_rng(0).normal(size=512).astype(np.float32)
    story = coherence([row, row * 3])
    assert story.minimum == pytest.approx(1.0, abs=1e-8)
    assert Space.from_embeddings([row, row]).theta()[0, 1] == pytest.approx(
        1.0, abs=1e-8
    )


def test_a_tiny_angle_keeps_its_digits() -> None:
    angle = 1e-6  # arccos of a cosine in double precision would be off by a hundredth of it
    space = Space.from_embeddings(
        [[1.0, 0.0], [math.cos(angle), math.sin(angle)]]
    )
    assert 1.0 - space.theta()[0, 1] ** 2 == pytest.approx(
        angle / math.pi, rel=1e-6
    )


def test_minmax_stretches_over_all_pairs_of_what_is_given() -> None:
    # S of the three pairs: 0.5 (90 degrees), 0.75 (45), 0.75 (45)
    story = coherence([[1, 0], [1, 1], [0, 1]], scale="minmax")
    assert story.steps == pytest.approx((1.0, 1.0))
    assert coherence([[1, 0], [0, 1], [1, 1]], scale="minmax").minimum == 0.0
    # S of all pairs is 0.5 (90 degrees) to 1 (0 degrees); that of the first step is 0.75
    collection = Space.from_embeddings(
        [[1, 0], [1, 1], [0, 1], [1, 0]], scale="minmax"
    )
    assert coherence_of(collection, [0, 1]).minimum == pytest.approx(
        math.sqrt(0.5)
    )


def test_the_range_over_blocks_is_the_range_over_all_pairs() -> None:
    vectors = np.random.default_rng(1).normal(
        size=(2049, 3)
    )  # three blocks, the last of one row
    low, high = Space.from_embeddings(vectors, scale="minmax").range
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = np.clip((unit @ unit.T)[np.triu_indices(2049, 1)], -1, 1)
    assert low == pytest.approx(
        1 - math.acos(cosine.min()) / math.pi, abs=1e-6
    )
    assert high == pytest.approx(
        1 - math.acos(cosine.max()) / math.pi, abs=1e-6
    )


def test_many_pairs_are_the_entries_of_the_matrix() -> None:
    rng = np.random.default_rng(2)
    space = Space.from_embeddings(
        rng.normal(size=(50, 4)), rng.random((50, 3))
    )
    i, j = rng.integers(0, 50, (2, 20_000))
    np.testing.assert_allclose(
        space.theta_of_pairs(i, j), space.theta()[i, j], atol=1e-9
    )


def test_the_scale_and_reading_are_in_the_signature() -> None:
    signature = coherence(
        [[1, 0], [0, 1], [1, 1]], jsd="distance", base=math.e, scale="minmax"
    )
    assert (
        signature.signature
        == "theta|jsd:distance|base:e|scale:minmax|topics:none"
    )
    assert (
        Space.from_embeddings(TURN, [[1, 1]] * 4).signature
        == "theta|jsd:divergence|base:2|scale:raw|topics:2"
    )


@each_case(
    ("arguments", "message"),
    [
        ({"embeddings": [[1.0, 0.0]]}, "at least two pictures"),
        ({"embeddings": [[1.0], [0.0]]}, "row 1 is all zero"),
        ({"embeddings": [[1.0], [math.nan]]}, "row 1 is not finite"),
        ({"embeddings": [1.0]}, "expected shape"),
        ({"embeddings": TURN, "distributions": [[1.0]]}, "expected 4 rows"),
        (
            {
                "embeddings": TURN,
                "distributions": [[1, 0], [0, 0], [1, 0], [1, 0]],
            },
            "row 1 is neg",
        ),
        (
            {"embeddings": TURN, "jsd": "js"},
            "expected 'divergence' or 'distance'",
        ),
        ({"embeddings": TURN, "scale": "max"}, "expected 'raw' or 'minmax'"),
        ({"embeddings": TURN, "base": 1}, "expected 2 or 'e'"),
        ({"embeddings": TURN, "base": "10"}, "expected 2 or 'e'"),
        (
            {"embeddings": [[1.0, 0], [1.0, 0]], "scale": "minmax"},
            "equally similar",
        ),
    ],
)
def test_unusable_numbers_are_refused_by_name(
    arguments: Any, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        coherence(**arguments)


def test_dtw_equals_the_distance_computed_by_hand() -> None:
    # costs |a - b|: rows 0, 2; columns 0, 1, 2 -> path (0,0) (0,1) (1,2), cost 0 + 1 + 0
    alignment = dtw([[0.0], [2.0]], [[0.0], [1.0], [2.0]])
    assert alignment.path in (
        ((0, 0), (0, 1), (1, 2)),
        ((0, 0), (1, 1), (1, 2)),
    )
    assert alignment.cost == pytest.approx(1.0)
    assert alignment.normalised == pytest.approx(1 / 3)


def test_dtw_of_a_sequence_with_itself_is_0_and_symmetric_otherwise() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(7, 4)), rng.normal(size=(12, 4))
    assert dtw(a, a).normalised == 0.0
    assert dtw(a, b).cost == pytest.approx(dtw(b, a).cost)


def test_dtw_agrees_with_the_textbook_recurrence() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(9, 3)), rng.normal(size=(5, 3))
    table = {(-1, -1): 0.0}
    for i in range(9):
        for j in range(5):
            before = [
                table.get(p, math.inf)
                for p in ((i - 1, j - 1), (i - 1, j), (i, j - 1))
            ]
            table[i, j] = float(np.linalg.norm(a[i] - b[j])) + min(before)
    assert dtw(a, b).cost == pytest.approx(table[8, 4])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([[1.0]], [[1.0, 2.0]]),
        (np.empty((0, 1)), [[1.0]]),
        ([[math.nan]], [[1.0]]),
    ],
)
def test_dtw_refuses_what_cannot_be_aligned(a: Any, b: Any) -> None:
    with pytest.raises(ConfigError, match="dtw"):
        dtw(a, b)
