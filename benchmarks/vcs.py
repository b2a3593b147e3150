"""VCS beside the PyPI package video-comprehension-score 1.0.0, embeddings given, one thread.

Needs both packages in one environment (the peer is a tool of this script alone)::

    pip install beholder torch==2.13.0 video-comprehension-score==1.0.0
    python benchmarks/vcs.py

Three tables: pairs per second (28 x 30 chunks, and sizes that are new each time), one pair of
800 x 800 chunks that are all alike (time and peak memory of the whole process, each in a process of
its own), and cold start. Every figure is a median with its quartiles; ratios are of medians. The
packages take turns, a round of all pairs each, so that all meet the same states of the machine.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for _variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
):
    os.environ[_variable] = "1"

import numpy as np  # noqa: E402

Pair = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Reference chunks, candidate chunks, whole reference, whole candidate."""

DIMENSIONS = 256


def unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / lengths, dtype=np.float32)


def story_pair(
    rng: np.random.Generator, n_reference: int, n_candidate: int
) -> Pair:
    """Two tellings of one story: chunks near each other at the same place, some strayed."""
    story = np.cumsum(
        rng.normal(size=(max(n_reference, n_candidate), DIMENSIONS)), axis=0
    )

    def tell_story(n: int) -> np.ndarray:
        places = np.linspace(0, len(story) - 1, n) + rng.normal(
            scale=1.0, size=n
        )
        rows = story[np.clip(np.rint(places).astype(int), 0, len(story) - 1)]
        return np.asarray(rows + rng.normal(scale=1.5, size=rows.shape))

    reference, candidate = tell_story(n_reference), tell_story(n_candidate)
    return (
        unit(reference),
        unit(candidate),
        unit(reference.sum(0)),
        unit(candidate.sum(0)),
    )


def all_alike(n: int) -> Pair:
    vector = unit(np.random.default_rng(0).normal(size=DIMENSIONS))
    chunks = np.tile(vector, (n, 1))
    return chunks, chunks, vector, vector


def load_package(rules: str) -> Callable[[Pair], dict[str, float]]:
    import beholder

    metric = beholder.VCS(rules=rules)  # type: ignore[arg-type]
    return lambda pair: dict(metric.score_embeddings(*pair).values)


def load_peer() -> Callable[[Pair], dict[str, float]]:
    import torch

    # This file has the name of the peer's module: take its folder off the path.
    sys.path = [
        path
        for path in sys.path
        if Path(path).resolve() != Path(__file__).parent
    ]
    vcs = importlib.import_module("vcs")
    torch.set_num_threads(1)

    def score(pair: Pair) -> dict[str, float]:
        chunks = {
            "r": torch.from_numpy(pair[0]),
            "g": torch.from_numpy(pair[1]),
        }
        peer_options = {
            "r": torch.from_numpy(pair[2][None]),
            "g": torch.from_numpy(pair[3][None]),
        }
        result: dict[str, float] = vcs.compute_vcs_score(
            "r",
            "g",
            segmenter_fn=lambda text: [text] * len(chunks[text]),
            embedding_fn_las=lambda texts: chunks[texts[0]],
            embedding_fn_gas=lambda texts: torch.cat(
                [peer_options[text] for text in texts]
            ),
            return_all_metrics=True,
        )
        return result

    return score


MAKERS: dict[str, Callable[[], Callable[[Pair], dict[str, float]]]] = {
    "theirs": load_peer,
    "package": lambda: load_package("package"),
    "fixed": lambda: load_package("fixed"),
}


def quartiles(values: list[float]) -> tuple[float, float, float]:
    low, middle, high = np.percentile(values, [25, 50, 75])
    return float(low), float(middle), float(high)


