"""Baselines that ask a judge for a number: direct assessment, after CLAIR, after FLEUR."""

from beholder.metrics.judged.clair import CLAIR
from beholder.metrics.judged.direct import DirectAssessment
from beholder.metrics.judged.fleur import FLEUR

__all__ = ["CLAIR", "FLEUR", "DirectAssessment"]
