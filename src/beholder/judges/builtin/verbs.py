"""How near the verbs of two texts are."""

from __future__ import annotations

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.exact import cosines
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.lexis import word_likeness
from beholder.judges.builtin.numbers import number

_EXCLUDED = number("evidence.excluded")


def verb_similarity(source: AnalysedText, target: AnalysedText) -> FloatArray:
    """(relations, relations), 0..1: by base forms, or by the forms in the texts where nearer.

    "Located" and "situated" share a sense and a context that "locate" and "situate" do not.
    """
    base = cosines(source.verb_vectors, target.verb_vectors)
    if not base.size:
        return base
    written = word_likeness(source.verbs_written, target.verbs_written, _EXCLUDED)
    return np.maximum(base, written)
