"""``--labels``: means of systems, their difference, rates, and what is refused; by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import beholder
from beholder.errors import ConfigError
from beholder.metrics import METRICS, ValueInfo
from beholder.records import Item, ItemScore
from beholder.web import Settings
from beholder.web.viewer import Viewer, make_viewer
from toy.command import Cli
from toy.metric import WordCount

if "word_count" not in METRICS.names():
    METRICS.register("word_count")(WordCount)


@dataclass(frozen=True)
class IsLong(WordCount):
    """1 for a text of more than five words, else 0."""

    registered_name = "is_long"
    values = (ValueInfo("long", "more than five words"),)

    def score_item(self, item: Item, evidence: int) -> ItemScore:
        return ItemScore({"long": float(evidence > 5)})


if "is_long" not in METRICS.names():
    METRICS.register("is_long")(IsLong)

LABELLED_DIFFERENCES = [0, 2, 1, 3, 0, 0]
JUDGED_DIFFERENCES = [0, 4, 0, 4, 0, 4, *[4] * 10, *[0] * 4]


def write(name: str, rows: Sequence[object]) -> str:
    Path(name).write_text(
        "".join(json.dumps(row) + "\n" for row in rows), "utf-8"
    )
    return name


def texts(
    name: str, counts: Sequence[int], **more: Any
) -> list[dict[str, Any]]:
    """A text of so many words about each picture."""
    rows = [
        {
            "id": str(i),
            "image": f"{i}.jpg",
            "candidate": "w " * n,
            "references": ["w"],
            **more,
        }
        for i, n in enumerate(counts)
    ]
    write(name, rows)
    return rows


def labelled(
    name: str, rows: Sequence[dict[str, Any]], labels: Sequence[object]
) -> str:
    summary_rows = [
        {
            "id": row["id"],
            "candidate": row["candidate"],
            "judgments": {"words": label},
        }
        for row, label in zip(rows, labels, strict=False)
    ]
    return write(name, summary_rows)


def two_systems(cli: Cli) -> None:
    """Runs and labels of two systems; the second's texts are longer by one and the differences."""
    base = [10 + i % 3 for i in range(20)]
    a = texts("a.jsonl", base)
    b = texts(
        "b.jsonl",
        [
            n + 1 + more
            for n, more in zip(base, JUDGED_DIFFERENCES, strict=True)
        ],
    )
    for name in ("a", "b"):
        done = cli(
            "score",
            f"{name}.jsonl",
            "-m",
            "word_count",
            "-o",
            name,
            "--no-report",
        )
        assert done.code == 0, done.err
    labelled("la.jsonl", a, [10] * 6)
    labelled("lb.jsonl", b, [10 + more for more in LABELLED_DIFFERENCES])


# Differences of the labels 0 2 1 3 0 0: mean 1. The judge's, less one: labelled mean 2, others 40 / 14.
# Covariance 8 / 5; pooled variance (24 + 45.714286) / 18; weight 1.6 / (20 / 14 * 3.873016) =
# .289180. Corrected: 1 + .289180 * (40 / 14 - 2) = 1.247869.
CORRECTED = 1.247869


