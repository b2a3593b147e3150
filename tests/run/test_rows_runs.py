"""Runs of captions, categories, translations and reviews: kept whole, gone on with, compared."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq
import pytest

from beholder.backends import BACKENDS, Scripted
from beholder.errors import ConfigError, DataError, RunError
from beholder.judges import LLMJudge
from beholder.kinds.generation.askers import (
    CaptionRow,
    ClassifyRow,
    RowAsker,
    RowColumns,
    TranslateRow,
)
from beholder.kinds.generation.engine import RowsConfig, plan_rows, run_rows
from beholder.kinds.generation.generators import GeneratedText
from beholder.kinds.generation.reviews import (
    ReviewsConfig,
    WriteReviews,
    plan_reviews,
    run_reviews,
)
from beholder.metrics import Tools
from beholder.options import DataOptions, WorkOptions
from beholder.records import Frame, Item
from beholder.run import manifest
from beholder.run.compare import compare
from beholder.run.session import Quiet
from beholder.run.store import Store
from beholder.run.subjects import SubjectKind
from toy.bothways import Reader, make_world
from toy.cases import each_case
from toy.judge import Storyteller
from toy.photos import make_collection
from toy.reviewer import Reviewer

for _name, _backend in (
    ("story", Storyteller),
    ("reader", Reader),
    ("reviewer", Reviewer),
):
    if _name not in BACKENDS.names():
        BACKENDS.register(_name)(_backend)

CATEGORIES = {"nature": "plants and land", "trade": "shops"}


class Heard(Quiet):
    """Progress that remembers."""

    def __init__(self) -> None:
        self.total = self.reused = self.n_done = 0

    def start(self, total: int, reused: int) -> None:
        self.total, self.reused = total, reused

    def advance(self, n_scored: int, n_failed: int) -> None:
        self.n_done += n_scored + n_failed


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_collection(Path("data"), n=6)


def captions(
    out: str, *, data: str = "data/img", log: str = "calls", **options: Any
) -> RowsConfig:
    system = CaptionRow(f"story(model='steady', log='{log}')", **options)
    return RowsConfig(data, Path(out), {"steady": system})


def calls(log: str = "calls") -> int:
    return (
        len(Path(log).read_text("utf-8").split()) if Path(log).is_file() else 0
    )


def summary(run: Path) -> dict[str, dict[str, float]]:
    """Mean by value and asker's registered name."""
    log = manifest.read_log(run)
    return {
        entry.metric.partition("(")[0]: {
            name: value.mean for name, value in entry.values.items()
        }
        for entry in log.summary
    }


def test_a_caption_run_has_a_log_tables_and_means() -> None:
    written = run_rows(captions("c.jsonl"), Quiet())
    assert (written.n_written, written.failures, written.outside) == (
        6,
        (),
        False,
    )
    run = Path("c.jsonl.run")
    log = manifest.read_log(run)
    assert (log.kind, log.status, log.data.n_items) == ("rows", "complete", 6)
    # "A photograph 12345678, " and 80 times "a word " and "and an end.": 3 + 160 + 3 words
    assert summary(run)["caption"]["words"] == 166
    # 23 characters, 80 times 7, and 11
    assert summary(run)["caption"]["characters"] == 594
    table = pq.read_table(run / "scores.parquet").to_pylist()
    assert {row["name"] for row in table} == {
        "words",
        "characters",
        "asked_again",
        "other_length",
    }
    assert len(table) == 24


def test_a_second_start_asks_nothing_and_says_what_it_reused() -> None:
    run_rows(captions("c.jsonl"), Quiet())
    before = (
        Path("c.jsonl").read_bytes(),
        Path("c.jsonl.run/run.json").read_bytes(),
    )
    Path("c.jsonl").unlink()
    heard = Heard()
    run_rows(captions("c.jsonl"), heard)
    assert (heard.total, heard.reused, heard.n_done, calls()) == (6, 6, 0, 6)
    assert (
        Path("c.jsonl").read_bytes(),
        Path("c.jsonl.run/run.json").read_bytes(),
    ) == before


