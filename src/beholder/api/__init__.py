"""The doors of the package: each does one of the five systems' work in one call.

All take the same keyword options (``beholder.options.Options``), write a run directory that can be
gone on with, and give it back as a ``Run``.
"""

from beholder.api.agreement import agree
from beholder.api.directions import bidirectional
from beholder.api.judging import judge
from beholder.api.ranking import rank
from beholder.api.run import NarrativesRun, RankingRun, Run
from beholder.api.scoring import configure, score

__all__ = [
    "NarrativesRun",
    "RankingRun",
    "Run",
    "agree",
    "bidirectional",
    "configure",
    "judge",
    "rank",
    "score",
]
