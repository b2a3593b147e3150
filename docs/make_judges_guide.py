"""Write the tables of docs/judges-guide.md; ``make docs`` runs it, a test compares.

Calls and tokens are those that ``beholder score --dry-run`` tells for the bundled sample, prices
those of ``prices.json``. Nobody is asked.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any
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
JUDGE = "openai(model='gpt-4.1', base_url='http://localhost')"
"""A server without a key; a plan asks it nothing."""
SIDE = (1024, 768)
"""Pixels of the pictures that are shown: those of the sample are no part of the package."""
_TABLES = re.compile(r"(?<=<!-- costs -->\n).*?(?=<!-- /costs -->)", re.DOTALL)


def tallies() -> tuple[int, dict[str, Tally], dict[str, int]]:
    """The number of texts of the sample, what each metric asks of a judge, and verdicts in answers.

    A verdict is a grade, or a row of an answer that is about one unit or statement.
    """
    add, counts = Tally.add, Counter[int]()
    counting = []  # kept, so that no two have one id

    def counted(
        self: Tally, backend: str, request: Request, said: str, *more: Any
    ) -> None:
        n = self.n_calls
        add(self, backend, request, said, *more)
        rows = re.findall(r'\{"id": \d', said)
        if self.n_calls > n and not said.startswith('{"statements"'):
            counting.append(self)
            counts[id(self)] += len(rows) or 1

    sample = (files("beholder.samples") / "descriptions.jsonl").read_text(
        "utf-8"
    )
    rows = [json.loads(line) for line in sample.splitlines()]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in {name for row in rows for name in row["images"]}:
            Image.new("RGB", SIDE, "grey").save(Path(folder) / name)
        data = Path(folder) / "rows.jsonl"
        data.write_text(sample, encoding="utf-8")
        for spec in (*BY_TEXT, *BY_PICTURE):
            asked = metric(spec, judge=JUDGE)
            config = ScoreConfig(
                str(data), (asked,), Path(folder) / "run", DataOptions()
            )
            with mock.patch.object(Tally, "add", counted):
                found[spec] = _asked(plan(SCORES, config).askers[0].judge)
    return (
        len(rows),
        found,
        {spec: counts[id(tally)] for spec, tally in found.items()},
    )


def _asked(tally: Tally | None) -> Tally:
    assert tally is not None, "a metric of the table asks no judge"
    return tally


def tables() -> str:
    """What each metric asks, and what 1,000 texts cost by each model."""
    n, asked, verdicts = tallies()
    heads = (
        "metric",
        "questions a text",
        "verdicts",
        "prompt tokens",
        "answer tokens",
    )
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for spec, tally in asked.items():
        told = (
            tally.n_calls,
            verdicts[spec],
            tally.prompt_tokens,
            tally.completion_tokens,
        )
        lines.append(
            f"| `{spec}` | {' | '.join(_rounded(number / n) for number in told)} |"
        )
    for what, counts in (
        ("1,000 texts", dict.fromkeys(asked, n)),
        ("1,000 verdicts", verdicts),
    ):
        names = " | ".join(f"`{spec}`" for spec in asked)
        lines += [
            "",
            f"| US dollars for {what} | {names} |",
            "|---" * (len(asked) + 1) + "|",
        ]
        for model, price in load_prices().items():
            costs = [
                # A call is never long, so it is priced as one and multiplied.
                price.cost(Usage(tally.prompt_tokens // tally.n_calls))
                * tally.n_calls
                + price.cost(Usage(completion=tally.completion_tokens))
                for tally in asked.values()
            ]
            shares = [
                cost * 1000 / counts[spec]
                for spec, cost in zip(asked, costs, strict=True)
            ]
            lines.append(
                f"| `{model}` | {' | '.join(map(_rounded, shares))} |"
            )
    lines += [
        "",
        "| model | input | cached | written | output | read on | where |",
        "|---" * 7 + "|",
    ]
    for model, price in load_prices().items():
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
    told = (price.input, price.cached, price.written, price.output)
    return " | ".join("" if one is None else f"{one:g}" for one in told)


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
