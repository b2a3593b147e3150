"""The doors of the package: each does one of the five systems' work in one call.

All take the same keyword options (``beholder.options.Options``), write a run directory that can be
gone on with, and give it back as a ``Run``.
"""

from beholder.api.agree import agree
from beholder.api.bidirectional import bidirectional
from beholder.api.rank import rank
from beholder.api.run import RankingRun, Run
from beholder.api.score import configure, score

__all__ = ["RankingRun", "Run", "agree", "bidirectional", "configure", "rank", "score"]
