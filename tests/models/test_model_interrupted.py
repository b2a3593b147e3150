"""Ctrl-C while a model works in this process: it ends, says how to go on, and goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools.engines import Engines

from beholder.run.store import Store
from toy.interrupting import command

CANDIDATES = (
    "A man in a red coat holds an umbrella.",
    "Two children play with a yellow ball near the water.",
)
REFERENCE = "A tall man in a red coat and two children stand on a wooden bridge with a dog."


@pytest.mark.parametrize("inside", ["hf", "vllm"])
def test_an_interrupted_run_says_how_to_go_on_and_asks_nothing_twice(
    inside: str, engines: Engines, tmp_path: Path
) -> None:
    if inside not in engines.names:
        pytest.skip(f"without {inside}")
    rows = [
        {"id": str(i), "candidate": text, "references": [REFERENCE]}
        for i, text in enumerate(CANDIDATES)
    ]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    metric = f"posh(judge={engines.own_spec(inside)}, contradictions=False)"
    score = ("score", "d.jsonl", "-m", metric, "-o")

    whole = command(*score, "whole", folder=tmp_path)
    assert whole.code == 0, whole.err
    n_asked = len(whole.keys)
    assert n_asked > 20

    first = command(*score, "out", at=10, folder=tmp_path)
    assert first.code == 130, first.err
    assert "interrupted; run the same command again to go on" in first.err
    assert "Traceback" not in first.err
    assert 10 <= len(first.keys) < n_asked
    assert json.loads((tmp_path / "out" / "run.json").read_text())["status"] == "interrupted"

    second = command(*score, "out", folder=tmp_path)
    assert second.code == 0, second.err
    assert not set(first.keys) & set(second.keys)
    assert sorted(first.keys + second.keys) == sorted(whole.keys)
    assert values(tmp_path / "out") == values(tmp_path / "whole")


def values(folder: Path) -> list[object]:
    """What a run found of each item."""
    with Store.read(folder) as store:
        (asker,) = store.askers()
        return [store.score(asker.name, position) for position in range(len(CANDIDATES))]
