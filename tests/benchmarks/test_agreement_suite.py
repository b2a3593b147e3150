"""Many sets against many metrics: which sets, which figures, one table, and going on."""

from __future__ import annotations

import csv
import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from beholder.errors import ConfigError, DataError
from beholder.kinds.agreement.agree import parse_metric_value
from beholder.kinds.agreement.agreement_suite import (
    WITHOUT_A_KEY,
    AgreementSuiteConfig,
    combine_sets,
    compare_with_set,
    load_sets,
)
from beholder.kinds.agreement.suite_page import (
    measures_table,
    suite_table,
    write_suite,
)
from beholder.metrics import metric
from beholder.options import DataOptions
from beholder.report.study_tables import latex
from beholder.run.session import Quiet
from toy.command import Cli

WORDS = (
    "dog",
    "cat",
    "tree",
    "house",
    "river",
    "boat",
    "child",
    "red",
    "old",
    "tall",
)


def own_rows(n: int = 30) -> list[dict[str, Any]]:
    """Texts that share more words with their reference, the better they are judged."""
    rng = random.Random(5)
    rows: list[dict[str, Any]] = []
    for i in range(n):
        n_shared = i % 6
        words = [
            *WORDS[:n_shared],
            *(rng.choice("abcdefgh") * 3 for _ in range(9 - n_shared + i % 4)),
        ]
        rng.shuffle(words)
        row: dict[str, Any] = {
            "id": str(i),
            "candidate": " ".join(words),
            "references": [" ".join(WORDS)],
        }
        rows.append(
            row | {"images": [f"{i}.png"], "judgments": {"good": n_shared}}
        )
    return rows