def test_a_raised_limit_asks_for_the_rest_only() -> None:
    few = RowsConfig(
        "data/img",
        Path("c.jsonl"),
        captions("c.jsonl").systems,
        rows=DataOptions(2),
    )
    run_rows(few, Quiet())
    assert (calls(), len(Path("c.jsonl").read_text().splitlines())) == (2, 2)
    heard = Heard()
    run_rows(captions("c.jsonl"), heard)
    assert (heard.total, heard.reused, heard.n_done, calls()) == (6, 2, 4, 6)


def test_names_and_columns_are_no_part_of_what_is_asked() -> None:
    config = captions("c.jsonl")
    run_rows(config, Quiet())
    asker = config.systems["steady"]
    both = RowsConfig(
        config.data,
        config.out,
        {"a": asker, "b": asker},
        RowColumns(system="who", language="tongue"),
    )
    assert run_rows(both, Quiet()).n_written == 12
    assert calls() == 6
    first = json.loads(Path("c.jsonl").read_text("utf-8").splitlines()[0])
    assert (first["id"], first["group"]) == (
        "000/a",
        {"tongue": "en", "who": "a"},
    )


def test_pictures_of_the_same_names_in_another_folder_are_other_data() -> None:
    make_collection(Path("other"), n=6)
    run_rows(captions("c.jsonl"), Quiet())
    with pytest.raises(RunError, match="holds a run over other data"):
        run_rows(captions("c.jsonl", data="other/img"), Quiet())


def test_a_folder_with_another_kind_of_run_is_refused_in_words() -> None:
    run_rows(captions("c.jsonl"), Quiet())
    reviews = ReviewsConfig("data/img", Path("c.jsonl.run"), "reviewer:m")
    for attempt in (
        lambda: run_reviews(reviews, Quiet()),
        lambda: plan_reviews(reviews),
    ):
        with pytest.raises(
            RunError, match="a run of the kind 'rows', not 'reviews'"
        ):
            attempt()
    run_reviews(
        ReviewsConfig("data/img", Path("d.jsonl.run"), "reviewer:m"), Quiet()
    )
    for again in (
        lambda: run_rows(captions("d.jsonl"), Quiet()),
        lambda: plan_rows(captions("d.jsonl")),
    ):
        with pytest.raises(
            RunError, match="a run of the kind 'reviews', not 'rows'"
        ):
            again()
    assert not Path("d.jsonl").exists()


def test_a_plan_knows_what_is_done_and_what_is_sure_to_fail() -> None:
    Path("data/img/broken.jpg").write_bytes(b"x")
    (asker,) = plan_rows(captions("c.jsonl")).askers
    assert asker.judge is not None
    assert (asker.n_to_ask, asker.n_done, asker.judge.n_calls) == (7, 0, 6)
    assert sum(asker.lacking.values()) == 1
    assert not Path("c.jsonl.run").exists()
    run_rows(captions("c.jsonl"), Quiet())
    (asker,) = plan_rows(captions("c.jsonl")).askers
    assert asker.judge is not None
    assert (asker.n_to_ask, asker.n_done, asker.judge.n_calls) == (0, 7, 0)


def test_categories_are_counted_per_row() -> None:
    config = RowsConfig(
        "data/img", Path("c.jsonl"), {"m": ClassifyRow("reader:m", CATEGORIES)}
    )
    run_rows(config, Quiet())
    categories = [json.loads(line)["meta"]["categories"] for line in Path("c.jsonl").read_text().splitlines()]  # fmt: skip
    mean = summary(config.run)["classify"]
    assert mean["categories"] == pytest.approx(sum(map(len, categories)) / 6)
    # the scripted judge rates its first category High
    assert mean["clear"] == pytest.approx(sum(map(bool, categories)) / 6)


