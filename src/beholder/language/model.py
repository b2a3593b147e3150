"""The shipped model as a spaCy pipeline: spaCy's tokenizer for English, and the network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from beholder.language.network import Network

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from thinc.types import Ints2d

FILE = Path(__file__).with_name("english.safetensors")
"""The weights; ``english.md`` beside them is their card."""
COMPONENT = "beholder_parser"


def load(path: Path = FILE) -> Language:
    """The shipped pipeline: every word has its tags, its head and its relation.

    Args:
        path: Other weights of the same network.
    """
    from spacy.lang.en import English
    from spacy.language import Language

    Language.factory(COMPONENT, func=lambda nlp, name, path: Annotator(nlp, Path(path)))
    nlp = English()
    nlp.add_pipe(COMPONENT, config={"path": str(path)})
    return nlp


class Annotator:
    """The component that writes what the network says into spaCy's documents."""

    def __init__(self, nlp: Language, path: Path) -> None:
        self._network = Network(path)
        # The strings belong to the vocabulary for good, not to the texts of one window.
        self._ids = {
            name: nlp.vocab.strings.add(name)
            for name in (
                *self._network.tags,
                *self._network.parts,
                *self._network.relations,
                "ROOT",
            )
        }
        self._ids["root"] = self._ids["ROOT"]  # as spaCy writes it

    def __call__(self, doc: Doc) -> Doc:
        """The document with the tags, heads and relations of its words."""
        read = self._network.read([token.text for token in doc])
        rows = np.empty((len(doc), 4), dtype=np.uint64)
        rows[:, 0] = [self._ids[tag] for tag in read.tags]
        rows[:, 1] = [self._ids[part] for part in read.parts]
        rows[:, 2] = [self._ids[relation] for relation in read.relations]
        rows[:, 3] = (read.heads - np.arange(len(doc))).astype(np.uint64)
        return doc.from_array(["TAG", "POS", "DEP", "HEAD"], cast("Ints2d", rows))

    def pipe(self, docs: Iterable[Doc], *, batch_size: int) -> Iterator[Doc]:
        """Each document as it comes; the network gains nothing from many."""
        return map(self, docs)
