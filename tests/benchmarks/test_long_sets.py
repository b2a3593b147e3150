"""Sets of long captions of 2025 and 2026: rows of our own in the published forms, values by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import (
    jaccard_score,
    precision_recall_fscore_support,
    roc_auc_score,
)

from beholder import stats
from beholder.errors import DataError
from beholder.kinds.agreement.agree import (
    MetricValue,
    parse_metric_value,
)
from beholder.kinds.agreement.agreement_suite import (
    AgreementSuiteConfig,
    compare_with_set,
)
from beholder.kinds.agreement.granular import GranularFinding, granular
from beholder.kinds.agreement.load import JudgedSet, load
from beholder.kinds.agreement.measure import agreement as measured
from beholder.kinds.agreement.measure import collect
from beholder.kinds.agreement.protocols import protocol
from beholder.kinds.scores.engine import ScoreConfig
from beholder.metrics import Tools
from beholder.options import DataOptions
from beholder.records import Item
from beholder.run.session import Quiet
from toy.command import runner
from toy.digits import Digits


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


class TestLongCapArena:
    def test_the_three_scores_of_a_caption_come_together(
        self, tmp_path: Path
    ) -> None:
        def split(ending: str, *rows: tuple[str, str, float]) -> None:
            table = [
                {
                    "file_name": name,
                    "refs": ["r1", "r2"],
                    "cand": cand,
                    "score": score,
                }
                for name, cand, score in rows
            ]
            (tmp_path / "data").mkdir(exist_ok=True)
            pq.write_table(
                pa.Table.from_pylist(table),
                tmp_path / "data" / f"{ending}-00000-of-00001.parquet",
            )

        split(
            "test.desc",
            ("a.jpg", "x", 0.25),
            ("a.jpg", "y", 0.75),
            ("b.jpg", "x", 1.0),
        )
        split("test.rel", ("a.jpg", "y", 0.5))
        split("test.flu", ("a.jpg", "x", 1.0), ("a.jpg", "y", 0.0))
        split("train.desc", ("z.jpg", "z", 0.0))
        split("dci_test.desc", ("z.jpg", "z", 0.0))
        items = load("longcap_arena", str(tmp_path)).items
        assert [
            (item.images, item.candidate, item.references) for item in items
        ] == [
            (("a.jpg",), "x", ("r1", "r2")),
            (("a.jpg",), "y", ("r1", "r2")),
            (("b.jpg",), "x", ("r1", "r2")),
        ]
        assert [item.judgments for item in items] == [
            {"descriptiveness": 0.25, "fluency": 1.0},
            {"descriptiveness": 0.75, "relevance": 0.5, "fluency": 0.0},
            {"descriptiveness": 1.0},
        ]
        # Three captions, all in the order of their scores: tau-c is 2 (3 - 0) / (9 (3 - 1) / 3).
        measure = protocol("longcap_arena")[0]
        data = collect(measure, items)
        scores = data.scores(
            {item.id: float(place) for place, item in enumerate(items)}
        )
        assert measured(
            data, scores, n_resamples=0, seed=0
        ).value == pytest.approx(1.0)

    def test_a_missing_split_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(
            DataError, match=r"has no file test.desc-\*.parquet"
        ):
            load("longcap_arena", str(tmp_path))


DETAIL: list[dict[str, Any]] = [
    {
        # one mark of two tokens: "red b1"; "well-known" is one token
        "description_tag": "A9 <Hallucination>red b1</Hallucination>, a well-known3 d7.",
        "hallucination_labels": [{"text": "red b1", "labels": ["Color"]}],
        "Modify": "Yes",
    },
    {"description_tag": "e8 f2", "hallucination_labels": [], "Modify": "No"},
    {
        "description_tag": "<HALLUCINATION>g1</HALLUCINATION> h9 <Hallucination>i9</Hallucination>",
        "hallucination_labels": [],
        "Modify": "Yes",
    },
]


def detail_rows() -> list[dict[str, Any]]:
    return [
        {
            "filename": f"{i}.jpg",
            "category": "Nature",
            "GT_description": "true text",
        }
        | row
        for i, row in enumerate(DETAIL)
    ]


def finding(judged: JudgedSet, out: Path) -> GranularFinding:
    config = ScoreConfig(judged.name, (), out)
    metrics = [Digits(sides="candidate")]
    return granular(judged, metrics, config, Quiet(), n_resamples=60).findings[
        0
    ]


class TestDetailVerifyBench:
    def test_tags_become_ranges_of_the_text_without_them(
        self, tmp_path: Path
    ) -> None:
        lines(tmp_path / "data" / "real_test.jsonl", detail_rows())
        items = load("detailverifybench", str(tmp_path)).items
        assert items[0].candidate == "A9 red b1, a well-known3 d7."
        assert items[0].judgments == {"mistakes": [[3, 9]]}
        assert items[0].references == ("true text",)
        assert items[0].images == ("Nature/0.jpg",)
        assert items[1].judgments == {"mistakes": []}
        assert items[2].candidate == "g1 h9 i9"
        assert items[2].judgments == {"mistakes": [[0, 2], [6, 8]]}

    @pytest.mark.parametrize(
        "text", ["a <Hallucination>b", "a</Hallucination> b"]
    )
    def test_a_tag_without_a_partner_is_an_error(
        self, tmp_path: Path, text: str
    ) -> None:
        lines(
            tmp_path / "real_test.jsonl",
            [{**detail_rows()[0], "description_tag": text}],
        )
        with pytest.raises(DataError, match=r"0\.jpg: the .*tag"):
            load("detailverifybench", str(tmp_path))

    def test_the_synthetic_half_has_columns_of_its_own(
        self, tmp_path: Path
    ) -> None:
        row = {
            "image_path": "/x/y/7.jpg",
            "category": "Food",
            "original_description": "right",
        }
        row["description_tag"] = "a <HALLUCINATION>cat</HALLUCINATION>"
        lines(tmp_path / "synthetic_test.jsonl", [row])
        (item,) = load("detailverifybench_synthetic", str(tmp_path)).items
        assert (item.id, item.references, item.images) == (
            "7.jpg",
            ("right",),
            ("Food/7.jpg",),
        )
        assert item.judgments == {"mistakes": [[2, 5]]}

    @pytest.mark.parametrize(
        "row", [{"filename": "0.jpg"}, "0.jpg", {"filename": 3}]
    )
    def test_a_row_of_another_form_is_an_error(
        self, tmp_path: Path, row: Any
    ) -> None:
        lines(tmp_path / "real_test.jsonl", [row])
        with pytest.raises(
            DataError, match="not in the published form of detailverifybench"
        ):
            load("detailverifybench", str(tmp_path))

    def test_figures_by_hand_and_by_sklearn(self, tmp_path: Path) -> None:
        lines(tmp_path / "real_test.jsonl", detail_rows())
        figures = finding(
            load("detailverifybench", str(tmp_path)), tmp_path / "run"
        )
        # Tokens and scores: A9 .9, red never, b1 .1, a never, well-known3 .3, d7 .7 | e8 .8, f2 .2
        # | g1 .1, h9 .9, i9 .9. Marked: red, b1, g1, i9. Alerts below .2: b1 and g1.
        inf = 2.0  # of a token in no unit
        scores = [[0.9, inf, 0.1, inf, 0.3, 0.7], [0.8, 0.2], [0.1, 0.9, 0.9]]
        gold = [[0, 1, 1, 0, 0, 0], [0, 0], [1, 0, 1]]
        flat = [x for text in gold for x in text]
        low = [-x for text in scores for x in text]
        assert figures.auc.value == pytest.approx(roc_auc_score(flat, low))
        assert figures.alerts is not None
        assert figures.alerts.threshold == pytest.approx(0.2)
        raised = [[int(x < 0.2) for x in text] for text in scores]
        alert = [x for text in raised for x in text]
        p, r, f1, _ = precision_recall_fscore_support(
            flat, alert, average="binary"
        )
        assert (
            (figures.precision.value, figures.recall.value)
            == (p, r)
            == (1.0, 0.5)
        )
        assert figures.f1.value == pytest.approx(f1)
        assert (
            figures.iou.value
            == pytest.approx(jaccard_score(flat, alert))
            == pytest.approx(0.5)
        )
        # Marked spans: "red b1" half covered, g1 wholly, i9 not: (1/2 + 1 + 0) / 3.
        assert figures.span_iou.value == pytest.approx(0.5)
        assert figures.spans is not None
        # Runs b1 and g1 both match; of the spans "red b1" (half) and g1.
        assert figures.spans.precision == 1.0
        assert figures.spans.recall == pytest.approx(2 / 3)
        texts = [
            precision_recall_fscore_support(
                g, a, average="binary", zero_division=0.0
            )
            for g, a in zip(gold, raised, strict=True)
        ]
        means = [share.value for share in figures.per_text]
        for place in range(3):  # precision, recall, F1
            assert means[place] == pytest.approx(
                np.mean([text[place] for text in texts])
            )
        assert means[3] == pytest.approx(
            (1 / 2 + 1 + 1 / 2) / 3
        )  # nothing marked, no alert: 1
        assert means[:2] == [pytest.approx(2 / 3), pytest.approx(1 / 3)]


SENTENCES: list[dict[str, Any]] = [
    {
        "image": "i1",
        "model": "m",
        "sentence": "A9 b1 c8.",
        "factual": [1, 0, 0, 0, 1],
    },
    {
        "image": "i1",
        "model": "m",
        "sentence": "A9 b1 c8.",
        "factual": [1, 1, 0, 1, 1],
    },
    {"image": "i1", "model": "m", "sentence": "D6 e7.", "factual": [True] * 5},
    {
        "image": "i2",
        "model": "m",
        "sentence": "F3.",
        "factual": ["No", "no", "yes"],
    },
    {
        "image": "i2",
        "model": "m",
        "sentence": "Nothing here.",
        "factual": [1, 0],
    },
]


class TestDocciCritique:
    def test_sentences_are_found_in_order_and_votes_counted(
        self, tmp_path: Path
    ) -> None:
        lines(tmp_path / "c.jsonl", SENTENCES)
        lines(
            tmp_path / "docci_descriptions.jsonlines",
            [{"example_id": "i1", "description": "Truth."}],
        )
        first, second = load("docci_critique", str(tmp_path)).items
        assert first.candidate == "A9 b1 c8. A9 b1 c8. D6 e7."
        assert first.judgments["sentences"] == [(0, 9), (10, 19), (20, 26)]
        assert first.judgments["mistakes"] == [
            (0, 9)
        ]  # 2 of 5; 4 of 5 is enough
        assert first.judgments["factual_share"] == pytest.approx(2 / 3)
        assert (first.references, second.references) == (("Truth.",), ())
        assert second.judgments["mistakes"] == [
            (0, 3)
        ]  # a tie of votes counts as factual

    def test_a_missing_column_is_an_error_until_it_is_mapped(
        self, tmp_path: Path
    ) -> None:
        rows = [
            {
                "img": "i",
                "vlm": "m",
                "text": "A b. C d.",
                "parts": ["A b.", "C d."],
            }
            | {"ok": [[True], [False]]}
        ]
        lines(tmp_path / "c.jsonl", rows)
        with pytest.raises(
            DataError, match=r"no column 'image'.*img, vlm.*--map image=COLUMN"
        ):
            load("docci_critique", str(tmp_path))
        column_names = {
            "image": "img",
            "model": "vlm",
            "sentence": "parts",
            "factual": "ok",
        }
        rows_of = DataOptions(map=column_names | {"caption": "text"})
        (item,) = load("docci_critique", str(tmp_path), rows_of).items
        assert (item.candidate, item.judgments["mistakes"]) == (
            "A b. C d.",
            [(5, 9)],
        )

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                {"factual": "perhaps"},
                "expected one of true, .*, got 'perhaps'",
            ),
            ({"factual": 3}, "expected one of true, .*, got '3'"),
            (
                {"sentence": ["A", "b"], "factual": [True]},
                "expected a label for each sentence",
            ),
            (
                {"caption": "Another text."},
                "does not contain the sentence 'A9 b1",
            ),
        ],
    )
    def test_unreadable_sentences_and_labels_are_errors(
        self, tmp_path: Path, change: dict[str, Any], message: str
    ) -> None:
        lines(tmp_path / "c.jsonl", [SENTENCES[0] | change])
        with pytest.raises(DataError, match=message):
            load("docci_critique", str(tmp_path))

    def test_alignbench_is_read_as_it_is_published(
        self, tmp_path: Path
    ) -> None:
        # The files, columns and folders of omron-sinicx/AlignBench at e188139 and d34e3d7.
        sentences = [
            ("COCO", "1.jpg", None, 1, "It flies.", "Incorrect"),
            ("COCO", "1.jpg", None, 0, "A cat.", "Correct"),
            ("SD", "0.png", "images/SD/0.png", 0, "A boat.", "Correct"),
            (
                "Imagen",
                "0.png",
                "images/Imagen/0.png",
                0,
                "A car.",
                "Incorrect",
            ),
            ("COCO", "1.jpg", None, 2, "It purrs.", "Unknown"),
        ]
        rows: list[dict[str, object]] = [
            {
                "model": "m",
                "image_source": source,
                "image_name": name,
                "image_type": "photo",
            }
            | {
                "sentence_index": n,
                "caption": text,
                "annotation": label,
                "error_type": None,
            }
            | {
                "n_correct": 1,
                "agreement_ratio": 1.0,
                "image_path_in_repo": path,
            }
            for source, name, path, n, text, label in sentences
        ]
        lines(tmp_path / "halcap_bench.jsonl", rows)
        (tmp_path / "fleiss_per_item.csv").write_text(
            "model,Pi\nm,1.0\n", "utf-8"
        )
        first, second, third = load("alignbench", str(tmp_path)).items
        assert first.candidate == "A cat. It flies. It purrs."
        assert first.judgments == {
            "mistakes": [(7, 16)],
            "sentences": [(0, 6), (7, 16)],  # nobody knows of the third
            "factual_share": 0.5,
        }
        pictures = [item.images for item in (first, second, third)]
        assert pictures == [
            ("1.jpg",),
            ("images/SD/0.png",),
            ("images/Imagen/0.png",),
        ]
        assert (second.judgments["mistakes"], third.judgments["mistakes"]) == (
            [],
            [(0, 6)],
        )
        lines(tmp_path / "halcap_bench.jsonl", rows[4:])
        with pytest.raises(DataError, match="contains no row of alignbench"):
            load("alignbench", str(tmp_path))

    def test_haldec_is_sentences_in_columns_that_the_user_names(
        self, tmp_path: Path
    ) -> None:
        sentences = [
            ("A cat.", "correct"),
            ("It flies.", "incorrect"),
            ("It purrs.", "unknown"),
        ]
        rows = [
            {
                "model": "m",
                "image_name": "i.jpg",
                "caption": text,
                "annotation": label,
            }
            for text, label in sentences
        ]
        lines(tmp_path / "haldec.jsonl", rows)
        with pytest.raises(
            DataError,
            match=r"no column 'image'.*image_name.*--map image=COLUMN",
        ):
            load("haldec_bench", str(tmp_path))
        column_names = {
            "image": "image_name",
            "sentence": "caption",
            "factual": "annotation",
        }
        (item,) = load(
            "haldec_bench", str(tmp_path), DataOptions(map=column_names)
        ).items
        assert (item.candidate, item.images) == (
            "A cat. It flies. It purrs.",
            ("i.jpg",),
        )
        assert item.judgments["mistakes"] == [(7, 16)]

    def test_figures_of_sentences_by_hand(self, tmp_path: Path) -> None:
        lines(tmp_path / "c.jsonl", SENTENCES)
        texts = [
            {"example_id": name, "description": "Truth."}
            for name in ("i1", "i2")
        ]
        lines(tmp_path / "docci_descriptions.jsonlines", texts)
        figures = finding(
            load("docci_critique", str(tmp_path)), tmp_path / "run"
        )
        # A sentence has its worst unit's score: .1 .1 .6 | .3 and one that never alerts.
        # Not factual: the first and the fourth. Below .6: three alerts, two hits.
        assert figures.alerts is not None
        assert figures.alerts.threshold == 0.6
        assert figures.precision.value == pytest.approx(2 / 3)
        assert figures.recall.value == 1.0
        assert figures.f1.value == pytest.approx(0.8)
        assert figures.iou.value == pytest.approx(2 / 3)
        # Pairs of a wrong and a right one: .1 against .1 (half), .6 and never; .3 against .1
        # (lost), .6 and never: 4.5 of 6.
        assert figures.auc.value == pytest.approx(4.5 / 6)
        assert figures.spans is None


def test_area_of_alerts_is_sklearns_with_ties_and_parts_that_never_alert() -> (
    None
):
    rng = np.random.default_rng(3)
    labels = [rng.integers(0, 2, size=20) for _ in range(9)]
    scores = [
        np.where(rng.random(20) < 0.2, np.inf, rng.integers(0, 6, 20) - y)
        for y in labels
    ]
    flat = -np.nan_to_num(np.concatenate(scores), posinf=99.0)
    area = stats.alert_auc(scores, labels, n_resamples=200)
    assert area.auc == pytest.approx(
        roc_auc_score(np.concatenate(labels), flat)
    )
    assert area.auc is not None
    assert area.interval is not None
    assert area.interval.low < area.auc < area.interval.high
    # A resample by hand: the first of all is drawn from the same generator.
    draw = np.random.default_rng(12345).integers(0, 9, size=9)
    sampled_scores = -np.nan_to_num(
        np.concatenate([scores[i] for i in draw]), posinf=99.0
    )
    expected = roc_auc_score(
        np.concatenate([labels[i] for i in draw]), sampled_scores
    )
    assert area.replicates[0] == pytest.approx(expected)
    nothing = stats.alert_auc([[0.1, 0.2]], [[0, 0]])
    assert (nothing.auc, nothing.replicates) == (None, ())
    assert nothing.reason is not None


def test_a_suite_reports_the_auc_of_marked_sets(tmp_path: Path) -> None:
    lines(
        tmp_path / "sets" / "detailverifybench" / "real_test.jsonl",
        detail_rows(),
    )
    judged = load(
        "detailverifybench", str(tmp_path / "sets" / "detailverifybench")
    )
    metrics = (parse_metric_value("ngram_embed"), parse_metric_value("chrf"))
    suite = AgreementSuiteConfig(
        tmp_path / "sets", metrics, tmp_path / "out", n_resamples=80
    )
    (measure,), signatures = compare_with_set(judged, suite, Quiet())
    assert (measure.measure, set(signatures)) == (
        "AUC, mistakes",
        {"ngram_embed", "chrf", "length"},
    )
    run = ScoreConfig(judged.name, (), tmp_path / "out" / judged.name)
    alone = granular(
        judged,
        [parse_metric_value("ngram_embed").metric],
        run,
        Quiet(),
        n_resamples=80,
    )
    assert measure.metrics[0].agreement == alone.findings[0].auc.value
    assert measure.metrics[1].agreement is None
    assert "gives no units" in str(measure.metrics[1].reason)
    assert [row.cluster for row in measure.metrics] == [1, None, None]


@dataclass(frozen=True)
class Steady(Digits):
    """Digits that fails on nothing."""

    registered_name: ClassVar[str] = "steady"

    async def gather(self, item: Item, tools: Tools) -> None:
        return


def test_metrics_are_compared_on_the_texts_that_all_scored(
    tmp_path: Path,
) -> None:
    # Digits fails on half of the texts, in which Steady is wrong; elsewhere both are right.
    items = [
        Item(
            str(i),
            "fails1 b9" if i % 2 else "a9 b1",
            ("r",),
            (f"{i}.png",),
            judgments={"mistakes": [[7, 9]] if i % 2 else [[3, 5]]},
        )
        for i in range(24)
    ]
    judged = JudgedSet("docent_granular", True, tuple(items))
    metrics = (
        MetricValue(Digits(sides="candidate")),
        MetricValue(Steady(sides="candidate")),
    )
    suite = AgreementSuiteConfig(
        tmp_path, metrics, tmp_path / "out", n_resamples=100
    )
    (measure,), _ = compare_with_set(judged, suite, Quiet())
    # Of the 24 wrong and 24 right words Steady has 12 at .1 and 12 at .9 each: level.
    assert [row.agreement for row in measure.metrics] == [1.0, 0.5, None]
    assert [row.n_missing for row in measure.metrics[:2]] == [12, 0]
    assert [row.cluster for row in measure.metrics] == [1, 1, None]


def test_the_command_reads_all_sets_of_marks(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    lines(Path("d/real_test.jsonl"), detail_rows())
    lines(Path("c/c.jsonl"), SENTENCES)
    agree = runner(monkeypatch, capsys, "agree")
    common = ("-m", "ngram_embed", "--resamples", "20")
    tokens = agree("detailverifybench", "--data", "d", *common)
    assert tokens.code == 0, tokens.err
    for figure in ("macro F1", "AUC", "IoU", "span IoU", "F1, mean of texts"):
        assert figure in tokens.out
    mapped = agree(
        "docci_critique", "--data", "c", "--map", "sentence=said", *common
    )
    assert "no column 'said'" in mapped.err
    share = agree(
        *(
            "docci_critique",
            "--data",
            "c",
            "--label",
            "factual_share",
            "-m",
            "length",
        ),
        *("--resamples", "0", "--json", "-o", "shares"),
    )
    (measure,) = json.loads(share.out)["measures"]
    # Shares 2/3 and 1/2, words 8 and 3: the longer one is the better one.
    assert (measure["name"], measure["metrics"][0]["agreement"]) == (
        "spearman, factual_share",
        1.0,
    )
