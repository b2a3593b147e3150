"""Which mentions mean the same thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from beholder.language.document import Document
from beholder.language.phrases import Phrases
from beholder.records import Span

Coref: TypeAlias = "str | Callable[[str], Sequence[Sequence[Span]]]"


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


def resolve(document: Document, phrases: Phrases, coref: Coref = "builtin") -> Links:
    return Links()
