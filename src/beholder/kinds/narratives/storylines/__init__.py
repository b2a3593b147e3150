"""Sequences of pictures: extract storylines from a collection, measure and judge them.

Extraction and coherence are pure functions of vectors in time order. Names load on use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beholder.optional import loader

if TYPE_CHECKING:
    from beholder.kinds.narratives.storylines.extract import random_storyline as random_storyline
    from beholder.kinds.narratives.storylines.maps import narrative_map as narrative_map
    from beholder.kinds.narratives.storylines.paths import StorylinePath as StorylinePath
    from beholder.kinds.narratives.storylines.space import Space as Space
    from beholder.kinds.narratives.storylines.strength import Coherence as Coherence
    from beholder.kinds.narratives.storylines.strength import coherence as coherence
    from beholder.kinds.narratives.storylines.timeline import Chronology as Chronology
    from beholder.kinds.narratives.storylines.timeline import chronology as chronology
    from beholder.kinds.narratives.storylines.topics import Topics as Topics
    from beholder.kinds.narratives.storylines.topics import spread_dates as spread_dates
    from beholder.kinds.narratives.storylines.topics import spread_labels as spread_labels
    from beholder.kinds.narratives.storylines.topics import topic_clusters as topic_clusters
    from beholder.kinds.narratives.storylines.trails import trail as trail
    from beholder.kinds.narratives.storylines.warping import WarpedAlignment as WarpedAlignment
    from beholder.kinds.narratives.storylines.warping import dtw as dtw
    from beholder.kinds.narratives.storylines.widest import maxmin as maxmin

# The imports above give types; names load from this table.
_HOME = {
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
}
_MODULE_OF = {
    name: f"{__name__}.{module}" for module, names in _HOME.items() for name in names.split()
}

__all__ = [*_MODULE_OF]

__getattr__ = loader(__name__, _MODULE_OF)


def __dir__() -> list[str]:
    return sorted(__all__)
