"""Checks of alternative texts, as a feature of the command line."""

from beholder.run.kind import Command, Feature

FEATURE = Feature(
    name="lint",
    commands=(Command("lint", "beholder.lint.command:lint", place=14),),
)
