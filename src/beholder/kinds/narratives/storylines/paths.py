"""Paths through a collection: what an extraction finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.errors import ConfigError
from beholder.kinds.narratives.storylines.space import Space


@dataclass(frozen=True, slots=True)
class StorylinePath:
    """A path through a collection.

    Attributes:
        positions: Places in the collection, in the order of the story.
        steps: Theta of each picture with the next.
        method: How it was extracted.
        warnings: What to know before using it.
    """

    positions: tuple[int, ...]
    steps: tuple[float, ...]
    method: str
    warnings: tuple[str, ...] = ()

    @property
    def weakest(self) -> float:
        """The smallest step; 1 for a single picture."""
        return min(self.steps, default=1.0)

    @property
    def mean(self) -> float:
        """Mean of the steps; 1 for a single picture."""
        return sum(self.steps) / len(self.steps) if self.steps else 1.0


def path_through(
    space: Space, positions: Sequence[int], method: str, warnings: tuple[str, ...] = ()
) -> StorylinePath:
    """The path through some positions, with its steps on the scale of the space."""
    order = tuple(int(position) for position in positions)
    steps = tuple(float(step) for step in space.steps(order))
    return StorylinePath(order, steps, method, warnings)


def ends(space: Space, source: int | None, target: int | None) -> tuple[int, int]:
    """First and last position that a path may use.

    Raises:
        ConfigError: A position is outside the collection, or the target is not after the source.
    """
    first = 0 if source is None else source
    last = len(space) - 1 if target is None else target
    for name, position in (("source", first), ("target", last)):
        if not 0 <= position < len(space):
            raise ConfigError(f"{name}: position {position} is outside 0..{len(space) - 1}")
    if first >= last:
        raise ConfigError(
            f"the source (position {first}) must stand before the target ({last}) in time"
        )
    return first, last
