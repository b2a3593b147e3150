"""What a captioner used: dollars, seconds and tokens of each picture, and of the collection."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from beholder.backends.money import Price, load_prices, price_of
from beholder.base import files
from beholder.base.spec import canonical_spec
from beholder.judges import AnswerFile
from beholder.judges.answers import Record
from beholder.kinds.choose.engine import RUNS, caption_parts
from beholder.kinds.choose.figures import Figure, figure_of
from beholder.kinds.choose.pictures import PRICES, CaptionerChoice
from beholder.run.store import Store
from beholder.run.store_file import FILE_NAME
from beholder.stats.choice import collection_cost

WALLS = "seconds.json"
"""File of the seconds on the clock, by captioner."""


@dataclass
class CaptionerUse:
    """Use of money, time and tokens by the first texts of a captioner.

    Attributes:
        dollars: By picture, with second questions and failures; None where a price is unknown.
        seconds: By picture that has an answer.
        prompt: Tokens of the questions, by picture that has an answer.
        answer: Tokens of the answers, likewise.
        models: Models that answered, by run.
        signature: Model, prompt and parameters.
        cautions: What a reader must know.
    """

    dollars: dict[str, float | None] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    prompt: list[int] = field(default_factory=list)
    answer: list[int] = field(default_factory=list)
    models: dict[str, set[str]] = field(
        default_factory=lambda: {run: set() for run in RUNS}
    )
    signature: str = ""
    cautions: tuple[str, ...] = ()


def read_use(choice: CaptionerChoice, name: str) -> CaptionerUse:
    """Return what a captioner used: the answers to its questions, or what the rows state.

    Calls that found out what a server can do, and calls that gave no answer, belong to no picture.
    """
    if not choice.options.captioner:
        return _read_stated_use(choice, name)
    use = CaptionerUse()
    prices = _CaptionerPrices.of_captioner(choice, name)
    n_answers = n_recalled = 0
    for part in caption_parts(choice):
        if name not in part.config.systems:
            continue
        run = part.config.out.parent.name
        asker = part.config.systems[name].name
        with (
            Store.read(part.folder) as store,
            closing(AnswerFile(part.folder / FILE_NAME)) as file,
        ):
            answers = {record.key: record for record in file.records()}
            use.models[run] = {_served(record) for record in answers.values()}
            if run != RUNS[0]:
                continue
            use.signature = next(iter(store.signatures(asker)), "")
            details = dict(store.details(asker))
            details |= {p: f.detail for p, f in store.failures(asker)}
            ids = {position: item.id for position, item in store.items()}
        for position, detail in details.items():
            keys = [row["key"] for row in detail.get("questions", ())]
            records = [answers[key] for key in keys if key in answers]
            costs = [prices.cost(record) for record in records]
            known_costs = [cost for cost in costs if cost is not None]
            is_known = len(known_costs) == len(costs)
            use.dollars[ids[position]] = sum(known_costs) if is_known else None
            n_answers += len(records)
            n_recalled += sum(map(prices.is_recalled, records))
            # A picture without an answer took no time that says how fast the model is.
            if records:
                use.seconds[ids[position]] = sum(
                    r.answer.seconds for r in records
                )
                used = [record.answer.usage for record in records]
                use.prompt.append(sum(tokens.prompt for tokens in used))
                use.answer.append(sum(tokens.completion for tokens in used))
    if n_recalled:
        use.cautions = (
            f"{name}: {n_recalled} of {n_answers} answers are from the cache; their seconds are"
            " those of the day on which they were made (--cache off measures them now)",
        )
    return use


def _read_stated_use(choice: CaptionerChoice, name: str) -> CaptionerUse:
    """Return what the rows of the data state; a failure's row may state it, too."""
    use = CaptionerUse()
    keys = {item.source: item.id for item in choice.pictures}
    for item in choice.rows:
        key = keys[item.source]
        if item.group["system"] != name or key in use.dollars:
            continue
        use.dollars[key] = _amount(item.meta.get("dollars"))
        seconds = _amount(item.meta.get("seconds"))
        if seconds is not None and item.candidate.strip():
            use.seconds[key] = seconds
    return use


