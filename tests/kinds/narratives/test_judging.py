"""Votes of scripted judges: each kept apart, each failure with frame, file and reason."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from PIL import Image as Picture

from beholder.asking.asker import Asker, Outcome, attempt
from beholder.backends import Request, Scripted
from beholder.base.dates import PartialDate
from beholder.errors import ConfigError, ItemError, TransientError
from beholder.judges import Answers, LLMJudge
from beholder.kinds.narratives.config import Voting
from beholder.kinds.narratives.judging import (
    CaptionFrame,
    RateSteps,
    RateStoryline,
    Vote,
    caption_of,
    known_data,
    values,
    votes_of,
)
from beholder.metrics import Tools
from beholder.records import Frame, ItemFailure, ItemScore, Storyline
from toy.tools import OneJudge

Reply = Callable[[Request], str]
CAPTIONER = CaptionFrame(judge="toy")


class Scripts(OneJudge):
    """Tools whose only judge follows a script."""

    def __init__(
        self, folder: Path, reply: Reply, *, images: bool = True
    ) -> None:
        self.backend = Scripted(reply, images=images)
        super().__init__(LLMJudge(self.backend, answers=Answers()), folder)


def _score(request: Request) -> str:
    return json.dumps({"reason": "so it is", "score": 5 + request.replicate})


def _storyline(folder: Path, n: int = 3) -> Storyline:
    frames = []
    for i in range(n):
        Picture.new("RGB", (900, 600), (40 * i, 90, 10)).save(
            folder / f"{i}.png"
        )
        frames.append(
            Frame(
                f"p{i}",
                f"{i}.png",
                f"Caption {i}.",
                PartialDate(1928, 3 + i),
                "Arica",
            )
        )
    return Storyline("n", tuple(frames))


def _captions(storyline: Storyline) -> dict[str, str | ItemFailure]:
    return {frame.id: frame.caption or "" for frame in storyline.frames}


def _by_captions(
    captions: dict[str, str | ItemFailure], **options: Any
) -> RateStoryline:
    return RateStoryline(
        judge="toy",
        by="captions",
        captioner=CAPTIONER,
        captions=captions,
        **options,
    )


def _ask(asker: Asker[Any], subject: object, tools: Tools) -> Outcome:
    return asyncio.run(attempt(asker, subject, tools))


def test_judges_vote_apart_each_with_its_own_seat(tmp_path: Path) -> None:
    tools = Scripts(tmp_path, _score)
    outcome = _ask(RateStoryline(judge="toy"), _storyline(tmp_path), tools)
    assert votes_of(outcome, 1, 3) == [
        [Vote(i, 5 + i, "so it is") for i in range(3)]
    ]
    assert isinstance(outcome, ItemScore)
    assert outcome.values == {"rating": 6.0}  # (5 + 6 + 7) / 3
    assert sorted(request.replicate for request in tools.backend.requests) == [
        0,
        1,
        2,
    ]
    assert {
        request.sampling.temperature for request in tools.backend.requests
    } == {0.7}


def test_by_sight_the_judge_gets_small_pictures_in_order_and_no_caption(
    tmp_path: Path,
) -> None:
    tools = Scripts(tmp_path, _score)
    asker = RateStoryline(
        judge="toy", judges=1, context="An expedition in 1928."
    )
    _ask(asker, _storyline(tmp_path), tools)
    (request,) = tools.backend.requests
    pictures = [
        Picture.open(io.BytesIO(image.data)) for image in request.images
    ]
    assert [picture.size for picture in pictures] == [
        (512, 341)
    ] * 3  # 900 x 600, shape kept
    reds = [picture.convert("RGB").getpixel((5, 5))[0] for picture in pictures]  # type: ignore[index]
    assert reds == sorted(reds)
    text = "".join(message.text for message in request.messages)
    assert "An expedition in 1928." in text
    assert "date: 1928-04; place: Arica" in text
    assert "Caption 1." not in text


def test_by_captions_the_judge_gets_words_alone_in_order(
    tmp_path: Path,
) -> None:
    tools, storyline = Scripts(tmp_path, _score), _storyline(tmp_path)
    _ask(_by_captions(_captions(storyline), judges=1), storyline, tools)
    (request,) = tools.backend.requests
    assert request.images == ()
    text = "".join(message.text for message in request.messages)
    assert (
        text.index("Caption 0.")
        < text.index("Caption 1.")
        < text.index("Caption 2.")
    )


def test_anchors_are_shown_only_when_asked_for(tmp_path: Path) -> None:
    has_anchors = []
    for anchors in (False, True):
        tools, storyline = Scripts(tmp_path, _score), _storyline(tmp_path)
        asker = _by_captions(_captions(storyline), judges=1, anchors=anchors)
        _ask(asker, storyline, tools)
        has_anchors.append(
            "For orientation" in tools.backend.requests[0].messages[-1].text
        )
    assert has_anchors == [False, True]


def test_a_missing_caption_is_written_once_with_what_is_known(
    tmp_path: Path,
) -> None:
    tools = Scripts(tmp_path, lambda request: "A ship in a harbour.")
    frame = Frame("p", "0.png", None, PartialDate(1928, 3), "Arica")
    _storyline(tmp_path)
    asker = CaptionFrame(
        judge="toy", context="An expedition.", min_words=150, max_words=200
    )
    first, second = (_ask(asker, frame, tools) for _ in range(2))
    assert caption_of(first) == caption_of(second) == "A ship in a harbour."
    assert isinstance(first, ItemScore)
    assert first.values == {"words": 5.0}
    (request,) = tools.backend.requests
    text = "".join(message.text for message in request.messages)
    for words in (
        "150",
        "200",
        "date: 1928-03; place: Arica",
        "An expedition.",
    ):
        assert words in text


def test_a_given_caption_is_taken_and_nobody_is_asked(tmp_path: Path) -> None:
    tools = Scripts(tmp_path, _score)
    outcome = _ask(CAPTIONER, Frame("p", caption="Mules on a road."), tools)
    assert caption_of(outcome) == "Mules on a road."
    assert outcome.detail["answers"] == []
    assert tools.backend.requests == []


def test_an_outcome_names_the_answers_it_rests_on_and_so_does_a_failure(
    tmp_path: Path,
) -> None:
    tools, storyline = Scripts(tmp_path, _score), _storyline(tmp_path)
    outcome = _ask(RateStoryline(judge="toy"), storyline, tools)
    assert len(set(outcome.detail["answers"])) == 3  # one a judge
    broken = Scripts(tmp_path, lambda request: "no JSON")
    failed = _ask(RateStoryline(judge="toy"), storyline, broken)
    assert isinstance(failed, ItemFailure)
    assert (
        len(set(failed.detail["answers"])) == 6
    )  # each judge is asked once more
    assert not set(failed.detail["answers"]) <= set(outcome.detail["answers"])


def test_a_vote_that_may_come_later_leaves_the_outcome_unfinished(
    tmp_path: Path,
) -> None:
    def busy(request: Request) -> str:
        if request.replicate == 2:
            raise TransientError("the server is busy")
        return _score(request)

    outcome = _ask(
        RateStoryline(judge="toy"),
        _storyline(tmp_path),
        Scripts(tmp_path, busy),
    )
    assert isinstance(outcome, ItemScore)
    assert outcome.unfinished
    assert outcome.values == {"rating": 5.5}

    def closed(request: Request) -> str:
        raise TransientError("the server is busy")

    none = _ask(
        RateStoryline(judge="toy"),
        _storyline(tmp_path),
        Scripts(tmp_path, closed),
    )
    assert isinstance(none, ItemFailure)
    assert none.transient
    assert [vote.judge for vote in votes_of(none, 1, 3)[0]] == [0, 1, 2]


def test_the_signature_says_who_wrote_the_captions_and_how(
    tmp_path: Path,
) -> None:
    tools = Scripts(tmp_path, _score)
    asker = RateStoryline(
        judge="toy",
        by="captions",
        captioner=CaptionFrame(judge="toy", language="German"),
    )
    signature = asker.signature(asker.identities(tools))
    assert "captions:[caption_frame|judge:scripted:scripted(" in signature
    assert "language:German" in signature
    sight = RateStoryline(judge="toy")
    assert "caption_frame" not in sight.signature(sight.identities(tools))
    assert asker.name == "rate_storyline(judge='toy', by='captions')"


def test_a_judge_that_cannot_see_is_refused_before_any_work(
    tmp_path: Path,
) -> None:
    tools = Scripts(tmp_path, _score, images=False)
    with pytest.raises(ConfigError, match="does not take pictures"):
        RateSteps(judge="toy").identities(tools)
    with pytest.raises(ConfigError, match="does not take pictures"):
        _by_captions({}).identities(tools)  # to write captions it must see
    captioner = CaptionFrame(judge="toy", all_given=True)
    assert "captions" in RateStoryline(
        judge="toy", by="captions", captioner=captioner
    ).identities(tools)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: RateStoryline(judge="toy", by="captions"),
            "needs a captioner",
        ),
        (
            lambda: RateStoryline(judge="toy", by=cast(Any, "smell")),
            "by='smell'",
        ),
        (lambda: RateStoryline(judge="toy", max_side=8), "max_side=8"),
        (
            lambda: RateSteps(judge="toy", temperature=0.0),
            "look like agreement",
        ),
        (
            lambda: CaptionFrame(judge="toy", min_words=90, max_words=20),
            "captions of 90 to 20",
        ),
    ],
)
def test_settings_out_of_range_are_refused(
    build: Callable[[], object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        build()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('{"reason": "x", "score": 11}', "score"),
        ('{"reason": "x", "score": 0}', "score"),
        ('{"reason": "x", "score": 7.5}', "score"),
        ('{"reason": "x"}', "score"),
        ("I would give it a seven.", "JSON"),
        ("", "rate_sequence"),
    ],
)
def test_an_unusable_answer_costs_its_vote_and_keeps_the_words(
    tmp_path: Path, reply: str, reason: str
) -> None:
    tools = Scripts(
        tmp_path,
        lambda request: reply if request.replicate == 1 else _score(request),
    )
    outcome = _ask(RateStoryline(judge="toy"), _storyline(tmp_path), tools)
    (votes,) = votes_of(outcome, 1, 3)
    assert values(votes) == [5, 7]
    assert isinstance(outcome, ItemScore)
    assert not outcome.unfinished  # it would say the same again
    assert votes[1].value is None
    assert votes[1].failure is not None
    assert reason in votes[1].failure.message


@pytest.mark.parametrize("content", [None, b"not a picture"])
def test_an_unreadable_picture_fails_the_storyline_and_names_frame_and_file(
    tmp_path: Path, content: bytes | None
) -> None:
    storyline = _storyline(tmp_path)
    (tmp_path / "1.png").unlink()
    if content is not None:
        (tmp_path / "1.png").write_bytes(content)
    tools = Scripts(tmp_path, _score)
    outcome = _ask(RateStoryline(judge="toy"), storyline, tools)
    assert isinstance(outcome, ItemFailure)
    (votes,) = votes_of(outcome, 1, 3)
    assert len(votes) == 3
    for vote in votes:
        assert vote.failure is not None
        assert vote.failure.message == outcome.message
        assert outcome.message.startswith(
            f"frame 'p1': {tmp_path / '1.png'}: "
        )
    assert tools.backend.requests == []


def test_an_unreadable_picture_costs_only_the_steps_it_takes_part_in(
    tmp_path: Path,
) -> None:
    storyline = _storyline(tmp_path, 4)
    (tmp_path / "3.png").write_bytes(b"x")
    outcome = _ask(
        RateSteps(judge="toy", judges=2), storyline, Scripts(tmp_path, _score)
    )
    assert [values(votes) for votes in votes_of(outcome, 3, 2)] == [
        [5, 6],
        [5, 6],
        [],
    ]
    assert isinstance(outcome, ItemScore)
    assert outcome.values == {"rating": 5.5, "lowest": 5.5}


def test_steps_have_a_mean_and_a_lowest(tmp_path: Path) -> None:
    def by_picture(request: Request) -> str:
        later = "1928-05" in request.messages[-1].text
        return json.dumps({"reason": "", "score": 3 if later else 8})

    outcome = _ask(
        RateSteps(judge="toy", judges=1),
        _storyline(tmp_path),
        Scripts(tmp_path, by_picture),
    )
    assert isinstance(outcome, ItemScore)
    assert outcome.values == {"rating": 5.5, "lowest": 3.0}  # steps of 8 and 3


def test_one_picture_has_no_step_and_nobody_is_asked(tmp_path: Path) -> None:
    tools = Scripts(tmp_path, _score)
    outcome = _ask(RateSteps(judge="toy"), _storyline(tmp_path, 1), tools)
    assert isinstance(outcome, ItemFailure)
    assert outcome.message == "a storyline of one picture has no step"
    assert votes_of(outcome, 0, 3) == []
    assert tools.backend.requests == []


def test_a_frame_without_image_says_so(tmp_path: Path) -> None:
    tools = Scripts(tmp_path, _score)
    with pytest.raises(ItemError, match="frame 'a' has no image"):
        asyncio.run(
            RateStoryline(judge="toy").show_frames([Frame("a")], tools)
        )
    failed = _ask(CAPTIONER, Frame("a"), tools)
    assert isinstance(failed, ItemFailure)
    assert failed.message == "frame 'a' has no image"


def test_a_caption_that_cannot_be_written_names_its_frame(
    tmp_path: Path,
) -> None:
    _storyline(tmp_path)
    failed = _ask(
        CAPTIONER, Frame("a", "0.png"), Scripts(tmp_path, lambda request: "")
    )
    assert isinstance(failed, ItemFailure)
    assert failed.message.startswith(
        "frame 'a': scripted:scripted gave no usable answer"
    )
    assert caption_of(failed) == failed


@pytest.mark.parametrize("transient", [False, True])
def test_a_frame_whose_caption_failed_fails_its_storylines_with_that_reason(
    tmp_path: Path, transient: bool
) -> None:
    storyline = _storyline(tmp_path)
    refused = ItemFailure("TransientError", "frame 'p1': refused", transient)
    captions: dict[str, str | ItemFailure] = {
        "p0": "A ship.",
        "p1": refused,
        "p2": "A mule.",
    }
    tools = Scripts(tmp_path, _score)
    outcome = _ask(_by_captions(captions), storyline, tools)
    assert isinstance(outcome, ItemFailure)
    assert (outcome.message, outcome.transient) == (
        "frame 'p1': refused",
        transient,
    )
    assert [
        vote.failure.message
        for vote in votes_of(outcome, 1, 3)[0]
        if vote.failure
    ] == ["frame 'p1': refused"] * 3
    assert tools.backend.requests == []


def test_an_internal_error_is_the_failure_of_every_vote(
    tmp_path: Path,
) -> None:
    outcome = _ask(
        _by_captions({}), _storyline(tmp_path), Scripts(tmp_path, _score)
    )
    assert isinstance(outcome, ItemFailure)
    assert (
        "a bug in rate_storyline" in outcome.message
    )  # nobody wrote the captions
    assert [
        [vote.failure for vote in votes] for votes in votes_of(outcome, 2, 1)
    ] == [
        [outcome],
        [outcome],
    ]


def test_several_judges_at_temperature_0_are_refused() -> None:
    with pytest.raises(ConfigError, match="look like agreement"):
        Voting(judges=3, temperature=0.0)
    with pytest.raises(ConfigError, match="judges=0"):
        Voting(judges=0)


def test_known_data_names_only_what_is_known() -> None:
    assert known_data(Frame("a")) == ""
    assert known_data(Frame("a", place="Arica")) == "place: Arica"