@pytest.mark.parametrize("command", ["compare", "leaderboard"])
def test_the_difference_of_two_systems_is_corrected(
    cli: Cli, command: str
) -> None:
    two_systems(cli)
    files = ("--labels", "la.jsonl", "--labels", "lb.jsonl")
    done = cli(command, "a", "b", *files, "--json")
    assert done.code == 0, done.err
    rows = {row["of"]: row for row in json.loads(done.out)["corrected"]}
    assert list(rows) == ["a", "b", "b - a"]
    difference = rows["b - a"]
    assert difference["labels"] == 1
    assert difference["judge"] == pytest.approx(1 + 52 / 20)
    assert difference["corrected"] == pytest.approx(CORRECTED, abs=1e-6)
    assert (difference["n"], difference["n_labels"]) == (20, 6)
    # Residuals -.42164 .42164 .57836 1.42164 -.42164 -1.57836: their squares sum to 5.38010. The judge's
    # six differences are all 2 from their mean, so each leverage is 1/6 + 4/24 and each residual counts
    # 3/2: variance 5.38010 * 9/4 / 36, with that of the others (.021005) .357261; t(4) is 2.776445. A
    # t of 2.0878 lies between those of .11 and .10 (2.0554, 2.1318).
    assert difference["corrected_low"] == pytest.approx(
        CORRECTED - 2.776445 * 0.597713, abs=1e-5
    )
    assert 0.10 < difference["p"] < 0.11
    # The labels alone have a variance of 8 / 5 / 6, so the judge is worth less than none.
    assert difference["effective"] == pytest.approx(
        6 * (8 / 30) / 0.357261, rel=1e-4
    )
    assert (
        "the judge adds nothing, use the labels alone"
        in cli(command, "a", "b", *files).out
    )
    assert rows["a"]["labels"] == 10
    assert rows["a"]["p"] is None


def test_a_run_in_python_is_corrected(cli: Cli) -> None:
    two_systems(cli)
    corrected = beholder.Run(Path("a")).corrected(
        "la.jsonl", label=["word_count.words=words"]
    )
    table, bias = corrected.tables
    (row,) = table.rows
    # The judge says 10, 11 or 12 words, 7 times 10 and 11, and 6 times 12. All labels are 10: what
    # does not vary has no covariance with the judge, so the labels alone count.
    assert row["judge"] == pytest.approx((7 * 10 + 7 * 11 + 6 * 12) / 20)
    assert (row["labels"], row["corrected"], row["n"], row["n_labels"]) == (
        10,
        10,
        20,
        6,
    )
    assert bias.name == "bias"
    assert not corrected.problems
    assert "Corrected by labels" in str(corrected)
    assert (
        str(corrected).count("95 % interval") == 2
    )  # of the labels alone and of the corrected mean
    lists = labelled(
        "lists.jsonl",
        texts("a.jsonl", [10 + i % 3 for i in range(20)]),
        [[9, 11]] * 6,
    )
    assert (
        beholder.Run(Path("a")).corrected(lists).tables[0].rows[0]["labels"]
        == 10
    )
    with pytest.raises(
        ConfigError, match="no such value; there are: word_count"
    ):
        beholder.Run(Path("a")).corrected(
            "la.jsonl", label=["word_count.lines=words"]
        )


def test_labels_of_other_words_belong_to_no_text(cli: Cli) -> None:
    two_systems(cli)
    done = cli("compare", "a", "b", "--labels", "la.jsonl")
    assert done.code == 1
    assert (
        "word_count.words of b is not corrected: 0 pictures have labels"
        in done.err
    )
    labelled("lb.jsonl", texts("other.jsonl", [7] * 20), [5] * 6)
    done = cli(
        "compare", "a", "b", "--labels", "la.jsonl", "--labels", "lb.jsonl"
    )
    assert (
        "6 labels belong to no scored text: another id or other words"
        in done.out
    )
    # A text of both systems takes its label twice, which is none too few.
    done = cli("compare", "a", "a", "--labels", "la.jsonl")
    assert "belong to no scored text" not in done.out


def test_labels_of_the_hard_pictures_alone_are_refused(cli: Cli) -> None:
    rows = texts("a.jsonl", [*[2, 3, 2, 3, 2, 3, 2, 3], *[20, 21] * 6])
    labels = labelled("l.jsonl", rows, [2] * 8)
    done = cli(
        "score", "a.jsonl", "-m", "word_count", "-o", "a", "--labels", labels
    )
    assert done.code == 1
    assert (
        "the judge's mean is 2.5 with a label and 20.5 without one" in done.err
    )
    assert "label a random sample" in done.err


