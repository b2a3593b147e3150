"""Ranking of several texts about one image: by perplexity, by asking, by any metric; the protocol.

Source: Hayashi et al., "IRR: Image Review Ranking Framework for Evaluating Vision-Language Models".
"""

from beholder.metrics.irr.perplexity import Perplexity

__all__ = ["Perplexity"]
