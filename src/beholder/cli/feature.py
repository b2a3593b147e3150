"""The commands that belong to no kind of work."""

from beholder.run.kind import Command, Feature

FEATURE = Feature(
    name="cli",
    commands=(
        Command("demo", "beholder.cli.runs:demo", place=0),
        Command("report", "beholder.cli.runs:report", place=2),
        Command("view", "beholder.cli.runs:view", place=3),
        Command("steps", "beholder.cli.runs:steps", place=4),
        Command("compare", "beholder.cli.runs:compare", place=5),
        Command("leaderboard", "beholder.cli.runs:leaderboard", place=7),
        Command("sample", "beholder.cli.tools:sample", place=13),
        Command("metrics", "beholder.cli.tools:metrics", place=15),
        Command("show", "beholder.cli.tools:show", place=16),
        Command("doctor", "beholder.cli.tools:doctor", place=17),
        Command("graph", "beholder.cli.tools:graph", place=18),
        Command("mcp", "beholder.cli.tools:mcp", place=19),
        Command("cache", "beholder.cli.cache:app", is_group=True),
    ),
)
