"""Speed of `beholder score` beside an older checkout, as ratios, and the time of a short start.

    git worktree add ../older 996dc83
    python -m benchmarks.against ../older --data SHARED_DATA/human_judgments [--words 115]

Both get the same pairs of descriptions of IIW-400 and DOCCI, each text cut to so many words, by the
rules of the built-in judge, in one worker. Processor time of a whole command on ten pairs is taken
from that on all, so that neither imports nor models count; of some alternating rounds the least of
each counts. The older checkout needs no installation; specs that it does not know are tried without
options of the metric.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.posh_builtin import described

SHORT = 10
RULES = {
    "posh": "posh(judge='builtin(entail=False)')",
    "accord": "accord(judge='builtin(entail=False)', caution=0)",
}
Row = dict[str, Any]
COMMAND = "from beholder.cli.main import main; main()"


def command(checkout: Path, spec: str, rows: list[Row]) -> tuple[float, str]:
    """Processor time of one command, and what it prints if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        path.write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
        arguments = [
            "score",
            str(path),
            "-m",
            spec,
            "-o",
            f"{folder}/out",
            "--workers",
            "1",
        ]
        environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
        start = [sys.executable, "-c", COMMAND, *arguments]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            start, env=environment, capture_output=True, text=True, check=False
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_seconds = (
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    )
    return (
        cpu_seconds,
        done.stderr.strip() or "failed" if done.returncode else "",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("older", type=Path, help="a checkout")
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        help="folder with iiw400_sxs, docci_test_sxs",
    )
    parser.add_argument("--words", type=int, default=115)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if not (options.older / "src" / "beholder").is_dir():
        raise SystemExit(
            f"{options.older} has no src/beholder; make one:"
            f" git worktree add {options.older} 996dc83"
        )
    texts = described(options.data, options.words, step=1)
    pairs = dict(zip(texts[::2], texts[1::2], strict=True))
    rows: list[Row] = [
        {"id": str(i), "candidate": candidate, "references": [reference]}
        for i, (candidate, reference) in enumerate(pairs.items())
    ]
    this_checkout = Path(__file__).parents[1]
    for name, spec in RULES.items():
        accepts_spec = not command(options.older, spec, rows[:SHORT])[1]
        specs = {
            this_checkout: spec,
            options.older: spec if accepts_spec else name,
        }
        least: dict[tuple[Path, int], float] = {}
        for _ in range(options.rounds):
            for checkout, its in specs.items():
                for n in (SHORT, len(rows)):
                    cpu_seconds, message = command(checkout, its, rows[:n])
                    if message:
                        raise SystemExit(
                            f"{checkout}: beholder score -m {its!r}: {message}"
                        )
                    least[checkout, n] = min(
                        cpu_seconds, least.get((checkout, n), cpu_seconds)
                    )
        each = {
            checkout: (least[checkout, len(rows)] - least[checkout, SHORT])
            / (len(rows) - SHORT)
            for checkout in specs
        }
        now, before = each[this_checkout], each[options.older]
        print(
            f"{spec}: {1e3 * now:.1f} ms a pair; {1e3 * before:.1f} before"
            f" ({specs[options.older]}), "
            f"{before / now:.2f} times as fast; {SHORT} pairs with the start: "
            f"{least[this_checkout, SHORT]:.2f} s, {least[options.older, SHORT]:.2f} s before"
        )


if __name__ == "__main__":
    main()
