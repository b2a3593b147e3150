"""Checklists and questions through every door: score, agree, rewards, viewer, annotation."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import beholder
from beholder.data import to_row
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.scores.by_group import group_tables
from beholder.records import Item, ItemScore
from beholder.rewards import reward
from beholder.run.store import Store
from beholder.web import Settings
from beholder.web.viewer import Viewer, make_viewer
from servers.faults import FaultServer, completion, probe_answer, serving
from toy.command import Cli
from toy.planted import TASKS, Study

pytestmark = pytest.mark.usefixtures("few_resamples")
METRICS = ("checklist", "qa")


@pytest.fixture
def study() -> Study:
    return Study(8)


def accuracy(study: Study, item: Item) -> float:
    """Weight of the facts that are met, of all that were read."""
    facts = [
        criterion
        for criterion in item.meta["criteria"]
        if "kind" not in criterion
    ]
    weighted_states = [
        (criterion["weight"], study.state[item.id, criterion["text"]])
        for criterion in facts
    ]
    total = sum(
        weight for weight, state in weighted_states if state != "unread"
    )
    return float(
        sum(weight for weight, state in weighted_states if state == "met")
        / total
    )


@pytest.fixture
def data(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [
        {
            **to_row(item),
            "judgments": {"overall": accuracy(study, item)},
            "images": [],
        }
        for item in study.items
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def server(study: Study) -> Iterator[FaultServer]:
    with serving(FaultServer(study)) as served:
        yield served


def n_questions(server: FaultServer) -> int:
    """Questions about texts and answers; what a server can do is asked besides."""
    prompts = (body["messages"][-1]["content"] for body in server.bodies)
    return sum(
        re.search("Text t|Source t|Right answer:", prompt) is not None
        for prompt in prompts
    )


def planned(dry: Any) -> tuple[int, int]:
    """The fewest and the most calls that a dry run announces."""
    assert dry.code == 0, dry.err
    announced = dict(
        re.findall(r"(exactly|at least|at most) ([\d,]+) judge calls", dry.out)
    )
    if "exactly" in announced:
        return (int(announced["exactly"]),) * 2
    return int(announced["at least"]), int(announced["at most"])


EXACT = (
    *("checklist", "checklist(at_once=1)", "checklist(rules='capricorn')"),
    *(
        "checklist(rules='capability')",
        "qa(rules='captionqa')",
        "qa(rules='vdc')",
    ),
)


@pytest.mark.parametrize(
    ("name", "silent", "samples"),
    [
        *((name, False, 3) for name in (*EXACT, "qa", "autodq")),
        ("checklist", False, 1),
        ("qa", True, 1),
        ("autodq", True, 1),
    ],
)
def test_a_dry_run_knows_the_calls_that_are_made(
    name: str,
    silent: bool,
    samples: int,
    data: Path,
    cli: Cli,
    study: Study,
    server: FaultServer,
) -> None:
    for key, value in study.state.items():  # nothing is asked again
        mentioned = (
            key[0] not in ("t01", "t04") and value != "unread"
        )  # two texts say nothing
        study.state[key] = value if mentioned else "not mentioned"
    questions = [
        question for item in study.items for question in item.meta["questions"]
    ]
    open_ones = {
        question["question"]
        for question in questions
        if isinstance(question["answer"], str)
    } - {
        question["question"] for question in questions if "options" in question
    }
    for row, reading in study.reading.items():
        state = "right" if reading in ("unread", "silent") else reading
        study.reading[row] = (
            "silent" if silent and row[1] in open_ones else state
        )
    study.names = {key: value or "two" for key, value in study.names.items()}
    study.events = {
        text: [] if silent else [f"{text} ends."] for text in study.events
    }
    study.state |= {
        (text[-3:], f"{text} ends."): "met" for text in study.events
    }
    options = [
        "-m",
        name,
        "--judge",
        "openai:m",
        "--base-url",
        server.url,
        "-o",
        "run",
    ]
    options += [
        "--samples",
        str(samples),
        "--allow-failed",
        "8",
    ]  # vdc: rows without open questions
    low, high = planned(cli("score", str(data), *options, "--dry-run"))
    assert n_questions(server) == 0
    assert cli("score", str(data), *options).code == 0
    assert n_questions(server) == (low if silent else high) > 0
    assert (low == high) == (name in EXACT)
    page = Path("run/report.html").read_text("utf-8")
    if name in METRICS:
        question = study.items[0].meta[
            "questions" if name == "qa" else "criteria"
        ][0]
        assert (question.get("text") or question["question"]) in page


def test_a_dry_run_counts_events_of_several_texts_about_one_reference(
    cli: Cli, tmp_path: Path
) -> None:
    row = {"references": ["Source t0."], "images": ["a.png"]}
    rows = [
        {"id": f"t{n}", "candidate": f"Text t{n}.", **row} for n in (1, 2, 3)
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        prompt = body["messages"][-1]["content"]
        if probed := probe_answer(body):
            return probed
        if item_ids := re.findall(r'<item id="(\d+)">', prompt):
            met = {"state": "met", "quote": "t"}
            return completion(
                json.dumps({"rows": [{"id": int(n), **met} for n in item_ids]})
            )
        text = re.search(r"(Text|Source) t\d", prompt)
        event = {"text": f"{text and text[0]} ends.", "dimension": "event"}
        return completion(json.dumps({"criteria": [event]}))

    with serving(FaultServer(reply)) as server:
        options = (
            "-m",
            "autodq",
            "--judge",
            "openai:m",
            "--base-url",
            server.url,
        )
        out = ("-o", str(tmp_path / "run"))
        low, high = planned(
            cli("score", str(path), *options, *out, "--dry-run")
        )
        assert (
            cli("score", str(path), *options, *out, "--allow-failed", "3").code
            == 0
        )
        prompt_counts = Counter(
            body["messages"][-1]["content"] for body in server.bodies
        )
    asked_once = [
        prompt
        for prompt in prompt_counts
        if "Text t" in prompt or "Source t" in prompt
    ]
    # Events of four texts; of each candidate held against the reference, and the reverse.
    assert (low, high) == (4, 4 + 2 * 3)
    assert (
        len(asked_once) == high + 2 * 3
    )  # quotes that are no word of the text: asked again


@pytest.mark.parametrize("kind", ["facts", "events", "objects"])
def test_a_dry_run_counts_the_calls_that_write_criteria(
    kind: str, cli: Cli, tmp_path: Path
) -> None:
    rows = [
        {"id": f"t{n}", "candidate": "A.", "references": [f"Source {n}."]}
        for n in range(5)
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    written = completion(
        json.dumps({"criteria": [{"text": "A dog.", "dimension": "event"}]})
    )
    with serving(
        FaultServer(lambda body: probe_answer(body) or written)
    ) as server:
        options = [
            "criteria",
            str(path),
            "--kind",
            kind,
            "--source",
            "references",
        ]
        options += [
            "--judge",
            "openai:m",
            "--base-url",
            server.url,
            "-o",
            str(tmp_path / "made"),
        ]
        low, high = planned(cli(*options, "--dry-run"))
        assert not server.bodies
        assert cli(*options).code == 0
        n_reads = sum(
            "Source " in body["messages"][-1]["content"]
            for body in server.bodies
        )
    assert low == high == n_reads == 5


def test_a_dry_run_counts_the_blind_questions_of_each_row(
    cli: Cli, tmp_path: Path
) -> None:
    rows = [
        {
            "id": f"t{n}",
            "candidate": "A.",
            "references": [f"Source {n}."],
            "images": [],
        }
        for n in range(30)
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        prompt = body["messages"][-1]["content"]
        item_ids = re.findall(r'<item id="(\d+)">', prompt)
        if probed := probe_answer(body):
            return probed
        source = re.search(r"Source \d+", prompt)
        written = [
            {
                "question": f"{n} of {source and source[0]}?",
                "answer": "a",
                "wrong": list("bcd"),
            }
            for n in range(1)  # no two orders of its options are alike
        ]
        answered = [
            {"id": int(n), "choice": "A", "quote": "Source"} for n in item_ids
        ]
        return completion(
            json.dumps(
                {"rows": answered} if item_ids else {"questions": written}
            )
        )

    with serving(FaultServer(reply)) as server:
        options = (
            "--source",
            "references",
            "--judge",
            "openai:m",
            "--base-url",
            server.url,
        )
        out = str(tmp_path / "made.jsonl")
        dry = cli("questions", str(path), *options, "-o", out, "--dry-run")
        assert cli("questions", str(path), *options, "-o", out).code == 0
        n_calls = sum(
            "uestions" in body["messages"][-1]["content"]
            for body in server.bodies
        )
    assert planned(dry) == (30, n_calls)  # none may be written
    assert n_calls == 30 * 5  # written, answered, blind in three orders


def test_agreement_with_people_is_computed_for_qa(
    data: Path, cli: Cli, server: FaultServer
) -> None:
    options = (
        "--judge",
        "openai:m",
        "--base-url",
        server.url,
        "-o",
        "agreed",
        "--json",
    )
    done = cli(
        "agree",
        str(data),
        "-m",
        "checklist",
        "-m",
        "qa",
        "--label",
        "overall",
        *options,
    )
    assert done.code == 0, done.err
    (measure,) = json.loads(done.out)["measures"]
    measures = {
        measure["metric"].partition("(")[0]: measure
        for measure in measure["metrics"]
    }
    assert measures["checklist"]["agreement"] == pytest.approx(1.0)
    assert (measures["qa"]["n"], measures["qa"]["agreement"] is None) == (
        8,
        False,
    )


@pytest.mark.parametrize("name", METRICS)
def test_a_reward_is_the_metric_of_the_rows(
    name: str, study: Study, server: FaultServer
) -> None:
    items = study.items
    columns = {
        field: [i.meta[field] for i in items]
        for field in ("criteria", "questions")
    }
    with closing(
        reward(name, judge="openai:m", base_url=server.url, guards=())
    ) as text_reward:
        texts = [item.candidate for item in items]
        rewards = asyncio.run(
            text_reward(["p"] * len(items), texts, **columns)
        )
    scored = beholder.score(
        items, metrics=[name], judge="openai:m", base_url=server.url
    )
    outcomes = [
        outcome for _, outcome in scored.outcomes(next(iter(scored.summary)))
    ]
    values = [
        outcome.values["accuracy"] if isinstance(outcome, ItemScore) else None
        for outcome in outcomes
    ]
    assert any(value not in (None, 0.0) for value in values)
    assert rewards == pytest.approx(values)


@pytest.mark.parametrize("name", METRICS)
def test_the_viewer_shows_each_question_with_its_state(
    name: str, data: Path, study: Study, server: FaultServer
) -> None:
    beholder.score(
        data, metrics=[name], judge="openai:m", base_url=server.url, out="run"
    )
    viewer = Viewer([Path("run")])
    for view in viewer.runs:
        view.refresh()
    app = make_viewer(viewer, Settings(rate=1e6, burst=10_000))
    with TestClient(
        app, base_url="http://127.0.0.1", client=("127.0.0.1", 50000)
    ) as client:
        listed = html.unescape(client.get("/runs/0/items").text)
        page = html.unescape(client.get("/runs/0/item/0").text)
    item = study.items[0]
    rows = item.meta["questions" if name == "qa" else "criteria"]
    for row in rows:
        assert (row.get("text") or row["question"]) in page
    assert ("not mentioned" if name == "checklist" else "not said") in listed


@pytest.mark.parametrize("name", METRICS)
def test_annotators_see_what_the_text_says_with_the_verdicts(
    name: str, data: Path, cli: Cli, study: Study, server: FaultServer
) -> None:
    options = (
        "-m",
        name,
        "--judge",
        "openai:m",
        "--base-url",
        server.url,
        "-o",
        "run",
    )
    assert cli("score", str(data), *options).code == 0
    process = cli(
        "annotate",
        "facts",
        str(data),
        "-o",
        "study",
        "--prefill",
        "run",
        "--prepare",
    )
    assert process.code == 0, process.err
    with closing(AnnotationStudy.open(Path("study"))) as annotated:
        positions = annotated.positions()
        for item in study.items:
            states = [
                study.reading[item.id, row["question"]]
                for row in item.meta["questions"]
            ]
            if name == "qa" and not {"right", "wrong"} & set(states):
                assert (
                    item.id not in positions
                )  # the text answers nothing: there is nothing to check
                continue
            unit = annotated.unit(positions[item.id])
            proposed = {
                unit.texts[int(n)]: verdict
                for n, verdict in unit.prefill.items()
            }
            if name == "checklist":
                expected = {
                    text: {"met": "true", "contradicted": "false"}[
                        study.state[item.id, text]
                    ]
                    for text in unit.texts
                    if study.state[item.id, text] in ("met", "contradicted")
                }
            else:
                expected = {
                    text: {"right": "true", "wrong": "false"}[
                        study.reading[item.id, question]
                    ]
                    for text in unit.texts
                    for question in [text.partition("?")[0] + "?"]
                }
            assert proposed == expected


def test_answers_that_change_between_repeats_are_counted(
    data: Path, cli: Cli, study: Study, server: FaultServer
) -> None:
    firm = {key: value for key, value in study.state.items() if value == "met"}
    shaky = set(sorted(firm)[::3])

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        """One repeat of three says something else of some criteria."""
        is_repeat = body.get("seed") == 1  # the second repeat
        study.state.update(
            dict.fromkeys(shaky, "not mentioned" if is_repeat else "met")
        )
        return study(body)

    server.reply = reply
    asks = ("--samples", "3", "--judge", "openai:m", "--base-url", server.url)
    refused = cli(
        "translate",
        str(data),
        "--from",
        "en",
        "--to",
        "de",
        *asks,
        "-o",
        "other.jsonl",
    )
    assert (refused.code, "takes one answer" in refused.err) == (2, True)
    options = ("-m", "checklist", *asks, "-o", "run")
    done = cli("score", str(data), *options)
    assert done.code == 0, done.err
    verdicts = [
        body
        for body in server.bodies
        if "Text t" in body["messages"][-1]["content"]
    ]
    assert {(body["temperature"], body["seed"]) for body in verdicts} == {
        (0.7, n) for n in range(3)
    }
    assert cli("score", str(data), *options, "--temperature", "0").code == 2
    compared = cli("agree", str(data), *options[:-1], "agreed", "--no-figures")
    assert "changed" in compared.out
    n_asked = len(server.bodies)
    compared = cli(
        "agree", str(data), *options[:-1], "agreed", "--no-figures", "--json"
    )
    assert len(server.bodies) == n_asked
    door = beholder.score(
        data,
        ["checklist"],
        judge="openai:m",
        base_url=server.url,
        replicates=3,
        out="door",
    )
    assert server.bodies[n_asked:] != []
    assert [summary.signature for summary in door.summary.values()] == [
        summary.signature
        for summary in beholder.Run(Path("run")).summary.values()
    ]
    study.state.update(firm)
    run = beholder.Run(Path("run"))
    shares = []
    for item, item_score in run.outcomes(next(iter(run.summary))):
        assert isinstance(item_score, ItemScore)
        states = {
            criterion["text"]: study.state[item.id, criterion["text"]]
            for criterion in item.meta["criteria"]
        }
        rows = [
            criterion["text"]
            for criterion in item.meta["criteria"]
            if states[criterion["text"]] != "unread"
        ]
        changed = sum((item.id, text) in shaky for text in rows)
        assert item_score.values["changed"] == pytest.approx(
            changed / len(rows)
        )
        shares.append(changed / len(rows))
    (figures,) = json.loads(compared.out)["extra"].values()
    assert figures == {"changed": pytest.approx(sum(shares) / len(shares))}
    assert "changed" in Path("run/report.html").read_text("utf-8")
    judged = cli("agree", "run", "--judges")
    assert "same answer by all" in judged.out


def test_tables_have_the_share_of_each_state_by_dimension(
    study: Study, data: Path, cli: Cli, server: FaultServer
) -> None:
    options = (
        "-m",
        "checklist",
        "--judge",
        "openai:m",
        "--base-url",
        server.url,
        "-o",
        "run",
    )
    assert cli("score", str(data), *options).code == 0
    with Store.read(Path("run")) as store:
        (table,) = group_tables(store)
    states: dict[str, list[str]] = defaultdict(list)
    pictures: dict[str, set[str]] = defaultdict(set)
    for item in study.items:
        for criterion in item.meta["criteria"]:
            state = study.state[item.id, criterion["text"]].replace(" ", "_")
            if "dimension" in criterion and state != "unread":
                states[criterion["dimension"]].append(state)
                pictures[criterion["dimension"]].add(item.id)
    assert {row["group"]: row["n"] for row in table.rows} == {
        k: len(v) for k, v in states.items()
    }
    for row in table.rows:
        of = states[row["group"]]
        for state in ("met", "contradicted", "not_mentioned"):
            assert row[state] == pytest.approx(of.count(state) / len(of))
        assert row["n_sources"] == len(pictures[row["group"]])
        assert (row["met_low"] is None) == (row["n_sources"] < 5)
    page = Path("run/report.html").read_text("utf-8")
    assert 'id="by-group"' in page
    assert TASKS[0] in page


GOOD = {"question": "Where?", "options": ["in", "out"], "answer": "in"}


@pytest.mark.parametrize(
    ("metric", "field", "value", "message"),
    [
        (
            "qa",
            "questions",
            [GOOD, {**GOOD, "hint": "x"}],
            "questions[2]: Object contains unknown",
        ),
        (
            "qa",
            "questions",
            [{"question": "Where?"}],
            "questions[1]: Object missing required",
        ),
        ("qa", "questions", ["Where?"], "a question needs its answer"),
        (
            "qa",
            "questions",
            {"question": "Where?"},
            "the field 'questions' must be a list",
        ),
        ("qa", "questions", "[{", "is not a JSON list"),
        (
            "qa",
            "questions",
            [{**GOOD, "answer": "up"}],
            "answer 'up' is not among its options",
        ),
        (
            "qa",
            "questions",
            [{**GOOD, "answer": 2}],
            "answer 2 is not an index",
        ),
        ("qa", "questions", [{**GOOD, "weight": 0}], "weight must be"),
        (
            "qa",
            "questions",
            [{**GOOD, "id": "q"}] * 2,
            "the id 'q' is there twice",
        ),
        (
            "checklist",
            "criteria",
            [{"text": "A cat.", "wieght": 2}],
            "unknown field `wieght`",
        ),
        ("checklist", "criteria", [" "], "'text' is empty"),
        (
            "checklist",
            "criteria",
            5,
            "the field 'criteria' must be a list, got 5",
        ),
        (
            "autodq",
            "criteria",
            [{"text": "A cat.", "weight": -1}],
            "only a rule may have",
        ),
    ],
)
def test_a_malformed_row_is_told_before_anything_is_asked(
    server: FaultServer,
    cli: Cli,
    tmp_path: Path,
    metric: str,
    field: str,
    value: object,
    message: str,
) -> None:
    rows = [
        {
            "id": "good",
            "candidate": "A.",
            "reference": "A.",
            "questions": [GOOD],
            "criteria": ["A."],
        },
        {"id": "bad", "candidate": "A.", "reference": "A.", field: value},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    judge = [
        "--judge",
        "openai:m",
        "--base-url",
        server.url,
        "-o",
        str(tmp_path / "run"),
    ]
    for dry in (["--dry-run"], []):
        refused = cli("score", str(path), "-m", metric, *judge, *dry)
        assert refused.code == 2, "bad data, as for any other bad row"
        assert f"{path}:2: " in refused.err
        assert message in refused.err
    assert n_questions(server) == 0
    skipped = cli(
        "score",
        str(path),
        "-m",
        metric,
        *judge,
        "--dry-run",
        "--skip-bad-rows",
    )
    assert "1 items, 1 rows would be left out" in skipped.out
    assert "would fail" not in skipped.out
