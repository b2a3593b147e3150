"""Baselines that ask a judge: for a number, for a grade, or questions made of the references."""

from beholder.metrics.judged.direct import DirectAssessment
from beholder.metrics.judged.dsg import DSG
from beholder.metrics.judged.fleur import FLEUR
from beholder.metrics.judged.single import CLAIR, LLaVACritic, Prometheus

__all__ = ["CLAIR", "DSG", "FLEUR", "DirectAssessment", "LLaVACritic", "Prometheus"]
