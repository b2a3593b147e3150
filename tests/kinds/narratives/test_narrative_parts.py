"""Parts of extraction and study, each worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from beholder.backends import Answer, Sample, Usage
from beholder.errors import ConfigError
from beholder.judges.answers import InMemory, Record
from beholder.kinds.narratives.compared import StepCorrelation, colour_range
from beholder.kinds.narratives.config import HybridOptions
from beholder.kinds.narratives.hybrid import choose, combine
from beholder.kinds.narratives.results import Stage, estimated_tokens, spent_on
from beholder.kinds.narratives.steps import StepRow, steps_table
from beholder.kinds.narratives.storylines import (
    Space,
    coherence,
    maxmin,
    narrative_map,
    trail,
)
from beholder.kinds.narratives.storylines.published import _likeliest_route
from beholder.kinds.narratives.storylines.space import StorylinePath, ends
from beholder.kinds.narratives.storylines.widest import (
    TopicStates,
    earliest_sources,
    topic_states,
)
from beholder.records import ItemScore


def turned(*degrees: float) -> list[list[float]]:
    """Vectors of length 1 at these angles."""
    return [
        [math.cos(math.radians(d)), math.sin(math.radians(d))] for d in degrees
    ]


def theta(degrees: float) -> float:
    return math.sqrt(1 - degrees / 180)


def test_coherence_of_three_turns_by_hand() -> None:
    # Steps of 90, 36 and 90 degrees: S = 0.5, 0.8, 0.5.
    story = coherence(turned(0, 90, 126, 36))
    assert story.steps == pytest.approx(
        (math.sqrt(0.5), math.sqrt(0.8), math.sqrt(0.5))
    )
    assert story.minimum == pytest.approx(math.sqrt(0.5))
    assert story.mean == pytest.approx(
        (2 * math.sqrt(0.5) + math.sqrt(0.8)) / 3
    )
    assert story.geometric_mean == pytest.approx((0.5 * 0.5 * 0.8) ** (1 / 6))
    assert story.weakest == 0  # the first of equals


def test_topics_lower_theta_by_their_divergence() -> None:
    # p = (1, 0), q = (1/2, 1/2): H(m) of (3/4, 1/4) = 0.8112781, less (0 + 1) / 2 = 0.3112781 bits.
    space = Space.from_embeddings(turned(0, 90), [[1, 0], [2, 2]])
    assert space.theta()[0, 1] == pytest.approx(
        math.sqrt(0.5 * (1 - 0.3112781)), abs=1e-7
    )
    root = Space.from_embeddings(
        turned(0, 90), [[1, 0], [2, 2]], jsd="distance"
    )
    expected = math.sqrt(0.5 * (1 - math.sqrt(0.3112781)))
    assert root.theta()[0, 1] == pytest.approx(expected, abs=1e-7)
    natural = Space.from_embeddings(turned(0, 90), [[1, 0], [2, 2]], base="e")
    expected = math.sqrt(0.5 * (1 - 0.3112781 * math.log(2)))
    assert natural.theta_of_pairs([0], [1])[0] == pytest.approx(
        expected, abs=1e-7
    )


def test_minmax_puts_the_least_and_most_similar_pair_at_0_and_1() -> None:
    # Pairs turn 18, 72 and 90 degrees: S = 0.9, 0.6, 0.5; stretched 1, 0.25, 0.
    space = Space.from_embeddings(turned(0, 18, 90), scale="minmax")
    assert space.range == pytest.approx((0.5, 0.9))
    assert space.theta_of_pairs([0, 1, 0], [1, 2, 2]) == pytest.approx(
        [1.0, 0.5, 0.0]
    )
    # A part of the collection keeps the scale of the whole.
    assert space.subset([1, 2]).theta_of_pairs([0], [1]) == pytest.approx(
        [0.5]
    )


@pytest.mark.parametrize(
    ("first", "last", "fits"),
    [(0, 3, True), (2, 3, True), (3, 3, False), (2, 1, False)],
)
def test_the_source_stands_before_the_target(
    first: int, last: int, fits: bool
) -> None:
    space = Space.from_embeddings(turned(0, 10, 20, 30))
    if fits:
        assert ends(space, first, last) == (first, last)
    else:
        with pytest.raises(ConfigError, match="must stand before"):
            ends(space, first, last)


@pytest.mark.parametrize(("source", "target"), [(-1, 2), (0, 4), (4, 3)])
def test_ends_outside_the_collection_are_refused(
    source: int, target: int
) -> None:
    with pytest.raises(ConfigError, match=r"outside 0\.\.3"):
        ends(Space.from_embeddings(turned(0, 10, 20, 30)), source, target)


def test_ends_that_are_left_free_are_the_whole_collection() -> None:
    assert ends(Space.from_embeddings(turned(0, 10, 20)), None, None) == (0, 2)


def test_a_single_picture_has_no_weak_link() -> None:
    assert (StorylinePath((3,), ()).weakest, StorylinePath((3,), ()).mean) == (
        1.0,
        1.0,
    )
    two = StorylinePath((0, 1, 2), (0.25, 0.75))
    assert (two.weakest, two.mean) == (0.25, 0.5)


def test_windows_limit_the_earliest_previous_picture() -> None:
    dates = np.array([0, 0, 3, 4, 10])
    free = earliest_sources(5, window=None, days=None, dates=None)
    assert free.tolist() == [0, 0, 0, 0, 0]
    assert earliest_sources(5, window=2, days=None, dates=None).tolist() == [
        0,
        0,
        0,
        1,
        2,
    ]
    assert earliest_sources(5, window=None, days=3, dates=dates).tolist() == [
        0,
        0,
        0,
        2,
        4,
    ]
    assert earliest_sources(5, window=1, days=6, dates=dates).tolist() == [
        0,
        0,
        1,
        2,
        3,
    ]
    assert earliest_sources(5, window=None, days=0, dates=dates).tolist() == [
        0,
        0,
        2,
        3,
        4,
    ]
    for window, days, day_numbers in (
        (0, None, None),
        (None, 1, None),
        (None, -1, dates),
    ):
        with pytest.raises(ConfigError):
            earliest_sources(5, window=window, days=days, dates=day_numbers)


def _walks(path: Sequence[int], automaton: TopicStates) -> bool:
    """Return whether an automaton accepts a path."""
    state = 0
    for position in path:
        state = int(automaton.moves[state, position])
    return bool(automaton.accepted[state])


def test_paths_that_visit_enough_topics() -> None:
    topics = np.array([0, 1, -1, 2])
    two = topic_states(4, topics, 2)
    assert _walks([0, 3], two)
    assert not _walks([2, 3], two)
    assert _walks([1, 2, 3], two)
    three = topic_states(4, topics, 3)
    assert _walks([0, 1, 3], three)
    assert not _walks([0, 2, 3], three)
    for cover, labels in ((4, topics), (1, None)):
        with pytest.raises(ConfigError, match="cover="):
            topic_states(4, labels, cover)


def test_ten_topics_are_followed_and_eleven_are_too_many() -> None:
    assert len(topic_states(10, np.arange(10), 1).moves) == 2**10
    with pytest.raises(ConfigError, match="too many"):
        topic_states(11, np.arange(11), 1)


def test_an_ordered_trail_of_equal_width_takes_the_strongest_of_the_shortest() -> (
    None
):
    # From 0 to 90 degrees in one stop: over 45 both steps are 45; over 50 the weaker is 50.
    space = Space.from_embeddings(turned(0, 50, 45, 90))
    storyline = trail(space, source=0, target=3)
    assert storyline.weakest == pytest.approx(theta(45))
    assert storyline.positions == (0, 2, 3)


def test_a_trail_never_steps_back() -> None:
    space = Space.from_embeddings(turned(60, 0, 30, 90))
    assert trail(space, source=1, target=3).positions == (1, 2, 3)
    with pytest.raises(ConfigError, match="position 4"):
        trail(space, source=0, target=4)


def test_maxmin_of_all_pictures_is_their_order() -> None:
    space = Space.from_embeddings(turned(0, 40, 10, 80))
    assert maxmin(space, 4).positions == (0, 1, 2, 3)
    assert maxmin(space, 2, source=1).positions[0] == 1
    for k in (1, 5):
        with pytest.raises(ConfigError, match=f"k={k}"):
            maxmin(space, k)


def test_the_likeliest_route_is_the_product_of_shares_and_activities() -> None:
    # 0 -> 1 (0.6) -> 3 and 0 -> 2 (0.4) -> 3: 0.6 * 0.6 against 0.4 * 0.4.
    tail, head = np.array([0, 0, 1, 2]), np.array([1, 2, 3, 3])
    assert _likeliest_route(
        4, 3, tail, head, np.array([0.6, 0.4, 0.6, 0.4])
    ) == [0, 1, 3]
    assert _likeliest_route(
        4, 3, tail, head, np.array([0.4, 0.6, 0.4, 0.6])
    ) == [0, 2, 3]
    # A flow under 0.1 / k is dropped, also where nothing else leads on.
    with pytest.raises(ConfigError, match="no route"):
        _likeliest_route(
            3, 2, np.array([0, 1]), np.array([1, 2]), np.array([0.04, 0.04])
        )


def test_a_map_of_two_pictures_is_the_direct_step() -> None:
    storyline = narrative_map(
        Space.from_embeddings(turned(0, 45, 90)), 2, source=0, target=2
    )
    assert storyline.positions == (0, 2)
    assert storyline.steps == pytest.approx((theta(90),))
    for k in (1, 4):
        with pytest.raises(ConfigError, match=f"k={k}"):
            narrative_map(
                Space.from_embeddings(turned(0, 45, 90)), k, source=0, target=2
            )


def _answer(seconds: float, prompt: int, completion: int) -> Answer:
    usage = Usage(prompt=prompt, completion=completion)
    return Answer((Sample("x", "stop"),), "m", usage=usage, seconds=seconds)


def _record(request: str, answer: Answer) -> Record:
    return Record(request, "op", "op.v1@0", "scripted", "m", 0, answer, None)


def test_a_stage_counts_each_answer_once() -> None:
    store = InMemory()
    first, second = (
        _record("a", _answer(1.5, 100, 10)),
        _record("b", _answer(0.5, 50, 5)),
    )
    store.put_answer(first)
    store.put_answer(second)
    outcomes = [
        ItemScore(
            {"v": 1.0},
            signature="m",
            detail={"answers": [first.key, second.key]},
        ),
        ItemScore(
            {"v": 1.0},
            signature="m",
            detail={"answers": [second.key, "not kept"]},
        ),
        ItemScore({"v": 1.0}, signature="m"),
    ]
    assert spent_on(outcomes, store) == Stage(2, 2.0, 150, 15)
    assert spent_on(outcomes, store).tokens == 165
    assert spent_on(outcomes[1:], store) == Stage(1, 0.5, 50, 5)
    assert spent_on([], store) == Stage()


def test_tokens_by_the_rules_of_thumb() -> None:
    # 150 words are 200 tokens; a picture 1500, instructions 200 or 400.
    rates = estimated_tokens(6, words=150)
    assert rates.caption == pytest.approx(1500 + 200 + 200)
    assert rates.by_captions == pytest.approx(400 + 6 * 200)
    assert rates.by_sight == pytest.approx(400 + 6 * 1500)
    # 10 captions and 3 judges on each: 19000 + n * 3 * 1600 = n * 3 * 9400 at n = 19000 / 23400
    assert rates.cost_for(10, 1, 3).break_even == pytest.approx(19000 / 23400)


def test_steps_of_each_source() -> None:
    rows: list[StepRow] = [
        ("a", [2.0, 4.0], [0.5, 0.6]),
        ("a", [6.0, None], None),
        ("b", [None], [0.5]),
        ("a", [8.0, 8.0], [0.2, 0.1]),
    ]
    step_tables = steps_table(rows)
    first, second = step_tables.sources
    assert (first.n, first.n_steps, first.n_failed) == (3, 5, 1)
    assert first.mean == pytest.approx((3 + 6 + 8) / 3)
    assert first.sd == pytest.approx(
        math.sqrt(((8 / 3) ** 2 + (1 / 3) ** 2 + (7 / 3) ** 2) / 2)
    )
    assert (second.mean, second.sd, second.n_failed) == (None, None, 1)
    # Two narratives are rated and measured: the first has its lowest at theta's lowest, the other
    # rates both alike, so that chance is 1/2 and 1.
    assert (
        step_tables.n_compared,
        step_tables.same_weakest,
        step_tables.by_chance,
    ) == (
        2,
        1.0,
        0.75,
    )
    assert step_tables.correlation == StepCorrelation(
        4, None, None
    )  # of two narratives


def test_shares_of_narratives_are_rounded_up_and_kept_in_order() -> None:
    captions = [[1, 9], [5, 5], [2, 8], [4, 6]]
    assert choose(captions, 0.25, "uncertain") == [0]
    assert choose(captions, 0.26, "uncertain") == [0, 2]
    assert choose(captions, 1.0, "top") == [0, 1, 2, 3]
    for share in (-0.1, 1.1):
        with pytest.raises(ConfigError, match="share="):
            HybridOptions(share=share)


@pytest.mark.parametrize("weight", [-0.1, 1.1])
def test_a_weight_is_a_share(weight: float) -> None:
    with pytest.raises(ConfigError, match="weight="):
        HybridOptions(weight=weight)


def test_hybrid_weighs_sight_and_captions_on_its_scale() -> None:
    # sight = 2 * captions on the means; narrative 0 by each judge: 1/4 * sight + 3/4 * 2 * caption
    hybrid = combine(
        [[1, 3], [4, 4], [6, 6]], [[3, 5], [8, 8], [12, 12]], weight=0.25
    )
    assert (hybrid.slope, hybrid.intercept) == pytest.approx((2.0, 0.0))
    assert hybrid.ratings[0] == pytest.approx((0.75 + 1.5, 1.25 + 4.5))
    # Without noise there is nothing that captions could add.
    assert combine([[1], [2], [3]], [[2], [4], [6]]).weight == 1.0


@pytest.mark.parametrize(
    ("thetas", "low", "high"),
    [
        ([0.869, 0.879], 0.824, 0.924),
        ([0.2, 0.7, 0.4], 0.2, 0.7),
        ([0.5], 0.45, 0.55),
        ([], 0, 1),
    ],
)
def test_nearly_equal_thetas_have_the_colours_of_the_middle(
    thetas: list[float], low: float, high: float
) -> None:
    assert colour_range(thetas) == pytest.approx((low, high))
