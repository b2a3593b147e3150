"""DCScore: facts of a description that are wrong, facts of the reference that are missing."""

from __future__ import annotations

from beholder.metrics.dcscore.evidence import DCScoreEvidence, Pairing
from beholder.metrics.dcscore.metric import DCScore
from beholder.metrics.dcscore.probabilities import fact_probabilities
from beholder.metrics.dcscore.scoring import score_trials, score_units

__all__ = [
    "DCScore",
    "DCScoreEvidence",
    "Pairing",
    "fact_probabilities",
    "score_trials",
    "score_units",
]
