from beholder.kinds.narratives.storylines.extract import (
    Chronology as Chronology,
)
from beholder.kinds.narratives.storylines.extract import (
    chronology as chronology,
)
from beholder.kinds.narratives.storylines.extract import (
    random_storyline as random_storyline,
)
from beholder.kinds.narratives.storylines.published import (
    narrative_map as narrative_map,
)
from beholder.kinds.narratives.storylines.published import trail as trail
from beholder.kinds.narratives.storylines.space import Space as Space
from beholder.kinds.narratives.storylines.space import (
    StorylinePath as StorylinePath,
)
from beholder.kinds.narratives.storylines.strength import (
    Coherence as Coherence,
)
from beholder.kinds.narratives.storylines.strength import (
    WarpedAlignment as WarpedAlignment,
)
from beholder.kinds.narratives.storylines.strength import (
    coherence as coherence,
)
from beholder.kinds.narratives.storylines.strength import dtw as dtw
from beholder.kinds.narratives.storylines.topics import Topics as Topics
from beholder.kinds.narratives.storylines.topics import (
    spread_dates as spread_dates,
)
from beholder.kinds.narratives.storylines.topics import (
    spread_labels as spread_labels,
)
from beholder.kinds.narratives.storylines.topics import (
    topic_clusters as topic_clusters,
)
from beholder.kinds.narratives.storylines.widest import maxmin as maxmin
