"""What a path must remember on its way: topics covered, and pictures of other storylines used.

Both are one small automaton. A dynamic programme over (state, position) then stays exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import ConfigError

MAX_TOPICS = 10
"""Sets of topics double with each one."""


@dataclass(frozen=True, slots=True)
class States:
    """An automaton over positions.

    Attributes:
        start: (n,) state of a path that starts at a position; -1 forbids it.
        moves: (n_states, n) state after a step to a position; -1 forbids it.
        accepted: (n_states,) whether a path may end in a state.
    """

    start: NDArray[np.intp]
    moves: NDArray[np.intp]
    accepted: NDArray[np.bool_]


def states(
    n: int,
    topics: NDArray[np.intp] | None,
    cover: int,
    used: NDArray[np.bool_] | None,
    reuse: int,
) -> States:
    """Paths that visit at least ``cover`` topics and at most ``reuse`` used pictures.

    Args:
        n: Pictures.
        topics: (n,) topic 0..C-1 per picture, -1 for none; needed when ``cover`` is above 0.
        cover: Different topics to visit.
        used: (n,) pictures of other storylines, or None.
        reuse: How many of them may be used.

    Raises:
        ConfigError: More topics are asked for than there are, or too many are distinguished.
    """
    masks, into = _topic_moves(n, topics, cover)
    n_counts = 1 if used is None else reuse + 1
    taken = np.zeros(n, dtype=np.intp) if used is None else used.astype(np.intp)
    moves = np.empty((masks * n_counts, n), dtype=np.intp)
    for mask in range(masks):
        for count in range(n_counts):
            after = count + taken
            moves[mask * n_counts + count] = np.where(
                after < n_counts, into[mask] * n_counts + after, -1
            )
    sizes = np.array([mask.bit_count() for mask in range(masks)])
    return States(moves[0], moves, np.repeat(sizes >= cover, n_counts))


def _topic_moves(
    n: int, topics: NDArray[np.intp] | None, cover: int
) -> tuple[int, NDArray[np.intp]]:
    if cover == 0:
        return 1, np.zeros((1, n), dtype=np.intp)
    if topics is None:
        raise ConfigError(f"cover={cover} needs a topic for each picture")
    n_topics = int(topics.max()) + 1
    if cover > n_topics:
        raise ConfigError(f"cover={cover}: the collection has {n_topics} topics")
    if n_topics > MAX_TOPICS:
        raise ConfigError(
            f"cover={cover}: {n_topics} topics are too many to follow exactly (at most"
            f" {MAX_TOPICS}); make fewer, larger topics"
        )
    bits = np.where(topics >= 0, 1 << np.maximum(topics, 0), 0)
    return 1 << n_topics, np.arange(1 << n_topics)[:, None] | bits[None, :]
