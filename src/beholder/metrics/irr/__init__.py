"""Ranking of several texts about one image: by perplexity, by asking, by any metric; the protocol.

Source: Hayashi et al., "IRR: Image Review Ranking Framework for Evaluating Vision-Language Models".
"""

from beholder.metrics.irr.perplexity import Perplexity
from beholder.metrics.irr.protocol import (
    AnnotatorPair,
    best_pairs,
    correlation_with_pairs,
    ranks_of,
)
from beholder.metrics.irr.response import Response
from beholder.metrics.irr.scored import Scored
from beholder.metrics.irr.tables import RankedImage, study_tables

__all__ = [
    "AnnotatorPair",
    "Perplexity",
    "RankedImage",
    "Response",
    "Scored",
    "best_pairs",
    "correlation_with_pairs",
    "ranks_of",
    "study_tables",
]
