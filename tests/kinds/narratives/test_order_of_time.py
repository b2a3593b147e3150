"""The order of time: no path of any method steps back, ends are honoured, refusals say why."""

from __future__ import annotations

import datetime as dt
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from PIL import Image

from beholder.base.dates import PartialDate
from beholder.data import read_frames
from beholder.errors import ConfigError
from beholder.kinds.narratives.config import (
    CollectionOptions,
    Extraction,
    ExtractionMethod,
    StorylineEnds,
)
from beholder.kinds.narratives.inputs import extract_storylines
from beholder.kinds.narratives.storylines.extract import (
    ExtractionTask,
    chronology,
    extract,
    steps_back,
)
from beholder.options import DataOptions
from beholder.records import Frame
from toy.cases import each_case

METHODS: tuple[ExtractionMethod, ...] = get_args(ExtractionMethod)
N = 14

_DATES = st.one_of(
    st.builds(PartialDate, st.integers(1927, 1929)),
    st.builds(PartialDate, st.integers(1927, 1929), st.integers(1, 12)),
    st.builds(
        PartialDate,
        st.integers(1927, 1929),
        st.integers(1, 12),
        st.integers(1, 28),
    ),
)


def _vectors(n: int = N) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(n, 4))


def _undated(n: int = N) -> list[Frame]:
    return [Frame(f"p{i:02d}") for i in range(n)]


def _paths(
    frames: list[Frame], task: ExtractionTask, **how: object
) -> list[list[Frame]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        extracted = extract(
            frames,
            _vectors(len(frames)),
            [task],
            Extraction(**how),  # type: ignore[arg-type]
        )
        return [list(each.storyline.frames) for each in extracted]


def _ever_back(path: list[Frame]) -> bool:
    """Return whether any later picture, not only the next, is all before an earlier one."""
    dates = [frame.date for frame in path if frame.date is not None]
    return any(
        b.last < a.first for i, a in enumerate(dates) for b in dates[i + 1 :]
    )


@pytest.mark.parametrize("method", METHODS)
def test_without_dates_every_replication_keeps_the_order_of_the_file(
    method: ExtractionMethod,
) -> None:
    frames = _undated()
    task = ExtractionTask("t", 5, "p02", "p11")
    paths = _paths(frames, task, method=method, replications=6)
    assert len(paths) == 6
    for path in paths:
        ids = [frame.id for frame in path]
        assert ids == sorted(set(ids))  # the ids are in the order of the file
        assert (ids[0], ids[-1]) == ("p02", "p11")


@settings(max_examples=60, deadline=None)
@given(
    dates=st.lists(_DATES, min_size=N, max_size=N),
    ends=st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)),
    method=st.sampled_from(METHODS),
)
def test_no_picture_of_any_path_is_before_one_that_it_follows(
    dates: list[PartialDate], ends: tuple[int, int], method: ExtractionMethod
) -> None:
    frames = [Frame(f"p{i:02d}", date=date) for i, date in enumerate(dates)]
    first, last = (frames[end] for end in ends)
    assert first.date is not None
    assert last.date is not None
    task = ExtractionTask("t", 3, first.id, last.id)
    paths, refused = [], ""
    try:
        paths = _paths(frames, task, method=method, replications=4)
    except ConfigError as error:
        refused = str(error)
    assume("there are 2 pictures" not in refused)
    if refused:  # the target is before the source, or the file decides and turns them round
        assert "order of time" in refused or "is source and target" in refused
        together = max(d.first for d in dates) <= min(d.last for d in dates)
        decided = together or (
            first.date == last.date and first.date.precision == "day"
        )
        assert last.date.before(first.date) or ends[0] == ends[1] or decided
    for path in paths:
        assert (path[0], path[-1]) == (first, last)
        assert not _ever_back(path)
        assert steps_back(path) == []


def test_a_step_is_back_only_where_all_days_are_before() -> None:
    year, march, april = (
        PartialDate(1928),
        PartialDate(1928, 3),
        PartialDate(1928, 4),
    )
    path = [
        Frame("a", date=april),
        Frame("b", date=year),
        Frame("c", date=march),
        Frame("d"),
    ]
    assert steps_back(path) == []
    assert steps_back([path[0], path[2], path[1], path[0], path[2]]) == [0, 3]
    assert not year.before(march)
    assert not march.before(year)
    assert march.before(april)


def test_a_year_stands_in_its_middle_and_anywhere_in_it_with_a_seed() -> None:
    year, months = (
        PartialDate(1928),
        [PartialDate(1928, month) for month in range(1, 13)],
    )
    frames = [
        Frame(str(i), date=date) for i, date in enumerate([year, *months])
    ]
    middle = chronology(frames, _vectors(13))
    assert list(middle.order) == [1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 11, 12]
    assert middle.days is not None
    assert (
        middle.days[6] == dt.date(1928, 7, 1).toordinal()
    )  # 366 days: July 1 to 2
    ranks = [
        int(np.argmin(chronology(frames, _vectors(13), seed=s).order))
        for s in range(40)
    ]
    assert (
        min(ranks) <= 2
    )  # before March, and after October, as often as a year has such days
    assert max(ranks) >= 10
    for seed in range(5):
        order = [
            i for i in chronology(frames, _vectors(13), seed=seed).order if i
        ]
        assert order == list(range(1, 13))


