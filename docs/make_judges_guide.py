"""Write the tables of docs/judges-guide.md; ``make docs`` runs it, a test compares.

Calls and tokens are those that ``beholder score --dry-run`` counts for the bundled sample, prices
those of ``prices.json``. Nothing is sent.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from PIL import Image

from beholder.backends import Request
from beholder.backends.money import Price, Usage, load_prices
from beholder.judges import Tally
from beholder.kinds.scores.engine import ScoreConfig
from beholder.metrics import metric
from beholder.options import DataOptions
from beholder.run import SCORES
from beholder.run.kind import plan

PAGE = Path(__file__).with_name("judges-guide.md")
BY_TEXT = (
    "posh",
    "posh(asking='list')",
    "dcscore(verify='reference')",
    "dsg",
    "direct_assessment",
    "clair",
    "prometheus",
)
BY_PICTURE = ("fleur", "llava_critic")
DECIDED = ("posh", "dsg", "direct_assessment", "prometheus", "fleur")
CHAT_JUDGE = "openai(model='gpt-4.1', base_url='http://localhost')"
"""A server without a key; a plan asks it nothing."""
DECISION_JUDGE = (
    "decisions(model='gpt-6-luna', base_url='http://localhost',"
    " max_questions=400)"
)
DECISIONS = "decisions/"
"""Prefix of decision models in the price table."""
SIDE = (1024, 768)
"""Pixels of the pictures that are shown: those of the sample are no part of the package."""
_VERDICT = re.compile(r'\{"id": \d|"probabilities"')
_TABLES = re.compile(r"(?<=<!-- costs -->\n).*?(?=<!-- /costs -->)", re.DOTALL)


class MetricCost(NamedTuple):
    """What a metric asks of a judge about all texts of the sample.

    Attributes:
        tally: Calls and tokens.
        n_verdicts: Verdicts in the answers: a grade, or a row about one unit or statement.
        n_texts: Texts of the sample.
    """

    tally: Tally
    n_verdicts: int
    n_texts: int

    def dollars(self, price: Price) -> float:
        """Return US dollars for all texts."""
        tally = self.tally
        # A call is never long, so it is priced as one and multiplied.
        prompt = price.cost(Usage(tally.prompt_tokens // tally.n_calls))
        answers = price.cost(Usage(completion=tally.completion_tokens))
        return prompt * tally.n_calls + answers


def plan_metrics(specs: Sequence[str], judge: str) -> dict[str, MetricCost]:
    """Return what each metric asks of a judge, by the metric's spec."""
    add, n_verdicts = Tally.add, Counter[int]()
    all_tallies = []  # kept, so that no two have one id

    def count(
        tally: Tally, backend: str, request: Request, likely: str, *rest: Any
    ) -> None:
        n_calls = tally.n_calls
        all_tallies.append(tally)
        add(tally, backend, request, likely, *rest)
        if tally.n_calls > n_calls and not likely.startswith('{"statements"'):
            n_verdicts[id(tally)] += len(_VERDICT.findall(likely)) or 1

    sample = files("beholder.samples") / "descriptions.jsonl"
    text = sample.read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    tallies = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in {name for row in rows for name in row["images"]}:
            Image.new("RGB", SIDE, "grey").save(Path(folder) / name)
        data = Path(folder) / "rows.jsonl"
        data.write_text(text, encoding="utf-8")
        for spec in specs:
            config = ScoreConfig(
                str(data),
                (metric(spec, judge=judge),),
                Path(folder) / "run",
                DataOptions(),
            )
            with mock.patch.object(Tally, "add", count):
                tally = plan(SCORES, config).askers[0].judge
            assert tally is not None, "a metric of the table asks no judge"
            tallies[spec] = tally
    return {
        spec: MetricCost(tally, n_verdicts[id(tally)], len(rows))
        for spec, tally in tallies.items()
    }


def cost_tables(
    specs: Sequence[str], judge: str, prices: Mapping[str, Price]
) -> list[str]:
    """Return lines of three tables: what metrics ask, dollars by text, and by verdict."""
    costs = plan_metrics(specs, judge)
    heads = (
        "metric",
        "calls a text",
        "verdicts",
        "prompt tokens",
        "answer tokens",
    )
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for spec, cost in costs.items():
        numbers = (
            cost.tally.n_calls,
            cost.n_verdicts,
            cost.tally.prompt_tokens,
            cost.tally.completion_tokens,
        )
        cells = [_rounded(number / cost.n_texts) for number in numbers]
        lines.append(f"| `{spec}` | {' | '.join(cells)} |")
    names = " | ".join(f"`{spec}`" for spec in costs)
    for what in ("texts", "verdicts"):
        lines += [
            "",
            f"| US dollars for 1,000 {what} | {names} |",
            "|---" * (len(costs) + 1) + "|",
        ]
        for model, price in prices.items():
            cells = [
                _rounded(
                    cost.dollars(price)
                    * 1000
                    / (cost.n_texts if what == "texts" else cost.n_verdicts)
                )
                for cost in costs.values()
            ]
            lines.append(f"| `{model}` | {' | '.join(cells)} |")
    return lines


def tables() -> str:
    """Return all tables between the marks of the page."""
    prices = load_prices()
    deciding = {n: p for n, p in prices.items() if n.startswith(DECISIONS)}
    chatting = {n: p for n, p in prices.items() if n not in deciding}
    lines = [
        "Models that write answers:",
        "",
        *cost_tables((*BY_TEXT, *BY_PICTURE), CHAT_JUDGE, chatting),
        "",
        "Decision models (`decisions:MODEL`, `systemone:MODEL`), if the state"
        " counts once a call; a",
        "verdict is an answer to one question:",
        "",
        *cost_tables(DECIDED, DECISION_JUDGE, deciding),
        "",
        "| model | input | cached | written | output | read on | where |",
        "|---" * 7 + "|",
    ]
    for model, price in prices.items():
        lines.append(
            f"| `{model}` | {_prices(price)} | {price.date} | {price.source} |"
        )
        if price.long is not None:
            lines.append(
                f"| above {price.over:,} tokens | {_prices(price.long)} | | |"
            )
        if price.then is not None:
            lines.append(
                f"| after {price.until} | {_prices(price.then)} | | |"
            )
    return "\n".join(lines) + "\n"


def _prices(price: Price) -> str:
    dollars = (price.input, price.cached, price.written, price.output)
    return " | ".join("" if d is None else f"{d:g}" for d in dollars)


def _rounded(number: float) -> str:
    """Two digits that count; counts on other texts differ by more."""
    if number >= 100:
        digits = len(str(int(number))) - 2
        return f"{round(number, -digits):,.0f}"
    return f"{number:.2g}" if number < 10 else f"{number:.0f}"


def page() -> str:
    """The whole page."""
    return _TABLES.sub(lambda _: tables(), PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