def pairs() -> list[dict[str, Any]]:
    """Ten pairs of ``pascal50s``; the first has the words of the reference."""
    return [
        {
            "dataset": "pascal50s",
            "id": f"HC/{i}",
            "image": f"{i}.jpg",
            "references": ["a dog runs on the grass"],
            "candidate": "a dog runs on grass",
            "candidate_b": "two cats sit",
            "judgments": {"preferred": 1, "category": "HC"},
        }
        for i in range(10)
    ]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(
        gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode()
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sets_folder = tmp_path / "sets"
    sets_folder.mkdir()
    write(sets_folder / "own.jsonl.gz", own_rows())
    write(sets_folder / "pascal50s.jsonl", pairs())
    (sets_folder / "README.md").write_text("notes")
    (sets_folder / "pictures").mkdir()
    published = sets_folder / "flickr8k_expert"
    published.mkdir()
    judged = [
        {"caption": "a dog", "rating": 4},
        {"caption": "a cat", "rating": 1},
    ]
    entry = {
        "ground_truth": ["a dog runs"],
        "image_path": "x/1.jpg",
        "human_judgement": judged,
    }
    (published / "flickr8k.json").write_text(json.dumps({"1": entry}))
    return sets_folder


def test_sets_are_data_files_and_folders_with_the_name_of_a_set(
    folder: Path,
) -> None:
    sets = load_sets(folder, DataOptions())
    assert [
        (judged.name, judged.has_protocol, len(judged.items))
        for judged in sets
    ] == [
        ("flickr8k_expert", True, 2),
        ("own", False, 30),
        ("pascal50s", True, 10),
    ]


def test_folders_without_sets_and_sets_of_one_name_are_errors(
    folder: Path,
) -> None:
    write(folder / "own.jsonl", own_rows())
    with pytest.raises(ConfigError, match="two sets are called own"):
        load_sets(folder, DataOptions())
    write(folder / "own.jsonl", [{"candidate": "a"}])
    with pytest.raises(DataError, match="has no row with judgments"):
        load_sets(folder, DataOptions())
    with pytest.raises(ConfigError, match="contains no set"):
        load_sets(folder / "pictures", DataOptions())


def config(
    folder: Path, *names: str, n_resamples: int = 200
) -> AgreementSuiteConfig:
    metrics = tuple(parse_metric_value(name) for name in names)
    return AgreementSuiteConfig(
        folder, metrics, folder.parent / "out", n_resamples=n_resamples
    )


def test_figures_are_those_of_scipy_and_the_cluster_is_that_of_the_best(
    folder: Path,
) -> None:
    suite = config(folder, "rouge.rouge_1", "ter")
    sets = load_sets(folder, DataOptions())
    report = combine_sets(
        suite, [compare_with_set(judged, suite, Quiet()) for judged in sets]
    )
    assert report.metrics == ("rouge.rouge_1", "ter", "length")
    by_name = {measure.name: measure for measure in report.headlines}
    own_set = by_name["own"]
    gold = [row["judgments"]["good"] for row in own_rows()]
    items = next(judged for judged in sets if judged.name == "own").items
    n_words = [len(item.candidate.split()) for item in items]
    recall = own_set.metrics[0]
    n_shared = [
        len(set(item.candidate.split()) & set(WORDS)) for item in items
    ]
    f1 = [
        2 * hits / (n + 10) for hits, n in zip(n_shared, n_words, strict=True)
    ]
    assert recall.agreement == pytest.approx(spearmanr(f1, gold).statistic)
    assert len(set(n_words)) > 1
    assert own_set.metrics[2].agreement == pytest.approx(
        spearmanr(n_words, gold).statistic
    )
    assert own_set.metrics[0].cluster == 1
    assert own_set.metrics[2].cluster != 1
    pairs_found = by_name["pascal50s"]
    assert [row.agreement for row in pairs_found.metrics[:2]] == [1.0, 1.0]
    ratings = by_name["flickr8k_expert"].metrics[
        2
    ]  # length: 2 and 2 words, nothing varies
    assert (ratings.agreement, ratings.reason) == (
        None,
        "the scores or the labels do not vary",
    )
    table = suite_table(report)
    row = table.rows[0]
    assert row["own"] == recall.agreement
    assert recall.low is not None
    assert (row["own_low"], row["own_high"]) == (recall.low, recall.high)
    assert (row["own_best"], table.rows[2]["own_best"]) == (True, False)
    stars = [
        [row_cells[f"{name}_best"] for name in by_name]
        for row_cells in table.rows
    ]
    assert [row_cells["n_best"] for row_cells in table.rows] == [
        sum(row_stars) for row_stars in stars
    ]
    assert np.array(stars).any(axis=0).tolist() == [True, True, True]
    assert r"pascal50s & $\star$ \\" in latex(table)
    assert rf"ter & 1.000 $\star$ & {table.rows[1]['own']:.3f} [" in latex(
        table
    )
    assert len(measures_table(report).rows) == 3 * 3


def test_the_page_escapes_names_and_lists_sources(
    folder: Path, tmp_path: Path
) -> None:
    write(folder / "<b>x&amp;.jsonl", own_rows(8))
    suite = config(folder, "bleu", n_resamples=0)
    sets = load_sets(folder, DataOptions())
    report = combine_sets(
        suite, [compare_with_set(judged, suite, Quiet()) for judged in sets]
    )
    page = write_suite(report, tmp_path / "suite.html").read_text()
    assert "<b>x" not in page
    assert "&lt;b&gt;x&amp;amp;" in page
    assert "Published: annotations/pascal_50s.json" in page
    assert "bleu|" in page
    assert "★" not in page  # without resamples nothing is told apart


def test_pictures_lie_beside_the_files_of_a_set(folder: Path) -> None:
    suite = config(folder, "bleu")
    roots = [
        suite.run_of(judged).rows.media_root
        for judged in load_sets(folder, DataOptions())
    ]
    assert roots == [folder / "flickr8k_expert", folder, folder]


def test_too_few_resamples_could_tell_nothing_apart(folder: Path) -> None:
    # Three metrics, two tests against the best: 2 * 2 / (n + 1) < 0.05 from n = 80 on.
    with pytest.raises(
        ConfigError,
        match="resamples=79: too few to separate 3 metrics; take 80",
    ):
        config(folder, "bleu", "ter", n_resamples=79)
    assert config(folder, "bleu", "ter", n_resamples=80).n_resamples == 80
    assert 2 * 2 / 81 < 0.05 <= 2 * 2 / 80


def test_the_metrics_without_a_key_need_none() -> None:
    for name in WITHOUT_A_KEY:
        specs = {spec for _, spec in metric(name).tool_specs()}
        assert not any(":" in spec for spec in specs), (name, specs)


def test_the_same_command_goes_on_and_gives_the_same(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    command = (
        "agree",
        "--suite",
        "sets",
        "-m",
        "chrf",
        "-m",
        "ter",
        "--resamples",
        "100",
    )
    first = cli(*command, "--json")
    assert first.code == 0, first.err
    assert "set 2 of 3: own, 30 judged" in first.err
    report = json.loads(first.out)
    assert [measure["set"] for measure in report["measures"]] == [
        "flickr8k_expert",
        "own",
        "pascal50s",
    ]
    out = folder.parent / "runs" / "suite-sets"
    files = {path: path.read_bytes() for path in (out / "tables").iterdir()}
    assert {path.name for path in files} == {
        f"{name}.{ending}"
        for name in ("suite", "suite-measures")
        for ending in ("csv", "json", "tex")
    }
    with (out / "tables" / "suite.csv").open() as file:
        rows = {row["metric"]: row for row in csv.DictReader(file)}
    of_chrf = next(
        row_cells
        for row_cells in report["measures"][1]["metrics"]
        if row_cells["metric"] == "chrf"
    )
    assert float(rows["chrf"]["own"]) == of_chrf["agreement"]
    page = (out / "suite.html").read_bytes()
    (out / "own" / "report.html").unlink(missing_ok=True)
    again = cli(*command, "--json")
    assert again.out == first.out
    assert again.err.count("0 scored now") == 3
    assert (out / "suite.html").read_bytes() == page
    assert {path: path.read_bytes() for path in files} == files


def test_kind_and_control_reach_the_measures(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    options = (
        "--statistic",
        "pearson",
        "--control",
        "length",
        "--resamples",
        "0",
        "--json",
    )
    report = json.loads(
        cli("agree", "--suite", "sets", "-m", "chrf", *options).out
    )
    names = {
        measure["set"]: measure["measure"] for measure in report["measures"]
    }
    assert names["own"] == "pearson, good, beyond length"
    assert names["flickr8k_expert"] == "tau-c, each rating, beyond length"
    assert names["pascal50s"] == "accuracy, mean of HC HI HM MM"


def test_a_dry_run_writes_nothing_and_other_sources_are_refused(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    dry = cli("agree", "--suite", "sets", "-m", "ter", "--dry-run")
    assert dry.code == 0
    assert dry.out.count("ter: ") == 3
    assert not Path("runs").exists()
    refused = cli("agree", "own.jsonl", "--suite", "sets", "-m", "ter")
    assert refused.code == 2
    assert "so name no set" in refused.err
    assert "name a set or a data file" in cli("agree", "-m", "ter").err


def test_a_metric_without_any_score_hinders_no_other(folder: Path) -> None:
    write(
        folder / "own.jsonl.gz",
        [{**row, "references": []} for row in own_rows()],
    )
    suite = config(folder, "ter")
    judged = next(
        candidate_set
        for candidate_set in load_sets(folder, DataOptions())
        if candidate_set.name == "own"
    )
    (measure,), _ = compare_with_set(judged, suite, Quiet())
    assert [row.n for row in measure.metrics] == [0, 30]
    assert [row.cluster for row in measure.metrics] == [None, 1]
    n_words = [len(item.candidate.split()) for item in judged.items]
    gold = [item.judgments["good"] for item in judged.items]
    assert measure.metrics[1].agreement == pytest.approx(
        spearmanr(n_words, gold).statistic
    )
