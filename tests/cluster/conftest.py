"""A cluster of three nodes on this machine, as small as it can be.

Ray's dashboard, its usage statistics and its tokens are off: the nodes talk to each other alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

collect_ignore_glob = (
    [] if find_spec("ray") else ["test_*.py"]
)  # `make test-ray` has it

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_AUTH_MODE"] = "disabled"
os.environ.update(
    RAY_worker_niceness="0"
)  # by default, Ray gives way to all else
# Ray starts its workers itself: they find `toy` as this process does.
TESTS = str(Path(__file__).parents[1])
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [TESTS, os.environ.get("PYTHONPATH")])
)

OBJECTS = 100 * 2**20


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Three nodes of one CPU each; the first is the head."""
    from ray.cluster_utils import Cluster

    nodes = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "include_dashboard": False,
            "object_store_memory": OBJECTS,
        },
    )
    for _ in range(2):
        nodes.add_node(num_cpus=1, object_store_memory=OBJECTS)
    try:
        yield nodes
    finally:
        nodes.shutdown()


@pytest.fixture(scope="module")
def alone() -> Iterator[Any]:
    """Ray on this machine alone, connected."""
    import ray

    ray.init(
        "local",
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=OBJECTS,
        log_to_driver=False,
    )
    try:
        yield ray
    finally:
        ray.shutdown()
