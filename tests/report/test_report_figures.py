"""Figures of a run."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from beholder.base.files import safe_name
from beholder.errors import RunError
from beholder.records import Item, ItemFailure, ItemScore
from beholder.report import write_figures
from beholder.report.figures import chunk_verdicts
from toy.cases import each_case
from toy.runs import lemon_run, sentence_score, write_run

pytestmark = pytest.mark.drawn


def test_each_metric_has_a_distribution_and_alignments_of_its_extremes(
    tmp_path: Path,
) -> None:
    files = write_figures(
        lemon_run(tmp_path / "run"), tmp_path / "figures", max_items=2
    )
    names = [path.name for path in files]
    assert names == [
        "1-vcs-distribution.svg",
        "1-vcs-000000-table-0.png", "1-vcs-000000-table-0.svg",
        "1-vcs-000005-table-5.png", "1-vcs-000005-table-5.svg",
    ]  # fmt: skip
    for path in files:
        if path.suffix == ".png":
            with Image.open(path) as image:
                image.verify()
        else:
            root = ElementTree.parse(path).getroot()
            assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_equal_runs_give_equal_files(tmp_path: Path) -> None:
    first, second = (
        write_figures(
            lemon_run(tmp_path / name),
            tmp_path / f"{name}-figures",
            max_items=1,
        )
        for name in ("one", "two")
    )
    assert [path.read_bytes() for path in first] == [
        path.read_bytes() for path in second
    ]


def test_long_names_that_begin_alike_have_files_of_their_own() -> None:
    first, second = (
        f"dcscore(direction='both', match='nearest', verify='reference-{by}')"
        for by in "ab"
    )
    assert safe_name(first) != safe_name(second)
    assert safe_name(first).startswith(
        "dcscore-direction-both-match-nearest-ve"
    )
    assert len(safe_name(first)) == len(safe_name(second)) == 48
    assert safe_name("vcs(lct=1)") == "vcs-lct-1"


@each_case(
    "hostile",
    [
        "../../etc/passwd",
        "a/b\\c:d",
        "\x00",
        "con",
        "",
        ".",
        "ß日本🐈",
        "x" * 500,
        "$\\frac{1}$",
    ],
)
def test_ids_make_safe_names(hostile: str) -> None:
    assert not set(safe_name(hostile)) & set("/\\:\x00$")
    assert 1 <= len(safe_name(hostile)) <= 48
    assert safe_name(hostile) not in (".", "..")


def test_figures_of_hostile_ids_stay_in_their_folder(tmp_path: Path) -> None:
    item = Item(
        "../../etc/passwd\x00",
        "One two three four.",
        ("Five six seven eight.",),
    )
    run = write_run(
        tmp_path / "run", [item], {"vcs": [sentence_score(item, 0.5)]}
    )
    files = write_figures(run, tmp_path / "figures", ("svg",))
    assert len(files) == 2
    assert sorted((tmp_path / "figures").iterdir()) == sorted(files)
    assert {path.name for path in tmp_path.iterdir()} == {"run", "figures"}


def test_metrics_without_scores_or_without_alignment_draw_what_they_have(
    tmp_path: Path,
) -> None:
    item = Item("1", "One.", ("Two.",))
    failed = [ItemFailure("ItemError", "no luck")]
    run = write_run(
        tmp_path / "run",
        [item],
        {"vcs": failed, "posh": [ItemScore({"f1": 0.5})]},
    )
    files = write_figures(run, tmp_path / "figures", ("svg",))
    assert [path.name for path in files] == ["2-posh-distribution.svg"]


def test_a_distribution_counts_every_score_and_shows_mean_and_median(
    tmp_path: Path,
) -> None:
    items = [Item(f"{n}", "One.", ("Two.",)) for n in range(3)]
    scores = [ItemScore({"$x^{ <f1>": score}) for score in (0.0, 0.1, 0.8)]
    run = write_run(tmp_path / "run", items, {"posh": scores})
    [file] = write_figures(run, tmp_path / "figures")
    svg = ElementTree.parse(file).getroot()
    assert svg.get("aria-label") == (
        "Histogram of $x^{ <f1> over 3 items: mean 0.300, median 0.100"
    )
    bars = [
        text.text or ""
        for text in svg.iter("{http://www.w3.org/2000/svg}title")
    ]
    assert sum(int(bar.split()[-2]) for bar in bars) == 3


def test_verdicts_are_taken_from_the_units() -> None:
    item = Item("1", "One two three.", ("Four five six.",))
    words = ["out_of_order", "match", "unmatched"]
    assert chunk_verdicts(sentence_score(item, 0.5)) == {
        "candidate": words,
        "reference": words,
    }


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run directory"):
        write_figures(tmp_path, tmp_path / "figures")
