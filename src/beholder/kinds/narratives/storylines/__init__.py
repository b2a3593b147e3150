"""Sequences of pictures: extract storylines from a collection, measure and judge them.

Extraction and coherence are pure functions of vectors in time order. Names load on use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
