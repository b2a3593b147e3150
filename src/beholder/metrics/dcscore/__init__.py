"""DCScore: facts of a description that are wrong, facts of the reference that are missing."""

from __future__ import annotations

from beholder.metrics.dcscore.metric import DCScore as DCScore
from beholder.metrics.dcscore.scoring import (
    fact_probabilities as fact_probabilities,
)
from beholder.metrics.dcscore.scoring import score_trials as score_trials
from beholder.metrics.dcscore.scoring import score_units as score_units
from beholder.metrics.dcscore.units import DCScoreEvidence as DCScoreEvidence
from beholder.metrics.dcscore.units import Pairing as Pairing
