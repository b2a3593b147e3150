"""A whole study over a world with planted rates: what it costs, finds, writes and shows."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from html.parser import HTMLParser
from pathlib import Path

import pytest

import beholder
from beholder.backends import BACKENDS
from beholder.cli.main import main
from beholder.errors import ConfigError
from beholder.kinds.bidirectional.observe import observe
from beholder.kinds.bidirectional.page import write_bidirectional
from beholder.kinds.bidirectional.settings import Columns, StudySettings
from beholder.kinds.bidirectional.study import Study, study
from toy.bothways import LANGUAGES, SYSTEMS, Reader, World, make_world
from toy.without import PLOTS, without

if "reader" not in BACKENDS.names():
    BACKENDS.register("reader")(Reader)

pytestmark = pytest.mark.slow  # whole studies

N_IMAGES = 30
METRICS = ["dcscore(direction='both')", "bleu", "rouge", "token_f1"]
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{7*7}}$x^2$\u202e</style>"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """30 pictures, 4 systems, 2 languages, scored once."""
    folder = tmp_path_factory.mktemp("world")
    planted = make_world(folder, n_images=N_IMAGES)
    log = folder / "calls.txt"
    judge = f"reader(model='m', log='{log}')"
    beholder.score(planted.data, METRICS, judge=judge, out=folder / "run")
    return planted


@pytest.fixture(scope="module")
def comparison(world: World) -> Study:
    return study(
        observe(world.data.parent / "run"), StudySettings(random="rest")
    )


def table(comparison: Study, name: str) -> tuple[Mapping[str, object], ...]:
    named_table = comparison.table(name)
    assert named_table is not None
    return named_table.rows


def _percent(share: str) -> str:
    """A share in percent with one decimal, halves away from zero (docs/statistics.md)."""
    exact = Decimal(f"{100 * float(share):.12g}")
    return str(exact.quantize(Decimal("0.1"), ROUND_HALF_UP))


def test_a_picture_costs_one_and_five_calls_per_system(world: World) -> None:
    calls = (world.data.parent / "calls.txt").read_text("utf-8").split()
    assert len(calls) == N_IMAGES * len(LANGUAGES) * (1 + 5 * len(SYSTEMS))
    assert len(set(calls)) == len(calls)


def test_the_planted_rates_are_recovered(
    world: World, comparison: Study
) -> None:
    rows = table(comparison, "rates")
    assert len(rows) == 2 * len(SYSTEMS) * len(LANGUAGES)
    for row in rows:
        for rate in ("hallucination", "omission"):
            part, total = world.counts[
                str(row["system"]), str(row["direction"]), rate
            ]
            planted = part / len(LANGUAGES) / (total / len(LANGUAGES))
            assert row[rate] == pytest.approx(
                planted
            )  # texts are of equal length
            assert row[f"{rate}_pooled"] == pytest.approx(planted)
            low, high = (
                float(str(row[f"{rate}_low"])),
                float(str(row[f"{rate}_high"])),
            )
            assert low < planted < high
            assert high - low < 0.17
            if (rate, row["direction"]) == ("hallucination", "har"):
                assert planted == pytest.approx(
                    SYSTEMS[str(row["system"])][0], abs=0.001
                )
        assert row["n"] == N_IMAGES


def test_the_best_system_is_the_one_that_errs_least(comparison: Study) -> None:
    best = {
        row["system"]
        for row in table(comparison, "scores")
        if row["best"] and row["value"] == "f1"
    }
    assert best == {"careful"}
    different = {
        row["system"]
        for row in table(comparison, "tests")
        if row["value"] == "f1"
        and row["direction"] == "har"
        and row["significant"]
    }
    assert different == {"wordy", "brief", "wild"}


def test_equal_texts_in_another_language_change_nothing(
    comparison: Study,
) -> None:
    rows = table(comparison, "languages")
    assert len(rows) == 2 * len(SYSTEMS)
    assert {(row["from"], row["to"], row["n"]) for row in rows} == {
        ("hi", "en", N_IMAGES)
    }
    assert {row["change"] for row in rows} == {0.0}


def test_correlations_include_the_other_metrics(
    comparison: Study,
) -> None:
    rows = table(comparison, "correlations")
    measures = {
        (row["language"], row["direction"], row["measure"]) for row in rows
    }
    for direction in ("har", "mar"):
        common_measures = {
            (direction, name) for name in ("f1", "bleu", "rouge")
        }
        assert {("hi", *pair) for pair in common_measures} <= measures
        assert {
            ("en", *pair)
            for pair in common_measures | {(direction, "token_f1")}
        } <= measures
        assert (
            "hi",
            direction,
            "token_f1",
        ) not in measures  # its embedder reads English
    assert {row["n"] for row in table(comparison, "correlations")} == {22}


def test_every_table_states_n_and_every_mean_an_interval(
    comparison: Study,
) -> None:
    for study_table in comparison.tables:
        keys = {column.key for column in study_table.columns}
        assert keys & {"n", "n_a", "n_people"}, study_table.name
        for column in study_table.columns:
            if column.key in (
                "mean",
                "hallucination",
                "omission",
                "consensus",
                "har",
                "mar",
            ):
                assert column.interval, (study_table.name, column.key)


def test_pooled_means_and_runs_agree(world: World, comparison: Study) -> None:
    run = beholder.Run(world.data.parent / "run")
    stored = next(iter(run.summary.values())).values["har_f1"]
    rows = [
        r
        for r in table(comparison, "scores")
        if r["value"] == "f1" and r["direction"] == "har"
    ]
    assert stored.mean == pytest.approx(
        sum(float(str(r["mean"])) for r in rows) / len(rows)
    )


class Page(HTMLParser):
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


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over 6 pictures."""
    planted = make_world(tmp_path_factory.mktemp("small"), n_images=6)
    return beholder.score(
        planted.data,
        METRICS[:1],
        judge="reader:m",
        out=planted.data.parent / "run",
    ).path


