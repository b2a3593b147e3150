"""Files for other tools, checked against the schemas of their formats.

The schemas are the parts that we write, set down by hand from the standards: SARIF 2.1.0 (OASIS,
section 3; ``Schemata/sarif-schema-2.1.0.json`` of github.com/oasis-tcs/sarif-spec).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from beholder.metrics import METRICS
from toy.command import Cli, runner
from toy.metric import WordCount

if "word_count" not in METRICS.names():
    METRICS.register("word_count")(WordCount)


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


TEXT: dict[str, Any] = {"type": "string"}
MESSAGE = closed(["text"], text=TEXT)
LOCATION = closed(
    [],
    physicalLocation=closed(
        [], artifactLocation=closed([], uri={"type": "string", "format": "uri-reference"})
    ),
    logicalLocations={"type": "array", "items": closed([], fullyQualifiedName=TEXT)},
)
RESULT = closed(
    ["message"],
    ruleId=TEXT,
    level={"enum": ["none", "note", "warning", "error"]},
    message=MESSAGE,
    locations={"type": "array", "items": LOCATION, "uniqueItems": True},
)
RULE = closed(["id"], id=TEXT, shortDescription=MESSAGE)
DRIVER = closed(
    ["name"],
    name=TEXT,
    version=TEXT,
    rules={"type": "array", "items": RULE, "uniqueItems": True},
)
SARIF = closed(
    ["version", "runs"],
    **{"$schema": {"type": "string", "format": "uri"}},
    version={"const": "2.1.0"},
    runs={
        "type": "array",
        "items": closed(
            ["tool"],
            tool=closed(["driver"], driver=DRIVER),
            results={"type": "array", "items": RESULT},
        ),
    },
)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": f"text {i}", "candidate": "w " * (i + 3), "references": [f"w {i}"]} for i in range(6)
    ]
    Path("my texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return runner(monkeypatch, capsys)


def test_gates_are_valid_sarif(cli: Cli) -> None:
    done = cli(
        *("score", "my texts.jsonl", "-m", "word_count", "-o", "run", "--no-report"),
        *("--fail-under", "word_count=6", "--gates", "gates.sarif"),
    )
    assert done.code == 1
    written = json.loads(Path("gates.sarif").read_text("utf-8"))
    jsonschema.validate(written, SARIF, format_checker=jsonschema.FormatChecker())
    (run,) = written["runs"]
    assert {one["ruleId"] for one in run["results"]} == {"gate", "item"}
    known = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert known == {"gate", "item"}
    written["runs"][0]["results"][0]["level"] = "bad"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(written, SARIF)
