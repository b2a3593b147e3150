"""What the run engine itself costs: the process that writes, tables, summary, page, second start.

A few hundred rows are scored for real. What came of them is then answered at once for every row of
a larger run by two processes that stand for many workers, so that only the engine is measured; the
time of a worker is the one of the real rows. All figures are processor seconds.

* per outcome: a worker's time, the main process's time with 2, 8 and 64 workers' blocks on the way,
  its share of all time, the number of workers at which it would be busy all the time;
* per item: bytes of the store;
* per run of 1,000, 20,000 and 200,000 rows: reading, preparing, export, summary, page, and the same
  command again over the finished run, as a share of the first start.

Run: ``python -m benchmarks.engine --data FOLDER`` (of judged sets; see ``benchmarks.million``).
"""

from __future__ import annotations

import argparse
import json
import lzma
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from beholder.asking.asker import Asker
from beholder.data import read_items
from beholder.kinds.scores.door import configure
from beholder.kinds.scores.page import write_report
from beholder.metrics import Metric, Tools, metric
from beholder.records import Item
from beholder.run import SCORES, execute, session
from beholder.run.codec import Encoded
from beholder.run.execute import Scorer, Task
from beholder.run.kind import run
from beholder.run.session import Quiet
from beholder.run.store import Store
from beholder.run.subjects import ITEM, KINDS, SubjectKind
from benchmarks import million

N_REAL = {"short": 256, "long": 48}
"""Rows that are scored for real."""
SHORT, LONG = ("vcs_short", "bleu", "cider"), ("posh", "vcs", "dcscore")
SIZES = (1_000, 20_000, 200_000)
WORKERS = (2, 8, 64)
PROCESSES = 2


