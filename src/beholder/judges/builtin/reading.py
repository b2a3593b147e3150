"""Cache of the texts that the built-in judge has analysed."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.judges.builtin.analysed import AnalysedText
from beholder.language.reading import (
    CACHE_SIZE,
    TextCache,
    english_graphs,
    read_english,
)

_CLAIMS_KEPT = 2048


def _analysed(texts: Sequence[str]) -> list[AnalysedText]:
    return [AnalysedText(graph) for graph in english_graphs.read_texts(texts)]


def _analysed_claims(texts: Sequence[str]) -> list[AnalysedText]:
    return [AnalysedText(graph) for graph in read_english(texts)]


analysed = TextCache(CACHE_SIZE, _analysed)
analysed_claims = TextCache(_CLAIMS_KEPT, _analysed_claims)
"""Statements are many and small, and must not push texts out."""
