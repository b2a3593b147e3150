"""Extraction against brute force over all paths, and against published claims."""

from __future__ import annotations

import json
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.base.dates import PartialDate
from beholder.errors import ConfigError
from beholder.kinds.narratives.config import Extraction
from beholder.kinds.narratives.storylines import (
    Space,
    maxmin,
    narrative_map,
    random_storyline,
    trail,
)
from beholder.kinds.narratives.storylines import extract as module
from beholder.kinds.narratives.storylines.extract import ExtractionTask
from beholder.records import Frame
from toy.cases import each_case


def _space(n: int, seed: int = 0, **options: Any) -> Space:
    return Space.from_embeddings(
        np.random.default_rng(seed).normal(size=(n, 4)), **options
    )


def _paths(n: int, k: int) -> list[tuple[int, ...]]:
    return [
        (0, *inner, n - 1) for inner in combinations(range(1, n - 1), k - 2)
    ]


def _value(theta: Any, path: tuple[int, ...]) -> tuple[float, float]:
    steps = [float(theta[i, j]) for i, j in pairwise(path)]
    return min(steps), sum(steps) / len(steps)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 6))
def test_maxmin_is_the_best_of_all_paths_by_weakest_link_then_mean(
    seed: int, k: int
) -> None:
    space = _space(9, seed)
    theta = space.theta()
    weakest, mean = max(_value(theta, path) for path in _paths(9, k))
    storyline = maxmin(space, k, source=0, target=8)
    assert storyline.weakest == pytest.approx(weakest, abs=1e-12)
    assert storyline.mean == pytest.approx(mean, abs=1e-9)
    assert list(storyline.positions) == sorted(set(storyline.positions))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), cover=st.integers(1, 3))
def test_topic_coverage_is_exact(seed: int, cover: int) -> None:
    space, topics = _space(9, seed), np.array([0, 1, 1, -1, 2, 0, 2, 1, 0])
    theta = space.theta()
    allowed = [
        p for p in _paths(9, 4) if len({topics[i] for i in p} - {-1}) >= cover
    ]
    storyline = maxmin(
        space, 4, source=0, target=8, topics=topics, cover=cover
    )
    assert len({int(topics[i]) for i in storyline.positions} - {-1}) >= cover
    assert (storyline.weakest, storyline.mean) == pytest.approx(
        max(_value(theta, p) for p in allowed)
    )


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_free_ends_and_windows_are_exact(seed: int) -> None:
    space = _space(8, seed)
    theta = space.theta()
    allowed = [p for p in combinations(range(8), 4) if max(np.diff(p)) <= 3]
    storyline = maxmin(space, 4, window=3)
    assert (storyline.weakest, storyline.mean) == pytest.approx(
        max(_value(theta, p) for p in allowed)
    )


def test_a_window_in_days_keeps_steps_short() -> None:
    dates = [0, 0, 10, 10, 11, 30]
    storyline = maxmin(_space(6, 2), 3, days=10, dates=dates)
    gaps = np.diff([dates[i] for i in storyline.positions])
    assert gaps.max() <= 10


def test_equal_input_gives_an_equal_path() -> None:
    space = Space.from_embeddings(np.ones((30, 3)))
    assert maxmin(space, 5) == maxmin(space, 5)


def test_single_and_double_precision_find_the_same_path() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3200, 8))
    wide = Space.from_embeddings(vectors[:2900])
    single = Space(
        vectors=wide.vectors.astype(np.float32), distributions=None, jsd="divergence", base=2.0,
        scale="raw", limits=None,
    )  # fmt: skip
    a = maxmin(wide, 6, source=0, target=2899)
    b = maxmin(single, 6, source=0, target=2899)
    assert a.weakest == pytest.approx(b.weakest, abs=1e-5)


