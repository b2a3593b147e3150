"""A run that stopped after one item and went on leaves the same bytes as one in one go."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

METRICS = ["accord", "posh", "vcs", "dcscore", "bertscore(model='minilm')"]
SCRIPT = f"""
from pathlib import Path
from beholder import score
from beholder.records import Item

TEXTS = [
    "A red cup is on the shelf. A tall lamp stands on the round table.",
    "Two dogs sleep. A cat watches them from the sofa.",
    "A man rides a brown horse along the beach at sunset.",
    "A bench.",
]
REFERENCES = ("A man rides a horse. A dog sleeps near a lamp.", "Someone holds a red cup.")
items = [Item(str(i), text, REFERENCES) for i, text in enumerate(TEXTS)]
score(items, {METRICS!r}, out=Path("whole"))
score(items, {METRICS!r}, out=Path("parts"), limit=1)
score(items, {METRICS!r}, out=Path("parts"))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [
        pytest.param("", id="own kernel"),
        pytest.param(
            "Prescott", id="oldest kernel", marks=pytest.mark.nightly
        ),
    ],
)
def test_a_resumed_run_leaves_the_same_bytes(
    tmp_path: Path, kernel: str
) -> None:
    # The kernel of OpenBLAS; other libraries do not know the variable.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    environment |= {"OPENBLAS_CORETYPE": kernel} if kernel else {}
    subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env=environment,
        check=True,
    )
    for name in ("scores.parquet", "run.json"):
        whole, parts = (
            tmp_path / folder / name for folder in ("whole", "parts")
        )
        assert parts.read_bytes() == whole.read_bytes()