def test_rates_are_corrected_by_marks_of_annotators(cli: Cli) -> None:
    # The metric finds red and runs unstated, of three units. Anna, half of the annotators, marks red
    # and dog: people's rate is 2/3 for each text.
    sample = [
        {
            "id": str(i),
            "image": f"{i}.jpg",
            "candidate": "A red dog runs.",
            "references": ["A dog."],
        }
        for i in range(12)
    ]
    write("d.jsonl", sample)
    marks = [
        {
            **row,
            "id": f"{row['id']}/{who}",
            "annotator": who,
            "dataset": "docent_granular",
        }
        | {"judgments": {"mistakes": spans, "omissions": []}}
        for row in sample[:6]
        for who, spans in (("anna", [[2, 9]]), ("ben", []))
    ]
    write("marks.jsonl", marks)
    options = (
        "score",
        "d.jsonl",
        "-m",
        "posh",
        "-o",
        "run",
        "--labels",
        "marks.jsonl",
    )
    done = cli(
        *options, "--label", "posh.unstated_rate=mistakes", "--markdown", "-"
    )
    assert done.code == 0, done.err
    table = done.out[done.out.index("Corrected by labels") :].replace(
        "&#46;", "."
    )
    row = next(line for line in table.splitlines() if "unstated" in line)
    assert "| 0.667 [0.667 to 0.667] | 0.667 " in row
    (row,) = json.loads(
        cli(*options, "--label", "posh.unstated_rate=mistakes", "--json").out
    )["corrected"]
    assert row["labels"] == pytest.approx(2 / 3)
    done = cli(*options, "--label", "posh.no_such=mistakes")
    assert (done.code, "there is no such value" in done.err) == (2, True)


def test_shares_of_yes_are_corrected_by_sensitivity_and_specificity(
    cli: Cli,
) -> None:
    # The worked example: of 50 texts that people call long the metric finds 42, of 50 others it
    # rejects 40; of 600 without a label it calls 380 long.
    ratings = [*[9] * 42, *[2] * 48, *[9] * 10, *[9] * 380, *[2] * 220]
    labels = labelled(
        "l.jsonl", texts("d.jsonl", ratings), [1] * 50 + [0] * 50
    )
    score = ("score", "d.jsonl", "-m", "is_long", "-o", "run")
    command = (*score, "--no-report", "--workers", "1")
    done = cli(*command, "--labels", labels)
    assert done.code == 0, done.err
    assert "Rates, corrected by sensitivity and specificity" in done.out
    done = cli("leaderboard", "run", "--labels", labels, "--json")
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["corrected-rates"]
    assert row["rate"] == pytest.approx(0.677083, abs=1e-6)
    assert row["rate_low"] == pytest.approx(0.548531, abs=1e-6)
    assert row["rate_high"] == pytest.approx(0.832902, abs=1e-6)
    assert (row["sensitivity"], row["specificity"]) == (0.84, 0.8)
    assert (row["n"], row["n_labels"], row["said"]) == (
        700,
        100,
        pytest.approx(432 / 700),
    )
    few = labelled("few.jsonl", texts("d.jsonl", ratings), [1] * 50 + [0] * 19)
    done = cli("leaderboard", "run", "--labels", few, "--json")
    (row,) = json.loads(done.out)["corrected-rates"]
    assert row["reason"].startswith(
        "not corrected: 50 positive and 19 negative labels"
    )
    assert "rate" not in row


def test_a_note_says_that_hardly_any_label_has_one_of_two_values(
    cli: Cli,
) -> None:
    ratings = [9] * 15 + [2] * 5 + [9] * 10 + [2] * 5
    for no, noted in ((4, True), (5, False)):
        labels = labelled(
            "l.jsonl", texts("d.jsonl", ratings), [1] * (20 - no) + [0] * no
        )
        done = cli(
            "score",
            "d.jsonl",
            "-m",
            "is_long",
            "-o",
            "run",
            "--labels",
            labels,
        )
        assert ("fewer than 5 have one of them" in done.out) == noted


