"""``beholder annotate`` from data to the table of the command that takes its results, by hand."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotated_data import DATA_OF, write_rows
from annotating import finish
from beholder.cli.main import app
from beholder.kinds.annotation.pages import study_routes, study_settings
from beholder.kinds.annotation.study import AnnotationStudy, describe_counts
from beholder.kinds.annotation.tasks import TASKS
from beholder.metrics import METRICS, Metric, Tools, ValueInfo
from beholder.records import Item, ItemScore, Unit
from beholder.report.tables import reliability_table
from beholder.run.reliability import Reliability
from beholder.text.tokenize import words
from beholder.web import make_app
from toy.command import Cli

FLAGGED = ("blue", "Three")


@dataclass(frozen=True)
class Flagger(Metric[None]):
    """Calls some words mistakes, the fact about a pier true and others false."""

    registered_name = "flagger"
    values = (ValueInfo("precision", "share of words that are not flagged"),)

    async def gather(self, item: Item, tools: Tools) -> None:
        return None

    def score_item(self, item: Item, evidence: None) -> ItemScore:
        spans = words(item.candidate)
        flagged_spans = [
            (span, item.candidate[slice(*span)] in FLAGGED) for span in spans
        ]
        units = [
            Unit(
                "attribute",
                item.candidate[slice(*span)],
                "candidate",
                (span,),
                float(not bad),
            )
            if not bad
            else Unit(
                "attribute", "bad", "candidate", (span,), 0.0, "contradicted"
            )
            for span, bad in flagged_spans
        ]
        facts = [
            part.strip() for part in item.candidate.split(".") if part.strip()
        ]
        units += [
            Unit(
                "statement",
                fact,
                "candidate",
                (),
                None,
                None,
                None,
                {"verified": "pier" in fact},
            )
            for fact in facts
        ]
        return ItemScore({"precision": 0.5}, tuple(units), self.signature())


@pytest.fixture
def flagger() -> None:
    if "flagger" not in METRICS.names():
        METRICS.register("flagger")(Flagger)


Judge = Callable[..., Path]


@pytest.fixture
def judge(cli: Cli, tmp_path: Path) -> Judge:
    """Return a function that creates a study by the command, judges, and exports the judgments."""

    def make(
        task: str, judgments: Mapping[str, Mapping[str, Mapping[str, Any]]]
    ) -> Path:
        DATA_OF[task](tmp_path)
        data = {
            "marks": "items",
            "pairs": "items",
            "ratings": "items",
            "facts": "items",
        }.get(task, {"ranking": "reviews"}.get(task, "storylines"))
        names = ",".join(judgments)
        done = cli(
            "annotate",
            task,
            f"{data}.jsonl",
            "-o",
            "study",
            "--annotators",
            names,
            "--prepare",
        )
        assert done.code == 0, done.err
        study = AnnotationStudy.open(tmp_path / "study")
        for name, token in study.annotators().items():
            assert f"{name}: http://127.0.0.1:8765/?token={token}" in done.out
        for name, units in judgments.items():
            for unit, parts in units.items():
                finish(study, name, unit, parts)
        study.close()
        exported = cli("annotate", "export", "study", "-o", "said.jsonl")
        assert exported.code == 0, exported.err
        assert (
            f"{sum(map(len, judgments.values()))} finished judgments"
            in exported.err
        )
        return tmp_path / "said.jsonl"

    return make


def read_report(cli: Cli, *arguments: str) -> Any:
    done = cli(*arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_marks_go_to_agree(cli: Cli, judge: Judge, flagger: None) -> None:
    minor = {"kind": "attribute", "severity": "minor"}
    judge(
        "marks",
        {
            "anna": {
                "harbour-north": {
                    "mistakes:2-6": minor,
                    "mistakes:28-40": minor,
                }
            }
        },
    )
    report = read_report(
        cli, "agree", "said.jsonl", "-m", "flagger", "--resamples", "20"
    )
    mistakes = next(
        finding
        for finding in report["findings"]
        if (finding["metric"], finding["label"]) == ("flagger", "mistakes")
    )
    # Marked: blue, Three, people of 12 words; flagged: blue, Three.
    assert mistakes["precision"]["value"] == 1.0
    assert mistakes["recall"]["value"] == pytest.approx(2 / 3)
    assert mistakes["alerts"]["f1"] == pytest.approx((0.8 + 18 / 19) / 2)


def test_pairs_go_to_agree(cli: Cli, judge: Judge) -> None:
    units = {
        name: f"{name}-north | {name}-south"
        for name in ("harbour", "street", "field")
    }
    levels = {"harbour": 1, "street": 2, "field": 0}
    judgments = {
        units[name]: {
            "mistakes": level,
            "omissions": 2,
            "overall_quality": level,
        }
        for name, level in levels.items()
    }
    judge("pairs", {"anna": judgments})
    report = read_report(
        cli,
        "agree",
        "said.jsonl",
        "-m",
        "length",
        "--resamples",
        "0",
        "--no-figures",
    )
    values = {
        measure["name"]: measure["metrics"][0]["agreement"]
        for measure in report["measures"]
    }
    # Words 12 - 11, 12 - 9, 11 - 6; labels 1, 0, 2. One tie: only differences from 3 on are none.
    assert values["spearman, overall_quality"] == pytest.approx(0.5)
    assert values["accuracy, overall_quality"] == pytest.approx(1 / 3)
    assert (
        values["accuracy, omissions"] == 1.0
    )  # all are ties, and so is every prediction


def test_facts_go_to_agree(cli: Cli, judge: Judge) -> None:
    judge(
        "facts",
        {
            "anna": {
                "harbour-north": {"0": "true", "1": "false"},
                "street-south": {"0": "true"},
                "field-south": {"0": "false"},
            }
        },
    )
    report = read_report(
        cli, "agree", "said.jsonl", "--label", "true", "-m", "length", "--resamples", "0",
        "--no-figures",
    )  # fmt: skip
    # Shares 0.5, 1, 0 of texts of 12, 9 and 6 words: ranks 2, 3, 1 against 3, 2, 1.
    assert report["measures"][0]["metrics"][0]["agreement"] == pytest.approx(
        0.5
    )


def test_ratings_go_to_bidirectional(cli: Cli, judge: Judge) -> None:
    candidates = {"harbour": (7, 5), "street": (8, 6), "field": (3, 1)}
    references = {"harbour": (9, 9), "street": (10, 8), "field": (9, 9)}
    judgments: dict[str, dict[str, Any]] = {"anna": {}, "ben": {}}
    for place, units in enumerate(judgments.values()):
        for name in candidates:
            units[f"{name}-north/candidate"] = {
                "rating": candidates[name][place]
            }
            units[f"{name}-north/reference"] = {
                "rating": references[name][place]
            }
    judge("ratings", judgments)
    scored = cli(
        "score",
        "said.jsonl",
        "-m",
        "dcscore(direction='both', verify='reference')",
        "-o",
        "both",
    )
    assert scored.code == 0, scored.err
    report = read_report(cli, "bidirectional", "both")
    means = {row["who"]: (row["mean"], row["n"]) for row in report["ratings"]}
    assert means == {"people": (9.0, 6), "north": (5.0, 6)}
    gap = next(
        row for row in report["rating_gaps"] if row["category"] == "all"
    )
    assert (gap["median"], gap["n"]) == (-3.0, 6)  # of -2, -4, -2, -2, -6, -8


def test_rankings_go_to_rank(cli: Cli, judge: Judge) -> None:
    names = ("harbour", "street", "field")
    plain = {f"{name} (en)": {"order": [0, 1, 2]} for name in names}
    judge(
        "ranking",
        {"anna": plain, "ben": {**plain, "street (en)": {"order": [1, 0, 2]}}},
    )
    report = read_report(
        cli,
        "rank",
        "said.jsonl",
        "-s",
        "metric(length)",
        "--threshold",
        "none",
    )
    table = report[0] if isinstance(report, list) else report
    text = json.dumps(table)
    # The longest text comes first in each set. People agree 1, 0.5 and 1.
    assert f"{2.5 / 3:.10f}"[:8] in text
    assert f"{2.75 / 3:.10f}"[:8] in text


def test_ratings_of_sequences_go_to_narrate(cli: Cli, judge: Judge) -> None:
    ratings = {"walk": (8, 7), "trip": (9, 9), "mix": (2, 3)}
    judge(
        "sequences",
        {
            who: {
                name: {"rating": pair[place]} for name, pair in ratings.items()
            }
            for place, who in enumerate(("anna", "ben"))
        },
    )
    report = read_report(
        cli, "narrate", "judge", "storylines.jsonl", "--judge", "people:said.jsonl", "--by",
        "sight", "-o", "run",
    )  # fmt: skip
    means = {row["source"]: row["mean"] for row in report["tables"]["scores"]}
    assert means == {
        "human": pytest.approx(8.25),
        "random": pytest.approx(2.5),
    }


def test_steps_go_to_narrate(cli: Cli, judge: Judge) -> None:
    def steps(*judgments: tuple[int, list[str]]) -> dict[str, Any]:
        return {
            str(n): {"rating": r, "breaks": b}
            for n, (r, b) in enumerate(judgments)
        }

    judge(
        "steps",
        {
            "anna": {
                "walk": steps((8, []), (6, ["time"])),
                "trip": steps((9, []), (9, [])),
                "mix": steps((2, ["theme"]), (3, ["place"])),
            },
            "ben": {
                "walk": steps((7, []), (5, ["place", "time"])),
                "trip": steps((8, []), (9, [])),
                "mix": steps((1, ["theme"]), (2, [])),
            },
        },
    )
    report = read_report(
        cli, "narrate", "transitions", "storylines.jsonl", "--judge", "people:said.jsonl", "-o",
        "run",
    )  # fmt: skip
    sources = {row["source"]: row for row in report["steps"]["sources"]}
    assert sources["human"]["mean"] == pytest.approx((6.5 + 8.75) / 2)
    assert sources["random"]["mean"] == pytest.approx(2.0)


ONE_JUDGMENT: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "marks": (
        "harbour-north",
        {"mistakes:2-6": {"kind": "attribute", "severity": "minor"}},
    ),
    "pairs": (
        "harbour-north | harbour-south",
        {"mistakes": 1, "omissions": 2, "overall_quality": 0},
    ),
    "ratings": ("harbour-north/candidate", {"rating": 4}),
    "ranking": ("harbour (en)", {"order": [2, 0, 1]}),
    "facts": ("harbour-north", {"0": "true", "1": "false"}),
}


@pytest.mark.parametrize("referenced", [True, False])
@pytest.mark.parametrize("task", [*ONE_JUDGMENT, "ratings of both"])
def test_the_suggested_command_works(
    cli: Cli, tmp_path: Path, task: str, referenced: bool
) -> None:
    name = task.partition(" ")[0]
    data = DATA_OF[name](tmp_path)
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    for row in rows if not referenced else ():
        del row["references"]
    write_rows(data, rows)
    output = cli(
        "annotate",
        name,
        data.name,
        "-o",
        "study",
        "--annotators",
        "anna,ben",
        "--prepare",
    )
    assert output.code == 0, output.err
    study = AnnotationStudy.open(tmp_path / "study")
    unit, parts = ONE_JUDGMENT[name]
    for who in ("anna", "ben"):
        finish(study, who, unit, parts)
        if task != name and referenced:
            finish(study, who, "harbour-north/reference", {"rating": 9})
    study.close()
    exported = cli("annotate", "export", "study", "-o", "said.jsonl")
    (suggested,) = re.findall(r"^next: beholder (.*)$", exported.err, re.M)
    if (
        task == "facts" and not referenced
    ):  # only a model that sees can check them
        assert "judge='openai:MODEL'" in suggested
        return
    done = cli(*shlex.split(suggested))
    assert done.code == 0, done.err
    assert re.search(r"[1-9]\d* failed", done.err + done.out) is None


def test_revisions_of_no_file_suggest_none(cli: Cli, tmp_path: Path) -> None:
    """Only texts that come from a file can be written into it; others are in the export."""
    for folder, source in (("without", {}), ("with", {"file": "page.html"})):
        data = DATA_OF["revisions"](tmp_path)
        rows = [json.loads(line) for line in data.read_text().splitlines()]
        write_rows(data, [{**row, "source": source} for row in rows])
        assert (
            cli(
                "annotate", "revisions", data.name, "-o", folder, "--prepare"
            ).code
            == 0
        )
        study = AnnotationStudy.open(tmp_path / folder)
        finish(study, "annotator-1", "harbour-north", {"decision": "accept"})
        study.close()
        messages = cli("annotate", "export", folder, "-o", "said.jsonl").err
        assert (
            "next: beholder revise said.jsonl --write NEW-FILE" in messages
        ) == bool(source)


def test_the_command_prints_agreement(cli: Cli, judge: Judge) -> None:
    units = ("walk", "trip", "mix")
    anna, ben = (
        {n: {"rating": r} for n, r in zip(units, rs, strict=True)}
        for rs in ((8, 5, 2), (7, 5, 3))
    )
    judge("sequences", {"anna": anna, "ben": ben})
    report = read_report(cli, "annotate", "agreement", "study")
    assert report["progress"][0] == {
        "annotator": "anna",
        "assigned": 3,
        "begun": 0,
        "done": 3,
        "cannot": 0,
        "participant": None,
    }
    values = {
        coefficient["name"]: coefficient["value"]
        for coefficient in report["agreement"][0]["coefficients"]
    }
    assert values["ICC(2,1)"] == pytest.approx(12 / (13 - 1 / 3))
    output = cli("annotate", "agreement", "study")
    assert "ben: 3 of 3 done" in output.out
    assert "0.947" in output.out
    assert "Raters: anna, ben." in output.out
    said = " ".join(output.out.split())
    assert (
        "Only 3 compared: one more or less moves a share of agreement by 33 points"
        in said
    )


def test_only_few_items_bring_a_caution() -> None:
    notes = [
        reliability_table(Reliability("x", ("a", "b"), n, 0, ())).notes
        for n in (19, 20)
    ]
    assert [len(table_notes) for table_notes in notes] == [2, 1]


def test_judgments_without_rows_are_not_exported(
    cli: Cli, judge: Judge
) -> None:
    with pytest.raises(
        AssertionError, match="1 ratings of references are left out"
    ):
        judge("ratings", {"anna": {"harbour-north/reference": {"rating": 8}}})
    assert not Path("said.jsonl").exists()
    assert (
        cli(
            "annotate",
            "export",
            "study",
            "-o",
            "j.jsonl",
            "--format",
            "judgments",
        ).code
        == 0
    )


@pytest.mark.parametrize("form", ["results", "judgments"])
def test_a_study_without_judgments_is_not_exported(
    cli: Cli, tmp_path: Path, form: str
) -> None:
    DATA_OF["ratings"](tmp_path)
    assert (
        cli(
            "annotate", "ratings", "items.jsonl", "-o", "study", "--prepare"
        ).code
        == 0
    )
    done = cli(
        "annotate", "export", "study", "-o", "said.jsonl", "--format", form
    )
    assert done.code == 2
    assert done.err == (
        "beholder: study has nothing to export: no unit is finished; judge more with beholder"
        " annotate serve study\n"
    )
    assert not Path("said.jsonl").exists()


def test_judgments_go_from_study_to_study(cli: Cli, judge: Judge) -> None:
    judge("sequences", {"anna": {"walk": {"rating": 8}}})
    assert (
        cli(
            "annotate",
            "export",
            "study",
            "-o",
            "j.jsonl",
            "--format",
            "judgments",
        ).code
        == 0
    )
    output = cli(
        "annotate", "sequences", "storylines.jsonl", "-o", "other", "--prepare"
    )
    assert output.code == 0, output.err
    imported = cli("annotate", "import", "other", "j.jsonl")
    assert "1 judgments, 1 of them new" in imported.err
    copy = AnnotationStudy.open(Path("other"))
    assert list(copy.annotators()) == ["annotator-1", "anna"]
    copy.close()


def test_marks_are_proposed_by_a_run(
    cli: Cli, flagger: None, tmp_path: Path
) -> None:
    DATA_OF["marks"](tmp_path)
    assert cli("score", "items.jsonl", "-m", "flagger", "-o", "run").code == 0
    output = cli(
        "annotate",
        "marks",
        "items.jsonl",
        "-o",
        "study",
        "--prefill",
        "run",
        "--prepare",
    )
    assert output.code == 0, output.err
    study = AnnotationStudy.open(Path("study"))
    at = study.positions()["harbour-north"]
    proposed = {"kind": "attribute", "severity": None}
    assert study.state("annotator-1", at) == {
        "mistakes:2-6": proposed,
        "mistakes:28-33": proposed,
    }
    # one is taken away, one kept: half of the proposals stand
    finish(study, "annotator-1", "harbour-north", {"mistakes:28-33": None})
    study.close()
    report = read_report(cli, "annotate", "agreement", "study")
    (coefficient,) = report["agreement"][-1]["coefficients"]
    assert (coefficient["name"], coefficient["value"]) == (
        "proposals kept",
        0.5,
    )


def test_facts_and_verdicts_are_proposed_by_a_run(
    cli: Cli, flagger: None, tmp_path: Path
) -> None:
    path = DATA_OF["facts"](tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        del row["facts"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused = cli(
        "annotate", "facts", "items.jsonl", "-o", "study", "--prepare"
    )
    assert refused.code == 2
    assert "--prefill RUN" in refused.err
    assert cli("score", "items.jsonl", "-m", "flagger", "-o", "run").code == 0
    output = cli(
        "annotate",
        "facts",
        "items.jsonl",
        "-o",
        "study",
        "--prefill",
        "run",
        "--prepare",
    )
    assert output.code == 0, output.err
    study = AnnotationStudy.open(Path("study"))
    unit = study.unit(study.positions()["harbour-north"])
    assert unit.texts == (
        "A blue boat lies at a pier",
        "Three people stand beside it",
    )
    assert dict(unit.prefill) == {"0": "true", "1": "false"}
    study.close()


def test_other_tasks_take_no_proposals(
    cli: Cli, flagger: None, tmp_path: Path
) -> None:
    DATA_OF["pairs"](tmp_path)
    assert cli("score", "items.jsonl", "-m", "flagger", "-o", "run").code == 0
    output = cli(
        "annotate",
        "pairs",
        "items.jsonl",
        "-o",
        "study",
        "--prefill",
        "run",
        "--prepare",
    )
    assert output.code == 2
    assert "pairs takes no --prefill; marks and facts do" in output.err


DOCS = Path(__file__).parents[3] / "docs" / "annotate.md"
COMMANDS = [
    line
    for line in DOCS.read_text().splitlines()
    if line.startswith("beholder annotate")
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_the_page_are_understood(line: str) -> None:
    command, bound, ignored = app.parse_args(shlex.split(line)[1:])
    assert bound.arguments or command.__name__ == "tasks"
    assert not ignored


def test_the_page_shows_every_task_and_command() -> None:
    builtin = set(TASKS.builtin())
    assert {
        task for task in builtin if f"annotate-{task}.png" in DOCS.read_text()
    } == builtin
    commands = {line.split()[2] for line in COMMANDS}
    assert {"serve", "agreement", "export", "import", "tasks"} <= commands


@pytest.mark.parametrize("field", ["candidate", "images"])
def test_proposals_of_another_text_or_picture_are_refused(
    cli: Cli, flagger: None, tmp_path: Path, field: str
) -> None:
    path = DATA_OF["marks"](tmp_path)
    assert cli("score", "items.jsonl", "-m", "flagger", "-o", "run").code == 0
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row, replacement in zip(
        rows, [value[field] for value in rows[::-1]], strict=True
    ):
        row[field] = replacement  # as the same ids in a file in another order
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    output = cli(
        "annotate",
        "marks",
        "items.jsonl",
        "-o",
        "study",
        "--prefill",
        "run",
        "--prepare",
    )
    assert output.code == 2
    assert "--prefill run: " in output.err
    assert "score items.jsonl itself" in output.err
    assert not Path("study").exists()


def test_the_lead_is_told_that_references_are_rated_too(cli: Cli) -> None:
    rows = [
        {
            "id": f"{n}{system}",
            "image": f"{n}.jpg",
            "candidate": f"A boat {system}.",
        }
        | {"references": [f"Boat {n}."], "group": {"system": system}}
        for n in range(2)
        for system in "ab"
    ]
    Path("two.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    done = cli(
        "annotate",
        "ratings",
        "two.jsonl",
        "-o",
        "two",
        "--prepare",
        "--annotators",
        "2",
    )
    assert "6 units: 4 candidates and 2 references" in done.err


def revision(text: str) -> dict[str, object]:
    return {"revision": {"text": text, "edits": [], "refused": []}}


CAT, DOG = ({"id": text, "candidate": text} for text in ("A cat.", "A dog."))

UNSHOWN: tuple[tuple[str, list[dict[str, object]], str, str], ...] = (
    ("reading", [CAT, {"id": "c"}], "1 wrong rows", ""),
    ("reading", [CAT, {"id": "c", "candidate": " "}], "", "empty text, which annotators see: 1"),
    ("marks", [CAT, {"id": "c"}, {"id": "d"}], "2 wrong rows", ""),
    ("ratings", [CAT, {"id": "c"}], "1 wrong rows", ""),
    (
        "facts",
        [{**CAT, "facts": ["A cat is there."]}, {"id": "c"}],
        "1 wrong rows",
        "",
    ),
    (
        "revisions",
        [CAT | revision("A black cat."), DOG | revision("A dog.")],
        "1 rows whose proposal equals their text",
        "",
    ),
    (
        "pairs",
        [
            CAT | {"image": "a.jpg"},
            DOG | {"image": "a.jpg"},
            {"id": "z", "candidate": "A zebra.", "image": "z.jpg"},
        ],
        "1 rows without a second text about their picture",
        "",
    ),
    (
        "ranking",
        [{"id": "a", "texts": ["A", "B"]}, {"id": "b", "texts": ["A"]}],
        "1 wrong rows",
        "",
    ),
    (
        "reading",
        [CAT | {"readers": 3}, DOG],
        "",
        "1 units have fewer annotators than their rows ask for",
    ),
)  # fmt: skip
"""Task, rows, what its annotators do not see, and what else the command says."""


def test_rows_that_annotators_do_not_see_are_counted(cli: Cli) -> None:
    """In the output of the command, the study's record, its page and its data card."""
    for number, (task, rows, unshown, note) in enumerate(UNSHOWN):
        data, folder = Path(f"rows{number}.jsonl"), f"study{number}"
        write_rows(data, rows)
        done = cli(
            "annotate", task, data.name, "-o", folder, "--prepare",
            "--skip-bad-rows", "--annotators", "anna,ben",
        )  # fmt: skip
        assert done.code == 0, done.err
        assert note in done.err
        study = AnnotationStudy.open(Path(folder))
        assert describe_counts(study.design.unshown) == unshown
        app = make_app(
            study_routes(study),
            study_settings(study, "127.0.0.1", 8765, "localhost"),
        )
        with TestClient(app, base_url="http://localhost:8765") as owner:
            owner.get(f"/?token={study.token}")
            overview = owner.get("/").text
        study.close()
        expected = f"nnotators do not see {unshown}"
        for shown in (done.err, overview):
            assert (expected in shown) == bool(unshown), (task, shown)
    study = AnnotationStudy.open(Path("study0"))
    finish(study, "anna", "A cat.", {"level": "none"})
    study.close()
    card = cli("annotate", "publish", "study0", "-o", "set", "--title", "A")
    assert "Left out: 1 wrong rows; " in card.err


def test_options_that_a_task_does_not_use_are_refused(cli: Cli) -> None:
    write_rows(Path("sets.jsonl"), [{"id": "a", "texts": ["A", "B"]}])
    for task in ("ranking", "sequences", "steps"):
        for option in (
            ("--map", "texts=captions"),
            ("--references-from", "sets.jsonl"),
            ("--group-references",),
            ("--frames", "3"),
        ):
            refused = cli(
                "annotate", task, "sets.jsonl", "-o", "s", "--prepare", *option
            )
            assert refused.code == 2
            assert f"{option[0]} is not used: sets.jsonl is" in refused.err


def test_a_row_has_one_reader_or_more(cli: Cli) -> None:
    for value in (0, -1, 1.5, "two"):
        write_rows(Path("rows.jsonl"), [CAT | {"readers": value}])
        refused = cli(
            "annotate", "reading", "rows.jsonl", "-o", "s", "--prepare"
        )
        assert refused.code == 2
        assert "readers: expected a whole number from 1" in refused.err
