"""Sequences of pictures: extract storylines from a collection, measure and judge them.

Extraction and coherence are pure functions of vectors in time order. Names load on use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beholder.narratives.maps import narrative_map
    from beholder.narratives.paths import StorylinePath
    from beholder.narratives.sample import random_storyline
    from beholder.narratives.space import Space
    from beholder.narratives.strength import Coherence, coherence
    from beholder.narratives.timeline import Chronology, chronology
    from beholder.narratives.topics import Topics, spread_dates, spread_labels, topic_clusters
    from beholder.narratives.trails import trail
    from beholder.narratives.warping import WarpedAlignment, dtw
    from beholder.narratives.widest import maxmin

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

_HOME = {
    "timeline": ("Chronology", "chronology"),
    "strength": ("Coherence", "coherence"),
    "warping": ("WarpedAlignment", "dtw"),
    "maps": ("narrative_map",),
    "widest": ("maxmin",),
    "sample": ("random_storyline",),
    "space": ("Space",),
    "paths": ("StorylinePath",),
    "topics": ("Topics", "spread_dates", "spread_labels", "topic_clusters"),
    "trails": ("trail",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'beholder.narratives' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"beholder.narratives.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
