"""Decision models: one call asks many closed questions, and each gets a distribution."""

from beholder.backends.decisions.questions import (
    LEAST_MASS,
    Choice,
    DecidingBackend,
    Decision,
    DecisionCall,
    DecisionQuestion,
    Predicate,
    QuestionLimits,
    Score,
    decode_decisions,
    encode_decisions,
)

__all__ = [
    "LEAST_MASS",
    "Choice",
    "DecidingBackend",
    "Decision",
    "DecisionCall",
    "DecisionQuestion",
    "Predicate",
    "QuestionLimits",
    "Score",
    "decode_decisions",
    "encode_decisions",
]
