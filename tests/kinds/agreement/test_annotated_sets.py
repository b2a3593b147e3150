"""What a paper reports of its people, on small files in the published forms; values by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import kendalltau, spearmanr

from beholder.errors import ConfigError, DataError
from beholder.kinds.agreement.annotators import annotator_tables
from beholder.kinds.agreement.contents import contents_tables
from beholder.kinds.agreement.load import load
from toy.annotated_sets import COARSE, GRANULAR, write_sets
from toy.command import Cli

GOLD = [1, 1, -1, -1, 1, 1, 2]
LONGER = [
    1,
    1,
    1,
    1,
    1,
    -1,
    1,
]  # words of the first text minus words of the second


@pytest.fixture(scope="session")
def written_sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sets(tmp_path_factory.mktemp("annotated") / "sets")


@pytest.fixture
def sets(written_sets: Path, tmp_path: Path) -> Path:
    """The folder ``sets``, which tests only read."""
    (tmp_path / "sets").symlink_to(written_sets)
    return tmp_path / "sets"


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("name", "n"),
    [("docent_coarse", 7), ("docent_granular", 2), ("caparena", 12)],
)
def test_a_folder_of_sets_serves_a_named_set(
    sets: Path, name: str, n: int
) -> None:
    from_sets, from_own_folder = (
        load(name, str(sets)),
        load(name, str(sets / name)),
    )
    assert from_sets.items == from_own_folder.items
    assert len(from_sets.items) == n
    assert (
        len({item.id for item in from_sets.items}) == n
    )  # second judgments have ids of their own


BROKEN = {
    "docent_coarse": (
        ({"mistakes": "better"}, "mistakes: expected one of 1_much_better"),
        ({"mistakes": None}, "mistakes: expected one of 1_much_better"),
        ({"reference": 7}, "0: expected texts, got 7"),
    ),
    "docent_granular": (
        ({"mistakes": "no JSON"}, "mistakes=a text 'no JSON'"),
        ({"omissions": "[1]"}, "omissions=a text '[1]'"),
        ({"omissions": None}, "omissions=None"),
    ),
    "polaris": (
        (
            {"cand": "a", "refs": ["b"], "human_score": "high"},
            "human_score=a text 'high'",
        ),
    ),
    "detailcaps": (
        ({"image": "p", "m": "a", "GPT4_Eval": "{"}, "GPT4_Eval=a text '{'"),
    ),
}


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [(name, *case) for name, cases in BROKEN.items() for case in cases],
)
def test_no_message_shows_a_python_exception(
    tmp_path: Path, name: str, change: dict[str, Any], words: str
) -> None:
    row = {"docent_coarse": COARSE[0], "docent_granular": GRANULAR[0]}.get(
        name, {}
    )
    pq.write_table(
        pa.Table.from_pylist([{**row, **change}]), tmp_path / "test-0.parquet"
    )
    with pytest.raises(DataError) as error:
        load(name, str(tmp_path))
    message = str(error.value)
    assert words in message
    for sign in (
        "Error",
        "tuple.index",
        "not subscriptable",
        "object is not",
        "could not convert",
    ):
        assert sign not in message


@pytest.mark.parametrize(
    "content", ["[]", "[1]", '{"a": 1}', '[{"img": "a.jpg"}]']
)
def test_no_message_of_a_file_shows_a_python_exception(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / "caparena_annots_eval.json").write_text(content, "utf-8")
    with pytest.raises(DataError) as error:
        load("caparena", str(tmp_path))
    for sign in ("Error", "not subscriptable", "indices must be"):
        assert sign not in str(error.value)


def test_contents_of_a_set(sets: Path) -> None:
    contents, judgments = contents_tables(load("docent_coarse", str(sets)))
    references, *systems = contents.rows
    # "A tall man holds a cup." (6 words: man, cup; tall; holds), "A man holds a cup." (5 words).
    assert (references["texts"], references["n"], references["pictures"]) == (
        "references",
        2,
        4,
    )
    assert references["words"] == pytest.approx(5.5)
    assert references["words_sd"] == pytest.approx(0.5**0.5)
    sizes = [references[key] for key in ("objects", "attributes", "relations")]
    assert sizes == [2.0, 0.5, 1.0]
    assert [(row["texts"], row["n"], row["words"]) for row in systems] == [
        ("long", 1, 3.0), ("short", 1, 2.0),
    ]  # fmt: skip
    assert contents.notes[-1] == "7 judged, 4 pictures."
    assert [
        (row["judgment"], row["kind"], row["n"]) for row in judgments.rows
    ] == [
        (question, "levels -1, 1, 2", 7)
        for question in ("mistakes", "omissions", "overall_quality")
    ]


@pytest.mark.usefixtures("two_sources_are_enough")
def test_second_judgments_of_a_pair_are_compared_with_the_first(
    sets: Path,
) -> None:
    agreement, preferences = annotator_tables(load("docent_coarse", str(sets)))
    row = agreement.rows[0]
    # Pairs (1, 1), (-1, -1), (1, -1). Of six values three are 1: expected disagreement 18/30,
    # observed 2/6; alpha 1 - (1/3) / (3/5) = 4/9. Pearson (12/9) / (24/9).
    assert (row["question"], row["n"], row["n_judgments"]) == (
        "mistakes",
        3,
        7,
    )
    assert row["alpha"] == pytest.approx(4 / 9)
    assert row["pearson"] == pytest.approx(0.5)
    assert row["same"] == pytest.approx(2 / 3)
    (mistakes,) = (
        row for row in preferences.rows if row["question"] == "mistakes"
    )
    assert (mistakes["system"], mistakes["against"]) == ("long", "short")
    # 1, 1, -1, -1, 1, -1 (the swapped one), 2
    assert mistakes["preference"] == pytest.approx(2 / 7)
    assert (mistakes["n_judgments"], mistakes["n_pairs"]) == (7, 4)
    assert mistakes["alpha"] == pytest.approx(4 / 9)
    assert mistakes["preference_low"] < 2 / 7 < mistakes["preference_high"]


def test_all_others_are_compared_with_the_expert(sets: Path, cli: Cli) -> None:
    arguments = (
        "agree",
        "docent_coarse",
        "--data",
        "sets",
        "--judges",
        "--map",
        "annotator=who",
    )
    done = cli(*arguments, "--expert", "expert", "--json")
    assert done.code == 0, done.err
    among_annotators, with_expert = json.loads(done.out)["annotators"][:2]
    assert (
        among_annotators["between"],
        among_annotators["n"],
        among_annotators["n_judgments"],
    ) == (
        "annotators",
        0,
        4,
    )
    assert (with_expert["between"], with_expert["n"]) == (
        "expert and others",
        3,
    )
    assert with_expert["pearson"] == pytest.approx(0.5)
    unknown_expert = cli(*arguments, "--expert", "anna")
    assert unknown_expert.code == 2
    assert (
        "expected an annotator of the data, got ann, expert"
        in unknown_expert.err
    )
    assert (
        "add --judges"
        in cli("agree", "docent_coarse", "--expert", "expert").err
    )


def test_marks_of_two_annotators_by_overlap(sets: Path) -> None:
    marks, shares = annotator_tables(load("docent_granular", str(sets)))
    mistakes, omissions = marks.rows
    # First: "one two", "six seven"; second: "two three four", "six seven". They share "two".
    # A word: all match. Half of its words: "one two" matches, "two three four" not, so that
    # precision is 1/2 and recall 1. Half of the longer: neither, 1/2 and 1/2.
    assert [mistakes[f"f1_{key}"] for key in ("word", "half", "strict")] == [
        pytest.approx(1), pytest.approx(2 / 3), pytest.approx(0.5),
    ]  # fmt: skip
    assert [
        mistakes[f"recall_{key}"] for key in ("word", "half", "strict")
    ] == [1, 1, 0.5]
    assert (mistakes["n"], mistakes["n_judgments"]) == (1, 2)
    assert omissions["f1_half"] == 1
    # Of eight words 4 and 5 are marked; of the three of the reference one.
    assert [(row["marked"], row["system"], row["share"]) for row in shares.rows] == [
        ("mistakes", "m", pytest.approx(4.5 / 8)), ("omissions", "m", pytest.approx(1 / 3)),
    ]  # fmt: skip


@pytest.mark.usefixtures("two_sources_are_enough")
def test_preferences_of_a_file_of_pairs(tmp_path: Path) -> None:
    labels = ([2, 1, 2], [-1, 0, -1])
    rows = [
        {"id": str(i), "candidate": "tuned", "candidate_b": "plain", "references": [f"r{i}"],
         "images": [f"{i}.jpg"], "judgments": {"overall": label}}
        for i, label in enumerate(labels)
    ]  # fmt: skip
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    agreement, preferences = annotator_tables(load(str(path)))
    assert agreement.rows[0]["n"] == 6  # three pairs of people, twice
    (row,) = preferences.rows
    assert (row["system"], row["against"]) == ("candidate", "candidate_b")
    assert row["preference"] == pytest.approx(
        0.5
    )  # (2 + 1 + 2 - 1 + 0 - 1) / 6
    assert (row["preference_low"], row["preference_high"]) == pytest.approx(
        (-2 / 3, 5 / 3)
    )
    assert row["n_judgments"] == 6


def test_texts_without_pairs_or_marks_have_no_annotators_to_compare(
    tmp_path: Path,
) -> None:
    row = {
        "id": "1",
        "candidate": "a",
        "references": ["b"],
        "judgments": {"good": 1},
    }
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps(row) + "\n", "utf-8")
    with pytest.raises(ConfigError, match="--judges takes a run directory"):
        annotator_tables(load(str(path)))


@pytest.mark.usefixtures("two_sources_are_enough")
def test_one_table_of_coarse_judgments(sets: Path, cli: Cli) -> None:
    options = (
        "-m",
        "length",
        "--resamples",
        "60",
        "--no-report",
        "--no-figures",
    )
    done = cli(
        "agree", "docent_coarse", "--data", "sets", *options, "--tables", "out"
    )
    assert done.code == 0, done.err
    assert {path.stem for path in Path("out").iterdir()} == {
        "coarse",
        "contents",
        "judgments",
    }
    (row,) = read_csv(Path("out/coarse.csv"))
    assert row["metric"] == "length.words"
    for question in ("mistakes", "omissions", "overall_quality"):
        key = f"docent_coarse_{question}"
        # No label is a tie, so the longer text wins everywhere: wrong in rows 3, 4 and 6.
        assert float(row[f"{key}_accuracy"]) == pytest.approx(4 / 7)
        assert float(row[f"{key}_rho"]) == pytest.approx(
            spearmanr(LONGER, GOLD).statistic
        )
        assert float(row[f"{key}_tau"]) == pytest.approx(
            kendalltau(LONGER, GOLD).statistic
        )
        assert (
            float(row[f"{key}_accuracy_low"])
            < 4 / 7
            < float(row[f"{key}_accuracy_high"])
        )


@pytest.mark.usefixtures("two_sources_are_enough")
def test_a_suite_joins_the_coarse_sets(sets: Path, cli: Cli) -> None:
    options = ("-m", "token_f1", "--resamples", "60", "--no-report")
    done = cli("agree", "--suite", "sets", *options)
    assert done.code == 0, done.err
    tables = Path("runs/suite-sets/tables")
    rows = {row["metric"]: row for row in read_csv(tables / "coarse.csv")}
    assert list(rows) == ["token_f1", "length"]
    length = rows["length"]
    assert float(length["docent_coarse_mistakes_accuracy"]) == pytest.approx(
        4 / 7
    )
    # The longer caption wins each battle: every resample has the same order of the models.
    for figure in ("caption_accuracy", "model_rho", "model_tau"):
        ends = [
            float(length[f"caparena_{figure}{end}"])
            for end in ("", "_low", "_high")
        ]
        assert ends == [1.0, 1.0, 1.0]
    assert "acc: accuracy of three outcomes" in done.out


def test_a_subset_is_counted(sets: Path, cli: Cli) -> None:
    Path("three.json").write_text(
        '["test_00001", "test_00003.jpg", "test_99999"]', "utf-8"
    )
    arguments = (
        "agree",
        "caparena",
        "--data",
        "sets",
        "--subset",
        "three.json",
    )
    done = cli(
        *arguments,
        "-m",
        "length",
        "--resamples",
        "0",
        "--json",
        "--no-report",
        "--no-figures",
    )
    assert done.code == 0, done.err
    # Two of four pictures, three battles each.
    assert "subset three.json: 6 of 12 judged, 2 pictures" in done.err
    assert "names of the file without a judgment: 1 (test_99999)" in done.err
    assert json.loads(done.out)["n_items"] == 6
    assert Path("runs/agree-caparena-three/run.json").is_file()
    Path("three.json").write_text("elsewhere\n", "utf-8")
    nothing = cli(*arguments, "-m", "length")
    assert nothing.code == 2
    assert (
        "'elsewhere', is a picture of the data, such as 'test_00000.jpg'"
        in nothing.err
    )


@pytest.mark.parametrize("content", ["", "[]", "[1]", "[", "\n \n"])
def test_a_subset_needs_names(
    sets: Path, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "names"
    path.write_text(content, "utf-8")
    with pytest.raises(DataError, match="expected"):
        load("caparena", str(sets), subset=path)
