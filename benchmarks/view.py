"""Time of the viewer's pages at the server, over a run of many items: CPU milliseconds a page.

    python benchmarks/view.py [--items 100000]

The run is made up: texts of some 90 words, 12 units an item of three verdicts, two metrics.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from msgspec import structs
from starlette.testclient import TestClient

from beholder.metrics import metric
from beholder.records import Item, ItemScore, Unit
from beholder.run import manifest
from beholder.run.export import export
from beholder.run.store import Store
from beholder.run.subjects import ITEM, ScheduledAsker
from beholder.web import Settings
from beholder.web.viewer import Viewer, make_viewer

WORDS = (
    "a",
    "the",
    "red",
    "old",
    "tall",
    "cat",
    "dog",
    "lemon",
    "table",
    "bowl",
    "holds",
    "sees",
)
VERDICTS = ("match", "mistake", "omission")
REPEATS = 5
LIMIT_MS = 200.0


def items(n: int) -> Iterator[Item]:
    """Made-up rows."""
    rng = np.random.default_rng(7)
    for place in range(n):
        words = rng.choice(WORDS, size=90).tolist()
        yield Item(
            f"item-{place}", " ".join(words[:45]), (" ".join(words[45:]),),
            group={"system": f"s{place % 7}"},
        )  # fmt: skip


def make(folder: Path, n: int) -> Path:
    """Return a finished run over ``n`` items."""
    askers = [metric("length"), metric("token_f1")]
    rng = np.random.default_rng(11)
    with Store.open(folder) as store:
        n_items, digest = store.sync(ITEM, items(n))
        scheduled = []
        for asker in askers:
            store.add_asker(asker.name, ITEM, {}, asker.name)
            scheduled.append(ScheduledAsker(asker, ITEM, n, asker.name, n))
            names = [value.name for value in asker.values]
            for place in range(n):
                units = tuple(
                    Unit(
                        "entity",
                        "cat",
                        "candidate",
                        ((k, k + 3),),
                        0.5,
                        VERDICTS[(place + k) % 3],
                    )
                    for k in range(12)
                )
                scores = dict(
                    zip(names, rng.random(len(names)).tolist(), strict=True)
                )
                store.put_outcome(
                    asker.name, place, ItemScore(scores, units, asker.name)
                )
        export(store, scheduled)
    log = manifest.build(
        "scores", manifest.Log("made.jsonl", digest, n_items), scheduled
    )
    manifest.write(folder, structs.replace(log, status="complete"))
    return folder


def main() -> None:
    """Make a run, read it, ask for each kind of page, and print how long each takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    n = parser.parse_args().items
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        run = make(Path(folder) / "run", n)
        print(
            f"made {n:,} items: {time.process_time() - started:.1f} s of CPU"
        )
        viewer = Viewer([run, run])
        started = time.process_time()
        for view in viewer.runs:
            view.refresh()
        each = (time.process_time() - started) / 2
        print(f"read (once, before the first page): {each:.1f} s of CPU")
        by = json.dumps(["token_f1", "f1"])
        pages = {
            "runs": "/",
            "overview": "/runs/0",
            "list": "/runs/0/items",
            "list, last page": f"/runs/0/items?page={n // 50 - 1}",
            "list, sorted": f"/runs/0/items?sort=value&down=1&by={by}",
            "list, sorted by id": "/runs/0/items?sort=id",
            "list, range, verdict": f"/runs/0/items?low=0.2&high=0.4&verdict=%22match%22&by={by}",
            "list, words that are rare": "/runs/0/items?q=lemon+lemon+lemon",
            "list, words that are frequent": "/runs/0/items?q=cat",
            "list, words that are nowhere": "/runs/0/items?q=zebra",
            "item": f"/runs/0/item/{n // 2}?sort=value",
            "compare": "/compare?a=0&b=1",
            "compare, an item": f"/compare/item?a=0&b=1&at={n // 2}",
            "progress": "/runs/0/progress",
        }
        app = make_viewer(viewer, Settings(rate=1e9, burst=10**9))
        client = TestClient(app, base_url="http://127.0.0.1")
        worst = 0.0
        for name, address in pages.items():
            times = []
            for _ in range(REPEATS):
                started = time.process_time()
                answer = client.get(address)
                times.append(1000 * (time.process_time() - started))
                assert answer.status_code == 200, (address, answer.text)
            again = statistics.median(times[1:])
            worst = max(worst, again)
            size = len(answer.content) // 1000
            print(
                f"{name:32} {again:7.1f} ms   first {times[0]:7.1f} ms   {size:5} kB"
            )
        print(f"slowest {worst:.0f} ms; limit {LIMIT_MS:.0f} ms")
        viewer.watcher.stop()


if __name__ == "__main__":
    main()