def test_marked_units_correct_a_rate_of_units(cli: Cli) -> None:
    # Of each text the metric finds "red" unstated and "dog" stated. People mark "red" in 24 of 30
    # texts and "dog" in 3: sensitivity 24 / 27, specificity 27 / 33; half of all units are found.
    sample = [
        {
            "id": str(i),
            "image": f"{i}.jpg",
            "candidate": "A red dog.",
            "references": ["A dog."],
        }
        for i in range(90)
    ]
    write("d.jsonl", sample)
    spans = [
        [[2, 5]] if i < 24 else [[6, 9]] if i < 27 else [] for i in range(30)
    ]
    marks = [
        {
            **row,
            "id": f"{row['id']}/ann",
            "annotator": "ann",
            "dataset": "docent_granular",
        }
        | {"judgments": {"mistakes": spans[i], "omissions": []}}
        for i, row in enumerate(sample[:30])
    ]
    write("marks.jsonl", marks)
    done = cli("score", "d.jsonl", "-m", "posh", "-o", "run", "--no-report")
    assert done.code == 0, done.err
    corrected = beholder.Run(Path("run")).corrected(
        "marks.jsonl", label=["posh.unstated_rate=mistakes"]
    )
    (mean,) = corrected.tables[0].rows
    assert (mean["judge"], mean["labels"]) == (
        0.5,
        pytest.approx(27 / 60),
    )  # of the same units
    (row,) = next(
        table for table in corrected.tables if table.name == "corrected-rates"
    ).rows
    assert row["sensitivity"] == pytest.approx(24 / 27)
    assert row["specificity"] == pytest.approx(27 / 33)
    assert (row["n"], row["n_labels"], row["said"]) == (180, 60, 0.5)
    assert row["rate"] == pytest.approx(
        (0.5 + 27 / 33 - 1) / (24 / 27 + 27 / 33 - 1)
    )
    assert row["rate_low"] < row["rate"] < row["rate_high"]
    bias = corrected.tables[-1]
    reasons = {entry["name"]: entry["reason"] for entry in bias.rows}
    assert reasons["place of the sentence"].startswith(
        "0 wrong sentences of 0 pictures"
    )
    assert reasons["own texts"] == "the metric asks no model"
    assert set(reasons) == {
        "length",
        "place of the sentence",
        "place, false alarms",
        "own texts",
    }
    assert any(
        "seat, flips, wording and repeats" in note for note in bias.notes
    )


def test_sentences_that_people_marked_are_found_by_their_place(
    cli: Cli,
) -> None:
    # People mark the first and the last sentence of 16 texts. The metric finds all of the first
    # and, of the last, the 8 with a colour: 0.5 - 1. The 16 others are too few for false alarms.
    sample = [
        {
            "id": str(i),
            "image": f"{i}.jpg",
            "references": ["A dog. A cat sits. A bird."],
        }
        | {
            "candidate": f"A red dog. A cat sits. A {'blue bird' if i % 2 else 'bird'}."
        }
        for i in range(16)
    ]
    write("d.jsonl", sample)
    marks = [
        {
            **row,
            "id": f"{row['id']}/ann",
            "annotator": "ann",
            "dataset": "docent_granular",
        }
        | {"judgments": {"mistakes": [[2, 5], [23, 27]], "omissions": []}}
        for row in sample
    ]
    write("marks.jsonl", marks)
    command = ("score", "d.jsonl", "-m", "posh", "-o", "run", "--no-report")
    assert cli(*command).code == 0
    corrected = beholder.Run(Path("run")).corrected(
        "marks.jsonl", label=["posh.unstated_rate=mistakes"]
    )
    entries = {row["name"]: row for row in corrected.tables[-1].rows}
    assert entries["place of the sentence"]["value"] == pytest.approx(-0.5)
    assert entries["place of the sentence"]["n"] == 32
    assert entries["place, false alarms"]["reason"].startswith(
        "16 right sentences of 16 pictures"
    )
    (rate,) = next(
        table for table in corrected.tables if table.name == "corrected-rates"
    ).rows
    assert rate["reason"].endswith("verdicts have labels and 0 have none")


