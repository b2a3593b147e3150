"""Runs on Ray on this machine: the function, the command, errors, judges that share answers."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import ray

from beholder import score
from beholder.cli.main import app
from beholder.errors import BudgetError, ConfigError, DataError, RunError
from beholder.judges import AnswerFile
from beholder.metrics import METRICS
from beholder.ray import RayEngine
from beholder.ray import score as score_on_ray
from beholder.ray.engine import Worker
from beholder.records import Item, ItemFailure
from beholder.run.codec import Encoded
from beholder.run.execute import Scorer, Task
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.run.tables_parquet import ParquetTables
from servers.faults import FaultServer, completion, probe_answer, serving
from toy import captions
from toy.metric import ScheduledAsker, WordCount
from toy.reviewer import write_reviews

for _name, _metric in (("asked", ScheduledAsker), ("word_count", WordCount)):
    if _name not in METRICS.names():
        METRICS.register(_name)(_metric)

pytestmark = pytest.mark.usefixtures("alone")
TABLES = ("run.json", "scores.parquet", "units.parquet")


def _same(first: Path, second: Path) -> None:
    for name in TABLES:
        assert (first / name).read_bytes() == (second / name).read_bytes(), (
            name
        )


def test_a_data_set_of_ray_becomes_the_run_that_its_rows_become(
    tmp_path: Path,
) -> None:
    rows = captions.rows(1200)
    data = ray.data.from_items(rows, override_num_blocks=5)
    run = score_on_ray(data, ["bleu", "cider"], out=tmp_path / "ray")
    score(rows, ["bleu", "cider"], out=tmp_path / "here")
    _same(tmp_path / "ray", tmp_path / "here")
    failed = [
        item.id
        for item, outcome in run.outcomes("bleu")
        if isinstance(outcome, ItemFailure)
    ]
    assert failed == [f"row-{n}" for n in range(0, 1200, 101)]
    again = score_on_ray(data, ["bleu", "cider"], out=tmp_path / "ray")
    assert again.summary == run.summary
    assert (
        len(list((tmp_path / "ray" / "outcomes").iterdir())) == 3
    )  # blocks of 512


def test_the_command_writes_results_alone_to_its_output(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    captions.write(tmp_path / "rows.jsonl", 30)
    monkeypatch.chdir(tmp_path)
    words = [
        "score",
        "rows.jsonl",
        "-m",
        "bleu",
        "--json",
        "--allow-failed",
        "1",
        "--engine",
    ]
    assert (
        app(
            [*words, "ray", "-o", "far", "--parts", f"file://{tmp_path}/shelf"]
        )
        == 0
    )
    far = json.loads(capfd.readouterr().out)
    assert app([*words, "local", "-o", "near"]) == 0
    assert far == json.loads(capfd.readouterr().out)
    _same(tmp_path / "far", tmp_path / "near")
    assert (tmp_path / "far" / "report.html").is_file()
    assert len(list((tmp_path / "shelf" / "outcomes").iterdir())) == 1
    with pytest.raises(ConfigError, match="--parts is for --engine ray"):
        app([*words, "local", "-o", "more", "--parts", "x"])


def test_the_example_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text("utf-8")
    (example,) = re.findall(
        r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL
    )
    exec(compile(example, "scale.md", "exec"), {"__name__": "example"})
    assert (tmp_path / "runs" / "pairs" / "run.json").is_file()


def test_what_may_be_tried_again_is_and_nothing_else(tmp_path: Path) -> None:
    items = [
        Item("a", "one two"),
        Item("b", "LATER"),
        Item("c", "FAIL"),
        Item("d", "three"),
    ]
    for _ in range(2):
        run = score_on_ray(items, [WordCount()], out=tmp_path / "run")
        outcomes = {
            item.id: outcome for item, outcome in run.outcomes("word_count")
        }
        assert isinstance(outcomes["b"], ItemFailure)
        assert outcomes["b"].transient
    jobs: Counter[int] = Counter()
    for part in (tmp_path / "run" / "outcomes").iterdir():
        jobs.update(pq.read_table(part)["position"].to_pylist())
    assert jobs == {0: 1, 1: 2, 2: 1, 3: 1}


def test_a_block_that_ends_every_worker_ends_the_run_with_an_error(
    tmp_path: Path,
) -> None:
    with pytest.raises(RunError, match="the cluster failed"):
        score_on_ray([Item("a", "DIE")], [WordCount()], out=tmp_path / "run")


class Idle(Scorer):
    """Has nothing to do."""

    def __call__(self, tasks: Iterable[Task]) -> Encoded:
        raise AssertionError("asked to work")


def test_a_block_that_was_written_is_not_done_again(tmp_path: Path) -> None:
    """As where a machine is lost between writing a part and saying so."""
    items = [Item("a", "one two"), Item("b", "FAIL"), Item("c", "three")]
    with Store.open_parts(tmp_path) as store:
        store.sync(ITEM, items)
        tables = store.tables
        assert isinstance(tables, ParquetTables)
        rows = [row for _, row in tables.subjects(ITEM.name)]
    block = [(0, [0]), (1, [0]), (2, [0])]
    assert Worker(Scorer((WordCount(),), ITEM), tables.writer).work(
        block, rows
    ) == (2, 1)
    idle = Worker(Idle((WordCount(),), ITEM), tables.writer)
    assert idle.work(block, rows) == (2, 1)
    (part,) = (tmp_path / "outcomes").glob("part-*")
    part.unlink()
    with pytest.raises(AssertionError, match="asked to work"):
        idle.work(block, rows)


def test_errors_of_actors_are_told_as_they_are(tmp_path: Path) -> None:
    rows = captions.rows(3)
    with pytest.raises(ConfigError, match="was asked for twice"):
        score_on_ray(rows, ["bleu", "bleu"], out=tmp_path / "a")
    with pytest.raises(DataError, match="has no row that can be used"):
        score_on_ray([], ["bleu"], out=tmp_path / "b")
    with pytest.raises(ConfigError, match="connected to a cluster already"):
        score_on_ray(
            rows, ["bleu"], engine=RayEngine("192.0.2.1:1"), out=tmp_path / "c"
        )
    with pytest.raises(
        RunError, match="0 GPUs, which is no room for one actor"
    ):
        score_on_ray(
            rows, ["bleu"], engine=RayEngine(num_gpus=1), out=tmp_path / "d"
        )
    with pytest.raises(ConfigError, match="num_gpus=-1"):
        RayEngine(num_gpus=-1)


# Judges

N_ASKED = 80
PRICE = 0.25
"""US dollars of a call: 100 tokens asked at 1,500 a million, 10 answered at 10,000 a million.

