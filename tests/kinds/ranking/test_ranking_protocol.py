"""The ranking protocol against values worked out by hand.

Spearman of five ranks without ties is ``1 - sum(d^2) / 20`` with d the difference per text.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from beholder.kinds.ranking.rankers import Scored
from beholder.kinds.ranking.results import TextLengths, TokenCount
from beholder.kinds.ranking.study import (
    RankedImage,
    position_bias,
    study_tables,
)
from beholder.records import Reviews
from beholder.stats.annotator_pairs import (
    AnnotatorPair,
    best_pairs,
    complete,
    correlation_with_pairs,
    joined_pair,
    passes_threshold,
    rank_correlation,
    ranks_of,
)

TEXTS = ("a", "b", "c", "d", "e")

# Four images, three annotators, five texts, a model. Sums of squared differences by hand, and
# what follows:
#   1: xy 2 -> 0.9, xz 40 -> -1, yz 38 -> -0.9: pair x, y
#      model with x 2 -> 0.9, with y 6 -> 0.7: 0.8; with z 38 -> -0.9
#   2: xy 8 -> 0.6, xz 16 -> 0.2, yz 32 -> -0.6: pair x, y
#      model with x 8 -> 0.6, with y 16 -> 0.2: 0.4; with z 8 -> 0.6
#   3: yz 16 -> 0.2, xz 32 -> -0.6, xy 32 -> -0.6: pair y, z
#      model with y 24 -> -0.2, with z 40 -> -1: -0.6; with x 8 -> 0.6
#   4: xy 22 -> -0.1, xz 34 -> -0.7, yz 30 -> -0.5: pair x, y
#      model with x 0 -> 1, with y 22 -> -0.1: 0.45; with z 34 -> -0.7
RANKS: list[dict[str, tuple[float, ...]]] = [
    {"x": (1, 2, 3, 4, 5), "y": (1, 2, 4, 3, 5), "z": (5, 4, 3, 2, 1)},
    {"x": (1, 2, 3, 4, 5), "y": (1, 4, 3, 2, 5), "z": (4, 1, 2, 5, 3)},
    {"x": (5, 2, 3, 4, 1), "y": (3, 4, 1, 2, 5), "z": (1, 2, 3, 4, 5)},
    {"x": (1, 2, 3, 4, 5), "y": (5, 1, 3, 2, 4), "z": (3, 5, 4, 2, 1)},
]
MODEL = [(1, 2, 3, 5, 4), (3, 2, 1, 4, 5), (5, 4, 3, 2, 1), (1, 2, 3, 4, 5)]
PAIRS = [("x", "y", 0.9), ("x", "y", 0.6), ("y", "z", 0.2), ("x", "y", -0.1)]
SCORES = [0.8, 0.4, -0.6, 0.45]


def scored(ranks: tuple[float, ...]) -> Scored:
    """Return the scores of a scorer whose values are these ranks."""
    return Scored(
        {"loss": tuple(float(rank) for rank in ranks)}, {"loss": False}
    )


def _rounded(pair: AnnotatorPair | None) -> tuple[str, str, float] | None:
    return (
        None
        if pair is None
        else (pair.first, pair.second, round(pair.agreement, 9))
    )


def images() -> list[RankedImage]:
    return [
        RankedImage.from_reviews(
            Reviews(
                str(n),
                TEXTS,
                ranks,
                prompt_ranks=(1, 2, 3, 4, 5),
                language="en" if n < 2 else "ja",
            ),
            {"m": scored(model)},
        )
        for n, (ranks, model) in enumerate(zip(RANKS, MODEL, strict=True))
    ]


@pytest.mark.parametrize("n", range(4))
def test_best_pair_and_score_of_an_image_are_those_worked_out_by_hand(
    n: int,
) -> None:
    (pair,) = best_pairs(RANKS[n])
    assert (pair.first, pair.second) == PAIRS[n][:2]
    assert pair.agreement == pytest.approx(PAIRS[n][2])
    assert correlation_with_pairs(MODEL[n], RANKS[n], [pair]) == pytest.approx(
        SCORES[n]
    )


def test_thresholds_table_is_the_one_worked_out_by_hand() -> None:
    # agreements 0.9, 0.6, 0.2, -0.1; scores 0.8, 0.4, -0.6, 0.45. With the model as one more
    # annotator: 0.9 (a tie, people stay), 0.6 (a tie), 0.6 (model and x), 1.0 (model and x).
    # Prompt order 1..5: 0.95, 0.8, 0.6, 0.45.
    expected = [
        (None, 4, 1.6 / 4, 1.05 / 4, 3.1 / 4, 2 / 4, 2.8 / 4),
        (0.0, 3, 1.7 / 3, 0.6 / 3, 2.1 / 3, 1 / 3, 2.35 / 3),
        (0.2, 3, 1.7 / 3, 0.6 / 3, 2.1 / 3, 1 / 3, 2.35 / 3),
        (0.4, 2, 0.75, 0.6, 0.75, 0.0, 0.875),
        (0.6, 2, 0.75, 0.6, 0.75, 0.0, 0.875),
        (0.8, 1, 0.9, 0.8, 0.9, 0.0, 0.95),
    ]
    rows = study_tables(images(), ["m"]).thresholds
    for row, (limit, n, human, model, joined, share, prompt) in zip(
        rows, expected, strict=True
    ):
        (scorer,) = row.scorers
        assert (row.threshold, row.n) == (limit, n)
        assert row.human.mean == pytest.approx(human)
        assert row.prompt.mean == pytest.approx(prompt)
        assert scorer.mean == pytest.approx(model)
        assert scorer.with_model == pytest.approx(joined)
        assert scorer.share_in_pair == pytest.approx(share)


def test_thresholds_by_language_are_those_of_its_images_worked_out_by_hand() -> (
    None
):
    # English: agreements 0.9, 0.6 and scores 0.8, 0.4; Japanese: 0.2, -0.1 and -0.6, 0.45.
    expected = [
        ("en", None, 2, 0.75, 0.6),
        *(("en", limit, 2, 0.75, 0.6) for limit in (0.0, 0.2, 0.4, 0.6)),
        ("en", 0.8, 1, 0.9, 0.8),
        ("ja", None, 2, 0.05, -0.075),
        *(("ja", limit, 1, 0.2, -0.6) for limit in (0.0, 0.2)),
        *(("ja", limit, 0, None, None) for limit in (0.4, 0.6, 0.8)),
    ]
    rows = study_tables(images(), ["m"]).thresholds_by_language
    for row, (language, limit, n, human, model) in zip(
        rows, expected, strict=True
    ):
        assert (row.language, row.threshold, row.n) == (language, limit, n)
        assert row.human.mean == (
            human if human is None else pytest.approx(human)
        )
        assert row.scorers[0].mean == (
            model if model is None else pytest.approx(model)
        )
    assert study_tables(images()[:2], ["m"]).thresholds_by_language == ()


@pytest.mark.usefixtures("two_sources_are_enough")
def test_main_table_is_over_images_at_the_threshold_and_has_kendalls_w() -> (
    None
):
    tables = study_tables(images(), ["m"])
    (row,) = tables.scorers
    assert (tables.n_images, tables.n_judged, tables.n_kept) == (4, 4, 2)
    assert row.mean == pytest.approx(0.6)
    assert tables.human.mean == pytest.approx(0.75)
    # W = 12 S / (k^2 (n^3 - n)); image 1: rank sums 7 8 10 9 11, S = 10, W = 1/9;
    # image 2: rank sums 6 7 8 11 13, S = 34, W = 34/90
    assert tables.kendall_w.mean == pytest.approx((10 + 34) / 180)
    everything = study_tables(images(), ["m"], threshold=None)
    assert everything.scorers[0].mean == pytest.approx(1.05 / 4)
    low, high = everything.scorers[0].interval or (1.0, -1.0)
    assert low < 1.05 / 4 < high


def test_groups_are_means_over_their_images() -> None:
    english, japanese = study_tables(
        images(), ["m"], threshold=None
    ).groups.language
    assert (english.group, english.n, japanese.group) == ("en", 2, "ja")
    assert english.scorers[0].mean == pytest.approx(0.6)
    assert japanese.scorers[0].mean == pytest.approx(-0.075)
    assert japanese.human.mean == pytest.approx(0.05)
    assert study_tables(images(), ["m"]).groups.category == ()


@pytest.mark.usefixtures("two_sources_are_enough")
def test_differences_are_paired_over_images() -> None:
    pairs = [
        RankedImage.from_reviews(
            image.reviews,
            {"seeing": scored(MODEL[n]), "blind": scored((1, 2, 3, 4, 5))},
        )
        for n, image in enumerate(images())
    ]
    tables = study_tables(
        pairs, ["seeing", "blind"], threshold=None, twins=[("seeing", "blind")]
    )
    (row,) = tables.differences
    # blind: 0.95, 0.8, 0.6, 0.45, as the prompt order above
    assert row.image_gain
    assert row.n == 4
    assert row.difference == pytest.approx((-0.15 - 0.4 - 1.2 + 0.0) / 4)
    assert isinstance(row.interval, tuple)
    assert isinstance(row.difference, float)
    assert row.interval[0] < row.difference < row.interval[1]


@pytest.mark.parametrize("names", list(permutations("abc")))
def test_of_pairs_that_agree_equally_well_each_counts_whatever_their_names(
    names: tuple[str, str, str],
) -> None:
    first, second, third = (1.0, 2.0, 3.0), (2.0, 1.0, 3.0), (1.0, 3.0, 2.0)
    ranks = dict(zip(names, (first, second, third), strict=True))
    # second, third: 1 4 1 -> 1 - 6 * 6 / 24 = -0.5; first with second and third: 2 -> 0.5
    pairs = best_pairs(ranks)
    agreed = {
        frozenset({names[0], names[1]}): 0.5,
        frozenset({names[0], names[2]}): 0.5,
    }
    assert {
        frozenset({p.first, p.second}): round(p.agreement, 9) for p in pairs
    } == agreed
    # 3 1 2 with one: 4 1 1 -> -0.5, with two: 1 0 1 -> 0.5, with three: 4 4 0 -> -1;
    # (-0.5 + 0.5) / 2 = 0 and (-0.5 - 1) / 2 = -0.75, whose mean is -0.375.
    assert correlation_with_pairs((3, 1, 2), ranks, pairs) == pytest.approx(
        -0.375
    )
    image = RankedImage.from_reviews(
        Reviews("1", ("p", "q", "r"), ranks), {"m": scored((3, 1, 2))}
    )
    assert image.correlation("m") == pytest.approx(-0.375)


def test_ties_share_ranks_and_correlate_by_pearson_of_ranks() -> None:
    assert ranks_of([0.2, 0.9, 0.2, 0.5], higher_is_better=True) == (
        3.5,
        1.0,
        3.5,
        2.0,
    )
    assert ranks_of([0.2, 0.9, 0.2, 0.5], higher_is_better=False) == (
        1.5,
        4.0,
        1.5,
        3.0,
    )
    # ranks 1.5 1.5 3 against 1 2 3: covariance 1.5, variances 1.5 and 2 -> 1.5 / sqrt(3)
    assert rank_correlation((1, 1, 3), (1, 2, 3)) == pytest.approx(3**0.5 / 2)
    assert rank_correlation((2, 2, 2), (1, 2, 3)) is None


def test_annotators_with_missing_ranks_are_left_out_of_the_image() -> None:
    ranks = {"b": (1.0, None, 2.0), "c": (1.0, 2.0, 3.0), "a": (3.0, 2.0, 1.0)}
    assert list(complete(ranks)) == ["a", "c"]
    image = RankedImage.from_reviews(Reviews("1", ("p", "q", "r"), ranks), {})
    assert _rounded(image.pair) == ("a", "c", -1.0)
    alone = RankedImage.from_reviews(
        Reviews("2", ("p", "q", "r"), {"a": (1, 2, 3), "b": ranks["b"]}), {}
    )
    level = RankedImage.from_reviews(
        Reviews("3", ("p", "q"), {"a": (1, 2), "b": (1.5, 1.5)}), {}
    )
    tables = study_tables([image, alone, level], [])
    assert tables.n_judged == 1
    assert tables.n_incomplete == 2
    assert tables.n_with_ties == 1
    assert tables.n_texts == {"3": 2, "2": 1}
    assert tables.reasons == {
        "1 of 2 annotators ranked every text": 1,
        "no two annotators distinguish the texts": 1,
    }


def test_a_scorer_that_puts_all_texts_level_has_no_score_and_is_counted() -> (
    None
):
    level = [
        RankedImage.from_reviews(i.reviews, {"m": scored((3, 3, 3, 3, 3))})
        for i in images()
    ]
    (row,) = study_tables(level, ["m"], threshold=None).scorers
    assert row.mean is None
    assert (row.n, row.n_level, row.n_failed) == (0, 4, 0)
    (row,) = study_tables(
        [RankedImage.from_reviews(i.reviews, {}) for i in images()], ["m"]
    ).scorers
    assert row.n_failed == 4


def test_the_model_joins_a_pair_only_where_it_agrees_better_than_people() -> (
    None
):
    joined = [
        joined_pair(model, ranks)
        for model, ranks in zip(MODEL, RANKS, strict=True)
    ]
    assert [(p.first, p.second) for p in joined if p] == [
        ("x", "y"), ("x", "y"), ("x", "model"), ("x", "model")
    ]  # fmt: skip


def test_the_threshold_itself_passes_whatever_floats_make_of_it() -> None:
    assert passes_threshold(0.1 + 0.2, 0.3)
    assert passes_threshold(0.6 - 1e-12, 0.6)
    assert not passes_threshold(0.5, 0.6)
    assert passes_threshold(-1.0, None)


def test_position_bias_is_the_correlation_of_rank_and_place() -> None:
    reviews = [Reviews(str(n), ("p", "q", "r")) for n in range(2)]
    first = Scored(
        {"mean_rank": (1.0, 2.0, 3.0)},
        {"mean_rank": False},
        orders=((0, 1, 2), (2, 0, 1)),
        answers=((1, 2, 3), (2, 3, 1)),  # always in the order shown
    )
    both = [RankedImage.from_reviews(texts, {"r": first}) for texts in reviews]
    bias = position_bias(both, "r")
    assert bias is not None
    assert bias.value == pytest.approx(1.0)
    # image 2 answers by text, whatever the order: places 0 .5 1 with 0 .5 1, then 1 0 .5 ...
    fair = Scored(
        {"mean_rank": (1.0, 2.0, 3.0)},
        {"mean_rank": False},
        orders=((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 1, 2)),
        answers=((1, 2, 3), (1, 2, 3), (1, 2, 3), "no usable answer"),
    )
    bias = position_bias(
        [RankedImage.from_reviews(reviews[0], {"r": fair})], "r"
    )
    assert bias is not None
    # each text stands once at each place: rank and place have nothing in common
    assert bias.value == pytest.approx(0.0, abs=1e-12)
    assert (bias.n_requests, bias.n_failed) == (4, 1)
    assert position_bias(images(), "m") is None


def test_requests_of_images_that_have_no_ranking_are_counted_as_failed() -> (
    None
):
    reviews = Reviews("1", ("p", "q", "r"))
    good = Scored(
        {"mean_rank": (1.0, 2.0, 3.0)},
        {"mean_rank": False},
        orders=((0, 1, 2), (2, 0, 1)),
        answers=((1, 2, 3), "no usable answer"),
    )
    ranked, lost = (
        RankedImage.from_reviews(reviews, {"r": good}),
        RankedImage.from_reviews(reviews, {}, {"r": 2}),
    )
    bias = position_bias([ranked, lost, lost], "r")
    assert bias is not None
    assert (bias.n_requests, bias.n_failed) == (6, 5)
    assert bias.value == pytest.approx(1.0)
    bias = position_bias([lost], "r")
    assert bias is not None
    assert (bias.value, bias.interval) == (None, None)
    assert (bias.n_requests, bias.n_failed) == (2, 2)


def test_lengths_are_means_over_the_texts_of_a_language() -> None:
    english = Reviews("1", ("abc", "abcde"), language="en")
    japanese = Reviews("2", ("犬", "白い犬"), language="ja")
    counted = Scored(
        {"perplexity": (2.0, 3.0), "tokens": (4.0, 7.0)}, {"perplexity": False}
    )
    tables = study_tables(
        [
            RankedImage.from_reviews(
                english, {"p": counted, "length": scored((1, 2))}
            ),
            RankedImage.from_reviews(
                replace(english, id="3", texts=("a", "b", "c")), {}
            ),
            RankedImage.from_reviews(japanese, {}),
        ],
        ["p", "length"],
    )
    assert tables.lengths == (
        TextLengths(
            "en", 5, (3 + 5 + 1 + 1 + 1) / 5, {"p": TokenCount(5.5, 2)}
        ),
        TextLengths("ja", 2, 2.0, {}),
    )
