"""Agreement with people: the figures by hand, and that nothing is scored twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.judges import AnswerFile
from beholder.kinds.agreement.agree import (
    MetricValue,
    agree,
    parse_metric_value,
)
from beholder.kinds.agreement.load import JudgedSet, load
from beholder.kinds.agreement.measure import (
    agreement,
    by_category,
    collect,
    scored_items,
)
from beholder.kinds.agreement.protocols import (
    Measure,
    generic,
    n_words,
    protocol,
    read_number,
    read_ratings,
)
from beholder.kinds.scores.door import score
from beholder.kinds.scores.engine import ScoreConfig
from beholder.options import WorkOptions
from beholder.records import Item
from beholder.run.reliability import of_panels, of_ratings, reliability
from beholder.run.session import Quiet
from beholder.run.store import Store
from toy.command import Cli, runner
from toy.metric import WordCount
from toy.without import PLOTS, without


def item(
    name: str,
    words: int,
    *,
    image: str = "",
    second: int = 0,
    **judgments: object,
) -> Item:
    meta = {"candidate_b": "w " * second} if second else {}
    return Item(
        name,
        "w " * words,
        ("r",),
        (image or name,),
        judgments=judgments,
        meta=meta,
    )


def agreement_value(
    measure: Measure, items: list[Item], scores: dict[str, float]
) -> float | None:
    data = collect(measure, items)
    return agreement(data, data.scores(scores), n_resamples=0, seed=0).value


class TestMeasures:
    def test_each_rating_is_its_own_pair(self) -> None:
        items = [item("a", 1, r=[1, 2]), item("b", 2, r=[3])]
        data = collect(Measure("m", "tau-b", read_ratings("r")), items)
        assert data.gold.tolist() == [1, 2, 3]
        assert data.first == ("a", "a", "b")
        # scores 1 1 2 against 1 2 3: two concordant pairs, one tie: 2 / sqrt(2 * 3)
        value = agreement_value(data.measure, items, {"a": 1.0, "b": 2.0})
        assert value == pytest.approx(2 / 6**0.5)

    def test_accuracy_counts_a_tie_half(self) -> None:
        items = [
            item("a", 1, second=1, preferred=1),
            item("b", 1, second=1, preferred=-1),
            item("c", 1, second=1, preferred=1),
        ]
        scores = {
            "a#a": 2.0,
            "a#b": 1.0,
            "b#a": 2.0,
            "b#b": 1.0,
            "c#a": 1.0,
            "c#b": 1.0,
        }
        measure = Measure(
            "m", "accuracy", read_number("preferred"), paired=True
        )
        assert agreement_value(measure, items, scores) == pytest.approx(
            (1 + 0 + 0.5) / 3
        )

    def test_category_accuracy_is_the_mean_of_the_categories(self) -> None:
        items = [
            item("a", 1, second=1, preferred=1, category="x"),
            item("b", 1, second=1, preferred=1, category="x"),
            item("c", 1, second=1, preferred=1, category="y"),
            item("d", 1, second=1, preferred=-1, category="y"),
        ]
        scores = {"a#a": 1.0, "a#b": 0.0, "b#a": 0.0, "b#b": 1.0}
        scores |= {"c#a": 1.0, "c#b": 0.0, "d#a": 0.0, "d#b": 1.0}
        (measure,) = protocol("pascal50s")
        assert agreement_value(measure, items, scores) == pytest.approx(
            (0.5 + 1) / 2
        )
        data = collect(measure, items)
        assert by_category(data, data.scores(scores)) == {
            "x": (0.5, 2),
            "y": (1.0, 2),
        }

    def test_three_way_takes_the_threshold_from_the_gold_ties(self) -> None:
        # differences 0.1 (gold tie), 3 (first), -2 (first): one tie, so the threshold is 2
        items = [
            item(n, 1, second=1, preferred=p)
            for n, p in (("a", 0), ("b", 1), ("c", 1))
        ]
        scores = {
            "a#a": 0.1,
            "a#b": 0.0,
            "b#a": 3.0,
            "b#b": 0.0,
            "c#a": 0.0,
            "c#b": 2.0,
        }
        measure = Measure(
            "m", "three-way", read_number("preferred"), paired=True
        )
        assert agreement_value(measure, items, scores) == pytest.approx(2 / 3)

    def test_ranking_is_the_mean_of_spearman_within_a_picture(self) -> None:
        items = [
            item("a1", 1, image="a", ranks=[-1]), item("a2", 1, image="a", ranks=[-2]),
            item("b1", 1, image="b", ranks=[-1]), item("b2", 1, image="b", ranks=[-2]),
            item("c1", 1, image="c", ranks=[-1]), item("c2", 1, image="c", ranks=[-2]),
        ]  # fmt: skip
        scores = {
            "a1": 2.0,
            "a2": 1.0,
            "b1": 9.0,
            "b2": 8.0,
            "c1": 0.0,
            "c2": 1.0,
        }
        (measure,) = protocol("wiki_imagereview")
        assert agreement_value(measure, items, scores) == pytest.approx(
            (1 + 1 - 1) / 3
        )

    def test_a_picture_without_a_ranking_is_left_out_and_counted(self) -> None:
        # a: rho 1; b: constant scores; c: one scored text; d: rho -1; e: rho 1. (1 - 1 + 1) / 3;
        # with b and c as 0 it would be 2 / 9.
        items = [
            item(f"{picture}{n}", 1, image=picture, ranks=[-n])
            for picture in "abcde"
            for n in (1, 2)
        ]
        scores = {"a1": 2.0, "a2": 1.0, "b1": 3.0, "b2": 3.0, "c1": 1.0}
        scores |= {"d1": 1.0, "d2": 2.0, "e1": 2.0, "e2": 1.0}
        (measure,) = protocol("wiki_imagereview")
        data = collect(measure, items)
        result = agreement(data, data.scores(scores), n_resamples=20, seed=1)
        assert result.value == pytest.approx(1 / 3)
        assert (
            result.n,
            result.n_missing,
            result.n_undefined,
            result.n_sources,
        ) == (6, 1, 3, 3)

    def test_no_picture_with_a_ranking_has_a_reason(self) -> None:
        items = [item(f"a{n}", 1, image="a", ranks=[-n]) for n in (1, 2)]
        (measure,) = protocol("wiki_imagereview")
        data = collect(measure, items)
        result = agreement(
            data, data.scores({"a1": 1.0, "a2": 1.0}), n_resamples=20, seed=1
        )
        assert result.value is None
        assert result.reason == "no correlation within a source is defined"
        assert (result.n, result.n_missing, result.n_undefined) == (0, 0, 2)

    def test_partialling_out_length_by_the_textbook_formula(self) -> None:
        items = [
            item(f"{i}", n, total=t)
            for i, (n, t) in enumerate([(1, 1), (2, 3), (4, 2), (5, 5)])
        ]
        x = {"0": 2.0, "1": 1.0, "2": 3.0, "3": 4.0}
        measure = Measure(
            "m", "pearson", read_number("total"), control=n_words
        )
        table = np.corrcoef([[2, 1, 3, 4], [1, 3, 2, 5], [1, 2, 4, 5]])
        xy, xz, yz = table[0, 1], table[0, 2], table[1, 2]
        expected = (xy - xz * yz) / ((1 - xz**2) * (1 - yz**2)) ** 0.5
        assert agreement_value(measure, items, x) == pytest.approx(expected)

    def test_a_missing_score_is_left_out_and_counted(self) -> None:
        data = collect(
            Measure("m", "pearson", read_number("t")),
            [item(n, 1, t=i) for i, n in enumerate("abcd")],
        )
        result = agreement(
            data,
            data.scores({"a": 1.0, "b": 2.0, "c": 3.0}),
            n_resamples=50,
            seed=1,
        )
        assert result.value == pytest.approx(1.0)
        assert (result.n, result.n_missing) == (3, 1)

    @pytest.mark.parametrize(
        "scores", [{"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 1.0}, {}]
    )
    def test_nothing_to_correlate_has_a_reason(
        self, scores: dict[str, float]
    ) -> None:
        data = collect(
            Measure("m", "tau-c", read_number("t")),
            [item(n, 1, t=i) for i, n in enumerate("abc")],
        )
        result = agreement(data, data.scores(scores), n_resamples=10, seed=1)
        assert result.value is None
        assert result.reason

    def test_the_human_system_of_thumb_is_left_out(self) -> None:
        items = [
            item("a", 1, total=1, system="Human"),
            item("b", 1, total=2, system="X"),
        ]
        assert collect(protocol("thumb_mscoco")[0], items).first == ("b",)

    def test_labels_never_reach_a_metric(self) -> None:
        (first, second) = scored_items(
            [item("a", 1, second=2, preferred=1)], protocol("pascal50s")
        )
        assert (first.id, second.id) == ("a#a", "a#b")
        for one_item in (first, second):
            assert not one_item.judgments
            assert not one_item.meta

    def test_labels_of_any_data_become_measures_and_icc_is_refused(
        self,
    ) -> None:
        items = [item("a", 1, good=1.0, raters=[1, 2], note="x", flag=True)]
        assert [m.name for m in generic(items, None, "spearman")] == [
            "spearman, good",
            "spearman, raters",
        ]
        with pytest.raises(
            ConfigError, match="no item has a numeric judgment 'note'"
        ):
            generic(items, ["note"], "spearman")
        with pytest.raises(ConfigError, match="expected one of"):
            generic(items, None, "icc")


class Counting(Quiet):
    """Progress that counts."""

    n = 0

    def advance(self, n_scored: int, n_failed: int) -> None:
        self.n += n_scored + n_failed


ITEMS = tuple(
    item(f"{i}", 1 + (i * 7) % 5, image=f"{i // 2}", good=(i * 7) % 5 + i % 2)
    for i in range(20)
)


class TestAgree:
    def run(self, out: Path, progress: Quiet, **options: Any) -> object:
        judged = JudgedSet("own", False, ITEMS)
        config = ScoreConfig(
            data="own", metrics=(), out=out, work=WorkOptions(workers=1)
        )
        measures = generic(ITEMS, None, "spearman")
        return agree(
            judged,
            measures,
            [MetricValue(WordCount(factor=-1))],
            config,
            progress,
            **options,
        )

    def test_a_second_call_scores_nothing(self, tmp_path: Path) -> None:
        first, second = Counting(), Counting()
        self.run(tmp_path, first)
        self.run(tmp_path, second)
        assert (first.n, second.n) == (
            40,
            0,
        )  # 20 items, the metric and the length baseline

    def test_the_length_baseline_is_a_row_and_differences_are_paired(
        self, tmp_path: Path
    ) -> None:
        report = self.run(tmp_path, Quiet(), n_resamples=200)
        (section,) = report.sections  # type: ignore[attr-defined]
        assert [row.label for row in section.rows] == [
            "word_count(factor=-1).words",
            "length.words",
        ]
        minus, plus = (row.found for row in section.rows)
        assert minus.value == pytest.approx(-plus.value)
        (difference,) = section.result.differences
        assert difference.difference == pytest.approx(2 * minus.value)
        assert difference.high < 0
        assert difference.p == pytest.approx(2 / 201)  # no resample crosses 0

    def test_length_controlled_for_itself_has_no_value(
        self, tmp_path: Path
    ) -> None:
        report = self.run(
            tmp_path, Quiet(), control_length=True, n_resamples=20
        )
        (section,) = report.sections  # type: ignore[attr-defined]
        assert section.data.measure.name == "spearman, good, beyond length"
        assert all(row.found.value is None for row in section.rows)

    def test_a_value_can_be_named(self) -> None:
        assert parse_metric_value("rouge.rouge_2").value == "rouge_2"
        assert parse_metric_value("rouge(beta=1.5)").value is None
        with pytest.raises(ConfigError, match="has no value 'xyz'"):
            parse_metric_value("rouge.xyz")


class TestCaparena:
    def test_models_are_ranked_too(self, tmp_path: Path) -> None:
        items = tuple(
            item(
                f"{i}",
                3,
                second=1,
                preferred=1,
                category="c",
                model1="long",
                model2="short",
            )
            for i in range(4)
        )
        judged = JudgedSet("caparena", True, items)
        config = ScoreConfig(
            data="c", metrics=(), out=tmp_path, work=WorkOptions(workers=1)
        )
        report = agree(
            judged, protocol("caparena"), [], config, Quiet(), n_resamples=0
        )
        assert report.sections[0].rows[0].found.value == 1.0
        assert report.result.extra["length"] == {
            "model_spearman": pytest.approx(1),
            "model_kendall": pytest.approx(1),
        }


class TestReliability:
    def test_raters_of_a_list(self) -> None:
        items = [
            item("a", 1, r=[1, 1]),
            item("b", 1, r=[2, 2]),
            item("c", 1, r=[4, 4]),
        ]
        result = of_ratings(items, "r")
        values = {c.name: c.value for c in result.coefficients}
        assert values["ICC(2,1)"] == pytest.approx(1.0)
        assert values["Kendall W"] == pytest.approx(1.0)
        assert values["mean range within an item"] == 0.0
        with pytest.raises(ConfigError, match="fewer than two items"):
            of_ratings(items, "other")

    def test_judges_of_a_panel(self, tmp_path: Path) -> None:
        score(list(ITEMS), [WordCount()], out=tmp_path, workers=1)
        assert of_panels(tmp_path) == []
        file = AnswerFile(tmp_path / "store.sqlite")
        for question, values in {
            "q": (1, 1),
            "r": (3, 3),
            "s": (5, 5),
            "t": (2,),
        }.items():
            for judge, value in zip(("a", "b"), values, strict=False):
                file.put_rating("presence", question, judge, float(value))
        file.close()
        (panel,) = of_panels(tmp_path)
        assert (panel.what, panel.raters) == ("presence", ("a", "b"))
        assert (panel.n_items, panel.n_left_out) == (3, 1)
        assert {c.name: c.value for c in panel.coefficients}[
            "ICC(2,1)"
        ] == pytest.approx(1.0)

    def test_questions_that_repeats_answer_differently_are_counted(
        self, tmp_path: Path
    ) -> None:
        score(list(ITEMS), [WordCount()], out=tmp_path, workers=1)
        file = AnswerFile(tmp_path / "store.sqlite")
        for question, values in {
            "q": (1, 1, 1),
            "r": (0, 0, 1),
            "s": (2, 2, 2),
            "t": (0, 1, 2),
        }.items():
            for judge, value in zip(("a", "b", "c"), values, strict=True):
                file.put_rating(
                    "check_criteria", question, judge, float(value)
                )
        file.close()
        (panel,) = of_panels(tmp_path)
        assert panel.coefficients[0].name == "same answer by all"
        assert panel.coefficients[0].value == 0.5  # q and s, of four

    def test_metrics_of_a_run_are_raters(self, tmp_path: Path) -> None:
        score(
            list(ITEMS),
            [WordCount(), WordCount(factor=2)],
            out=tmp_path,
            workers=1,
        )
        with Store.read(tmp_path) as store:
            result = reliability(store)
            values = {c.name: c.value for c in result.coefficients}
            assert result.raters == ("word_count", "word_count(factor=2)")
            assert values["mean pairwise Spearman"] == pytest.approx(1.0)
            with pytest.raises(ConfigError, match="two or more raters"):
                reliability(store, ["word_count"])


class TestCommands:
    @pytest.fixture
    def cli(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> Cli:
        monkeypatch.setenv("BEHOLDER_CACHE", "off")
        return runner(monkeypatch, capsys)

    def data(self, tmp_path: Path) -> Path:
        rows = [
            {"id": i.id, "candidate": i.candidate, "references": ["w w"], "image": i.images[0],
             "judgments": {"good": i.judgments["good"], "r": [1 + n % 3, 1 + n % 2]}}
            for n, i in enumerate(ITEMS)
        ]  # fmt: skip
        path = tmp_path / "own.jsonl"
        path.write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
        return path

    def test_agree_prints_tables_and_draws_figures(
        self, cli: Cli, tmp_path: Path
    ) -> None:
        arguments = ["agree", str(self.data(tmp_path)), "-m", "rouge.rouge_1", "--label", "good",
                     "-o", str(tmp_path / "run"), "--resamples", "50", "--workers", "1"]  # fmt: skip
        done = cli(*arguments)
        assert done.code == 0, done.err
        assert "rouge_1" in done.out
        assert "length" in done.out
        assert (
            tmp_path / "run/agreement/1-spearman-good-rouge-rouge-1.svg"
        ).is_file()
        again = cli(*arguments, "--json", "--no-figures")
        report = json.loads(again.out)
        assert [row["metric"] for row in report["measures"][0]["metrics"]] == [
            "rouge",
            "length",
        ]
        assert "40 reused" in again.err

    def test_figures_are_the_scatters_of_the_page_and_need_no_matplotlib(
        self, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        without(monkeypatch, "matplotlib", *PLOTS)
        arguments = ["agree", str(self.data(tmp_path)), "-m", "rouge.rouge_1", "--label", "good",
                     "-o", str(tmp_path / "run"), "--resamples", "0", "--workers", "1"]  # fmt: skip
        done = cli(*arguments)
        assert done.code == 0, done.err
        figures = sorted((tmp_path / "run" / "agreement").iterdir())
        assert [path.name for path in figures] == [
            "1-spearman-good-length-words.svg",
            "1-spearman-good-rouge-rouge-1.svg",
        ]
        page = (tmp_path / "run" / "report.html").read_text("utf-8")
        for path in figures:
            root = ElementTree.fromstring(path.read_text("utf-8"))
            circles = [
                read_number
                for read_number in root
                if read_number.tag.endswith("circle")
            ]
            assert len(circles) == len(ITEMS)
            assert f'cx="{circles[0].get("cx")}"' in page
        assert "figures: " not in cli(*arguments, "--no-figures").err

    def test_agree_takes_the_first_rows_and_leaves_out_wrong_ones(
        self, cli: Cli, tmp_path: Path
    ) -> None:
        data = self.data(tmp_path)
        lines = data.read_text("utf-8").splitlines(keepends=True)
        data.write_text(
            "".join([lines[0], "nonsense\n", *lines[1:]]), encoding="utf-8"
        )
        arguments = ["agree", str(data), "-m", "rouge", "--label", "good", "--json",
                     "-o", str(tmp_path / "run"), "--resamples", "0", "--no-figures"]  # fmt: skip
        stopped = cli(*arguments)
        assert stopped.code == 2
        assert "own.jsonl:2: is not JSON" in stopped.err
        done = cli(*arguments, "--skip-bad-rows", "--limit", "7")
        assert done.code == 0, done.err
        assert "left out: " in done.err
        assert json.loads(done.out)["n_items"] == 7

    def test_agreement_of_a_runs_judges_prints_the_icc(
        self, cli: Cli, tmp_path: Path
    ) -> None:
        done = cli(
            "agree", str(self.data(tmp_path)), "--judges", "--label", "r"
        )
        assert done.code == 0, done.err
        assert "ICC(2,1)" in done.out

    def test_leaderboard_prints_each_system(
        self, cli: Cli, tmp_path: Path
    ) -> None:
        score(list(ITEMS), [WordCount()], out=tmp_path / "sys-a", workers=1)
        done = cli("leaderboard", str(tmp_path / "sys-a"))
        assert done.code == 0, done.err
        assert "sys-a" in done.out


@pytest.mark.slow  # a whole published set
def test_caption_metrics_agree_as_the_published_code_does(
    shared_data: Path, tmp_path: Path
) -> None:
    # tau-c of pycocoevalcap 1.2 on these rows: BLEU-4 0.3105, ROUGE-L 0.3288, CIDEr 0.4405,
    # METEOR 1.5 0.4163
    judged = load("flickr8k_expert", str(shared_data / "human_judgments"))
    config = ScoreConfig(data="f", metrics=(), out=tmp_path)
    metrics = [
        parse_metric_value(name)
        for name in ("bleu", "rouge", "cider", "cider_d", "meteor")
    ]
    report = agree(
        judged,
        protocol("flickr8k_expert"),
        metrics,
        config,
        Quiet(),
        n_resamples=0,
    )
    values = {row.metric: row.found.value for row in report.sections[0].rows}
    assert values["bleu"] == pytest.approx(0.3105, abs=0.005)
    assert values["rouge"] == pytest.approx(0.3288, abs=0.005)
    assert values["cider_d"] == pytest.approx(0.4405, abs=0.005)
    assert values["cider"] == pytest.approx(0.4405, abs=0.005)
    assert values["meteor"] == pytest.approx(0.4163, abs=0.015)
