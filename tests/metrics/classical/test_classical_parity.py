"""The classical metrics beside outside implementations, on texts of our own.

Expected values: pycocoevalcap 1.2 and sacrebleu 2.6.0, run on these texts (lower case, no
punctuation, so that no tokenizer enters).
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from beholder.metrics import metric
from beholder.metrics.classical import Frequencies
from beholder.metrics.classical.overlap import ChrF
from beholder.records import Item, ItemScore
from beholder.run.summary import corpus_estimates

ITEMS = [
    Item("a", "a black dog runs over the wet grass",
         ("a dog is running across wet grass", "the black dog runs in a green field")),
    Item("b", "two children play football on a beach",
         ("two kids are playing with a ball at the beach", "children play football on sand")),
    Item("c", "a red car is parked near an old house",
         ("an old house with a red car in front", "a red automobile stands beside the house")),
    Item("d", "the woman holds a cup of coffee", ("a woman drinks coffee from a white cup",)),
]  # fmt: skip


def scores(text: str) -> list[ItemScore]:
    outcomes = metric(text).score(ITEMS)
    assert all(isinstance(outcome, ItemScore) for outcome in outcomes)
    return [outcome for outcome in outcomes if isinstance(outcome, ItemScore)]


def corpus(text: str) -> dict[str, float]:
    built = metric(text)
    return built.corpus(
        np.sum([s.detail["statistics"] for s in scores(text)], axis=0)
    )


def test_bleu_equals_the_caption_evaluation_code() -> None:
    bleu_scores = scores("bleu")
    by_order = [
        [0.8749999997812503, 0.9999999998571429, 0.6666666665185187, 0.4953587997157158],
        [0.6123724355372341, 0.7071067810771144, 0.5773502690573166, 8.459862053518921e-09],
        [0.39685026288496356, 0.5848035475432496, 0.45667114028786526, 2.3151092838987064e-11],
        [5.9460355733271294e-05, 0.47287080441179896, 6.311969076663555e-05, 1.2805693630023128e-12],
    ]  # fmt: skip
    for name, values in zip(
        ("bleu_1", "bleu_2", "bleu_3", "bleu"), by_order, strict=True
    ):
        assert [score.values[name] for score in bleu_scores] == pytest.approx(
            values, rel=1e-9
        )


def test_corpus_bleu_equals_the_caption_evaluation_code() -> None:
    expected = {
        "corpus_bleu_1": 0.7741935483621228,
        "corpus_bleu_2": 0.5354795525831129,
        "corpus_bleu_3": 0.3964995060890331,
        "corpus_bleu": 0.23932804199711016,
    }
    assert corpus("bleu") == pytest.approx(expected, rel=1e-9)


def test_bleu_by_the_rules_of_sacrebleu() -> None:
    expected = [
        28.117066259517458,
        47.2870804501588,
        29.84745896009822,
        8.051153633013374,
    ]
    bleu_scores = scores("bleu(rules='sacrebleu')")
    assert [
        100 * score.values["bleu"] for score in bleu_scores
    ] == pytest.approx(expected, rel=1e-9)
    whole = corpus("bleu(rules='sacrebleu')")["corpus_bleu"]
    assert 100 * whole == pytest.approx(23.932804200700666, rel=1e-9)


def test_rouge_l_equals_the_caption_evaluation_code() -> None:
    expected = [
        0.5398230088495575,
        0.6873239436619719,
        0.38364779874213834,
        0.3952483801295896,
    ]
    assert [s.values["rouge_l"] for s in scores("rouge")] == pytest.approx(
        expected, rel=1e-9
    )


def test_chrf_of_a_set_with_a_reference_of_few_characters_equals_sacrebleu() -> (
    None
):
    pairs = [
        ("A black dog runs in the park.", "Dog"),
        ("Ein Hund.", "Ein Hund rennt im Park."),
    ]
    chrf_scores = [ChrF().score_text(*pair) for pair in pairs]
    assert [score.values["chrf"] for score in chrf_scores] == pytest.approx(
        [0.1517799352750809, 0.3155625052696128]
    )
    summed = np.sum(
        [score.detail["statistics"] for score in chrf_scores], axis=0
    )
    assert ChrF().corpus(summed)["corpus_chrf"] == pytest.approx(
        0.3058128241367143, rel=1e-12
    )


def test_cider_d_equals_the_caption_evaluation_code() -> None:
    expected = [
        2.0424465504877634,
        2.9498319834825226,
        2.423389313714382,
        1.3446415567581746,
    ]
    assert [s.values["cider_d"] for s in scores("cider_d")] == pytest.approx(
        expected, rel=1e-9
    )


def test_chrf_equals_sacrebleu() -> None:
    expected = [
        44.22603858835743,
        80.11149094643423,
        51.100842853647464,
        29.186260866822366,
    ]
    assert [100 * s.values["chrf"] for s in scores("chrf")] == pytest.approx(
        expected, rel=1e-9
    )
    assert 100 * corpus("chrf")["corpus_chrf"] == pytest.approx(
        50.47044588991575, rel=1e-9
    )


def test_ter_equals_sacrebleu() -> None:
    expected = [53.333333333333336, 40.0, 62.5, 75.0]
    assert [100 * s.values["ter"] for s in scores("ter")] == pytest.approx(
        expected, rel=1e-9
    )
    assert 100 * corpus("ter")["corpus_ter"] == pytest.approx(
        58.06451612903226, rel=1e-9
    )


def test_meteor_is_near_the_java_program() -> None:
    # METEOR 1.5 with its stage of paraphrases, which ours does not have
    expected = [
        0.28785530999735326,
        0.4099887443961508,
        0.3760088539489151,
        0.22792022792022792,
    ]
    meteor_values = [s.values["meteor"] for s in scores("meteor")]
    assert meteor_values == pytest.approx(expected, abs=0.08)


def test_a_saved_table_gives_the_scores_of_its_run(tmp_path: object) -> None:
    path = f"{tmp_path}/df.json.gz"
    Frequencies.from_references(item.references for item in ITEMS).save(path)
    alone = metric(f"cider_d(df={path!r})").score(ITEMS[:1])[0]
    assert isinstance(alone, ItemScore)
    assert alone.values["cider_d"] == pytest.approx(
        2.0424465504877634, rel=1e-9
    )
    assert "|df:table:4docs@" in alone.signature


@pytest.mark.usefixtures("two_sources_are_enough")
def test_corpus_values_have_intervals_over_sources() -> None:
    built = metric("bleu")
    statistics = np.array(
        [score.detail["statistics"] for score in scores("bleu")], dtype=float
    )
    clusters = [item.id.encode() for item in ITEMS]
    estimate = corpus_estimates(built, statistics, clusters)["corpus_bleu"]
    assert estimate.mean == pytest.approx(0.23932804199711016, rel=1e-9)
    assert estimate.interval is not None
    assert estimate.interval.low < estimate.mean < estimate.interval.high
    one_source = corpus_estimates(built, statistics, [b"same"] * 4)[
        "corpus_bleu"
    ]
    assert one_source.interval is None


@pytest.mark.slow  # statistics over many draws
@pytest.mark.parametrize("far", [1, 3_000])
def test_corpus_intervals_of_many_sources_are_those_of_4096_drawn(
    far: int,
) -> None:
    # A source that holds a third of all words is drawn a whole number of times: nothing normal.
    rng = np.random.default_rng(5)
    n = 6_000
    words = rng.integers(6, 16, n)
    matches = [rng.binomial(words, share) for share in (0.5, 0.3, 0.15, 0.08)]
    grams = [np.maximum(words - order, 1) for order in range(4)]
    rows = np.stack(
        [*matches, *grams, words, rng.integers(6, 16, n)], axis=1
    ).astype(float)
    rows[3_000, :4] = rows[3_000, 4:8]
    rows[3_000] *= far
    built = metric("bleu")
    estimate = corpus_estimates(built, rows, [str(i) for i in range(n)])[
        "corpus_bleu"
    ]
    # Written out again: 4,096 of n are drawn, as counts, and sums deviate from those of all rows by
    # a factor sqrt(4096 / n) less than the draws scaled up to n do.
    whole = rows.sum(axis=0)
    weights = (
        np.random.default_rng(6).multinomial(
            4_096, np.full(n, 1 / n), size=2_000
        )
        @ rows
    )
    sums = whole + np.sqrt(4_096 / n) * (weights * n / 4_096 - whole)
    low, high = np.quantile(
        [built.corpus(row)["corpus_bleu"] for row in sums], [0.025, 0.975]
    )
    assert estimate.mean == built.corpus(whole)["corpus_bleu"]
    assert estimate.interval is not None
    if (
        far == 1
    ):  # no source weighs much: so does the plain bootstrap, which draws all
        all_drawn = (
            np.random.default_rng(7).multinomial(
                n, np.full(n, 1 / n), size=2_000
            )
            @ rows
        )
        plain = np.quantile(
            [built.corpus(row)["corpus_bleu"] for row in all_drawn],
            [0.025, 0.975],
        )
        assert plain == pytest.approx([low, high], abs=(high - low) / 10)
    # Of 1,000 and of 2,000 draws: each end is known to about a tenth of the width.
    assert estimate.interval.low == pytest.approx(low, abs=(high - low) / 10)
    assert estimate.interval.high == pytest.approx(high, abs=(high - low) / 10)


@pytest.mark.parametrize("spec", ["meteor", "bleu(rules='sacrebleu')", "ter"])
def test_the_version_of_a_package_is_read_once(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages_read: list[str] = []
    # by its module: the package's attribute of that name is the function
    params = import_module("beholder.asking.params")

    def version(name: str) -> str:
        packages_read.append(name)
        return "7"

    monkeypatch.setattr(params, "version", version)
    params.installed_version.cache_clear()
    outcomes = metric(spec).score(ITEMS)
    params.installed_version.cache_clear()  # other tests must not see this version
    assert len(packages_read) == 1
    assert all(
        "7" in outcome.signature
        for outcome in outcomes
        if isinstance(outcome, ItemScore)
    )