def test_labels_of_a_scale_of_their_own_are_brought_to_that_of_the_value(
    cli: Cli,
) -> None:
    # On 1..10 the label 5.5 is the middle, which is 0.5 on the scale of ROUGE.
    rows = texts("d.jsonl", [5, 9, 7, 6, 8, 10, 5, 9, 7, 6])
    labels = labelled("l.jsonl", rows, [1, 10, 1, 10, 5.5, 5.5])
    command = (
        "score",
        "d.jsonl",
        "-m",
        "rouge",
        "-o",
        "run",
        "--no-report",
        "--labels",
        labels,
    )
    assert "name its ends: --label words@1..10" in cli(*command).err
    assert (
        "expected the ends of a scale"
        in cli(*command, "--label", "words@10").err
    )
    assert (
        "expected the ends of a scale"
        in cli(*command, "--label", "words@4..4").err
    )
    assert not Path("run").exists()
    done = cli(*command, "--label", "rouge.rouge_l=words@1..10")
    assert done.code == 0, done.err
    corrected = beholder.Run(Path("run")).corrected(
        labels, label=["words@1..10"]
    )
    assert corrected.tables[0].rows[0]["labels"] == pytest.approx(0.5)


def test_agree_takes_labels_of_another_file(cli: Cli) -> None:
    rows = texts("d.jsonl", [5, 9, 7, 6, 8, 10, 5, 9, 7, 6])
    labels = labelled("l.jsonl", rows, [1, 5, 3, 2, 4, 5])
    options = (
        "agree",
        "d.jsonl",
        "-m",
        "word_count",
        "--resamples",
        "0",
        "--no-report",
        "-o",
        "run",
    )
    assert cli(*options).code == 2  # no judgments
    done = cli(
        *options,
        "--labels",
        labels,
        "--label",
        "words",
        "--no-figures",
        "--markdown",
        "-",
    )
    assert done.code == 0, done.err
    output = done.out.replace("&#46;", ".")
    # Ranks 1 5 3 2 4 6 of the scores, 1 5.5 3 2 4 5.5 of the labels.
    assert re.search(r"\| word\S*count \| words \| 0.986 ", output)
    row = next(
        line for line in output.splitlines() if "word" in line and "[" in line
    )
    assert " 3.333 " in row  # of the labels 1 5 3 2 4 5
    assert (
        cli("agree", "pascal50s", "-m", "word_count", "--labels", labels).code
        == 2
    )


def test_cells_of_the_confusion_table_are_lists_in_the_viewer(
    cli: Cli,
) -> None:
    # Long texts are right but for one, short ones are wrong but for one.
    counts = [20] * 13 + [2] * 11
    right = [True] * 12 + [False] + [True] + [False] * 10
    rows = texts("d.jsonl", counts)
    options = [
        row | {"judgments": {"right": label}}
        for row, label in zip(rows, right, strict=True)
    ]
    write("d.jsonl", options)
    command = (
        "agree",
        "d.jsonl",
        "-m",
        "word_count",
        "--label",
        "right",
        "--statistic",
        "verdicts",
    )
    done = cli(
        *command,
        "--resamples",
        "0",
        "--no-figures",
        "-o",
        "run",
        "--tables",
        "tables",
    )
    assert done.code == 0, done.err
    (file,) = Path("tables").glob("confusion*.json")
    row = json.loads(file.read_text("utf-8"))["rows"][0]
    cells = [
        "yes, metric yes",
        "yes, metric no",
        "no, metric yes",
        "no, metric no",
    ]
    assert [row[name] for name in cells] == [12, 1, 1, 10]

    viewer = Viewer([Path("run")])
    for view in viewer.runs:
        view.refresh()
    app = make_viewer(viewer, Settings(rate=1e6, burst=10_000))
    with TestClient(
        app, base_url="http://127.0.0.1", client=("127.0.0.1", 50000)
    ) as client:
        page = client.get("/runs/0").text
        links = re.findall(
            r'href="([^"]*group=[^"]*)"><bdi>no, metric yes<', page
        )
        assert links
        listed = client.get(links[0].replace("&amp;", "&")).text
        assert re.findall(r"/runs/0/item/(\d+)", listed)[0] == "12"
        assert len(set(re.findall(r"/runs/0/item/(\d+)\?", listed))) == 1
