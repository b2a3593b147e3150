"""Tables of the bidirectional study; expected values by hand, or from scipy where named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats as sps

from beholder.errors import ConfigError
from beholder.kinds.bidirectional.observe import _raters, facts
from beholder.kinds.bidirectional.pairs import Fact, TextPair
from beholder.kinds.bidirectional.rates import (
    dataset_table,
    language_table,
    length_table,
    rate_table,
)
from beholder.kinds.bidirectional.ratings import (
    correlation_table,
    gap_table,
    rating_table,
)
from beholder.kinds.bidirectional.scores import (
    best_table,
    category_table,
    difficulty_table,
    direction_table,
    score_table,
    tertiles,
)
from beholder.kinds.bidirectional.selectivity import (
    Content,
    consensus_table,
    content_table,
    contents,
    image_table,
    selectivity_table,
    stem,
    subject_table,
)
from beholder.kinds.bidirectional.settings import StudySettings
from beholder.kinds.bidirectional.study import study
from beholder.records import Item, Side, Unit
from beholder.tables import Column, Table, write_csv

A = [0.9, 0.8, 0.7, 0.95, 0.85]
B = [0.6, 0.7, 0.5, 0.75, 0.45]
C = [0.8, 0.7, 0.75, 0.9, 0.6]


def scored(
    values: Mapping[str, Sequence[float]], name: str = "har_f1", **fields: Any
) -> list[TextPair]:
    """A pair per system and picture, with one value."""
    return [
        TextPair(
            f"{system}{i}",
            f"i{i}",
            system,
            references=(f"r{i}",),
            values={name: value},
            **fields,
        )
        for system, column in values.items()
        for i, value in enumerate(column)
    ]


def rows(table: Table, **cells: Any) -> list[Mapping[str, Any]]:
    return [
        row
        for row in table.rows
        if all(row[key] == value for key, value in cells.items())
    ]


def row(table: Table, **cells: Any) -> Mapping[str, Any]:
    (only_row,) = rows(table, **cells)
    return only_row


def test_scores_state_distribution_failures_and_the_best_system() -> None:
    pairs = [
        *scored({"a": A, "b": B}),
        TextPair("x", "i9", "b", failure="refused"),
    ]
    table = score_table(pairs, "")
    a = row(table, direction="har", value="f1", system="a")
    assert (a["n"], a["n_images"], a["n_failed"], a["best"]) == (5, 5, 0, True)
    assert a["mean"] == pytest.approx(0.84)
    # squares about the mean: 0.0036 + 0.0016 + 0.0196 + 0.0121 + 0.0001 = 0.037; / 4
    assert a["sd"] == pytest.approx(0.00925**0.5)
    assert (a["q1"], a["median"], a["q3"]) == pytest.approx((0.8, 0.85, 0.9))
    assert a["mean_low"] < a["mean"] < a["mean_high"]
    b = row(table, direction="har", value="f1", system="b")
    assert (b["n_failed"], b["best"]) == (1, False)
    assert b["mean"] == pytest.approx(0.6)
    assert b["mean_failed_0"] == pytest.approx(3.0 / 6)
    last = table.shown_columns()[-1]
    assert last.key == "mean_failed_0"
    assert (
        "the last column, over all pictures, counts them as 0"
        in table.notes[-1]
    )


def test_scores_without_failures_say_nothing_of_them() -> None:
    table = score_table(scored({"a": A, "b": B}), "")
    assert table.shown_columns()[-1].key == "q3"
    assert table.notes[-1] == "Intervals resample pictures."
    assert row(table, direction="mar", value="f1", system="a")["mean"] is None


def test_each_system_is_tested_against_the_best_as_scipy_does() -> None:
    table = best_table(scored({"a": A, "b": B, "c": C}), "")
    assert {r["best"] for r in table.rows} == {"a"}
    tests = {r["system"]: r for r in rows(table, direction="har", value="f1")}
    assert set(tests) == {"b", "c"}
    for system, values in (("b", B), ("c", C)):
        oracle = sps.ttest_ind(values, A, equal_var=False)
        assert tests[system]["t"] == pytest.approx(oracle.statistic)
        assert tests[system]["df"] == pytest.approx(oracle.df)
        assert tests[system]["p"] == pytest.approx(oracle.pvalue)
        interval = oracle.confidence_interval()
        assert tests[system]["difference_low"] == pytest.approx(interval.low)
    assert tests["b"]["difference"] == pytest.approx(-0.24)
    # Holm by hand: the smaller of two p is doubled, the other must not come below it
    small, large = tests["b"]["p"], tests["c"]["p"]
    assert small < large
    assert tests["b"]["p_holm"] == pytest.approx(2 * small)
    assert tests["c"]["p_holm"] == pytest.approx(max(2 * small, large))
    assert (tests["b"]["significant"], tests["c"]["significant"]) == (
        True,
        False,
    )
    # all five differences of b have one sign: 2 of 2^5 sign patterns are as extreme
    assert tests["b"]["p_paired"] == pytest.approx(2 / 32)
    assert (tests["b"]["n_pairs"], tests["b"]["paired"]) == (
        5,
        pytest.approx(-0.24),
    )


def test_g_is_the_difference_in_pooled_deviations_with_its_small_sample_factor() -> (
    None
):
    test_row = row(
        best_table(scored({"a": A, "b": B}), ""),
        direction="har",
        value="f1",
        system="b",
    )
    pooled = (
        (0.037 + 0.065) / 8
    ) ** 0.5  # sums of squares of a and b over 4 + 4
    exact = 0.9027033336764101  # gamma(4) / (sqrt(4) gamma(3.5)), Hedges 1981
    assert test_row["g"] == pytest.approx(-0.24 / pooled * exact)


def test_texts_without_a_partner_are_in_the_unpaired_test_only() -> None:
    pairs = scored({"a": A, "b": B[:3]})
    test_row = row(
        best_table(pairs, ""), direction="har", value="f1", system="b"
    )
    assert (test_row["n_a"], test_row["n_b"], test_row["n_pairs"]) == (3, 5, 3)
    assert test_row["paired"] == pytest.approx(
        (0.6 + 0.7 + 0.5 - 0.9 - 0.8 - 0.7) / 3
    )


def test_data_sets_are_never_mixed() -> None:
    pairs = scored({"a": A}, dataset="one") + scored({"a": B}, dataset="two")
    table = score_table(pairs, "")
    means = {
        r["dataset"]: r["mean"]
        for r in rows(table, direction="har", value="f1")
    }
    assert means == {"one": pytest.approx(0.84), "two": pytest.approx(0.6)}


def test_directions_are_paired_by_text() -> None:
    pairs = [
        TextPair(str(i), f"i{i}", "a", values={"har_f1": har, "mar_f1": mar})
        for i, (har, mar) in enumerate(zip(A, B, strict=True))
    ]
    direction_row = row(direction_table(pairs, ""), system="a")
    assert (direction_row["har"], direction_row["mar"]) == (
        pytest.approx(0.84),
        pytest.approx(0.6),
    )
    assert direction_row["difference"] == pytest.approx(0.24)
    assert direction_row["p"] == pytest.approx(2 / 32)


def build_pair(
    image: str,
    system: str,
    human: Sequence[Fact],
    model: Sequence[Fact],
    **fields: Any,
) -> TextPair:
    """A pair with units and a value, so that it counts as scored."""
    usual: dict[str, Any] = {
        "references": ("said",),
        "values": {"har_f1": 0.5},
    }
    return TextPair(
        f"{image}/{system}", image, system, human_facts=tuple(human), model_facts=tuple(model),
        **(usual | fields),
    )  # fmt: skip


def test_pooled_rates_count_every_unit_once_and_means_every_text() -> None:
    right, wrong = Fact("x", verified=True), Fact("x", verified=False)
    pairs = [
        # 4 model units, 1 wrong; two of them match the first of 2 human units
        build_pair("i0", "a", [right, wrong], [Fact("x", verified=True, matches=(0,))] * 2 + [right, wrong],
             values={"har_hallucination_rate": 0.25, "har_omission_rate": 0.5}),
        # 1 model unit, wrong; 3 human units, none matched
        build_pair("i1", "a", [right, right, right], [wrong],
             values={"har_hallucination_rate": 1.0, "har_omission_rate": 1.0}),
    ]  # fmt: skip
    har = row(rate_table(pairs, ""), direction="har", system="a")
    assert har["hallucination"] == pytest.approx((0.25 + 1) / 2)
    assert har["hallucination_pooled"] == pytest.approx(2 / 5)
    assert har["omission"] == pytest.approx(0.75)
    assert har["omission_pooled"] == pytest.approx(4 / 5)
    assert (har["n"], har["n_units"], har["n_reference_units"]) == (2, 5, 5)


def test_pooled_rates_compare_a_text_with_the_chosen_reference() -> None:
    human = [
        Fact("x", voice=0, verified=True),
        Fact("y", voice=1, verified=True),
    ]
    pair = build_pair("i0", "a", human, [Fact("y", verified=True, matches=(1,))],
                references=("one", "two"), chosen={"har": 1, "mar": 1},
                values={"har_hallucination_rate": 0.0, "har_omission_rate": 0.0})  # fmt: skip
    har = row(rate_table([pair], ""), direction="har")
    assert (har["n_reference_units"], har["omission_pooled"]) == (1, 0.0)


def test_pooled_rates_compare_a_text_with_each_reference_if_none_was_chosen() -> (
    None
):
    human = [
        Fact("x", voice=0, verified=True, matches=(0,)),
        Fact("y", voice=1, verified=False),
    ]
    pair = build_pair("i0", "a", human, [Fact("x", verified=True, matches=(0,))],
                references=("one", "two"),
                values={f"{d}_{v}_rate": 0.5 for d in ("har", "mar") for v in ("hallucination", "omission")})  # fmt: skip
    har, mar = (
        row(rate_table([pair], ""), direction=d) for d in ("har", "mar")
    )
    # The model's one unit stands against both texts, and one of two units of people is covered.
    assert (
        har["n_units"],
        har["n_reference_units"],
        har["omission_pooled"],
    ) == (2, 2, 0.5)
    # One of two units of people is made up; the model's unit is covered by one of two people.
    assert (mar["n_units"], mar["hallucination_pooled"]) == (2, 0.5)
    assert (mar["n_reference_units"], mar["omission_pooled"]) == (2, 0.5)


def test_lengths_count_a_persons_text_once() -> None:
    unit = Fact("x")
    pairs = [build_pair("i0", s, [unit, unit], [unit] * 3, references=("<noise> two </noise> words",), candidate="one two three")
             for s in ("a", "b")]  # fmt: skip
    table = length_table(pairs, "")
    people, a = row(table, who="people"), row(table, who="a")
    assert (people["n"], people["words"], people["units"]) == (1, 2.0, 2.0)
    assert (a["n"], a["words"], a["units"]) == (1, 3.0, 3.0)


def test_difficulty_parts_at_tertiles_or_given_cuts() -> None:
    # numbers 0 to 6: the tertiles by linear interpolation are 2 and 4
    assert tertiles(range(7)) == pytest.approx((2.0, 4.0))
    pairs = [
        TextPair(
            str(i),
            f"i{i}",
            "a",
            category="x" if i < 4 else "y",
            values={"har_f1": i / 10},
        )
        for i in range(7)
    ]
    table = difficulty_table(pairs, None, ["x", "y"])
    x = row(table, kind="category", name="x", by="f1")
    assert (x["hard_below"], x["easy_from"]) == pytest.approx((0.2, 0.4))
    assert (x["hard"], x["medium"], x["easy"], x["n"]) == (
        0.5,
        0.5,
        0.0,
        4,
    )  # 0 1 | 2 3 |
    y = row(table, kind="category", name="y", by="f1")
    assert (y["hard"], y["medium"], y["easy"]) == (
        0.0,
        0.0,
        1.0,
    )  # 4 is easy: from the cut on
    row_at_cuts = row(
        difficulty_table(pairs, (0.1, 0.35), ["x"]), kind="category", by="f1"
    )
    assert (
        row_at_cuts["hard"],
        row_at_cuts["medium"],
        row_at_cuts["easy"],
    ) == (0.25, 0.75, 0.0)


def test_categories_are_tested_against_the_random_sample_or_the_rest() -> None:
    groups = {"nature": A, "trade": B, "random": C}
    pairs = [
        p
        for name, values in groups.items()
        for p in scored({"a": values}, category=name)
    ]
    table = category_table(pairs, ["nature", "trade"], "random")
    nature = row(table, category="nature", direction="har")
    oracle = sps.ttest_ind(A, C, equal_var=False)
    assert nature["p"] == pytest.approx(oracle.pvalue)
    assert nature["difference"] == pytest.approx(0.84 - 0.75)
    trade = row(table, category="trade", direction="har")
    assert (
        trade["p"] < nature["p"]
    )  # so trade's p is doubled, and nature's may not be below it
    assert trade["p_holm"] == pytest.approx(2 * trade["p"])
    assert nature["p_holm"] == pytest.approx(max(nature["p"], 2 * trade["p"]))
    against_rest = row(
        category_table(pairs, ["nature"], "rest"), direction="har"
    )
    assert against_rest["p"] == pytest.approx(
        sps.ttest_ind(A, [*B, *C], equal_var=False).pvalue
    )
    alone = row(category_table(pairs, ["nature"], None), direction="har")
    assert (alone["mean"], alone["p"]) == (pytest.approx(0.84), None)


def test_changes_between_languages_are_those_of_the_means_not_of_the_printed_table() -> (
    None
):
    # Means as published for HAR. The paper prints +0.0031 for llama, though 0.7744 - 0.7430 is
    # +0.0314, and calls the order unchanged, though places 2 and 4 swap.
    means = {
        "gemini": (0.8263, 0.8354),
        "gemma": (0.7536, 0.7516),
        "gpt": (0.7593, 0.6816),
        "llama": (0.7430, 0.7744),
    }
    pairs = [
        TextPair(
            f"{s}{language}{i}",
            f"i{i}",
            s,
            language=language,
            values={"har_f1": mean + shift},
        )
        for s, both in means.items()
        for language, mean in zip(("Hindi", "English"), both, strict=True)
        for i, shift in enumerate((-0.01, 0.0, 0.01))
    ]
    table = language_table(pairs, "")
    llama = row(table, system="llama", direction="har")
    assert llama["change"] == pytest.approx(0.0314)
    assert (llama["rank_before"], llama["rank_after"]) == (4, 2)
    gpt = row(table, system="gpt", direction="har")
    assert (gpt["rank_before"], gpt["rank_after"]) == (2, 4)
    assert (
        "HAR: the order of systems changes place for gpt, llama."
        in table.notes
    )


def test_languages_compare_only_pictures_that_have_both() -> None:
    pairs = scored({"a": A}, language="x") + scored({"a": B[:3]}, language="y")
    change_row = row(language_table(pairs, ""), direction="har")
    assert (change_row["n"], change_row["before"], change_row["after"]) == (
        3,
        pytest.approx(0.8),
        pytest.approx(0.6),
    )


def test_two_data_sets_of_the_same_pictures_are_compared_picture_by_picture() -> (
    None
):
    free = scored({"a": A, "b": B}, "mar_omission_rate", dataset="free")
    short = scored({"a": B[:3], "b": A}, "mar_omission_rate", dataset="short")
    table = dataset_table([*free, *short])
    change_row = row(table, direction="mar", value="omission_rate", system="a")
    # a: 0.9 0.8 0.7 before, 0.6 0.7 0.5 after, so -0.3 -0.1 -0.2
    assert (change_row["from"], change_row["to"], change_row["n"]) == (
        "free",
        "short",
        3,
    )
    assert (change_row["before"], change_row["after"]) == (
        pytest.approx(0.8),
        pytest.approx(0.6),
    )
    assert change_row["change"] == pytest.approx(-0.2)
    assert change_row["p"] == pytest.approx(2 / 2**3)  # all three of one sign
    # b: all five of one sign, doubled by Holm
    second_row = row(table, direction="mar", value="omission_rate", system="b")
    assert (second_row["n"], second_row["change"]) == (5, pytest.approx(0.24))
    assert (second_row["p"], second_row["p_holm"]) == (
        pytest.approx(2 / 2**5),
        pytest.approx(4 / 2**5),
    )
    assert {r["value"] for r in table.rows} == {"omission_rate"}


def test_data_sets_of_other_pictures_are_not_compared_and_the_study_says_why() -> (
    None
):
    same_pictures, second_set = (
        scored({"a": A}, dataset="x"),
        scored({"a": B}, dataset="y"),
    )
    moved = [replace(pair, image=f"other {pair.image}") for pair in second_set]
    assert not dataset_table([*same_pictures, *moved]).rows
    reasons = {
        part.title: part.reason
        for part in study([*same_pictures, *moved]).omitted
    }
    assert (
        "no picture is in two data sets" in reasons["Change between data sets"]
    )
    assert study([*same_pictures, *second_set]).table("datasets") is not None


def rated(
    i: int, model: Sequence[float], human: Sequence[float], **fields: Any
) -> TextPair:
    return TextPair(
        str(i), f"i{i}", "a", references=(f"r{i}",), model_ratings=tuple(model),
        human_ratings=tuple(human), **fields,
    )  # fmt: skip


def test_ratings_count_a_persons_text_once_and_differ_rater_by_rater() -> None:
    pairs = [
        rated(0, (8, 9), (5, 7), category="nature"),
        rated(1, (6, 7), (7, 7)),
        TextPair("b", "i0", "b", references=("r0",), human_ratings=(5, 7)),
    ]
    table = rating_table(pairs)
    people = row(table, who="people")
    assert (people["n"], people["mean"], people["median"]) == (
        4,
        6.5,
        7.0,
    )  # 5 7 7 7
    assert row(table, who="a")["mean"] == 7.5
    gaps = gap_table(pairs, ["nature"])
    everything = row(gaps, category="all", system="a")  # 3, 2, -1, 0
    assert (everything["n"], everything["n_images"], everything["median"]) == (
        4,
        2,
        1.0,
    )
    assert row(gaps, category="nature", system="a")["median"] == 2.5


@pytest.mark.parametrize(
    ("model", "human", "gaps"),
    [
        (
            ("anna", "ben", "cleo"),
            ("cleo", "anna"),
            (2, -1.0),
        ),  # 7 - 10 and 9 - 8
        (
            ("anna", "ben", "cleo"),
            ("dora", "emil"),
            (1, 20 / 3 - 9),
        ),  # nobody rated both
    ],
)
def test_ratings_with_names_differ_by_rater(
    model: tuple[str, ...], human: tuple[str, ...], gaps: tuple[int, float]
) -> None:
    pair = rated(0, (7, 4, 9), (8, 10), model_raters=model, human_raters=human)
    gap_row = row(gap_table([pair], []), system="a")
    assert (gap_row["n"], gap_row["median"]) == (
        gaps[0],
        pytest.approx(gaps[1]),
    )


def test_raters_are_named_in_the_judgments_or_as_annotate_export_names_them() -> (
    None
):
    item = Item("a", "x", judgments={"rating": [7, 4], "human_rating": {"ben": 1, "anna": 2}},
                meta={"annotators": ["anna", "ben"]})  # fmt: skip
    assert _raters(item, "rating", "annotators") == ("anna", "ben")
    assert _raters(item, "human_rating", "human_annotators") == ("anna", "ben")
    assert _raters(item, "other", "annotators") == ()


def test_unequal_numbers_of_ratings_differ_by_their_means() -> None:
    gap_row = row(gap_table([rated(0, (8, 9, 10), (5, 7))], []), system="a")
    assert (gap_row["n"], gap_row["median"]) == (1, 3.0)


def test_correlations_are_scipys_spearman_with_the_rating_of_the_judged_text() -> (
    None
):
    human = [3.0, 8.0, 5.0, 6.0, 1.0]
    model = [9.0, 5.0, 7.0, 8.0, 6.0]
    pairs = [
        rated(i, (model[i],), (human[i],), values={"har_f1": A[i], "mar_f1": B[i]},
              other_scores={"har": {"bleu": C[i]}, "mar": {"bleu": A[i]}})
        for i in range(5)
    ]  # fmt: skip
    table = correlation_table(pairs)
    for direction, measure, x, y in (
        ("har", "f1", A, model),
        ("mar", "f1", B, human),
        ("har", "bleu", C, model),
        ("mar", "bleu", A, human),
    ):
        oracle = sps.spearmanr(x, y)
        correlation_row = row(table, direction=direction, measure=measure)
        assert correlation_row["rho"] == pytest.approx(oracle.statistic)
        assert correlation_row["p"] == pytest.approx(oracle.pvalue)
        assert correlation_row["n"] == 5


def test_all_measures_of_a_direction_are_over_the_texts_that_each_has_a_value_for() -> (
    None
):
    model = [9.0, 5.0, 7.0, 8.0, 6.0]
    pairs = [
        rated(i, (model[i],), (model[i],), values={"har_f1": A[i], "mar_f1": B[i]},
              other_scores={"har": {"bleu": C[i]} if i else {}, "mar": {"bleu": A[i]}})
        for i in range(5)
    ]  # fmt: skip
    table = correlation_table(pairs)
    for measure, x in (("f1", A[1:]), ("bleu", C[1:])):
        har_row = row(table, direction="har", measure=measure)
        assert (har_row["n"], har_row["rho"]) == (
            4,
            pytest.approx(sps.spearmanr(x, model[1:])[0]),
        )
    assert {mar_row["n"] for mar_row in rows(table, direction="mar")} == {5}
    assert (
        "HAR: 4 of 5 rated texts have every measure (bleu has 4)."
        in table.notes
    )
    assert not any(
        note.startswith("MAR") and "of 5" in note for note in table.notes
    )


def test_measures_without_a_common_text_are_noted_and_not_correlated() -> None:
    pairs = [
        rated(0, (5,), (), values={"har_f1": 0.5}),
        rated(1, (6,), (), other_scores={"har": {"bleu": 0.5}}),
    ]
    table = correlation_table(pairs)
    assert not table.rows
    note = "HAR: 0 of 2 rated texts have every measure (f1 has 1, bleu has 1)."
    assert note in table.notes


def two_speakers() -> list[TextPair]:
    """Two people and two systems on one picture.

    People: 1 says [dog, tree], 2 says [dog, sky]. System a says [dog, car], b says [dog, tree].
    Dogs are matched both ways; b's tree matches 1's tree, but not the reverse.
    """
    first = [
        Fact("a dog", "dog_0", verified=True),
        Fact("a tree", "tree_0", verified=True),
    ]
    two = [
        Fact("the dog", "dog_0", verified=True),
        Fact("a sky", "sky_0", verified=True),
    ]
    pairs = []
    for voice, human in (("one", first), ("two", two)):
        dog, second_fact = human
        for system, second in (("a", Fact("a car", "car_1", verified=False)), ("b", Fact("tall tree", "tree_3", verified=True))):  # fmt: skip
            tree = system == "b" and voice == "one"
            pairs.append(
                build_pair(
                    "i0", system,
                    [Fact(dog.text, dog.subject, verified=True, matches=(0,)), second_fact],
                    [
                        Fact("dog!", "dog_0", verified=True, matches=(0,)),
                        Fact(second.text, second.subject, verified=second.verified, matches=(1,) if tree else ()),
                    ],
                    references=(voice,), candidate=system,
                )
            )  # fmt: skip
    return pairs


def test_contents_merge_units_that_were_matched_both_ways_across_speakers() -> (
    None
):
    contents_by_text = {
        content.text: content for content in contents(two_speakers())
    }
    # the dogs of both people and both systems are one; everything else stands alone
    assert set(contents_by_text) == {
        "a dog",
        "a tree",
        "a sky",
        "a car",
        "tall tree",
    }
    dog = contents_by_text["a dog"]
    assert (set(dog.people), set(dog.systems)) == ({"one", "two"}, {"a", "b"})
    assert (dog.n_people, dog.n_systems, dog.by_people) == (2, 2, True)
    # a match in one direction is a mention, no merger
    who = {
        text: (sorted(content.people), sorted(content.systems))
        for text, content in contents_by_text.items()
    }
    assert who["a tree"] == who["tall tree"] == (["one"], ["b"])
    assert not contents_by_text["tall tree"].by_people
    assert who["a sky"] == (["two"], [])
    assert who["a car"] == ([], ["a"])
    assert contents_by_text["a car"].supported is False


def test_units_in_the_same_words_are_one_content_without_any_match() -> None:
    pairs = [
        build_pair(
            "i0",
            system,
            [Fact(reference)],
            [Fact("Blue  sky.")],
            references=(reference,),
        )
        for system, reference in (("a", "A red  kite!"), ("b", "a red kite"))
    ]
    kite, sky = contents(pairs)
    assert (len(kite.people), kite.systems) == (2, frozenset())
    assert (sky.people, sorted(sky.systems)) == (frozenset(), ["a", "b"])


def test_few_texts_rank_below_many() -> None:
    def content(people: int, n_people: int) -> Content:
        names = frozenset(map(str, range(people)))
        return Content(
            "i", "", "x", "", names, frozenset(), n_people, 4, True, None
        )

    # (1 + .5) / 2 - .5 / 5 = 0.65; (4 + .5) / 6 - .1 = 0.65; 5 of 5: 5.5 / 6 - .1
    assert content(1, 1).weight == pytest.approx(0.65)
    assert content(4, 5).weight == pytest.approx(0.65)
    assert content(5, 5).weight == pytest.approx(5.5 / 6 - 0.1)


def test_consensus_is_the_mean_number_of_speakers_per_content_of_people() -> (
    None
):
    consensus_row = row(consensus_table(two_speakers(), []), category="all")
    # dog: 2, tree: 1, sky: 1
    assert consensus_row["consensus"] == pytest.approx(4 / 3)
    assert (
        consensus_row["n"],
        consensus_row["n_images"],
        consensus_row["speakers"],
    ) == (3, 1, 2.0)
    assert consensus_row["once"] == pytest.approx(2 / 3)


def test_selectivity_counts_what_one_side_alone_mentions() -> None:
    pairs = two_speakers()
    shares = row(selectivity_table(pairs, []), category="all")
    # people mention dog, tree, tall tree, sky: no model mentions sky
    assert shares["people_alone"] == pytest.approx(1 / 4)
    # models mention dog, car, tall tree, tree: no person mentions car
    assert shares["models_alone"] == pytest.approx(1 / 4)
    image = row(image_table(pairs), image="i0")
    assert (
        image["people_contents"],
        image["model_contents"],
        image["both"],
    ) == (4, 4, 3)
    alone = {r["text"]: r for r in content_table(pairs).rows}
    assert set(alone) == {"a sky", "a car"}
    assert (
        alone["a sky"]["side"],
        alone["a sky"]["people"],
        alone["a sky"]["n_people"],
    ) == (
        "people",
        1,
        2,
    )
    assert (alone["a car"]["side"], alone["a car"]["supported"]) == (
        "models",
        False,
    )


def test_subjects_are_shares_of_texts_averaged_over_pictures() -> None:
    pairs = [
        *two_speakers(),
        build_pair("i1", "a", [Fact("x", "dog_7")], [Fact("y", "cat")]),
    ]
    table = {r["subject"]: r for r in subject_table(pairs).rows}
    # dog: all people on both pictures; models: both on the first, none on the second
    assert (table["dog"]["people"], table["dog"]["models"]) == (1.0, 0.5)
    assert table["dog"]["gap"] == 0.5
    # tree: one of two people, one of two systems, on the first of two pictures
    assert (
        table["tree"]["people"],
        table["tree"]["models"],
        table["tree"]["n"],
    ) == (0.25, 0.25, 1)


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ("dog_0", "dog"),
        ("Red Car_12", "red car"),
        ("कुत्ता_1", "कुत्ता"),
        ("4", ""),
    ],
)
def test_a_stem_is_the_identifier_without_its_number(
    subject: str, name: str
) -> None:
    assert stem(subject) == name


def unit(
    side: Side, index: int, reference: int | None = None, **detail: Any
) -> Unit:
    return Unit("statement", f"{side}{index}", side, (), 1.0, "supported", reference,
                {"index": index, "relevant": True, **detail})  # fmt: skip


def test_units_of_a_run_become_facts_with_places_over_all_references() -> None:
    model, human = facts(
        [
            unit(
                "candidate",
                0,
                against=1,
                verified=True,
                matched=[0, 0, None],
                subject="dog_0",
            ),
            unit(
                "candidate",
                1,
                against=1,
                verified=False,
                matched=[None, 1, 0],
                subject=None,
                elsewhere={"0": [0, 0, 0]},
            ),
            unit("reference", 0, 0, verified=True, matched=[None]),
            unit("reference", 0, 1, verified=True, matched=[1]),
            unit("reference", 1, 1, verified=True, matched=[0]),
        ]
    )
    assert [fact.voice for fact in human] == [0, 1, 1]
    assert model[0].matches == (
        1,
    )  # fact 0 of the second reference is the second of all
    # in its own reference each fact is named by one of three samples only; elsewhere by all
    assert model[1].matches == (0,)
    assert [fact.matches for fact in human] == [(), (1,), (0,)]
    assert (model[0].subject, model[1].subject, model[1].verified) == (
        "dog_0",
        "",
        False,
    )


def test_a_study_lists_omitted_tables_with_reasons() -> None:
    comparison = study(scored({"a": A}))
    reasons = {part.title: part.reason for part in comparison.omitted}
    assert reasons["Tests against the best system"] == "the run has one system"
    assert (
        "beholder classify" in reasons["Categories (without a random sample)"]
    )
    assert "beholder translate" in reasons["Change between languages"]
    assert "judgments" in reasons["People's ratings"]
    assert {table.name for table in comparison.tables} >= {
        "scores",
        "rates",
        "difficulty",
    }
    categorized = study(
        scored({"a": A}, category="x") + scored({"a": B}, category="y")
    )
    assert any("--random rest" in part.reason for part in categorized.omitted)
    with pytest.raises(ConfigError, match="no item"):
        study([])
    with pytest.raises(ConfigError, match="the lower first"):
        StudySettings(cuts=(0.8, 0.5))


def test_main_tables_are_of_the_random_sample_where_there_is_one() -> None:
    pairs = scored({"a": A}, category="random") + scored(
        {"a": B}, category="nature"
    )
    scores = study(pairs).table("scores")
    assert scores is not None
    assert row(scores, direction="har", value="f1")["mean"] == pytest.approx(
        0.84
    )
    assert "random sample" in scores.notes[0]


def test_csv_has_full_precision_intervals_and_no_formulas(
    tmp_path: Path,
) -> None:
    columns = (Column("name", "Name", "text"), Column("x", "X", interval=True))
    table = Table(
        "t",
        "T",
        columns,
        ({"name": "=1+1", "x": 1 / 3, "x_low": None, "x_high": 0.5},),
    )
    write_csv(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text("utf-8") == (
        "name,x,x_low,x_high\n'=1+1,0.3333333333333333,,0.5\n"
    )
