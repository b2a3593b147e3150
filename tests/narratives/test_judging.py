"""Votes of scripted judges: each kept apart, each failure with frame, file and reason."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image as Picture

from beholder.backends import Request, Scripted
from beholder.dates import PartialDate
from beholder.errors import ConfigError, ItemError
from beholder.judges import Answers, LLMJudge
from beholder.narratives.judging import Vote, Voting, rate_narrative, rate_steps, values
from beholder.narratives.views import Captioner, Sight, Words, known_data
from beholder.records import Frame, ItemFailure
from beholder.records import Sequence as Narrative

Reply = Callable[[Request], str]


def _score(request: Request) -> str:
    return json.dumps({"reason": "so it is", "score": 5 + request.replicate})


def _judge(reply: Reply = _score) -> tuple[LLMJudge, Scripted]:
    backend = Scripted(reply)
    return LLMJudge(backend, answers=Answers()), backend


def _narrative(folder: Path, n: int = 3) -> Narrative:
    frames = []
    for i in range(n):
        Picture.new("RGB", (900, 600), (40 * i, 90, 10)).save(folder / f"{i}.png")
        frames.append(
            Frame(f"p{i}", f"{i}.png", f"Caption {i}.", PartialDate(1928, 3 + i), "Arica")
        )
    return Narrative("n", tuple(frames))


def _words(narrative: Narrative) -> Words:
    return Words({frame.id: frame.caption or "" for frame in narrative.frames})


def test_judges_vote_apart_each_with_its_own_seat(tmp_path: Path) -> None:
    judge, backend = _judge()
    votes = asyncio.run(rate_narrative(_narrative(tmp_path), Sight(tmp_path), judge, Voting()))
    assert votes == [Vote(i, 5 + i, "so it is") for i in range(3)]
    assert sorted(request.replicate for request in backend.requests) == [0, 1, 2]
    assert {request.sampling.temperature for request in backend.requests} == {0.7}


def test_by_sight_the_judge_gets_small_pictures_in_order_and_no_caption(tmp_path: Path) -> None:
    judge, backend = _judge()
    voting = Voting(judges=1, context="An expedition in 1928.")
    asyncio.run(rate_narrative(_narrative(tmp_path), Sight(tmp_path), judge, voting))
    (request,) = backend.requests
    shown = [Picture.open(io.BytesIO(image.data)) for image in request.images]
    assert [picture.size for picture in shown] == [(512, 341)] * 3  # 900 x 600, shape kept
    reds = [picture.convert("RGB").getpixel((5, 5))[0] for picture in shown]  # type: ignore[index]
    assert reds == sorted(reds)
    text = "".join(message.text for message in request.messages)
    assert "An expedition in 1928." in text
    assert "date: 1928-04; place: Arica" in text
    assert "Caption 1." not in text


def test_by_captions_the_judge_gets_words_alone_in_order(tmp_path: Path) -> None:
    judge, backend = _judge()
    narrative = _narrative(tmp_path)
    asyncio.run(rate_narrative(narrative, _words(narrative), judge, Voting(judges=1)))
    (request,) = backend.requests
    assert request.images == ()
    text = "".join(message.text for message in request.messages)
    assert text.index("Caption 0.") < text.index("Caption 1.") < text.index("Caption 2.")


def test_anchors_are_shown_only_when_asked_for(tmp_path: Path) -> None:
    told = []
    for anchors in (False, True):
        judge, backend = _judge()
        voting = Voting(judges=1, anchors=anchors)
        narrative = _narrative(tmp_path)
        asyncio.run(rate_narrative(narrative, _words(narrative), judge, voting))
        told.append("For orientation" in backend.requests[0].messages[-1].text)
    assert told == [False, True]


def test_a_missing_caption_is_written_once_with_what_is_known(tmp_path: Path) -> None:
    judge, backend = _judge(lambda request: "A ship in a harbour.")
    frame = Frame("p", "0.png", None, PartialDate(1928, 3), "Arica")
    _narrative(tmp_path)
    view = Captioner(judge, Sight(tmp_path), context="An expedition.", words=(150, 200))

    async def twice() -> list[str]:
        return [await view.caption(frame), await view.caption(frame)]

    assert asyncio.run(twice()) == ["A ship in a harbour."] * 2
    (request,) = backend.requests
    text = "".join(message.text for message in request.messages)
    for words in ("150", "200", "date: 1928-03; place: Arica", "An expedition."):
        assert words in text


@pytest.mark.parametrize(
    ("said", "reason"),
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
    tmp_path: Path, said: str, reason: str
) -> None:
    judge, _ = _judge(lambda request: said if request.replicate == 1 else _score(request))
    votes = asyncio.run(rate_narrative(_narrative(tmp_path), Sight(tmp_path), judge, Voting()))
    assert values(votes) == [5, 7]
    assert votes[1].value is None
    assert votes[1].failure is not None
    assert reason in votes[1].failure.message


@pytest.mark.parametrize("content", [None, b"not a picture"])
def test_an_unreadable_picture_fails_the_narrative_and_names_frame_and_file(
    tmp_path: Path, content: bytes | None
) -> None:
    narrative = _narrative(tmp_path)
    (tmp_path / "1.png").unlink()
    if content is not None:
        (tmp_path / "1.png").write_bytes(content)
    judge, backend = _judge()
    votes = asyncio.run(rate_narrative(narrative, Sight(tmp_path), judge, Voting()))
    assert values(votes) == []
    for vote in votes:
        assert vote.failure is not None
        assert vote.failure.message.startswith(f"frame 'p1': {tmp_path / '1.png'}: ")
    assert backend.requests == []


def test_an_unreadable_picture_costs_only_the_steps_it_takes_part_in(tmp_path: Path) -> None:
    narrative = _narrative(tmp_path, 4)
    (tmp_path / "3.png").write_bytes(b"x")
    judge, _ = _judge()
    steps = asyncio.run(rate_steps(narrative, Sight(tmp_path), judge, Voting(judges=2)))
    assert [values(votes) for votes in steps] == [[5, 6], [5, 6], []]


def test_a_frame_without_image_or_caption_says_so(tmp_path: Path) -> None:
    with pytest.raises(ItemError, match="frame 'a' has no image"):
        asyncio.run(Sight(tmp_path).shots([Frame("a")]))
    with pytest.raises(ItemError, match="frame 'a' has no caption, and no judge to write one"):
        asyncio.run(Captioner(None, Sight(tmp_path)).caption(Frame("a", "a.png")))


def test_a_frame_whose_caption_failed_fails_its_narratives_with_that_reason(tmp_path: Path) -> None:
    narrative = _narrative(tmp_path)
    captions: dict[str, str | ItemFailure] = {
        "p0": "A ship.",
        "p1": ItemFailure("ItemError", "frame 'p1': refused"),
        "p2": "A mule.",
    }
    judge, backend = _judge()
    votes = asyncio.run(rate_narrative(narrative, Words(captions), judge, Voting()))
    assert [vote.failure for vote in votes] == [ItemFailure("ItemError", "frame 'p1': refused")] * 3
    assert backend.requests == []


def test_several_judges_at_temperature_0_are_refused() -> None:
    with pytest.raises(ConfigError, match="look like agreement"):
        Voting(judges=3, temperature=0.0)
    with pytest.raises(ConfigError, match="judges=0"):
        Voting(judges=0)


def test_known_data_names_only_what_is_known() -> None:
    assert known_data(Frame("a")) == ""
    assert known_data(Frame("a", place="Arica")) == "place: Arica"
