"""The shipped model as a spaCy pipeline: spaCy's tokenizer for English, and the network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from beholder.language.network import Network

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from thinc.types import Ints2d

FILE = Path(__file__).with_name("english.safetensors")
"""The weights; ``english.md`` beside them is their card."""
COMPONENT = "beholder_parser"
NEAR_VERBS = "near verbs"
"""Where documents keep the first characters of the nouns that are nearly verbs."""
MARGINS = "margins"
"""Where a document has the network's margins."""

_RUN = 128
"""Signs in a row, without a space, from which they are cut; no text in a language has so many."""
_SIGNS = re.compile(rf"[^\w\s]{{{_RUN + 1},}}")
_ONE_TOKEN = re.compile(r"(\.+|-+)")  # a rule of dots or hyphens: one token, however long


def load(path: Path = FILE) -> Language:
    """The shipped pipeline: every word has its tags, its head and its relation.

    Args:
        path: Other weights of the same network.
    """
    from spacy.lang.en import English
    from spacy.language import Language

    Language.factory(COMPONENT, func=lambda nlp, name, path: Annotator(nlp, Path(path)))
    nlp = English()
    nlp.tokenizer = _Tokenizer(nlp.tokenizer)
    nlp.add_pipe(COMPONENT, config={"path": str(path)})
    return nlp


class _Tokenizer:
    """spaCy's tokenizer in linear time: a long run of signs is cut before it.

    It takes one sign after the other off a run, and looks at all the rest each time.
    """

    def __init__(self, whole: Any) -> None:
        self._whole = whole

    def __call__(self, text: str) -> Doc:
        parts = list(_parts(text))
        if len(parts) == 1:
            return cast("Doc", self._whole(text))
        tokens = [token for part in parts for token in self._whole(part)]
        words, spaces = [token.text for token in tokens], [bool(t.whitespace_) for t in tokens]
        return cast("Doc", type(tokens[0].doc)(self._whole.vocab, words=words, spaces=spaces))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)


def _parts(text: str) -> Iterator[str]:
    start = 0
    for run in _SIGNS.finditer(text):
        if _ONE_TOKEN.fullmatch(run[0]):
            continue
        for end in range(run.start() + _RUN, run.end(), _RUN):
            yield text[start:end]
            start = end
    yield text[start:]


class Annotator:
    """The component that writes what the network says into spaCy's documents."""

    def __init__(self, nlp: Language, path: Path) -> None:
        self._network = Network(path)
        # The strings belong to the vocabulary for good, not to the texts of one window.
        network = self._network
        names = (*network.tags, *network.parts, *network.relations, "ROOT")
        self._ids = {name: nlp.vocab.strings.add(name) for name in names}
        self._ids["root"] = self._ids["ROOT"]  # as spaCy writes it

    def __call__(self, doc: Doc) -> Doc:
        """The document with the tags, heads and relations of its words."""
        read = self._network.read([token.text for token in doc])
        rows = np.empty((len(doc), 4), dtype=np.uint64)
        for place, names in enumerate((read.tags, read.parts, read.relations)):
            rows[:, place] = [self._ids[name] for name in names]
        rows[:, 3] = (read.heads - np.arange(len(doc))).astype(np.uint64)
        doc.user_data[NEAR_VERBS] = {doc[int(i)].idx for i in read.near_verbs}
        doc.user_data[MARGINS] = read.margins
        return doc.from_array(["TAG", "POS", "DEP", "HEAD"], cast("Ints2d", rows))

    def pipe(self, docs: Iterable[Doc], *, batch_size: int) -> Iterator[Doc]:
        """Each document as it comes; the network gains nothing from many."""
        return map(self, docs)
