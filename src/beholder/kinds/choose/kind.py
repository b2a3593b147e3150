"""A captioner is chosen for a collection, by six criteria and a rule that is fixed before."""

from beholder.run.kind import Command, Feature

FEATURE = Feature(
    name="choose",
    commands=(
        Command("choose", "beholder.kinds.choose.command:choose", place=10),
    ),
    templates="beholder.kinds.choose",
)
