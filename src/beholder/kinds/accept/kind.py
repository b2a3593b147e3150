"""Acceptance of a collection of texts by reading a random part of it."""

from beholder.run.kind import Command, Feature

FEATURE = Feature(
    name="accept",
    commands=(
        Command("accept", "beholder.kinds.accept.command:app", is_group=True),
    ),
    templates="beholder.kinds.accept",
)
