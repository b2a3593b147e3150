"""The page of a run over narratives: whole, script-free, and unmoved by hostile data."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from beholder.backends import BACKENDS, Answer, Request
from beholder.errors import RunError
from beholder.kinds.narratives import results
from beholder.kinds.narratives.compared import ModelAgreement
from beholder.kinds.narratives.config import (
    CoherenceOptions,
    CollectionOptions,
    NarrateConfig,
    Part,
    Voting,
)
from beholder.kinds.narratives.cost_tables import captions_or_sight_table
from beholder.kinds.narratives.engine import run_narratives
from beholder.kinds.narratives.page import (
    common_groups,
    write_study,
    write_study_figures,
)
from beholder.kinds.narratives.results import (
    Cost,
    SideBySide,
    StageOfRun,
    UnitCost,
)
from beholder.kinds.narratives.tables import (
    model_tables,
    side_by_side_tables,
    study_tables,
    terminal_tables,
)
from beholder.report.study_tables import as_text, html, show_cell
from beholder.run.session import Quiet
from toy.judge import Storyteller
from toy.photos import make_collection, write_narratives
from toy.without import PLOTS, without

pytestmark = pytest.mark.usefixtures("few_resamples")

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{7*7}}$x^2$\u202e</style>"


class Hostile(Storyteller):
    """A judge whose reasons are an attack."""

    async def chat(self, request: Request) -> Answer:
        answer = await super().chat(request)
        if request.schema is None:
            return answer
        row = json.loads(answer.text) | {"reason": EVIL}
        sample = answer.samples[0]
        return Answer(
            (type(sample)(json.dumps(row), "stop"),),
            answer.model,
            None,
            answer.usage,
            answer.seconds,
        )


for _name, _backend in (("story", Storyteller), ("hostile", Hostile)):
    if _name not in BACKENDS.names():
        BACKENDS.register(_name)(_backend)


ALL: tuple[Part, ...] = (
    "captions",
    "sight",
    "hybrid",
    "transitions",
    "coherence",
)


def _run(
    folder: Path,
    sequences: Path,
    parts: tuple[Part, ...] = ALL,
    embedder: str | None = None,
) -> Path:
    config = NarrateConfig(
        sequences=str(sequences),
        out=folder / "run",
        parts=parts,
        judge="hostile:steady",
        collection=CollectionOptions(str(folder / "data" / "index.csv")),
        voting=Voting(judges=2, context=EVIL),
        coherence=CoherenceOptions(
            embedder or f"npz:{folder / 'data' / 'vectors.npz'}"
        ),
    )
    run_narratives(config, Quiet())
    return config.out


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def with_class(self, name: str) -> list[dict[str, str | None]]:
        return [
            a for _, a in self.tags if name in (a.get("class") or "").split()
        ]


@lru_cache
def _finish_run(folder: Path) -> Path:
    make_collection(folder / "data")
    return _run(folder, write_narratives(folder / "s.jsonl", 3))


@pytest.fixture(scope="module")
def folder_of_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("finished")


@pytest.fixture
def finished(few_resamples: None, folder_of_run: Path) -> Path:
    """A run over narratives, beside its ``s.jsonl``; made once, to be read only."""
    return _finish_run(folder_of_run)


def test_the_page_shows_every_narrative_with_steps_and_weakest_links(
    finished: Path,
) -> None:
    sequences = finished.parent / "s.jsonl"
    page = Page(write_study(finished).read_text("utf-8"))
    rows = [
        json.loads(line) for line in sequences.read_text("utf-8").splitlines()
    ]
    n_frames = sum(len(row["frames"]) for row in rows)
    assert (
        len(
            [
                1
                for _, a in page.tags
                if (a.get("id") or "").startswith("narrative-")
            ]
        )
        == 12
    )
    assert len(page.with_class("shot")) == n_frames
    legend = 4
    assert len(page.with_class("step")) == n_frames - len(rows) + legend
    reel_weakest = [
        a for a in page.with_class("step") if "weakest" in str(a["class"])
    ]
    assert len(reel_weakest) == len(rows) + 1
    figures = [a["alt"] for tag, a in page.tags if tag == "img"]
    assert len(figures) == 3
    assert str(figures[0]).startswith("Eight panels")
    text = " ".join(page.words)
    for words in (
        # 6 of people, 3 by maps and 3 random, of 40 pictures
        "4 of 12 narratives are drawn into it, taken from the sources in turn.",
        "ICC(2,1)",
        "Hedges' g",
        "only 6 narratives",
        "captions pay from",
        "Film strips",
    ):
        assert words in text


def test_terminal_page_and_files_say_the_same_and_lose_no_number(
    finished: Path,
) -> None:
    run = finished
    page = re.sub(
        r"\s+", " ", " ".join(Page(write_study(run).read_text("utf-8")).words)
    )
    study = results.read_study(run)
    tables = {table.name: table for table in study_tables(study)}
    terminal = re.sub(r"\s+", " ", as_text(terminal_tables(study)))
    page_only = (
        "correlations",
        "break-differences",
        "costs",
        "captions-or-sight",
    )
    assert set(page_only) < set(tables)
    for name, table in tables.items():
        stored = json.loads(
            (run / "tables" / f"{name}.json").read_text("utf-8")
        )
        for row, in_file in zip(table.rows, stored["rows"], strict=True):
            for column in table.shown_columns():
                cell = show_cell(row, column)
                # Measured times are in files alone: equal runs have equal pages.
                is_time = row.get(
                    "unit"
                ) == "seconds" or column.key.startswith("seconds")
                assert is_time or cell in page
                assert name in page_only or cell in terminal
                assert in_file[column.key] == row.get(column.key)
        for note in table.notes:
            assert note in page or note.endswith("in seconds.")
            assert name in page_only or note in terminal
    for caution in study.tables.cautions:
        assert caution in page
        assert caution in terminal
    comparison, steps, hybrid = study.tables, study.steps, study.hybrid
    assert steps
    assert hybrid
    for name, rows, keys in (
        (
            "scores",
            comparison.scores,
            ("n", "mean", "sd", "within_sd", "within_range", "n_failed"),
        ),
        (
            "differences",
            comparison.comparisons,
            ("t_student", "p_student", "p_welch_holm", "g"),
        ),
        ("steps", steps.sources, ("n", "mean", "sd", "n_steps", "n_failed")),
        (
            "step-differences",
            steps.comparisons,
            ("difference", "t_welch", "p_welch", "g"),
        ),
        (
            "break-differences",
            steps.breaks.comparisons,
            ("kind", "difference", "p_holm"),
        ),
        (
            "hybrid",
            hybrid.checks,
            ("n", "error", "error_of_mean", "r", "sd_sight"),
        ),
    ):
        assert [[row[key] for key in keys] for row in tables[name].rows] == [
            [getattr(row, key) for key in keys] for row in rows
        ]
    first = tables["reliability"].rows[0]
    reliability = comparison.reliability[0]
    icc = reliability.icc_single
    assert icc
    assert icc.interval
    assert icc.verdicts
    assert (first["coefficient"], first["value"]) == (
        "ICC(2,1), one judge",
        icc.value,
    )
    assert [first["value_low"], first["value_high"]] == [*icc.interval]
    assert (first["verdict"], first["verdicts"]) == (
        icc.verdict,
        " to ".join(icc.verdicts),
    )
    assert [row["value"] for row in tables["reliability"].rows[3:5]] == [
        reliability.mean_pairwise_r,
        *reliability.pairwise_r.values(),
    ]
    human = tables["breaks"].rows[0]
    assert {kind: human[kind] for kind in steps.breaks.sources[0].counts} == (
        steps.breaks.sources[0].counts
    )
    stages = {row["stage"]: row for row in tables["costs"].rows}
    spent = study.cost.stages["caption"]
    assert (
        stages["writing captions"]["seconds_each"]
        == spent.seconds / spent.calls
    )
    assert (
        stages["rating by sight"]["calls"] == study.cost.stages["sight"].calls
    )
    weakest = [row["mean"] for row in tables["weakest-links"].rows]
    assert len(weakest) == 10
    assert weakest == sorted(weakest)


PAIRED = {
    "r": 0.5,
    "interval": [-0.25, 0.75],
    "p": 0.03,
    "rho": 0.25,
    "difference": -1.5,
    "difference_interval": [-2.0, -1.0],
    "difference_p": 0.0004,
}
BETWEEN = {
    "by": "sight",
    "models": ["a", "b"],
    "n": 12,
    "n_left_out": 3,
    "icc_single": {
        "value": 0.4,
        "interval": [0.1, 0.6],
        "verdict": "poor",
        "verdicts": ["poor", "moderate"],
    },
    "icc_average": {
        "value": None,
        "interval": None,
        "verdict": None,
        "verdicts": None,
    },
    "kendall_w": {"value": 0.875, "interval": None},
    "pairs": [{"a": "a", "b": "b", **PAIRED}],
    "sources": [
        {
            "model": "a",
            "source": "human",
            "n": 12,
            "mean": 7.25,
            "sd": 1.125,
            "rank": 1.5,
        }
    ],
}


def test_judges_of_two_runs_are_compared_with_intervals_words_and_cost() -> (
    None
):
    comparison = SideBySide(
        ("one", "two"),
        {"sight": ("openai:a", "openai:b")},
        (msgspec.convert(BETWEEN, ModelAgreement),),
        (StageOfRun("one", "transitions", 4, 10.0, 1200, 34),),
    )
    agreement, sources, pairs, costs = side_by_side_tables(comparison)
    text = as_text([agreement])
    assert re.search(
        r"ICC\(2,1\), one judge +0\.400  0\.100 to 0\.600  poor +poor to moderate",
        text,
    )
    assert re.search(r"ICC\(2,k\), mean of judges +– +–$", text, re.M)
    assert re.search(r"Kendall's W +0\.875", text)
    assert (
        "12 narratives that all 2 judges rated (3 others left out)"
        in " ".join(text.split())
    )
    assert "one: openai:a" in text
    assert "two: openai:b" in text
    assert re.search(
        r"^a\nhuman +12 +7\.25 +1\.13 +1\.5$", as_text([sources]), re.M
    )
    assert re.search(
        r"^a +b +0\.500 +−0\.250 to 0\.750 +0\.030 +0\.250 +−1\.50 +−2\.00 to −1\.00",
        as_text([pairs]),
        re.M,
    )
    assert "< 0.001" in as_text([pairs])
    assert re.search(
        r"^one\nrating steps +4 +10\.00 +2\.500 +1,200 +34 +1,234$",
        as_text([costs]),
        re.M,
    )


def test_judges_without_common_narratives_say_why_there_is_no_number() -> None:
    (table,) = model_tables(
        ModelAgreement("captions", ("a", "b"), 1, 0, "needs two")
    )
    assert table.name == "judges-captions"
    assert "needs two" in as_text([table])
    assert "needs two" in Page(str(html(table))).words


def test_captions_that_never_pay_are_noted() -> None:
    never = UnitCost(1.0, 2.0, 3.0, "measured", 12.4, 5.0, 1234.5, None)
    tokens = UnitCost(1.0, 2.0, 3.0, "measured", 12.4, 5.0, 1234.5, 8.0)
    table = captions_or_sight_table(Cost(5, 6, 3, {}, never, tokens))
    text = as_text([table])
    assert re.search(r"^seconds +12 +5 +1,235 +– +measured$", text, re.M)
    assert re.search(r"^tokens +12 +5 +1,235 +8 +measured$", text, re.M)
    assert "Captions never pay in seconds." in text
    assert "in tokens." not in text


def test_what_all_narratives_share_is_said_once(finished: Path) -> None:
    study = results.read_study(finished)
    tagged = [
        msgspec.structs.replace(
            narrative,
            group={"task": "storyline", "length": str(number % 2)},
        )
        for number, narrative in enumerate(study.narratives)
    ]
    assert common_groups(
        msgspec.structs.replace(study, narratives=tuple(tagged))
    ) == {"task": "storyline"}
    # The only one has nothing to share, and its name keeps all.
    assert (
        common_groups(
            msgspec.structs.replace(study, narratives=tuple(tagged[:1]))
        )
        == {}
    )


@pytest.mark.drawn
def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    make_collection(tmp_path / "data")
    index = tmp_path / "data" / "index.csv"
    quoted = '"' + EVIL.replace('"', '""') + '"'
    index.write_text(
        index.read_text("utf-8").replace("Arica", quoted), encoding="utf-8"
    )
    sequences = tmp_path / "s.jsonl"
    rows = [
        {
            "id": f"{EVIL}{i}",
            "source": EVIL if i % 2 else "human",
            "group": {EVIL: EVIL},
            "frames": [f"p{j:03d}" for j in range(i, i + 4)],
        }
        for i in range(8)
    ]
    sequences.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = Page(write_study(_run(tmp_path, sequences)).read_text("utf-8"))
    assert not [
        tag
        for tag, _ in page.tags
        if tag in ("script", "iframe", "object", "base", "form")
    ]
    assert not [
        a
        for _, a in page.tags
        for name in a
        if name.startswith("on") or name == "style"
    ]
    sources = [
        a.get(k)
        for _, a in page.tags
        for k in ("src", "href", "xlink:href")
        if a.get(k)
    ]
    assert all(
        str(source).startswith(("data:image/", "#")) for source in sources
    )
    policy = next(
        a["content"]
        for t, a in page.tags
        if t == "meta"
        and "content" in a
        and "default-src" in str(a["content"])
    )
    assert "default-src 'none'" in str(policy)
    assert "script-src" not in str(
        policy
    )  # default-src 'none' holds: nothing may run
    # shown as what it is: words, no markup and no template
    assert "<script>alert(1)</script>" in "".join(page.words)
    assert "{{7*7}}$x^2$" in "".join(page.words)


def test_handcrafted_vectors_are_named_as_such(tmp_path: Path) -> None:
    pytest.importorskip("skimage")
    make_collection(tmp_path / "data")
    sequences = write_narratives(tmp_path / "s.jsonl", 1)
    run = _run(
        tmp_path, sequences, parts=("coherence",), embedder="handcrafted"
    )
    text = " ".join(Page(write_study(run).read_text("utf-8")).words)
    assert re.search(
        r"handcrafted@[0-9a-f]{8,}", text
    )  # its name, and the digest of its code
    assert "knows nothing of what they show" in text
    assert "No judge was asked in this run." in text


def test_missing_pictures_are_shown_as_missing(tmp_path: Path) -> None:
    make_collection(tmp_path / "data")
    sequences = write_narratives(tmp_path / "s.jsonl", 1)
    (tmp_path / "data" / "img" / "000.jpg").unlink()
    page = Page(write_study(_run(tmp_path, sequences)).read_text("utf-8"))
    text = " ".join(page.words)
    assert "no picture" in text
    assert "frame 'p000':" in text
    assert "8 narratives with failures" in re.sub(r"\s+", " ", text)


@pytest.mark.drawn
def test_the_same_run_gives_the_same_page(
    finished: Path, tmp_path: Path
) -> None:
    first = write_study(finished).read_bytes()
    again = write_study(finished, tmp_path / "again.html")
    assert again.read_bytes() == first


@pytest.mark.slow
@pytest.mark.drawn
def test_figures_are_written_as_files(finished: Path, tmp_path: Path) -> None:
    files = write_study_figures(finished, tmp_path / "figures")
    assert [file.name for file in files] == [
        f"narratives-{name}.{ending}"
        for name in ("panels", "theta", "timeline")
        for ending in ("png", "svg")
    ]
    assert all(file.stat().st_size > 5000 for file in files)


def test_without_matplotlib_the_page_names_the_missing_figures(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "matplotlib", *PLOTS)
    page = Page(write_study(finished).read_text("utf-8"))
    assert not [a for tag, a in page.tags if tag == "img"]
    assert len(page.with_class("shot")) > 10
    assert "pip install 'beholder[plots]'" in " ".join(page.words)


def test_an_unfinished_run_names_the_command_that_finishes_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(
        RunError, match="run the same command again to finish it"
    ):
        write_study(tmp_path / "run")


def _damaged(run: Path, place: Sequence[str | int], value: object) -> None:
    path = run / "study.json"
    content = json.loads(path.read_text("utf-8"))
    *above, last = place
    at = content
    for key in above:
        at = at[key]
    at[last] = value
    path.write_text(json.dumps(content), encoding="utf-8")


def test_a_damaged_study_is_named_with_the_place_inside_it(
    tmp_path: Path,
) -> None:
    make_collection(tmp_path / "data")
    run = _run(
        tmp_path,
        write_narratives(tmp_path / "s.jsonl", 1),
        parts=("sight", "coherence"),
    )
    intact = (run / "study.json").read_bytes()
    cases: tuple[tuple[list[str | int], object, str], ...] = (
        (
            ["narratives", 1, "votes", "sight", 0, "value"],
            "8",
            "$.narratives[1].votes[...][0].value",
        ),
        (["frames", 2], {"image": "x.jpg"}, "`id` - at `$.frames[2]`"),
        (["tables", "scores", 0, "mean"], [], "$.tables.scores[0].mean"),
        (
            ["cost", "stages"],
            {"sight": {"calls": "4"}},
            "$.cost.stages[...].calls",
        ),
    )
    for place, value, message in cases:
        _damaged(run, place, value)
        with pytest.raises(RunError) as raised:
            results.read_study(run)
        assert str(run / "study.json") in str(raised.value)
        assert message in str(raised.value)
        assert "delete it and run the same command again" in str(raised.value)
        (run / "study.json").write_bytes(intact)
    assert results.read_study(run).narratives


def test_a_study_of_an_older_version_is_read(tmp_path: Path) -> None:
    make_collection(tmp_path / "data")
    run = _run(
        tmp_path, write_narratives(tmp_path / "s.jsonl", 1), parts=("sight",)
    )
    path = run / "study.json"
    old = json.loads(path.read_text("utf-8"))
    for name in (
        "examples",
        "models",
        "hybrid_missing",
        "unreadable",
        "judges",
    ):
        del old[name]
    for narrative in old["narratives"]:
        for vote in narrative["votes"]["sight"]:
            del vote["breaks"]
    path.write_text(json.dumps(old | {"later": 1}), encoding="utf-8")
    study = results.read_study(run)
    assert (study.models, study.examples, study.unreadable) == ((), None, ())
    assert study.narratives[0].votes["sight"][0].breaks is None
    assert write_study(run).is_file()


def test_runs_that_differ_in_their_times_alone_have_equal_pages(
    finished: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(finished, tmp_path / "run"))

    def draw_files() -> dict[str, bytes]:
        write_study(run)
        files = [run / "report.html", *(run / "tables").iterdir()]
        timed = (
            "costs",
            "captions-or-sight",
        )  # the files apart, with study.json
        return {
            file.name: file.read_bytes()
            for file in files
            if file.stem not in timed
        }

    before = draw_files()
    study = results.read_study(run)
    plain = json.loads((run / results.STUDY).read_text("utf-8"))
    for stage in plain["cost"]["stages"].values():
        stage["seconds"] = 3 * stage["seconds"] + 1
    for key in (
        "captions_total",
        "captions_again",
        "sight_total",
        "break_even",
    ):
        plain["cost"]["seconds"][key] = 12.5
    plain["hybrid"]["seconds_saved"] += 7
    (run / results.STUDY).write_text(json.dumps(plain), encoding="utf-8")
    assert results.read_study(run).cost != study.cost
    assert draw_files() == before
