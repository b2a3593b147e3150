"""Metrics compared with the judgments of people, and suites of made texts."""

from beholder.run.kind import Command, Feature

FEATURE = Feature(
    name="agreement",
    section="beholder.kinds.agreement.people:section",
    groups="beholder.kinds.agreement.people:confused",
    commands=(
        Command("agree", "beholder.kinds.agreement.command:agree", place=6),
        Command(
            "graph-check",
            "beholder.kinds.agreement.graph_check:graph_check",
            place=19,
        ),
        Command(
            "plan", "beholder.kinds.agreement.plan_command:plan", place=21
        ),
        Command(
            "judge-check",
            "beholder.kinds.agreement.judge_check:judge_check",
            place=20,
        ),
        Command(
            "suite",
            "beholder.kinds.agreement.suites.command:app",
            is_group=True,
        ),
    ),
    templates="beholder.kinds.agreement",
)
