"""The best tree over scores of heads (Chu and Liu 1965; Edmonds 1967)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def best_tree(scores: Floats) -> Ints:
    """The heads of the tree with the greatest sum of scores and exactly one root.

    Args:
        scores: (n, n), finite; of each word (row) to each word as its head, and on the diagonal of
            the word as root.

    Returns:
        (n,) the head of each word, its own place for the root.
    """
    n = len(scores)
    if n == 1:
        return np.zeros(1, dtype=np.int64)
    # One node more, the place above all: a word with it for head is the root.
    arcs = np.full((n + 1, n + 1), -np.inf)
    arcs[:n, :n] = scores
    roots = np.diagonal(arcs)[:n].copy()
    np.fill_diagonal(arcs, -np.inf)
    heads: Ints = arcs[:n, :n].argmax(axis=1)
    most = arcs[np.arange(n), heads]
    # No tree under a root is better than the root with the best heads of all others.
    root = int((roots - most).argmax())
    heads[root] = root
    if _cycle(heads, root) is None:
        return heads
    # A second root costs more than all other heads can gain.
    arcs[:n, n] = roots - (1.0 + n * float(np.ptp(scores)))
    heads = _arborescence(arcs, n)[:n]
    return np.where(heads == n, np.arange(n), heads)


def _arborescence(arcs: npt.NDArray[np.float64], root: int) -> Ints:
    """Heads of the best tree under a root; row: dependent, column: head."""
    heads: Ints = arcs.argmax(axis=1)
    heads[root] = root
    cycle = _cycle(heads, root)
    if cycle is None:
        return heads
    outside = np.delete(np.arange(len(arcs)), cycle)
    # The cycle becomes the last node: entered where that costs least, left from its best word.
    entering = arcs[cycle][:, outside] - arcs[cycle, heads[cycle]][:, None]
    leaving = arcs[outside][:, cycle]
    m = len(outside)
    smaller = np.full((m + 1, m + 1), -np.inf)
    smaller[:m, :m] = arcs[outside][:, outside]
    smaller[m, :m] = entering.max(axis=0)
    smaller[:m, m] = leaving.max(axis=1)
    found = _arborescence(smaller, int(np.searchsorted(outside, root)))
    for node, head, own in zip(outside.tolist(), found.tolist(), leaving, strict=False):
        heads[node] = outside[head] if head < m else cycle[own.argmax()]
    heads[root] = root
    heads[cycle[entering[:, found[m]].argmax()]] = outside[found[m]]
    return heads


def _cycle(heads: Ints, root: int) -> list[int] | None:
    """The nodes of some cycle, in order; the root, its own head, is none."""
    above = heads.tolist()
    seen = [-1] * len(above)
    seen[root] = len(above)
    for start in range(len(above)):
        node = start
        while seen[node] < 0:
            seen[node] = start
            node = above[node]
        if seen[node] == start:
            found = [node]
            while above[found[-1]] != node:
                found.append(above[found[-1]])
            return sorted(found)
    return None
