"""Extraction of storylines beside the published ways, one thread, each in a process of its own.

    pip install pulp networkx       # the peers' tools; they are needed by this script alone
    python benchmarks/narratives.py [--photos NPZ --ends FIRST LAST ...] [--quick]

1. Of 501 pictures, K = 10 and 30: ``maxmin`` beside the linear program of Narrative Maps as it was
   published, built with PuLP and solved by its bundled solver, and beside our ``narrative_map``
   (the same program with flow balance substituted, by HiGHS). Weakest link of each path.
2. Of 5,000 pictures: ``trail`` beside the way of Narrative Trails with networkx (complete graph,
   maximum spanning tree, threshold, time-ordered digraph, widest path by a heap). Capacity of each.
3. 50,000 pictures, K = 20, each step at most 2,000 positions ahead: limits are 5 minutes and 4 GB.

Without --photos the vectors of 1 are a seeded random walk. Time excludes imports and making the
vectors; peak memory is that of the whole process.
"""

from __future__ import annotations

import argparse
import heapq
import importlib
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

for _variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
):
    os.environ[_variable] = "1"

import numpy as np  # noqa: E402

from beholder.kinds.narratives.storylines import (  # noqa: E402
    Space,
    maxmin,
    narrative_map,
    trail,
)

LIMIT_SECONDS, LIMIT_BYTES = 300.0, 4 << 30


def walk(n: int, dimensions: int, seed: int = 0) -> np.ndarray:
    """Vectors that drift: neighbours in time are alike, as in a collection of photographs."""
    rng = np.random.default_rng(seed)
    drift = np.cumsum(rng.normal(scale=0.1, size=(n, dimensions)), axis=0)
    return np.asarray(
        drift + rng.normal(size=(n, dimensions)), dtype=np.float32
    )


def photos(task: dict[str, Any]) -> tuple[np.ndarray, int, int]:
    if task["photos"] is None:
        return walk(501, 256), 30, 377
    archive = np.load(task["photos"])
    ids = [str(frame_id) for frame_id in archive["ids"]]
    first, last = task["ends"]
    return archive["embeddings"], ids.index(first), ids.index(last)


def ours_maxmin(task: dict[str, Any]) -> dict[str, Any]:
    vectors, source, target = photos(task)
    began = time.perf_counter()
    space = Space.from_embeddings(vectors, scale="minmax")
    path = maxmin(space, task["k"], source=source, target=target)
    return {
        "seconds": time.perf_counter() - began,
        "value": path.weakest,
        "n": len(path.positions),
    }


def ours_map(task: dict[str, Any]) -> dict[str, Any]:
    vectors, source, target = photos(task)
    began = time.perf_counter()
    space = Space.from_embeddings(vectors, scale="minmax")
    path = narrative_map(space, task["k"], source=source, target=target)
    return {
        "seconds": time.perf_counter() - began,
        "value": path.weakest,
        "n": len(path.positions),
    }


def pulp_map(task: dict[str, Any]) -> dict[str, Any]:
    """Return the published program: variables for the minimum, each picture and each step."""
    pulp: Any = importlib.import_module("pulp")
    vectors, source, target = photos(task)
    k, n = task["k"], len(vectors)
    space = Space.from_embeddings(vectors, scale="minmax")
    began = time.perf_counter()
    theta = space.theta()
    program = pulp.LpProblem("map", pulp.LpMaximize)
    weakest = pulp.LpVariable("minedge", 0, 1)
    active = [pulp.LpVariable(f"act_{i}", 0, 1) for i in range(n)]
    step = {
        (i, j): pulp.LpVariable(f"next_{i}_{j}", 0, 1)
        for i in range(n)
        for j in range(i + 1, n)
    }
    program += weakest
    for i in range(n):
        if i < source or i > target:
            program += active[i] == 0
    program += active[source] == 1
    program += active[target] == 1
    program += pulp.lpSum(active) == k
    for j in range(1, n):
        inflow = pulp.lpSum(step[i, j] for i in range(j))
        program += inflow == (0 if j == source else active[j])
    for i in range(n - 1):
        outflow = pulp.lpSum(step[i, j] for j in range(i + 1, n))
        program += outflow == (0 if i == target else active[i])
    for (i, j), variable in step.items():
        program += weakest <= 1 - variable + min(float(theta[i, j]), 1.0)
    program.solve(pulp.PULP_CBC_CMD(msg=False, mip=False))
    flow = {edge: variable.value() or 0.0 for edge, variable in step.items()}
    path = [source]
    while (
        path[-1] != target
    ):  # the heaviest step out: the storyline that carries the most flow
        path.append(
            max(range(path[-1] + 1, n), key=lambda j: flow[path[-1], j])
        )
    steps = space.steps(path)
    return {
        "seconds": time.perf_counter() - began,
        "value": float(steps.min()),
        "n": len(path),
        "objective": weakest.value(),
    }