@each_case(
    ("arguments", "message"),
    [
        ({"k": 1}, "k=1: between the ends there are 2 to 6"),
        ({"k": 5, "source": 4}, "k=5: between the ends there are 2 to 2"),
        ({"k": 3, "source": 4, "target": 2}, "must stand before the target"),
        ({"k": 3, "source": 9}, "outside 0..5"),
        ({"k": 2, "source": 0, "target": 5, "window": 2}, "widen the window"),
        ({"k": 3, "window": 0}, "window=0"),
        ({"k": 3, "days": 3}, "needs dated pictures"),
        ({"k": 3, "cover": 1}, "needs a topic for each picture"),
        (
            {"k": 3, "cover": 3, "topics": [0, 1, 0, 1, 0, 1]},
            "the collection has 2 topics",
        ),
        (
            {"k": 2, "cover": 3, "topics": [0, 1, 2, 1, 0, 1]},
            "no path of 2 pictures",
        ),
        ({"k": 3, "cover": 1, "topics": range(5, 17)}, "too many to follow"),
    ],
)
def test_impossible_extractions_are_refused_with_a_reason(
    arguments: Any, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        maxmin(
            _space(6) if len(arguments.get("topics", ())) < 7 else _space(12),
            **arguments,
        )


def test_random_storylines_are_chronological_between_the_ends_and_uniform() -> (
    None
):
    space, rng = _space(8), np.random.default_rng(0)
    counts = np.zeros(8)
    for _ in range(600):
        positions = random_storyline(
            space, 4, source=1, target=6, rng=rng
        ).positions
        assert positions[0] == 1
        assert positions[-1] == 6
        assert list(positions) == sorted(set(positions))
        counts[list(positions)] += 1
    assert counts[[0, 7]].sum() == 0
    assert (
        abs(counts[2:6] - 300) < 60
    ).all()  # 2 of 4 each time; 60 is 5 standard deviations
    with pytest.raises(ConfigError, match="there are 2 to 6"):
        random_storyline(space, 7, source=1, target=6, rng=rng)


def test_trails_go_forward_where_a_path_on_the_tree_would_step_back() -> None:
    # 0 -> 2 -> 1 -> 3 climbs the circle; in order of time 0, 1, 2, 3 does not
    angles = np.radians([0, 60, 30, 90])
    space = Space.from_embeddings(np.c_[np.cos(angles), np.sin(angles)])
    assert trail(space, source=0, target=3).positions in ((0, 1, 3), (0, 2, 3))
    with pytest.raises(ConfigError, match="must stand before"):
        trail(space, source=3, target=0)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_an_ordered_trail_is_the_widest_and_then_the_shortest(
    seed: int,
) -> None:
    space = _space(8, seed)
    theta = space.theta()
    widest = max(
        _value(theta, path)[0] for k in range(2, 9) for path in _paths(8, k)
    )
    fewest = next(
        k
        for k in range(2, 9)
        if any(_value(theta, p)[0] == widest for p in _paths(8, k))
    )
    storyline = trail(space, source=0, target=7)
    assert storyline.weakest == pytest.approx(widest, abs=1e-12)
    assert len(storyline.positions) == fewest


def test_trails_in_blocks_find_what_one_block_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import beholder.kinds.narratives.storylines.published as module

    space = _space(700, 4)
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 1000)
    one_block = trail(space, source=0, target=699)
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 64)
    assert trail(space, source=0, target=699) == one_block


def test_more_steps_than_fit_into_memory_ask_for_a_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import beholder.kinds.narratives.storylines.widest as module

    space = _space(300, 4)
    one_block = maxmin(space, 7, source=0, target=299, window=90)
    # Tiles of 128 targets: 128 * 128 steps, then 128 * (127 + 90) and 43 * (42 + 90).
    monkeypatch.setattr(module, "MAX_CELLS", 49_836)
    assert maxmin(space, 7, source=0, target=299, window=90) == one_block
    monkeypatch.setattr(module, "MAX_CELLS", 49_835)
    with pytest.raises(ConfigError, match="49,836 steps, more than 49,835"):
        maxmin(space, 7, source=0, target=299, window=90)


