"""Speed of `beholder score` beside an older checkout, as ratios, and the time of a short start.

    git worktree add ../older 996dc83
    python benchmarks/against.py ../older --data SHARED_DATA/human_judgments [--words 115]

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

SHORT = 10
RULES = {
    "posh": "posh(judge='builtin(entail=False)')",
    "accord": "accord(judge='builtin(entail=False)', caution=0)",
}
COMMAND = "from beholder.cli.main import main; main()"


def described(data: Path, n_words: int) -> list[dict[str, object]]:
    """Rows of distinct candidates with a reference each."""
    found: dict[str, str] = {}
    for name in ("iiw400_sxs", "docci_test_sxs"):
        for line in (data / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            texts = (row["candidate"], row["references"][0])
            first, second = (" ".join(text.split()[:n_words]) + "." for text in texts)
            found[first] = second
    return [
        {"id": str(i), "candidate": c, "references": [r]} for i, (c, r) in enumerate(found.items())
    ]


def seconds(checkout: Path, spec: str, rows: list[dict[str, object]]) -> float | None:
    """Processor time of one command; None if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        words = ["score", str(path), "-m", spec, "-o", f"{folder}/out", "--workers", "1"]
        environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, *words],
            env=environment,
            capture_output=True,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return None if done.returncode else taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("older", type=Path, help="a checkout")
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with iiw400_sxs, docci_test_sxs"
    )
    parser.add_argument("--words", type=int, default=115)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    rows = described(given.data, given.words)
    here = Path(__file__).parents[1]
    for name, spec in RULES.items():
        known = seconds(given.older, spec, rows[:SHORT]) is not None
        specs = {here: spec, given.older: spec if known else name}
        least: dict[tuple[Path, int], float] = {}
        for _ in range(given.rounds):
            for checkout, its in specs.items():
                for n in (SHORT, len(rows)):
                    taken = seconds(checkout, its, rows[:n])
                    if taken is None:
                        raise SystemExit(f"{checkout}: {its} fails; run it by hand")
                    least[checkout, n] = min(taken, least.get((checkout, n), taken))
        each = {
            checkout: (least[checkout, len(rows)] - least[checkout, SHORT]) / (len(rows) - SHORT)
            for checkout in specs
        }
        print(
            f"{name}: {1e3 * each[here]:.1f} ms a pair, {1e3 * each[given.older]:.1f} ms before: "
            f"{each[given.older] / each[here]:.2f} times as fast; {SHORT} pairs with the start: "
            f"{least[here, SHORT]:.2f} s, {least[given.older, SHORT]:.2f} s before"
        )


if __name__ == "__main__":
    main()
