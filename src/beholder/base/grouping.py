"""Values by what they have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def group_by_key(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The values of each key; keys and values are in the order of the pairs."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
