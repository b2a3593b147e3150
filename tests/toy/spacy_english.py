"""The shipped parser as a spaCy pipeline: spaCy's tokenizer, and what the network says of its tokens."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from spacy.lang.en import English
from spacy.language import Language
from spacy.tokens import Doc

from beholder.language import model
from beholder.language.network import Network


class _Annotator:
    def __init__(self, nlp: Language) -> None:
        self._network = network = Network(model.FILE)
        names = (*network.tags, *network.parts, *network.relations, "ROOT")
        self._ids = {name: nlp.vocab.strings.add(name) for name in names}
        self._ids["root"] = self._ids["ROOT"]

    def __call__(self, doc: Doc) -> Doc:
        read = self._network.read([token.text for token in doc])
        rows = np.empty((len(doc), 4), dtype=np.uint64)
        for place, names in enumerate((read.tags, read.parts, read.relations)):
            rows[:, place] = [self._ids[name] for name in names]
        rows[:, 3] = (read.heads - np.arange(len(doc))).astype(np.uint64)
        return doc.from_array(["TAG", "POS", "DEP", "HEAD"], cast(Any, rows))


Language.factory("shipped_parser", func=lambda nlp, name: _Annotator(nlp))
Language.factory("shipped_tagger", func=lambda nlp, name: lambda doc: doc)


def pipeline() -> Language:
    """A pipeline with a tagger and a parser."""
    nlp = English()
    nlp.add_pipe("shipped_tagger", name="tagger")
    nlp.add_pipe("shipped_parser", name="parser")
    return nlp
