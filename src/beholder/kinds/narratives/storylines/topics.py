"""Topics of pictures: a few labels spread over a collection, or clusters found in it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from beholder.base.dates import PartialDate
from beholder.base.optional import require
from beholder.base.ranges import check_number
from beholder.errors import ConfigError
from beholder.kinds.narratives.storylines.space import Floats, Space
from beholder.records import Frame


@dataclass(frozen=True, eq=False)
class Topics:
    """Membership of each picture in each topic.

    Attributes:
        names: C topics.
        memberships: (n, C), rows that sum to 1; the ``distributions`` of coherence.
        assigned: (n,) index of each picture's topic; -1 where it has none.
        notes: Notes on the topics, such as how many pictures no label reached.
    """

    names: tuple[str, ...]
    memberships: Floats
    assigned: NDArray[np.intp]
    notes: tuple[str, ...] = ()


def spread_labels(
    embeddings: ArrayLike,
    labels: Sequence[str | None],
    *,
    kernel: Literal["knn", "rbf"] = "knn",
    n_neighbors: int = 7,
    gamma: float = 20.0,
    alpha: float = 0.2,
) -> Topics:
    """Spread the labels of a few pictures to all, by scikit-learn's LabelSpreading.

    The spread *probabilities* are kept as memberships, those of labelled pictures softened by
    ``alpha`` as well. A picture that no label reaches belongs to all topics alike and is counted.

    Args:
        embeddings: (n, D) vectors; only their directions count.
        labels: A label or None per picture; at least two different labels.
        kernel: ``knn``: a picture hears its ``n_neighbors`` nearest. ``rbf``: all, weighted by
            exp(-gamma * distance^2).
        n_neighbors: See ``kernel``; without effect under ``rbf``.
        gamma: See ``kernel``; without effect under ``knn``.
        alpha: 0..1, how much a labelled picture listens to its neighbours.

    Raises:
        ConfigError: Fewer than two labels, or an argument out of range.
        MissingExtraError: scikit-learn is not installed.
    """
    semi: Any = require(
        "sklearn.semi_supervised",
        extra="narratives",
        purpose="label spreading",
    )
    space = Space.from_embeddings(embeddings)
    names = tuple(sorted({label for label in labels if label is not None}))
    if len(labels) != len(space):
        raise ConfigError(
            f"labels: expected one per picture ({len(space)}), got {len(labels)}"
        )
    if len(names) < 2:
        raise ConfigError(
            f"label spreading needs at least two different labels, got {names}"
        )
    check_number("alpha", alpha, 0, 1, above=True, below=True)
    codes = np.array(
        [-1 if label is None else names.index(label) for label in labels]
    )
    model = semi.LabelSpreading(
        kernel=kernel,
        n_neighbors=min(n_neighbors, len(space) - 1),
        gamma=gamma,
        alpha=alpha,
        max_iter=1000,
        tol=1e-6,
    )
    with warnings.catch_warnings():
        # A picture without a labelled neighbour anywhere has 0 / 0 shares: distinguished below.
        warnings.simplefilter("ignore", RuntimeWarning)
        model.fit(space.vectors.astype(np.float64), codes)
    memberships = np.nan_to_num(
        np.asarray(model.label_distributions_, dtype=np.float64)
    )
    total = memberships.sum(axis=1, keepdims=True)
    # Rows without any share: no label reached these pictures.
    is_unreached = total[:, 0] <= 0
    memberships = np.where(total > 0, memberships, 1.0)
    memberships /= memberships.sum(axis=1, keepdims=True)
    assigned = np.where(is_unreached, -1, memberships.argmax(axis=1)).astype(
        np.intp
    )
    n_lost = int(is_unreached.sum())
    notes = (
        f"no label reached {n_lost} pictures; they belong to all topics alike",
    )
    return Topics(names, memberships, assigned, notes if n_lost else ())


def spread_dates(
    embeddings: ArrayLike, dates: Sequence[PartialDate | None], **options: Any
) -> Floats:
    """Return the day number of each picture, (n,): known days, the others by spread dates.

    A picture without a date gets the mean of the known dates under its spread probabilities, so
    that pictures between two dates stand between them, not all on one. A date known in part counts
    as the middle of the days it can mean.

    Args:
        embeddings: (n, D) vectors.
        dates: A date or None per picture; at least two different dates.
        options: As ``spread_labels`` takes them.

    Raises:
        ConfigError: Fewer than two different dates, or an argument out of range.
    """
    topics = spread_labels(
        embeddings, [None if d is None else str(d) for d in dates], **options
    )
    # Dates are spread as labels; the expected day under the memberships is the spread date.
    days = np.array([PartialDate.parse(name).middle for name in topics.names])
    expected = topics.memberships @ days
    days_of_dates = [None if d is None else d.middle for d in dates]
    return np.array(
        [
            e if k is None else k
            for e, k in zip(expected, days_of_dates, strict=True)
        ]
    )


def topics_by(
    spec: str, frames: Sequence[Frame], embeddings: ArrayLike
) -> Topics:
    """Find the topics of pictures by a spec.

    Args:
        spec: ``labels:NAME`` spreads the label of that name; ``clusters`` finds topics,
            ``clusters:umap`` after UMAP (extra ``umap``).
        frames: n pictures with their labels.
        embeddings: (n, D) their vectors.

    Raises:
        ConfigError: An unknown form, no picture with such a label, or as the functions say.
    """
    kind, _, name = spec.partition(":")
    if spec == "clusters":
        return topic_clusters(embeddings)
    if spec == "clusters:umap":
        return topic_clusters(umap_vectors(embeddings))
    if kind != "labels" or not name:
        raise ConfigError(
            f"topics {spec!r}: expected 'labels:NAME', 'clusters' or 'clusters:umap'"
        )
    labels = [frame.labels.get(name) for frame in frames]
    if not any(labels):
        names = sorted({key for frame in frames for key in frame.labels})
        raise ConfigError(
            f"topics {spec!r}: no picture has that label; there are: {', '.join(names) or 'none'}"
        )
    return spread_labels(embeddings, labels)


def topic_clusters(
    embeddings: ArrayLike, *, min_cluster_size: int = 8
) -> Topics:
    """Find topics as dense groups of pictures, by HDBSCAN of scikit-learn (excess of mass).

    Memberships go with one over the Euclidean distance to each cluster's centre (the mean of its
    unit vectors): HDBSCAN's own strengths are per point, not per cluster.

    Args:
        embeddings: (n, D) vectors; only their directions count.
        min_cluster_size: Pictures of the smallest group that counts as a topic.

    Raises:
        ConfigError: Fewer than two clusters are found.
        MissingExtraError: scikit-learn is not installed.
    """
    cluster: Any = require(
        "sklearn.cluster", extra="narratives", purpose="topic clusters"
    )
    vectors = Space.from_embeddings(embeddings).vectors.astype(np.float64)
    model = cluster.HDBSCAN(min_cluster_size=min_cluster_size, copy=True)
    assigned = np.asarray(model.fit(vectors).labels_, dtype=np.intp)
    n_topics = int(assigned.max()) + 1
    if n_topics < 2:
        raise ConfigError(
            f"min_cluster_size={min_cluster_size}: {n_topics} clusters were found among"
            f" {len(vectors)} pictures, topics need two; ask for smaller ones, or spread labels"
        )
    centres = np.stack(
        [vectors[assigned == c].mean(axis=0) for c in range(n_topics)]
    )
    # The floor keeps a picture at a centre from dividing by 0.
    closeness = 1.0 / np.maximum(cdist(vectors, centres), 1e-6)
    n_noise = int((assigned < 0).sum())
    return Topics(
        names=tuple(f"cluster {c + 1}" for c in range(n_topics)),
        memberships=closeness / closeness.sum(axis=1, keepdims=True),
        assigned=assigned,
        notes=(f"{n_noise} pictures are in no cluster",) if n_noise else (),
    )


UMAP_DIMENSIONS = 16


def umap_vectors(embeddings: ArrayLike) -> Floats:
    """Reduce vectors by UMAP (cosine, min_dist 0), centred, for clusters; never for theta.

    The result also depends on the version of umap-learn.

    Args:
        embeddings: (n, D) vectors; only their directions count.

    Returns:
        (n, 16), float64.

    Raises:
        ConfigError: Too few pictures.
        MissingExtraError: umap-learn is not installed.
    """
    umap: Any = require(
        "umap", extra="umap", purpose="dimension reduction by UMAP"
    )
    vectors = Space.from_embeddings(embeddings).vectors
    if len(vectors) <= UMAP_DIMENSIONS + 1:
        raise ConfigError(
            f"UMAP to {UMAP_DIMENSIONS} dimensions needs more pictures than that, got"
            f" {len(vectors)}; use clusters without it"
        )
    model = umap.UMAP(
        n_neighbors=min(15, len(vectors) - 1),
        n_components=UMAP_DIMENSIONS,
        min_dist=0.0,
        metric="cosine",
        random_state=42,
        n_jobs=1,
    )
    reduced = np.asarray(model.fit_transform(vectors), dtype=np.float64)
    centred: Floats = reduced - reduced.mean(axis=0)
    return centred
