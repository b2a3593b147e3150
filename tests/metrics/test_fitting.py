"""The metric that fits where none is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder import Item
from beholder.errors import ConfigError
from beholder.metrics.fitting import fitting
from toy.cases import each_case

ENGLISH = "A brown dog sleeps on the sofa beside a window."
GERMAN = "Ein brauner Hund schläft auf dem Sofa und die Sonne scheint durch das Fenster."


def _item(candidate: str = ENGLISH, **fields: Any) -> Item:
    return Item(
        id="x", candidate=candidate, **{"references": (ENGLISH,), **fields}
    )


@each_case(
    ("items", "judge", "metric", "why"),
    [
        ([_item()], False, "accord", "English"),
        ([_item()], True, "accord", "English"),
        ([_item(GERMAN)], False, "chrf", "not English"),
        ([_item(GERMAN)], True, "posh", "not English"),
        ([_item(GERMAN), _item(), _item()], False, "accord", "English"),
        (
            [_item(group={"language": "de"})],
            False,
            "chrf",
            "row x says German",
        ),
        (
            [_item(GERMAN, group={"language": "en"})],
            False,
            "accord",
            "English",
        ),
        (
            [_item(" ".join(["word"] * 100), video="a.mp4")],
            False,
            "vcs",
            "videos",
        ),
        (
            [_item(" ".join(["word"] * 99), video="a.mp4")],
            False,
            "accord",
            "English",
        ),
        ([_item(" ".join(["word"] * 100))], False, "accord", "English"),
        (
            [_item(references=(), images=("a.jpg",))],
            True,
            "fleur",
            "a judge looks",
        ),
    ],
)
def test_the_metric_fits_what_is_there(
    items: list[Item], judge: bool, metric: str, why: str
) -> None:
    chosen, reason = fitting(items, judge=judge)
    assert chosen == metric
    assert why in reason


@pytest.mark.parametrize(
    ("fields", "metric_name"),
    [({"images": ("a.jpg",)}, "clipscore"), ({}, "perplexity")],
)
def test_without_references_the_way_on_is_named(
    fields: dict[str, Any], metric_name: str
) -> None:
    with pytest.raises(
        ConfigError, match=f"{metric_name}.*--map references=COLUMN"
    ):
        fitting([_item(references=(), **fields)], judge=False)


def test_python_takes_the_metric_that_fits(tmp_path: Path) -> None:
    rows = ({"candidate": GERMAN, "references": [GERMAN]} for _ in range(60))
    run = beholder.score(rows, out=tmp_path / "run")
    assert list(run.summary) == ["chrf"]
    assert (
        run.summary["chrf"].n_scored == 60
    )  # those that were looked at are scored, too


def test_a_run_prints_as_a_table(tmp_path: Path) -> None:
    rows = [{"candidate": "red dog", "references": ["a red dog"]}]
    run = beholder.score(rows, ["rouge"], out=tmp_path / "run")
    text = str(run)
    assert "rouge_1" in text
    assert "0.800" in text  # 2 of 2 and 2 of 3 words
    html = run._repr_html_()
    assert html.startswith("<pre>")
    assert "0.800" in html