class Replayed(Scorer):
    """Answers at once with what became of other subjects."""

    def __init__(
        self,
        outcomes: Encoded,
        askers: Sequence[Asker[Any]],
        kind: SubjectKind[Any],
        make_tools: Callable[[], Tools] = Tools,
    ) -> None:
        super().__init__(askers, kind, make_tools)
        self._known = outcomes
        self._rows: dict[str, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _replayed, (self._known, self.askers, self.kind.name)

    def __call__(self, tasks: Iterable[Task]) -> Encoded:
        """Rows of subjects that were scored, under the positions asked for."""
        if not self._rows:
            for row in self._known.scores:
                self._rows.setdefault(row[0], []).append(row)
        encoded = Encoded()
        for position, _, places in tasks:
            for place in places:
                rows = self._rows[self.askers[place].name]
                name, _, *outcome = rows[position % len(rows)]
                encoded.scores.append((name, position, *outcome))
        return encoded


def _replayed(
    outcomes: Encoded, askers: Sequence[Asker[Any]], kind: str
) -> Replayed:
    return Replayed(outcomes, askers, KINDS[kind])


class Clock:
    """Processor seconds of this process by what it does."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def over(self, name: str) -> Iterator[None]:
        """Count what is done meanwhile under a name."""
        before = time.process_time()
        try:
            yield
        finally:
            self.seconds[name] += time.process_time() - before

    def around(self, owner: Any, function: str, name: str) -> None:
        """From now on the time of a function counts under a name."""
        inner = getattr(owner, function)

        def timed(*arguments: Any, **options: Any) -> Any:
            with self.over(name):
                return inner(*arguments, **options)

        setattr(owner, function, timed)


def long_rows(folder: Path, n: int) -> Iterator[dict[str, Any]]:
    """Descriptions of many words, each beside another one as its reference."""
    path = next((folder.parent / "descriptions").glob("*.xz"))
    with lzma.open(path, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    pairs = zip(cycle(texts), islice(cycle(texts), 1, None), strict=False)
    for number, (text, reference) in enumerate(islice(pairs, n)):
        yield {"id": str(number), "candidate": text, "references": [reference]}


def measure_real(
    metrics: Sequence[Metric[Any]], items: Sequence[Item]
) -> tuple[Encoded, dict[str, float]]:
    """Return the outcomes of items, and a warm worker's seconds per outcome by metric."""
    outcomes, seconds = Encoded(), {}
    for scored_metric in metrics:
        scorer = Scorer((scored_metric.prepare(items),), ITEM)
        tasks: list[Task] = [
            (place, item, (0,)) for place, item in enumerate(items)
        ]
        half = len(tasks) // 2
        scorer(tasks[:half])
        before = time.process_time()
        for start in range(half, len(tasks), execute.SMALLEST):
            outcomes.scores.extend(
                scorer(tasks[start : start + execute.SMALLEST]).scores
            )
        seconds[scored_metric.name] = (time.process_time() - before) / (
            len(tasks) - half
        )
    return outcomes, seconds


def run_once(
    data: Path, folder: Path, names: Sequence[str], n: int
) -> dict[str, Any]:
    """One run of ``n`` rows whose outcomes are known, phase by phase."""
    clock = Clock()
    metrics = [metric(name) for name in names]
    items = [
        row
        for row in islice(read_items(data), N_REAL[data.stem])
        if isinstance(row, Item)
    ]
    outcomes, seconds = measure_real(metrics, items)
    setattr(session, "Scorer", partial(Replayed, outcomes))  # noqa: B010
    setattr(execute, "ProcessPoolExecutor", partial(_few_processes, PROCESSES))  # noqa: B010
    clock.around(Store, "sync", "read")
    clock.around(session.Session, "_prepared", "prepare")
    clock.around(session, "execute", "write")
    clock.around(session, "export", "export")
    clock.around(session, "summarise", "summary")
    config = configure(
        str(data), list(metrics), out=folder, limit=n, workers=64
    )
    with clock.over("first start"):
        run(SCORES, config, Quiet())
    with clock.over("page"):
        write_report(folder)
    first = dict(clock.seconds)
    with clock.over("second start"):
        run(SCORES, config, Quiet())
    files = ("store.sqlite", "report.html")
    return {
        "seconds": first | {"second start": clock.seconds["second start"]},
        "worker": sum(seconds.values()) * n,
        "bytes": {name: (folder / name).stat().st_size for name in files},
        "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
    }


def per_outcome(
    data: Path, folder: Path, names: Sequence[str], n: int
) -> dict[str, Any]:
    """Return the main process's seconds per outcome of each metric, by workers."""
    items = [
        row
        for row in islice(read_items(data), N_REAL[data.stem])
        if isinstance(row, Item)
    ]
    setattr(execute, "ProcessPoolExecutor", partial(_few_processes, PROCESSES))  # noqa: B010
    figures: dict[str, Any] = {}
    with Store.open(folder) as store:
        store.sync(
            ITEM,
            (
                row
                for row in islice(read_items(data), n)
                if isinstance(row, Item)
            ),
        )
        for name in names:
            scored_metric = metric(name)
            outcomes, seconds = measure_real([scored_metric], items)
            main = {}
            for workers in WORKERS:
                store.keep_only(scored_metric.name, [])
                scorer = Replayed(
                    outcomes, [scored_metric.prepare(items)], ITEM
                )
                work = execute.Work(
                    scorer,
                    store.pending(scored_metric.name, n)[None],
                    store,
                    Tools(),
                )
                before = time.process_time()
                execute.execute(
                    work, store.put_block, workers=workers, concurrency=1
                )
                main[str(workers)] = (time.process_time() - before) / n
            figures[name] = {
                "worker": seconds[scored_metric.name],
                "main": main,
            }
    return figures


def _few_processes(
    processes: int, workers: int, **options: Any
) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(min(processes, workers), **options)


def in_new_process(task_name: str, *arguments: object) -> dict[str, Any]:
    """Measure in a new process, so that memory is its own; return the figures."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.engine",
        "--one",
        task_name,
        *map(str, arguments),
    ]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True
    )
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def tell_outcomes(
    data: Path, folder: Path, names: Sequence[str], n: int
) -> None:
    """Print a row per metric."""
    for name, figures in in_new_process(
        "outcome", data, folder, ",".join(names), n
    ).items():
        worker, main = figures["worker"], figures["main"]
        share = main["64"] / (worker + main["64"])
        cells = " | ".join(
            f"{1e6 * main[str(workers)]:,.0f}" for workers in WORKERS
        )
        busy = worker / main["64"]
        print(
            f"| {name} | {1e3 * worker:.2f} | {cells} | {share:.1%} | {busy:,.0f} |",
            flush=True,
        )


def tell_run(data: Path, folder: Path, names: Sequence[str], n: int) -> None:
    """Print a row for a run of ``n`` rows."""
    figures = in_new_process(
        "run", data, folder / f"run-{data.stem}-{n}", ",".join(names), n
    )
    seconds, sizes = figures["seconds"], figures["bytes"]
    phases = (
        "read",
        "prepare",
        "write",
        "export",
        "summary",
        "page",
        "second start",
    )
    cells = " | ".join(f"{seconds.get(phase, 0):.2f}" for phase in phases)
    total_seconds = figures["worker"] + seconds["first start"]
    stored = f"{sizes['store.sqlite'] / n:,.0f}"
    again = f"{seconds['second start'] / total_seconds:.2%}"
    page = f"{sizes['report.html'] / 1e6:.1f}"
    print(
        f"| {n:,} | {cells} | {again} | {stored} | {page} | {figures['MB']:,.0f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--one", nargs=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--outcomes", type=int, default=200_000)
    args = parser.parse_args()
    if args.one is not None:
        task_name, data, folder, names, n = args.one
        do = {"run": run_once, "outcome": per_outcome}[task_name]
        print(
            json.dumps(do(Path(data), Path(folder), names.split(","), int(n)))
        )
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        short, long = folder / "short.jsonl", folder / "long.jsonl"
        for path, rows in (
            (
                short,
                million.rows(args.data, max(*args.sizes, args.outcomes), 1),
            ),
            (long, long_rows(args.data, 1_000)),
        ):
            path.write_text(
                "".join(json.dumps(row) + "\n" for row in rows),
                encoding="utf-8",
            )
        print(
            "| metric | worker, ms | main, us at 2 | at 8 | at 64 | share | busy at |"
        )
        print("|---|---|---|---|---|---|---|")
        tell_outcomes(short, folder / "short", SHORT, args.outcomes)
        tell_outcomes(long, folder / "long", LONG, 1_000)
        print(
            "| rows | read | prepare | write | export | summary | page | again | again, share"
            " | store, bytes an item | page, MB | memory, MB |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|---|---|")
        for n in args.sizes:
            tell_run(short, folder, SHORT, n)
        tell_run(long, folder, LONG, 1_000)


if __name__ == "__main__":
    main()
