"""Work that several processes want done: one does it, the others wait and take what it found."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from beholder.backends.base import ServerFacts

T = TypeVar("T")

LASTS = 15.0
"""Seconds for which a claim holds; that of a process that was killed ends so."""

LOOK = 0.25
"""Seconds between looks at what another process has claimed."""


async def once(
    facts: ServerFacts, name: str, known: Callable[[], T | None], work: Callable[[], Awaitable[T]]
) -> T:
    """What is known under a name, or else what the work finds; one process works at a time.

    Args:
        facts: Where the work is claimed.
        name: Of the work.
        known: What was found so far, or None; asked again when another process may have found it.
        work: Finds it, and keeps it where ``known`` looks.
    """
    while not facts.claim(name):
        await asyncio.sleep(LOOK)
        found = known()
        if found is not None:
            return found
    keeping = asyncio.ensure_future(_keep(facts, name))
    try:
        found = known()
        return await work() if found is None else found
    finally:
        keeping.cancel()
        facts.release(name)


async def _keep(facts: ServerFacts, name: str) -> None:
    while True:
        await asyncio.sleep(LASTS / 3)
        facts.claim(name)
