"""Links between mentions, and links made from the clusters of an outside coreference."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from beholder.language.document import Document
from beholder.language.mentions import find_mentions
from beholder.language.phrases import Phrases
from beholder.optional import require
from beholder.records import Span
from beholder.registry import Registry, origin

SpanClusters: TypeAlias = Sequence[Sequence[Span]]
Coref: TypeAlias = "str | Callable[[str], SpanClusters]"
"""``"builtin"``, ``"none"``, a name of ``COREFERENCES``, or a function from a text to clusters."""


class Coreference(ABC):
    """A coreference model that is known by a name; it is made once, without arguments."""

    @abstractmethod
    def clusters(self, text: str) -> SpanClusters:
        """For each thing, the ranges of characters that mean it."""


class FastCoref(Coreference):
    """The package fastcoref.

    Raises:
        MissingExtraError: The package is not installed.
    """

    def __init__(self) -> None:
        module = require("fastcoref", extra="coref", purpose="coref='fastcoref'")
        self._model = module.FCoref(enable_progress_bar=False)

    def clusters(self, text: str) -> SpanClusters:
        """See ``Coreference.clusters``."""
        return self._model.predict([text])[0].get_clusters(  # type: ignore[no-any-return]
            as_strings=False
        )


COREFERENCES: Registry[Coreference] = Registry(
    kind="coreference",
    base=Coreference,  # type: ignore[type-abstract]
    builtin={"fastcoref": "beholder.language.links:FastCoref"},
    group="beholder.coreferences",
)
"""Coreference models by name; those of outside packages are called ``package/name``."""


def coreference_identity(name: str) -> str:
    """A name of a coreference as signatures state it: with the distribution of an outside one.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name in ("builtin", "none"):
        return name
    found = origin(COREFERENCES.get(name))
    return name if found is None else f"{name}[{found.distribution}:{found.version}]"


@lru_cache(maxsize=4)
def named_coreference(name: str) -> Coreference:
    """The model of a name.

    Raises:
        MissingExtraError: A package is missing.
    """
    return COREFERENCES.build(name)


@dataclass(slots=True)
class Links:
    """What mentions mean, by word index.

    Attributes:
        same: A mention and the earlier mention or mentions that it repeats; several for a group
            ("a man and a woman ... they").
        member_of: A mention and the earlier one of which it is a part ("two women ... one").
    """

    same: dict[int, tuple[int, ...]] = field(default_factory=dict)
    member_of: dict[int, int] = field(default_factory=dict)


def links_from_spans(document: Document, phrases: Phrases, clusters: SpanClusters) -> Links:
    """Links from clusters of character ranges: each range means its topmost mention."""
    links = Links()
    mentions = find_mentions(document, phrases)
    for cluster in clusters:
        meant = []
        for start, end in sorted(cluster):
            inside = [m for m in mentions if m.word.start >= start and m.word.end <= end]
            tops = [m for m in inside if not start <= document.words[m.word.head].start < end]
            meant += (tops or inside)[:1]
        for mention in meant[1:]:
            if mention.word.index != meant[0].word.index:
                links.same[mention.word.index] = (meant[0].word.index,)
    return links
