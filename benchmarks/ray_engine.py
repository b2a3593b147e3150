"""What Ray costs beside the engine of one machine: the same rows, metrics and processors.

Both commands run one after the other in rounds, and their runs must have the same bytes. Processor
seconds are those of all processes that a command began, Ray's own among them: each is looked at
twice a second, so what a process does in its last half second is not seen. Printed per round, with
the share that Ray takes more.

Run: ``python -m benchmarks.ray_engine --data FOLDER --rows 200000`` (of judged sets; see
``benchmarks.million``), in an environment with the extra ``ray``.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import million

SAME_FILES = ("run.json", "scores.parquet", "units.parquet", "report.html")
_SUBREAPER = 36


def descendants() -> list[int]:
    """Processes that were begun by this one, or by those that it began, at any depth."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            after_name = (
                (folder / "stat").read_text().rsplit(")", 1)[1].split()
            )
        except OSError:  # it has ended
            continue
        children.setdefault(int(after_name[1]), []).append(int(folder.name))
    process_numbers, ahead = [], children.get(os.getpid(), [])
    while ahead:
        process_number = ahead.pop()
        process_numbers.append(process_number)
        ahead += children.get(process_number, [])
    return process_numbers


def usage(pid: int) -> tuple[float, int]:
    """Processor seconds of a process so far, and kB of the most memory it had."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0, 0
    peak = [
        int(line.split()[1])
        for line in status.splitlines()
        if line.startswith("VmHWM")
    ]
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK"), max(
        peak, default=0
    )


def measured(command: list[str]) -> tuple[float, float]:
    """Processor seconds of a command with all it began, and MB of the largest process."""
    seconds: dict[int, float] = {}
    peaks: dict[int, int] = {}

    def look() -> None:
        for pid in descendants():
            used_seconds, peak = usage(pid)
            seconds[pid] = max(used_seconds, seconds.get(pid, 0.0))
            peaks[pid] = max(peak, peaks.get(pid, 0))

    with subprocess.Popen(
        command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as process:
        while process.poll() is None:
            look()
            time.sleep(0.5)
    if process.returncode:
        raise SystemExit(
            f"{' '.join(command)} ended with {process.returncode}"
        )
    return sum(seconds.values()), max(peaks.values()) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--metric", action="append")
    args = parser.parse_args()
    # What outlives a command is ours from then on, so that it is seen until it ends.
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    metrics = args.metric or list(million.METRICS)
    print(
        f"{os.cpu_count()} processors, {args.rows:,} rows, {' '.join(metrics)}",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data = folder / "rows.jsonl"
        with data.open("w", encoding="utf-8") as file:
            file.writelines(
                json.dumps(r) + "\n"
                for r in million.rows(args.data, args.rows, 1)
            )
        metric_options = [word for name in metrics for word in ("-m", name)]
        for number in range(args.rounds):
            usage_by_engine = {}
            for engine in ("local", "ray"):
                out = folder / f"{engine}-{number}"
                command = [
                    sys.executable,
                    "-m",
                    "beholder",
                    "score",
                    str(data),
                    *metric_options,
                ]
                command += [
                    "-o",
                    str(out),
                    "--engine",
                    engine,
                    "--workers",
                    str(os.cpu_count()),
                ]
                usage_by_engine[engine], peak = measured(command)
                print(
                    f"{engine}: {usage_by_engine[engine]:,.1f} s of CPU,"
                    f" largest process {peak:,.0f} MB"
                )
            more = usage_by_engine["ray"] / usage_by_engine["local"] - 1
            print(f"Ray takes {100 * more:+.1f} %", flush=True)
            for name in SAME_FILES:
                local_file, ray_file = (
                    folder / f"{engine}-{number}" / name
                    for engine in usage_by_engine
                )
                assert local_file.read_bytes() == ray_file.read_bytes(), name


if __name__ == "__main__":
    main()
