"""Texts as the built-in judge reads them, each read once for as long as it is in use."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.judges.builtin.view import View
from beholder.language.reading import KEPT, TextCache, english_graphs, read_english

_CLAIMS_KEPT = 2048


def _views(texts: Sequence[str]) -> list[View]:
    return [View(graph) for graph in english_graphs.of(texts)]


def _claim_views(texts: Sequence[str]) -> list[View]:
    return [View(graph) for graph in read_english(texts)]


view = TextCache(KEPT, _views)
claim_view = TextCache(_CLAIMS_KEPT, _claim_views)
"""Statements are many and small, and must not push texts out."""
