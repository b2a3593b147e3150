"""Quality of descriptions over time."""

from beholder.run.kind import Command, Feature

FEATURE = Feature(
    name="watch",
    commands=(
        Command("watch", "beholder.kinds.watch.command:app", is_group=True),
    ),
    templates="beholder.kinds.watch",
)
