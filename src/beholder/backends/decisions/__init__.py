"""Decision models: one call asks many closed questions, and each gets a distribution."""

from beholder.backends.decisions.questions import (
    LEAST_MASS,
    ChoiceQuestion,
    DecidingBackend,
    Decision,
    DecisionCall,
    DecisionQuestion,
    PredicateQuestion,
    QuestionLimits,
    ScoreQuestion,
    decode_decisions,
    encode_decisions,
)

__all__ = [
    "LEAST_MASS",
    "ChoiceQuestion",
    "DecidingBackend",
    "Decision",
    "DecisionCall",
    "DecisionQuestion",
    "PredicateQuestion",
    "QuestionLimits",
    "ScoreQuestion",
    "decode_decisions",
    "encode_decisions",
]
