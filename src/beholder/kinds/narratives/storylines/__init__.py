"""Sequences of pictures: extract storylines from a collection, measure and judge them.

Extraction and coherence are pure functions of vectors in time order. Names load on use.
"""

from beholder.base.optional import offered

__getattr__, __dir__, __all__ = offered(__name__)