def test_ends_take_the_days_that_leave_most_pictures_between_them() -> None:
    # b can be in March, after a; d can be before the end of June; only e is later for certain
    dates = [
        PartialDate(1928, 3), PartialDate(1928, 3), PartialDate(1928, 6),
        PartialDate(1928), PartialDate(1928, 7),
    ]  # fmt: skip
    frames = [
        Frame(name, date=date)
        for name, date in zip("bacde", dates, strict=True)
    ]
    (path,) = _paths(frames, ExtractionTask("t", 4, "a", "c"))
    assert {frame.id for frame in path} == set("abcd")
    (turned,) = _paths(frames, ExtractionTask("t", 4, "b", "c"))
    assert next(frame.id for frame in turned) == "b"
    with pytest.raises(ConfigError, match="from a to c there are 4 pictures"):
        _paths(frames, ExtractionTask("t", 5, "a", "c"))


def test_an_end_takes_its_first_or_last_day_in_every_replication() -> None:
    dates = [
        PartialDate(1928, 11),
        PartialDate(1928),
        PartialDate(1928, 11),
        PartialDate(1929),
    ]
    frames = [
        Frame(name, date=date)
        for name, date in zip("sxyt", dates, strict=True)
    ]
    for path in _paths(
        frames, ExtractionTask("t", 4, "s", "t"), replications=12
    ):
        assert {frame.id for frame in path} == set(
            "sxyt"
        )  # x in November, y after s, both fit
    dates = [
        PartialDate(1928, 3),
        PartialDate(1928, 6),
        PartialDate(1928, 6, 30),
    ]
    frames = [
        Frame(name, date=date) for name, date in zip("stx", dates, strict=True)
    ]
    for path in _paths(
        frames, ExtractionTask("t", 3, "s", "t"), replications=3
    ):
        assert [frame.id for frame in path] == [
            "s",
            "x",
            "t",
        ]  # t can be the later of one day


@settings(max_examples=60, deadline=None)
@given(
    dates=st.lists(_DATES, min_size=N, max_size=N),
    ends=st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)),
    seed=st.integers(0, 99),
)
def test_a_whole_order_contains_the_known_one_outside_of_the_ends_too(
    dates: list[PartialDate], ends: tuple[int, int], seed: int
) -> None:
    first, last = ends
    assume(dates[first].first < dates[last].last and first != last)
    frames = [Frame(f"p{i:02d}", date=date) for i, date in enumerate(dates)]
    assume(max(d.first for d in dates) > min(d.last for d in dates))
    order = chronology(frames, _vectors(), seed=seed, first=first, last=last)
    assert sorted(order.order) == list(range(N))
    assert not _ever_back([frames[at] for at in order.order])
    assert order.days is not None
    assert list(order.days) == sorted(order.days)


def test_pictures_of_one_known_day_keep_the_order_of_the_file_in_every_replication() -> (
    None
):
    day, later = PartialDate(1928, 3, 7), PartialDate(1928, 3, 8)
    frames = [Frame(f"p{i}", date=day if i < 6 else later) for i in range(9)]
    for seed in (None, 0, 1, 2):
        assert list(chronology(frames, _vectors(9), seed=seed).order) == list(
            range(9)
        )
    (path,) = _paths(frames, ExtractionTask("t", 4, "p2", "p5"))
    assert [frame.id for frame in path] == ["p2", "p3", "p4", "p5"]
    with pytest.raises(
        ConfigError,
        match=r"'p5' \(1928-03-07\) comes after the target 'p2' \(",
    ):
        _paths(frames, ExtractionTask("t", 3, "p5", "p2"))


def test_dates_that_distinguish_no_pictures_leave_the_order_to_the_file() -> (
    None
):
    frames = [
        Frame(str(i), date=PartialDate(1928, 3 if i == 4 else None))
        for i in range(6)
    ]
    for seed in (None, 1, 2):
        order = chronology(frames, _vectors(6), seed=seed)
        assert list(order.order) == list(range(6))
    assert "no date is before another" in order.note
    assert order.days is not None
    assert set(order.days) == {dt.date(1928, 3, 1).toordinal()}


def test_mixed_precision_of_dates_is_noted() -> None:
    dates = [
        PartialDate(1928),
        PartialDate(1928, 3),
        PartialDate(1929, 3),
        PartialDate(1930, 1, 1),
    ]
    note = chronology(
        [Frame(str(i), date=d) for i, d in enumerate(dates)], _vectors(4)
    ).note
    assert "(1 by year, 2 by month, 1 by day)" in note
    same = [Frame(str(i), date=d) for i, d in enumerate(dates[1:3])]
    assert "precision" not in chronology(same, _vectors(2)).note


