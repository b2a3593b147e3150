"""Links between mentions, and links made from the clusters of an outside coreference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from beholder.language.document import Document
from beholder.language.mentions import find_mentions
from beholder.language.phrases import Phrases
from beholder.optional import require
from beholder.records import Span

SpanClusters: TypeAlias = Sequence[Sequence[Span]]
Coref: TypeAlias = "str | Callable[[str], SpanClusters]"
"""``"builtin"``, ``"none"``, ``"fastcoref"``, or a function from a text to clusters of ranges."""


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


def fastcoref_clusters(text: str) -> SpanClusters:
    """The clusters that the package fastcoref finds.

    Raises:
        MissingExtraError: The package is not installed.
    """
    module = require("fastcoref", extra="coref", purpose="coref='fastcoref'")
    model = module.FCoref(enable_progress_bar=False)
    return model.predict([text])[0].get_clusters(as_strings=False)  # type: ignore[no-any-return]


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
