"""Baselines that ask a judge: for a number, for a grade, or questions made of the references."""

from beholder.metrics.judged.direct import CLAIR, FLEUR, DirectAssessment, LLaVACritic, Prometheus
from beholder.metrics.judged.dsg import DSG

__all__ = ["CLAIR", "DSG", "FLEUR", "DirectAssessment", "LLaVACritic", "Prometheus"]