def test_the_published_program_reaches_its_bound_and_warns() -> None:
    space = _space(60, 3)
    storyline = narrative_map(space, 8, source=0, target=59)
    assert storyline.positions[0] == 0
    assert storyline.positions[-1] == 59
    assert list(storyline.positions) == sorted(set(storyline.positions))
    assert "reached its bound (minedge = 1.000000)" in storyline.warnings[0]
    assert (
        maxmin(space, len(storyline.positions), source=0, target=59).weakest
        >= storyline.weakest
    )


def test_a_map_without_room_to_split_is_not_at_its_bound() -> None:
    # three pictures, K = 3: all flow takes 0 -> 1 -> 2, so minedge = min(1, 1 - 1 + c) = 0.5
    space = Space.from_embeddings([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    storyline = narrative_map(space, 3, source=0, target=2)
    assert storyline.positions == (0, 1, 2)
    assert storyline.warnings == ()


def test_a_map_of_too_many_steps_asks_for_a_window() -> None:
    with pytest.raises(ConfigError, match="7998000 steps"):
        narrative_map(_space(4000), 5, source=0, target=3999)
    small = narrative_map(_space(400), 150, source=0, target=399, window=4)
    assert max(np.diff(small.positions)) <= 4


def test_a_map_with_a_k_that_no_flow_has_is_refused() -> None:
    with pytest.raises(ConfigError, match="no solution for k=2"):
        narrative_map(_space(5), 2, source=0, target=4, window=1)


@pytest.fixture
def roger(
    shared_data: Path,
) -> tuple[Space, dict[str, int], dict[str, list[str]]]:
    folder = shared_data / "roger"
    archive = np.load(folder / "embeddings_detr.npz")
    places = {
        str(frame_id): place for place, frame_id in enumerate(archive["ids"])
    }
    truth = json.loads((folder / "ground_truth.json").read_text("utf-8"))
    space = Space.from_embeddings(archive["embeddings"], scale="minmax")
    return space, places, truth["baseline_storylines"]


@pytest.mark.slow  # many replications
@pytest.mark.parametrize("name", ["10", "30a"])
def test_on_real_photographs_the_weakest_link_beats_program_and_chance(
    roger: tuple[Space, dict[str, int], dict[str, list[str]]], name: str
) -> None:
    """0.834 and 0.53 to 0.58 were measured by others on these vectors, on the min-max scale."""
    space, places, storylines = roger
    story = storylines[name]
    source, target = places[story[0]], places[story[-1]]
    best = maxmin(space, len(story), source=source, target=target)
    assert best.weakest >= 0.834
    rng = np.random.default_rng(0)
    chance = [
        random_storyline(
            space, len(story), source=source, target=target, rng=rng
        ).weakest
        for _ in range(20)
    ]
    assert np.mean(chance) < 0.62
    program = narrative_map(space, len(story), source=source, target=target)
    assert program.weakest < best.weakest - 0.1
    assert program.warnings


@pytest.mark.parametrize(
    ("method", "years", "n_solved"),
    [
        ("maps", None, 2),
        ("maxmin", None, 2),
        ("maps", "open", 10),
        ("random", None, 10),
    ],
)
def test_replications_that_cannot_differ_are_solved_once(
    monkeypatch: pytest.MonkeyPatch,
    method: Any,
    years: str | None,
    n_solved: int,
) -> None:
    frames = [
        Frame(
            str(i), date=None if years is None else PartialDate(1900 + i // 6)
        )
        for i in range(12)
    ]
    tasks = [ExtractionTask(str(k), k, "0", "11") for k in (3, 4)]
    calls = []
    solve = module._path

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return solve(*arguments)

    monkeypatch.setattr(module, "_path", counted)
    vectors = np.random.default_rng(0).normal(size=(12, 4))
    extracted = list(
        module.extract(
            frames, vectors, tasks, Extraction(method, replications=5)
        )
    )
    # Two tasks of five replications; open dates draw another order for each.
    assert len(extracted) == 10
    assert len(calls) == n_solved
    assert [each.storyline.group["replication"] for each in extracted] == list(
        "12345"
    ) * 2
