"""What every kind of run must keep; a new kind is a new row of TABLE.

Each has a lock, goes on after an interruption to the same bytes, plans without asking, refuses changed
data, changed pictures and the folder of another kind, is drawn, and is read.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, chdir
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from PIL import Image

from beholder._version import __version__
from beholder.api import Run
from beholder.backends import BACKENDS
from beholder.errors import ConfigError, RunError
from beholder.kinds.generation.askers import (
    CaptionRow,
    ClassifyRow,
    RowAsker,
    TranslateRow,
)
from beholder.kinds.generation.engine import RowsConfig
from beholder.kinds.generation.reviews import ReviewsConfig
from beholder.kinds.narratives.config import (
    CoherenceOptions,
    CollectionOptions,
    NarrateConfig,
    Voting,
)
from beholder.kinds.ranking.rankers import ByMetric, RankConfig, Response
from beholder.kinds.revise.engine import ReviseRow
from beholder.kinds.scores.engine import ScoreConfig
from beholder.metrics import metric
from beholder.options import WorkOptions
from beholder.report import draw
from beholder.run import manifest
from beholder.run.execute import Work
from beholder.run.kind import RunKind, builtin_features, kind_named, plan, run
from beholder.run.plan import RunPlan
from beholder.run.session import Done, OneMachine, Quiet, RunContext
from beholder.run.store import Store
from toy.bothways import Reader
from toy.judge import Storyteller
from toy.photos import make_collection, write_narratives
from toy.recorded import items
from toy.reviewer import Reviewer, write_reviews

pytestmark = pytest.mark.usefixtures("few_resamples")

for _name, _backend in (
    ("story", Storyteller),
    ("reader", Reader),
    ("reviewer", Reviewer),
):
    if _name not in BACKENDS.names():
        BACKENDS.register(_name)(_backend)

ONE_WORKER = WorkOptions(workers=1, concurrency=1)
STORY, REVIEWER, READER = (
    f"{name}(model='m', log='log')" for name in ("story", "reviewer", "reader")
)
TABLES = ("run.json", "scores.parquet", "units.parquet", "report.html")


class Watched(Quiet):
    """Progress that counts, and interrupts the run after so many outcomes."""

    def __init__(self, at: int = 0) -> None:
        self.at = at
        self.total = self.reused = self.n_done = 0

    def start(self, total: int, reused: int) -> None:
        self.total, self.reused = total, reused

    def advance(self, n_scored: int, n_failed: int) -> None:
        self.n_done += n_scored + n_failed
        if self.at and self.n_done >= self.at:
            raise KeyboardInterrupt


@dataclass(frozen=True)
class Kind:
    """A kind of run as the tests drive it; all paths are relative to the current folder.

    Attributes:
        name: As ``run.json`` says it.
        prepare: Writes the data.
        run: Makes the run with some progress, and with an engine if one is given.
        plan: Plans it.
        folder: The run directory.
        change: Changes the first of the data.
        picture: A picture that is looked at; None where none is.
        other_tables: Files that it leaves beside the tables.
    """

    name: str
    prepare: Callable[[], object]
    run: Callable[..., object]
    plan: Callable[[], RunPlan]
    folder: Path
    change: Callable[[], object]
    picture: Path | None
    other_tables: tuple[str, ...] = ()


def _replace(file: str, old: str, new: str) -> None:
    text = Path(file).read_text("utf-8")
    assert old in text
    Path(file).write_text(text.replace(old, new, 1), "utf-8")


def _scored() -> Kind:
    specs = (
        "bleu",
        "vcs",
        "fleur(judge='oracle:model')",
        "dcscore(judge='oracle:model')",
    )
    config = ScoreConfig(
        "d.jsonl", tuple(map(metric, specs)), Path("run"), work=ONE_WORKER
    )

    def prepare() -> None:
        rows = [
            {
                "id": i.id,
                "candidate": i.candidate,
                "references": i.references,
                "images": i.images,
            }
            for i in items(Path())
        ]
        Path("d.jsonl").write_text(
            "".join(f"{json.dumps(row)}\n" for row in rows)
        )

    return Kind(
        "scores",
        prepare,
        lambda progress, **where: run("scores", config, progress, **where),
        lambda: plan("scores", config),
        config.out,
        lambda: _replace("d.jsonl", "lemons", "oranges"),
        Path("market.png"),
    )


def _ranked() -> Kind:
    rankers = (Response(REVIEWER, orders=2), ByMetric(metric("length")))
    config = RankConfig(
        "r.jsonl", Path("run"), rankers, resamples=50, work=ONE_WORKER
    )
    return Kind(
        "ranking",
        lambda: write_reviews(Path("r.jsonl"), 5),
        lambda progress, **where: run("ranking", config, progress, **where),
        lambda: plan("ranking", config),
        config.out,
        lambda: _replace("r.jsonl", "Text 0 of 0", "Text 9 of 0"),
        Path("img/000.png"),
        ("ranking.json", "ranks.csv"),
    )


def _narrated() -> Kind:
    config = NarrateConfig(
        "s.jsonl",
        Path("run"),
        ("captions", "sight", "transitions", "coherence"),
        STORY,
        collection=CollectionOptions("data/index.csv"),
        voting=Voting(judges=2),
        coherence=CoherenceOptions("handcrafted"),
        work=ONE_WORKER,
    )

    def prepare() -> None:
        make_collection(Path("data"), 12)
        write_narratives(Path("s.jsonl"), 2, 12)

    return Kind(
        "narratives",
        prepare,
        lambda progress, **where: run("narratives", config, progress, **where),
        lambda: plan("narratives", config),
        config.out,
        lambda: _replace("s.jsonl", '"p000", ', ""),
        Path("data/img/000.jpg"),
        ("study.json", "theta.npz"),
    )


def _rows(asker: RowAsker, *, looks: bool = True) -> Kind:
    config = RowsConfig(
        "data/d.jsonl", Path("out.jsonl"), {"s": asker}, work=ONE_WORKER
    )

    def prepare() -> None:
        make_collection(Path("data"), 5)
        rule = {"contains": "is there", "answer": "A cat."}
        Path("rules.jsonl").write_text(json.dumps(rule))
        rows = [
            {
                "id": str(n),
                "candidate": f"A thing_{n} is there.",
                "images": [f"img/{n:03d}.jpg"],
                "marks": [
                    {"kind": "omission", "text": "a cat", "instead": "A cat."}
                ],
            }
            for n in range(5)
        ]
        Path("data/d.jsonl").write_text(
            "".join(f"{json.dumps(row)}\n" for row in rows)
        )

    return Kind(
        "rows",
        prepare,
        lambda progress, **where: run("rows", config, progress, **where),
        lambda: plan("rows", config),
        config.run,
        lambda: _replace("data/d.jsonl", "thing_0", "thing_9"),
        Path("data/img/000.jpg") if looks else None,
        ("../out.jsonl",),
    )


def _reviewed() -> Kind:
    config = ReviewsConfig(
        "data/index.csv", Path("run"), REVIEWER, ("en", "de"), work=ONE_WORKER
    )
    return Kind(
        "reviews",
        lambda: make_collection(Path("data"), 4),
        lambda progress, **where: run("reviews", config, progress, **where),
        lambda: plan("reviews", config),
        config.out,
        lambda: _replace("data/index.csv", "Arica", "Iquique"),
        Path("data/img/000.jpg"),
        ("reviews.jsonl",),
    )


TABLE: dict[str, Callable[[], Kind]] = {
    "scores": _scored,
    "ranking": _ranked,
    "narratives": _narrated,
    "rows of caption": lambda: _rows(CaptionRow(STORY)),
    "rows of classify": lambda: _rows(
        ClassifyRow(READER, {"nature": "land", "trade": "shops"})
    ),
    "rows of revise": lambda: _rows(
        ReviseRow("scripted:rules.jsonl"), looks=False
    ),
    "rows of translate": lambda: _rows(
        TranslateRow(READER, "English", "Hindi"), looks=False
    ),
    "reviews": _reviewed,
}


@pytest.fixture
def kind(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Kind:
    monkeypatch.chdir(tmp_path)
    example: Kind = TABLE[request.param]()
    example.prepare()
    return example


every = pytest.mark.parametrize("kind", TABLE, indirect=True)


@pytest.fixture(scope="module")
def make_run(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], tuple[Path, Watched]]:
    """Makes a run of a kind, once for all tests; gives the folder around it and its progress."""

    @cache
    def make(name: str) -> tuple[Path, Watched]:
        folder = tmp_path_factory.mktemp("kind")
        with chdir(folder):
            example = TABLE[name]()
            example.prepare()
            example.run(progress := Watched())
        return folder, progress

    return make


@pytest.fixture
def finished(
    request: pytest.FixtureRequest,
    make_run: Callable[[str], tuple[Path, Watched]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[Kind, Watched]:
    """A copy of a finished run in the current folder, and the progress of the run."""
    folder, progress = make_run(request.param)
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return TABLE[request.param](), progress


every_finished = pytest.mark.parametrize("finished", TABLE, indirect=True)


def test_the_table_has_every_kind_of_run() -> None:
    tested = {row().name for row in TABLE.values()}
    kinds = (
        feature
        for feature in builtin_features()
        if isinstance(feature, RunKind)
    )
    assert tested == {kind.name for kind in kinds}


def contents(kind: Kind) -> dict[str, bytes]:
    """All that a run leaves for people and programs, its store aside."""
    draw(kind.folder)
    table_names = (*TABLES, *kind.other_tables)
    thumbs = (
        str(path.relative_to(kind.folder))
        for path in kind.folder.rglob("thumbs/*")
    )
    return {
        name: (kind.folder / name).read_bytes()
        for name in (*table_names, *sorted(thumbs))
    }


@every
def test_it_goes_on_after_an_interruption_to_the_same_bytes(
    kind: Kind, tmp_path: Path
) -> None:
    kind.run(calm := Watched())
    once, requests = (
        contents(kind),
        Path("log").read_text() if Path("log").is_file() else "",
    )
    for at in (1, calm.total // 2):
        again = tmp_path / str(at)
        again.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(again)
            kind.prepare()
            with pytest.raises(KeyboardInterrupt):
                kind.run(stopped := Watched(at))
            assert manifest.read_log(kind.folder).status == "interrupted"
            kind.run(resumed := Watched())
            assert (
                stopped.n_done <= resumed.reused < resumed.total == calm.total
            )
            assert resumed.n_done == resumed.total - resumed.reused
            assert contents(kind) == once
            if requests:  # nothing is paid for twice
                assert sorted(Path("log").read_text().split()) == sorted(
                    requests.split()
                )


@every_finished
def test_a_second_start_does_nothing(finished: tuple[Kind, Watched]) -> None:
    kind, first = finished
    before = contents(kind)
    kind.run(second := Watched())
    assert (first.reused, first.n_done) == (0, first.total)
    assert (second.reused, second.n_done, second.total) == (
        first.total,
        0,
        first.total,
    )
    assert contents(kind) == before


class Elsewhere(OneMachine):
    """An engine that counts the subjects it was given."""

    def __init__(self) -> None:
        self.n = 0

    def execute(self, work: Work, means: RunContext, done: Done) -> None:
        self.n += int(work.open.sum())
        super().execute(work, means, done)


@every
def test_its_work_is_done_by_the_engine(kind: Kind) -> None:
    engine, watched = Elsewhere(), Watched()
    if not kind_named(kind.name).engines:
        with pytest.raises(
            ConfigError, match=f"{kind.name!r} work on this machine only"
        ):
            kind.run(watched, engine=engine)
        assert not kind.folder.exists()
        return
    kind.run(watched, engine=engine)
    assert engine.n == watched.total > 0


class InParts(OneMachine):
    """An engine that works here and keeps Parquet parts, as a cluster does."""

    def store(self, folder: Path) -> AbstractContextManager[Store]:
        return Store.open_parts(folder, None)


@every
def test_its_results_in_parts_are_those_of_one_file(kind: Kind) -> None:
    if not kind_named(kind.name).engines:
        return
    kind.run(Watched(), engine=InParts())
    parts = contents(kind)
    shutil.rmtree(kind.folder)
    kind.run(Watched())
    assert parts == contents(kind)


@every
def test_a_plan_asks_and_writes_nothing(kind: Kind) -> None:
    before = sorted(Path().rglob("*"))
    plan = kind.plan()
    assert plan.n_items > 0
    assert plan.askers
    assert sorted(Path().rglob("*")) == before


@every
def test_a_busy_folder_is_refused(kind: Kind) -> None:
    with (
        Store.open(kind.folder),
        pytest.raises(
            RunError, match="being written by another beholder process"
        ),
    ):
        kind.run(Watched())


@every_finished
def test_changed_data_are_refused(finished: tuple[Kind, Watched]) -> None:
    kind, _ = finished
    kind.change()
    with pytest.raises(RunError, match="holds a run over other data"):
        kind.run(Watched())


@every_finished
def test_a_changed_picture_is_refused_where_it_is_looked_at(
    finished: tuple[Kind, Watched],
) -> None:
    kind, _ = finished
    before = contents(kind)
    if kind.picture is None:
        for picture in Path("data").rglob("*.jpg"):
            Image.new("RGB", (9, 9), "red").save(picture)
        kind.run(second := Watched())
        assert second.n_done == 0
        return
    Image.new("RGB", (9, 9), "red").save(kind.picture)
    with pytest.raises(
        RunError, match=r"made of another picture.*the file has changed since"
    ):
        kind.run(Watched())
    assert {
        name: before[name] for name in ("scores.parquet", "units.parquet")
    } == {
        name: (kind.folder / name).read_bytes()
        for name in ("scores.parquet", "units.parquet")
    }


@every_finished
def test_the_folder_of_another_kind_is_refused(
    finished: tuple[Kind, Watched],
) -> None:
    kind, _ = finished
    log = manifest.read_log(kind.folder)
    manifest.write(kind.folder, structs.replace(log, kind="weather"))
    with pytest.raises(RunError, match="weather"):
        kind.run(Watched())


@every_finished
def test_a_run_of_each_kind_has_a_page(finished: tuple[Kind, Watched]) -> None:
    kind, _ = finished
    page = draw(kind.folder).read_text("utf-8")
    assert f"beholder {__version__}" in page
    assert Path(manifest.read_log(kind.folder).data.source).name in page


@every_finished
def test_a_run_of_each_kind_can_be_opened(
    finished: tuple[Kind, Watched],
) -> None:
    kind, progress = finished
    run = Run(kind.folder)
    assert run.kind == kind.name
    outcomes: list[Any] = [
        outcome for name in run.summary for outcome in run.outcomes(name)
    ]
    assert len(outcomes) == progress.total
    assert {row["metric"] for row in run.to_arrow().to_pylist()} <= set(
        run.summary
    )
