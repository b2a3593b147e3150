"""DCScore: facts of a description that are wrong, facts of the reference that are missing."""

from __future__ import annotations

from beholder.metrics.dcscore.metric import DCScore
from beholder.metrics.dcscore.scoring import fact_probabilities, score_trials, score_units
from beholder.metrics.dcscore.units import DCScoreEvidence, Pairing

__all__ = [
    "DCScore",
    "DCScoreEvidence",
    "Pairing",
    "fact_probabilities",
    "score_trials",
    "score_units",
]
