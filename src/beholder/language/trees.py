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
    arcs = scores.astype(np.float64)
    roots = np.diagonal(arcs).copy()
    np.fill_diagonal(arcs, -np.inf)
    heads: Ints = arcs.argmax(axis=1)
    most = arcs[np.arange(n), heads]
    # No tree under a root is better than the root with the best heads of all others.
    bounds = roots - most + most.sum()
    best = -np.inf
    found = heads
    for root in np.argsort(-bounds, kind="stable").tolist():
        if bounds[root] <= best:
            break
        tree = heads.copy()
        tree[root] = root
        if _cycle(tree, root) is not None:
            tree = _arborescence(arcs, root)
        others = np.arange(n) != root
        value = roots[root] + arcs[others, tree[others]].sum()
        if value > best:
            best, found = value, tree
    return found


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
