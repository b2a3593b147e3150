"""Random chronological storylines: the baseline below which no extraction should fall."""

from __future__ import annotations

import numpy as np

from beholder.errors import ConfigError
from beholder.kinds.narratives.storylines.paths import StorylinePath, ends, path_through
from beholder.kinds.narratives.storylines.space import Space


def random_storyline(
    space: Space, k: int, *, source: int, target: int, rng: np.random.Generator
) -> StorylinePath:
    """Source, k - 2 different positions strictly between the ends, target; in order of time.

    Args:
        space: The collection in order of time.
        k: Pictures of the storyline, at least 2.
        source: Position of the first picture.
        target: Position of the last picture.
        rng: Draws the positions, each with the same chance.

    Raises:
        ConfigError: There are not enough pictures between the ends.
    """
    first, last = ends(space, source, target)
    between = np.arange(first + 1, last)
    if not 2 <= k <= len(between) + 2:
        raise ConfigError(
            f"k={k}: a storyline from position {first} to {last} has 2 to {len(between) + 2}"
            " pictures"
        )
    inner = np.sort(rng.choice(between, size=k - 2, replace=False))
    return path_through(space, [first, *inner, last], "random")
