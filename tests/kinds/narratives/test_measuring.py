"""Coherence and distance of storylines as a run measures them, against values worked out by hand.

Theta of unit vectors is ``sqrt(1 - angle / pi)`` without topics: 1 for equal ones, sqrt(1/2) for
orthogonal ones, sqrt(3/4) at 45 degrees, 0 for opposite ones.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beholder.asking.asker import Outcome, attempt
from beholder.embed.images import image_embedder
from beholder.errors import ConfigError, ItemError
from beholder.kinds.narratives.measuring import (
    MeasureCoherence,
)
from beholder.metrics import Tools
from beholder.records import Frame, ItemFailure, ItemScore, Storyline

VECTORS = {
    "east": (1.0, 0.0),
    "northeast": (1.0, 1.0),
    "north": (0.0, 1.0),
    "west": (-1.0, 0.0),
}


def _storyline(name: str, *frames: str, source: str = "maps") -> Storyline:
    return Storyline(name, tuple(Frame(frame) for frame in frames), source)


PEOPLE = (
    _storyline("walk", "east", "north", source="human"),
    _storyline("turn", "east", "northeast", "north", source="human"),
)


@pytest.fixture
def asker(tmp_path: Path) -> MeasureCoherence:
    """Knows four vectors and two human storylines."""
    path = tmp_path / "v.npz"
    np.savez(
        path,
        ids=np.array(list(VECTORS)),
        embeddings=np.array(list(VECTORS.values())),
    )
    measure = MeasureCoherence(
        embedder=f"npz:{path}", collection="abc"
    ).prepare(PEOPLE)
    frames = [Frame(name) for name in (*VECTORS, "lost")]
    pictures = measure.embed(
        image_embedder(measure.embedder), frames, tmp_path
    )
    return replace(measure, pictures=pictures)


def _measure(asker: MeasureCoherence, storyline: Storyline) -> Outcome:
    return asyncio.run(attempt(asker, storyline, Tools()))


def test_steps_their_minimum_and_means(asker: MeasureCoherence) -> None:
    outcome = _measure(asker, _storyline("s", "east", "northeast", "west"))
    assert isinstance(outcome, ItemScore)
    first, second = math.sqrt(3 / 4), math.sqrt(1 / 4)  # 45 and 135 degrees
    assert outcome.values["minimum"] == pytest.approx(second)
    assert outcome.values["mean"] == pytest.approx((first + second) / 2)
    assert outcome.values["geometric_mean"] == pytest.approx(
        math.sqrt(first * second)
    )
    assert outcome.detail["steps"] == pytest.approx((first, second))
    assert outcome.detail["weakest"] == 1
    assert (
        outcome.detail["theta"]
        == "theta|jsd:divergence|base:2|scale:raw|topics:none"
    )


def test_the_nearest_human_storyline_is_found_and_human_ones_have_none(
    asker: MeasureCoherence,
) -> None:
    # east, north, north against "walk": the last north repeats, so 0 along a path of 3 cells;
    # against "turn" the second step costs at least the way from northeast to a neighbour
    outcome = _measure(asker, _storyline("s", "east", "north", "north"))
    nearest = outcome.detail["nearest"]
    assert nearest["storyline"] == "walk"
    assert nearest["cost"] == nearest["normalised"] == 0.0
    assert nearest["path"] == ((0, 0), (1, 1), (2, 1))
    assert isinstance(outcome, ItemScore)
    assert outcome.values["distance"] == 0.0
    # west stands 2 from east and sqrt(2) from north: (2 + sqrt(2)) / 2 cells
    distance = _measure(asker, _storyline("s", "west", "west")).detail[
        "nearest"
    ]
    assert distance["storyline"] == "walk"
    assert distance["normalised"] == pytest.approx((2 + math.sqrt(2)) / 2)
    human = _measure(asker, PEOPLE[0])
    assert isinstance(human, ItemScore)
    assert "distance" not in human.values
    assert "nearest" not in human.detail


def test_without_human_storylines_there_is_no_distance(
    asker: MeasureCoherence,
) -> None:
    outcome = _measure(
        replace(asker, people=()), _storyline("s", "east", "north")
    )
    assert isinstance(outcome, ItemScore)
    assert set(outcome.values) == {"minimum", "mean", "geometric_mean"}


def test_a_picture_without_a_vector_fails_its_storyline_alone(
    asker: MeasureCoherence,
) -> None:
    outcome = _measure(asker, _storyline("s", "east", "lost"))
    assert isinstance(outcome, ItemFailure)
    assert outcome.message == "frame 'lost' has no vector"
    assert "nearest" not in outcome.detail
    broken = (*PEOPLE, _storyline("gone", "lost", source="human"))
    outcome = _measure(
        replace(asker, people=broken), _storyline("s", "east", "north")
    )
    assert outcome.detail["nearest"]["storyline"] == "walk"


def test_one_picture_has_no_step_but_a_distance(
    asker: MeasureCoherence,
) -> None:
    single = _storyline("s", "east")
    with pytest.raises(
        ItemError, match="a sequence of one picture has no step"
    ):
        asker.check(single)
    outcome = _measure(asker, single)
    assert isinstance(outcome, ItemFailure)
    # east to east, then to north
    assert outcome.detail["nearest"]["cost"] == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize(
    ("options", "people", "collection", "differs"),
    [
        ({}, PEOPLE, "abc", False),
        (
            {},
            PEOPLE,
            "other",
            False,
        ),  # raw theta hangs on the two pictures alone
        ({}, PEOPLE[:1], "abc", True),
        ({"scale": "minmax"}, PEOPLE, "abc", True),
        ({"human": "people"}, PEOPLE, "abc", True),
    ],
)
def test_the_signature_changes_with_everything_that_numbers_depend_on(
    asker: MeasureCoherence,
    options: dict[str, Any],
    people: tuple[Storyline, ...],
    collection: str,
    differs: bool,
) -> None:
    changed = MeasureCoherence(
        embedder=asker.embedder, collection=collection, **options
    )
    signatures = [
        each.signature(each.identities(Tools()))
        for each in (asker, changed.prepare(people))
    ]
    assert (signatures[0] != signatures[1]) is differs
    assert "embedder:npz:v.npz@" in signatures[0]


def test_under_minmax_the_collection_is_part_of_the_signature(
    asker: MeasureCoherence,
) -> None:
    signatures = {
        MeasureCoherence(
            embedder=asker.embedder, scale="minmax", collection=digest
        )
        .prepare(PEOPLE)
        .signature()
        for digest in ("abc", "other")
    }
    assert len(signatures) == 2


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(
        ConfigError, match="scale='big': expected one of 'raw', 'minmax'"
    ):
        MeasureCoherence(embedder="handcrafted", scale="big")  # type: ignore[arg-type]