def ours_trail(task: dict[str, Any]) -> dict[str, Any]:
    vectors = walk(task["n"], 48)
    began = time.perf_counter()
    path = trail(
        Space.from_embeddings(vectors), source=0, target=task["n"] - 1
    )
    return {
        "seconds": time.perf_counter() - began,
        "value": path.weakest,
        "n": len(path.positions),
    }


def networkx_trail(task: dict[str, Any]) -> dict[str, Any]:
    """Complete graph, maximum spanning tree, threshold, digraph forward in time, widest path."""
    nx: Any = importlib.import_module("networkx")
    n = task["n"]
    space = Space.from_embeddings(walk(n, 48))
    began = time.perf_counter()
    theta = space.theta().astype(np.float64)
    np.fill_diagonal(theta, 0.0)
    tree = nx.maximum_spanning_tree(nx.from_numpy_array(theta))
    critical = min(weight for _, _, weight in tree.edges(data="weight"))
    forward = np.triu(np.where(theta >= critical, theta, 0.0))
    graph = nx.from_numpy_array(forward, create_using=nx.DiGraph)
    best, came_from = {0: np.inf}, {}
    heap = [(-np.inf, 0)]
    while heap:
        width, node = heapq.heappop(heap)
        if node == n - 1:
            break
        if -width < best[node]:
            continue
        for neighbour, edge in graph[node].items():
            reached = min(-width, edge["weight"])
            if reached > best.get(neighbour, -np.inf):
                best[neighbour], came_from[neighbour] = reached, node
                heapq.heappush(heap, (-reached, neighbour))
    path = [n - 1]
    while path[-1]:
        path.append(came_from[path[-1]])
    return {
        "seconds": time.perf_counter() - began,
        "value": best[n - 1],
        "n": len(path),
    }


def ours_large(task: dict[str, Any]) -> dict[str, Any]:
    vectors = walk(task["n"], 512)
    began = time.perf_counter()
    path = maxmin(
        Space.from_embeddings(vectors),
        20,
        source=0,
        target=None,
        window=task["window"],
    )
    return {
        "seconds": time.perf_counter() - began,
        "value": path.weakest,
        "n": len(path.positions),
    }


TASKS = {
    f.__name__: f
    for f in (
        ours_maxmin,
        ours_map,
        pulp_map,
        ours_trail,
        networkx_trail,
        ours_large,
    )
}


def measure(name: str, **task: Any) -> dict[str, Any]:
    """Run one task in a process of its own."""
    command = [
        sys.executable,
        __file__,
        "--task",
        json.dumps({"name": name, **task}),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-2000:]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def show(
    label: str,
    figures: dict[str, Any],
    other_figures: dict[str, Any] | None = None,
) -> None:
    line = (
        f"  {label:<34} {figures['seconds']:9.3f} s  {figures['peak'] / 2**20:8.0f} MB"
        f"  weakest {figures['value']:.4f}  {figures['n']} pictures"
    )
    if "objective" in figures:
        line += f"  objective {figures['objective']:.4f}"
    if other_figures is not None:
        line += (
            f"  -> {other_figures['seconds'] / figures['seconds']:.0f} x faster,"
            f" {other_figures['peak'] / figures['peak']:.1f} x less memory"
        )
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photos", type=Path)
    parser.add_argument("--ends", nargs=2, metavar=("FIRST", "LAST"))
    parser.add_argument(
        "--quick", action="store_true", help="Part 2 with 1,500 pictures."
    )
    parser.add_argument("--task")
    options = parser.parse_args()
    if options.task:
        task = json.loads(options.task)
        figures = TASKS[task["name"]](task)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({**figures, "peak": peak}))
        return
    arguments = {
        "photos": str(options.photos) if options.photos else None,
        "ends": options.ends,
    }
    for k in (10, 30):
        print(f"501 pictures, K = {k}, min-max scale")
        peer = measure("pulp_map", k=k, **arguments)
        show("published program, PuLP", peer)
        show(
            "narrative_map (HiGHS)",
            measure("ours_map", k=k, **arguments),
            peer,
        )
        show("maxmin", measure("ours_maxmin", k=k, **arguments), peer)
    n = 1500 if options.quick else 5000
    print(f"{n} pictures, widest path")
    peer = measure("networkx_trail", n=n)
    show("published way, networkx", peer)
    show("trail", measure("ours_trail", n=n), peer)
    print("50,000 pictures of 512 dimensions, K = 20, window 2,000")
    large = measure("ours_large", n=50_000, window=2000)
    show("maxmin", large)
    if large["seconds"] > LIMIT_SECONDS or large["peak"] > LIMIT_BYTES:
        raise SystemExit("over the limit of 5 minutes or 4 GB")


if __name__ == "__main__":
    main()
