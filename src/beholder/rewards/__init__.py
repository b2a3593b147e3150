"""Metrics as rewards of training loops: TRL, verl, and whatever calls a function of texts."""

from beholder.rewards.guards import GUARDS, Guard, LengthGuard, RepetitionGuard
from beholder.rewards.reward import Reward, reward
from beholder.rewards.tokens import by_token

__all__ = [
    "GUARDS",
    "Guard",
    "LengthGuard",
    "RepetitionGuard",
    "Reward",
    "by_token",
    "reward",
]
