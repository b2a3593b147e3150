"""Spread labels and dates, clusters, and the order of time they give."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from beholder.base.dates import PartialDate
from beholder.errors import ConfigError
from beholder.kinds.narratives.storylines import (
    Space,
    chronology,
    coherence,
    maxmin,
    spread_dates,
    spread_labels,
    topic_clusters,
)
from beholder.kinds.narratives.storylines.space import Floats
from beholder.kinds.narratives.storylines.topics import topics_by, umap_vectors
from beholder.records import Frame

pytest.importorskip("sklearn")


def _arc(degrees: list[float]) -> Floats:
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _two_groups() -> Floats:
    return _arc([0, 1, 2, 3, 4, 5, 80, 81, 82, 83, 84, 85])


def test_labels_reach_their_own_group() -> None:
    labels = ["sea", *[None] * 10, "mine"]
    topics = spread_labels(_two_groups(), labels, n_neighbors=3)
    assert topics.names == ("mine", "sea")
    assert list(topics.assigned) == [1] * 6 + [0] * 6
    np.testing.assert_allclose(topics.memberships.sum(axis=1), 1.0)
    assert topics.notes == ()


def test_probabilities_are_kept_between_two_labels() -> None:
    topics = spread_labels(
        _arc([0, 20, 40]), ["a", None, "b"], kernel="rbf", gamma=5
    )
    assert topics.memberships[1] == pytest.approx(
        [0.5, 0.5], abs=1e-6
    )  # by symmetry
    assert topics.memberships[0, 0] > 0.5
    middle = coherence(_arc([0, 20, 40]), topics.memberships)
    assert 0 < middle.minimum < coherence(_arc([0, 20, 40])).minimum


def test_the_number_of_neighbours_has_an_effect() -> None:
    """Under the published kernel (rbf) it had none."""
    vectors = np.random.default_rng(0).normal(size=(40, 3))
    labels = ["a", "b", "c", *[None] * 37]
    few = spread_labels(vectors, labels, n_neighbors=2).memberships
    many = spread_labels(vectors, labels, n_neighbors=12).memberships
    assert abs(few - many).max() > 0.01


def test_pictures_that_no_label_reaches_belong_to_all_alike_and_are_counted() -> (
    None
):
    distant = _arc([0, 1, 2, 3, 180, 181, 182, 183])
    topics = spread_labels(
        distant, ["a", None, None, "b", *[None] * 4], n_neighbors=2
    )
    assert topics.memberships[5] == pytest.approx([0.5, 0.5])
    assert list(topics.assigned[4:]) == [-1] * 4
    assert topics.notes == (
        "no label reached 4 pictures; they belong to all topics alike",
    )


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", None], "one per picture"),
        (["a", None, "a"], "two different labels"),
    ],
)
def test_labels_that_cannot_be_spread_are_refused(
    labels: list[str | None], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        spread_labels(_arc([0, 1, 2]), labels)


def test_undated_pictures_stand_between_the_dates_around_them() -> None:
    dates = [PartialDate(1928, 3), None, PartialDate(1928, 5)]
    days = spread_dates(_arc([0, 20, 40]), dates, kernel="rbf", gamma=5)
    march, may = (
        dt.date(1928, m, 16).toordinal() for m in (3, 5)
    )  # middle of 31 days
    assert days[0] == march
    assert days[2] == may
    assert days[1] == pytest.approx((march + may) / 2, abs=1e-3)


def test_clusters_are_found_and_noise_has_none() -> None:
    rng = np.random.default_rng(0)
    groups = np.concatenate(
        [c + 0.02 * rng.normal(size=(20, 3)) for c in np.eye(3)]
    )
    topics = topic_clusters(np.vstack([groups, [[-1.0, -1.0, -1.0]]]))
    assert len(topics.names) == 3
    assert [len(set(topics.assigned[i : i + 20])) for i in (0, 20, 40)] == [
        1,
        1,
        1,
    ]
    assert topics.assigned[-1] == -1
    assert topics.notes == ("1 pictures are in no cluster",)
    assert (
        topics.memberships[:60].argmax(axis=1) == topics.assigned[:60]
    ).all()
    with pytest.raises(ConfigError, match="0 clusters were found"):
        topic_clusters(groups[:10])


def test_topics_steer_an_extraction() -> None:
    vectors = _two_groups()
    topics = topic_clusters(
        np.repeat(vectors, 3, axis=0) + 1e-3, min_cluster_size=5
    )
    space = Space.from_embeddings(
        np.repeat(vectors, 3, axis=0), topics.memberships
    )
    path = maxmin(space, 5, topics=topics.assigned, cover=2)
    assert {int(topics.assigned[i]) for i in path.positions} >= {0, 1}


def test_time_is_the_date_then_the_file() -> None:
    frames = [
        Frame("a", date=PartialDate(1928, 5)),
        Frame("b", date=PartialDate(1928, 3, 2)),
        Frame("c", date=PartialDate(1928, 5)),
    ]
    order = chronology(frames, np.eye(3))
    assert list(order.order) == [1, 0, 2]
    assert order.days is not None
    assert list(np.diff(order.days) >= 0) == [True, True]


def test_a_seed_shuffles_within_a_date_only() -> None:
    frames = [
        Frame(str(i), date=PartialDate(1928, 3 + i // 10)) for i in range(20)
    ]
    orders = [
        chronology(frames, np.eye(20), seed=seed).order for seed in (0, 1)
    ]
    assert list(orders[0]) != list(orders[1])
    for order in orders:
        assert set(order[:10]) == set(range(10))
    assert list(chronology(frames, np.eye(20), seed=0).order) == list(
        orders[0]
    )


def test_without_any_date_the_file_is_the_order_and_it_says_so() -> None:
    order = chronology([Frame("a"), Frame("b")], np.eye(2))
    assert list(order.order) == [0, 1]
    assert order.days is None
    assert "order of the file" in order.note


def test_partly_dated_collections_need_a_decision() -> None:
    frames = [
        Frame("a", date=PartialDate(1928, 3)),
        Frame("b"),
        Frame("c", date=PartialDate(1928, 5)),
    ]
    with pytest.raises(ConfigError, match="1 of 3 pictures have no date"):
        chronology(frames, _arc([0, 20, 40]))
    order = chronology(frames, _arc([0, 20, 40]), spread=True)
    assert list(order.order) == [0, 1, 2]
    assert "1 got dates by label spreading" in order.note


def test_umap_keeps_groups_apart_for_clusters() -> None:
    pytest.importorskip("umap")
    rng = np.random.default_rng(0)
    groups = np.concatenate(
        [c + 0.05 * rng.normal(size=(25, 3)) for c in np.eye(3)]
    )
    topics = topics_by(
        "clusters:umap", [Frame(str(i)) for i in range(75)], groups
    )
    assert [len(set(topics.assigned[i : i + 25])) for i in (0, 25, 50)] == [
        1,
        1,
        1,
    ]
    with pytest.raises(ConfigError, match="needs more pictures"):
        umap_vectors(groups[:10])


def test_an_unknown_form_of_topics_is_refused() -> None:
    with pytest.raises(
        ConfigError, match="'clusters:tsne': expected 'labels:NAME'"
    ):
        topics_by("clusters:tsne", [], [[1.0]])


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1])
def test_alpha_lies_between_0_and_1(alpha: float) -> None:
    with pytest.raises(ConfigError, match="alpha="):
        spread_labels(
            _two_groups(), ["sea", *[None] * 10, "mine"], alpha=alpha
        )