@dataclass(frozen=True)
class _CaptionerPrices:
    """The price that was named for a captioner, else the tables of its models."""

    user_price: Price | None
    table: Mapping[str, Price]

    @classmethod
    def of_captioner(
        cls, choice: CaptionerChoice, name: str
    ) -> _CaptionerPrices:
        own_file = canonical_spec(choice.options.captioners[name]).options.get(
            "prices"
        )
        path = Path(str(own_file)) if own_file else choice.folder / PRICES
        is_named = bool(own_file) or path.is_file()
        return cls(
            choice.options.prices.get(name),
            load_prices(path if is_named else None),
        )

    def cost(self, record: Record) -> float | None:
        """Return the cost of an answer at the list price; None if it is unknown."""
        price = self.user_price or price_of(record.model, self.table)
        if price is not None:
            return price.cost(record.answer.usage, record.answer.price_factor)
        # The cost of a recalled answer is 0 in this run, which is no price.
        return record.cost or None

    def is_recalled(self, record: Record) -> bool:
        """Return whether an answer came from the cache: the run paid nothing for it."""
        return record.cost == 0 and self.cost(record) != 0


def _served(record: Record) -> str:
    return f"{record.model} {record.answer.fingerprint or ''}".strip()


def _amount(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= float(value) < float("inf"):  # type: ignore[arg-type]
        return None
    return float(value)  # type: ignore[arg-type]


def cost_figures(
    choice: CaptionerChoice, use: CaptionerUse, name: str
) -> dict[str, Figure]:
    """Return dollars, seconds, hours and tokens as figures."""
    unknown = Figure(
        n_failed=sum(v is None for v in use.dollars.values()),
        reason=f"the price is unknown; name it with --price {name}=IN/OUT",
    )
    if not choice.options.captioner:
        reason = (
            f"{unknown.n_failed} of {len(use.dollars)} rows state no dollars"
        )
        unknown = replace(unknown, reason=reason)
    figures = {"dollars": unknown, "collection": unknown}
    costs = [v for v in use.dollars.values() if v is not None]
    if costs and len(costs) == len(use.dollars):
        for key, size in (("dollars", 1), ("collection", choice.setup.n_all)):
            estimate = collection_cost(costs, size)
            figures[key] = figure_of(
                estimate.mean, estimate.interval, estimate.n
            )
    for key, tokens in (
        ("prompt_tokens", use.prompt), ("answer_tokens", use.answer),
    ):  # fmt: skip
        figures[key] = Figure(reason="unknown")
        if tokens:
            figures[key] = Figure(fmean(tokens), n=len(tokens))
    names = ("seconds", "seconds_p95", "hours", "wall_hours")
    figures |= {key: Figure(reason="no time is known") for key in names}
    if seconds := list(use.seconds.values()):
        n, size = len(seconds), choice.setup.n_all
        figures["seconds"] = Figure(median(seconds), n=n)
        p95 = float(np.quantile(seconds, 0.95))
        figures["seconds_p95"] = Figure(p95, n=n)
        at_once = choice.work.concurrency or 1
        hours = size * fmean(seconds) / at_once / 3600
        figures["hours"] = Figure(hours, n=n)
        wall, n_timed = read_walls(choice.folder).get(name, (0.0, 0))
        if n_timed:
            figures["wall_hours"] = Figure(
                size * wall / n_timed / 3600, n=int(n_timed)
            )
    return figures


def read_walls(folder: Path) -> dict[str, tuple[float, float]]:
    """Return the seconds on the clock and the pictures of them, by captioner."""
    path = folder / WALLS
    if not path.is_file():
        return {}
    content = files.read_json(
        path, form=1, kind="file of seconds", missing_message=""
    )
    return {name: (pair[0], pair[1]) for name, pair in content["by"].items()}


def add_wall(folder: Path, name: str, seconds: float, n: int) -> None:
    """Add the seconds on the clock in which a captioner made texts; without a text none are."""
    if n:
        walls = read_walls(folder)
        before = walls.get(name, (0.0, 0))
        walls[name] = (before[0] + seconds, before[1] + n)
        content: dict[str, Any] = {"format": 1, "by": walls}
        files.write_text(folder / WALLS, json.dumps(content, indent=2))
