"""A filter on Ray gives the bytes that it gives here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import beholder
from beholder.kinds.filtering.config import FilterConfig
from beholder.kinds.filtering.door import FilterMeans, run_filter
from beholder.ray import RayEngine

pytestmark = pytest.mark.usefixtures("alone")


def test_parts_that_ray_reads_are_those_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "b.jsonl"):
        rows = [{"caption": f"A dog of {n % 7} years."} for n in range(40)]
        Path(name).write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
    sources = ("a.jsonl", "b.jsonl")
    beholder.filter(*sources, out="here", workers=1)
    run_filter(
        FilterConfig(sources, Path("ray")), FilterMeans(engine=RayEngine())
    )
    for name in ("result.json", "report.html", "verdicts/part-00001.parquet"):
        assert (
            Path("ray", name).read_bytes() == Path("here", name).read_bytes()
        )
