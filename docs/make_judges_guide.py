"""Write the tables of docs/judges-guide.md; ``make docs`` runs it, a test compares.

Calls and tokens are those that ``beholder score --dry-run`` tells for the bundled sample, prices
those of ``prices.json``. Nobody is asked.
"""

from __future__ import annotations

import json
import re
import tempfile
from importlib.resources import files
from pathlib import Path

from PIL import Image

from beholder.backends.money import Usage, load_prices
from beholder.judges import Tally
from beholder.metrics import metric
from beholder.options import DataOptions
from beholder.run import SCORES
from beholder.run.kind import plan
from beholder.run.scores import ScoreConfig

PAGE = Path(__file__).with_name("judges-guide.md")
BY_TEXT = ("posh", "dcscore(verify='reference')", "dsg", "direct_assessment", "clair", "prometheus")
BY_PICTURE = ("fleur", "llava_critic")
JUDGE = "openai(model='gpt-4.1', base_url='http://localhost')"
"""A server without a key; a plan asks it nothing."""
SIDE = (1024, 768)
"""Pixels of the pictures that are shown: those of the sample are no part of the package."""
_TABLES = re.compile(r"(?<=<!-- costs -->\n).*?(?=<!-- /costs -->)", re.DOTALL)


def tallies() -> tuple[int, dict[str, Tally]]:
    """The number of texts of the sample, and what each metric would ask of a judge about them."""
    sample = (files("beholder.samples") / "descriptions.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in sample.splitlines()]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in {name for row in rows for name in row["images"]}:
            Image.new("RGB", SIDE, "grey").save(Path(folder) / name)
        data = Path(folder) / "rows.jsonl"
        data.write_text(sample, encoding="utf-8")
        for spec in (*BY_TEXT, *BY_PICTURE):
            asked = metric(spec, judge=JUDGE)
            config = ScoreConfig(str(data), (asked,), Path(folder) / "run", DataOptions())
            found[spec] = _asked(plan(SCORES, config).askers[0].judge)
    return len(rows), found


def _asked(tally: Tally | None) -> Tally:
    assert tally is not None, "a metric of the table asks no judge"
    return tally


def tables() -> str:
    """What each metric asks, and what 1,000 texts cost by each model."""
    n, asked = tallies()
    lines = ["| metric | questions a text | prompt tokens | answer tokens |", "|---|---|---|---|"]
    for spec, tally in asked.items():
        numbers = (tally.n_calls / n, tally.prompt_tokens / n, tally.completion_tokens / n)
        lines.append(f"| `{spec}` | {' | '.join(map(_rounded, numbers))} |")
    lines += [
        "",
        f"Prices of {as_of()}:",
        "",
        f"| US dollars for 1,000 texts | {' | '.join(f'`{spec}`' for spec in asked)} |",
    ]
    lines.append("|---" * (len(asked) + 1) + "|")
    for model, price in load_prices().items():
        costs = [
            price.cost(Usage(tally.prompt_tokens, 0, tally.completion_tokens)) * 1000 / n
            for tally in asked.values()
        ]
        lines.append(f"| `{model}` | {' | '.join(map(_rounded, costs))} |")
    return "\n".join(lines) + "\n"


def as_of() -> str:
    """The day on which the prices were compared last."""
    text = (files("beholder.backends") / "prices.json").read_text("utf-8")
    return str(json.loads(text)["as_of"])


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
