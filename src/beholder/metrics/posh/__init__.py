"""PoSh: mistakes and omissions of a description, unit by unit of its scene graph."""

from __future__ import annotations

from beholder.metrics.posh.metric import PoSh, PoShEvidence
from beholder.metrics.posh.plan import Ask, Grades, Plan

__all__ = ["Ask", "Grades", "Plan", "PoSh", "PoShEvidence"]