Sums of it are exact, in whatever order the actors' answers come.
"""

PROBES = 12
"""Requests by which two actors find out what a server can do, at most."""


def _reply(body: dict[str, Any]) -> dict[str, Any]:
    return probe_answer(body) or completion("4", first={"4": -0.1, "5": -3.0})


def _questions() -> list[Item]:
    return [
        Item(f"q{n}", f"thing{n} here", (f"Reference number {n}.",))
        for n in range(N_ASKED)
    ]


def _judged(
    server: FaultServer,
    out: Path,
    max_cost: float | None,
    cache: Path | str | None,
) -> Any:
    prices = out.parent / "prices.json"
    prices.write_text(
        '{"models": {"served-1": {"input": 1500, "output": 10000}}}'
    )
    return score_on_ray(
        _questions(),
        [ScheduledAsker("openai:served-1")],
        out=out,
        workers=2,
        concurrency=20,
        base_url=server.url,
        judge_options={"prices": str(prices)},
        max_cost=max_cost,
        cache=cache,
    )


@pytest.mark.parametrize("kept_in", ["a file", "a database"])
def test_actors_share_answers_the_cache_and_what_was_paid(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    kept_in: str,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    file = kept_in == "a file"
    cache = (
        tmp_path / "cache.sqlite"
        if file
        else request.getfixturevalue("postgres_url")
    )
    with serving(FaultServer(_reply)) as server:
        first_run = _judged(server, tmp_path / "one", None, cache)
        n_asked = len(server.bodies)
        assert (
            first_run.summary["asked(judge='openai:served-1')"].n_scored
            == N_ASKED
        )
        assert set(server.paid.values()) == {1}
        second_run = _judged(server, tmp_path / "two", None, cache)
        assert len(server.bodies) == n_asked, (
            "what the cache holds was asked again"
        )
    assert second_run.summary == first_run.summary
    answers = AnswerFile(tmp_path / "one" / "store.sqlite")
    assert sum(row.n_answers for row in answers.stats()) == N_ASKED
    answers.close()


def test_the_limit_on_cost_holds_over_all_actors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    limit = 40 * PRICE
    with serving(FaultServer(_reply)) as server:
        with pytest.raises(BudgetError, match="higher --max-cost"):
            _judged(server, tmp_path / "run", limit, None)
        spent = sum(server.paid.values()) * PRICE
        assert 0 < spent <= limit
        answers = AnswerFile(tmp_path / "run" / "store.sqlite")
        assert 0 < answers.cost() <= limit
        answers.close()
        resumed_run = _judged(server, tmp_path / "run", 10_000.0, None)
        assert (
            resumed_run.summary["asked(judge='openai:served-1')"].n_scored
            == N_ASKED
        )
        most_under_way = 2 * 20  # of both actors when the limit was reached
        assert sum(server.paid.values()) <= N_ASKED + most_under_way + PROBES


def test_commands_of_other_kinds_write_the_same_on_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    clauses = [{"source": "Ein Hund.", "translation": "A dog."}]
    Path("rules.jsonl").write_text(
        json.dumps({"contains": "", "answer": {"clauses": clauses}})
    )
    write_reviews(Path("reviews.jsonl"))
    rows = [{"id": str(n), "candidate": "Ein Hund."} for n in range(5)]
    Path("rows.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    translate = [
        "translate",
        "rows.jsonl",
        "--from",
        "German",
        "--to",
        "English",
        "--judge",
    ]
    judge = f"scripted:{tmp_path}/rules.jsonl"
    rank = ["rank", "reviews.jsonl", "-s", "length", "--resamples", "20"]
    for engine in ("local", "ray"):
        app([*translate, judge, "-o", f"{engine}.jsonl", "--engine", engine])
        app([*rank, "-o", f"rank-{engine}", "--engine", engine])
    assert Path("ray.jsonl").read_text().count("A dog.") == 5
    assert Path("ray.jsonl").read_bytes() == Path("local.jsonl").read_bytes()
    for name in ("ranking.json", "run.json"):
        assert (
            Path("rank-ray", name).read_bytes()
            == Path("rank-local", name).read_bytes()
        )
    assert list(Path("rank-ray", "outcomes").iterdir())
