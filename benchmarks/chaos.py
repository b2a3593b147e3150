"""``make chaos``: every engine over a server of which a part of the answers is odd.

Prints, per engine: the subjects that ended with a result and with a reason, tracebacks and reasons
that speak of a bug (0 is right), and requests that got a good answer more than once (0 is right).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import sqlite3
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from servers.faults import completion, serving
from servers.odd import KINDS, OddServer
from toy.reviewer import write_reviews

N = 12
WORDS = "A cat sits on a red mat beside a window. A dog sleeps under the old table near a door."
_FENCED = re.compile(r"<(\w+)>\s*(.*?)\s*</\1>", re.DOTALL)
QUICK = "wait=0.01, max_wait=0.05, attempts=6"


def smallest_answer(body: dict[str, Any]) -> dict[str, Any]:
    """Return a valid answer to any request: the least that the schema allows, a digit or a text."""
    form = body.get("response_format")
    if form is not None:
        value = _value(form["json_schema"]["schema"])
        if "ranks" in value:
            value["ranks"] = [1, 2, 3, 4, 5]
        for clause in value.get(
            "clauses", ()
        ):  # a translation goes through the whole text
            clause["source"] = _FENCED.findall(
                body["messages"][-1]["content"]
            )[-1][1]
        return completion(json.dumps(value))
    if body.get("logprobs") and "ready" not in str(body["messages"]):
        return completion("4", first={"4": -0.1, "3": -2.5})
    return completion(
        "ready" if "ready" in str(body["messages"]) else WORDS,
        first={"A": -0.1},
    )


def _value(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][-1]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {
            name: _value(inner)
            for name, inner in schema.get("properties", {}).items()
        }
    if kind == "array":
        return [
            _value(schema["items"]) for _ in range(schema.get("minItems", 1))
        ]
    return {
        "boolean": True,
        "integer": 0,
        "number": 5,
        "string": "a cat on a mat",
    }.get(str(kind))


def write_data(folder: Path) -> None:
    """Pictures, descriptions, reviews, categories and sequences."""
    (folder / "img").mkdir()
    rows = []
    for i in range(N):
        name = f"img/{i:02d}.png"
        Image.new("RGB", (32, 24), (20 * i % 255, 90, 40)).save(folder / name)
        text = f"{WORDS} The number {i} is on the wall."
        references = [f"{text} Behind it is a lamp."]
        rows.append(
            {
                "id": f"r{i}",
                "candidate": text,
                "references": references,
                "images": [name],
            }
        )
    frames = [{"id": f"f{i}", "image": f"img/{i:02d}.png"} for i in range(N)]
    stories = [
        {
            "id": f"s{i}",
            "frames": frames[i : i + 3],
            "source": "human" if i % 2 else "random",
        }
        for i in range(N - 3)
    ]
    write_reviews(folder / "reviews.jsonl", n=N)
    for file, content in (("rows", rows), ("stories", stories)):
        text = "\n".join(json.dumps(row) for row in content)
        (folder / f"{file}.jsonl").write_text(text, "utf-8")
    (folder / "categories.json").write_text(
        '{"cats": "Cats.", "dogs": "Dogs."}', "utf-8"
    )


ENGINES: dict[str, tuple[str, ...]] = {
    "score dcscore": ("score", "rows.jsonl", "-m", "dcscore", "--no-report"),
    "score posh": ("score", "rows.jsonl", "-m", "posh", "--no-report"),
    "score direct": (
        "score",
        "rows.jsonl",
        "-m",
        "direct_assessment",
        "--no-report",
    ),
    "caption": ("caption", "rows.jsonl", "--words", "5-60"),
    "classify": ("classify", "rows.jsonl", "--categories", "categories.json"),
    "translate": (
        "translate",
        "rows.jsonl",
        "--from",
        "English",
        "--to",
        "German",
    ),
    "rank": (
        "rank",
        "reviews.jsonl",
        "-s",
        "response(judge=JUDGE)",
        "--resamples",
        "50",
    ),
    "narrate": (
        "narrate",
        "judge",
        "stories.jsonl",
        "--by",
        "captions",
        "--min-words",
        "5",
    ),
}


@dataclass
class Figures:
    """What came of some runs."""

    results: int = 0
    reasons: int = 0
    tracebacks: list[str] = field(default_factory=list)
    bugs: list[str] = field(default_factory=list)
    odd: int = 0
    requests: int = 0
    twice: int = 0

    def line(self, name: str) -> str:
        """One line of the table."""
        return (
            f"{name:16}{self.results:9}{self.reasons:9}{self.odd:7}{self.requests:10}"
            f"{len(self.tracebacks):12}{len(self.bugs):6}{self.twice:7}"
        )


def command(arguments: Sequence[str]) -> str | None:
    """Run the command line in this process; gives the traceback of a crash."""
    from beholder.cli.main import main

    before = sys.argv
    sys.argv = ["beholder", *arguments]
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            main()
    except SystemExit:
        return None
    except BaseException:  # whatever it is, it is what is looked for
        return traceback.format_exc()
    finally:
        sys.argv = before
    return None


def outcomes(folder: Path, figures: Figures) -> None:
    """Add what the stores in a folder hold."""
    for path in folder.rglob("store.sqlite"):
        with contextlib.closing(sqlite3.connect(path)) as db:
            figures.results += db.execute(
                "SELECT count(*) FROM scores"
            ).fetchone()[0]
            for error, message in db.execute(
                "SELECT error, message FROM failures"
            ):
                figures.reasons += 1
                if "a bug in" in message:
                    figures.bugs.append(f"{error}: {message}")


def run(
    name: str,
    kinds: tuple[str, ...],
    rate: float,
    in_a_row: int,
    figures: Figures,
) -> None:
    """One engine twice, with odd answers and then without; adds to the figures."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_data(folder)
        os.chdir(folder)
        with serving(
            OddServer(
                smallest_answer,
                fault_rate=rate,
                faults=kinds,
                most_in_a_row=in_a_row,
            )
        ) as odd:
            judge = f"openai('m', base_url='{odd.url}', {QUICK})"
            arguments = [
                part.replace("JUDGE", judge) for part in ENGINES[name]
            ]
            if name != "rank":
                arguments += ["--judge", judge]
            one_file = name in ("caption", "classify", "translate")
            arguments += [
                "-o",
                "out.jsonl" if one_file else "out",
                "--cache",
                "off",
            ]
            crash = command(arguments)
            figures.tracebacks += [crash] if crash else []
            outcomes(folder, figures)
            odd.fault_rate = 0.0
            crash = command(arguments)
            figures.tracebacks += [crash] if crash else []
            figures.odd += sum(odd.shown.values())
            figures.requests += len(odd.bodies)
            # The probe is asked again where its answers were odd.
            figures.twice += sum(n - 1 for n in odd.paid.values())
        os.chdir(folder.parent)


def main() -> int:
    """Print the figures; 1 if any of those is not 0 that should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--alone", action="store_true", help="also each kind alone, per engine"
    )
    parser.add_argument(
        "--engine", action="append", choices=ENGINES, help="only these"
    )
    options = parser.parse_args()
    print(
        f"{len(KINDS)} kinds of odd answers; at 30 %, mixed{'; then alone' * options.alone}\n"
    )
    print(
        f"{'engine':16}{'results':>9}{'reasons':>9}{'odd':>7}{'requests':>10}{'tracebacks':>12}"
        f"{'bugs':>6}{'twice':>7}"
    )
    wrong: Counter[str] = Counter()
    for name in options.engine or ENGINES:
        figures = Figures()
        run(name, KINDS, 0.3, 4, figures)
        for kind in KINDS if options.alone else ():
            run(name, (kind,), 1.0, 1, figures)
        print(figures.line(name), flush=True)
        wrong.update([*figures.tracebacks, *figures.bugs])
        wrong[f"{name}: good answers that were asked for again"] += (
            figures.twice
        )
    for what, n in wrong.items():
        if n:
            print(f"\n{n} x {what}")
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main())
