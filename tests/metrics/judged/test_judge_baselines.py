"""Metrics that ask a judge for a number, with a scripted judge; values by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as PILImage

import beholder
from beholder.backends import Answer, Request, Sample, Scripted
from beholder.errors import ConfigError
from beholder.judges import LLMJudge
from beholder.metrics import Tools, metric
from beholder.records import Item, ItemFailure
from toy.command import runner
from toy.tools import OneJudge

GRADES = {
    "reason": "Wrong colour.",
    "overall": 3,
    "mistakes": 2,
    "omissions": 5,
}


def scripted(answer: Any, **options: Any) -> tuple[LLMJudge, Scripted]:
    reply: Callable[[Request], Any] = (
        answer if callable(answer) else lambda request: json.dumps(answer)
    )
    backend = Scripted(reply, **options)
    return LLMJudge(backend, samples=2), backend


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    PILImage.new("RGB", (8, 8), "red").save(tmp_path / "p.png")
    return tmp_path


def score(name: str, judged: Item, tools: Tools) -> Any:
    (item_score,) = metric(name, judge="given").score([judged], tools=tools)
    return item_score


def item(**fields: Any) -> Item:
    return Item(
        **{
            "id": "a",
            "candidate": "A blue cup.",
            "references": ("A red cup.", "A cup."),
            "images": ("p.png",),
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("setting", "sees", "reads"),
    [("image", True, False), ("reference", False, True), ("both", True, True)],
)
def test_direct_assessment_shows_what_its_setting_says(
    setting: str, sees: bool, reads: bool, folder: Path
) -> None:
    judge, backend = scripted(GRADES)
    item_score = score(
        f"direct_assessment(setting='{setting}')",
        item(),
        OneJudge(judge, folder),
    )
    assert item_score.values == {
        "overall": 0.5,
        "precision": 0.25,
        "recall": 1.0,
    }  # (g - 1) / 4
    assert item_score.detail.keys() == {"reason", "questions"}
    assert item_score.detail["reason"] == "Wrong colour."
    (request,) = backend.requests
    assert bool(request.images) == sees
    assert ("A red cup." in request.messages[-1].text) == reads
    assert "A blue cup." in request.messages[-1].text


def test_scale_and_rubric_reach_the_judge_and_the_signature() -> None:
    judge, backend = scripted({**GRADES, "overall": 10})
    item_score = score(
        "direct_assessment(scale=10, rubric=False)", item(), OneJudge(judge)
    )
    assert item_score.values["overall"] == 1.0
    assert item_score.values["precision"] == pytest.approx(1 / 9)
    (request,) = backend.requests
    assert "from 1 (worst) to 10 (best)" in request.messages[-1].text
    assert "halfway" not in request.messages[-1].text
    assert "|scale:10|rubric:False|" in item_score.signature


def test_a_number_off_the_scale_is_asked_again_once_and_then_fails() -> None:
    answers = iter([{**GRADES, "overall": 6}, GRADES])
    judge, backend = scripted(lambda request: json.dumps(next(answers)))
    item_score = score("direct_assessment", item(), OneJudge(judge))
    assert item_score.values["overall"] == 0.5
    assert (
        "'overall' must be a whole number from 1 to 5"
        in backend.requests[1].messages[-1].text
    )
    judge, backend = scripted({**GRADES, "overall": 3.5})
    failed = score("direct_assessment", item(), OneJudge(judge))
    assert isinstance(failed, ItemFailure)
    assert "gave no usable answer to assess" in failed.message
    assert len(backend.requests) == 2


def test_clair_is_a_number_from_0_to_100_by_the_references_alone(
    folder: Path,
) -> None:
    judge, backend = scripted({"reason": "Alike.", "same_picture": 65})
    item_score = score("clair", item(), OneJudge(judge, folder))
    assert item_score.values == {"clair": 0.65}
    assert item_score.detail.keys() == {"reason", "questions"}
    assert item_score.detail["reason"] == "Alike."
    assert not backend.requests[0].images


def test_prometheus_is_a_grade_by_rubric_and_references_with_its_reason(
    folder: Path,
) -> None:
    judge, backend = scripted({"reason": "Wrong colour.", "overall": 4})
    item_score = score("prometheus", item(), OneJudge(judge, folder))
    assert item_score.values == {"prometheus": 0.75}  # (4 - 1) / (5 - 1)
    assert item_score.detail.keys() == {"reason", "questions"}
    assert item_score.detail["reason"] == "Wrong colour."
    (request,) = backend.requests
    text = request.messages[-1].text
    assert "from 1 (worst) to 5 (best)" in text
    assert "halfway" in text
    assert "A red cup." in text
    assert not request.images


@pytest.mark.parametrize("references", [False, True])
def test_llava_critic_is_a_number_to_100_by_the_picture(
    references: bool, folder: Path
) -> None:
    judge, backend = scripted({"reason": "Good.", "overall": 35})
    item_score = score(
        f"llava_critic(references={references})",
        item(),
        OneJudge(judge, folder),
    )
    assert item_score.values == {"llava_critic": 0.35}
    (request,) = backend.requests
    text = request.messages[-1].text
    assert request.images
    assert "from 0 (worst) to 100 (best)" in text
    assert "halfway" not in text
    assert ("A red cup." in text) == references


def test_fleur_is_the_expectation_over_the_digits(folder: Path) -> None:
    first = (
        ("8", math.log(0.6)),
        (" 5", math.log(0.2)),
        ("The", math.log(0.2)),
    )

    def answer(request: Request) -> Answer:
        return Answer((Sample("8", "length", first),), "m")

    judge, backend = scripted(answer, top_logprobs=20)
    item_score = score("fleur", item(references=()), OneJudge(judge, folder))
    expected = (
        0.75 * 8 + 0.25 * 5
    ) / 9  # of 0.8 on digits: three quarters and one quarter
    assert item_score.values["fleur"] == pytest.approx(expected)
    assert item_score.values["mass"] == pytest.approx(0.8)
    assert backend.requests[0].images
    assert backend.requests[0].sampling.max_tokens == 1


def test_fleur_without_probabilities_is_the_mean_of_samples(
    folder: Path,
) -> None:
    def answer(request: Request) -> Answer:
        return Answer((Sample("9", "stop"), Sample("6", "stop")), "m")

    judge, backend = scripted(answer)
    item_score = score(
        "fleur(references=True)", item(), OneJudge(judge, folder)
    )
    assert item_score.values["fleur"] == pytest.approx(7.5 / 9)
    assert "A red cup." in backend.requests[0].messages[-1].text


@pytest.mark.parametrize(
    "name",
    ["direct_assessment", "clair", "fleur", "prometheus", "llava_critic"],
)
def test_the_builtin_judge_is_refused_before_any_work(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(
        ConfigError,
        match=r"no operation '(assess|grade)'; a model has.*openai:MODEL",
    ):
        beholder.score([item()], [name], judge="builtin", out=tmp_path / "run")


@pytest.mark.parametrize(
    "name", ["direct_assessment(setting='image')", "fleur", "llava_critic"]
)
def test_a_blind_judge_is_refused_before_any_work(
    name: str, folder: Path
) -> None:
    judge, backend = scripted(GRADES, images=False)
    with pytest.raises(ConfigError, match="does not take pictures"):
        metric(name, judge="given").score(
            [item()], tools=OneJudge(judge, folder)
        )
    with pytest.raises(ConfigError, match="choose a judge that can see"):
        metric(name, judge="given").identities(
            OneJudge(judge, folder)
        )  # what a run asks first
    assert backend.requests == []


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("direct_assessment", {"references": ()}, "needs references"),
        ("direct_assessment(setting='image')", {"images": ()}, "needs images"),
        ("direct_assessment(setting='both')", {"images": ()}, "needs images"),
        (
            "direct_assessment(setting='both')",
            {"references": ("", "b")},
            "reference 1 has no words",
        ),
        ("direct_assessment", {"candidate": " "}, "the candidate is empty"),
        ("clair", {"references": (" ",)}, "reference 1 has no words"),
        (
            "fleur",
            {"images": ("none.png",)},
            "none.png: there is no such file",
        ),
        ("fleur(references=True)", {"references": ()}, "needs references"),
        ("prometheus", {"references": ()}, "needs references"),
        ("llava_critic", {"images": ()}, "needs images"),
        (
            "llava_critic(references=True)",
            {"references": ()},
            "needs references",
        ),
    ],
)
def test_an_item_that_lacks_something_has_a_reason(
    name: str, fields: dict[str, Any], message: str, folder: Path
) -> None:
    judge, backend = scripted(GRADES)
    failed = score(name, item(**fields), OneJudge(judge, folder))
    assert isinstance(failed, ItemFailure)
    assert message in failed.message
    assert "bug" not in failed.message
    assert backend.requests == []


@pytest.mark.parametrize(
    "text", ["direct_assessment(setting='x')", "direct_assessment(scale=1)",
             "direct_assessment(scale=101)", "direct_assessment(scale=2.5)"],
)  # fmt: skip
def test_a_wrong_setting_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        metric(text)


def test_pictures_are_found_beside_the_data_file(folder: Path) -> None:
    row = {"id": "1", "candidate": "A cup.", "image": "p.png"}
    (folder / "d.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    rules = folder / "rules.jsonl"
    rules.write_text(
        json.dumps({"contains": "digit", "answer": "9"}) + "\n",
        encoding="utf-8",
    )
    run = beholder.score(
        folder / "d.jsonl",
        [f"fleur(judge='scripted:{rules}')"],
        out=folder / "run",
    )
    (result,) = run.summary.values()
    assert (result.n_scored, result.n_failed) == (1, 0)
    assert result.values["fleur"].mean == 1.0


def test_show_prints_the_metric_and_the_prompt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = runner(monkeypatch, capsys, "show")
    assert "Asks a judge: assess" in cli("clair").out
    prompt = cli("assess")
    assert prompt.code == 0
    assert prompt.out.startswith("assess.v1@")
    assert "[omissions_rubric]" in prompt.out
