"""Accord: how far a description accords with what people said, by things, words and sense."""

from __future__ import annotations

from beholder.metrics.accord.metric import Accord, AccordEvidence

__all__ = ["Accord", "AccordEvidence"]
