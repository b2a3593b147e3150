"""The shipped parser as a spaCy pipeline: what spaCy's scorer and its training examples take."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
from spacy.lang.en import English
from spacy.language import Language
from spacy.tokens import Doc

from beholder.language import model
from beholder.language.network import Network


class _Annotator:
    """The component that writes what the network says into spaCy's documents."""

    def __init__(self, nlp: Language, path: Path) -> None:
        self._network = network = Network(path)
        names = (*network.tags, *network.parts, *network.relations, "ROOT")
        self._ids = {name: nlp.vocab.strings.add(name) for name in names}
        self._ids["root"] = self._ids["ROOT"]  # as spaCy writes it

    def __call__(self, doc: Doc) -> Doc:
        parsed = self._network.tag_words([token.text for token in doc])
        rows = np.empty((len(doc), 4), dtype=np.uint64)
        for place, names in enumerate(
            (parsed.tags, parsed.parts, parsed.relations)
        ):
            rows[:, place] = [self._ids[name] for name in names]
        rows[:, 3] = (parsed.heads - np.arange(len(doc))).astype(np.uint64)
        return doc.from_array(["TAG", "POS", "DEP", "HEAD"], cast(Any, rows))


def load(path: Path = model.FOLDER) -> Language:
    """Return a pipeline with the network of a folder; its tagger does nothing, its parser all."""
    Language.factory(
        "tagger_of_beholder", func=lambda nlp, name: lambda doc: doc
    )
    Language.factory(
        "parser_of_beholder",
        func=lambda nlp, name, path: _Annotator(nlp, Path(path)),
    )
    nlp = English()
    nlp.add_pipe("tagger_of_beholder", name="tagger")
    nlp.add_pipe(
        "parser_of_beholder", name="parser", config={"path": str(path)}
    )
    return nlp