def test_clauses_of_a_translation_are_counted_over_all_texts() -> None:
    make_world(Path("world"), n_images=1)
    config = RowsConfig(
        "world/data.jsonl", Path("en.jsonl"), {"m": TranslateRow("reader:m", "Hindi", "English")},
        rows=DataOptions(limit=1),
    )  # fmt: skip
    run_rows(config, Quiet())
    row = json.loads(Path("en.jsonl").read_text("utf-8"))
    texts = [row["candidate"], *row["references"]]
    mean = summary(config.run)["translate"]
    assert mean["clauses"] == sum(text.count("thing_") for text in texts)
    assert mean["words"] == 4 * mean["clauses"]  # "A thing_7 is there."


@each_case(
    ("asker", "parts", "values"),
    [
        (CaptionRow("j"), [GeneratedText("two words")], {"words": 2, "characters": 9, "asked_again": 0, "other_length": 0}),
        (CaptionRow("j"), [GeneratedText("two", "", "one")], {"words": 1, "characters": 3, "asked_again": 1, "other_length": 0}),
        (CaptionRow("j"), [GeneratedText("two", "other length", "one")], {"words": 1, "characters": 3, "asked_again": 1, "other_length": 1}),
        (WriteReviews("j"), [GeneratedText("a b c"), GeneratedText("a")], {"words": 2, "characters": 3}),
        (ClassifyRow("j", CATEGORIES), [], {"clear": 0, "categories": 0}),
        (ClassifyRow("j", CATEGORIES), [GeneratedText("nature", "Low"), GeneratedText("trade", "High")], {"clear": 1, "categories": 2}),
        (ClassifyRow("j", CATEGORIES), [GeneratedText("trade", "Medium")], {"clear": 0, "categories": 1}),
        (TranslateRow("j", "a", "b"), [GeneratedText("x y", "candidate"), GeneratedText("z", "reference 1")], {"words": 3, "characters": 4, "clauses": 2}),
    ],
)  # fmt: skip
def test_values_of_what_was_made(
    asker: Any, parts: list[GeneratedText], values: dict[str, float]
) -> None:
    assert asker.measure(parts) == values
    assert [value.name for value in asker.values] == list(values)


def test_parts_become_a_row_that_keeps_the_rest() -> None:
    item = Item(
        "7",
        "old",
        ("eins zwei", " "),
        ("a.jpg",),
        group={"x": "y"},
        meta={"k": 1},
    )
    parts = [GeneratedText("one", "reference 1", "eins"), GeneratedText("two", "reference 1", "zwei"), GeneratedText("new", "candidate", "old")]  # fmt: skip
    row = TranslateRow("j", "German", "English").row(
        item, parts, "m", "j@1", RowColumns()
    )
    assert row == Item(
        "7/English", "new", ("one two", " "), ("a.jpg",), group={"x": "y", "language": "en"},
        meta={"k": 1, "translate": {"judge": "j@1", "source": "German", "target": "English"}},
    )  # fmt: skip


class Wordy(Scripted):
    """Says so many words, in turn."""

    def __init__(self, *lengths: int) -> None:
        texts = [" ".join(["<noise>", *["word"] * n]) for n in lengths]
        super().__init__(lambda request: texts[len(self.requests) - 1])


@pytest.mark.parametrize(
    ("language", "lengths", "n_words", "dataset"),
    [
        ("English", (3,), 3, None),
        ("English", (5,), 5, None),
        ("English", (6, 4), 4, None),
        ("English", (2, 4), 4, None),
        ("English", (2, 6), 6, "other length"),
        (
            "Japanese",
            (6,),
            6,
            None,
        ),  # words are not counted between blanks there
    ],
)
def test_a_caption_of_another_length_is_asked_for_once_more_and_then_set_apart(
    language: str, lengths: tuple[int, ...], n_words: int, dataset: str | None
) -> None:
    model = Wordy(*lengths)
    asker = CaptionRow("j", language, (3, 5))
    item = Item("1", "", images=("data/img/000.jpg",))
    parts = asyncio.run(asker.make(item, LLMJudge(model), Tools()))
    assert len(model.requests) == len(lengths)
    row = asker.row(item, parts, "m", "j@1", RowColumns())
    assert row.candidate.split().count("word") == n_words
    assert row.group.get("dataset") == dataset
    named_row = asker.row(
        item, parts, "m", "j@1", RowColumns(named_dataset="short")
    )
    assert named_row.group["dataset"] == (
        "short" if dataset is None else f"short, {dataset}"
    )