def command(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *arguments: str,
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["beholder", "bidirectional", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    output = capsys.readouterr()
    return int(str(exit_.value.code or 0)), output.out, output.err


@pytest.mark.usefixtures("few_resamples")
def test_the_command_writes_tables_figures_and_a_page_that_needs_nothing(
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = command(
        monkeypatch, capsys, str(small), "--cuts", "0.4,0.9"
    )
    assert code == 0, err
    assert "careful" in out
    assert (
        "left out: Consensus of speakers: no picture is described by several"
        in err
    )
    assert "--random rest" in err
    folder = small / "bidirectional"
    with (folder / "tables" / "rates.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 16
    in_tables = {path.name for path in (folder / "tables").iterdir()}
    assert {"rates.json", "rates.tex"} < in_tables
    assert len(in_tables) == 3 * len(
        {name.partition(".")[0] for name in in_tables}
    )
    for (
        row
    ) in rows:  # the terminal says what the files hold, with every interval
        for side in ("hallucination", "omission"):
            low, high = (
                _percent(row[f"{side}_{end}"]) for end in ("low", "high")
            )
            assert f"{_percent(row[side])} %" in out
            assert f"{low} to {high}" in out
    assert "Precision" not in out
    assert float(rows[0]["omission_low"]) < float(rows[0]["omission"])
    with (folder / "tables" / "difficulty.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        assert {row["easy_from"] for row in csv.DictReader(file)} == {"0.9"}
    names = {path.stem for path in (folder / "figures").glob("*.svg")}
    assert names == {
        "f1", "precision", "recall", "categories-har", "categories-mar", "ratings",
    }  # fmt: skip
    assert {path.stem for path in (folder / "figures").glob("*.png")} == names
    page = Page((folder / "report.html").read_text("utf-8"))
    images = [attributes for tag, attributes in page.tags if tag == "img"]
    assert len(images) == len(names)
    assert all(
        str(a["src"]).startswith("data:image/svg+xml") and a["alt"]
        for a in images
    )
    assert not [
        tag for tag, _ in page.tags if tag in ("script", "link", "iframe")
    ]
    text = " ".join(" ".join(page.words).split())
    for words in (
        "Hallucination and omission",
        "Hedges' g",
        "Only people say it",
        "यहाँ thing_",
    ):
        assert words in text


@pytest.mark.usefixtures("few_resamples")
def test_without_matplotlib_the_page_names_the_missing_package(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "matplotlib", *PLOTS)
    comparison = study(observe(small))
    page = Page(
        write_bidirectional(comparison, small, tmp_path).read_text("utf-8")
    )
    tables = {
        f"tables/{table.name}.{kind}"
        for table in comparison.tables
        for kind in ("csv", "json", "tex")
    }
    files = {
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")
    }
    assert files == {"report.html", *tables}
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert "pip install 'beholder[plots]'" in " ".join(page.words)


@pytest.mark.usefixtures("few_resamples")
@pytest.mark.drawn
def test_json_has_every_table_and_the_page_is_reproducible(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    planted = make_world(tmp_path, n_images=3)
    rows = [
        json.loads(line)
        for line in planted.data.read_text("utf-8").splitlines()
    ]
    first_rows = [
        row | {"group": {"system": row["group"]["system"]}}
        for row in rows[::4]
    ]
    planted.data.write_text(
        "".join(json.dumps(row) + "\n" for row in first_rows), encoding="utf-8"
    )
    run = beholder.score(
        planted.data, METRICS[:1], judge="reader:m", out=tmp_path / "run"
    ).path
    pages = []
    for name in ("one", "two"):
        out = tmp_path / name
        _, printed, _ = command(
            monkeypatch, capsys, str(run), "--json", "-o", str(out)
        )
        content = json.loads(printed)
        assert [(row["direction"], row["n"]) for row in content["rates"]] == [
            ("har", 3), ("har", 3), ("mar", 3), ("mar", 3),
        ]  # fmt: skip
        assert {part["title"] for part in content["omitted"]} == {
            "Categories (without a random sample)", "Rates by category", "Consensus of speakers",
            "Change between languages", "Change between data sets",
        }  # fmt: skip
        pages.append((out / "report.html").read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none"], "none is not a run directory"),
        (["RUN", "--cuts", "high"], "expected two numbers, such as 0.5,0.8"),
        (["RUN", "--cuts", "0.8,0.5"], "the lower first"),
        (
            ["RUN", "-m", "vcs"],
            "has no metric 'vcs' with both directions; there are: dcscore(",
        ),
    ],
)
def test_wrong_usage_exits_2_with_one_line(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    arguments: list[str], message: str,
) -> None:  # fmt: skip
    words = [
        str(small) if argument == "RUN" else argument for argument in arguments
    ]
    code, _, err = command(monkeypatch, capsys, *words)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


@pytest.mark.usefixtures("few_resamples")
@pytest.mark.drawn
def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    planted = make_world(tmp_path, n_images=3)
    rows = [
        json.loads(line)
        for line in planted.data.read_text("utf-8").splitlines()
    ]
    rows = [row for row in rows if row["group"]["language"] == "Hindi"]
    for row in rows:
        row["group"] = {
            key: EVIL + value for key, value in row["group"].items()
        }
        row["candidate"] += f" thing_600 {EVIL.replace('.', '')}."
    planted.data.write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    run = beholder.score(
        planted.data, METRICS[:1], judge="reader:m", out=tmp_path / "run"
    )
    page = write_bidirectional(
        study(observe(run.path)), run.path, tmp_path / "out"
    )
    parsed = Page(page.read_text("utf-8"))
    assert not [tag for tag, _ in parsed.tags if tag == "script"]
    assert {str(a["src"])[:10] for tag, a in parsed.tags if tag == "img"} == {
        "data:image"
    }
    assert "<script>alert(1)</script>" in "".join(parsed.words)
    for figure in (tmp_path / "out" / "figures").glob("*.svg"):
        assert "<script" not in figure.read_text("utf-8")


@pytest.mark.parametrize("as_items", [False, True])
def test_speakers_are_merged_be_they_references_of_one_item_or_items(
    tmp_path: Path, as_items: bool
) -> None:
    # speakers say things 1, 3 and 1, 2; the model says 2, 1, 4: content 1 has two speakers
    speakers = [
        "A thing_1 is there. A thing_3 is there.",
        "A thing_1 is there. A thing_2 is there.",
    ]
    candidate = "A thing_2 is there. A thing_1 is there. A thing_4 is there."
    references = (
        [(text,) for text in speakers] if as_items else [tuple(speakers)]
    )
    items = [
        beholder.Item(
            str(i),
            candidate,
            texts,
            images=(),
            group={"system": "a"},
            video="v",
        )
        for i, texts in enumerate(references)
    ]
    run = beholder.score(
        items, METRICS[:1], judge="reader:m", out=tmp_path / "run"
    )
    comparison = study(observe(run.path))
    (row,) = table(comparison, "consensus")
    assert (row["n"], row["speakers"]) == (3, 2.0)
    assert row["consensus"] == pytest.approx(4 / 3)
    alone = {
        str(r["text"]): r["side"]
        for r in table(comparison, "selectivity_contents")
    }
    assert alone == {
        "A thing_3 is there": "people",
        "A thing_4 is there": "models",
    }


def test_a_run_without_both_directions_says_how_to_score_it(
    tmp_path: Path,
) -> None:
    planted = make_world(tmp_path, n_images=1)
    beholder.score(planted.data, ["length"], out=tmp_path / "run")
    with pytest.raises(ConfigError, match=r"dcscore\(direction='both'\)"):
        observe(tmp_path / "run")


def test_columns_may_have_other_names_and_ratings_must_be_numbers(
    tmp_path: Path,
) -> None:
    planted = make_world(tmp_path, n_images=2)
    rows = [
        json.loads(line)
        for line in planted.data.read_text("utf-8").splitlines()
    ]
    for row in rows:
        row["group"] = {"who": row["group"]["system"], "theme": "x"}
        row["judgments"] = {
            "stars": {"rater b": 2, "rater a": 1},
            "odd": "good",
        }
    planted.data.write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    run = beholder.score(
        planted.data, METRICS[:1], judge="reader:m", out=tmp_path / "run"
    )
    pairs = observe(
        run.path, Columns(system="who", category="theme", rating="stars")
    )
    assert {pair.system for pair in pairs} == set(SYSTEMS)
    assert {pair.category for pair in pairs} == {"x"}
    assert pairs[0].model_ratings == (1.0, 2.0)  # by rater's name
    with pytest.raises(
        ConfigError, match=r"judgments.odd of item '0/careful/Hindi' is 'good'"
    ):
        observe(run.path, Columns(rating="odd"))
