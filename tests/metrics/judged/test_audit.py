"""Audits of references with planted verdicts; values by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from PIL import Image as PILImage

from beholder.backends import BACKENDS, Request, Scripted
from beholder.errors import ConfigError
from beholder.judges import LLMJudge
from beholder.kinds.audit.door import audit
from beholder.metrics import metric
from beholder.records import Item, ItemFailure, ItemScore
from toy.command import runner
from toy.tools import OneJudge

pytestmark = pytest.mark.usefixtures("few_resamples")

REFERENCE = "A red boat. A pier. A gull. It smells of tar."
CANDIDATE = "A red boat. A gull. A cloud. A whale."
N_SUPPORTED = {"A red boat": 3, "A gull": 2, "A pier": 1, "A cloud": 3}
"""In how many of three answers the picture supports a fact."""
_ROW = re.compile(r'<statement id="(\d+)">(.*?)</statement>', re.DOTALL)


class Planted(Scripted):
    """Lists sentences as facts, and verifies by the table above or by the text."""

    def __init__(self, model: str = "planted") -> None:
        self.asked: dict[str, int] = {}
        super().__init__(self._reply, model=model)

    def _reply(self, request: Request) -> str:
        message = request.messages[-1]
        claims = _ROW.findall(message.text)
        if not claims:
            text = re.findall(
                r"<(\w+)>\n(.*?)\n</\1>", message.text, re.DOTALL
            )[0][1]
            facts = [
                {
                    "text": part.strip(),
                    "subject": "x",
                    "relevant": "smells" not in part,
                }
                for part in text.split(".")
                if part.strip()
            ]
            return json.dumps({"statements": facts})
        rows = []
        for number, claim in claims:
            if message.images:
                n = self.asked[claim] = self.asked.get(claim, 0) + 1
                yes = len(claims) == 4 and "It smells of tar" in message.text
                supported = N_SUPPORTED.get(claim, 0) >= (
                    (n - 1) % 3 + 1 if yes else 2
                )
            else:
                supported = claim in message.text.split("<statement", 1)[0]
                supported |= message.text.count(claim) > 1
            rows.append({"id": int(number), "supported": supported})
        return json.dumps({"rows": rows})


def picture(folder: Path) -> None:
    PILImage.new("RGB", (8, 8), "red").save(folder / "p.png")


def test_values_with_and_without_doubtful_facts(tmp_path: Path) -> None:
    picture(tmp_path)
    item = Item("a", CANDIDATE, (REFERENCE,), ("p.png",))
    tools = OneJudge(LLMJudge(Planted()), tmp_path)
    (item_score,) = metric("audit", judge="given").score([item], tools=tools)
    assert isinstance(item_score, ItemScore), item_score
    verdicts = {
        (unit.side, unit.text): unit.verdict for unit in item_score.units
    }
    assert verdicts["reference", "A red boat"] == "supported"
    assert verdicts["reference", "A pier"] == "doubtful"  # 1 of 3
    assert verdicts["reference", "It smells of tar"] == "not_visible"
    assert verdicts["candidate", "A cloud"] == "seen_only"
    assert verdicts["candidate", "A whale"] == "unsupported"
    # Four facts, two of them stated; without the pier three. Of four claims two are in the
    # reference, and the cloud is in the picture.
    assert item_score.values == pytest.approx(
        {
            "doubtful": 1 / 4,
            "any_doubtful": 1.0,
            "recall": 2 / 4,
            "recall_sure": 2 / 3,
            "precision": 2 / 4,
            "precision_seen": 3 / 4,
        }
    )


def test_a_judge_without_sight_and_rows_without_pictures_are_refused() -> None:
    with pytest.raises(
        ConfigError, match="expected a whole number from 1 to 100"
    ):
        metric("audit(judge='openai:m', answers=0)")
    tools = OneJudge(LLMJudge(Planted()))
    (failure,) = metric("audit", judge="given").score(
        [Item("a", "x", ("y",))], tools=tools
    )
    assert isinstance(failure, ItemFailure)
    assert "needs images" in failure.message


def test_doubtful_facts_go_to_people_with_as_many_supported_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BEHOLDER_CACHE", "off")
    if "audited" not in BACKENDS.names():
        BACKENDS.register("audited")(Planted)
    picture(tmp_path)
    rows = [
        {
            "id": name,
            "candidate": CANDIDATE,
            "references": [reference],
            "images": ["p.png"],
        }
        for name, reference in (("a", REFERENCE), ("b", "A red boat."))
    ]
    Path("d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = audit("d.jsonl", judge="audited:m", out="run", concurrency=1)
    (row,) = [
        json.loads(line)
        for line in Path("run/doubtful.jsonl").read_text().splitlines()
    ]
    assert row["id"] == "a"
    assert sorted(fact["state"] for fact in row["audit"]) == [
        "doubtful",
        "supported",
    ]
    assert "A pier" in row["facts"]
    assert len(row["facts"]) == 2
    assert Path(run.path, row["images"][0]).resolve() == tmp_path / "p.png"


def test_people_correct_doubts_and_systems_change_places(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BEHOLDER_CACHE", "off")
    if "audited" not in BACKENDS.names():
        BACKENDS.register("audited")(Planted)
    cli = runner(monkeypatch, capsys)
    picture(tmp_path)
    # Facts: boat, pier (doubtful), gull, tar. North states boat and gull; south pier and tar.
    texts = {
        "north": "A red boat. A gull.",
        "south": "A pier. It smells of tar. A gull.",
    }
    rows = [
        {"id": name, "candidate": text, "references": [REFERENCE], "images": ["p.png"],
         "group": {"system": name}} for name, text in texts.items()
    ]  # fmt: skip
    Path("d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = (
        "audit",
        "d.jsonl",
        "--judge",
        "audited:m",
        "-o",
        "run",
        "--concurrency",
        "1",
        "--json",
    )
    first = cli(*command)
    assert first.code == 0, first.err
    (systems,) = json.loads(first.out)["tables"]
    (row,) = [
        json.loads(line)
        for line in Path("run/doubtful.jsonl").read_text().splitlines()
    ]

    def table_rows(
        table: dict[str, list[dict[str, object]]],
    ) -> list[tuple[object, ...]]:
        keys = ("system", "recall", "place", "sure", "sure_place")
        return [tuple(row[key] for key in keys) for row in table["rows"]]

    # Without the pier north states 2 of 3, south 2 of 3.
    assert table_rows(systems) == [
        ("north", 2 / 4, 2, pytest.approx(2 / 3), 1),
        ("south", 3 / 4, 1, pytest.approx(2 / 3), 1),
    ]
    answers_by_fact = {
        "A pier": {"anna": "true"},
        "A red boat": {"anna": "false", "ben": "true"},
        "A gull": {"anna": "false"},
    }
    facts = [
        {"text": text, "verdicts": verdicts}
        for text, verdicts in answers_by_fact.items()
    ]
    Path("people.jsonl").write_text(json.dumps({**row, "facts": facts}))
    again = cli(*command, "--labels", "people.jsonl")
    assert again.code == 0, again.err
    systems, confirmed = json.loads(again.out)["tables"]
    # People: the pier is there, the gull is not; of the boat they are not agreed.
    assert table_rows(systems) == [
        ("north", 2 / 4, 2, pytest.approx(1 / 3), 2),
        ("south", 3 / 4, 1, pytest.approx(2 / 3), 1),
    ]
    assert [
        (row["judge"], row["n"], row["false"]) for row in confirmed["rows"]
    ] == [
        ("doubtful", 1, 0.0),
        ("supported", 2, 0.5),
    ]
    assert Path("run/tables/confirmed.csv").exists()
    Path("people.jsonl").write_text(json.dumps({**row, "facts": ["A pier"]}))
    wrong = cli(*command, "--labels", "people.jsonl")
    assert (
        wrong.code,
        "row north: " in wrong.err,
        "$.facts[0]" in wrong.err,
    ) == (2, True, True)
    Path("people.jsonl").write_text(
        json.dumps({**row, "references": ["x"], "facts": facts})
    )
    wrong = cli(*command, "--labels", "people.jsonl")
    assert (wrong.code, "judges no fact of run" in wrong.err) == (2, True)
