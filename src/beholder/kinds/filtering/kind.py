"""Filtering of a caption training set by rules, duplicates and scores."""

from beholder.run.kind import Command, Feature

FEATURE = Feature(
    name="filter",
    commands=(
        Command(
            "filter", "beholder.kinds.filtering.command:app", is_group=True
        ),
    ),
    templates="beholder.kinds.filtering",
)
