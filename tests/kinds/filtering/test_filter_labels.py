"""Labels of a filter: what is drawn, what the labels say, and when they are refused."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import beholder
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.filtering import labelling
from beholder.kinds.filtering.result import RESULT, VERDICTS, read_result
from toy.command import Cli

GOOD = "Number {} stands on a plain wall above the door of a house."
BAD = "I'm sorry, but I can't assist with that request, number {}."


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a set and its filter, in which a fifth of the rows are bad."""
    folder = tmp_path_factory.mktemp("filtered")
    rows = [
        {
            "image": f"{n // 2}.jpg",
            "caption": (GOOD if n % 5 else BAD).format(n),
        }
        for n in range(1000)
    ]
    with chdir(folder):
        write_jsonl("set.jsonl", rows)
        beholder.filter("set.jsonl", out="clean", workers=1)
    return folder


@pytest.fixture
def cli(cli: Cli, finished: Path) -> Cli:
    shutil.copytree(finished, ".", dirs_exist_ok=True)
    return cli


def write_jsonl(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    lines = (json.dumps(row) + "\n" for row in rows)
    Path(name).write_text("".join(lines), encoding="utf-8")


def read_jsonl(name: str) -> list[dict[str, Any]]:
    lines = Path(name).read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def decisions() -> dict[str, str]:
    (part,) = Path("clean", VERDICTS).glob("*.parquet")
    rows = pq.read_table(part).to_pylist()
    return {f"row-{row['row']}": row["decision"] for row in rows}


def draw(cli: Cli, *options: str) -> list[str]:
    done = cli("filter", "sample", "clean", "-o", "check.jsonl", *options)
    assert done.code == 0, done.err
    return [row["id"] for row in read_jsonl("check.jsonl")]


def test_half_of_the_labels_are_of_kept_rows_and_no_picture_is_drawn_twice(
    cli: Cli,
) -> None:
    names = draw(cli, "--n", "120")
    by_decision = Counter(decisions()[name] for name in names)
    assert by_decision == {"keep": 60, "drop": 60}
    rows = read_jsonl("check.jsonl")
    assert len({row["images"][0] for row in rows}) == 120
    # Readers see neither decision nor reason, and both decisions mixed.
    assert set(rows[0]) == {"id", "candidate", "images"}
    assert {decisions()[name] for name in names[:30]} == {"keep", "drop"}


def test_a_draw_depends_on_the_seed_and_a_new_one_is_of_other_rows(
    cli: Cli,
) -> None:
    first = draw(cli, "--n", "60", "--seed", "4")
    assert draw(cli, "--n", "60", "--seed", "4") == first
    assert draw(cli, "--n", "60", "--seed", "5") != first
    new = draw(cli, "--n", "60", "--seed", "4", "--new")
    assert not set(new) & set(first)


def label(names: Sequence[str], bad: Sequence[str]) -> None:
    write_jsonl(
        "read.jsonl", [{"id": name, "bad": name in bad} for name in names]
    )


def test_no_bad_row_is_never_a_rate_of_zero(cli: Cli) -> None:
    names = draw(cli, "--n", "400")
    kept = [name for name in names if decisions()[name] == "keep"]
    label(names, [name for name in names if name not in kept])
    done = cli("filter", "estimate", "clean", "--labels", "read.jsonl")
    limit = 100 * 1.959964**2 / (len(kept) + 1.959964**2)  # Wilson, none of n
    sentence = f"No bad row among {len(kept)}: at most {limit:.1f} % are left."
    assert sentence in done.out
    assert " 0 %" not in done.out
    assert done.code == 0
    plain = json.loads(
        cli(
            "filter", "estimate", "clean", "--labels", "read.jsonl", "--json"
        ).out
    )
    high = plain["remaining"]["rate_left"]["high"]
    assert high == pytest.approx(limit / 100, abs=1e-6)


def make_job(strata: Mapping[str, tuple[int, int, int]]) -> None:
    """Write a finished filter and its labels: rows, labels and bad labels by stratum."""
    n_rows = {name: rows for name, (rows, _, _) in strata.items()}
    names = [name for name, n in n_rows.items() for _ in range(n)]
    Path("made", VERDICTS).mkdir(parents=True, exist_ok=True)
    table = pa.table({"row": range(len(names)), "stratum": names})
    pq.write_table(table, Path("made", VERDICTS, "part-00000.parquet"))
    result = read_result(Path("clean"))
    result = msgspec.structs.replace(result, strata=n_rows)
    Path("made", RESULT).write_bytes(msgspec.json.encode(result))
    labels: list[dict[str, Any]] = [
        {"id": f"row-{names.index(name) + at}", "bad": at < n_bad}
        for name, (_, n, n_bad) in strata.items()
        for at in range(n)
    ]
    write_jsonl("read.jsonl", labels)
    drawn = [int(label["id"][4:]) for label in labels]
    sample = {"digest": result.digest, "rows": drawn}
    log = {"format": 1, "samples": [sample]}
    Path("made", labelling.SAMPLES).write_text(json.dumps(log), "utf-8")


def test_the_worked_examples_through_the_command(cli: Cli) -> None:
    # 3a and 3b of the specification, computed with scipy outside of beholder.
    make_job(
        {
            "drop-none": (8_000, 60, 57),
            "drop-low": (4_000, 60, 42),
            "keep-low": (20_000, 120, 18),
            "keep-high": (68_000, 120, 2),
        }
    )
    command = ("filter", "estimate", "made", "--labels", "read.jsonl")
    assert cli(*command).out.split("\n")[:-1] == [
        "Of the rows dropped 86.7 % (79.5 to 90.7) were bad (120 labels).",
        "Bad rows left: 4.7 % (3.2 to 8.4) of the kept (240 labels), before 14.5 %.",
        "The filter found 72 % (58 to 79) of the bad rows and lost about 1,600 good ones (1.9 %).",
    ]  # fmt: skip
    figures = json.loads(Path("made/estimate.json").read_text("utf-8"))
    assert figures["format"] == 1
    expected = {
        "precision": (0.866667, 0.795232, 0.906835),
        "rate_left": (0.046970, 0.031736, 0.083641),
        "recall": (0.715596, 0.583684, 0.788684),
    }
    for name, values in expected.items():
        rate = figures["remaining"][name]
        ends = (rate["value"], rate["low"], rate["high"])
        assert ends == pytest.approx(values, abs=5e-7)
    make_job({"drop-1": (5_000, 100, 93), "keep-0": (45_000, 300, 0)})
    assert cli(*command).out.split("\n")[:-1] == [
        "Of the rows dropped 93.0 % (86.3 to 96.6) were bad (100 labels).",
        "No bad row among 300: at most 1.3 % are left.",
        "The filter found at least 89 % of the bad rows and lost about 350 good ones (0.8 %).",
    ]  # fmt: skip
    remaining = json.loads(cli(*command, "--json").out)["remaining"]
    assert remaining["rate_left"]["high"] == pytest.approx(0.012643, abs=5e-7)
    assert remaining["recall"]["low"] == pytest.approx(0.890730, abs=5e-7)


def test_rows_without_a_text_need_no_reader_and_are_bad(cli: Cli) -> None:
    texts = [GOOD.format(n) if n % 3 else "" for n in range(90)]
    write_jsonl("set.jsonl", [{"caption": text} for text in texts])
    beholder.filter("set.jsonl", out="clean", workers=1)
    names = draw(cli, "--n", "60")
    assert len(names) == 60
    label(names, [])
    done = cli("filter", "estimate", "clean", "--labels", "read.jsonl")
    assert done.out.split("\n")[:-1] == [
        "Of the rows dropped 100.0 % (100.0 to 100.0) were bad (0 labels).",
        "No bad row among 60: at most 0.0 % are left.",
        "The filter found at least 100 % of the bad rows and lost about 0 good ones (0.0 %).",
    ]  # fmt: skip
    label([], [])
    done = cli("filter", "estimate", "clean", "--labels", "read.jsonl")
    assert (done.code, "label at least 30 of stratum keep-0" in done.out) == (
        3, True,
    )  # fmt: skip


def test_a_stratum_without_labels_has_no_total(cli: Cli) -> None:
    names = draw(cli, "--n", "60")
    kept = [name for name in names if decisions()[name] == "keep"]
    label(kept, [])
    done = cli("filter", "estimate", "clean", "--labels", "read.jsonl")
    assert done.code == 3
    assert "label at least 30 of stratum drop-1" in done.out
    label([*kept, next(name for name in names if name not in kept)], [])
    done = cli("filter", "estimate", "clean", "--labels", "read.jsonl")
    assert (done.code, "stratum drop-1 has 1 labels" in done.err) == (0, True)


def test_many_unsure_labels_give_both_bounds(cli: Cli) -> None:
    names = draw(cli, "--n", "80")
    rows = [
        {
            "id": name,
            "bad": None if at % 5 == 0 else decisions()[name] == "drop",
        }
        for at, name in enumerate(names)
    ]
    write_jsonl("read.jsonl", rows)
    done = cli("filter", "estimate", "clean", "--labels", "read.jsonl")
    assert "16 of 80 labels are unsure" in done.err
    assert "Unsure as good: no bad row among" in done.out
    assert "Unsure as bad: bad rows left" in done.out


def test_labels_from_before_the_settings_are_refused(cli: Cli) -> None:
    names = draw(cli, "--n", "60")
    label(names, [name for name in names if decisions()[name] == "drop"])
    beholder.filter("set.jsonl", out="clean", workers=1, drop="words<3")
    command = ("filter", "estimate", "clean", "--labels", "read.jsonl")
    done = cli(*command)
    assert (done.code, "60 labels were drawn before" in done.err) == (2, True)
    done = cli(*command, "--same-labels")
    assert (done.code, "too good" in done.err) == (0, True)
    beholder.filter("set.jsonl", out="clean", workers=1)
    assert cli(*command).code == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "row-1", "bad": "perhaps"}, "expected true, false, or empty"),
        ({"id": "one", "bad": True}, "is none of a sample"),
        ({"id": "row-99999", "bad": True}, "rows that were not drawn"),
    ],
)
def test_strange_labels_are_refused(
    cli: Cli, row: dict[str, Any], message: str
) -> None:
    write_jsonl("read.jsonl", [row])
    done = cli("filter", "estimate", "clean", "--labels", "read.jsonl")
    assert (done.code, message in done.err) == (2, True)


