"""Ranking of several texts about one image: by perplexity, by asking, by any metric; the protocol.

Source: Hayashi et al., "IRR: Image Review Ranking Framework for Evaluating Vision-Language Models".
"""

from beholder.metrics.judged.perplexity import Perplexity
from beholder.stats.annotator_pairs import AnnotatorPair, best_pair, correlation_with_pair, ranks_of
from beholder.kinds.ranking.response import Response
from beholder.kinds.ranking.scored import Scored
from beholder.kinds.ranking.study import RankedImage, study_tables

__all__ = [
    "AnnotatorPair",
    "Perplexity",
    "RankedImage",
    "Response",
    "Scored",
    "best_pair",
    "correlation_with_pair",
    "ranks_of",
    "study_tables",
]
