"""The GitHub action and the pre-commit hook, as far as a runner can be imitated."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
GOOD = '<img src="boat.png" alt="A red boat on the sand">'
BAD = '<img src="boat.png">'


def steps_by_name() -> dict[str, dict[str, Any]]:
    """Return the steps of the action by name."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    return {step["name"]: step for step in action["runs"]["steps"]}


def run_check(folder: Path, **inputs: str) -> tuple[str, Path]:
    """Run the step "Check" in a folder as a runner does; return its status and its results."""
    step = steps_by_name()["Check"]
    # Each variable stands for an input of the same name.
    names = {
        variable: re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)
        for variable, value in step["env"].items()
    }
    variables = {
        variable: inputs.get(match[1].replace("-", "_"), "")
        for variable, match in names.items()
        if match is not None
    }
    assert variables.keys() == step["env"].keys()
    temporary = folder / "temp"
    temporary.mkdir()
    scripts = Path(sys.executable).parent
    environment = {
        **os.environ,
        **variables,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(temporary),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "output"),
    }
    subprocess.run(
        [
            "bash",
            "--noprofile",
            "--norc",
            "-e",
            "-o",
            "pipefail",
            "-c",
            step["run"],
        ],
        cwd=folder,
        env=environment,
        check=True,
    )
    output = (folder / "output").read_text("utf-8")
    return output.strip().removeprefix("status="), temporary / "beholder"


@pytest.mark.parametrize(
    ("page", "options", "status", "rules"),
    [
        (GOOD, "", "0", []),
        (BAD, "", "1", ["ALT001"]),
        (BAD, "--fail-on=never", "0", ["ALT001"]),
        (BAD, "--ignore=ALT001\n\n--profile=museum", "0", []),
    ],
)
def test_action_lints_reports_and_gives_the_status(
    tmp_path: Path, page: str, options: str, status: str, rules: list[str]
) -> None:
    (tmp_path / "a page.html").write_text(page, "utf-8")
    seen, results = run_check(
        tmp_path, lint="a page.html\n", lint_options=options
    )
    assert seen == status
    sarif = json.loads((results / "sarif/lint.sarif").read_text("utf-8"))
    found_rules = [row["ruleId"] for row in sarif["runs"][0]["results"]]
    assert found_rules == rules
    assert "1 picture in 1 file" in (tmp_path / "summary.md").read_text()


def test_action_scores_and_keeps_the_failed_gate(tmp_path: Path) -> None:
    row = {"candidate": "A boat.", "references": ["A red boat on the sand."]}
    (tmp_path / "data.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    status, results = run_check(
        tmp_path,
        score="data.jsonl",
        score_options="--metric=chrf\n--fail-under=chrf=0.99\n--gate-on=mean\n"
        "--cache=off",
    )
    assert status == "1"
    sarif = json.loads((results / "sarif/score.sarif").read_text("utf-8"))
    assert sarif["runs"][0]["results"]
    assert "chrf" in (tmp_path / "summary.md").read_text("utf-8")


def test_no_input_of_the_action_is_pasted_into_a_script() -> None:
    for step in steps_by_name().values():
        assert "${{" not in step.get("run", "")


def test_hook_checks_the_files_that_a_commit_changes(tmp_path: Path) -> None:
    [hook] = yaml.safe_load(
        (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    )
    names = ["page.html", "notes.md", "slides.pptx", "picture.png", "code.py"]
    assert [name for name in names if re.search(hook["files"], name)] == names[
        :3
    ]
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", *hook["entry"].split(), str(page)]
    for content, status in ((GOOD, 0), (BAD, 1)):
        page.write_text(content, "utf-8")
        result = subprocess.run(command, capture_output=True, check=False)
        assert result.returncode == status
