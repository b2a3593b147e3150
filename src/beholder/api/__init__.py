"""The doors of the package: each does one of the five systems' work in one call.

All take the same keyword options (``beholder.options.Options``), write a run directory that can be
gone on with, and give it back as a ``Run``.
"""

from beholder.kinds.agreement.door import agree
from beholder.kinds.bidirectional.door import bidirectional
from beholder.api.judging import judge
from beholder.kinds.ranking.door import rank
from beholder.api.run import NarrativesRun, RankingRun, Run
from beholder.kinds.scores.door import configure, score

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