def test_the_second_question_shows_the_first_text_and_the_limits() -> None:
    model = Wordy(9, 4)
    asker = CaptionRow("j", "English", (3, 5))
    item = Item("1", "", images=("data/img/000.jpg",))
    asyncio.run(asker.make(item, LLMJudge(model), Tools()))
    request_text = model.requests[1].messages[-1].text
    assert "‹noise› word word" in request_text
    assert "no fewer than 3 and no more than 5 words" in request_text
    assert len(model.requests[1].images) == 1


@pytest.mark.parametrize(
    ("parts", "category"),
    [([], "none"), ([GeneratedText("nature", "Low")], "nature"), ([GeneratedText("nature", "High"), GeneratedText("trade", "Low")], "several")],
)  # fmt: skip
def test_the_category_of_a_row(
    parts: list[GeneratedText], category: str
) -> None:
    row = ClassifyRow("j", CATEGORIES).row(
        Item("7", ""), parts, "m", "j@1", RowColumns(category="kind")
    )
    assert row.group == {"kind": category}
    assert row.meta["categories"] == [
        {"name": p.text, "rating": p.label} for p in parts
    ]


@each_case(
    ("make", "message"),
    [
        (lambda: CaptionRow("j", words=(9, 3)), "words=9-3"),
        (lambda: CaptionRow("j", words=(0, 3)), "words=0-3"),
        (lambda: ClassifyRow("j", {}), "no category"),
        (lambda: ClassifyRow("j", {"several": "x"}), "may not be called 'several'"),
        (lambda: ClassifyRow("j", CATEGORIES, cast(Any, "smell")), "by='smell': expected one of"),
        (lambda: WriteReviews("j", words=9), "words=9: expected a whole number from 10"),
        (lambda: WriteReviews("j", max_side=15), "max_side=15: expected a whole number from 16"),
        (lambda: ReviewsConfig("d", Path("o"), "j", languages=()), "no language was named"),
        (lambda: ReviewsConfig("d", Path("o"), "j", languages=("en", "en")), "language en was asked"),
        (lambda: RowsConfig("d", Path("o"), {}), "no judge was named"),
    ],
)  # fmt: skip
def test_wrong_settings_are_refused(
    make: Callable[[], object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


def test_a_judge_that_cannot_do_it_is_refused_before_any_reading() -> None:
    for asker in (CaptionRow("builtin"), TranslateRow("builtin", "a", "b")):
        with pytest.raises(
            ConfigError, match=f"no operation '{asker.registered_name}'"
        ):
            run_rows(
                RowsConfig("missing.jsonl", Path("c.jsonl"), {"b": asker}),
                Quiet(),
            )
    blind = ReviewsConfig(
        "data/img", Path("run"), "reviewer(model='m', images=False)"
    )
    with pytest.raises(ConfigError, match="does not take pictures"):
        run_reviews(blind, Quiet())


def test_wrong_rows_stop_the_run_or_are_left_out_and_counted() -> None:
    Path("d.jsonl").write_text(
        '{"id": "a", "image": "data/img/000.jpg"}\n{"image": 7}\n'
    )
    config = captions("c.jsonl", data="d.jsonl")
    with pytest.raises(DataError, match=r"d\.jsonl:2: images"):
        run_rows(config, Quiet())
    skipping = RowsConfig(
        "d.jsonl", config.out, config.systems, rows=DataOptions(None, True)
    )
    written = run_rows(skipping, Quiet())
    assert (written.n_written, len(written.bad_rows)) == (1, 1)
    assert manifest.read_log(config.run).data.n_bad_rows == 1


def test_runs_over_the_same_pictures_are_compared_picture_by_picture() -> None:
    for out in ("a", "b"):
        Path(out).mkdir()
        data = Path(out) / "d.jsonl"
        size = 2 if out == "a" else 3
        rows = [
            {"id": str(n), "candidate": "यहाँ thing_1 है. " * (n + size)}
            for n in range(6)
        ]
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        asker: RowAsker = TranslateRow("reader:m", "Hindi", "English")
        run_rows(
            RowsConfig(str(data), Path(out) / "en.jsonl", {"m": asker}),
            Quiet(),
        )
    with (
        Store.read(Path("a/en.jsonl.run")) as a,
        Store.read(Path("b/en.jsonl.run")) as b,
    ):
        differences = {
            difference.value: difference
            for difference in compare(a, b).differences
        }
    assert differences["clauses"].paired.mean == 1  # one sentence more in each
    assert (differences["clauses"].mean_a, differences["words"].mean_a) == (
        4.5,
        18,
    )


def test_reviews_are_a_run_with_means_per_language() -> None:
    config = ReviewsConfig(
        "data/img",
        Path("run"),
        "reviewer(model='m', log='calls')",
        ("en", "ja"),
        rows=DataOptions(4),
    )
    (english, japanese) = plan_reviews(config).askers
    assert english.judge is not None
    assert (english.n_to_ask, english.judge.n_calls, japanese.n_to_ask) == (
        4,
        4,
        4,
    )
    written = run_reviews(config, Quiet())
    assert (written.n_written, calls()) == (8, 8)
    log = manifest.read_log(Path("run"))
    assert (log.kind, log.status) == ("reviews", "complete")
    assert [entry.name for entry in log.metrics] == [
        "review(judge=reviewer('m', log='calls'))",
        "review(judge=reviewer('m', log='calls'), language='ja')",
    ]
    # "Review 0 of 123456, quality 5."
    assert [entry.values["words"].mean for entry in log.summary] == [6, 6]
    heard = Heard()
    run_reviews(config, heard)
    assert (heard.reused, heard.n_done, calls()) == (8, 0, 8)


def test_a_frame_without_a_picture_cannot_be_reviewed() -> None:
    with pytest.raises(Exception, match="'a' has no image"):
        WriteReviews("reviewer:m").check(Frame("a", caption="words only"))


def test_a_run_that_cannot_go_on_says_so_and_is_gone_on_with_later() -> None:
    config = captions("c.jsonl")
    bounded = RowsConfig(
        config.data, config.out, config.systems, work=WorkOptions(max_cost=1.0)
    )
    with pytest.raises(
        ConfigError, match="no known price, so --max-cost cannot be kept"
    ):
        run_rows(bounded, Quiet())
    assert manifest.read_log(config.run).status == "interrupted"
    assert not config.out.exists()
    assert run_rows(config, Quiet()).n_written == 6
    assert manifest.read_log(config.run).status == "complete"


def test_a_file_that_was_read_before_is_not_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("data/d.jsonl").write_text('{"id": "a", "images": ["img/000.jpg"]}\n')
    rows = captions("out.jsonl", data="data/d.jsonl")
    reviews = ReviewsConfig(
        "data/index.csv", Path("reviews"), "reviewer(model='m', log='calls')"
    )
    starts: list[Callable[[Heard], object]] = [
        lambda heard: run_rows(rows, heard),
        lambda heard: run_reviews(reviews, heard),
    ]
    for start in starts:
        start(Heard())
        with monkeypatch.context() as patch:
            patch.setattr(SubjectKind, "row", _never)
            start(heard := Heard())
        assert heard.total == heard.reused > 0


def test_the_same_file_for_another_folder_is_read_again() -> None:
    run_rows(captions("c.jsonl"), Quiet())
    Path("data/d.jsonl").write_text('{"id": "a", "images": ["img/000.jpg"]}\n')
    config = captions("c2.jsonl", data="data/d.jsonl")
    first = run_rows(config, Quiet())
    Path("other").mkdir()
    for name in ("c2.jsonl", "c2.jsonl.run"):
        Path(name).rename(Path("other") / name)
    with pytest.raises(RunError, match="holds a run over other data"):
        run_rows(replace(config, out=Path("other/c2.jsonl")), Quiet())
    assert first.n_written == 1


def _never(*arguments: object) -> str:
    raise AssertionError("the subjects were read again")
