"""One run from many captions to its page, in the memory of a small machine.

Rows are made of the captions of a folder of judged sets: the references of a picture, and a caption
of any picture as the candidate. Printed: rows, processor seconds of all processes, the largest
memory any of them had, the size of what is left, and how long the page takes to open in a headless
Chromium. Run:
``PYTHONPATH=tests python -m benchmarks.million --data FOLDER --out FOLDER [--rows 1000000]``;
started again it goes on where it was.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SETS = (
    "flickr8k_cf.jsonl.gz",
    "flickr8k_expert.jsonl",
    "pascal50s.jsonl",
    "sugarcrepe.jsonl",
    "thumb_mscoco.jsonl",
)
METRICS = ("vcs_short", "bleu", "cider")


def captions(folder: Path) -> tuple[list[str], dict[str, list[str]]]:
    """Return all captions of the sets, and the references by picture, in order."""
    all_texts: dict[str, None] = {}
    pictures: dict[str, list[str]] = {}
    for name in SETS:
        path = folder / name
        with (
            gzip.open(path, "rt")
            if path.suffix == ".gz"
            else path.open() as file
        ):
            for row in map(json.loads, file):
                if row["references"]:
                    pictures[f"{row['dataset']}/{row['image']}"] = row[
                        "references"
                    ]
                texts = (
                    row["candidate"],
                    row["candidate_b"],
                    *row["references"],
                )
                all_texts |= dict.fromkeys(text for text in texts if text)
    return list(all_texts), pictures


def rows(folder: Path, n: int, seed: int) -> Iterator[dict[str, Any]]:
    """Rows to score."""
    texts, pictures = captions(folder)
    named_pictures = list(pictures.items())
    print(
        f"{len(texts):,} captions, {len(named_pictures):,} pictures",
        flush=True,
    )
    rng = random.Random(seed)
    for number in range(n):
        picture, references = rng.choice(named_pictures)
        yield {
            "id": str(number),
            "image": picture,
            "candidate": rng.choice(texts),
            "references": references,
        }


def largest(pid: int) -> dict[int, int]:
    """Largest memory, kB, that a process and those it started have had, by number."""
    peak_by_number, ahead = {}, [pid]
    while ahead:
        process_number = ahead.pop()
        try:
            status = Path(f"/proc/{process_number}/status").read_text()
            children = Path(
                f"/proc/{process_number}/task/{process_number}/children"
            ).read_text()
        except OSError:  # it has ended
            continue
        peak_by_number[process_number] = next(
            int(x.split()[1])
            for x in status.splitlines()
            if x.startswith("VmHWM")
        )
        ahead += map(int, children.split())
    return peak_by_number


def opening(path: Path) -> float:
    """Seconds until the page is drawn."""
    from toy.browser import (
        browser,
    )  # of the tests: not for those who take the rows alone

    with (
        tempfile.TemporaryDirectory() as profile,
        browser(Path(profile)) as page,
    ):
        before = time.perf_counter()
        page.open(path.resolve().as_uri())
        return time.perf_counter() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument(
        "--limit",
        type=int,
        help="score only the first so many; raise it later",
    )
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    data, run = (
        args.out / f"rows-{args.rows}.jsonl",
        args.out / f"run-{args.rows}",
    )
    if not data.exists():
        with data.open("w", encoding="utf-8") as file:
            file.writelines(
                json.dumps(row) + "\n"
                for row in rows(args.data, args.rows, args.seed)
            )
    command = [
        sys.executable,
        "-m",
        "beholder",
        "score",
        str(data),
        "-o",
        str(run),
    ]
    metric_options = [part for name in METRICS for part in ("-m", name)]
    metric_options += ["--limit", str(args.limit)] if args.limit else []
    peaks: dict[int, int] = {}
    with subprocess.Popen([*command, *metric_options]) as process:
        while process.poll() is None:
            peaks |= largest(process.pid)
            time.sleep(2)
    resources = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"exit code {process.returncode}, {resources.ru_utime + resources.ru_stime:,.0f} s of CPU"
    )
    print(
        f"largest process {max(peaks.values()) / 1000:,.0f} MB of {len(peaks)}"
    )
    for path in sorted(run.iterdir()):
        print(f"  {path.name}: {path.stat().st_size / 1e6:,.1f} MB")
    print(f"the page opens in {opening(run / 'report.html'):.2f} s")


if __name__ == "__main__":
    main()
