"""Sequences of pictures: extract storylines from a collection, measure and judge them.

Extraction and coherence are pure functions of vectors in time order. Names load on use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beholder.optional import loader

if TYPE_CHECKING:
    from beholder.kinds.narratives.storylines.extract import random_storyline
    from beholder.kinds.narratives.storylines.maps import narrative_map
    from beholder.kinds.narratives.storylines.paths import StorylinePath
    from beholder.kinds.narratives.storylines.space import Space
    from beholder.kinds.narratives.storylines.strength import Coherence, coherence
    from beholder.kinds.narratives.storylines.timeline import Chronology, chronology
    from beholder.kinds.narratives.storylines.topics import (
        Topics,
        spread_dates,
        spread_labels,
        topic_clusters,
    )
    from beholder.kinds.narratives.storylines.trails import trail
    from beholder.kinds.narratives.storylines.warping import WarpedAlignment, dtw
    from beholder.kinds.narratives.storylines.widest import maxmin

__all__ = [
    "Chronology",
    "Coherence",
    "Space",
    "StorylinePath",
    "Topics",
    "WarpedAlignment",
    "chronology",
    "coherence",
    "dtw",
    "maxmin",
    "narrative_map",
    "random_storyline",
    "spread_dates",
    "spread_labels",
    "topic_clusters",
    "trail",
]

__getattr__ = loader(
    __name__,
    {
        "timeline": "Chronology chronology",
        "strength": "Coherence coherence",
        "warping": "WarpedAlignment dtw",
        "maps": "narrative_map",
        "widest": "maxmin",
        "extract": "random_storyline",
        "space": "Space",
        "paths": "StorylinePath",
        "topics": "Topics spread_dates spread_labels topic_clusters",
        "trails": "trail",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
