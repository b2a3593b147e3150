"""Sessions of onnxruntime for the networks that ship: the only module that imports it.

The graphs fix their arithmetic themselves (``training/graphs.py``): here they run as written, on
one thread, so that results depend on nothing but the inputs.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import beholder.base.optional  # noqa: F401  before onnxruntime
from beholder.errors import RunError

_AT_ONCE = 128
"""Tokens of a batch: their numbers stay in the processor's cache. A longer text is a batch."""
_LONGER = 1.3
"""The longest text of a batch has up to this many times the tokens of the shortest."""


_LEAST_ROOM = 96 << 20
"""Bytes of address space without which no network is loaded: with less, onnxruntime does not raise
an error but ends the process."""


_LOADING = threading.Lock()


class GraphSession:
    """A network in a file of ONNX; it is loaded by the first call, in the process that makes it.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(
        self,
        outputs: Sequence[str],
        inputs: Mapping[str, npt.NDArray[Any]],
    ) -> list[npt.NDArray[Any]]:
        """Compute some outputs, and only what they need.

        Args:
            outputs: Their names.
            inputs: By name, all inputs of the graph.
        """
        session, options = self._open()
        computed: list[npt.NDArray[Any]] = session.run(
            list(outputs),
            dict(inputs),
            options,
        )
        return computed

    def metadata(self, name: str) -> str:
        """Return a text that the file has beside its graph."""
        text: str = self._open()[0].get_modelmeta().custom_metadata_map[name]
        return text

    def _open(self) -> tuple[Any, Any]:
        with _LOADING:  # threads that start together load once
            return self._session

    @cached_property
    def _session(self) -> tuple[Any, Any]:
        # The import of ``optional`` has switched statistics off, which onnxruntime reads once, when
        # it is imported. Otherwise it writes a device id below HOME and calls its maker's server.
        check_room(_address_space_left(), self._path)
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # A thread of its own would not survive a fork; workers of a run are forked.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_mem_pattern = False  # sizes of texts hardly ever repeat
        # Fused operations round elsewhere, and to look for them takes longer than it saves.
        options.graph_optimization_level = (
            onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        )
        session = onnxruntime.InferenceSession(
            str(self._path),
            options,
            providers=["CPUExecutionProvider"],
        )
        run_options = onnxruntime.RunOptions()
        run_options.only_execute_path_to_fetches = True
        return session, run_options


def check_room(n_left: int | None, path: Path) -> None:
    """Refuse to load a network where a limit leaves too little address space.

    Args:
        n_left: Bytes that are left; None without a limit.
        path: The network.

    Raises:
        RunError: Names the limit and what to do.
    """
    if n_left is not None and n_left < _LEAST_ROOM:
        raise RunError(
            f"the limit on memory (ulimit -v) leaves {max(n_left, 0) >> 20} MiB, and the network"
            f" {path.name} needs {_LEAST_ROOM >> 20}: raise the limit, or use fewer metrics at once"
        )


def _address_space_left() -> int | None:
    """Return the bytes that the limit on address space leaves this process; None without one."""
    try:
        import resource  # not on Windows

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return None
        n_pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (ImportError, OSError):  # other systems do not say how much is used
        return None
    return limit - n_pages * resource.getpagesize()


def lay_out(lengths: Sequence[int]) -> dict[str, npt.NDArray[Any]]:
    """Return the inputs of an encoder with the places of texts among tokens laid end to end.

    Args:
        lengths: Tokens of each text.

    Returns:
        ``places``, ``keys``, ``added`` and ``kept``, as ``training/encoders.py`` defines them.
    """
    sizes = np.array(lengths)[:, None]
    steps = np.arange(sizes.max())
    inside = steps < sizes
    starts = sizes.cumsum()[:, None] - sizes
    added = np.where(inside, np.float32(0), np.float32(-np.inf))
    return {
        "places": np.broadcast_to(steps, inside.shape)[inside],
        "keys": np.where(inside, starts + steps, 0),
        "added": added[:, None, None],
        "kept": np.flatnonzero(inside),
    }


def batch_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """Indices of texts in batches of about one length, so that few places are empty.

    Args:
        lengths: Tokens of each text.
    """
    batches: list[list[int]] = []
    n_tokens = shortest = 0
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        n_tokens += lengths[i]
        if (
            not batches
            or n_tokens > _AT_ONCE
            or lengths[i] > _LONGER * shortest + 2
        ):
            batches.append([])
            n_tokens = shortest = lengths[i]
        batches[-1].append(i)
    return batches
