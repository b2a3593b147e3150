"""Texts that are revised by their marks; runs are those of ``rows``."""

from beholder.run.kind import Command, Feature

FEATURE = Feature(
    name="revise",
    commands=(
        Command("revise", "beholder.kinds.revise.command:revise", place=12),
    ),
)
