"""Battles: a judge compares the texts of a picture in pairs, in both orders."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import combinations
from typing import Any, ClassVar, cast

from beholder.asking.asker import ValueInfo
from beholder.base.grouping import group_by_key
from beholder.data import to_row
from beholder.data.lines import read_records
from beholder.errors import ItemError
from beholder.judges import Judge
from beholder.judges.operations import Compare
from beholder.kinds.choose.engine import taken_options, work_within
from beholder.kinds.choose.figures import Figure, rate
from beholder.kinds.choose.pictures import CaptionerChoice
from beholder.kinds.generation.engine import (
    GenerationRun,
    plan_making,
    run_making,
)
from beholder.kinds.generation.generators import (
    GeneratedText,
    Parts,
    TextGenerator,
)
from beholder.metrics import Tools
from beholder.options import DataOptions
from beholder.records import Item
from beholder.run import ROWS
from beholder.run.plan import RunPlan
from beholder.run.session import Progress, RunContext
from beholder.run.subjects import ITEM
from beholder.stats import bradley_terry
from beholder.stats.choice import Winner, battle_score, mean_interval_t
from beholder.text.languages import language_named

MOST_SYSTEMS = 4
"""Captioners of which all pairs are compared."""
MANY_FLIPS = 0.4
_TURNED = {"first": "second", "second": "first", "tie": "tie"}


@dataclass(frozen=True)
class BattleAsker(TextGenerator[Item]):
    """The winner of two texts in each order, turned back; the second text is in ``meta``."""

    registered_name: ClassVar[str] = "battle"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("score", "1 where the first text wins, 0.5 for a tie"),
        ValueInfo(
            "flip",
            "1 where the other order has another winner, else 0",
            higher_is_better=False,
        ),
    )
    needs = (Compare,)

    def check(self, subject: Item) -> None:
        """Refuse a pair without a picture."""
        if not subject.images:
            raise ItemError("there is no picture to look at")

    async def make(
        self, subject: Item, judge: Judge, tools: Tools
    ) -> tuple[GeneratedText, ...]:
        """Return the reason of each order, labelled with the winner."""
        images = await tools.pictures.read(subject.images)
        language = language_named(subject.language)
        texts = (subject.candidate, str(subject.meta["other"]))
        orders = [
            Compare(a, b, images, language) for a, b in (texts, texts[::-1])
        ]
        # One answer is enough: the other order may have failed.
        answers = await asyncio.gather(
            *map(judge.ask, orders), return_exceptions=True
        )
        parts = []
        for answer, order in zip(answers, ("first", "swapped"), strict=True):
            if isinstance(answer, ItemError):
                continue
            if isinstance(answer, BaseException):
                raise answer
            winner = (
                answer.better if order == "first" else _TURNED[answer.better]
            )
            parts.append(GeneratedText(answer.reason, winner, order))
        if not parts:
            raise cast(ItemError, answers[0])
        return tuple(parts)

    def measure(self, parts: Parts) -> dict[str, float]:
        """Return the score of the first text, and whether the judge flipped."""
        score, is_flip = cast(tuple[float, bool], score_of(parts))
        return {"score": score, "flip": float(is_flip)}


def score_of(parts: Parts) -> tuple[float, bool] | None:
    """Return the score of the first text and whether the judge flipped, by the strict rule."""
    winners = {part.source: cast(Winner, part.label) for part in parts}
    return battle_score(winners.get("first"), winners.get("swapped"))


def are_wanted(choice: CaptionerChoice) -> bool:
    """Return whether battles are fought: on request, else if a judge sees and no reference is."""
    is_possible = (
        choice.judge is not None and len(choice.systems) <= MOST_SYSTEMS
    )
    if choice.options.battles is None:
        return is_possible and not choice.setup.has_references
    return is_possible and choice.options.battles


def battle_part(
    choice: CaptionerChoice, texts: Sequence[Item]
) -> GenerationRun[Item]:
    """Return the run of all pairs of texts about one picture."""
    pairs = list(_pairs(choice, texts))
    rows = json.dumps([to_row(item) for item in pairs])
    digest = sha256(rows.encode()).hexdigest()[:8]
    out = choice.folder / "battles" / f"battles-{digest}.jsonl"

    def row(
        item: Item, system: str, parts: Parts, judge: str
    ) -> Mapping[str, Any]:
        score, is_flip = cast(tuple[float, bool], score_of(parts))
        return {
            "id": item.id,
            "image": item.images[0],
            "picture": item.meta["picture"],
            "first": item.group["system"],
            "second": item.meta["against"],
            "text_first": item.candidate,
            "text_second": item.meta["other"],
            "outcome": score,
            "flip": is_flip,
            "orders": {p.source: p.label for p in parts},
            "reason": {p.source: p.text for p in parts},
        }

    asker = BattleAsker(choice.judge or "")
    judging = taken_options(choice.judging, asker.tool_specs())
    cache = choice.work.cache or choice.folder / "answers.sqlite"
    return GenerationRun(
        kind=ROWS,
        folder=out.with_name(f"{out.name}.run"),
        out=out,
        data="battles",
        rows=DataOptions(),
        means=RunContext(
            judging, replace(choice.work, cache=cache), choice.folder
        ),
        subjects=ITEM,
        read=lambda notes: iter(pairs),
        source=None,
        picture=lambda item: item.images[0] if item.images else None,
        systems={"battle": asker},
        row=row,
    )


def _pairs(choice: CaptionerChoice, texts: Sequence[Item]) -> Iterator[Item]:
    by_picture = group_by_key((t.meta["picture"], t) for t in texts)
    for picture in sorted(by_picture):
        by_system = {t.group["system"]: t for t in by_picture[picture]}
        for a, b in combinations(choice.systems, 2):
            if a in by_system and b in by_system:
                item = by_system[a]
                meta = {
                    "picture": picture,
                    "against": b,
                    "other": by_system[b].candidate,
                }
                yield replace(
                    item, id=f"{picture}/{a}/{b}", meta=meta, references=()
                )


def run_battles(
    choice: CaptionerChoice, making: GenerationRun[Item], progress: Progress
) -> None:
    """Ask what is missing, with what is left of the budget."""
    work = work_within(choice, making.means.work, making.folder)
    making = replace(making, means=replace(making.means, work=work))
    run_making(making, progress)


def plan_battles(
    choice: CaptionerChoice, making: GenerationRun[Item]
) -> RunPlan:
    """Return the plan of the battles; nothing is asked."""
    return plan_making(making)


def read_battles(
    choice: CaptionerChoice, making: GenerationRun[Item]
) -> dict[str, Any] | None:
    """Return scores and flips of pairs, and strengths; None before they were fought."""
    if not making.out.is_file():
        return None
    rows = list(read_records(making.out, dict[str, Any]))
    pairs = []
    for (a, b), battles in group_by_key(
        ((row["first"], row["second"]), row) for row in rows
    ).items():
        scores = [row["outcome"] for row in battles]
        interval = mean_interval_t(scores)
        figure = Figure(
            sum(scores) / len(scores),
            # Student's interval of shares may leave their range.
            max(0.0, interval.low) if interval else None,
            min(1.0, interval.high) if interval else None,
            len(scores),
        )
        flips = rate(sum(row["flip"] for row in battles), len(battles))
        pairs.append(
            {
                "first": a,
                "second": b,
                "score": vars(figure),
                "flips": vars(flips),
            }
        )
    if not rows:
        return None
    fit = bradley_terry(
        [row["first"] for row in rows],
        [row["second"] for row in rows],
        [row["outcome"] for row in rows],
        clusters=[row["picture"] for row in rows],
    )
    strengths = []
    for strength in fit.strengths:
        ends = strength.interval
        figure = Figure(
            strength.value,
            ends.low if ends else None,
            ends.high if ends else None,
            strength.n_battles,
            reason=fit.reason or "",
        )
        strengths.append({"system": strength.system, "figure": vars(figure)})
    n_flips = sum(row["flip"] for row in rows)
    text = f"The judge flipped in {n_flips} of {len(rows)} battles."
    if n_flips > MANY_FLIPS * len(rows):
        text += " This judge does not see the difference."
    orders = Counter(len(row["orders"]) for row in rows)
    if orders[1]:
        text += f" {orders[1]} have an answer in one order only."
    return {
        "text": text,
        "n": len(rows),
        "n_flips": n_flips,
        "pairs": pairs,
        "strengths": strengths,
    }