@each_case(
    ("source", "target", "k", "message"),
    [
        ("p02", "p11", 12, "k=12: from p02 to p11 there are 10 pictures"),
        (
            "p11",
            "p02",
            3,
            r"'p11' comes after the target 'p02' .*no picture has a date",
        ),
        ("p02", "p02", 3, "'p02' is source and target"),
        (None, "p02", 4, "from the first picture to p02 there are 3"),
        ("p12", None, 3, "from p12 to the last one there are 2"),
        ("p99", "p11", 3, "'p99' is not a usable picture"),
    ],
)
def test_an_impossible_extraction_is_refused_with_a_reason(
    source: str | None, target: str | None, k: int, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        _paths(
            _undated(), ExtractionTask("t", k, source, target), method="maxmin"
        )


def test_a_target_known_by_its_year_alone_can_follow_a_month_of_that_year() -> (
    None
):
    dates = [
        PartialDate(1928),
        PartialDate(1928, 5),
        PartialDate(1928, 3),
        PartialDate(1929),
    ]
    frames = [
        Frame(name, date=date)
        for name, date in zip("tbsz", dates, strict=True)
    ]
    for path in _paths(
        frames, ExtractionTask("t", 3, "s", "t"), replications=5
    ):
        assert [frame.id for frame in path] == ["s", "b", "t"]
    with pytest.raises(
        ConfigError,
        match=r"'z' \(1929\) comes after the target 's' \(1928-03\)",
    ):
        _paths(frames, ExtractionTask("t", 2, "z", "s"))


@pytest.fixture
def roger(
    shared_data: Path,
) -> tuple[list[Frame], np.ndarray, list[ExtractionTask]]:
    """The photographs as they are shipped, undated, and tasks like people's storylines."""
    folder = shared_data / "roger"
    archive = np.load(folder / "embeddings_detr.npz")
    rows = read_frames(folder / "index.csv", media_root=folder)
    frames = [frame for frame in rows if isinstance(frame, Frame)]
    assert [frame.id for frame in frames] == [
        str(name) for name in archive["ids"]
    ]
    people = json.loads((folder / "ground_truth.json").read_text("utf-8"))[
        "baseline_storylines"
    ]
    tasks = [
        ExtractionTask(name, len(ids), ids[0], ids[-1])
        for name, ids in people.items()
    ]
    return frames, archive["embeddings"], tasks


@pytest.mark.nightly
@pytest.mark.slow  # many replications
@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_on_real_photographs_no_replication_of_any_method_steps_back(
    roger: tuple[list[Frame], np.ndarray, list[ExtractionTask]],
    method: ExtractionMethod,
    dated: bool,
) -> None:
    frames, vectors, tasks = roger
    assert len(frames) == 501
    if dated:  # each picture has the month of the labelled one that its vector is most like
        months = [frame.labels.get("month") for frame in frames]
        labelled = [i for i, month in enumerate(months) if month]
        assert len(labelled) == 34
        like = (vectors @ vectors[labelled].T).argmax(axis=1)
        dates = (
            PartialDate.parse(str(months[labelled[i]]), year=1928)
            for i in like
        )
        frames = [
            replace(frame, date=date)
            for frame, date in zip(frames, dates, strict=True)
        ]
    else:
        assert not any(frame.date for frame in frames)
    place = {frame.id: at for at, frame in enumerate(frames)}
    few, times = (
        (tasks[-1:], 2) if method == "maps" else (tasks, 4)
    )  # a program takes a second
    how = Extraction(method=method, replications=times, scale="minmax")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        extracted = list(extract(frames, vectors, few, how))
    assert len(extracted) == times * len(few)
    for each, task in zip(
        extracted, [task for task in few for _ in range(times)], strict=True
    ):
        path = list(each.storyline.frames)
        assert (path[0].id, path[-1].id) == (task.source, task.target)
        assert len(path) == task.k or method in ("trails", "maps")
        assert not _ever_back(path)
        if not dated:
            places = [place[frame.id] for frame in path]
            assert places == sorted(set(places))


def test_an_open_end_is_neither_before_nor_after_dates_of_its_unknown_part() -> (
    None
):
    written = ("1850", "before 1890", "1890", "1910")
    frames = [Frame(name, date=PartialDate.parse(name)) for name in written]
    time = chronology(frames, _vectors(4), spread=False)
    # From the earliest day of the others, 1850, to the end of 1889: its middle is 1870.
    assert list(time.order) == [0, 1, 2, 3]
    assert steps_back([frames[1], frames[0]]) == []
    assert steps_back([frames[2], frames[1]]) == [0]
    assert "1 by span" in time.note


def test_a_refusal_names_the_pictures_that_could_not_be_used(
    tmp_path: Path,
) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    (tmp_path / "rows.csv").write_text(
        "id,image,date\na,a.png,1890\nb,lost.png,1891\nc,a.png,n.d.\n"
    )
    with pytest.raises(
        ConfigError,
        match=r"2 pictures could not be used:\n.*lost.*\n.*'c' has no date",
    ):
        extract_storylines(
            CollectionOptions(str(tmp_path / "rows.csv")),
            StorylineEnds(k=2),
            "handcrafted",
            Extraction(),
            DataOptions(),
            skip_undated=True,
        )
