"""What the references say instead of what they do not state, asked of a model."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from beholder.judges import Grade, Judge
from beholder.judges.operations import Contradict
from beholder.metrics.posh.plan import Ask, Grades, Plan


async def contradicted_grades(judge: Judge, plan: Plan, grades: Grades) -> dict[Ask, Grade]:
    """Grades of the candidate's unstated units with the words that contradict them.

    One question per reference, about all units that no reference states.

    Args:
        judge: A judge that answers ``Contradict``.
        plan: The graphs of the texts.
        grades: A grade for every unit against every reference.

    Returns:
        The grades that change: those of units that a reference contradicts.
    """
    places = range(len(plan.references))
    questions = [
        question
        for _, question in plan.questions[0]
        if all(grades[Ask("candidate", i, question)].value < plan.threshold for i in places)
    ]
    targets = [plan.target("candidate", i).text for i in places]
    answers = await asyncio.gather(
        *(judge.ask(Contradict(questions, target)) for target in targets)
    )
    told = {}
    for reference, (target, places_told) in enumerate(zip(targets, answers, strict=True)):
        for question, place in zip(questions, places_told, strict=True):
            if place is not None:
                ask = Ask("candidate", reference, question)
                words = " ".join(target[slice(*place)].split())
                told[ask] = replace(grades[ask], contradiction=words, where=(place,))
    return told
