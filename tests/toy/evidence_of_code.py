"""Which files a score of each metric reads and runs, and which of them its signature covers.

    PYTHONPATH=tests python -m toy.evidence_of_code [METRIC ...]

Prints JSON: by metric, files relative to the package, with ``covered`` saying whether the signature
changes with the file. Each setting of each metric is scored in a fork, where nothing was read yet.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from beholder.base import fingerprint
from beholder.metrics import Metric, Tools, metric
from beholder.records import ItemScore
from toy import recorded

META = {
    "criteria": ["A dog is running."],
    "questions": [
        {
            "question": "What runs?",
            "options": ["a dog", "a cat"],
            "answer": "a dog",
        },
        {
            "question": "Does a dog run?",
            "options": ["yes", "no"],
            "answer": "yes",
        },
    ],
    "context": {"page_text": "A page about animals.", "caption": "A dog."},
}
"""Fields that some metrics need besides texts."""

PACKAGE = str(fingerprint.PACKAGE) + os.sep


def main() -> None:
    by_metric: dict[str, dict[str, bool]] = {}
    for spec in _in_fork(_specs):
        name = spec.partition("(")[0]
        if name not in (sys.argv[1:] or [name]):
            continue
        covered = by_metric.setdefault(name, {})
        for file, is_covered in _in_fork(partial(_evidence, spec)).items():
            covered[file] = covered.get(file, True) and is_covered
    json.dump(by_metric, sys.stdout, indent=1, sort_keys=True)


def _specs() -> list[str]:
    """Each metric as it is and, if it has a choice of judges, with a model."""
    specs = list(dict.fromkeys(recorded.settings()))
    last = {spec.partition("(")[0]: spec for spec in specs}
    first = {spec.partition("(")[0]: spec for spec in reversed(specs)}
    return list(dict.fromkeys([*first.values(), *last.values()]))


def _in_fork(work: Callable[[], Any]) -> Any:
    receiving, sending = os.pipe()
    if os.fork() == 0:
        try:
            with os.fdopen(sending, "w") as pipe:
                json.dump(work(), pipe)
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as pipe:
        text = pipe.read()
    os.wait()
    return json.loads(text)


def _evidence(spec: str) -> dict[str, bool]:
    files: set[str] = set()

    def notice_open(event: str, arguments: tuple[Any, ...]) -> None:
        path = arguments[0] if event == "open" else None
        if (
            isinstance(path, str)
            and path.startswith(PACKAGE)
            and not path.endswith((".py", "pyc"))
        ):
            files.add(path)

    def notice_call(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(PACKAGE) or name in files:
            return
        # Bodies of modules and classes run at imports, also of those that compute nothing here.
        caller = frame.f_back
        if _is_function(frame) and (caller is None or _is_function(caller)):
            files.add(name)

    sys.addaudithook(notice_open)
    examined_metric = metric(spec)
    threading.setprofile(notice_call)
    sys.setprofile(notice_call)
    with TemporaryDirectory() as folder:
        texts = recorded.items(Path(folder))[:1]
        texts = [replace(item, meta=META) for item in texts]
        if "judge" in examined_metric.config() and "oracle" not in spec:
            texts = [replace(item, images=()) for item in texts]
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # of CIDEr, which needs several texts
            scores = examined_metric.score(
                texts, tools=Tools(folder=Path(folder))
            )
    sys.setprofile(None)
    threading.setprofile(None)
    if not any(isinstance(score, ItemScore) for score in scores):
        sys.stderr.write(f"{spec}: {scores[0]}\n")
    covered = _covered(
        examined_metric,
        [Path(path) for path in files if not path.endswith(".py")],
    )
    return {
        path.removeprefix(PACKAGE): Path(path) in covered
        for path in sorted(files)
    }


def _is_function(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & inspect.CO_OPTIMIZED)


def _covered(
    examined_metric: Metric[Any], data: Collection[Path]
) -> set[Path]:
    """Files whose change gives another signature: modules in a digest, and data by trying it."""
    covered: set[Path] = set()
    files_of, digest = fingerprint.file_digests, fingerprint.digest_data_file

    def noted_files_of(*modules: str) -> Mapping[Path, str]:
        files = files_of(*modules)
        covered.update(files)
        return files

    fingerprint.file_digests = noted_files_of
    before = _signature(examined_metric)
    fingerprint.file_digests = files_of
    for file in data:

        def digest_changed(path: Path, changed: Path = file) -> str:
            return digest(path) + "!" * (path == changed)

        fingerprint.digest_data_file = digest_changed
        if _signature(examined_metric) == before:
            covered.discard(file)
    return covered


def _signature(examined_metric: Metric[Any]) -> str:
    fingerprint.digest_classes.cache_clear()
    fingerprint.digest_modules.cache_clear()
    return examined_metric.signature(examined_metric.identities(Tools()))


if __name__ == "__main__":
    main()
