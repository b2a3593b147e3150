"""Metrics as rewards of training loops: TRL, verl, and whatever calls a function of texts."""

from beholder.rewards.guards import (
    GUARDS,
    LengthGuard,
    RepetitionGuard,
    RewardGuard,
)
from beholder.rewards.reward import Reward, by_token, reward

__all__ = [
    "GUARDS",
    "LengthGuard",
    "RepetitionGuard",
    "Reward",
    "RewardGuard",
    "by_token",
    "reward",
]
