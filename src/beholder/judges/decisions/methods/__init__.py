"""How each closed operation is asked of a decision model, in one file per kind of operation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from beholder.judges.decisions.methods import presence, statements
from beholder.judges.decisions.methods.base import Method

METHODS: Mapping[type, Method] = MappingProxyType(
    {
        **presence.METHODS,
        **statements.METHODS,
    }
)
"""The method of each closed operation, by the operation's class."""

__all__ = ["METHODS"]
