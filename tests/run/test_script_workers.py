"""Worker processes of a script as people write it, with and without a guard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import beholder

ROWS = """
rows = [
    {"id": str(n), "candidate": f"A dog {n} runs.", "references": [f"A brown dog {n} runs."]}
    for n in range(40)
]
"""
OWN_METRIC = """
from dataclasses import dataclass
from beholder.metrics import Metric, ValueInfo
from beholder.records import ItemScore

@dataclass(frozen=True)
class Words(Metric[int]):
    registered_name = "words_of_script"
    values = (ValueInfo("words", "words", high=1e9),)
    required_fields = frozenset()

    async def gather(self, item, tools):
        return len(item.candidate.split())

    def score_item(self, item, evidence):
        return ItemScore({"words": evidence}, signature=self.signature())
"""
RUN = """
run = beholder.score(rows, [{metric}], out={out!r}, workers=2)
print(sum(result.n_scored for result in run.summary.values()), __file__ == {path!r})
"""


def scripted(folder: Path, text: str) -> tuple[str, str]:
    """Run a script and return its output and the last line of its errors."""
    path = folder / "script.py"
    path.write_text(text)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(beholder.__file__).parents[1]),
    }
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    return done.stdout.strip(), done.stderr.strip().rpartition("\n")[2]


def run_of(folder: Path, metric: str) -> str:
    return RUN.format(
        metric=metric, out=str(folder / "run"), path=str(folder / "script.py")
    )


@pytest.mark.slow
def test_a_script_without_a_guard_scores_in_workers(tmp_path: Path) -> None:
    text = "import beholder\n" + ROWS + run_of(tmp_path, '"bleu"')
    assert scripted(tmp_path, text) == ("40 True", "")


@pytest.mark.slow  # a script with workers of its own
def test_a_reward_in_a_script_without_a_guard(tmp_path: Path) -> None:
    text = """
import asyncio
from beholder.rewards import reward

like = reward("bleu", workers=2)
found = asyncio.run(like(prompts=[""] * 2, completions=["a dog runs here", "no"], references=["a dog runs here"] * 2))
print([round(one, 3) for one in found])
like.close()
"""
    assert scripted(tmp_path, text) == ("[1.0, 0.0]", "")


@pytest.mark.slow  # a script with workers of its own
def test_a_metric_of_the_script_is_found_by_workers_where_there_is_a_guard(
    tmp_path: Path,
) -> None:
    body = (ROWS + run_of(tmp_path, "Words()")).strip().replace("\n", "\n    ")
    text = f"import beholder\n{OWN_METRIC}\nif __name__ == '__main__':\n    {body}\n"
    assert scripted(tmp_path, text) == ("40 True", "")


@pytest.mark.slow  # a script with workers of its own
def test_a_tool_of_the_script_is_found_by_workers_where_there_is_a_guard(
    tmp_path: Path,
) -> None:
    own_script = """
import beholder
from beholder.language.links import COREFERENCES, Coreference

@COREFERENCES.register("nobody")
class Nobody(Coreference):
    def clusters(self, text):
        return []
"""
    body = (
        (ROWS + run_of(tmp_path, "\"posh(coref='nobody')\""))
        .strip()
        .replace("\n", "\n    ")
    )
    text = f"{own_script}\nif __name__ == '__main__':\n    {body}\n"
    assert scripted(tmp_path, text) == ("40 True", "")


@pytest.mark.slow  # a script with workers of its own
def test_a_metric_of_the_script_without_a_guard_is_told_what_to_do(
    tmp_path: Path,
) -> None:
    text = (
        "import beholder\n" + OWN_METRIC + ROWS + run_of(tmp_path, "Words()")
    )
    printed, error = scripted(tmp_path, text)
    assert printed == ""
    assert "RunError: a worker process died" in error
    assert (
        "put what the script does under `if __name__ == '__main__':`" in error
    )
