"""Files for other tools, checked against the schemas of their formats.

The schemas are the parts that we write, set down by hand from the standards: SARIF 2.1.0 (OASIS,
section 3; ``Schemata/sarif-schema-2.1.0.json`` of github.com/oasis-tcs/sarif-spec), and Every Eval
Ever 0.2.1 (``eval.schema.json`` of github.com/evaleval/every_eval_ever).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from beholder.errors import ConfigError, RunError
from beholder.harness.tracking import write_eval_results, write_every_eval
from beholder.metrics import METRICS
from toy.command import Cli
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
        [],
        artifactLocation=closed(
            [], uri={"type": "string", "format": "uri-reference"}
        ),
    ),
    logicalLocations={
        "type": "array",
        "items": closed([], fullyQualifiedName=TEXT),
    },
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
def cli(cli: Cli) -> Cli:
    rows = [
        {
            "id": f"text {i}",
            "candidate": "w " * (i + 3),
            "references": [f"w {i}"],
        }
        for i in range(6)
    ]
    Path("my texts.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), "utf-8"
    )
    return cli


def test_gates_are_valid_sarif(cli: Cli) -> None:
    done = cli(
        *(
            "score",
            "my texts.jsonl",
            "-m",
            "word_count",
            "-o",
            "run",
            "--no-report",
        ),
        *("--fail-under", "word_count=6", "--gates", "gates.sarif"),
    )
    assert done.code == 1
    written = json.loads(Path("gates.sarif").read_text("utf-8"))
    jsonschema.validate(
        written, SARIF, format_checker=jsonschema.FormatChecker()
    )
    (run,) = written["runs"]
    assert {result["ruleId"] for result in run["results"]} == {"gate", "item"}
    rule_ids = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert rule_ids == {"gate", "item"}
    written["runs"][0]["results"][0]["level"] = "bad"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(written, SARIF)


NUMBER: dict[str, Any] = {"type": "number"}
DETAILS: dict[str, Any] = {"type": "object", "additionalProperties": TEXT}
EVERY_EVAL = closed(
    [
        "schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info",
        "eval_library", "evaluation_results",
    ],
    schema_version=TEXT,
    evaluation_id=TEXT,
    retrieved_timestamp={"type": "string", "pattern": "^[0-9]+$"},
    source_metadata=closed(
        ["source_type", "source_organization_name", "evaluator_relationship"],
        source_type={"enum": ["documentation", "evaluation_run"]},
        source_organization_name=TEXT,
        evaluator_relationship={"enum": ["first_party", "third_party", "collaborative", "other"]},
    ),
    model_info=closed(["name", "id"], name=TEXT, id=TEXT),
    eval_library=closed(["name", "version"], name=TEXT, version=TEXT),
    evaluation_results={
        "type": "array",
        "items": closed(
            ["evaluation_name", "source_data", "metric_config", "score_details"],
            evaluation_name=TEXT,
            evaluation_timestamp=TEXT,
            source_data=closed(
                ["dataset_name", "source_type"], dataset_name=TEXT, source_type={"const": "other"}
            ),
            metric_config=closed(
                ["lower_is_better"],
                evaluation_description=TEXT,
                lower_is_better={"type": "boolean"},
                score_type={"enum": ["binary", "continuous", "levels"]},
                min_score=NUMBER,
                max_score=NUMBER,
                additional_details=DETAILS,
            )
            | {
                "if": {"required": ["score_type"]},
                "then": {"required": ["min_score", "max_score"]},
            },
            score_details=closed(
                ["score"],
                score=NUMBER,
                uncertainty=closed(
                    [],
                    num_samples={"type": "integer"},
                    confidence_interval=closed(
                        ["lower", "upper"],
                        lower=NUMBER,
                        upper=NUMBER,
                        confidence_level={"type": "number", "minimum": 0, "maximum": 1},
                        method=TEXT,
                    ),
                ),
            ),
        ),
    },
)  # fmt: skip


def test_a_run_is_a_valid_record_of_every_eval_ever(cli: Cli) -> None:
    done = cli(
        "score",
        "my texts.jsonl",
        "-m",
        "word_count",
        "-m",
        "rouge",
        "-o",
        "run",
    )
    assert done.code == 0, done.err
    file = write_every_eval(
        "run", "record.json", system="org/model", organization="Museum"
    )
    record = json.loads(file.read_text("utf-8"))
    jsonschema.validate(record, EVERY_EVAL)
    result_by_name = {
        result["evaluation_name"]: result
        for result in record["evaluation_results"]
    }
    words = result_by_name["word_count.words"]
    assert words["score_details"]["score"] == 5.5  # 3 to 8 words
    assert words["score_details"]["uncertainty"]["num_samples"] == 6
    ends = words["score_details"]["uncertainty"]["confidence_interval"]
    assert 3 < ends["lower"] < 5.5 < ends["upper"] < 8
    rouge = next(
        result
        for name, result in result_by_name.items()
        if name.startswith("rouge")
    )
    assert rouge["metric_config"]["score_type"] == "continuous"
    assert "rouge" in rouge["metric_config"]["additional_details"]["signature"]
    assert record["model_info"]["id"] == "org/model"


def test_a_run_becomes_results_of_a_model_on_the_hub(cli: Cli) -> None:
    done = cli("score", "my texts.jsonl", "-m", "word_count", "-o", "run")
    assert done.code == 0, done.err
    hostile = 'a: "b"\n- #c \x85\u2028\x7f\U0001f600 \\ {{x}} !!python/object'
    file = write_eval_results(
        "run",
        "model/.eval_results/museum.yaml",
        dataset="our-museum/captions",
        revision="0123abc",
        tasks={hostile: "word_count.words"},
        source={"url": "https://museum.example/run", "name": hostile},
    )
    # PyYAML reads what was written; it is no part of the package.
    (entry,) = yaml.safe_load(file.read_text("utf-8"))
    assert entry["dataset"] == {
        "id": "our-museum/captions",
        "task_id": hostile,
        "revision": "0123abc",
    }
    assert entry["value"] == 5.5  # 3 to 8 words
    assert entry["source"]["name"] == hostile
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry["date"])
    assert "6 texts; 95% interval" in entry["notes"]
    assert "signature word_count|" in entry["notes"]
    tasks = {"captions": "word_count.words"}
    refused: list[tuple[dict[str, Any], str]] = [
        ({"tasks": tasks}, "'my texts.jsonl', are no data set of the hub"),
        ({"tasks": tasks, "dataset": "../x"}, "expected OWNER/NAME"),
        ({"tasks": {"t": "posh.f1"}, "dataset": "a/b"}, "word_count.words"),
        ({"tasks": {}, "dataset": "a/b"}, "tasks is empty"),
        (
            {"tasks": tasks, "dataset": "a/b", "source": {"name": "n"}},
            "expected 'url'",
        ),
    ]
    for arguments, message in refused:
        with pytest.raises(ConfigError, match=re.escape(message)):
            write_eval_results("run", "refused.yaml", **arguments)
    assert not Path("refused.yaml").exists()
    log = Path("run/run.json")
    text = log.read_text("utf-8")
    stopped = re.sub('"status": ?"complete"', '"status":"interrupted"', text)
    log.write_text(stopped, "utf-8")
    with pytest.raises(RunError, match="is interrupted; finish it"):
        write_eval_results("run", "refused.yaml", dataset="a/b", tasks=tasks)