def test_a_study_of_two_readers_gives_the_stricter_label(cli: Cli) -> None:
    draw(cli, "--n", "60")
    done = cli(
        "annotate", "reading", "check.jsonl", "-o", "clean/people", "--annotators", "2",
        "--overlap", "2", "--prepare",
    )  # fmt: skip
    assert done.code == 0, done.err
    units = list(AnnotationStudy.open(Path("clean/people")).positions())
    judgments = [
        {
            "unit": unit,
            "annotator": f"annotator-{reader}",
            "judgment": {"level": level, "done": True},
        }
        for reader in (1, 2)
        for unit, level in zip(
            units[:2],
            (("none", "minor", "grave")[reader], "minor"),
            strict=True,
        )
    ]
    judgments.append(
        {"unit": units[2], "annotator": "annotator-1", "judgment": {"cannot": True, "done": True}}
    )  # fmt: skip
    write_jsonl("readings.jsonl", judgments)
    done = cli("annotate", "import", "clean/people", "readings.jsonl")
    assert done.code == 0, done.err
    labels = labelling.read_labels(Path("clean/people"))
    rows = [int(unit.removeprefix("row-")) for unit in units[:3]]
    assert labels == {rows[0]: True, rows[1]: False, rows[2]: None}
    assert labelling.read_labels(Path("clean/people"), "minor")[rows[1]]
