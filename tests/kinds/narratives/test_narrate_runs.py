"""Runs over narratives: asked once, gone on with after any end, planned, compared, held to a cost."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from beholder.backends import BACKENDS, Answer, Request
from beholder.backends.money import Price
from beholder.errors import (
    BudgetError,
    ConfigError,
    DataError,
    RunError,
    TransientError,
)
from beholder.kinds.narratives import door, measuring
from beholder.kinds.narratives.config import (
    CaptionOptions,
    CoherenceOptions,
    CollectionOptions,
    HybridOptions,
    NarrateConfig,
    Part,
    Voting,
)
from beholder.kinds.narratives.engine import plan_narratives, run_narratives
from beholder.kinds.narratives.hybrid import choose
from beholder.kinds.narratives.results import NarrativeStudy
from beholder.kinds.scores.door import score
from beholder.metrics import METRICS
from beholder.options import DataOptions, WorkOptions
from beholder.records import Item
from beholder.report import draw
from beholder.run import manifest
from beholder.run.compare import SubjectCounts, compare
from beholder.run.session import Quiet
from beholder.run.store import Store
from toy.judge import Storyteller
from toy.metric import WordCount
from toy.photos import make_collection, write_narratives

pytestmark = pytest.mark.usefixtures("few_resamples")

FILES = (
    "run.json",
    "study.json",
    "theta.npz",
    "scores.parquet",
    "units.parquet",
    "report.html",
)
ALL: tuple[Part, ...] = ("captions", "hybrid", "transitions", "coherence")


class Moody(Storyteller):
    """A storyteller that is busy when it is told to be, and that has a price."""

    requests: list[Request]
    busy = False

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self.name = f"moody:{model}"

    async def chat(self, request: Request) -> Answer:
        if (
            Moody.busy
            and request.schema is not None
            and request.replicate == 1
        ):
            raise TransientError("the server is busy")
        Moody.requests.append(request)
        return await super().chat(request)

    def price(self) -> Price:
        return Price(10.0, 10.0)


for _name, _backend in (("moody", Moody), ("story", Storyteller)):
    if _name not in BACKENDS.names():
        BACKENDS.register(_name)(_backend)
if "word_count" not in METRICS.names():
    METRICS.register("word_count")(WordCount)


class Counting(Quiet):
    """Progress that counts."""

    def __init__(self) -> None:
        self.total = self.reused = self.advanced = 0

    def start(self, total: int, reused: int) -> None:
        self.total, self.reused = total, reused

    def advance(self, n_scored: int, n_failed: int) -> None:
        self.advanced += n_scored + n_failed


@pytest.fixture(autouse=True)
def moods() -> Iterator[None]:
    Moody.requests, Moody.busy = [], False
    yield
    Moody.requests, Moody.busy = [], False


def _config(folder: Path, out: str = "run", **options: Any) -> NarrateConfig:
    """6 human storylines, 2 of maps and 2 random, over 40 pictures."""
    if not (folder / "data").exists():
        make_collection(folder / "data")
        write_narratives(folder / "s.jsonl", 2)
    usual: dict[str, Any] = {
        "parts": ALL,
        "judge": "moody:steady",
        "collection": CollectionOptions(str(folder / "data" / "index.csv")),
        "coherence": CoherenceOptions(
            f"npz:{folder / 'data' / 'vectors.npz'}"
        ),
        "hybrid": HybridOptions(share=0.4),
    }
    return NarrateConfig(
        str(folder / "s.jsonl"), folder / out, **{**usual, **options}
    )


def _bytes(folder: Path) -> dict[str, bytes]:
    draw(folder)
    contents = {
        name: (folder / name).read_bytes()
        for name in FILES
        if (folder / name).exists()
    }
    log = json.loads(contents["run.json"])
    del log["judging"]  # a run that was troubled asked more
    contents["run.json"] = json.dumps(log).encode()
    return contents | {
        path.name: path.read_bytes() for path in (folder / "thumbs").iterdir()
    }


def _dump(folder: Path) -> list[str]:
    with sqlite3.connect(
        f"file:{folder / 'store.sqlite'}?mode=ro", uri=True
    ) as connection:
        return list(connection.iterdump())


def test_a_second_start_asks_embeds_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, config = Counting(), Counting(), _config(tmp_path)
    study, _ = run_narratives(config, first)
    before, n_asked = _bytes(config.out), len(Moody.requests)
    store = _dump(config.out)
    n_shown = len({frame for row in study.narratives for frame in row.frames})
    assert (
        first.total == first.advanced == n_shown + 3 * 10 + 4
    )  # captions, all but sight, 4 seen
    assert first.reused == 0

    def embeds(*arguments: object) -> None:
        raise AssertionError("nothing is to be embedded")

    monkeypatch.setattr(measuring, "usable_frames", embeds)
    again, _ = run_narratives(config, second)
    assert (second.total, second.reused, second.advanced) == (
        first.total,
        first.total,
        0,
    )
    assert len(Moody.requests) == n_asked
    assert again == study
    assert _bytes(config.out) == before
    assert _dump(config.out) == store


@pytest.mark.slow  # several whole studies
def test_a_study_that_is_lost_is_built_from_the_store(tmp_path: Path) -> None:
    config = _config(tmp_path)
    run_narratives(config, Quiet())
    before, n_asked = _bytes(config.out), len(Moody.requests)
    for name in ("study.json", "theta.npz", "report.html"):
        (config.out / name).unlink()
    run_narratives(config, Quiet())
    assert len(Moody.requests) == n_asked
    assert _bytes(config.out) == before


@pytest.mark.slow  # several whole studies
def test_votes_that_succeed_later_give_the_same_run_as_without_failures(
    tmp_path: Path,
) -> None:
    calm, troubled = _config(tmp_path, "calm"), _config(tmp_path, "troubled")
    uninterrupted, _ = run_narratives(calm, Quiet())
    n_calm = len(Moody.requests)
    Moody.requests, Moody.busy = [], True
    lame, _ = run_narratives(troubled, Quiet())
    assert all(
        row.votes["captions"][1].value is None for row in lame.narratives
    )
    # judges that lack a vote disagree about other storylines, so others were looked at
    assert lame.hybrid is None
    assert [bool(row.votes.get("sight")) for row in lame.narratives] != [
        bool(row.votes.get("sight")) for row in uninterrupted.narratives
    ]
    Moody.busy, progress = False, Counting()
    run_narratives(troubled, progress)
    assert (
        progress.reused == progress.total - 10 - 10 - 4
    )  # captions and coherence alone were whole
    digests = [request.digest for request in Moody.requests]
    assert len(digests) == len(set(digests))
    assert (
        len(digests) > n_calm
    )  # pictures that were looked at in vain were paid; no table shows them
    assert _bytes(troubled.out) == _bytes(calm.out)


@pytest.mark.slow  # several whole studies
def test_storylines_seen_by_hybrid_judging_follow_the_captions_by_hand(
    tmp_path: Path,
) -> None:
    study, _ = run_narratives(_config(tmp_path), Quiet())
    votes = [
        [v.value or 0 for v in row.votes["captions"]]
        for row in study.narratives
    ]
    spread = [
        sum((vote - sum(row) / 3) ** 2 for vote in row) / 3 for row in votes
    ]
    order = sorted(
        range(10), key=lambda at: -round(spread[at], 9)
    )  # stable: the first of equals
    assert study.hybrid
    assert (
        [*study.hybrid.seen]
        == sorted(order[:4])
        == choose(votes, 0.4, "uncertain")
    )
    assert study.cost.stages["sight"].calls == 4 * 3


def test_more_storylines_ask_only_what_is_new(tmp_path: Path) -> None:
    parts: tuple[Part, ...] = ("sight", "coherence")
    few = _config(tmp_path, "grown", parts=parts, rows=DataOptions(limit=4))
    study, _ = run_narratives(few, Quiet())
    assert len(study.narratives) == 4
    assert len(Moody.requests) == 4 * 3
    progress = Counting()
    run_narratives(replace(few, rows=DataOptions()), progress)
    assert len(Moody.requests) == 10 * 3
    # 4 ratings are kept; coherence is measured anew, as there are more human storylines
    assert (progress.total, progress.reused) == (20, 4)
    all_at_once = _config(tmp_path, "whole", parts=parts)
    run_narratives(all_at_once, Quiet())
    assert _bytes(few.out) == _bytes(all_at_once.out)
    single, _ = run_narratives(
        replace(few, rows=DataOptions(limit=1)), Quiet()
    )
    assert [row.id for row in single.narratives] == ["human-0"]
    assert len(Moody.requests) == 2 * 10 * 3


def test_the_plan_is_what_the_run_then_asks(tmp_path: Path) -> None:
    config = _config(
        tmp_path, captions=CaptionOptions(min_words=118, max_words=120)
    )
    planned = plan_narratives(config)
    assert not config.out.exists()
    assert (planned.n_items, len(planned.askers)) == (10, 5)
    judged = {
        asker.name: asker.judge
        for asker in planned.askers
        if asker.judge is not None
    }
    study, _ = run_narratives(config, Quiet())
    assert sum(tally.n_calls for tally in judged.values()) == len(
        Moody.requests
    )
    # captions as long as will be written: the toy writes 595 characters, 119 times "word "
    by_captions = next(
        tally for name, tally in judged.items() if "by='captions'" in name
    )
    real = study.cost.stages["captions"].prompt_tokens
    assert by_captions.prompt_tokens == pytest.approx(real, rel=0.1)
    assert by_captions.cost == pytest.approx(
        (by_captions.prompt_tokens + by_captions.completion_tokens) * 1e-5
    )
    after = plan_narratives(config)
    assert [asker.n_to_ask for asker in after.askers] == [0] * 5
    assert (
        sum(asker.n_done for asker in after.askers)
        == 3 * 10 + 4 + study.cost.n_pictures
    )


def test_storylines_that_are_sure_to_fail_are_planned_as_such(
    tmp_path: Path,
) -> None:
    config = _config(
        tmp_path, parts=("sight",), collection=CollectionOptions()
    )
    (tmp_path / "s.jsonl").write_text('{"id": "a", "frames": ["p1", "p2"]}\n')
    (planned,) = plan_narratives(config).askers
    assert planned.lacking == {"frame 'p1' has no image": 1}


def test_a_limit_on_cost_stops_the_run_and_a_higher_one_goes_on(
    tmp_path: Path,
) -> None:
    config = _config(
        tmp_path,
        parts=("sight",),
        work=WorkOptions(max_cost=0.6, concurrency=1),
    )
    with pytest.raises(BudgetError, match="--max-cost"):
        run_narratives(config, Quiet())
    assert manifest.read_log(config.out).status == "interrupted"
    n_paid = len(Moody.requests)
    assert 0 < n_paid < 30
    run_narratives(replace(config, work=WorkOptions(max_cost=60.0)), Quiet())
    assert manifest.read_log(config.out).status == "complete"
    assert len(Moody.requests) == 30


def test_two_runs_are_compared_storyline_by_storyline(tmp_path: Path) -> None:
    a, b = (
        _config(tmp_path, name, parts=("sight",), judge=f"moody:{name}")
        for name in ("a", "b")
    )
    run_narratives(a, Quiet())
    rows = [
        json.loads(line)
        for line in (tmp_path / "s.jsonl").read_text().splitlines()
    ]
    turned = "".join(json.dumps(row) + "\n" for row in reversed(rows[3:]))
    (tmp_path / "s.jsonl").write_text(
        turned
    )  # the same ids at other places, three fewer
    run_narratives(b, Quiet())
    with (
        Store.read(a.out) as first_store,
        Store.read(b.out) as second_store,
        pytest.raises(
            ConfigError, match="the runs share a metric in other settings only"
        ),
    ):
        compare(first_store, second_store)  # another judge is another asker

    c = _config(tmp_path, "c", parts=("sight", "coherence"))
    d = _config(
        tmp_path,
        "d",
        parts=("sight", "coherence"),
        coherence=CoherenceOptions(
            f"npz:{tmp_path / 'data' / 'vectors.npz'}", scale="minmax"
        ),
    )
    run_narratives(c, Quiet())
    (tmp_path / "s.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows[1:])
    )
    second_study, _ = run_narratives(d, Quiet())
    with Store.read(c.out) as first_store, Store.read(d.out) as second_store:
        comparison = compare(first_store, second_store)
    assert comparison.counts == (SubjectCounts("storylines", 7, 0, 2),)
    (rating,) = (
        comparison.differences
    )  # theta on another scale is another asker
    assert (rating.metric, rating.value) == (
        "rate_storyline(judge='moody:steady')",
        "rating",
    )
    assert (
        rating.paired.mean == 0.0
    )  # the same judge says the same of the same pictures
    means = {
        row.id: sum(v.value or 0 for v in row.votes["sight"]) / 3
        for row in second_study.narratives
    }
    common = [means[row["id"]] for row in rows[3:]]
    assert rating.mean_a == rating.mean_b == pytest.approx(sum(common) / 7)


def test_values_of_every_stage_are_in_the_tables(tmp_path: Path) -> None:
    config = _config(tmp_path)
    study, _ = run_narratives(config, Quiet())
    table = pq.read_table(config.out / "scores.parquet").to_pylist()
    values: dict[tuple[str, str], dict[str, float]] = {}
    for row in table:
        values.setdefault((row["metric"].partition("(")[0], row["name"]), {})[
            row["item"]
        ] = row["value"]
    narratives = study.narratives
    assert values["coherence", "minimum"] == {
        n.id: n.coherence.minimum for n in narratives if n.coherence
    }
    assert values["coherence", "distance"] == {
        n.id: n.nearest.normalised for n in narratives if n.nearest
    }
    assert len(values["coherence", "distance"]) == 4  # not the human ones
    means = {
        n.id: [sum(v.value or 0 for v in step) / 3 for step in n.steps]
        for n in narratives
    }
    assert values["rate_steps", "lowest"] == {
        name: min(steps) for name, steps in means.items()
    }
    assert set(values["caption_frame", "words"].values()) == {166.0}
    assert {
        row["group.source"] for row in table if row["metric"].startswith("coh")
    } == {
        "human",
        "maps",
        "random",
    }


def test_wrong_rows_stop_a_run_or_are_left_out_and_counted(
    tmp_path: Path,
) -> None:
    config = _config(tmp_path, parts=("coherence",))
    with (tmp_path / "s.jsonl").open("a") as file:
        file.write(
            '{"id": "x", "frames": ["nobody"]}\n{"id": "y", "frames": []}\n'
        )
    with pytest.raises(
        DataError, match=r"s\.jsonl:11: frames\[0\].*\n.*s\.jsonl:12"
    ):
        run_narratives(config, Quiet())
    rows = DataOptions(skip_bad_rows=True)
    study, bad_row = run_narratives(replace(config, rows=rows), Quiet())
    assert len(study.narratives) == 10
    assert [error.line for error in bad_row] == [11, 12]
    assert manifest.read_log(config.out).data.n_bad_rows == 2


def test_a_wrong_picture_of_the_collection_stops_a_run_too(
    tmp_path: Path,
) -> None:
    config = _config(tmp_path, parts=("coherence",))
    with (tmp_path / "data" / "index.csv").open("a") as file:
        file.write("p000,img/000.jpg,1928-03,Arica,\n")
    with pytest.raises(DataError, match=r"index\.csv:42: id: 'p000' is taken"):
        run_narratives(config, Quiet())
    study, bad_row = run_narratives(
        replace(config, rows=DataOptions(skip_bad_rows=True)), Quiet()
    )
    assert (len(study.narratives), len(bad_row)) == (10, 1)


def test_another_kind_of_run_in_the_folder_is_refused_in_words(
    tmp_path: Path,
) -> None:
    config = _config(tmp_path, parts=("coherence",))
    score([Item("a", "one two")], [WordCount()], out=config.out)
    for start in (
        lambda: run_narratives(config, Quiet()),
        lambda: plan_narratives(config),
    ):
        with pytest.raises(
            RunError,
            match="holds a run of the kind 'scores', not 'narratives'",
        ):
            start()


def test_a_judge_without_the_operation_is_refused_before_any_request(
    tmp_path: Path,
) -> None:
    config = _config(tmp_path, parts=("sight",), judge="builtin")
    for start in (
        lambda: run_narratives(config, Quiet()),
        lambda: plan_narratives(config),
    ):
        with pytest.raises(
            ConfigError, match="has no operation 'rate_sequence'"
        ):
            start()


def test_several_judges_and_captions_of_another_one(tmp_path: Path) -> None:
    config = _config(
        tmp_path,
        parts=("captions",),
        captions=CaptionOptions(judge="story:steady"),
        voting=Voting(judges=2),
    )
    study, _ = run_narratives(config, Quiet())
    assert study.judges["caption"].startswith("story:steady")
    assert study.judges["captions"].startswith("moody:steady")
    assert len(Moody.requests) == 10 * 2
    with pytest.raises(
        RunError, match=r"holds scores of rate_storyline.*made in another way"
    ):
        run_narratives(replace(config, captions=CaptionOptions()), Quiet())


def test_a_run_inside_a_running_event_loop_works(tmp_path: Path) -> None:
    async def within() -> NarrativeStudy:
        study, _ = run_narratives(_config(tmp_path, parts=("sight",)), Quiet())
        return study

    assert len(asyncio.run(within()).narratives) == 10


def test_without_parts_the_door_does_what_its_judge_and_embedder_allow(
    tmp_path: Path,
) -> None:
    config = _config(tmp_path)
    vectors = f"npz:{tmp_path / 'data' / 'vectors.npz'}"
    pictures = str(tmp_path / "data" / "index.csv")
    measured = door.compare(
        config.sequences,
        coherence=vectors,
        pictures=pictures,
        out=tmp_path / "measured",
    )
    assert all(
        row.coherence is not None and not row.votes
        for row in measured.study.narratives
    )
    rated = door.compare(
        config.sequences,
        judge="moody:steady",
        pictures=pictures,
        out=tmp_path / "rated",
    )
    assert all(row.coherence is None for row in rated.study.narratives)
    assert {tuple(row.votes) for row in rated.study.narratives} == {
        ("captions", "sight")
    }
