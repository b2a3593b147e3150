"""Methods that ask a decision model the closed operations, in one file per kind of operation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from beholder.judges.decisions.methods import (
    answer,
    assess,
    classify,
    presence,
    rating,
    statements,
)
from beholder.judges.decisions.methods.base import Method
from beholder.judges.operations import AnswerQuestions

METHODS: Mapping[type, Method] = MappingProxyType(
    {
        **presence.METHODS,
        **statements.METHODS,
        **answer.METHODS,
        **assess.METHODS,
        **rating.METHODS,
        **classify.METHODS,
    }
)
"""The method of each closed operation, by the operation's class."""


WRITTEN_IN_PART = frozenset(
    kind.name for kind in METHODS if issubclass(kind, AnswerQuestions)
)
"""Names of operations of which some questions are open."""


def needs_writer(operation: object) -> bool:
    """Return whether a part of an operation that is closed otherwise must be written."""
    return isinstance(operation, AnswerQuestions) and answer.has_open_question(
        operation
    )


__all__ = ["METHODS", "WRITTEN_IN_PART", "needs_writer"]