def throughput(title: str, pairs: list[Pair], rounds: int) -> None:
    scorers = {name: make() for name, make in MAKERS.items()}
    for pair in pairs[:3]:  # the same work, and warm
        package_scores, expected = (
            scorers["package"](pair),
            scorers["theirs"](pair),
        )
        assert abs(package_scores["vcs"] - expected["VCS"]) < 2e-5, (
            package_scores,
            expected,
        )
        assert abs(package_scores["nas_l"] - expected["NAS-L"]) < 2e-5, (
            package_scores,
            expected,
        )
        scorers["fixed"](pair)
    seconds: dict[str, list[float]] = {name: [] for name in scorers}
    for _ in range(rounds):
        for name, score in scorers.items():
            for pair in pairs:
                start = time.perf_counter()
                score(pair)
                seconds[name].append(time.perf_counter() - start)
    print(
        f"\n{title}: pairs per second, median [quartiles], n = {len(seconds['theirs'])} each"
    )
    base = quartiles(seconds["theirs"])[1]
    for name, values in seconds.items():
        low, middle, high = quartiles(values)
        print(
            f"  {name:8} {1 / middle:10.0f}  [{1 / high:.0f} .. {1 / low:.0f}]"
            f"  {base / middle:6.1f} x theirs"
        )


def in_child(name: str, size: int) -> dict[str, Any]:
    """Score one pair in a new process: seconds of a second call, and peak memory."""
    command = [sys.executable, __file__, "--child", name, str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def child(name: str, size: int) -> None:
    score, pair = MAKERS[name](), all_alike(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    score(pair)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {"seconds": seconds, "peak": peak / 1024, "before": before / 1024}
        )
    )


def alike(size: int, repeats: int) -> None:
    print(
        f"\n{size} x {size} chunks, all alike: first call in a new process, n = {repeats} each"
    )
    runs = {
        name: [in_child(name, size) for _ in range(repeats)] for name in MAKERS
    }
    base = {
        key: quartiles([run[key] for run in runs["theirs"]])[1]
        for key in ("seconds", "peak")
    }
    for name, results in runs.items():
        low, seconds, high = quartiles([run["seconds"] for run in results])
        peak = quartiles([run["peak"] for run in results])[1]
        grown = quartiles([run["peak"] - run["before"] for run in results])[1]
        print(
            f"  {name:8} {1000 * seconds:8.1f} ms [{1000 * low:.1f} .. {1000 * high:.1f}]"
            f"  {base['seconds'] / seconds:6.1f} x as fast"
            f"  peak {peak:7.1f} MiB = 1/{base['peak'] / peak:.1f} of theirs"
            f"  (call itself {grown:.1f} MiB)"
        )


def cold_start(repeats: int) -> None:
    print(
        f"\ncold start of a new process: median [quartiles], n = {repeats} each"
    )
    code = {
        "theirs": "import vcs",
        "beholder": "import beholder; beholder.VCS()",
        "(python)": "pass",
    }
    for name, line in code.items():
        wall, processor = [], []
        for _ in range(repeats):
            start, before = (
                time.perf_counter(),
                resource.getrusage(resource.RUSAGE_CHILDREN),
            )
            subprocess.run([sys.executable, "-c", line], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            wall.append(time.perf_counter() - start)
            processor.append(
                after.ru_utime
                - before.ru_utime
                + after.ru_stime
                - before.ru_stime
            )
        low, middle, high = quartiles(wall)
        median_seconds = quartiles(processor)[1]
        print(
            f"  {name:8} {middle:6.2f} s [{low:.2f} .. {high:.2f}],"
            f" processor {median_seconds:.2f} s"
        )


def main() -> None:
    # First what runs in processes of its own: on Linux a child's peak memory starts from its
    # parent's, and torch is not loaded here yet.
    alike(800, repeats=5)
    cold_start(repeats=7)
    rng = np.random.default_rng(0)
    throughput(
        "28 x 30 chunks",
        [story_pair(rng, 28, 30) for _ in range(40)],
        rounds=20,
    )
    sizes = {(int(r), int(g)) for r, g in rng.integers(15, 60, size=(300, 2))}
    new = [story_pair(rng, r, g) for r, g in sorted(sizes)]
    throughput("15..60 x 15..60 chunks, every size new", new, rounds=1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]))
    else:
        main()
